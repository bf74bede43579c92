"""A plan carried out once: a look at the data, one debit, the answers, a report, and the proof that all of it fits."""

from optcomp.release.facts import facts
from optcomp.release.preflight import Preflight, preflight
from optcomp.release.released import Released, prepare, release_plan
from optcomp.release.report import page
from optcomp.release.store import NotReleased
from optcomp.release.verification import Verification, verify_release

__all__ = [
    "NotReleased",
    "Preflight",
    "Released",
    "Verification",
    "facts",
    "page",
    "preflight",
    "prepare",
    "release_plan",
    "verify_release",
]
