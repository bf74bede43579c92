"""What is wrong with what a person wrote, in one sentence."""

from __future__ import annotations


class Complaint(Exception):
    """Input that cannot be used; the text says why, and is shown as it is."""
