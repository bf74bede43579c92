"""Mechanisms that see data, under filters, odometers and sessions."""
