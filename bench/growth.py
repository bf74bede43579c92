"""`python -m bench.growth [--entries N]`: how far a ledger grows.

Slots are certified as one batch; entries are appended by the code that every write uses, in large transactions, and the
whole chain is followed again.  It takes long, and is therefore no part of `python -m bench`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

from rich.console import Console
from sqlalchemy import select, text

from bench.ledger import places
from bench.report import RESULTS, Section, show, write
from bench.rows import duration
from optcomp.composition import compose
from optcomp.guarantees import ApproxDP
from optcomp.interactive import SumFilter
from optcomp.ledger import Ledger
from optcomp.ledger.chain import Entry, first_head, follow
from optcomp.ledger.database import Database
from optcomp.ledger.schema import ENTRIES

SLOTS = 10_000
"""In one batch."""
ROWS = {"SQLite": 10_000_000, "PostgreSQL": 1_000_000}
"""Entries of the chain."""
BATCH = 20_000
"""Entries of one transaction."""
FAR = 10**9
"""Entries to which the figures are extended."""
_DELTA = Fraction(1, 10**8)
_COLUMNS = ("sequence", "at", "kind", "account", "body", "head")


def _timed(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def slots(made: Section, folder: Path) -> None:
    """A batch of equal slots and one of different ones: their composition alone, and the cut as a whole."""
    equal = [ApproxDP(Fraction(1, 10_000), Fraction(1, 10**14))] * SLOTS
    different = [ApproxDP(Fraction(i + 1, 10**8), Fraction(i + 1, 10**18)) for i in range(SLOTS)]
    rows = []
    for name, shares in (("equal", equal), ("different", different)):
        alone = _timed(lambda: compose(shares, delta=_DELTA))  # noqa: B023
        named = {f"slot {number}": share for number, share in enumerate(shares)}
        with Ledger(folder / f"{name}.ledger") as ledger:
            account = ledger.open("people", SumFilter(10, Fraction(1, 10**6)))
            whole = _timed(lambda: account.cut(named, delta=_DELTA))  # noqa: B023
        rows.append((f"{SLOTS:,} {name} (ε, δ)", duration(alone), duration(whole)))
    made.add("Slots certified and cut as one batch", ("slots", "composition", "cut as a whole"), rows)


def entries(address: str, private: Path, rows: int) -> tuple[float, float, int]:
    """Seconds of appending and of following, and the bytes of the database."""
    with Ledger(address, private=private) as ledger:
        books = ledger._books
        appended = _timed(lambda: _append(books, rows))
        database = books.database
        followed = _timed(lambda: _follow(database, books.id))
        with database.read() as connection:
            query = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
            query = query if database.sqlite else "SELECT pg_database_size(current_database())"
            size = int(connection.scalar(text(query)) or 0)
    return appended, followed, size


def _append(books: object, rows: int) -> None:
    """Entries as requests make them: a debit, and its answer."""
    form = sha256(b"form").hexdigest()
    paid = {"paid": [{"kind": "PureDP", "epsilon": "1/1000"}], "price": {"epsilon": "1/1000", "delta": "0"}}
    for begun in range(0, rows, BATCH):
        with books.writing() as writing:  # type: ignore[attr-defined]
            for number in range(begun, min(begun + BATCH, rows), 2):
                writing.append("reserved", 1, {"holder": 2, "kind": "question", "form": form, **paid})
                writing.append("answered", 1, {"request": number, "commitment": form})


def _follow(database: Database, ledger: str) -> None:
    with database.read() as connection:
        for _ in follow(_rows(connection), first_head(ledger)):
            pass


def _rows(connection: object) -> Iterator[tuple[Entry, str]]:
    query = select(*(ENTRIES.c[name] for name in _COLUMNS)).order_by(ENTRIES.c.sequence)
    streamed = connection.execution_options(yield_per=10_000)  # type: ignore[attr-defined]
    for *entry, head in streamed.execute(query):
        yield Entry(*entry), head


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description="how far a ledger grows")
    parser.add_argument("--entries", type=int, help="in place of ten million in SQLite and a million in PostgreSQL")
    given = parser.parse_args().entries
    console, made = Console(width=150), Section("Growth", "")
    rows = []
    with tempfile.TemporaryDirectory(prefix="optcomp-bench-") as name, places(Path(name)) as databases:
        slots(made, Path(name))
        for database, make in databases.items():
            count = given or ROWS[database]
            appended, followed, size = entries(make("growth"), Path(name) / database, count)
            far = (f"{FAR / count * each / 3600:.1f} h" for each in (appended, followed))
            figures = f"{count / appended:,.0f}", f"{count / followed:,.0f}", f"{size / count:.0f}"
            rows.append((database, f"{count:,}", *figures, *far, f"{FAR / count * size / 1e9:.0f} GB"))
            print(rows[-1], flush=True)
    header = ("database", "entries", "appended in a second", "followed in a second", "bytes of each")
    far_header = ("a billion appended", "a billion followed", "on disk")
    made.add("Entries of the chain, and what they come to for a billion", (*header, *far_header), rows)
    made.text = (
        f"`python -m bench.growth`. Entries are appended {BATCH:,} to a transaction and followed in one stream, both "
        "by one process on one core. A billion is extrapolated: both grow in proportion."
    )
    show(made, console)
    if given is None:
        write([made], RESULTS)


if __name__ == "__main__":
    main()
