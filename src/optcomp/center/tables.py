"""The tables of a centre's database, in SQLite and PostgreSQL alike.  There is no budget in them: that is the ledger's.

    facts       one row: the version of the schema
    people      who may ask, and in which role
    tokens      by which people are known: hashes
    counters    requests in a minute
    datasets    what can be asked about; `versions` has the snapshots of each
    seats       which slot of the ledger is whose
    changes     everything that was changed, and by whom
    proposals   what waits for a second owner
    wishes      analysts who ask for more
    agreements  answers that their analysts share
    releases    plans that were released, or are on their way; the records are files
    cancellations
                requests that are to be stopped, wherever they are
    owner_jobs  work of owners about sources, which goes on in processes of its own
    visits      people who are signed in with a browser: hashes of what it holds
    drafts      what people write in pages and have not finished

Times are seconds since 1970 by the clock of the database.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from optcomp.ledger import RowNumber, one_of

VERSION = 4
"""Of the schema.  What an older version lacks is made when it is opened: jobs of owners came with version 4."""
SCOPES_NAME_ACCOUNTS = 3
"""The version of the schema since which scopes of tokens name accounts; before, they named data sets."""
ACTIVE = ("waiting", "running")
"""States of jobs that have not ended."""
ENDED = ("done", "failed", "cancelled", "interrupted")
"""States of those that have."""
ROLES = ("owner", "analyst", "auditor")
"""What people may be."""
METADATA = MetaData()

FACTS = Table(
    "facts",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("center", String(32), nullable=False),
    Column("version", Integer, nullable=False),
    CheckConstraint("id = 1"),
)

PEOPLE = Table(
    "people",
    METADATA,
    Column("id", RowNumber, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("role", String(16), nullable=False),
    Column("suspended", Boolean, nullable=False),
    one_of("role", *ROLES),
)

TOKENS = Table(
    "tokens",
    METADATA,
    Column("id", RowNumber, primary_key=True),
    Column("person", ForeignKey("people.id"), nullable=False, index=True),
    Column("hash", String(64), nullable=False, unique=True),
    Column("scope", Text, nullable=True),  # JSON: names of accounts of the ledger; NULL is all
    Column("made", Float(53), nullable=False),
    Column("expires", Float(53), nullable=False),
    Column("revoked", Boolean, nullable=False),
    Column("made_by", Text, nullable=True),
    Column("second", Text, nullable=True),  # who confirmed it
)

COUNTERS = Table(
    "counters",
    METADATA,
    Column("subject", Text, primary_key=True),
    Column("minute", BigInteger, primary_key=True),
    Column("count", BigInteger, nullable=False),
)

DATASETS = Table(
    "datasets",
    METADATA,
    Column("id", RowNumber, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("title", Text, nullable=False),
    Column("account", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("declaration", Text, nullable=False),  # JSON
    Column("free", Boolean, nullable=False),
    Column("state", String(16), nullable=False),
    one_of("state", "open", "closed"),
)

VERSIONS = Table(
    "versions",
    METADATA,
    Column("dataset", ForeignKey("datasets.id"), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("snapshot", Text, nullable=False),  # below the home where it can be, so that a home may be moved
    Column("mark", Text, nullable=False),  # by which the ledger knows the snapshot
)

SEATS = Table(
    "seats",
    METADATA,
    Column("id", RowNumber, primary_key=True),
    Column("dataset", ForeignKey("datasets.id"), nullable=False),
    Column("account", Text, nullable=False),
    Column("batch", Text, nullable=False),
    Column("slot", Text, nullable=False),
    Column("person", ForeignKey("people.id"), nullable=False, index=True),
    Column("suspended", Boolean, nullable=False),
    Column("next_slot", Text, nullable=True),  # what it becomes, while it is being handed on
    Column("next_person", BigInteger, nullable=True),
    Column("next_by", Text, nullable=True),
    Column("next_second", Text, nullable=True),
    UniqueConstraint("account", "slot"),
)

CHANGES = Table(
    "changes",
    METADATA,
    Column("id", RowNumber, primary_key=True),
    Column("at", Float(53), nullable=False),
    Column("who", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("detail", Text, nullable=False),  # JSON
    Column("second", Text, nullable=True),
)

PROPOSALS = Table(
    "proposals",
    METADATA,
    Column("id", RowNumber, primary_key=True),
    Column("at", Float(53), nullable=False),
    Column("who", Text, nullable=False),
    Column("kind", String(32), nullable=False),
    Column("detail", Text, nullable=False),  # JSON
    Column("state", String(16), nullable=False),
    Column("second", Text, nullable=True),
    one_of("state", "waiting", "confirmed", "done"),
)

WISHES = Table(
    "wishes",
    METADATA,
    Column("id", RowNumber, primary_key=True),
    Column("at", Float(53), nullable=False),
    Column("seat", ForeignKey("seats.id"), nullable=False),
    Column("person", ForeignKey("people.id"), nullable=False),
    Column("words", Text, nullable=False),
    Column("state", String(16), nullable=False),
    one_of("state", "open", "granted", "declined"),
)

AGREEMENTS = Table(
    "agreements",
    METADATA,
    Column("seat", ForeignKey("seats.id"), primary_key=True),
    Column("request", Text, primary_key=True),
    Column("at", Float(53), nullable=False),
)

RELEASES = Table(
    "releases",
    METADATA,
    Column("id", RowNumber, primary_key=True),
    Column("dataset", ForeignKey("datasets.id"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("plan", String(64), nullable=False),  # the digest
    Column("document", Text, nullable=False),  # JSON: the plan
    Column("key", Text, nullable=True),
    Column("at", Float(53), nullable=False),
    Column("who", Text, nullable=False),
    Column("second", Text, nullable=True),
    Column("proposal", BigInteger, nullable=True),
    Column("published", Boolean, nullable=False),
    Column("state", String(16), nullable=False),
    Column("data", String(64), nullable=True),  # by what the account knows the snapshot
    Column("sha256", String(64), nullable=True),  # of the record
    UniqueConstraint("dataset", "version", "plan"),
    UniqueConstraint("dataset", "key"),
    one_of("state", "waiting", "done"),
)

CANCELLATIONS = Table(
    "cancellations",
    METADATA,
    Column("id", RowNumber, primary_key=True),
    Column("request", String(64), nullable=False, index=True),  # hash of its account, slot and key
    Column("at", Float(53), nullable=False),
    Column("taken", Boolean, nullable=False),  # whether a worker stops it
)

OWNER_JOBS = Table(
    "owner_jobs",
    METADATA,
    Column("id", RowNumber, primary_key=True),
    Column("mark", String(16), nullable=False),  # in the names of folders that it makes
    Column("kind", String(32), nullable=False),
    Column("person", ForeignKey("people.id"), nullable=False, index=True),
    Column("scope", Text, nullable=True),  # JSON: accounts of the token that asked; NULL is all
    Column("account", Text, nullable=True),  # of the ledger, if the job is about one
    Column("detail", Text, nullable=False),  # JSON: names of what it is about, and no cells
    Column("key", Text, nullable=True),  # jobs with the same key are about the same, and are not done at the same time
    Column("state", String(16), nullable=False),
    Column("step", Text, nullable=True),
    Column("share", Float(53), nullable=True),  # of the step, where that is known
    Column("stop", Boolean, nullable=False),  # whether it is to be cancelled
    Column("lease", Float(53), nullable=False),  # until when the worker that has it need not say that it goes on
    Column("asked", Float(53), nullable=False),
    Column("began", Float(53), nullable=True),
    Column("ended", Float(53), nullable=True),
    Column("result", Text, nullable=True),  # JSON
    Column("error", Text, nullable=True),  # JSON
    one_of("state", *ACTIVE, *ENDED),
)

VISITS = Table(
    "visits",
    METADATA,
    Column("hash", String(64), primary_key=True),
    Column("token", ForeignKey("tokens.id"), nullable=False, index=True),
    Column("proof", String(64), nullable=False),  # what every form of this visit sends back
    Column("expires", Float(53), nullable=False),
)

DRAFTS = Table(
    "drafts",
    METADATA,
    Column("id", RowNumber, primary_key=True),
    Column("person", ForeignKey("people.id"), nullable=False, index=True),
    Column("kind", String(32), nullable=False),
    Column("document", Text, nullable=False),  # JSON
    Column("version", Integer, nullable=False),
    Column("changed", Float(53), nullable=False),
)
