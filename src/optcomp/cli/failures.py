"""What goes wrong is said in one line on stderr, and the exit code is 2.

Bad input of every kind ends here: a mistyped option, an unreadable file, a parameter out of range, a precision that
was not reached.  A traceback means a defect of the program.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup

import optcomp as oc

BAD_INPUT = 2
_LONGEST = 400


class Refused(Exception):
    """Input that the command cannot use; the text is the line to print."""


class OneLineGroup(TyperGroup):
    """A group of commands whose every failure is one line on stderr."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command and leave with its exit code."""
        extra["standalone_mode"] = False
        _tolerate_narrow_encodings()
        sys.exit(_guarded(lambda: TyperGroup.main(self, *args, **extra)))


def _guarded(command: Callable[[], Any]) -> int:
    """The exit code of a command: its own, or 2 after one line about what is wrong."""
    try:
        code = command()
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stdout = io.StringIO()  # whoever read the output has left; nothing more to say, at exit either
        return 1
    except typer.Abort:
        return 130
    except (Refused, oc.OptcompError, typer.TyperException, ArithmeticError, MemoryError) as error:
        print(f"optcomp: {one_line(_explained(error))}", file=sys.stderr)
        return BAD_INPUT
    return code if isinstance(code, int) else 0


def _explained(error: BaseException) -> str:
    if isinstance(error, oc.PrecisionNotReached) and isinstance(error.bound, oc.Bound):
        bound, symbol = error.bound, "ε" if error.bound.quantity == "epsilon" else "δ"
        return (
            f"--rtol: the proved bracket {bound.lower!r} ≤ {symbol} ≤ {bound.upper!r} has relative width "
            f"{bound.width:.3g}, more than the {error.rtol:.3g} asked for"
        )
    if isinstance(error, typer.TyperException):
        return error.format_message()
    if isinstance(error, OverflowError):
        return "a number is too large for this computation"
    return str(error) or type(error).__name__


def one_line(text: str) -> str:
    """The text without line breaks and control characters, cut where it is absurdly long."""
    line = "".join(char if char.isprintable() else " " for char in " ".join(text.split()))
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _tolerate_narrow_encodings() -> None:
    """Where ε cannot be written, write an escape instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
