"""A witness: a second place that knows how far a ledger had come, on other storage than the ledger.

A disk image, a base backup or a file that is put back byte for byte brings back everything that lies on it, the anchor
too.  Only something outside notices.  A witness is a folder on other storage, with an anchor for each ledger in it, or
a second PostgreSQL database, with a row for each ledger.  A ledger that was opened with a witness debits nothing
without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from sqlalchemy import BigInteger, Column, Connection, Integer, MetaData, String, Table, Text, insert, select, update

from optcomp.errors import InvalidInput
from optcomp.ledger.anchor import Anchor, Seen
from optcomp.ledger.database import Database

_METADATA = MetaData()
_WITNESSED = Table(
    "witnessed",
    _METADATA,
    Column("ledger", String(32), primary_key=True),
    Column("incarnation", Integer, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("head", String(64), nullable=False),
    Column("file", Text, nullable=False),
)
"""What a database knows of ledgers: the fields of `Seen`."""


class Memory(Protocol):
    """What knows how far a ledger had come: an anchor or a witness."""

    def read(self) -> Seen | None:
        """Return what it knows; None if it does not know the ledger."""

    def write(self, seen: Seen) -> bool:
        """Let it know a later entry, as `Anchor.write` does."""

    def replace(self, seen: Seen) -> None:
        """Let it know this and nothing else, whatever it knew."""

    def close(self) -> None:
        """Give back what it holds."""


def witness_of(address: str | Path, ledger: str, place: str) -> Memory:
    """Return the witness at an address for the ledger with this id; `place` is where the ledger lives."""
    if isinstance(address, str) and "://" in address:
        return _DatabaseWitness(address, ledger, place)
    folder = Path(address)
    if not folder.is_dir():
        raise InvalidInput("witness", str(folder), "must be a folder that exists, or a postgresql:// address")
    return _FolderWitness(folder / f"{ledger}.witness")


class _FolderWitness(Anchor):
    """An anchor in a folder, which is asked for before each debit."""

    def read(self) -> Seen | None:
        """Return what the witness knows; a folder that is gone is an error."""
        if not self.path.parent.is_dir():
            raise InvalidInput("witness", str(self.path.parent), "is not there now; nothing was spent")
        return super().read()


class _DatabaseWitness:
    """A row of a table in a database of PostgreSQL."""

    def __init__(self, address: str, ledger: str, place: str) -> None:
        self._database, self._ledger = Database(address, create=True, argument="witness"), ledger
        try:
            with self._database.write() as connection:
                if self._database.place(connection) == place:
                    raise InvalidInput("witness", self._database.shown, "must be another database than the ledger's")
                _METADATA.create_all(connection)
        except BaseException:
            self.close()
            raise

    def read(self) -> Seen | None:
        """Return what the witness knows."""
        with self._database.read() as connection:
            return self._found(connection)

    def write(self, seen: Seen) -> bool:
        """Let the witness know a later entry."""
        with self._database.write() as connection:
            known = self._found(connection)
            allowed = known is None or known.allows(seen)
            if allowed:
                self._store(connection, seen, new=known is None)
        return allowed

    def replace(self, seen: Seen) -> None:
        """Let the witness know this and nothing else."""
        with self._database.write() as connection:
            self._store(connection, seen, new=self._found(connection) is None)

    def close(self) -> None:
        """Give back all connections."""
        self._database.close()

    def _found(self, connection: Connection) -> Seen | None:
        columns = [_WITNESSED.c[name] for name in Seen.__slots__]
        row = connection.execute(select(*columns).where(_WITNESSED.c.ledger == self._ledger)).one_or_none()
        return None if row is None else Seen(*row)

    def _store(self, connection: Connection, seen: Seen, *, new: bool) -> None:
        values = {name: getattr(seen, name) for name in Seen.__slots__}
        change = insert(_WITNESSED) if new else update(_WITNESSED).where(_WITNESSED.c.ledger == self._ledger)
        connection.execute(change.values(values))
