"""The values of a column that nobody declared, each with its number of rows or people: only those that many have.

Noise is added to the number of every value that some row has, and a value is told, by its name, if its noisy number is
above a threshold.  The threshold is the least one for which a value that one person alone has is told with probability
at most δ (KKMN09).  Which values there are nobody is told otherwise, nor how many.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from flint import arb

from optcomp.errors import InvalidInput
from optcomp.numerics import FLOAT_BITS, Exact, Number, ball, exact, float_up, precision
from optcomp.statistics import fragments
from optcomp.statistics.audited import AuditCase
from optcomp.statistics.declared import Contribution, Declared
from optcomp.statistics.domains import Text
from optcomp.statistics.encoding import PERSON
from optcomp.statistics.entries import Entries, as_written, number_text
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.noise import AddedNoise, Noise, added
from optcomp.statistics.part import IntegerVector, Part
from optcomp.statistics.stated import ReachError, Setting, StatedError
from optcomp.statistics.statistic import Amounts, Interval, Keyword, Statistic, Told
from optcomp.statistics.table import Table

if TYPE_CHECKING:
    import ibis.expr.types as ir

_LEAK = "1e-9"
"""What a threshold may leak unless told otherwise: it is a part of the δ of a plan or a session."""
_OF = ("rows", "people")
"""What may be counted."""
_EACH = "each value"
"""What the noise is added to."""


def _read(entries: Entries) -> Frequent:
    column, of = entries.take("frequent", str), entries.take("of", str, _OF[0])
    leak = as_written(entries.take("leak", int | float | str, _LEAK))
    return Frequent(column, of, leak, entries.condition())


@dataclass(frozen=True, repr=False)
class Frequent(Statistic):
    """The values of a column of `Text` that many rows, or many people, have; with noisy numbers, in order of names.

    `of` is "rows" or "people".  `leak` is the δ of the threshold (KKMN09), beside the cost of the noise.
    """

    column: str
    of: str
    leak: Exact
    where: str | None
    finds = True
    keywords = (
        Keyword(
            "frequent",
            _read,
            {
                "frequent": fragments.text("The column, which must be declared as text."),
                "of": {"type": "string", "pattern": "^(rows|people)$", "description": "rows (the default) or people."},
                "leak": fragments.number(
                    f"A value that one person alone has is told with at most this probability; default {_LEAK}."
                ),
            },
        ),
    )

    def __init__(self, column: str, of: str = _OF[0], leak: Number = _LEAK, where: str | None = None) -> None:
        if of not in _OF:
            raise InvalidInput("of", of, "must be 'rows' or 'people'")
        found = exact(leak, "leak")
        if not 0 < found < 1:
            raise InvalidInput("leak", leak, "must lie strictly between 0 and 1")
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "of", of)
        object.__setattr__(self, "leak", found)
        object.__setattr__(self, "where", where)

    def _bounded(self, table: Declared) -> str | None:
        """The column, if the lot bounds the values that one person has."""
        return self.column if self.column in table.grouped_by else None

    def _contribution(self, table: Declared) -> Contribution:
        table.domain(self.column, Text)
        return table.contribution.of_rows if self._bounded(table) is None else table.contribution

    def expression(self, table: Table) -> ir.Table:
        """GROUP BY the value; a row without one is in no group."""
        people = self.of == "people" and table.person is not None
        rows = table.rows({"code": (self.column, _same)}, self.where, self._bounded(table), whose=people)
        there = rows.filter(rows.code.notnull())
        return there.group_by("code").aggregate(count=there[PERSON].nunique() if people else there.count())

    def parts(self, table: Declared) -> tuple[Part, ...]:
        """The numbers of those values that one person can change; all others have the same noise on both sides."""
        bounds = self._contribution(table)
        touched = min(bounds.groups, bounds.rows) * (2 if bounds.replace else 1)
        changes = (touched, touched) if self.of == "people" else (bounds.cells_l1, bounds.cells_l2_squared)
        return (Part((_EACH,) * touched, *changes, leak=Fraction(self.leak)),)

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[IntegerVector, ...]:
        """The places of the values in the owner's list, and their numbers."""
        found = sorted((int(code), int(count)) for code, count in rows if int(count) > 0)
        return tuple(code for code, _ in found), tuple(count for _, count in found)

    def shapes(self, table: Declared) -> tuple[Any, ...]:
        """How one person's rows may lie in values that nobody else has, at worst."""
        from optcomp.theorems import kkmn09  # a plan is read without a theorem

        bounds = self._contribution(table)
        return kkmn09.shapes(bounds.rows, bounds.groups, 1 if self.of == "people" else bounds.rows_per_group)

    def threshold(self, table: Declared, noise: Noise, scale: float) -> int:
        """What a noisy number must be above to be told: the least whose δ is proved to be within `leak`."""
        return _threshold(added(noise), scale, self.leak, self.shapes(table))

    def chance(self, table: Declared, noise: Noise, scale: float, size: int) -> float:
        """At least the probability that a value of so many rows (or people) is told."""
        short = size - self.threshold(table, noise, scale) - 1
        if short < 0:
            return 0.0
        with precision(FLOAT_BITS):
            return max(1 - float_up(above(added(noise), scale, short)), 0.0)

    def tell(self, table: Table, integers: Sequence[IntegerVector], noise: Noise, scales: Sequence[float]) -> Told:
        """Noise for every value that some row has; those above the threshold are told, in order of their names."""
        codes, counts = integers
        limit = self.threshold(table, noise, scales[0])
        pairs = zip(codes, noise.tell(counts, scales[0], len(counts)) if counts else (), strict=True)
        kept = [(code, number) for code, number in pairs if number > limit and 0 <= code < table.text_count]
        named = sorted(zip(table.texts([code for code, _ in kept]), (number for _, number in kept), strict=True))
        return Told((tuple(Fraction(number) for _, number in named),), tuple(name for name, _ in named))

    def named(self, names: Sequence[str]) -> Statistic:
        """With the names that were told."""
        return ToldNames(self, tuple(names))

    def check_told(self, table: Declared, told: Told, noise: Noise, scales: Sequence[float]) -> None:
        """Names as the column may have them, in order, and numbers above the threshold."""
        most, limit = table.domain(self.column, Text).most, self.threshold(table, noise, scales[0])
        if any(not isinstance(name, str) or not 1 <= len(name) <= most for name in told.names):
            raise InvalidInput("answer.names", len(told.names), f"must be texts of at most {most} characters")
        if list(told.names) != sorted(set(told.names)):
            raise InvalidInput("answer.names", len(told.names), "must be in order, each once")
        if any(amount <= limit for amount in told.amounts[0]):
            raise InvalidInput("answer.amounts", limit, "is the threshold, and every number must be above it")

    def value(self, table: Declared, amounts: Amounts) -> Any:
        """Nothing, as long as no name is told."""
        return {}

    def interval(self, table: Declared, amounts: Amounts, noises: Noises) -> Any:
        """Nothing, as long as no name is told."""
        return {}

    def also_told(self, table: Declared, noise: Noise, scales: Sequence[float]) -> dict[str, Any]:
        """The threshold, and what it leaks."""
        return {"threshold": self.threshold(table, noise, scales[0]), "leak": number_text(self.leak, "leak")}

    def stated(self, setting: Setting) -> StatedError:
        """How far the noise of one value reaches."""
        return FoundError(self, setting, self.parts(setting.table))

    @property
    def error_unit(self) -> str:
        """What is counted."""
        return self.of

    def cell_names(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def __str__(self) -> str:
        """Such as: frequent values of diagnosis by people where age >= 18."""
        name = f"frequent values of {self.column}{' by people' if self.of == 'people' else ''}"
        return f"{name} where {self.where}" if self.where else name

    def document(self) -> dict[str, Any]:
        """Such as: frequent: diagnosis, of: people, leak: 1/1000000000."""
        return self.worded(frequent=self.column, of=self.of, leak=number_text(self.leak, "leak"))

    @classmethod
    def audits(cls) -> dict[str, AuditCase]:
        """A value that others have, with either noise, exchanged, and in two rows; and one of the person alone."""
        much: dict[str, Any] = {"leak": "1/20"}
        return {
            "frequent": AuditCase(Frequent("word", **much), {"epsilon": 1}, trials=8_000, delta=0.05),
            "frequent-gaussian": AuditCase(Frequent("word", **much), {"rho": "1/2"}, trials=8_000, delta=0.06),
            "frequent-replaced": AuditCase(
                Frequent("word", **much), {"epsilon": 1}, "replaced", trials=8_000, delta=0.05
            ),
            "frequent-rows": AuditCase(Frequent("word", **much), {"epsilon": 1}, "rows", trials=8_000, delta=0.05),
            "frequent-people": AuditCase(
                Frequent("word", "people", **much), {"epsilon": 2}, "groups", trials=8_000, delta=0.05
            ),
        }

    def audit_feature(self, value: Any) -> Hashable | None:
        """The names, and the number of the first."""
        return tuple(value), next(iter(value.values()), 0)


@dataclass(frozen=True, repr=False)
class ToldNames(Frequent):
    """The same with the names that were told."""

    names: tuple[str, ...]

    def __init__(self, asked: Frequent, names: tuple[str, ...]) -> None:
        super().__init__(asked.column, asked.of, asked.leak, asked.where)
        object.__setattr__(self, "names", names)

    def value(self, table: Declared, amounts: Amounts) -> dict[str, int]:
        """The noisy number of each name."""
        return {name: int(amount) for name, amount in zip(self.names, amounts[0], strict=True)}

    def interval(self, table: Declared, amounts: Amounts, noises: Noises) -> dict[str, Interval]:
        """For each name by itself, given that it was told: also of a name that chance alone lifted up."""
        limit = self.threshold(table, noises.noise, noises.scales[0])
        return {
            name: around_told(int(amount), limit, noises) for name, amount in zip(self.names, amounts[0], strict=True)
        }


class FoundError(ReachError):
    """The error of a value that is frequent enough: its noise, one number by itself."""

    def __init__(self, asked: Frequent, setting: Setting, parts: tuple[Part, ...]) -> None:
        super().__init__(setting, (replace(parts[0], cells=(_EACH,)),))
        self._asked = asked

    @property
    def likeness(self) -> tuple[Hashable, ...]:
        """What is counted, and the threshold's δ."""
        return self._asked.of, self._asked.leak

    def note(self, scales: Sequence[float]) -> str:
        """Which values are told: those of threshold + reach + 1 or more are, and by the same noise are within reach."""
        limit = self._asked.threshold(self.setting.table, self.noise, scales[0])
        enough, sure = limit + int(self.error(scales)) + 1, 100 * self.setting.confidence
        told = f"told are noisy numbers above {limit:,} (δ = {float(self._asked.leak):g}, KKMN09)"
        found = f"a value of {enough:,} {self._asked.of} or more is told, and within ±, with {sure:.6g} %"
        return f"{told}; {found}, each by itself"


def _same(cell: Any) -> Any:
    return cell


def above(noise: AddedNoise, scale: float, t: int) -> arb:
    """P(noise > t) for a whole t >= 0, from above: half of both sides."""
    return noise.tail(scale, t) / 2


@lru_cache(maxsize=1024)
def _threshold(noise: AddedNoise, scale: float, delta: Exact, shapes: tuple[Any, ...]) -> int:
    from optcomp.theorems import kkmn09

    tail: Callable[[int], arb] = partial(above, noise, scale)
    return kkmn09.least_threshold(tail, delta, shapes)


def around_told(number: int, limit: int, noises: Noises) -> Interval:
    """Where the true number lies of a value that was told, given that it was.

    A true number k is left out below if P(k + X >= number | told) <= β/2, which falls with k; above if P(k + X <=
    number | told) <= β/2.  From P(told) only bounds are taken: at least 1 - P(X > k - limit - 1) for k above the
    threshold, at most 1.  Where no such k can be left out, nothing below is.
    """
    noise, scale = noises.noise, noises.scales[0]
    with precision(FLOAT_BITS):
        half = (1 - ball(noises.confidence)) / 2

        def unlikely(k: int) -> bool:
            rest = above(noise, scale, number - 1 - k)
            return bool(rest <= half * (1 - above(noise, scale, k - limit - 1)))

        low, high = limit, number  # at `number` nothing is unlikely: P(X >= 0) > 1/2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if unlikely(middle) else (low, middle)
    return float(low + 1 if low > limit else 1), float(number + noise.reach(scale, noises.confidence))
