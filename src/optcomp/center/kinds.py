"""What kinds of jobs there are: whether they spend, whether they may read rows, and whether they may take long.

In which processes a job runs, what limits it has, what is told of its failures and whether its processor time is
counted follows from its kind alone, and so from nothing that depends on rows.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """A kind of jobs; those that neither spend nor read rows are free work."""

    spends: bool = False
    """Whether it runs after a debit: then all of its failures have the same words."""
    rows: bool = False
    """Whether it may read rows: it runs in a process that answers, and its processor time is not counted."""
    long: bool = False
    """Whether it may read the whole ledger: it may take as long as a question, and leaves a process to shorter jobs."""

    @property
    def counted(self) -> bool:
        """Whether its processor time counts towards the minute of whoever asked."""
        return not self.rows and not self.long


FREE = Kind()
"""Work that costs no budget and reads no row: it follows from declarations and from the ledger."""
_SPENDS, _FINISHES, _LONG = Kind(spends=True, rows=True), Kind(rows=True), Kind(long=True)
_KINDS = {
    **dict.fromkeys(("ask", "open_mechanism", "ask_mechanism", "commit", "planned", "release"), _SPENDS),
    **dict.fromkeys(("finish_waiting", "finish_release"), _FINISHES),
    "ping": _FINISHES,  # it reads no rows, but asks whether a process that may read them works
    **dict.fromkeys(("verify", "export", "history"), _LONG),
}
"""By the name of the job; all others are free."""


def kind_of(job: str) -> Kind:
    """The kind of a job."""
    return _KINDS.get(job, FREE)
