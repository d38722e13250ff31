"""The four commands: argument parsing and error reports only."""
