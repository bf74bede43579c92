"""What owners may register: files below the folders of the settings, one or several by a pattern, and tables of listed
databases.

A path is judged after all links in it are followed.  What lies elsewhere is refused in the same words whether it is
there or not.  What an engine says is told by its type alone: it may quote addresses, and cells.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

from optcomp.center.engines import connected, keeps_rows
from optcomp.center.settings import Settings, shown_address
from optcomp.errors import InvalidInput, OptcompError
from optcomp.statistics import OTHER, Declared, Domain, files_of, is_pattern, is_snapshot, read_declaration

_DEFAULTS: dict[str, Any] = {
    "population": None,
    "neighbours": "add-remove",
    "person": None,
    "rows_per_person": 1,
    "groups_per_person": None,
    "rows_per_group": None,
    "grouped_by": None,
}
"""What need not be declared."""


class Unreached(Protocol):
    """What is looked for as if it were not there."""

    def has_file(self, path: Path) -> bool:
        """Whether a file is."""

    def has_snapshot(self, path: Path) -> bool:
        """Whether a snapshot is."""

    def has_table(self, address: str, table: str | None) -> bool:
        """Whether a table of a database is."""


def file_below(
    settings: Settings, source: str | Path, *, snapshot: bool = False, hidden: Unreached | None = None
) -> Path:
    """The file, or the snapshot, that a path leads to; refused unless it is below a folder of the settings."""
    words, tops = _path(source), _tops(settings)
    found = [Path(os.path.realpath(top / words)) for top in tops]
    inside = [path for path, top in zip(found, tops, strict=True) if path.is_relative_to(top) and path != top]
    for path in inside:
        there = is_snapshot(path) if snapshot else path.is_file()
        if there and not (hidden and (hidden.has_snapshot(path) if snapshot else hidden.has_file(path))):
            return path
    kind = "snapshot" if snapshot else "file"
    problem = "is not below a folder of the settings" if not inside else f"is no {kind} there"
    raise InvalidInput("source", words, f"{problem}; name a {kind} by its path below one of those folders, or in full")


def files_below(settings: Settings, source: str | Path, hidden: Unreached | None = None) -> list[Path]:
    """The file that a path leads to, or all that a pattern means: each must be below a folder of the settings."""
    if not is_pattern(source):
        return [file_below(settings, source, hidden=hidden)]
    words, tops = _path(source), _tops(settings)
    for top in tops:
        folder = Path(os.path.realpath((top / words).parent))
        found = _matched(folder / Path(words).name, words, tops) if folder.is_relative_to(top) else []
        if found and not (hidden and any(map(hidden.has_file, found))):
            return found
    raise InvalidInput("source", words, "is the name or pattern of no file below a folder of the settings")


def _matched(pattern: Path, words: str, tops: Sequence[Path]) -> list[Path]:
    """The files of a pattern in one folder; links that lead elsewhere are refused, whatever they lead to."""
    if pattern.is_file():
        led = [pattern]
    elif is_pattern(pattern.parent):
        return []
    else:
        led = list(pattern.parent.glob(pattern.name))
    if not all(any(Path(os.path.realpath(each)).is_relative_to(top) for top in tops) for each in led):
        raise InvalidInput("source", words, "leads to a file that is not below a folder of the settings")
    return files_of(pattern) if any(each.is_file() for each in led) else []


def _path(source: str | Path) -> str:
    words = str(source)
    if not words or not words.isprintable() or ".." in Path(words).parts:
        raise InvalidInput("source", words, "must be the path of a file, without ..")
    return words


def _tops(settings: Settings) -> list[Path]:
    return [Path(os.path.realpath(folder)) for folder in settings.folders]


def _source_path(settings: Settings, source: str | Path) -> Path:
    """What is opened: a file, or the pattern of several in their folder."""
    found = files_below(settings, source)
    return found[0] if len(found) == 1 else found[0].parent / Path(str(source)).name


def check_source(settings: Settings, source: str | Path, table: str | None, hidden: Unreached | None = None) -> None:
    """Refuses what may not be registered; no database is asked."""
    if "://" not in str(source):
        files_below(settings, source, hidden)
        return
    address = _listed_database(settings, str(source), table)
    if hidden is not None and hidden.has_table(address, table):
        raise InvalidInput("table", table, f"cannot be opened in {shown_address(address)}")


@contextmanager
def opened_source(
    settings: Settings, source: str | Path, table: str | None, hidden: Unreached | None = None
) -> Iterator[Any]:
    """What a table is prepared from, while it is prepared."""
    check_source(settings, source, table, hidden)
    if "://" not in str(source):
        yield _source_path(settings, source)
        return
    assert table is not None
    address = _listed_database(settings, str(source), table)
    schema, _, name = table.rpartition(".")
    with ExitStack() as opened:
        problem = None
        try:
            connection = connected(address)
            opened.callback(connection.disconnect)
            found = connection.table(name, **({"database": schema} if schema else {}))
        except Exception as error:
            problem = f"cannot be opened in {shown_address(address)} ({type(error).__name__})"
        if problem is not None:
            raise InvalidInput("table", table, problem)
        yield found


def keeper_of(source: Any) -> Any:
    """The connection that keeps the rows of a snapshot of this source; None if they go to a file."""
    connection = None if isinstance(source, Path) else source.get_backend()
    return connection if connection is not None and keeps_rows(connection) else None


def _listed_database(settings: Settings, address: str, table: str | None) -> str:
    """The address of a listed database, which is named by it, or by what `shown_address` makes of it."""
    found = [each for each in settings.databases if address in (each, shown_address(each))]
    if len(found) > 1:
        raise InvalidInput("source", shown_address(address), "is listed twice, for different users")
    if not found:
        raise InvalidInput("source", shown_address(address), "is not a database that the settings list")
    if not isinstance(table, str) or not table or not table.isprintable():
        raise InvalidInput("table", table, "must be the name of a table in the database")
    return found[0]


def written_source(source: str | Path) -> str:
    """A source as it is written down: an address without its password."""
    return shown_address(str(source)) if "://" in str(source) else str(source)


def declared_of(
    name: str,
    columns: Mapping[str, Domain] | None,
    declaration: Mapping[str, Any] | Declared | None,
    more: Mapping[str, Any],
) -> Declared:
    """What is declared of a table: by domains of columns, or as a document that may leave out the usual."""
    if (columns is None) == (declaration is None):
        raise InvalidInput("declaration", None, "give either columns or a declaration")
    if columns is not None:
        try:
            return Declared(columns, **{**more, "name": name})
        except TypeError as error:
            raise InvalidInput("columns", str(error), "is not how a table is declared") from None
    if more:
        raise InvalidInput("declaration", ", ".join(more), "says this already")
    if isinstance(declaration, Declared):
        return Declared(**{**declaration.arguments, "name": name})
    return _read({**_DEFAULTS, **_mapping(declaration), "name": name})


def _mapping(document: object) -> Mapping[str, Any]:
    known = {"name", "columns", *_DEFAULTS}
    if not isinstance(document, Mapping):
        raise InvalidInput("declaration", type(document).__name__, "must be names with values")
    for key in document:
        if key not in known:
            raise InvalidInput("declaration", key, f"is not part of it; there are {', '.join(sorted(known))}")
    return document


def _read(document: dict[str, Any]) -> Declared:
    try:
        written = [_column(each) for each in _listed(document.get("columns"))]
        return read_declaration({**document, "columns": written})
    except OptcompError:
        raise
    except (ValueError, TypeError, AttributeError, KeyError, ArithmeticError) as error:
        raise InvalidInput("declaration", type(error).__name__, "is not how a table is declared") from None


def _listed(columns: object) -> Sequence[Any]:
    """Columns as a list, or by their names."""
    if isinstance(columns, Mapping):
        return [{"name": name, **about} for name, about in columns.items()]
    if not isinstance(columns, Sequence) or isinstance(columns, str):
        raise InvalidInput("columns", type(columns).__name__, "must be a list of columns, or names with their domains")
    return columns


def _column(given: Mapping[str, Any]) -> dict[str, Any]:
    """One column, with what need not be said."""
    extra: dict[str, tuple[str, ...]] = {"integers": (), "reals": ("unit",), "categories": ("other",), "text": ()}
    extra["dates"] = ("unit", "zone", "format")
    kinds = [kind for kind in extra if kind in given]
    unknown = set(given) - {"name", *kinds, *(extra[kinds[0]] if kinds else ())}
    if len(kinds) != 1 or unknown or not isinstance(given.get("name"), str):
        problem = "must have a name and one of integers, reals (with a unit), dates, categories (with other) or text"
        raise InvalidInput("columns", sorted(map(str, given)), problem)
    usual = {"unit": "day", "zone": "UTC", "format": None} if kinds == ["dates"] else {"unit": None, "other": OTHER}
    return {**usual, **given}
