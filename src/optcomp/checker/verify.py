"""`check`: is a certificate's claim true?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from flint import arb

from optcomp.checker.balls import LEAST_BITS, Exact, Group
from optcomp.checker.document import Claim, Mismatch, read
from optcomp.checker.effort import Spent, limited, reducible
from optcomp.checker.instance import Instance, Tell
from optcomp.checker.prove import End, decide
from optcomp.checker.sums import Total, decide_directions, totals_of
from optcomp.errors import InvalidInput, Written

Top = tuple[Exact, Exact]
"""What the largest loss lies between, or infinity twice."""
Status = Literal["proved", "false", "undecided", "mismatch", "malformed"]
_EFFORT = 200.0  # seconds of processor time, unless said otherwise
_LONGEST = 1e9  # seconds that anybody waits
_MOST_BITS = 1 << 19  # a claim that needs more is not read


@dataclass(frozen=True, repr=False)
class Verdict(Written):
    """What came of a check: `proved`, and the reason; `status` tells a false claim from an undecided one."""

    proved: bool
    status: Status
    reason: str
    quantity: str = ""
    lower: Exact | None = None
    upper: Exact | None = None
    given: Exact | None = None
    count: int = 0
    steps: tuple[str, ...] = ()
    """By which argument the lower and the upper end were decided."""


def check(
    document: Mapping[str, object],
    groups: Sequence[Group] | None = None,
    gaussians: Sequence[object] | None = None,
    laws: Sequence[Mapping[str, object]] | None = None,
    *,
    effort: float = _EFFORT,
    tell: Tell | None = None,
) -> Verdict:
    """Re-prove the claim of a certificate in ball arithmetic, believing nothing that it says about how it was found.

    `groups` are its mechanisms (ε, δ, copies), needed where the certificate holds only their digest; `gaussians`, if
    given, are compared with its Gaussian mechanisms (μ, copies), and `laws` with its other laws.  `effort` is the
    processor time in seconds that the check may take; what is not decided then is undecided.  `tell` is called with
    what is being done and the share done.
    """
    seconds = _seconds(effort)
    try:
        with limited(seconds):
            claim = read(document, groups, gaussians, laws)
            ends: list[End] = []
            with suppress(Spent):
                _decide(claim, ends, seconds, tell or _ignore)
            return _verdict(claim, ends)
    except InvalidInput as error:
        return Verdict(False, "malformed", str(error))
    except Mismatch as error:
        return Verdict(False, "mismatch", str(error))
    except Spent:
        return Verdict(False, "undecided", "not decided within the effort allowed: the document is too long")


def _seconds(effort: object) -> float:
    if isinstance(effort, bool) or not isinstance(effort, int | float) or not effort >= 0:
        raise InvalidInput("effort", effort, "must be a number of seconds, not negative")
    return float(min(effort, _LONGEST))


def _decide(claim: Claim, ends: list[End], effort: float, tell: Tell) -> None:
    """Add both ends, and decide them if it can be done."""
    reducible(_denominators(claim))
    instance = Instance.of(claim.groups, claim.gaussians)
    totals = totals_of(claim.groups, claim.gaussians, claim.laws) if claim.laws else []
    bits = _bits(claim)
    ends += _ends(instance, claim, _top(instance, totals), bits)
    pending = [end for end in ends if end.holds is None and end.t > 0]
    if claim.laws:
        decide_directions(totals, pending, effort, tell)
    else:
        decide(instance, pending, bits, effort, tell)


def _denominators(claim: Claim) -> int:
    """The most bits that the denominator of a sum of parameters has."""
    values = [eps for eps, _, _ in claim.groups] + [value for law in claim.laws for value in law.parameters]
    return sum(bottom.bit_length() for bottom in {Fraction(value).denominator for value in values})


def _top(instance: Instance, totals: Sequence[Total]) -> Top:
    """What the largest loss of all directions lies between."""
    if not totals:
        return instance.total, instance.total
    return max(total.top[0] for total in totals), max(total.top[1] for total in totals)


def _ignore(what: str, share: float) -> None:
    """Nobody is looking."""


def _bits(claim: Claim) -> int:
    """Enough to tell the two ends apart."""
    lower, upper = claim.lower, claim.upper
    if lower is None or upper is None or lower == upper:
        return LEAST_BITS
    ratio = Fraction(upper) / (Fraction(upper) - Fraction(lower))
    return min(max(LEAST_BITS, math.ceil(ratio).bit_length() + 80), _MOST_BITS)


def _ends(instance: Instance, claim: Claim, top: Top, bits: int) -> list[End]:
    """The claim as inequalities about F; those that need no value of F are decided here."""
    if claim.quantity == "epsilon":
        t = instance.target(claim.given, bits)
        return [_epsilon_end("lower", claim.lower, t, top), _epsilon_end("upper", claim.upper, t, top)]
    return [
        _delta_end(instance, "lower", claim.given, claim.lower, top, bits),
        _delta_end(instance, "upper", claim.given, claim.upper, top, bits),
    ]


def _epsilon_end(side: Literal["lower", "upper"], end: Exact | None, t: arb, top: Top) -> End:
    """lower <= OptComp <= upper, where OptComp is the least y >= 0 with F(y) <= t, infinite if there is none.

    There is none if t < 0, and if t = 0 with unbounded losses, because F is then positive everywhere.
    """
    impossible = t < 0 or (t.is_zero() and top[0] == math.inf)
    if end is None:  # at most infinity is always true; at least infinity means that no y is possible
        holds = True if side == "upper" or impossible else False if t >= 0 else None
        return End(side, Fraction(0), t, holds, "infinity")
    y = Fraction(end)
    found = End(side, y, t)
    if side == "lower" and y <= 0:
        found.holds, found.how = True, "ε is not negative"
    elif y < 0:
        found.holds, found.how = False, "ε is not negative"
    elif impossible:
        found.holds, found.how = side == "lower", "no ε is possible"
    elif t.is_zero():  # F(y) = 0 exactly from the largest loss on, so that is the least possible y
        found.holds, found.how = _beside(y, top, side), "the largest loss"
    elif y >= top[1] and t > 0:
        found.holds, found.how = side == "upper", "the largest loss"
    return found


def _beside(y: Fraction, top: Top, side: Literal["lower", "upper"]) -> bool | None:
    """Whether y is at most (a lower end) or at least (an upper end) the largest loss."""
    if side == "lower":
        return True if y <= top[0] else False if y > top[1] else None
    return True if y >= top[1] else False if y < top[0] else None


def _delta_end(
    instance: Instance, side: Literal["lower", "upper"], given: Exact, end: Exact | None, top: Top, bits: int
) -> End:
    """lower <= δ(y) <= upper at the given y; δ(y) lies in [0, 1)."""
    y = Fraction(given)
    if end is None or end >= 1:
        return End(side, y, arb(1), side == "upper", "δ is below 1")
    if end < 0:
        return End(side, y, arb(0), side == "lower", "δ is not negative")
    t = instance.target(end, bits)
    found = End(side, y, t)
    if side == "lower" and (end == 0 or t <= 0):
        found.holds, found.how = True, "the leaks alone"
    elif side == "upper" and t < 0:
        found.holds, found.how = False, "the leaks alone"
    elif t.is_zero():
        found.holds, found.how = _beside(y, top, "upper"), "the largest loss"
    elif y >= top[1] and t > 0:
        found.holds, found.how = side == "upper", "the largest loss"
    return found


def _verdict(claim: Claim, ends: Sequence[End]) -> Verdict:
    false = [end for end in ends if end.holds is False]
    undecided = [end.side for end in ends if end.holds is None] if ends else ["lower", "upper"]
    status: Status = "false" if false else "undecided" if undecided else "proved"
    if false:
        symbol = "ε" if claim.quantity == "epsilon" else "δ"
        reason = "; ".join(
            f"{end.side}: the optimal {symbol} is proved to be {'smaller' if end.side == 'lower' else 'larger'}"
            for end in false
        )
    elif undecided:
        reason = f"not decided within the effort allowed: {' and '.join(undecided)}"
    else:
        reason = f"lower end by {ends[0].how}; upper end by {ends[1].how}"
    return Verdict(
        status == "proved",
        status,
        reason,
        claim.quantity,
        claim.lower,
        claim.upper,
        claim.given,
        claim.count,
        tuple(end.how for end in ends),
    )
