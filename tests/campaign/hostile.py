"""One person's rows are as odd as can be: everybody else's stored rows stay what they are, and its owner is told.

An instance is two neighbouring tables with a column of each kind of declaration.  Both are prepared with
`bad_cells="missing"` under one key and compared with the oracle's snapshots and with each other; then the table with
the odd rows is prepared again with the default, which has to say how many cells cannot be read, and where the first is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any
from unittest.mock import patch

from optcomp.errors import UnreadableData
from optcomp.statistics import Categories, Declared, Domain, Integers, Reals, Table, Text
from optcomp.statistics.sources import files, frames, relations
from tests.campaign import found_values
from tests.campaign.sources import Engine, Kinds, Record, Row
from tests.oracles import cells
from tests.oracles.snapshots import Codes, identity, snapshot

DOMAINS: dict[str, list[Domain]] = {
    "i": [Integers(-3, 12), Integers(0, 2**40), Integers(-(2**62), 2**62), Integers(2**60 + 1, 2**60 + 4)],
    "r": [
        *(Reals(-2, 5, unit="1/4"), Reals(0, 1), Reals("0.1", "9.3", unit="1/7"), Reals(-(10**100), 10**100)),
        *(Reals(0, Fraction(1, 10**90)), Reals(2**60, 2**60 + 2**28), Reals("0.3", 7)),
    ],
    "t": [Categories(["a", "1", "true", "it's", ""]), Categories(["2.5", "1970-01-01", "1970-01-01 00:00:00", "nan"])],
    "k": [Categories([1, 2, -5]), Categories([0, 2**62, -(2**63) + 1])],
    "b": [Categories([True, False]), Categories([False])],
    "x": [Text(1), Text(3), Text()],
}
"""One of each kind is declared."""
NUMBERS = frozenset("ir")
ADVICE = re.compile(
    r"([\d,]+ lines?)?( and )?([\d,]+ cells?)? cannot be read; "
    r"mend the data, or say bad_cells='missing'( to count( them)? as missing)?"
)
PEOPLE = 4


@dataclass
class Told:
    """What an oracle finds in a table."""

    owned: list[tuple[str | None, Codes]]
    bad: list[tuple[int, str | None, str]]
    """The number of a row or line, the column, and why; no column if the whole line is bad."""


def read(declared: Declared, records: list[Record]) -> Told:
    """Cell by cell."""
    told = Told([], [])
    for number, found in records:
        if found is None:
            told.bad.append((number, None, "line"))
            told.owned.append((None, (None,) * len(declared.columns)))
            continue
        owner, why = cells.person(found[0])
        if why is not None:
            told.bad.append((number, declared.person, _reason(found[0], why)))
        codes = list[int | None]()
        for cell, (name, domain) in zip(found[1:], declared.columns.items(), strict=False):
            outcome = cells.outcome(domain, cell)
            if isinstance(outcome, str):
                told.bad.append((number, name, _reason(cell, outcome)))
            codes.append(None if isinstance(outcome, str) else outcome)
        told.owned.append((owner, tuple(codes)))
    return told


def _reason(cell: cells.Cell, why: str) -> str:
    """Of text that begins with a NUL any reason will do."""
    text = cell.decode("utf8", "replace") if isinstance(cell, bytes) else cell
    return "any" if isinstance(text, str) and text.strip(" ").startswith("\0") else why


@dataclass
class Instance:
    """Two tables, and what is declared about them."""

    kinds: Kinds
    columns: dict[str, Domain]
    bounds: dict[str, Any]
    key: bytes
    base: list[Row]
    other: list[Row]
    victims: tuple[Any, Any]
    """The cells that name the person in whose rows they differ."""


def drawn(engine: Engine, rng: Random, people: int = PEOPLE, crowd: bool = False) -> Instance:
    """A base table, and a neighbour in which one person's rows are odd; in a crowd many others' rows are, too."""
    columns = {name: rng.choice(domains) for name, domains in DOMAINS.items()}
    kinds = {"who": rng.choice(engine.kinds)}
    for name in columns:
        kinds[name] = rng.choice([kind for kind in engine.kinds if kind.numbers or name not in NUMBERS])
    kinds["undeclared"] = rng.choice((*engine.kinds, *engine.others, *engine.others))
    who = kinds["who"]

    def rows(owner: Any, *, odd: bool) -> list[Row]:
        return [engine.row(rng, kinds, NUMBERS, owner, odd=odd) for _ in range(rng.randint(1, 4))]

    owners = [who.odd(rng) if crowd and rng.random() < 0.3 else who.owner(i) for i in range(1, people)]
    others = [row for owner in owners for row in rows(owner, odd=crowd)]
    victim, named = who.owner(0), who.owner(0) if rng.random() < 0.5 else who.odd(rng)
    if cells.person(who.read(named))[0] in {cells.person(who.read(owner))[0] for owner in owners}:
        named = victim  # nobody becomes somebody else who is there already
    before = rows(victim, odd=False) if rng.random() < 0.5 else []
    after = rows(named, odd=True)
    base, other = _mixed(rng, others, before), _mixed(rng, others, after)
    return Instance(kinds, columns, _bounds(rng), rng.randbytes(32), base, other, (victim, named))


def _bounds(rng: Random) -> dict[str, Any]:
    rows = rng.randint(1, 3)
    found: dict[str, Any] = {"person": "who", "rows_per_person": rows}
    if rows > 1 and rng.random() < 0.4:
        found |= {"groups_per_person": rng.randint(1, rows - 1), "rows_per_group": rng.randint(1, rows)}
    return found


def _mixed(rng: Random, rows: list[Row], more: list[Row]) -> list[Row]:
    """Rows of one person between those of others, whose order stays."""
    found = list(rows)
    for row in more:
        found.insert(rng.randint(0, len(found)), row)
    return found


def judge(engine: Engine, seed: int, people: int = PEOPLE, crowd: bool = False) -> list[str]:
    """What is wrong with the instance of this seed."""
    rng = Random(f"{type(engine).__name__} {engine.where} {seed}")
    instance = drawn(engine, rng, people, crowd)
    try:
        with _batches(rng.choice((2, 1 << 16))):
            return [f"{type(engine).__name__} {seed}: {each}" for each in _findings(engine, instance)]
    finally:
        engine.forget()


@contextmanager
def _batches(rows: int) -> Iterator[None]:
    """So many rows are read at a time: what a cell becomes must not depend on those it is read with."""
    with (
        patch.object(files, "BATCH", rows),
        patch.object(frames, "BATCH", rows),
        patch.object(relations, "BATCH", rows),
    ):
        yield


def _findings(engine: Engine, instance: Instance) -> list[str]:
    declared = Declared(instance.columns, **instance.bounds)
    found, stored = list[str](), list[Counter[Codes]]()
    for name, rows in (("base", instance.base), ("odd", instance.other)):
        told = read(declared, engine.records(instance.kinds, rows))
        expected = snapshot(declared, instance.key, told.owned)
        actual = prepared(engine.source(instance.kinds, rows), instance, "missing")
        if isinstance(actual, UnreadableData):
            found.append(f"{name}: not prepared ({actual})")
            return found
        stored.append(actual)
        if actual != expected:
            found.append(f"{name}: stored {actual - expected}, expected {expected - actual}; {_shown(instance, rows)}")
    found += _apart(declared, instance, *stored)
    return found + _told(engine, instance, told)


def prepared(source: Any, instance: Instance, bad_cells: Any) -> Counter[Codes] | UnreadableData:
    """The stored rows, or why there are none."""
    try:
        table = Table(source, instance.columns, lot_key=instance.key, bad_cells=bad_cells, **instance.bounds)
    except UnreadableData as error:
        return error
    return Counter(found_values.named(table, table, row) for row in table.run(f"SELECT * FROM {table._rows.name}"))


def _apart(declared: Declared, instance: Instance, base: Counter[Codes], odd: Counter[Codes]) -> list[str]:
    """They differ in the rows of the two names of one person, and in no more of them than are declared."""
    who = instance.kinds["who"]
    names = [cells.person(who.read(cell))[0] for cell in instance.victims]
    ids = [None if name is None else identity(instance.key, name) for name in names]
    found = []
    for more, less in ((base, odd), (odd, base)):
        apart = more - less
        if any(row[0] not in ids for row in apart):
            found.append("rows of somebody else differ")
        if apart.total() > declared.contribution.rows:
            found.append(f"{apart.total()} rows differ")
    return found


def _told(engine: Engine, instance: Instance, told: Told) -> list[str]:
    """With the default nothing is prepared if anything cannot be read, and the error says so."""
    error = prepared(engine.source(instance.kinds, instance.other), instance, "refuse")
    if not isinstance(error, UnreadableData):
        return [f"{len(told.bad)} unreadable cells were not told"] if told.bad else []
    if error.count != len(told.bad):
        return [f"{error.count} unreadable cells were told, of {len(told.bad)}: {told.bad}"]
    places = dict(_places(engine, told))
    if engine.ordered and error.place not in places:
        return [f"told {error.place!r}, and not one of {list(places)}"]
    if engine.ordered and places[error.place] not in ("any", "line", error.reason):
        return [f"told {error.reason!r}, and not {places[error.place]!r}"]
    text = str(error).removeprefix(f"{error.place}: {error.reason}; ")
    return [] if ADVICE.fullmatch(text) else [f"told too much: {error}"]


def _places(engine: Engine, told: Told) -> list[tuple[str, str]]:
    """The first cells that cannot be read, and the first line."""
    lines = [number for number, column, _ in told.bad if column is None]
    found = [(f"{engine.told}, line {min(lines)}", "line")] if lines else []
    first = min((number for number, column, _ in told.bad if column is not None), default=0)
    return found + [
        (f"{engine.told}, {engine.unit} {number}, column {column!r}", why)
        for number, column, why in told.bad
        if number == first and column is not None
    ]


def _shown(instance: Instance, rows: list[Row]) -> str:
    kinds = {name: str(kind.name) for name, kind in instance.kinds.items()}
    written = [_written(row) if isinstance(row, bytes) else [_written(cell) for cell in row] for row in rows]
    return f"{kinds}, {instance.columns}, {written}"[:3000]


def _written(cell: Any) -> str:
    """Some cells cannot be written."""
    try:
        return repr(cell)
    except Exception as error:  # whatever it is
        return f"{type(cell).__name__} ({type(error).__name__})"
