"""The command `audit`: run mechanisms many times on two neighbouring inputs and look for more leakage than claimed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from optcomp.cli import options
from optcomp.cli.failures import Complaint
from optcomp.cli.progress import working
from optcomp.cli.writing.printing import print_json
from optcomp.reading import plain, real_number, whole_number

VIOLATED = 1
"""The exit code when a mechanism is caught leaking more than it claims."""


def complete_mechanism(incomplete: str) -> list[str]:
    """Mechanisms for shell completion."""
    from optcomp.interactive.audit import known_mechanisms

    return options.starting(known_mechanisms(), incomplete)


_Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="MECHANISM",
        help="Mechanisms to audit, by the names that --list shows.",
        autocompletion=complete_mechanism,
        show_default=False,
    ),
]
_All = Annotated[bool, typer.Option("--all", help="Audit every mechanism that optcomp ships.")]
_Broken = Annotated[
    bool, typer.Option("--broken", help="Audit the deliberately broken mechanisms: all must be caught.")
]
_List = Annotated[bool, typer.Option("--list", help="List the mechanisms, and run nothing.")]
_Trials = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Runs on each of the two inputs; by default as many as take a few seconds.",
        show_default=False,
    ),
]
_Delta = Annotated[
    str | None,
    typer.Option(
        metavar="δ",
        help="Bound ε at this δ, no smaller than the mechanism's own, which is the default.",
        show_default=False,
    ),
]
_Confidence = Annotated[
    str,
    typer.Option(metavar="C", help="The probability with which all lower bounds of this call hold together."),
]


def audit(
    names: _Names = None,
    every: _All = False,
    broken: _Broken = False,
    listing: _List = False,
    trials: _Trials = None,
    delta: _Delta = None,
    confidence: _Confidence = "0.95",
    as_json: options.PlainJson = False,
) -> None:
    """Run mechanisms on two neighbouring inputs and bound their ε from below: a claim below that bound is false.

    Exit code 0 if no violation was seen, which proves nothing; 1 if a mechanism leaks more than it claims.

    optcomp audit count-laplace

    optcomp audit --all --trials 1e6 --json

    optcomp audit broken-stoddard14

    optcomp audit --list
    """
    from optcomp.cli.audit.tables import described, show_audits, show_list
    from optcomp.interactive.audit import audit_all, mechanism

    if listing:
        nothing = not (names or every or broken)
        listed = [mechanism(name) for name in _asked(names, every or nothing, broken or nothing)]
        if as_json:
            print_json({"mechanisms": [described(subject) for subject in listed]})
        else:
            show_list(listed)
        return
    subjects = [mechanism(name) for name in _asked(names, every, broken)]
    if not subjects:
        raise Complaint("nothing to audit: give a mechanism, --all or --broken; --list names them")
    sure = plain(confidence, "--confidence")
    started = audit_all(
        subjects, _runs(trials), delta=None if delta is None else plain(delta, "--delta"), confidence=sure
    )
    with working("auditing"):
        audits = list(started)
    violated = any(found.violated for found in audits)
    if not as_json:
        show_audits(audits, sure)
    elif len(audits) == 1:
        print_json(audits[0].as_dict())
    else:
        views = [found.as_dict() for found in audits]
        print_json({"audits": views, "confidence": real_number(sure, "--confidence"), "violated": violated})
    if violated:
        raise typer.Exit(VIOLATED)


def _asked(names: Sequence[str] | None, every: bool, broken: bool) -> list[str]:
    """The names that were asked for, each once."""
    from optcomp.interactive.audit import known_mechanisms

    shipped = known_mechanisms(private=True) if every else ()
    caught = known_mechanisms(private=False) if broken else ()
    return list(dict.fromkeys([*(name.strip().lower() for name in names or ()), *shipped, *caught]))


def _runs(trials: str | None) -> int | None:
    from optcomp.interactive.audit import LEAST_TRIALS, MOST_TRIALS

    return None if trials is None else whole_number(trials, "--trials", LEAST_TRIALS, MOST_TRIALS)
