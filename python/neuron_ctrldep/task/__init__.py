"""The task dialect and its passes."""
