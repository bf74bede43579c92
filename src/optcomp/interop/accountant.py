"""An accountant for dp-accounting that answers with proved upper bounds."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from typing import Any

from dp_accounting import dp_event
from dp_accounting.privacy_accountant import PrivacyAccountant

from optcomp.composition import Composer, compose
from optcomp.guarantees import ApproxDP, checked_delta, checked_epsilon
from optcomp.interop.reading import Account, Part, leaves
from optcomp.interop.refusal import UnsupportedEvent
from optcomp.interop.relations import Relation, checked_relation
from optcomp.interop.steps import Rising, spent
from optcomp.numerics import exact

_NOT_COPIED = "_composer", "_told", "_lock", "_rising"
"""What is made anew in a copy."""


class OptcompAccountant(PrivacyAccountant):  # type: ignore[misc]  # dp-accounting is not typed
    """Keeps count of events and tells what they cost together: never less than the truth, rounding included.

    The events, and how many there are, must not depend on answers; the questions asked may.  Threads may compose and
    ask; a copy goes its own way, and makes its contours anew.
    """

    def __init__(self, neighboring_relation: Relation = Relation.ADD_OR_REMOVE_ONE) -> None:
        super().__init__(checked_relation(neighboring_relation))
        self._account = Account()
        self._forget()

    def _forget(self) -> None:
        self._composer, self._told, self._lock = Composer(), dict[Part, int](), threading.RLock()
        self._rising = Rising()

    def __getstate__(self) -> dict[str, object]:
        with self._lock:
            kept = {name: value for name, value in self.__dict__.items() if name not in _NOT_COPIED}
            return {**kept, "_account": Account(dict(self._account.counts), self._account.naked)}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def compose(self, event: dp_event.DpEvent, count: int = 1) -> Any:
        """Account for an event, so many times; returns itself."""
        with self._lock:
            super().compose(event, count)
        return self

    @property
    def counts(self) -> dict[Part, int]:
        """The guarantees accounted for so far, with their counts."""
        return dict(self._account.counts)

    def _maybe_compose(self, event: dp_event.DpEvent, count: int, do_compose: bool) -> Any:
        """None if all of the event is understood, which is then added if asked for; else what is not, and why.

        A mere question comes with a count of 0 and must look inside all the same.
        """
        after = Account(dict(self._account.counts), self._account.naked)
        try:
            for leaf, copies in leaves(event, count if isinstance(count, int) and count > 0 else 1):
                after.add(leaf, copies, self.neighboring_relation)
        except UnsupportedEvent as refusal:
            return self.CompositionErrorDetails(refusal.value, refusal.reason)
        if do_compose:
            self._account = after
        return None

    def get_epsilon(self, target_delta: float) -> float:
        """At least the ε that all events cost together at this δ; infinite if one keeps nothing private."""
        delta = exact(target_delta, "target_delta")
        if delta != 1:
            checked_delta(delta, "target_delta")
        if self._account.naked is not None:
            return math.inf
        if delta == 1:
            return 0.0
        with self._lock:
            return self._rising.told(self.counts, delta, spent(self._current(), delta))

    def get_delta(self, target_epsilon: float) -> float:
        """At least the δ that all events cost together at this ε, which may be infinite."""
        endless = target_epsilon == math.inf
        eps = 0.0 if endless else checked_epsilon(target_epsilon, "target_epsilon")
        if self._account.naked is not None:
            return 1.0
        if endless:
            return float(compose(_leaks(self._account.counts), epsilon=eps).upper)
        with self._lock:
            return float(self._current().total(epsilon=eps).upper)

    def _current(self) -> Composer:
        """A composer of all that was accounted for: what it computed for the last answer serves the next."""
        for part, count in self._account.counts.items():
            more = count - self._told.get(part, 0)
            if more:
                self._composer.add(part, more)
                self._told[part] = count
        return self._composer


def _leaks(counts: dict[Part, int]) -> dict[Part, int]:
    """What is left of the guarantees at ε = ∞: the chance of an answer that is impossible for a neighbour."""
    found: dict[Part, int] = {}
    for part, count in counts.items():
        if isinstance(part, ApproxDP):
            leak = ApproxDP(0, part.delta)
            found[leak] = found.get(leak, 0) + count
    return found
