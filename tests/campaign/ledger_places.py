"""Where ledgers of a campaign live: a file, or a database of a PostgreSQL server; and how they are copied there."""

from __future__ import annotations

import os
import shutil
import sqlite3
from abc import ABC, abstractmethod
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from optcomp.ledger import Ledger
from tests.servers import copied_database, drop_database, empty_database

_QUICK = "/dev/shm" if os.path.isdir("/dev/shm") else None
"""Memory instead of a disk, where there is one: crashes of these campaigns end processes, and not the power."""


class Place(ABC):
    """A ledger's address and its private folder, in a folder that is cleared away afterwards."""

    address: str

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="optcomp-", dir=_QUICK, ignore_cleanup_errors=True)
        self.folder = Path(self._folder.name)
        self.private = self.folder / "people.private"
        self._copies = 0

    def open(self) -> Ledger:
        return Ledger(self.address, private=self.private)

    def copy(self, *, with_private: bool) -> Ledger:
        """A copy of everything, opened; the original must be closed."""
        self._copies += 1
        private = self.folder / f"copy-{self._copies}.private"
        if with_private:
            shutil.copytree(self.private, private)
        return Ledger(self._copied(f"copy-{self._copies}"), private=private)

    @abstractmethod
    def _copied(self, name: str) -> str:
        """The address of a copy of the database."""

    def clear(self) -> None:
        self._folder.cleanup()


class File(Place):
    """SQLite."""

    def __init__(self) -> None:
        super().__init__()
        self.path = self.folder / "people.ledger"
        self.address = str(self.path)

    def _copied(self, name: str) -> str:
        for ending in ("", "-wal"):
            source = self.path.with_name(self.path.name + ending)
            if source.exists():
                shutil.copyfile(source, self.folder / (name + ending))
        return str(self.folder / name)

    def backup(self) -> bytes:
        """The file as SQLite's backup makes it."""
        target = self.folder / "backup"
        with closing(sqlite3.connect(self.path)) as source, closing(sqlite3.connect(target)) as copy:
            source.backup(copy)
        return target.read_bytes()

    def put(self, contents: bytes) -> None:
        """Other contents in the same file; the ledger must be closed."""
        with open(self.path, "r+b") as file:
            file.truncate(0)
            file.write(contents)
        for ending in ("-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)


class Server(Place):
    """PostgreSQL: one database is used for one ledger after another, for making one takes long."""

    def __init__(self, server: str, database: str) -> None:
        super().__init__()
        self._server, self.address = server, database
        empty_database(database)
        self._made: list[str] = []

    def _copied(self, name: str) -> str:
        copy = copied_database(self._server, self.address)
        self._made.append(copy)
        return copy

    def clear(self) -> None:
        super().clear()
        for address in self._made:
            drop_database(self._server, address)
