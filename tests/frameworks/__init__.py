"""Accountants for training frameworks, against the real packages: `make test-opacus` and its siblings run them.

The files are not named test_*.py, so that `make test`, which has none of these packages, does not collect them.
"""
