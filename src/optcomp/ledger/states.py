"""The states of requests, accounts, sessions and slots, and how one follows another."""

from __future__ import annotations

from enum import StrEnum


class RequestState(StrEnum):
    """Of a request.  What it costs is debited in every state: no transition gives anything back."""

    RESERVED = "reserved"
    """Debited, not answered.  Whoever holds its key may run it; -> ANSWERED by the first answer that is stored, or
    -> FAILED by the owner.  An error or a crash while it runs leaves it here, and the same key runs it again."""
    ANSWERED = "answered"
    """Its answer is stored; the same key is given this answer.  -> DELIVERED."""
    DELIVERED = "delivered"
    """The answer was handed to the program that asked.  The end."""
    FAILED = "failed"
    """The owner gave it up: there will be no answer.  The end."""


class AccountState(StrEnum):
    """Of an account."""

    OPEN = "open"
    """Requests are admitted while they fit.  -> OVERDRAWN, SPENT."""
    OVERDRAWN = "overdrawn"
    """A release that had happened elsewhere was entered, and did not fit.  Nothing is admitted any more, and the cap is
    no longer claimed: only what the odometer says.  The end."""
    SPENT = "spent"
    """A copy was adopted that may lack debits: all of the budget counts as spent.  Nothing is admitted.  If it was
    overdrawn before, or a release is entered afterwards, its cap is no longer claimed either.  The end."""


class SlotState(StrEnum):
    """Of a slot."""

    FREE = "free"
    """Nobody has asked anything in it.  -> TAKEN, SPLIT, SPENT."""
    TAKEN = "taken"
    """A session or a release has it.  The end."""
    SPLIT = "split"
    """Its parts are slots of their own.  The end."""
    SPENT = "spent"
    """A copy was adopted that may lack what was asked in it.  The end."""
