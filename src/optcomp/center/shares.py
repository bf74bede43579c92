r"""How large the slots of a batch may be, and what optimal composition gains over splitting.

Slots of t·w_i are looked for with the largest t for which OptComp(t·w_1, …, t·w_k) \le \varepsilon_g at \delta_g
(Lyu22-1).  Splitting gives t = \varepsilon_g / \sum w_i, by basic composition.  For few slots that is optimal but for a
hair, and it is said so.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from optcomp.composition import compose
from optcomp.errors import InvalidInput
from optcomp.guarantees import ApproxDP, PureDP
from optcomp.numerics import Number, exact

_DIGITS = 6
"""Of ε of a slot, rounded down: so many that nothing is lost, and so few that people can read them."""
_WORTH = Fraction(1, 1000)
"""A gain below this is called none."""
_CLOSE = 2e-5
"""How close to the largest ε the search ends, relatively."""
COUNTS = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120)
"""Numbers of slots for a picture of what optimal composition gains."""
_TRIES = 40
"""After so many the search ends with what it has, which fits; few are needed."""


@dataclass(frozen=True)
class Proposal:
    """Slots for a batch, with what splitting would give beside them."""

    dataset: str
    epsilon: str
    delta: str
    slots: dict[str, tuple[str, str]]
    """For each analyst (ε, δ)."""
    split: dict[str, tuple[str, str]]
    """The same by splitting ε_g."""
    composed: float
    """What the slots come to at δ_g, at most."""
    theorem: str
    gain: float
    """How many times as large the slots are as by splitting; 1 if there is no gain."""
    fits: bool
    """Whether the account can pay for the batch now."""

    @property
    def words(self) -> str:
        """What is gained, for people."""
        first = next(iter(self.slots))
        mine, theirs = self.slots[first][0], self.split[first][0]
        if self.gain == 1:
            return f"{len(self.slots)} slots: optimal composition gains nothing over splitting (ε = {theirs})"
        several = "each" if len(set(self.slots.values())) == 1 else f"for {first!r}"
        return f"{len(self.slots)} slots: ε = {mine} {several}, {self.gain:.2f} times the {theirs} of splitting"

    def document(self) -> dict[str, Any]:
        """Ready for JSON."""
        pairs = {"slots": _pairs(self.slots), "split": _pairs(self.split)}
        return {**vars(self), **pairs, "words": self.words}


def propose_shares(
    dataset: str, analysts: Mapping[str, Number] | Sequence[str], epsilon: Number, delta: Number, *, fits: bool
) -> Proposal:
    """The largest slots, in the proportions that are wanted, that cost at most (ε_g, δ_g) together."""
    weights = _weights(analysts)
    whole = ApproxDP(epsilon, delta)
    eps, total = Fraction(whole.epsilon), sum(weights.values(), Fraction(0))
    if not eps:
        raise InvalidInput("epsilon", epsilon, "must be above 0")
    split = {name: _down(eps * weight / total) for name, weight in weights.items()}
    best, gain = split, Fraction(1)
    if whole.delta:
        step = _largest(Counter(weights.values()), eps, Fraction(whole.delta), eps / total)
        found = {name: _down(step * weight) for name, weight in weights.items()}
        if step * total >= eps * (1 + _WORTH) and _composed(found, whole).upper <= eps:
            best, gain = found, step * total / eps
    bound = _composed(best, whole)
    pairs = [{name: (_text(each), "0") for name, each in shares.items()} for shares in (best, split)]
    texts = _text(eps), _text(Fraction(whole.delta))
    return Proposal(dataset, *texts, pairs[0], pairs[1], bound.upper, bound.theorem, float(gain), fits)


@lru_cache(maxsize=64)
def gains(epsilon: str, delta: str, counts: tuple[int, ...] = COUNTS) -> tuple[tuple[int, str, str], ...]:
    """For numbers of equal slots that share (ε_g, δ_g): the ε of each by optimal composition, and by splitting."""
    found = []
    for count in counts:
        names = [str(number) for number in range(count)]
        made = propose_shares("", names, epsilon, delta, fits=True)
        found.append((count, made.slots["0"][0], made.split["0"][0]))
    return tuple(found)


def _largest(weights: Counter[Fraction], eps: Fraction, delta: Fraction, split: Fraction) -> Fraction:
    """The largest step that fits, but for a hair: every answer is certified, and few are asked for.

    Between a step that fits and one that does not, log ε is taken as a line in log t.  What splitting gives fits.
    """

    def cost(step: float) -> float:
        parts = {PureDP(_down(Fraction(step) * weight)): count for weight, count in weights.items()}
        return compose(parts, delta=delta).upper

    most, low = float(eps), float(split)
    at_low, high, at_high = cost(low), math.inf, math.inf
    if at_low > eps:  # by the rounding of `low`
        return split
    for _ in range(_TRIES):
        if at_low >= most * (1 - _CLOSE) or high <= low * (1 + _CLOSE):
            break
        step = _guess(low, at_low, high, at_high, most * (1 - _CLOSE / 2))
        found = cost(step)
        if found <= eps:
            low, at_low = step, found
        else:
            high, at_high = step, found
    return max(Fraction(low), split)


def _guess(low: float, at_low: float, high: float, at_high: float, wanted: float) -> float:
    """Where a line through both ends, or one of slope 1 through the lower one, has what is wanted."""
    if not at_low:
        return 2 * low if high == math.inf else (low + high) / 2
    slope = 1.0 if high == math.inf else math.log(at_high / at_low) / math.log(high / low)
    found = low * (wanted / at_low) ** (1 / slope)
    return found if low < found < high else math.sqrt(low) * math.sqrt(high)


def _composed(shares: Mapping[str, Fraction], whole: ApproxDP) -> Any:
    counts = Counter(shares.values())
    return compose({PureDP(each): count for each, count in counts.items()}, delta=whole.delta)


def _weights(analysts: Mapping[str, Number] | Sequence[str]) -> dict[str, Fraction]:
    if isinstance(analysts, str) or not isinstance(analysts, Mapping | Sequence) or not analysts:
        raise InvalidInput("analysts", analysts, "must be names, or names with weights, at least one")
    if isinstance(analysts, Mapping):
        found = {name: Fraction(exact(weight, "weight")) for name, weight in analysts.items()}
    else:
        found = {name: Fraction(1) for name in analysts}
    if len(found) < len(analysts) or not all(isinstance(name, str) for name in found):
        raise InvalidInput("analysts", analysts, "must be different names")
    for weight in found.values():
        if not 0 < weight <= 10**6:
            raise InvalidInput("weight", weight, "must be above 0, and at most a million")
    return found


def _down(value: Fraction) -> Fraction:
    """With a few digits, never more than it was."""
    context = Context(prec=_DIGITS, rounding=ROUND_FLOOR)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def _text(value: Fraction) -> str:
    """A decimal where there is a short one, or else a fraction."""
    short = format(Context(prec=20).divide(Decimal(value.numerator), Decimal(value.denominator)), "f")
    return short if Fraction(short) == value else str(value)


def _pairs(shares: Mapping[str, tuple[str, str]]) -> dict[str, list[str]]:
    return {name: list(pair) for name, pair in shares.items()}
