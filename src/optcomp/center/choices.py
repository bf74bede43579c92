"""What owners may choose from: files below the folders of the settings, and tables of the listed databases.

And what they can find out before they register one: its columns, and an exact count of what preparation would change
or leave out.  The counts are for owners alone; no cell is told.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from optcomp.center.changes import Changes
from optcomp.center.engines import connected
from optcomp.center.hidden import Hidden, hidden_from
from optcomp.center.persons import By, Person, acting
from optcomp.center.settings import Settings, shown_address
from optcomp.center.sources import check_source, declared_of, file_below, files_below, opened_source, written_source
from optcomp.center.store import Store
from optcomp.errors import InvalidInput
from optcomp.release import look_at
from optcomp.statistics import (
    FILE_ENDINGS,
    Dialect,
    Reading,
    has_dialect,
    is_snapshot,
    named_columns,
    propose,
    tables_in,
    tables_of,
)

_MOST = 1000
"""Files and tables that are listed: more would fill no page that anybody reads."""
_DEEPEST = 8
"""Folders within folders."""


class Choices:
    """What an owner may register."""

    def __init__(self, store: Store, *, memory: str | None = None) -> None:
        """`memory` bounds what the engine takes for a check."""
        self._store, self._changes, self._memory = store, Changes(store), memory

    def sources(self, viewer: Person | None = None) -> list[dict[str, Any]]:
        """Files first, by their names; then tables of databases.  One that does not open is listed with a problem.

        What belongs to accounts that a viewer's token is not for is not there, here and below.
        """
        settings, hidden = self._store.settings, self._hidden(viewer)
        found = {(each["source"], each["table"] or ""): each for each in _files(settings, hidden)}
        files = [found[key] for key in sorted(found)]
        tables = [each for address in settings.databases for each in _tables(address, hidden)]
        return (files + tables)[:_MOST]

    def columns(
        self,
        source: str,
        table: str | None = None,
        *,
        multiline: bool = False,
        dialect: Mapping[str, Any] | None = None,
        viewer: Person | None = None,
    ) -> dict[str, str]:
        """The columns, each with what its type says that it holds; no cell is read."""
        with opened_source(self._store.settings, source, table, self._hidden(viewer)) as opened:
            sheet = table if isinstance(opened, Path) else None
            return named_columns(opened, multiline=multiline, dialect=dialect, table=sheet)

    def files(self, source: str, viewer: Person | None = None) -> list[str]:
        """The names of the files that are one table, in the order in which they are read; none of a database."""
        if "://" in source:
            return []
        return [each.name for each in files_below(self._store.settings, source, self._hidden(viewer))]

    def dialect(self, source: str, viewer: Person | None = None) -> Dialect | None:
        """How the beginning of the first file looks written, for its owner to confirm; None without lines."""
        if "://" in source:
            return None
        path = files_below(self._store.settings, source, self._hidden(viewer))[0]
        return propose(path).dialect if has_dialect(path) else None

    def check(
        self,
        source: str,
        declaration: Mapping[str, Any],
        *,
        table: str | None = None,
        bad_cells: str = "missing",
        multiline: bool = False,
        dialect: Mapping[str, Any] | None = None,
        rename: Mapping[str, str] | None = None,
        by: By,
    ) -> dict[str, Any]:
        """Exact counts of what preparation would find: not private, and noted, for the numbers are seen by somebody."""
        settings = self._store.settings
        if bad_cells not in ("missing", "refuse"):
            raise InvalidInput("bad_cells", bad_cells, "must be 'missing' or 'refuse'")
        declared = declared_of("data", None, declaration, {})
        check_source(settings, source, table, self._hidden(by if isinstance(by, Person) else None))
        with self._store.write() as connection:
            person = acting(connection, by, "change budgets")
            about = {"source": written_source(source), "table": table}
            self._changes.note(connection, person.name, "checked the data", about)
        with opened_source(settings, source, table) as opened:
            sheet = table if isinstance(opened, Path) else None
            reading = Reading.of(multiline, dialect, rename, sheet)
            how: dict[str, Any] = {"bad_cells": bad_cells, "reading": reading, "memory": self._memory}
            found = look_at(opened, declared, **how)
        return found.as_dict()

    def _hidden(self, viewer: Person | None) -> Hidden | None:
        return None if viewer is None else hidden_from(self._changes, self._store.settings, viewer)


def _files(settings: Settings, hidden: Hidden | None) -> Iterator[dict[str, Any]]:
    for folder in settings.folders:
        top = Path(os.path.realpath(folder))
        for path in _below(top, _DEEPEST):
            name = str(path.relative_to(top))
            if _offered(settings, name, path, hidden):
                tables = [each for each in tables_of(path) if each.isprintable()]
                for table in tables if len(tables) > 1 else [None]:
                    yield {"source": name, "table": table, "bytes": path.stat().st_size, "problem": None}


def _below(folder: Path, deepest: int) -> Iterator[Path]:
    """Files of a kind that can be read; snapshots are not looked into."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for path in entries:
        if path.name.lower().endswith(FILE_ENDINGS) and path.is_file():
            yield path
        elif deepest and path.is_dir() and not path.is_symlink() and not is_snapshot(path):
            yield from _below(path, deepest - 1)


def _offered(settings: Settings, name: str, path: Path, hidden: Hidden | None) -> bool:
    """Whether the name leads to this file: one that a link leads to elsewhere is not offered."""
    try:
        return file_below(settings, name, hidden=hidden) == Path(os.path.realpath(path))
    except InvalidInput:
        return False


def _tables(address: str, hidden: Hidden | None) -> Iterator[dict[str, Any]]:
    shown = shown_address(address)
    try:
        connection = connected(address)
        try:
            names = tables_in(connection)
        finally:
            connection.disconnect()
    except Exception as error:  # its text may quote the address
        yield {"source": shown, "table": None, "bytes": None, "problem": f"cannot be opened ({type(error).__name__})"}
        return
    for name in names:
        if name.isprintable() and (hidden is None or not hidden.has_table(address, name)):
            yield {"source": shown, "table": name, "bytes": None, "problem": None}
