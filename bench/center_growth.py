"""A centre with up to a million analysts and ten thousand slots: what each request looks up, and what slots cost.

Simulated: rows are inserted into the tables of a real centre as its own code writes them, and then its own code is
timed on them.  Nobody asks over the network.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from rich.console import Console

from bench.center_home import DATASET, OWNER, add_analysts, make_home, names
from bench.report import Section
from optcomp.center import Catalogue, People, Settings, Store
from optcomp.composition import compose
from optcomp.guarantees import ApproxDP
from optcomp.ledger import Account, Ledger
from optcomp.statistics import Count, Question, Table

T = TypeVar("T")
PEOPLE, SLOTS = (1_000, 100_000, 1_000_000), (100, 1_000, 10_000)
"""Sizes that are simulated."""
_QUICK_PEOPLE, _QUICK_SLOTS = (1_000, 10_000), (100, 1_000)
_TIMES, _CHUNK = 200, 100_000
"""How often a look-up is timed, and how many analysts one transaction inserts."""
_QUESTION = Question(Count("age >= 65"), epsilon="1/10000")


def section(quick: bool, console: Console) -> Section:
    """Look-ups for every size of the centre, and batches of every size."""
    before, made = os.getloadavg()[0], Section("Centre, growing", "")
    with tempfile.TemporaryDirectory(prefix="optcomp-bench-", ignore_cleanup_errors=True) as name:
        rows = _people(Path(name), _QUICK_PEOPLE if quick else PEOPLE, console)
        made.add("What a request looks up, by how many analysts are registered (medians)", _PEOPLE_HEADER, rows)
        found = [_slots(Path(name), count, console) for count in (_QUICK_SLOTS if quick else SLOTS)]
        made.add("A batch, by how many slots it has", _SLOTS_HEADER, found)
    made.text = (
        "Every analyst has a token, and SQLite is the database. *token* finds whose it is; *rate* counts the request, "
        "a write that need not be durable; *seat* finds a seat with its dataset. *proved* is the certificate of the "
        f"batch alone, *cut* all of it: proof, debit, seats, log. Load average before: {before:.1f}."
    )
    return made


_PEOPLE_HEADER = ("analysts", "database", "inserted in", "token", "unknown token", "rate", "seats of one", "seat")
_SLOTS_HEADER = ("slots", "proved", "cut", "ε together", "ledger", "first answer in a slot", "second", "all seats")


def _people(folder: Path, sizes: tuple[int, ...], console: Console) -> list[tuple[str, ...]]:
    home, rows, known = folder / "people", [], 10
    tokens = make_home(home, known)
    settings = Settings.read(home)
    with Store(settings) as store, Ledger(settings.ledger, private=settings.private) as ledger:
        for size in sizes:
            with console.status(f"{size:,} analysts"):
                started = time.perf_counter()
                while known < size:
                    more = min(_CHUNK, size - known)
                    tokens += random.sample(add_analysts(store, more, known), min(more, _TIMES))
                    known += more
                spent = time.perf_counter() - started
                disk = _size(settings.database)
                rows.append((f"{size:,}", f"{disk / 1e6:.0f} MB", f"{spent:.1f} s", *_looked_up(store, ledger, tokens)))
    return rows


def _looked_up(store: Store, ledger: Ledger, tokens: list[str]) -> list[str]:
    people, catalogue = People(store), Catalogue(store, ledger)
    some = [random.choice(tokens) for _ in range(_TIMES)]
    first = people.who(tokens[0])
    seat = catalogue.seats(first.name)[0].id
    return [
        _timed(lambda place: people.who(some[place])),
        _timed(lambda place: _unknown(people, place)),
        _timed(lambda place: people.count(f"person {place}", 10**6)),
        _timed(lambda _: catalogue.seats(first.name)),
        _timed(lambda _: catalogue.seat(seat)),
    ]


def _size(database: str) -> int:
    """Bytes of a database of SQLite, with its log."""
    path = Path(database)
    return sum(each.stat().st_size for each in path.parent.glob(f"{path.name}*") if each.is_file())


def _unknown(people: People, place: int) -> None:
    try:
        people.who(f"oc_{place:043}")
    except Exception as error:
        if type(error).__name__ != "NotKnown":
            raise


def _slots(folder: Path, count: int, console: Console) -> tuple[str, ...]:
    home = folder / f"slots {count}"
    make_home(home, 0)
    settings = Settings.read(home)
    share = ApproxDP("1/20", 0)
    with (
        console.status(f"{count:,} slots"),
        Store(settings) as store,
        Ledger(settings.ledger, private=settings.private) as ledger,
    ):
        add_analysts(store, count)
        catalogue = Catalogue(store, ledger)
        proved, bound = _once(lambda: compose([share] * count, delta="1e-6"))
        cut, _ = _once(
            lambda: catalogue.cut(DATASET, "all", dict.fromkeys(names(count), "1/20"), delta="1e-6", by=OWNER)
        )
        size = _size(settings.ledger)
        table, account = Table.open(catalogue.dataset(DATASET).snapshot), ledger.account(DATASET)
        pairs = [_first_and_second(account, table, f"all: {name}") for name in names(min(count, 30))]
        listed, _ = _once(catalogue.seats)
    firsts, seconds = zip(*pairs, strict=True)
    ends = _ms(median(firsts)), _ms(median(seconds)), _ms(listed)
    return f"{count:,}", _ms(proved), _ms(cut), f"{bound.upper:.3f}", f"{size / 1e6:.1f} MB", *ends


def _first_and_second(account: Account, table: Table, slot: str) -> tuple[float, float]:
    """Seconds of the first answer in a slot, which opens its session, and of the second."""

    def asked() -> Any:
        session = account.slot(slot).session(table)
        session.ask(_QUESTION)
        return session

    first, session = _once(asked)
    return first, _once(lambda: session.ask(_QUESTION, repeat=1))[0]


def _once(act: Callable[[], T]) -> tuple[float, T]:
    started = time.perf_counter()
    found = act()
    return time.perf_counter() - started, found


def _timed(act: Callable[[int], object]) -> str:
    times = []
    for place in range(_TIMES):
        started = time.perf_counter()
        act(place)
        times.append(time.perf_counter() - started)
    return _ms(median(times))


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 10 else f"{seconds:.1f} s"
