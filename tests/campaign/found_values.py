"""Values that nobody declared, on neighbouring tables: what the proof of their threshold (KKMN09) takes for granted.

Values that other people have cost what the noise costs, so no more of them may change than is declared.  Values that
one person alone has are told with at most the declared δ; that chance is computed by an oracle, for the numbers at hand
and for all that the declaration allows.  An answer follows the same rules on both tables, whatever is in them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from optcomp.guarantees import ApproxDP
from optcomp.interactive import read_answer
from optcomp.interactive.answers import noised
from optcomp.statistics import Declared, Frequent, Question, Table, Text
from optcomp.statistics.noise import LAPLACE
from tests.oracles import leaks
from tests.oracles.answers import Vectors
from tests.oracles.cells import coded_text, text_code
from tests.oracles.snapshots import Codes
from tests.oracles.thresholds import BITS, Noise
from tests.oracles.truth import real, working

LAPLACE_BUDGETS: tuple[dict[str, Any], ...] = tuple({"epsilon": each} for each in ("1/10", "1", "3", "20"))
GAUSSIAN_BUDGETS: tuple[dict[str, Any], ...] = (
    *({"rho": each} for each in ("1/200", "1/8", "2", "50")),
    {"epsilon": 1, "delta": "1e-6"},
)
LEAKS = ("9/10", "1/2", "1/20", "1e-9", "1e-30")
Numbers = Mapping[int, int]
"""How many rows or people have each text, by the oracle's integer for it."""


@dataclass(frozen=True)
class Apart:
    """The numbers in two neighbouring tables, and in their rows of all people but the one in whom they differ."""

    tables: tuple[Numbers, Numbers]
    others: Numbers

    @classmethod
    def of(cls, one: Vectors, other: Vectors, others: Vectors) -> Apart:
        """From vectors of values and numbers."""
        return cls((by_value(one), by_value(other)), by_value(others))

    def changes(self, values: Sequence[int]) -> list[int]:
        """By how much these differ."""
        one, other = self.tables
        return [abs(one.get(value, 0) - other.get(value, 0)) for value in values]

    def alone(self, table: Numbers) -> list[int]:
        """The numbers of values that one person alone has."""
        return [number for value, number in table.items() if value not in self.others]


def budgets(rng: Random) -> tuple[dict[str, Any], ...]:
    """One for each kind of noise."""
    return rng.choice(LAPLACE_BUDGETS), rng.choice(GAUSSIAN_BUDGETS)


def drawn(rng: Random, columns: Sequence[str], where: str | None) -> Frequent:
    """Of rows or of people, with a small or large δ."""
    return Frequent(rng.choice(columns), rng.choice(("rows", "people")), rng.choice(LEAKS), where)


def named(declared: Declared, table: Table, row: Codes) -> Codes:
    """A stored row with the oracle's integers for texts, in place of those of this table."""
    start = 0 if declared.person is None else 1
    texts = {start + place for place, domain in enumerate(declared.columns.values()) if isinstance(domain, Text)}
    return tuple(
        text_code(*table.texts([code])) if place in texts and code is not None else code
        for place, code in enumerate(row)
    )


def measured(table: Table, vectors: Vectors) -> Vectors:
    """The same for what was counted, in the order of these integers."""
    codes, numbers = vectors
    found = sorted(zip(map(text_code, table.texts(codes)), numbers, strict=True))
    return tuple(code for code, _ in found), tuple(number for _, number in found)


def by_value(vectors: Vectors) -> dict[int, int]:
    """The number of each text."""
    return dict(zip(*vectors, strict=True))


def allowed(asked: Frequent, declared: Declared) -> tuple[int, int, int]:
    """Of one person: rows that are counted, values, and what each of them may count."""
    bounds = declared.contribution
    bounded = asked.column in declared.grouped_by
    groups = min(bounds.rows, bounds.groups) if bounded else bounds.rows
    each = bounds.rows_per_group if bounded else bounds.rows
    return bounds.rows, groups, 1 if asked.of == "people" else each


def judge(asked: Frequent, spent: Sequence[dict[str, Any]], declared: Declared, apart: Apart) -> list[str]:
    """Whatever the proof needs and does not have."""
    found = _changed(asked, declared, apart) + _contributed(asked, declared, apart)
    for budget in spent:
        question = Question(asked, **budget)
        found += _paid(question, declared, apart) + _leaked(question, declared, apart)
    return [f"{asked}: {each}" for each in found]


def _changed(asked: Frequent, declared: Declared, apart: Apart) -> list[str]:
    """Numbers of values that others have, and of all values together."""
    (part,), found = asked.parts(declared), list[str]()
    for values in (list(apart.others), sorted({*apart.tables[0], *apart.tables[1]})):
        changes = apart.changes(values)
        total, squares, touched = sum(changes), sum(each**2 for each in changes), sum(map(bool, changes))
        if total > part.l1 or squares > part.l2_squared or touched > len(part.cells):
            declares = f"{part.l1}, {part.l2_squared}, {len(part.cells)} values"
            found.append(f"changes by {total}, {squares}, {touched} values, and declares {declares}")
    return found


def _contributed(asked: Frequent, declared: Declared, apart: Apart) -> list[str]:
    """How many values one person alone has, and how large they are."""
    rows, groups, each = allowed(asked, declared)
    return [
        f"one person alone has {alone}, and may have {groups} values of {each}, {rows} in all"
        for alone in map(apart.alone, apart.tables)
        if len(alone) > groups or max(alone, default=0) > each or sum(alone) > rows
    ]


def _paid(question: Question, declared: Declared, apart: Apart) -> list[str]:
    """The noise is large enough, in its own norm, for the change at hand."""
    (scale,), changes = question.scales(declared), apart.changes(list(apart.others))
    if question.noise == LAPLACE:
        enough = sum(changes) <= Fraction(question.epsilon or 0) * Fraction(scale)
    else:
        enough = sum(each**2 for each in changes) <= 2 * question.allowance.whole_rho * Fraction(scale) ** 2
    return [] if enough else [f"noise of scale {scale} is too small for {changes}"]


def _leaked(question: Question, declared: Declared, apart: Apart) -> list[str]:
    """The chance that somebody is given away by a name, for the numbers at hand and at worst."""
    asked, found = question.statistic, list[str]()
    assert isinstance(asked, Frequent)
    (scale,), delta = question.scales(declared), Fraction(asked.leak)
    if ApproxDP(0, delta) not in question.costs(declared):
        found.append(f"{delta} is leaked and not paid")
    threshold = asked.threshold(declared, question.noise, scale)
    noise = Noise("laplace" if question.noise == LAPLACE else "gaussian", scale)
    rows, groups, each = allowed(asked, declared)
    if threshold < each:
        found.append(f"the threshold {threshold} is below {each}")
    for counts in (*map(apart.alone, apart.tables), *leaks.ways(rows, groups, each)):
        chance = leaks.leaked(noise, threshold, counts)
        with working(BITS):
            if not chance <= real(delta):
                found.append(f"{counts} above {threshold} leaks {chance}, and declares {delta}")
    return found


def answered(
    asked: Frequent, spent: Sequence[dict[str, Any]], table: Table, vectors: Vectors
) -> tuple[list[str], list[str]]:
    """What is wrong with real answers; and all that is told but names and numbers, the same on every table."""
    found, said = list[str](), list[str]()
    exact = {coded_text(code) for code in by_value(measured(table, vectors))}
    for budget in spent:
        question = Question(asked, **budget)
        answer = noised(question, table, vectors)
        also = asked.also_told(table, question.noise, answer.scales)
        said.append(f"{answer.question}, {answer.costs}, {answer.scales}, {also}")
        if not exact.issuperset(answer.names) or list(answer.names) != sorted(set(answer.names)):
            found.append(f"{asked}: told {answer.names} of {exact}")
        if any(amount <= also["threshold"] for amount in answer.amounts[0]):
            found.append(f"{asked}: told {answer.amounts}, and the threshold is {also['threshold']}")
        if read_answer(json.loads(json.dumps(answer.document())), table.declared) != answer:
            found.append(f"{asked}: another answer is read than was written: {answer}")
    said.append(table.prepared(asked, asked.expression).replace(table._rows.name, "rows"))
    return found, said
