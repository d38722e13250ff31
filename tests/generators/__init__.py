"""Generators of inputs that tests of several parts share."""
