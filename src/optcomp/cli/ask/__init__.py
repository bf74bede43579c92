"""The command `ask`."""
