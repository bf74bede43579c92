"""Mechanisms as people write them, on the command line and in files."""
