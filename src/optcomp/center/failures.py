"""What may go wrong where answers are made, and what is told of it: never a value of the data.

Before a debit, what is refused follows from declarations and from the transcript, and the words say why.  After a debit
every failure has the same words, whatever happened: otherwise an error could tell what the answer would have told.

    CenterError
    ├── Busy            too many questions wait; nothing was spent
    ├── CannotStart     the processes that answer do not start
    └── Stopped         a process was stopped while it worked; what was debited stays paid, if the job spends
        ├── Cancelled   by whoever asked
        ├── RunnerDied  by itself, or by the system
        └── TookTooLong by the limit on time
"""

from __future__ import annotations

from typing import Any

from optcomp.errors import (
    BudgetExceeded,
    HypothesisNotMet,
    InvalidInput,
    MechanismClosed,
    MechanismFailed,
    OptcompError,
    shown,
)
from optcomp.interactive import Remaining
from optcomp.ledger import LedgerCopied

NOT_ANSWERED = "There is no answer yet. Ask again with the same key: what was paid for it is not paid twice."
"""What is told of every failure after a debit, and of those of which nobody knows whether they came before it."""
STOPPED = "It was stopped: free work may take only so much time and memory. Nothing was spent; ask for less at once."
"""What is told if a process ends that did free work."""
WAS_CANCELLED = "It was cancelled. Nothing was spent."
"""What is told of free work that was cancelled."""
CANNOT_ANSWER = "The table cannot be asked at the moment. Nothing was spent; the owner can find out why."
"""What is told if a table does not open: the reason may be about the machine, and is for its owner."""
COPIED = "The ledger may be a copy, and debits nothing until its owner takes it over. Nothing was spent."
"""What is told of a copy: where it lies is for its owner."""
NO_LEDGER = "The ledger cannot be used at the moment. Nothing was spent; the owner can find out why."
"""What is told if the ledger's database fails and nothing could be debited."""
GIVEN_UP = "given up by the owner"
"""How the ledger calls the failure of a request that will have no answer any more."""
_LEDGER = "ledger"
"""The argument that errors of a database name, that of the centre too: where it lies is for its owner."""
_LONGEST = 200
"""Characters of a wrong value that are shown again."""
_MOST_WORDS = 1000
"""Characters of an error in all."""


class CenterError(OptcompError):
    """Something is wrong with the processes that answer."""


class Busy(CenterError):
    """So many questions wait that another one is not taken; nothing was spent."""


class CannotStart(CenterError):
    """The processes that answer do not start."""


class Stopped(CenterError):
    """A process was stopped while it worked; where the job spends, all kinds of it have the same words."""

    free_words = STOPPED
    """What is told of free work."""

    def __init__(self, *, spends: bool = True) -> None:
        super().__init__(NOT_ANSWERED if spends else self.free_words)
        self.spends = spends


class Cancelled(Stopped):
    """The answer is not wanted any more; what was debited stays paid."""

    free_words = WAS_CANCELLED


class RunnerDied(Stopped):
    """The process ended while it worked."""


class TookTooLong(Stopped):
    """It took longer than a job of its kind may."""


class CannotAnswer(CenterError):
    """The table cannot be asked; nothing was spent."""

    def __init__(self, words: str = CANNOT_ANSWER) -> None:
        super().__init__(words)


def database_failed(error: Exception) -> bool:
    """Whether a database could not be used, and nobody asked for anything wrong."""
    return isinstance(error, InvalidInput) and error.argument == _LEDGER


def failure(error: Exception, *, spends: bool) -> dict[str, Any]:
    """An error as it is sent on; `spends` says whether something may have been debited before."""
    if isinstance(error, BudgetExceeded):
        left = error.remaining if isinstance(error.remaining, Remaining) else None
        return _told("BudgetExceeded", error.reason, reason=error.reason, remaining=left_document(left))
    if isinstance(error, InvalidInput) and not database_failed(error):
        value = shown(error.value)[:_LONGEST]
        words = f"{error.argument}: {error.problem}, got {value}"
        return _told("InvalidInput", words, argument=error.argument, value=value, problem=error.problem)
    if isinstance(error, HypothesisNotMet):
        return _told("HypothesisNotMet", str(error), theorem=error.theorem, reason=error.reason)
    if isinstance(error, MechanismFailed) and error.kind == GIVEN_UP:
        return _told("CannotAnswer", "The owner gave this request up; what it cost stays spent.")
    if isinstance(error, LedgerCopied):
        return _told("LedgerCopied", COPIED)
    if isinstance(error, MechanismClosed | CannotAnswer):
        return _told(type(error).__name__, str(error))
    if spends:
        return _told("NotAnswered", NOT_ANSWERED)
    if isinstance(error, InvalidInput):
        return _told("CannotAnswer", NO_LEDGER)
    return _told("CannotAnswer", f"It could not be done, because of a {type(error).__name__}. Nothing was spent.")


def left_document(left: Remaining | None) -> dict[str, Any] | None:
    """What is left, exact and in words, ready for JSON."""
    if left is None:
        return None
    amounts = {name: {"left": str(rest), "whole": str(whole)} for name, (rest, whole) in left.amounts.items()}
    largest = None if left.largest is None else str(left.largest)
    return {"words": str(left), "amounts": amounts, "largest": largest, "count": left.count}


def _told(kind: str, words: str, **more: Any) -> dict[str, Any]:
    return {"error": kind, "words": words[:_MOST_WORDS], **more}
