"""Interactive mechanisms as they are declared and stored: without code, exact, and ready for JSON.

A mechanism has a document, from which `read_mechanism` makes it again.  A mechanism at work has a state: the noise
that was drawn, what was counted, and the answers it learned from, but no exact count of the data.  Whoever stores the
state keeps it secret, and resumes it once only: of two copies each would give all the answers that were paid for once.
Floats in a state are Python's own, whose JSON is their shortest decimal: it is read back as the same float.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from optcomp.errors import InvalidInput, Written
from optcomp.guarantees import ApproxDP, PureDP
from optcomp.interactive.filters import Request, added_up
from optcomp.numerics import Number
from optcomp.statistics import Declared, Entries, Statistic, Table, kind_of, number_text, statistic_document


@dataclass(frozen=True)
class Tally:
    """What a mechanism has left; it follows from the answers that it gave."""

    left: Mapping[str, int]
    """How many answers of each kind it can still give."""
    closed: bool
    """Whether it answers nothing more."""


class Mechanism(Written, ABC):
    """An interactive mechanism before it is opened: a dataclass of numbers and statistics."""

    kind: ClassVar[str]
    """What documents call it."""

    @property
    @abstractmethod
    def theorem(self) -> str:
        """The theorem that proves what it costs, by its id."""

    @classmethod
    @abstractmethod
    def read(cls, entries: Entries) -> Self:
        """The mechanism with these entries of a document."""

    @abstractmethod
    def costs(self, table: Table | None = None) -> tuple[Request, ...]:
        """The guarantees that are spent together; depends on declarations only."""

    def sum_of_costs(self, table: Table | None = None) -> PureDP | ApproxDP | None:
        """What `costs` come to where ε and δ are added up; None if one of them is no pair."""
        return added_up(self.costs(table))

    def check_size(self, table: Declared, most: int) -> None:
        """Refuse what keeps more numbers than `most` while it goes on; most mechanisms keep a few."""

    @abstractmethod
    def start(self, table: Table) -> Any:
        """Begin; the caller has paid."""

    @abstractmethod
    def resume(self, table: Table, state: Mapping[str, Any]) -> Any:
        """Go on where a run about the same table was when it told its state; nothing is drawn anew."""

    @abstractmethod
    def form(self, table: Declared, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The form of a question about a table, ready for JSON: takes what `ask` of its runs takes."""

    @abstractmethod
    def told(self, answer: Any) -> Any:
        """An answer of its runs, ready for JSON."""

    @abstractmethod
    def read_told(self, value: object) -> Any:
        """The answer that was written so."""

    @abstractmethod
    def accuracy(self, *args: Any, **kwargs: Any) -> float:
        """How far off all of so many answers may be, with a confidence over the noise."""

    def reach(self, table: Declared, questions: int, confidence: Number = 0.95) -> float:
        """The same about a table that is declared like this."""
        return float(self.accuracy(questions, confidence=confidence))

    @abstractmethod
    def tally(self, answers: Sequence[Any]) -> Tally:
        """What is left after these answers, which are all that a run gave."""

    def document(self) -> dict[str, Any]:
        """Without code and exact, ready for JSON: `read_mechanism` reads an equal mechanism back."""
        given = ((entry.name, getattr(self, entry.name)) for entry in fields(self))  # type: ignore[arg-type]
        return {"mechanism": self.kind, **{name: _written(value, name) for name, value in given}}


def _written(value: Any, name: str) -> Any:
    if isinstance(value, Statistic):
        return statistic_document(value)
    return value if isinstance(value, bool | int) else number_text(value, name)


def stored(state: object, mechanism: Mechanism, *names: str) -> Mapping[str, Any]:
    """The entries of a state, which must be that of an equal mechanism; errors show none of it, for it is secret."""
    wanted = {"mechanism", *names}
    if not isinstance(state, Mapping) or set(state) != wanted:
        raise InvalidInput("state", kind_of(state), f"must be an object with the entries {', '.join(sorted(wanted))}")
    if state["mechanism"] != mechanism.document():
        raise InvalidInput("state.mechanism", str(mechanism), "must be the one that told this state")
    return state


def stored_whole(state: Mapping[str, Any], name: str, least: int, most: int) -> int:
    """A whole number of a state."""
    value = state[name]
    if type(value) is not int or not least <= value <= most:
        raise InvalidInput(f"state.{name}", kind_of(value), f"must be a whole number from {least} to {most}")
    return value


def told_entries(value: object, *names: str) -> Mapping[str, Any]:
    """The entries of an answer that was stored."""
    if not isinstance(value, Mapping) or set(value) != set(names):
        raise InvalidInput("answer", kind_of(value), f"must be an object with the entries {', '.join(names)}")
    return value


def told_truth(value: object) -> bool:
    """A truth value that was stored."""
    if not isinstance(value, bool):
        raise InvalidInput("answer", kind_of(value), "must be true or false")
    return value
