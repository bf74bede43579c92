"""optcomp itself: `auto`, the closed forms, and Murtagh–Vadhan at a given η."""

from __future__ import annotations

import optcomp
from bench.answers import Answer, Contender
from bench.instances import Instance

AUTO = "optcomp auto"


def asked(method: str) -> Contender:
    """`optcomp.compose` with this method; the mechanisms go in as a mapping to counts."""

    def ask(instance: Instance) -> Answer:
        bound = optcomp.compose(dict(instance.coins), delta=instance.delta, method=method)
        return Answer(bound.upper, bound.lower, bound.method) if method == "auto" else Answer(bound.upper)

    return Contender(f"optcomp {method}", ask, lambda instance: method != "advanced" or instance.homogeneous)


def _approximate(instance: Instance) -> Answer:
    bound = optcomp.compose(dict(instance.coins), delta=instance.delta, method="murtagh-vadhan", eta=instance.eta)
    return Answer(bound.upper, bound.lower, bound.notes[0])


CONTENDERS = tuple(asked(method) for method in ("auto", "kov", "strong", "advanced", "basic"))
MURTAGH_VADHAN = Contender("optcomp murtagh-vadhan", _approximate)
