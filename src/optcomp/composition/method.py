"""What a method of composition is: it says whether it can afford an instance, and answers.

Whoever chooses goes through a list of methods in order and asks each one first; refusing by an exception is for people
who named a method that does not serve.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from optcomp.instances import Mixture, Parts
from optcomp.numerics.contour import Anchor
from optcomp.theorems import Bound, Effort, Target

Instance = Parts | Mixture
_Instance = TypeVar("_Instance", Parts, Mixture, contravariant=True)


class Found(NamedTuple):
    """An answer, and the quadrature behind it if there is one to be used again."""

    bound: Bound
    anchor: Anchor | None = None


def found(bound: Bound | None) -> Found | None:
    """A bound without a quadrature, if there is one."""
    return None if bound is None else Found(bound)


class Method(ABC, Generic[_Instance]):
    """One way to an answer."""

    exact = False
    """Whether its answers are exact up to rounding, so that there is no use in another method."""

    def affordable(self, instance: _Instance, target: Target) -> bool:
        """Whether it serves this instance, at a reasonable cost; asked before `answer`."""
        return True

    @abstractmethod
    def answer(self, instance: _Instance, target: Target, effort: Effort) -> Found | None:
        """The bracket; None in the rare case that numbers ran out of range on the way."""


def in_turn(
    methods: Sequence[Method[_Instance]],
    instance: _Instance,
    target: Target,
    effort: Effort,
    enough: Callable[[Bound], bool],
) -> Iterator[Found]:
    """The answers of the methods that can afford the instance, up to the first that is enough."""
    for method in methods:
        if method.affordable(instance, target):
            answer = method.answer(instance, target, effort)
            if answer is not None:
                yield answer
                if method.exact or enough(answer.bound):
                    return
