"""The command `show`: mechanisms as they are, and the privacy curve of all together."""
