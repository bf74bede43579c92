"""Catch mechanisms that leak more than they claim: a lower confidence bound on ε from many runs on two inputs."""

from optcomp.interactive.audit.auditable import Auditable, Probe, Side
from optcomp.interactive.audit.confidence import MOST_TRIALS
from optcomp.interactive.audit.events import AtLeast, AtMost, Event, OneOf, Raised
from optcomp.interactive.audit.known import known_mechanisms, mechanism
from optcomp.interactive.audit.run import LEAST_TRIALS, Audit, audit, audit_all

__all__ = [
    "AtLeast",
    "AtMost",
    "Audit",
    "Auditable",
    "Event",
    "LEAST_TRIALS",
    "MOST_TRIALS",
    "OneOf",
    "Probe",
    "Raised",
    "Side",
    "audit",
    "audit_all",
    "known_mechanisms",
    "mechanism",
]
