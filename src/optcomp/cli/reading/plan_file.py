"""A plan from its file, and errors that say whether they are about the plan, about an option, or about the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import optcomp as oc
from optcomp.cli.failures import Complaint
from optcomp.cli.reading.file_text import text_of

if TYPE_CHECKING:
    from optcomp.planner import Document


def plan_text(file: str, name: str) -> Any:
    """What the file of a plan says, or standard input."""
    from optcomp.planner import MOST_BYTES, is_data, parsed

    if is_data(file):
        raise Complaint(f"{name}: must be a plan in YAML or JSON, and is named like a file of data; data go to --data")
    if file != "-" and Path(file).is_file() and Path(file).stat().st_size > MOST_BYTES:
        raise Complaint(f"{name}: must have at most {MOST_BYTES} bytes")
    return parsed(text_of(file, name), name, as_json=file.lower().endswith(".json"))


def plan_of(source: Any) -> Document:
    """The plan that it is."""
    from optcomp.planner import read

    return read(source)


def plan_in(file: Path) -> Document:
    """The plan in a file."""
    with about(str(file)):
        return plan_of(plan_text(str(file), str(file)))


@contextmanager
def options_named(names: Mapping[str, str]) -> Iterator[None]:
    """Errors about these arguments are about options of these names."""
    try:
        yield
    except oc.InvalidInput as error:
        if error.argument in names:
            raise Complaint(str(error).replace(error.argument, f"--{names[error.argument]}", 1)) from None
        raise


@contextmanager
def about(name: str, *others: type[oc.OptcompError]) -> Iterator[None]:
    """Errors about a plan name its file, and its entries are not taken for options.

    Those that are not about the plan, `others` among them, speak for themselves.
    """
    apart: tuple[type[oc.OptcompError], ...] = (oc.MechanismFailed, oc.MissingExtra, oc.UnreadableData, *others)
    try:
        yield
    except apart:
        raise
    except oc.InvalidInput as error:
        own = error.argument == name or error.argument.startswith(f"{name}, line ")
        raise Complaint(str(error) if own else f"{name}: {error}") from None
    except oc.OptcompError as error:
        raise Complaint(f"{name}: {error}") from None
