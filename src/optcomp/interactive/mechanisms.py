"""The interactive mechanisms that documents may name; a new one is one file and a line here."""

from __future__ import annotations

from optcomp.errors import InvalidInput
from optcomp.interactive.guess_and_check import GuessAndCheck
from optcomp.interactive.multiplicative_weights import PrivateMultiplicativeWeights
from optcomp.interactive.sparse_vector import GaussianSparseVector, SparseVector
from optcomp.interactive.specs import Mechanism
from optcomp.statistics import Entries

_KNOWN: dict[str, type[Mechanism]] = {
    mechanism.kind: mechanism
    for mechanism in (SparseVector, GaussianSparseVector, GuessAndCheck, PrivateMultiplicativeWeights)
}
"""By the name that documents use."""


def known_mechanisms() -> tuple[type[Mechanism], ...]:
    """All of them."""
    return tuple(_KNOWN.values())


def read_mechanism(document: object) -> Mechanism:
    """The mechanism that wrote this document."""
    entries = Entries(document, "mechanism")
    kind = entries.take("mechanism", str)
    if kind not in _KNOWN:
        raise InvalidInput("mechanism", kind, f"must be one of {', '.join(_KNOWN)}")
    found = _KNOWN[kind].read(entries)
    entries.done()
    return found
