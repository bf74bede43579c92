"""The command `verify`: a claim proved again, by code that shares nothing with what made it."""
