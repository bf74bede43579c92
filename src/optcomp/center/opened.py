"""Snapshots that a process has opened: kept, for to open one reads all of its rows."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import Any

from optcomp.center.engines import reading
from optcomp.errors import InvalidInput
from optcomp.statistics import Declared, Table, read_declaration

_MOST = 32
"""Snapshots that are kept open at a time by one process: their engines take memory."""
_KEYS, _DECLARATION = "keys.json", "declaration.json"
"""Files of a snapshot: one is written anew with every snapshot, the other says what is declared."""


class Opened:
    """The snapshots that are open, the one that was asked last at the end."""

    def __init__(self, most: int = _MOST) -> None:
        self._most, self._open = most, OrderedDict[tuple[str, int, int], tuple[Table, Any]]()
        self._lock = threading.Lock()

    def table(self, path: str, databases: tuple[str, ...] = (), *, memory: str | None = None) -> Table:
        """The snapshot in this folder; rows that a database keeps are asked for there.

        `memory` is what the engine of a file may take, such as "512MB".
        """
        key = _version(path)
        with self._lock:
            if key not in self._open:
                connection = _connection(path, databases)
                try:
                    self._open[key] = Table.open(path, connection=connection, memory=memory), connection
                except BaseException:
                    _close(connection)
                    raise
                while len(self._open) > self._most:
                    _close(self._open.popitem(last=False)[1][1])
            self._open.move_to_end(key)
            return self._open[key][0]

    def forget(self, path: str) -> None:
        """Open the snapshot anew when it is asked next: its engine may have lost its connection."""
        with self._lock:
            for key in [key for key in self._open if key[0] == path]:
                _close(self._open.pop(key)[1])


def _close(connection: Any) -> None:
    """Of one that is lost nothing is left to close."""
    if connection is not None:
        with suppress(Exception):
            connection.disconnect()


def declared_in(path: str) -> Declared:
    """What is declared about a snapshot; its rows are not opened."""
    return read_declaration(_document(path)["declaration"])


def _document(path: str) -> dict[str, Any]:
    try:
        found = json.loads((Path(path) / _DECLARATION).read_text(encoding="utf8"))
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or "declaration" not in found:
        raise InvalidInput("snapshot", path, "is not a snapshot")
    return found


def _version(path: str) -> tuple[str, int, int]:
    """Tells a snapshot from another one that was put in its place."""
    try:
        status = (Path(path) / _KEYS).stat()
    except OSError:
        raise InvalidInput("snapshot", path, "is not a snapshot") from None
    return path, status.st_ino, status.st_mtime_ns


def _connection(path: str, databases: tuple[str, ...]) -> Any:
    """To the listed database that keeps the rows; None if they are in a file."""
    given = _document(path).get("rows")
    rows: dict[str, Any] = given if isinstance(given, dict) else {}
    engine = rows.get("engine")
    if engine == "parquet":
        return None
    for address in databases:
        connection = reading(engine, address)
        if connection is not None and rows.get("table") in connection.list_tables():
            return connection
        _close(connection)
    raise InvalidInput("databases", engine, "is not among those that are listed, or does not keep these rows")
