"""Greek letters and signs where the output can hold them, and plain words where it cannot."""

from __future__ import annotations

import codecs
import io
import sys

_WORDS = {
    "ε": "epsilon",
    "δ": "delta",
    "η": "eta",
    "α": "alpha",
    "σ": "sigma",
    "é": "e",
    "ℓ": "l",
    "Σ": "sum ",
    "∏": "product ",
    "√": "sqrt",
    "≤": "<=",
    "≥": ">=",
    "×": "x",
    "±": "+-",
    "−": "-",
    "–": "-",
    "—": "-",
    "…": "...",
    "∞": "inf",
    "⊤": "yes",
    "⊥": "no",
    "²": "^2",
    "³": "^3",
}
"""What is read aloud in place of a sign."""
_HANDLER = "optcomp-words"
"""The name under which Python knows our way with signs that an encoding lacks."""


def writable(text: str) -> str:
    """The text as standard output will show it, so that tables know how wide it is."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        return text.encode(encoding, _HANDLER).decode(encoding)
    except LookupError:
        return text


def tolerate_narrow_encodings() -> None:
    """Where ε cannot be written, write epsilon instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)


def _in_words(error: UnicodeError) -> tuple[str | bytes, int]:
    """What stands for the characters that an encoding lacks: a word, or else an escape."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_WORDS.get(char) or char.encode("ascii", "backslashreplace").decode() for char in lacking), error.end


codecs.register_error(_HANDLER, _in_words)
