"""What goes wrong is said in one line on stderr, and the exit code is 2.

Bad input of every kind ends here: a mistyped option, an unreadable file, a parameter out of range, a precision that
was not reached, an output that cannot be written.  A traceback means a defect of the program.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

import optcomp as oc
from optcomp.cli.failures import Complaint, one_line
from optcomp.cli.help_texts import filled
from optcomp.cli.writing.plain_signs import tolerate_narrow_encodings
from optcomp.cli.writing.wording import explained

BAD_INPUT = 2
"""The exit code, as the shell's own for wrong usage."""


class OneLineGroup(TyperGroup):
    """A group of commands whose every failure is one line on stderr."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command and leave with its exit code."""
        extra["standalone_mode"] = False
        tolerate_narrow_encodings()
        sys.exit(_guarded(lambda: TyperGroup.main(self, *args, **extra)))

    def get_params(self, ctx: Any) -> Any:
        """The parameters; help shows a flag without a type."""
        return _plain_flags(super().get_params(ctx))


class PlainCommand(TyperCommand):
    """A command whose help shows flags as flags, and fetches the lists it holds only when somebody reads it."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        self._fill()
        super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """What a shell offers to write next, with its help."""
        self._fill()
        return super().shell_complete(ctx, incomplete)

    def _fill(self) -> None:
        for param in self.params:
            if getattr(param, "help", None):
                vars(param)["help"] = filled(vars(param)["help"])

    def get_params(self, ctx: Any) -> Any:
        """The parameters; help shows a flag without a type."""
        return _plain_flags(super().get_params(ctx))


class ItemCommand(PlainCommand):
    """A command whose arguments are numbers: -0.1 is a negative number and not an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the command line apart."""
        written = list(args)
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            option = str(getattr(error, "option_name", ""))
            if re.match(r"-[\d.]", option):
                raise Complaint(f"item {_item(option, written)!r}: epsilon: must not be negative") from None
            raise


def _item(start: str, args: list[str]) -> str:
    """The argument that begins like this, and rather not the value of an option."""
    found = [(before.startswith("--"), arg) for before, arg in pairwise(["", *args]) if arg.startswith(start)]
    return min(found, default=(False, start), key=lambda pair: pair[0])[1]


def _plain_flags(params: Any) -> Any:
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params


def _guarded(command: Callable[[], Any]) -> int:
    """The exit code of a command: its own, or 2 after one line about what is wrong."""
    try:
        if sys.stdout is None:
            raise Complaint("the output is closed")
        code = command()
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stdout = io.StringIO()  # whoever read the output has left; nothing more to say, at exit either
        return 1
    except typer.Abort:
        return 130
    except OSError as error:
        sys.stdout = io.StringIO()
        return _complain(f"{error.filename or 'the output cannot be written'}: {error.strerror or error}")
    except (Complaint, oc.OptcompError, typer.TyperException, ArithmeticError, MemoryError) as error:
        return _complain(_explained(error))
    return code if isinstance(code, int) else 0


def _complain(text: str) -> int:
    if sys.stderr is not None:
        with suppress(OSError):  # nowhere left to complain to
            print(f"optcomp: {one_line(text)}", file=sys.stderr, flush=True)
    return BAD_INPUT


def _explained(error: BaseException) -> str:
    if isinstance(error, oc.OptcompError):
        return explained(error)
    if isinstance(error, typer.TyperException):
        return error.format_message()
    if isinstance(error, OverflowError):
        return "a number is too large for this computation"
    return str(error) or type(error).__name__
