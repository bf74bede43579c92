"""A plan as people write it: a YAML or JSON document about data, budget and statistics, read strictly.

    plan: 1
    data: {rows: 60000, person: person, rows_per_person: 2}
    columns:
      age: {integers: [16, 100], present: 0.98}
      region: {categories: [north, south]}
    budget: {epsilon: 1, delta: 1e-6}
    statistics:
      mean_age: {mean: age}
      regions: {histogram: region, weight: 2}

Every entry is known or refused; an error names the place in the document.  Nothing here looks at data.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, cast, get_args

from optcomp.errors import InvalidInput, Written
from optcomp.guarantees import ZCDP, ApproxDP
from optcomp.planner.objective import Objective
from optcomp.planner.source import load
from optcomp.statistics import (
    FACTS,
    JOINS,
    OTHER,
    TOP,
    UNKNOWN,
    BadCells,
    Categories,
    Dates,
    Declared,
    Domain,
    Entries,
    Integers,
    Known,
    Neighbours,
    Numbers,
    Reading,
    Reals,
    Statistic,
    Text,
    as_written,
    check_condition,
    checked_confidence,
    columns_of,
    known_from,
    known_keywords,
)
from optcomp.statistics.noise import Noise

VERSION = 1
"""Of the format."""
AUTO = "auto"
"""The word for noise that is left open."""
MOST_ROWS = 10**15
"""More than there are people, and floats count them exactly."""
LEAST_WEIGHT = Fraction(1, 10**6)
"""Weights farther apart would leave nothing to some."""
LEAST_TOTAL, MOST_TOTAL = Fraction(1, 10**6), 10**4
"""Of ε and of ρ: beyond, noise cannot be drawn, or protects nobody."""
HARM = {
    "low": ("1", "1e-5"),
    "moderate": ("0.5", "1e-6"),
    "high": ("0.25", "1e-7"),
    "extreme": ("0.05", "1e-9"),
}
"""Suggestions of (ε, δ) by the harm that disclosure could do; nothing proves them right for a data set."""
_ABOUT: dict[str, tuple[type, Any]] = {
    "person": (str, None),
    "rows_per_person": (int, 1),
    "groups_per_person": (int, None),
    "rows_per_group": (int, None),
    "grouped_by": (Sequence, None),
    "name": (str, "table"),
}
"""What a table is told about itself, with types and defaults."""


@dataclass(frozen=True, repr=False)
class Wish(Written):
    """One statistic of a plan, as it was asked for."""

    name: str
    statistic: Statistic
    noise: Noise | None = None
    """None where the planner takes what is better."""
    weight: Fraction = Fraction(1)
    epsilon: Fraction | None = None
    """Held at this ε."""
    rho: Fraction | None = None
    """Held at this ρ."""
    error: float | None = None
    """Held at this error."""
    size: float | None = None
    """What errors are relative to; by default the number of rows, or the range of the column."""
    hold: bool = False
    """Held at the budget that an allocation without holds gives it."""
    rows: int | None = None
    """About how many rows satisfy its condition; by default all of the table."""
    known: Known = UNKNOWN
    """What it says about the values among these rows."""


@dataclass(frozen=True, repr=False)
class Document(Written):
    """A plan, read."""

    table: Declared
    rows: int | None
    population: int | None
    budget: ApproxDP | ZCDP
    confidence: float
    reserve: Fraction
    objective: Objective
    wishes: tuple[Wish, ...]
    known: Mapping[str, Known]
    """What is said about the values of each column."""
    bad_cells: BadCells
    """What happens to cells that cannot be read."""
    reading: Reading
    """How a file is read: its dialect, other names of columns, and which of its tables is meant."""
    account: str | None
    """The account of a ledger that pays for releases; None if the plan does not say."""
    _source: Mapping[str, Any] = field(repr=False)

    @property
    def source(self) -> dict[str, Any]:
        """The document itself: a copy, for what was read stays as it was read."""
        return copy.deepcopy(dict(self._source))

    def known_about(self, wish: Wish) -> Known:
        """What is said about the values of a statistic: by itself, or else by its column.

        Where there is a condition or there are groups, a column says nothing about mean and spread of these rows.
        """
        about = self.known.get(wish.statistic.values_of or "", UNKNOWN)
        return (about if wish.statistic.all_rows else Known(present=about.present)) | wish.known

    def rows_of(self, wish: Wish) -> int | None:
        """How many rows a statistic is about, and for those of values how many have one."""
        rows, present = wish.rows or self.rows, self.known_about(wish).present
        return rows if rows is None or present is None else max(int(rows * present), 1)


def read_file(path: str | Path) -> Document:
    """A plan from a YAML or JSON file."""
    if not isinstance(path, str | Path):
        raise InvalidInput(
            "path", type(path).__name__, "must be the path of a YAML or JSON file; `read` takes the rest"
        )
    return read(load(Path(path)))


def read(document: object) -> Document:
    """A plan from nested dictionaries."""
    top = Entries(document, TOP)
    version = top.take("plan", int)
    if version != VERSION:
        raise InvalidInput("plan", version, f"must be {VERSION}, the version of the format")
    data = Entries(top.take("data", Mapping, {}), "data")
    rows = data.take("rows", int, None)
    if rows is not None and not 1 <= rows <= MOST_ROWS:
        raise InvalidInput("data.rows", rows, f"must lie between 1 and {MOST_ROWS:g}")
    public = data.take("rows_public", bool, False)
    population = data.take("population", int, None)
    neighbours = data.take("neighbours", str, "add-remove")
    bad_cells = data.take("bad_cells", str, "refuse")
    if bad_cells not in get_args(BadCells):
        raise InvalidInput("data.bad_cells", bad_cells, f"must be one of {', '.join(get_args(BadCells))}")
    reading = _reading(data)
    account = _account(data.take("account", str, None))
    columns, known = _columns(top.take("columns", Mapping))
    about = {name: data.take(name, kind, default) for name, (kind, default) in _ABOUT.items()}
    about["grouped_by"] = _columns_named(about["grouped_by"])
    data.done()
    with at("data"):
        table = Declared(columns, neighbours=cast(Neighbours, neighbours), **about)
    if population is not None:
        _check_sample(rows, population, public, table)
    budget = _budget(Entries(top.take("budget", Mapping), "budget"))
    confidence = checked_confidence(float(top.number("confidence", "0.95")))
    reserve = Fraction(top.number("reserve", "0"))
    if not 0 <= reserve < 1:
        raise InvalidInput("reserve", float(reserve), "must be a share of the budget, at least 0 and below 1")
    objective = top.take("objective", str, "squares")
    if objective not in get_args(Objective):
        raise InvalidInput("objective", objective, f"must be one of {', '.join(get_args(Objective))}")
    wishes = top.take("statistics", Mapping)
    top.done()
    if not wishes:
        raise InvalidInput("statistics", wishes, "must name at least one statistic")
    found = tuple(
        _wish(name, Entries(entry, f"statistics.{name}"), table) for name, entry in _named(wishes, "statistics")
    )
    assert isinstance(document, Mapping)
    return Document(
        table=table,
        rows=rows,
        population=population,
        budget=budget,
        confidence=confidence,
        reserve=reserve,
        objective=cast(Objective, objective),
        wishes=found,
        known=known,
        bad_cells=cast(BadCells, bad_cells),
        reading=reading,
        account=account,
        _source=copy.deepcopy(document),
    )


def _reading(data: Entries) -> Reading:
    """How a file is read."""
    if data.has("join") or data.has("joins"):
        raise InvalidInput("data.join", None, f"is not known: {JOINS}")
    said = data.take("multiline", bool, False), data.take("dialect", Mapping, None)
    with at("data"):
        return Reading.of(*said, data.take("rename", Mapping, None), data.take("table", str, None))


def _account(name: str | None) -> str | None:
    """A name that people can read and that fits on a line, as accounts have."""
    if name is not None and (not name.strip() or len(name) > 200 or not name.isprintable()):
        raise InvalidInput("data.account", name, "must be text that can be printed, from 1 to 200 characters")
    return name


def _columns_named(names: Sequence[Any] | None) -> list[Any] | None:
    """Columns by their names; a whole number, such as a year, may be one."""
    if names is None:
        return None
    if not names:
        raise InvalidInput("data.grouped_by", list(names), "must name at least one column")
    return [str(name) if isinstance(name, int) and not isinstance(name, bool) else name for name in names]


def _check_sample(rows: int | None, population: int, public: bool, table: Declared) -> None:
    if rows is None or not public:
        raise InvalidInput("data.population", population, "needs data.rows, and data.rows_public: true")
    if not rows <= population <= MOST_ROWS:
        raise InvalidInput("data.population", population, f"must lie between data.rows = {rows} and {MOST_ROWS:g}")
    if table.neighbours != "replace" or table.contribution.rows > 1 or table.person is not None:
        reason = "covers samples of one row per person, with data.neighbours: replace"
        raise InvalidInput("data.population", population, reason)


@contextmanager
def at(place: str, **renamed: str) -> Iterator[None]:
    """Errors inside the block name their place in the document; arguments may have other names there."""
    try:
        yield
    except InvalidInput as error:
        inside = error.argument.startswith(f"{place}.")
        argument = error.argument if inside else f"{place}.{renamed.get(error.argument, error.argument)}"
        value = float(error.value) if isinstance(error.value, Fraction) else error.value
        raise InvalidInput(argument, value, error.problem) from None


def _columns(columns: Mapping[str, Any]) -> tuple[dict[str, Domain], dict[str, Known]]:
    domains, known = dict[str, Domain](), dict[str, Known]()
    for name, entry in _named(columns, "columns"):
        domains[name], known[name] = _domain(Entries(entry, f"columns.{name}"), f"columns.{name}")
    return domains, known


def _named(entries: Mapping[Any, Any], place: str) -> Iterator[tuple[str, Any]]:
    """Entries by their names; a whole number, such as a year, may be one."""
    seen: set[str] = set()
    for key, entry in entries.items():
        name = str(key)
        if isinstance(key, bool) or not isinstance(key, str | int) or not name.strip() or name in seen:
            raise InvalidInput(place, key, "must have names as keys, each once")
        seen.add(name)
        yield name, entry


def _domain(entries: Entries, place: str) -> tuple[Domain, Known]:
    kinds = [kind for kind in ("integers", "reals", "dates", "categories", "text") if kind in entries.names()]
    if len(kinds) != 1:
        known = "integers: [low, high], reals: [low, high], dates: [low, high], categories: [...], text: 64"
        raise InvalidInput(place, kinds, f"must have one of {known}")
    if kinds == ["text"]:
        most = entries.take("text", int)
        entries.done()
        with at(place, most="text"):
            return Text(most), UNKNOWN
    values = entries.take(kinds[0], Sequence)
    if kinds == ["dates"]:
        return _dates(entries, values, place)
    unit = entries.take("unit", int | float | str, None) if kinds == ["reals"] else None
    other = entries.take("other", str, OTHER) if kinds == ["categories"] else OTHER
    facts = entries.those(() if kinds == ["categories"] else FACTS)
    entries.done()
    if kinds != ["categories"] and len(values) != 2:
        raise InvalidInput(f"{place}.{kinds[0]}", values, "must be two bounds, [low, high]")
    with at(place, values="categories"):
        if kinds == ["categories"]:
            return Categories(values, other), UNKNOWN
        if kinds == ["integers"]:
            domain: Numbers = Integers(*values)
        else:
            domain = Reals(as_written(values[0]), as_written(values[1]), None if unit is None else as_written(unit))
    return domain, known_from(facts, domain, place)


def _dates(entries: Entries, ends: Sequence[Any], place: str) -> tuple[Domain, Known]:
    said = entries.take("unit", str, "day"), entries.take("zone", str, "UTC"), entries.take("format", str, None)
    facts = entries.those(("present",))
    entries.done()
    if len(ends) != 2:
        raise InvalidInput(f"{place}.dates", list(ends), "must be two dates, [low, high]")
    low, high = (str(end) if isinstance(end, int) and not isinstance(end, bool) else end for end in ends)  # a year
    with at(place, low="dates", high="dates"):
        domain = Dates(low, high, *said)
    return domain, known_from(facts, domain, place)


def _budget(entries: Entries) -> ApproxDP | ZCDP:
    harm = entries.take("harm", str, None)
    if harm is not None:
        entries.done()
        if harm not in HARM:
            raise InvalidInput("budget.harm", harm, f"must be one of {', '.join(HARM)}")
        return ApproxDP(*HARM[harm])
    epsilon, delta, rho = (
        entries.number(name, None) if entries.has(name) else None for name in ("epsilon", "delta", "rho")
    )
    entries.expect("epsilon", "delta", "rho")
    entries.done()
    if (epsilon is None) == (rho is None):
        raise InvalidInput("budget", None, "must have epsilon and delta, or rho, or harm")
    for name, value in (("epsilon", epsilon), ("rho", rho)):
        if value is not None and not LEAST_TOTAL <= value <= MOST_TOTAL:
            raise InvalidInput(f"budget.{name}", float(value), "must lie between 1e-6 and 10000")
    if rho is not None and delta is not None:
        raise InvalidInput("budget.delta", float(delta), "belongs to epsilon, not to rho")
    with at("budget"):
        return ZCDP(rho) if rho is not None else ApproxDP(epsilon or 0, delta or 0)


def _wish(name: str, entries: Entries, table: Declared) -> Wish:
    place = f"statistics.{name}"
    known = known_keywords()
    kinds = [kind for kind in known if entries.has(kind)]
    if len(kinds) != 1:
        raise InvalidInput(place, kinds or entries.names(), f"must have one of {', '.join(known)}")
    keyword = known[kinds[0]].keyword
    with at(place, columns=keyword.word):
        statistic = keyword.read(entries)
    noise = _noise(entries.take("mechanism", str, AUTO), statistic, place)
    possible = statistic.noises() if noise is None else (noise,)
    weight = Fraction(entries.number("weight", 1))
    if not LEAST_WEIGHT <= weight <= 1 / LEAST_WEIGHT:
        raise InvalidInput(f"{place}.weight", float(weight), "must lie between 1e-6 and 1e6")
    epsilon = Fraction(entries.number("epsilon")) if entries.has("epsilon") else None
    rho = Fraction(entries.number("rho")) if entries.has("rho") else None
    error = float(entries.number("error")) if entries.has("error") else None
    size = float(entries.number("size")) if entries.has("size") else None
    hold = entries.take("hold", bool, False)
    rows = entries.take("rows", int, None)
    if rows is not None and not 1 <= rows <= MOST_ROWS:
        raise InvalidInput(f"{place}.rows", rows, f"must lie between 1 and {MOST_ROWS:g}")
    entries.expect("epsilon", "rho", "error", "size")
    facts = entries.those(keyword.facts)
    entries.done()
    for label, value in (("epsilon", epsilon), ("rho", rho), ("error", error), ("size", size)):
        if value is not None and not value > 0:
            raise InvalidInput(f"{place}.{label}", float(value), "must be positive")
    if error is not None and (epsilon is not None or rho is not None):
        raise InvalidInput(f"{place}.error", error, f"cannot be held together with {'epsilon' if epsilon else 'rho'}")
    if epsilon is not None and rho is not None:
        raise InvalidInput(f"{place}.rho", float(rho), "cannot be held together with epsilon")
    if rho is not None and all(each.currency.pure for each in possible):
        raise InvalidInput(f"{place}.rho", float(rho), "is for Gaussian noise: hold other noise by epsilon or error")
    if epsilon is not None and not any(each.currency.pure for each in possible):
        problem = "is for Laplace noise and choices: hold Gaussian noise by rho or error"
        raise InvalidInput(f"{place}.epsilon", float(epsilon), problem)
    with at(place, column=keyword.word, columns=keyword.word):
        statistic.parts(table)
    if statistic.where is not None:
        with at(place, column="where"):
            _check_where(statistic.where, table)
    said = known_from(facts, table.domain(statistic.value_columns[0], Numbers), place) if facts else UNKNOWN
    return Wish(name, statistic, noise, weight, epsilon, rho, error, size, hold, rows, said)


def _noise(word: str, statistic: Statistic, place: str) -> Noise | None:
    known: dict[str, Noise | None] = {AUTO: None, **{noise.name: noise for noise in statistic.noises()}}
    if word not in known:
        raise InvalidInput(f"{place}.mechanism", word, f"must be one of {', '.join(known)}")
    return known[word]


def _check_where(where: str, table: Declared) -> None:
    """The condition must fit the declared types of its columns."""
    asked = columns_of(where, table.columns)
    check_condition(where, {column: table.columns[column] for column in asked})
