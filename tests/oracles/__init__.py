"""Slow independent truths: nothing here shares numerical code with what it checks."""
