"""The laws that a certificate of version 3 lists, read exactly, and what they stand for in each direction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from optcomp.checker.balls import Exact
from optcomp.checker.effort import looked
from optcomp.checker.laws import (
    BatchLaplace,
    BatchNormal,
    DiscreteGaussian,
    Laplace,
    Law,
    ReplacedLaplace,
    ReplacedNormal,
    ReplacedWhole,
    SampledLaplace,
    SampledNormal,
    SampledWhole,
    Way,
    discrete_laplace,
    response,
)
from optcomp.errors import InvalidInput

ADD_REMOVE, REPLACE = "add/remove", "replace"
"""Which tables are neighbours: a person is in one of them only, or one record is another one."""
WAYS: tuple[Way, ...] = ("removed", "added")
"""Both directions."""

Numbers = Callable[[object, str], Exact]
"""How a number is read: its value and its name."""

_LEAST, _MOST = Fraction(1, 10**9), Fraction(10**9)
"""Outside of this range a parameter is a mistake, and numbers leave what floats can guess."""
_MOST_ANSWERS = 10**9  # of randomized response
_MOST_SHIFT = 1000  # sensitivity of discrete noise: as many atoms are written out


@dataclass(frozen=True, order=True)
class Listed:
    """Mechanisms of one kind: the kind, its parameters in the order of `KINDS`, and how many there are."""

    kind: str
    parameters: tuple[Fraction, ...]
    copies: int

    def law(self, way: Way) -> Law:
        """The loss of one of them."""
        return _MAKERS[self.kind](self.parameters, way)

    @property
    def neighbours(self) -> str | None:
        """The neighbours that it is about; None if its parameters say what they change."""
        if "rate" not in KINDS[self.kind]:
            return None
        return ADD_REMOVE if self.kind.startswith("poisson_subsampled") else REPLACE

    @property
    def loose(self) -> bool:
        """Whether its law dominates all pairs of tables, and none of them has it."""
        return self.kind in _ATTAINED

    def attained(self, way: Way) -> Law:
        """A loss that one of them has on two tables, which are the same two for all."""
        return _MAKERS[_ATTAINED.get(self.kind, self.kind)](self.parameters, way)


KINDS: dict[str, tuple[str, ...]] = {
    "laplace": ("epsilon",),
    "randomized_response": ("epsilon", "answers"),
    "discrete_laplace": ("scale", "sensitivity"),
    "discrete_gaussian": ("sigma", "sensitivity"),
    "poisson_subsampled_gaussian": ("mu", "rate"),
    "poisson_subsampled_laplace": ("epsilon", "rate"),
    "poisson_subsampled_discrete_gaussian": ("sigma", "sensitivity", "rate"),
    "poisson_replaced_gaussian": ("mu", "rate"),
    "poisson_replaced_laplace": ("epsilon", "rate"),
    "poisson_replaced_discrete_gaussian": ("sigma", "sensitivity", "rate"),
    "batch_gaussian": ("mu", "rate"),
    "batch_laplace": ("epsilon", "rate"),
}
"""The parameters of every kind."""

_MAKERS: dict[str, Callable[[tuple[Fraction, ...], Way], Law]] = {
    "laplace": lambda given, way: Laplace(given[0]),
    "randomized_response": lambda given, way: response(given[0], int(given[1])),
    "discrete_laplace": lambda given, way: discrete_laplace(given[0], int(given[1])),
    "discrete_gaussian": lambda given, way: DiscreteGaussian(given[0], int(given[1])),
    "poisson_subsampled_gaussian": lambda given, way: SampledNormal(given[0], given[1], way),
    "poisson_subsampled_laplace": lambda given, way: SampledLaplace(given[0], given[1], way),
    "poisson_subsampled_discrete_gaussian": lambda given, way: SampledWhole(given[0], int(given[1]), given[2], way),
    "poisson_replaced_gaussian": lambda given, way: ReplacedNormal(given[0], given[1]),
    "poisson_replaced_laplace": lambda given, way: ReplacedLaplace(given[0], given[1]),
    "poisson_replaced_discrete_gaussian": lambda given, way: ReplacedWhole(given[0], int(given[1]), given[2]),
    "batch_gaussian": lambda given, way: BatchNormal(given[0], given[1]),
    "batch_laplace": lambda given, way: BatchLaplace(given[0], given[1]),
}

_ATTAINED = {"batch_gaussian": "poisson_subsampled_gaussian", "batch_laplace": "poisson_subsampled_laplace"}
"""Kinds whose law no pair of tables has, with the law that two tables have of which one holds equal records only."""

_WHOLE = {"answers": (2, _MOST_ANSWERS), "sensitivity": (1, _MOST_SHIFT)}
"""Parameters that are whole numbers, with their limits."""


def laws_of(value: object, name: str, number: Numbers, most: int) -> tuple[Listed, ...]:
    """The laws of a list, equal ones together, in one order."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise InvalidInput(name, value, "must be a list of laws")
    if not 1 <= len(value) <= most:
        raise InvalidInput(name, len(value), f"must hold at least one and at most {most} laws")
    counts: dict[tuple[str, tuple[Fraction, ...]], int] = {}
    for place, entry in enumerate(looked(value)):
        law = _law(entry, f"{name}[{place}]", number)
        counts[law.kind, law.parameters] = counts.get((law.kind, law.parameters), 0) + law.copies
    return tuple(sorted(Listed(*key, copies) for key, copies in counts.items()))


def _law(entry: object, name: str, number: Numbers) -> Listed:
    if not isinstance(entry, Mapping):
        raise InvalidInput(name, entry, "must be an object")
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise InvalidInput(f"{name}.kind", kind, f"must be one of {', '.join(KINDS)}")
    for key in entry:
        if key not in ("kind", "copies", *KINDS[kind]):
            raise InvalidInput(f"{name}.{key}", entry[key], f"is no parameter of {kind}")
    copies = entry.get("copies")
    if isinstance(copies, bool) or not isinstance(copies, int) or copies < 1:
        raise InvalidInput(f"{name}.copies", copies, "must be a whole number at least 1")
    parameters = tuple(_parameter(entry.get(each), f"{name}.{each}", each, number) for each in KINDS[kind])
    return Listed(kind, parameters, copies)


def _parameter(value: object, name: str, parameter: str, number: Numbers) -> Fraction:
    found = Fraction(number(value, name))
    if parameter in _WHOLE:
        least, most = _WHOLE[parameter]
        if found.denominator != 1 or not least <= found <= most:
            raise InvalidInput(name, value, f"must be a whole number from {least} to {most}")
    elif parameter == "rate":
        if not _LEAST <= found < 1:
            raise InvalidInput(name, value, f"must be at least {float(_LEAST):g}, and below 1")
    elif not _LEAST <= found <= _MOST:
        raise InvalidInput(name, value, f"must lie in [{float(_LEAST):g}, {float(_MOST):g}]")
    return found


def check_neighbours(document: Mapping[str, object], laws: Sequence[Listed]) -> None:
    """They must be named where there are samples, and only there; all samples must be about the same."""
    about = {law.neighbours for law in laws} - {None}
    if len(about) > 1:
        raise InvalidInput("neighbours", document.get("neighbours"), "must be the same for all laws of samples")
    if about and document.get("neighbours") not in about:
        raise InvalidInput("neighbours", document.get("neighbours"), f"must be {about.pop()!r} with these laws")
    if not about and "neighbours" in document:
        raise InvalidInput("neighbours", document["neighbours"], "is for laws of samples")


def check_hints(value: object, number: Numbers) -> None:
    """Numbers for each direction; nothing is done with them."""
    if not isinstance(value, Mapping):
        raise InvalidInput("hints", value, "must be an object")
    for way, hints in value.items():
        if way not in (*WAYS, "both"):
            raise InvalidInput(f"hints.{way}", hints, "must be named removed, added or both")
        if not isinstance(hints, Mapping):
            raise InvalidInput(f"hints.{way}", hints, "must be an object")
        for name, hint in hints.items():
            number(hint, f"hints.{way}.{name}")
