"""The command `figures`: pictures of the papers and of our own comparisons, as files."""
