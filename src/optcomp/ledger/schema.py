"""The tables of a ledger, in SQLite and PostgreSQL alike, and how an older version becomes the newest one.

    facts       one row: which ledger this is, and the head of its chain
    holders     who holds a budget: accounts, and sessions inside accounts, slots or other sessions
    slots       shares of batches, each to be taken once
    requests    what was debited from a holder, and its answer
    mechanisms  what a mechanism that goes on remembers, encrypted
    entries     the chain: everything that happened, in order, without answers

Amounts are exact, and therefore text.  `guard` is floor(2^62 · share) of a holder's filter, derived from the text in
the same write: the database itself refuses a holder that spends more than its cap.

In PostgreSQL every entry stores the number of the transaction that inserted it.  PostgreSQL itself keeps the low 32
bits with the row (`xmin`), and no client can choose those: rows that were restored from a dump have others.  Therefore
rows of `entries` are never updated, and never inserted within a savepoint, which has a number of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Connection,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    inspect,
    select,
    text,
    update,
)

from optcomp.errors import InvalidInput
from optcomp.ledger.columns import RowNumber, one_of, table_number
from optcomp.ledger.states import AccountState, RequestState, SlotState

VERSION = 2
"""Of the schema."""
FULL = 2**62
"""The guard of a budget that is all spent."""
NOBODY = 0
"""The parent of accounts; not NULL, for two NULLs would count as different names."""

METADATA = MetaData()

FACTS = Table(
    "facts",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("ledger", String(32), nullable=False),
    Column("version", Integer, nullable=False),
    Column("incarnation", Integer, nullable=False),
    Column("place", Text, nullable=False),  # the file or database that this ledger lives in
    Column("public_key", Text, nullable=True),
    Column("sequence", BigInteger, nullable=False),
    Column("head", String(64), nullable=False),
    Column("entries_table", BigInteger, nullable=True),  # number (oid) of the table `entries` in PostgreSQL
    Column("lost", Text, nullable=True),  # what showed that entries are missing; nothing is debited until adoption
    Column("witnessed", Integer, nullable=True),  # 1 if it was created or adopted with a witness: debits then need it
    CheckConstraint("id = 1"),
)

HOLDERS = Table(
    "holders",
    METADATA,
    Column("id", RowNumber, primary_key=True),
    Column("account", BigInteger, nullable=False),  # the account it belongs to, which is its own id for accounts
    Column("parent", BigInteger, nullable=False),
    Column("slot", BigInteger, nullable=True),
    Column("name", Text, nullable=False),
    Column("about", Text, nullable=False),  # what it is about: units for accounts, the table for sessions
    Column("opened", Text, nullable=False),  # the filter with nothing spent
    Column("budget", Text, nullable=False),  # the filter now
    Column("version", BigInteger, nullable=False),
    Column("guard", BigInteger, nullable=False),
    Column("sums", Text, nullable=True),  # of accounts: everything recorded, past the cap too
    Column("state", String(16), nullable=False),
    UniqueConstraint("parent", "name"),
    CheckConstraint(f"guard >= 0 AND guard <= {FULL}"),
    one_of("state", *AccountState),
)

SLOTS = Table(
    "slots",
    METADATA,
    Column("id", RowNumber, primary_key=True),
    Column("account", BigInteger, nullable=False),
    Column("batch", BigInteger, nullable=False),  # the request that paid for it
    Column("parent", BigInteger, nullable=True),  # the slot that it was split from
    Column("name", Text, nullable=False),
    Column("epsilon", Text, nullable=False),
    Column("delta", Text, nullable=False),
    Column("plan", String(64), nullable=True),  # digest of the plan it was committed for
    Column("state", String(16), nullable=False),
    UniqueConstraint("account", "name"),
    one_of("state", *SlotState),
)

REQUESTS = Table(
    "requests",
    METADATA,
    Column("id", RowNumber, primary_key=True),
    Column("holder", BigInteger, nullable=False),
    Column("key", Text, nullable=False),
    Column("mechanism", BigInteger, nullable=True),  # the request that opened the mechanism which was asked
    Column("kind", String(16), nullable=False),
    Column("what", Text, nullable=False),
    Column("form", Text, nullable=False),  # what is asked, without code
    Column("paid", Text, nullable=False),  # the guarantees that were debited
    Column("state", String(16), nullable=False),
    Column("lease", Text, nullable=True),  # who is at work on it
    Column("answer", Text, nullable=True),
    Column("salt", String(64), nullable=True),
    Column("sequence", BigInteger, nullable=False),  # of its last entry in the chain
    Column("head", String(64), nullable=False),
    UniqueConstraint("holder", "key"),
    one_of("state", *RequestState),
    CheckConstraint("(answer IS NULL) = (state IN ('reserved', 'failed'))"),
)

MECHANISMS = Table(
    "mechanisms",
    METADATA,
    Column("id", BigInteger, primary_key=True),  # that of the request which opened it
    Column("spec", Text, nullable=False),
    Column("state", Text, nullable=False),  # encrypted
    Column("version", BigInteger, nullable=False),
)

ENTRIES = Table(
    "entries",
    METADATA,
    Column("sequence", RowNumber, primary_key=True, autoincrement=False),
    Column("at", String(32), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("account", BigInteger, nullable=True),
    Column("body", Text, nullable=False),
    Column("head", String(64), nullable=False),
    Column("inserted_by", BigInteger, nullable=True),  # number of the PostgreSQL transaction; NULL before version 2
)


def _to_version_2(connection: Connection) -> None:
    """Columns by which a restored PostgreSQL database is noticed."""
    added = "entries_table BIGINT", "lost TEXT", "witnessed INTEGER"
    for table, column in ((ENTRIES, "inserted_by BIGINT"), *((FACTS, column) for column in added)):
        connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {column}"))
    connection.execute(update(FACTS).values(entries_table=table_number(ENTRIES.name)))


MIGRATIONS: dict[int, Callable[[Connection], None]] = {1: _to_version_2}
"""From each version to the next; every one is tested with a ledger that was written by its version."""


def exists(connection: Connection) -> bool:
    """Whether there is a ledger."""
    return inspect(connection).has_table(FACTS.name)


def holds_nothing(connection: Connection) -> bool:
    """Whether the database has no table at all."""
    return not inspect(connection).get_table_names()


def create(connection: Connection, address: str) -> None:
    """The tables of a new ledger, in a database that holds nothing else."""
    if not holds_nothing(connection):
        raise InvalidInput("ledger", address, "holds other tables; a ledger has a database of its own")
    METADATA.create_all(connection)


def migrate(connection: Connection) -> bool:
    """Bring a ledger to the newest version, step by step, in the caller's transaction; whether it was older."""
    found = connection.scalar(select(FACTS.c.version))
    if not isinstance(found, int) or found > VERSION:
        raise InvalidInput("ledger", found, f"has a version that this program does not know; it knows {VERSION}")
    for version in range(found, VERSION):
        MIGRATIONS[version](connection)
        connection.execute(update(FACTS).values(version=version + 1))
    return found < VERSION
