"""Printers of task programs."""
