"""Mechanisms that can be audited, and audits, as tables on a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from optcomp.cli.writing.digits import shown_near
from optcomp.cli.writing.plain_signs import writable
from optcomp.cli.writing.printing import print_table, say
from optcomp.composition import shown_down, shown_up

if TYPE_CHECKING:
    from optcomp.interactive.audit import Audit, Auditable

_DIGITS = 5
"""Significant digits: an audit knows no more of ε."""


def show_list(subjects: Sequence[Auditable]) -> None:
    """The mechanisms with what they claim."""
    table = Table(box=box.ROUNDED)
    table.add_column("mechanism", no_wrap=True, style="bold")
    table.add_column(writable("claimed ε"), justify="right", no_wrap=True)
    table.add_column(writable("at δ"), justify="right", no_wrap=True)
    table.add_column("what it does, and the two inputs", ratio=1)
    for subject in subjects:
        claim = shown_up(float(subject.epsilon), _DIGITS), shown_near(float(subject.delta))
        table.add_row(subject.name, *claim, writable(subject.description))
    print_table(table)


def described(subject: Auditable) -> dict[str, object]:
    """A JSON-ready view of a mechanism that was not run."""
    return {
        "mechanism": subject.name,
        "claimed_epsilon": float(subject.epsilon),
        "delta": float(subject.delta),
        "private": subject.private,
        "description": subject.description,
        "source": subject.source,
        "trials": subject.trials,
    }


def show_audits(audits: Sequence[Audit], confidence: str) -> None:
    """What was claimed, what was seen, and what that means."""
    table = Table(box=box.ROUNDED)
    table.add_column("mechanism", no_wrap=True, style="bold")
    for heading in ("claimed ε", "at δ", "lower bound"):
        table.add_column(writable(heading), justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for found in audits:
        lower = writable(shown_down(found.lower, _DIGITS))
        verdict = _verdict(found, lower)
        claim = shown_up(float(found.claimed_epsilon), _DIGITS), shown_near(float(found.delta))
        table.add_row(found.mechanism, *claim, lower, writable(verdict))
    print_table(table)
    for found in audits:
        seen = f"{found.counts[0]:,} of {found.measured:,} runs, against {found.counts[1]:,} on the other"
        say(f"{found.mechanism}: {found.event}: {seen}")
    together = "all these lower bounds hold" if len(audits) > 1 else "the lower bound holds"
    say(f"With probability {confidence} {together}. A bound below the claim does not prove the claim.")
    if any(math.isinf(found.lower) for found in audits):
        say("ε = ∞ is not an estimate: there is an error on one input, every time, and never on the other.")


def _verdict(found: Audit, lower: str) -> str:
    if not found.violated:
        return "no violation seen"
    return "VIOLATED: ε = ∞" if math.isinf(found.lower) else f"VIOLATED: ε ≥ {lower}"
