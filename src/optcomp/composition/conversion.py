"""From one notion of privacy to another, along the graph of proved steps."""

from __future__ import annotations

from collections import deque
from math import inf
from typing import Any

from optcomp.composition.entry import compose
from optcomp.errors import InvalidInput
from optcomp.guarantees import ApproxDP
from optcomp.numerics import Number
from optcomp.theorems import STEPS, Conversion


def convert(guarantee: object, to: type, *, delta: Number | None = None) -> Any:
    """The guarantee as another notion: the best that a chain of proved steps gives.

    For `ApproxDP` give the δ at which ε is wanted; all steps then take the tightest way that `compose` knows.
    """
    if delta is not None:
        if to is not ApproxDP:
            raise InvalidInput("delta", delta, "belongs to a conversion to ApproxDP")
        bound = compose([guarantee], delta=delta)  # type: ignore[list-item]
        if not bound.epsilon < inf:
            raise InvalidInput("delta", delta, f"is too small: no ε holds at it for {guarantee}")
        return ApproxDP(bound.epsilon, delta)
    if isinstance(guarantee, to):
        return guarantee
    steps = path(type(guarantee), to)
    for step in steps:
        guarantee = step.step(guarantee)
    return guarantee


def path(source: type, target: type) -> tuple[Conversion, ...]:
    """The shortest chain of steps; no other chain is tighter, for the reasons in `theorems.conversions`."""
    waiting: deque[tuple[type, tuple[Conversion, ...]]] = deque([(source, ())])
    seen = {source}
    while waiting:
        kind, steps = waiting.popleft()
        if kind is target:
            return steps
        for step in STEPS:
            if issubclass(kind, step.source) and step.target not in seen:
                seen.add(step.target)
                waiting.append((step.target, (*steps, step)))
    known = "give delta" if target is ApproxDP else "no chain of proved steps leads there"
    raise InvalidInput("to", target.__name__, f"{source.__name__} cannot be converted to it: {known}")
