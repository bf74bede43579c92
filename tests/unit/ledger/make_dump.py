"""Make the dumps of a ledger of the first version anew: `python -m tests.unit.ledger.make_dump`.

It writes `version-1.sql`, `version-1.postgresql.sql` and `version-1.keys.json` beside this file.  Ledgers that people
have must open for ever; so these files stay as they are once that version is published, and this module with them.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from optcomp import PureDP
from optcomp.interactive import SparseVector, SumFilter
from optcomp.ledger import Ledger
from optcomp.statistics import Count
from tests.servers import postgres_address, postgres_program
from tests.unit.ledger.people import people

HERE = Path(__file__).parent
_NOT_KEPT = ("--", "SET ", "SELECT pg_catalog.set_config", "\\")
"""How lines of pg_dump begin that say nothing about the ledger, or that only psql understands."""


def fill(ledger: Ledger) -> None:
    """Something of everything that a ledger may hold; Σε of "people" is 1 + 1/4 + 3/4 + 1/2 + 1/4."""
    account = ledger.open("people", SumFilter(3))
    with account.session(people(), SumFilter(1), name="ada") as session:
        session.ask(Count(), epsilon="0.1")
        session.open(SparseVector(-(10**6), epsilon="0.2", positives=3)).ask(Count())
    with account.session(people(), SumFilter("1/4"), name="grace") as session:
        session.ask(Count("age > 60"), epsilon="1/8")
    slots = account.cut({"bob": "1/4", "carol": "1/4", "dan": "1/4"}, delta=0)
    slots["carol"].split({"carol 1": "1/8", "carol 2": "1/8"})
    with slots["dan"].session(people()) as session:
        session.ask(Count(), epsilon="1/8")
    account.enter(key="elsewhere", what="a release made elsewhere", offers=[(PureDP("1/2"),)], declared=people())
    account.release(
        key="release",
        what="a release",
        form={"of": "release"},
        offers=[(PureDP("1/4"),)],
        run=lambda: '{"told":1}',
        declared=people(),
    )
    ledger.open("other people", epsilon=1, delta="1e-6", disjoint=True)


def make_sqlite(folder: Path) -> str:
    """The dump of a new ledger in a file; its keys are in the private folder."""
    with Ledger(folder / "people.ledger", private=folder / "private") as ledger:
        fill(ledger)
    with closing(sqlite3.connect(folder / "people.ledger")) as connection:
        return "\n".join(connection.iterdump()) + "\n"


def make_postgres(folder: Path, address: str) -> str:
    """The dump of a new ledger in a database, with the keys that are in the private folder."""
    (folder / "private" / "anchor").unlink()
    with Ledger(address, private=folder / "private") as ledger:
        fill(ledger)
    options = ["--inserts", "--no-owner", "--no-privileges", "--no-comments", "--schema=public"]
    found = subprocess.run(
        [postgres_program("pg_dump"), *options, address], check=True, capture_output=True, text=True
    ).stdout
    kept = [line for line in found.splitlines() if line.strip() and not line.startswith(_NOT_KEPT)]
    return "\n".join(line for line in kept if line != "CREATE SCHEMA public;") + "\n"


def main() -> None:
    """Make all three files."""
    with TemporaryDirectory(prefix="optcomp-") as name, postgres_address() as database:
        folder = Path(name)
        dumps = make_sqlite(folder), make_postgres(folder, database)
        for file, dumped in zip(("version-1.sql", "version-1.postgresql.sql"), dumps, strict=True):
            (HERE / file).write_text(dumped, encoding="utf-8")
        shutil.copyfile(folder / "private" / "keys.json", HERE / "version-1.keys.json")


if __name__ == "__main__":
    main()
