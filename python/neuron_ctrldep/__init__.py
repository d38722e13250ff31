"""Control dependencies that survive a compiler."""
