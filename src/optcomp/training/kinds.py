"""How batches are drawn, who is a neighbour of whom, and what kind of training it is: each an object with its reason.

What is refused is refused with the reason, because a number that is about something else is worse than none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from optcomp.errors import InvalidInput

_ONE_PASS = (
    "every example is in one batch of a pass, so a pass is one noisy step for it (parallel composition) and nothing "
    "is gained by sampling; a smaller ε for a random order is not proved here"
)


@dataclass(frozen=True)
class Batches:
    """A way to draw batches: counted as Poisson samples, counted by passes over the data, or refused."""

    name: str
    warning: str = ""
    """What a reader must know about how it is counted."""
    by_passes: bool = False
    attained: bool = True
    """Whether some training attains what is counted, so that its lower side holds too."""
    only_replace: bool = False
    """Whether batches have a fixed size and are drawn anew in each step, so that examples can only be replaced."""
    refused: str = ""


@dataclass(frozen=True)
class Neighbours:
    """Which data sets are neighbours, and by how many clip norms a sum of gradients then moves."""

    name: str
    words: str
    moves: int


@dataclass(frozen=True)
class Algorithm:
    """A kind of training: counted as independent noise in every step, or refused."""

    name: str
    refused: str = ""


POISSON = Batches("poisson")
SHUFFLED = Batches("shuffled", f"shuffled batches are not Poisson samples: {_ONE_PASS}", True, False)
FIXED = Batches("fixed", f"fixed batches are not Poisson samples: {_ONE_PASS}", by_passes=True)
DRAWN = Batches("without-replacement", only_replace=True)
BATCHES: tuple[Batches, ...] = (
    POISSON,
    SHUFFLED,
    FIXED,
    Batches(
        "truncated",
        refused="Poisson samples that are cut to a largest size depend on how many others were drawn, so removing one "
        "example changes more than its own gradient; use samples of any size",
    ),
    Batches(
        "padded",
        refused="Poisson samples that are filled up to a fixed size with other examples are no Poisson samples; "
        "padding with zero gradients that are masked out is poisson",
    ),
    DRAWN,
    Batches(
        "with-replacement",
        refused="in samples with replacement one example may be drawn several times; draw Poisson samples",
    ),
)
"""All that can be said with `--batches`."""

ADD_REMOVE = Neighbours("add-remove", "one example is added or removed", 1)
ZERO_OUT = Neighbours("zero-out", "one example is replaced by one without a gradient", 1)
REPLACE = Neighbours("replace", "one example is replaced by another", 2)
NEIGHBOURS: tuple[Neighbours, ...] = (ADD_REMOVE, ZERO_OUT, REPLACE)
"""All that can be said with `--neighbours`."""

_CORRELATED = (
    "its noise is correlated between steps, so that steps are not mechanisms of their own: the whole run is one "
    "Gaussian mechanism whose sensitivity depends on the matrix and on how often an example takes part, and no "
    "theorem here has that"
)
SGD = Algorithm("dp-sgd")
ALGORITHMS: tuple[Algorithm, ...] = (
    SGD,
    *(Algorithm(name) for name in ("dp-adam", "dp-fedavg")),
    *(Algorithm(name, _CORRELATED) for name in ("dp-ftrl", "dp-mf", "banded")),
)
"""All that can be said with `--algorithm`."""

_Kind = TypeVar("_Kind", Batches, Neighbours, Algorithm)


def chosen(kinds: tuple[_Kind, ...], name: str, argument: str) -> _Kind:
    """The kind of this name; what is refused is refused here, with the reason."""
    for kind in kinds:
        if kind.name == name.lower().replace("_", "-"):
            reason = getattr(kind, "refused", "")
            if reason:
                raise InvalidInput(argument, name, f"is refused: {reason}")
            return kind
    raise InvalidInput(argument, name, f"must be one of {', '.join(kind.name for kind in kinds)}")
