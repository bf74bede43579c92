"""The command `audit`: claims put to the test by running the mechanisms."""
