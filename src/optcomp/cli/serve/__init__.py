"""The command `serve`: a data centre."""
