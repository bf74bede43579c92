"""Between which two numbers the truth lies, and who says so besides optcomp."""

from __future__ import annotations

from typing import NamedTuple

from bench.answers import Answer
from bench.instances import Instance
from bench.references import Delta, binomial_holds, contour_root, halves, lattice

SLACK = 1e-9
"""Relative error allowed to references in floats."""


_NAMES = {"lattice": "a table on the lattice", "halves": "all outcomes of two halves"}


class Truth(NamedTuple):
    """lower <= optimal ε <= upper; `source` is printed above the rows."""

    lower: float
    upper: float
    source: str

    def excess(self, epsilon: float) -> float:
        """How far above the truth, relatively; negative below it, zero in between."""
        if epsilon > self.upper:
            return epsilon / self.upper - 1
        return min(epsilon / self.lower - 1, 0.0) if self.lower > 0 else 0.0


def find(instance: Instance, ours: Answer | None) -> Truth | None:
    """Our certified bracket confirmed independently, or the reference alone where we have no exact answer."""
    if instance.check == "contour":
        return _from_reference(instance, ours)
    if ours is None or ours.lower is None:
        return None
    return Truth(ours.lower, ours.epsilon, _verdict(instance, ours.lower, ours.epsilon))


def _from_reference(instance: Instance, ours: Answer | None) -> Truth:
    root = contour_root(instance)
    truth = Truth(root * (1 - SLACK), root * (1 + SLACK), f"{root:.10g} by a contour integral")
    if ours is None or ours.lower is None:
        return truth
    inside = ours.lower <= truth.upper and ours.epsilon >= truth.lower
    return truth._replace(source=f"{truth.source}, {'inside' if inside else 'OUTSIDE'} our bracket")


def _verdict(instance: Instance, lower: float, upper: float) -> str:
    if instance.check == "binomial":
        held, how = binomial_holds(instance, lower, upper), "binomial tails in ball arithmetic (a proof)"
    else:
        held, how = _float_check(instance, lower, upper), f"{_NAMES[instance.check]} in floats (to {SLACK:g})"
    text = "confirmed by" if held else "CONTRADICTED BY"
    return f"optcomp's bracket [{lower!r}, {upper!r}], {text} {how}"


def _float_check(instance: Instance, lower: float, upper: float) -> bool:
    delta: Delta = lattice(instance) if instance.check == "lattice" else halves(instance)
    return delta(lower * (1 - SLACK)) > instance.delta > delta(upper * (1 + SLACK))
