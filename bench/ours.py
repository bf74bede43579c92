"""optcomp itself: `auto`, the same with a demanded width, the closed forms, and Murtagh–Vadhan at a given η."""

from __future__ import annotations

from typing import cast

import optcomp
from bench.answers import Answer, Contender
from bench.instances import Instance

AUTO = "optcomp auto"


def asked(method: str) -> Contender:
    """`optcomp.compose` with this method; the mechanisms go in as an array, or as a mapping to counts."""

    def ask(instance: Instance) -> Answer:
        bound = optcomp.compose(instance.items, delta=instance.delta, method=method)
        return Answer(bound.upper, bound.lower, bound.method) if method == "auto" else Answer(bound.upper)

    return Contender(f"optcomp {method}", ask, lambda instance: method != "advanced" or instance.homogeneous)


def demanding(rtol: float) -> Contender:
    """`optcomp.compose` with a demanded width; where it is not reached, the bracket that the error carries."""

    def ask(instance: Instance) -> Answer:
        try:
            bound = optcomp.compose(instance.items, delta=instance.delta, rtol=rtol)
        except optcomp.PrecisionNotReached as error:
            bound = cast(optcomp.Bound, error.bound)
            return Answer(bound.upper, bound.lower, bound.method, reached=False)
        return Answer(bound.upper, bound.lower, bound.method)

    return Contender(f"optcomp rtol={rtol:g}", ask)


def _approximate(instance: Instance) -> Answer:
    bound = optcomp.compose(instance.items, delta=instance.delta, method="murtagh-vadhan", eta=instance.eta)
    return Answer(bound.upper, bound.lower, bound.notes[0])


CONTENDERS = tuple(asked(method) for method in ("auto", "kov", "strong", "advanced", "basic"))
MURTAGH_VADHAN = Contender("optcomp murtagh-vadhan", _approximate)
FINE, FINEST = demanding(1e-12), demanding(1e-13)
