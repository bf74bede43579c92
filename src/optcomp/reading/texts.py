"""A text with several mechanisms, as somebody types or pastes it, taken apart into single ones."""

from __future__ import annotations

import re

_JOINED = re.compile(r"\s*([,=])\s*|\s*([xX×])\s*(?=\d)|\s+(?=\()")
"""Spaces inside one mechanism: around a comma or =, before a count, before a parenthesis."""


def items_in(text: str) -> list[str]:
    """The mechanisms of a text: separated by spaces, semicolons or lines, but not inside parentheses.

    >>> items_in("0.1 x50; subsampled(gaussian(sigma=1), rate=0.01)x1000")
    ['0.1x50', 'subsampled(gaussian(sigma=1),rate=0.01)x1000']
    """
    items, depth, start = list[str](), 0, 0
    text = _JOINED.sub(lambda found: found[1] or found[2] or "", " ".join(text.split()))
    for sign in re.finditer(r"[()]|[ ;]+", text):
        depth += {"(": 1, ")": -1}.get(sign[0], 0)
        if depth <= 0 and sign[0] not in "()":
            items.append(text[start : sign.start()])
            start, depth = sign.end(), 0
    return [item for item in (*items, text[start:]) if item]
