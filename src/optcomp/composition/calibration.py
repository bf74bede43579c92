"""The inverse of composition: the parameter that just fits a budget, never beyond it.

`calibrate` asks for whatever a function makes of a number: noise, an ε per query, a sampling rate, a number of rounds.
Privacy must get steadily better or steadily worse as the number grows; which of the two is found out.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from optcomp.composition.entry import compose
from optcomp.composition.method import Instance
from optcomp.composition.mixtures import contour
from optcomp.composition.reading import Items, read_any
from optcomp.composition.searching import Look, Search
from optcomp.errors import InvalidGuarantee, InvalidInput, NotAffordable
from optcomp.guarantees import checked_delta, checked_epsilon
from optcomp.instances import Mixture
from optcomp.numerics import Number, exact
from optcomp.theorems import Bound, Effort, Growing, Target, suits

_ROUGH = Effort(1e-5, 3e7)
"""For the first look at a number: mostly it tells whether the number fits, and then it proves that."""


class Calibrated(float):
    """The number found.  `bound` proves that it is within the budget; `other` is the nearest number that was not.

    `evaluations` counts how often a cost was computed, and `method` says how numbers were chosen: "secant" by lines
    through costs that were known, "bisection" by halving where those did not help, or "secant and bisection".
    """

    bound: Bound
    other: float
    evaluations: int
    method: str

    def __new__(
        cls, value: float, bound: Bound, other: float, evaluations: int = 0, method: str = "bisection"
    ) -> Calibrated:
        """A float that remembers its proof."""
        number = super().__new__(cls, value)
        number.bound, number.other = bound, other
        number.evaluations, number.method = evaluations, method
        return number


def calibrate(
    build: Callable[[float], Items],
    *,
    epsilon: Number,
    delta: Number,
    low: float | None = None,
    high: float | None = None,
    whole: bool = False,
    rtol: float = 1e-6,
    method: str = "auto",
) -> Calibrated:
    """The least noise, or the most of anything else, for which `build(number)` costs at most (epsilon, delta).

    The answer is always within the budget, and within `rtol` (relatively) of a number that is not.  `low` and `high`
    limit the search; `whole=True` looks among whole numbers, for counts.
    """
    costs = _Costs(build, epsilon, delta, whole, method)
    ends = _checked_end(low, "low", whole), _checked_end(high, "high", whole)
    if ends[0] is not None and ends[1] is not None and not ends[0] < ends[1]:
        raise InvalidInput("low", low, f"must be below high = {high}")
    width = float(exact(rtol, "rtol"))
    if not 0 < width < 1:
        raise InvalidInput("rtol", rtol, "must lie between 0 and 1")
    search = Search(costs.look, whole)
    found = search.bracket(*ends)
    if found is None:
        raise costs.nowhere(*ends)
    good, bad = search.narrowed(*found, width)
    return Calibrated(good, costs.proof(good), bad, costs.evaluations, search.method)


class _Costs:
    """What numbers cost, as far as the search must know it."""

    def __init__(
        self, build: Callable[[float], Items], epsilon: Number, delta: Number, whole: bool, method: str
    ) -> None:
        if not callable(build):
            raise InvalidInput("build", build, "must be a function from a number to a list of mechanisms")
        self._build, self._whole, self._method = build, whole, method
        self._epsilon, self._delta = checked_epsilon(epsilon), checked_delta(delta)
        self._log_budget = math.log(self._epsilon) if self._epsilon else -math.inf
        self._glancing = method == "auto"
        self._growing = Growing(Target("epsilon", self._delta), _ROUGH)
        self._bounds: dict[float, Bound | None] = {}
        self._rough: dict[float, Bound] = {}
        self.evaluations = 0

    def look(self, number: float) -> Look:
        """Whether the proved cost is within the budget; a number that makes no mechanism does not fit."""
        try:
            instance = read_any(self._build(int(number) if self._whole else number))
            bound = self._glance(instance)
            if bound is not None:
                self._rough[number] = bound
            else:
                bound = self._bounds[number] = self._in_full(instance)
        except (InvalidGuarantee, NotAffordable):
            self._bounds[number] = bound = None
        if bound is None or not math.isfinite(bound.upper):
            return Look(False, math.inf)
        about = bound.upper if number in self._bounds else 0.5 * (bound.lower + bound.upper)
        return Look(bound.upper <= self._epsilon, math.log(about) - self._log_budget if about > 0 else -math.inf)

    def proof(self, number: float) -> Bound:
        """The cost of a number that fits, in full."""
        if number not in self._bounds:
            self._bounds[number] = self._in_full(read_any(self._build(int(number) if self._whole else number)))
        bound = self._bounds[number]
        assert bound is not None
        return bound if bound.upper <= self._epsilon else self._rough[number]

    def nowhere(self, low: float | None, high: float | None) -> InvalidInput:
        """That all numbers fit, or none does."""
        limits = f"between {low if low is not None else 'any'} and {high if high is not None else 'any'}"
        known = [*self._rough.values(), *self._bounds.values()]
        every = any(bound is not None and bound.upper <= self._epsilon for bound in known)
        what = "every number {} that was tried is within it" if every else "no number {} that was tried is within it"
        return InvalidInput("epsilon", float(self._epsilon), what.format(limits))

    def _in_full(self, instance: Instance) -> Bound:
        self.evaluations += 1
        return compose(instance, delta=self._delta, method=self._method)

    def _glance(self, instance: Instance) -> Bound | None:
        """A rough bracket that tells whether a number fits: from contours that are kept, where only counts change."""
        if not self._glancing or not isinstance(instance, Mixture) or not suits(instance):
            return None
        self.evaluations += 1
        bound = self._growing.answer(instance)
        if bound is None and self._growing.renew(instance):
            bound = self._growing.answer(instance)
        if bound is None:
            bound = contour(instance, Target("epsilon", self._delta), _ROUGH)
        self._glancing = bound.upper <= self._epsilon or bound.lower > self._epsilon  # else the answer is near
        return bound if self._glancing else None


def _checked_end(value: float | None, argument: str, whole: bool) -> float | None:
    if value is None:
        return None
    number = float(exact(value, argument))
    if not number > 0 or (whole and number != int(number)):
        raise InvalidInput(argument, value, "must be positive" + (" and whole" if whole else ""))
    return number
