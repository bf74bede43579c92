"""Lists inside help texts: names that would take the whole library to know, put in when the help is shown."""

from __future__ import annotations

MECHANISMS = "{mechanisms}"
"""Stands for the mechanisms that no example shows."""

METHODS = "{methods}"
"""Stands for the methods of `compose`."""

_IN_EXAMPLES = ("gaussian", "laplace", "subsampled")
"""Mechanisms that the text about items shows anyway."""


def filled(text: str) -> str:
    """A help text with its lists in their places."""
    if MECHANISMS in text:
        from optcomp.reading import KINDS

        text = text.replace(MECHANISMS, ", ".join(kind.name for kind in KINDS if kind.name not in _IN_EXAMPLES))
    if METHODS in text:
        import optcomp as oc

        text = text.replace(METHODS, ", ".join(oc.METHODS))
    return text
