"""Penguin Python: printer, model, restricted reader."""
