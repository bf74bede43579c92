"""Every error optcomp raises on purpose, in one tree.

    OptcompError
    ├── InvalidInput (ValueError)     an argument is wrong; .argument, .value, .problem
    │   ├── InvalidGuarantee          a privacy parameter is wrong
    │   ├── UnknownTheorem            no theorem has this id
    │   └── ledger.WrongKey           an encrypted text fits none of the keys of a ledger
    ├── HypothesisNotMet              the theorem does not cover this input; .theorem, .reason
    ├── NotAffordable                 the exact answer costs too much; .cost, .limit
    ├── PrecisionNotReached           a demanded width was not met; .bound, .rtol
    ├── BudgetExceeded                a filter refused a request; .requested, .remaining, .reason
    │   └── ledger.BudgetClosed       an account or a session admits nothing any more
    ├── MechanismClosed               a mechanism has given all the answers it was paid for; .mechanism
    ├── MechanismFailed               an answer was paid for but could not be had; .what, .kind
    ├── UnreadableData                data could not be read, before any budget exists; .place, .reason, .count
    ├── CannotBeShared                a session or mechanism was copied, pickled, or used in another process; .what
    ├── center.CenterError            the processes of a data centre are busy, do not start, or were stopped
    ├── center.DidNotStart            a server to try ended before it answered
    ├── MissingExtra (ImportError)    a library that comes with an extra is not installed; .name, .extra
    ├── ledger.LedgerCopied           a ledger may be a copy, and debits nothing until it is adopted; .ledger, .reason
    ├── center.NotKnown               a token is none, has expired or was revoked
    ├── center.Forbidden              a role does not allow this; .role, .act
    ├── center.Suspended              a person or a seat is suspended; .what
    ├── center.NotFound               there is nothing of this name that this person may see; .kind, .name
    ├── center.Conflict               something is there already, or not in the state for this; .what, .problem
    ├── center.TooMany                more requests in a minute than are allowed; .seconds
    ├── center.NeedsSecond            a change waits for a second owner; .confirmation, .kind
    ├── ledger.Broken                 a chain does not hold from an entry on; .sequence, .reason
    ├── client.NotServed              a data centre did not serve a request; .code, .status, .message
    ├── release.NotReleased           a file stands in the way of a release; .path, .reason
    └── proofs.NotIndistinguishable   a pair is not (ε, δ)-indistinguishable; .odds, .delta, .worst

`optcomp.interop` adds UnsupportedEvent under InvalidInput.  Errors carry the values they talk about, so a program can
act on them without parsing the text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from numbers import Rational
from typing import Any, cast


class OptcompError(Exception):
    """Root of the tree: catch this to catch everything optcomp raises on purpose."""


class InvalidInput(OptcompError, ValueError):
    """An argument is wrong: names the argument and shows the value."""

    def __init__(self, argument: str, value: object, problem: str) -> None:
        self.argument = argument
        self.value = value
        self.problem = problem
        super().__init__(f"{argument}: {problem}, got {shown(value)}")


class InvalidGuarantee(InvalidInput):
    """A privacy parameter is outside its range, or not a number at all."""


class UnknownTheorem(InvalidInput):
    """No theorem in the register has this id."""


class HypothesisNotMet(OptcompError):
    """The theorem asked for does not cover this input; using it would prove nothing."""

    def __init__(self, theorem: str, reason: str) -> None:
        self.theorem = theorem
        self.reason = reason
        super().__init__(f"{theorem} does not apply: {reason}")


class NotAffordable(OptcompError):
    """An exact answer exists but costs more than the limit; the text says what would work."""

    def __init__(self, what: str, cost: float, limit: float, advice: str) -> None:
        self.cost = cost
        self.limit = limit
        terms = f"{cost:.3g} terms, more than the limit of {limit:.3g}" if cost < float("inf") else "too many terms"
        super().__init__(f"{what} needs {terms}; {advice}")


class PrecisionNotReached(OptcompError):
    """The demanded relative width was not reached; `.bound` is the wider bracket that was proved."""

    def __init__(self, bound: object, rtol: float, width: float) -> None:
        self.bound = bound
        self.rtol = rtol
        super().__init__(
            f"rtol: the proved bracket has relative width {width:.3g}, more than the {rtol:.3g} asked for; "
            "it is in the error's .bound"
        )


class BudgetExceeded(OptcompError):
    """A request costs more than what is left of a budget; nothing was spent on it."""

    def __init__(self, requested: object, remaining: object, reason: str) -> None:
        self.requested = requested
        self.remaining = remaining
        self.reason = reason
        super().__init__(reason)


class MechanismClosed(OptcompError):
    """An interactive mechanism has given all the answers it was paid for; open another one."""

    def __init__(self, mechanism: object, reason: str) -> None:
        self.mechanism = mechanism
        super().__init__(reason)


class MechanismFailed(OptcompError):
    """An answer was paid for, and an error came up instead; its text may tell about the data and is not shown.

    The debit stays: an error must not be a way to ask for free.
    """

    def __init__(self, what: str, kind: str) -> None:
        self.what, self.kind = what, kind
        super().__init__(f"{what}: no answer, because of a {kind}; what it cost stays spent")


class UnreadableData(OptcompError):
    """Data could not be read, before any budget exists; says where and why, and shows no value.

    `count` tells how many places are like that.
    """

    def __init__(self, place: str, reason: str, count: int = 1, advice: str = "") -> None:
        self.place, self.reason, self.count = place, reason, count
        super().__init__(f"{place}: {reason}{advice and '; '}{advice}")


class CannotBeShared(OptcompError):
    """What holds a budget was copied, pickled, used in another process, or asked from within its own call."""

    def __init__(self, what: str, reason: str) -> None:
        self.what, self.reason = what, reason
        super().__init__(f"{what} {reason}")


class MissingExtra(OptcompError, ImportError):
    """A library is not installed; the extra of optcomp that brings it is named."""

    def __init__(self, library: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{library} is missing: install optcomp[{extra}]", name=library)


def shown(value: object) -> str:
    """A value as `repr` writes it; numbers too long for that are told by their size.

    Python refuses to write an integer of more than 4,300 digits, and an error must not fail over its own text.
    """
    try:
        return repr(value)
    except ValueError:
        return written(value)


def written(value: object) -> str:
    """The same, piece by piece: what can be written is, whatever stands beside it."""
    if isinstance(value, Rational):
        return _about(value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{shown(key)}: {shown(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown, value))}]"
    if is_dataclass(value) and not isinstance(value, type):
        named = ((entry.name, getattr(value, entry.name)) for entry in fields(cast(Any, value)) if entry.repr)
        return f"{type(value).__name__}({', '.join(f'{name}={shown(inner)}' for name, inner in named)})"
    return f"a {type(value).__name__}"


class Written:
    """A dataclass of exact numbers that can be shown however long they are; it says repr=False."""

    __slots__ = ()

    def __repr__(self) -> str:
        return written(self)


def _about(value: Rational) -> str:
    """Such as: Fraction of about 1.00e-200000."""
    if not value:
        return "0"
    power = math.log10(abs(int(value.numerator))) - math.log10(int(value.denominator))
    exponent = math.floor(power)
    sign = "-" if value < 0 else ""
    return f"{type(value).__name__} of about {sign}{10 ** (power - exponent):.2f}e{exponent}"
