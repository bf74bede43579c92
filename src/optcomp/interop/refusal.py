"""What is said when one side has no word for what the other side means."""

from __future__ import annotations

from optcomp.errors import InvalidInput


class UnsupportedEvent(InvalidInput):
    """An event that no guarantee of ours says exactly, or a guarantee that no event says; `.value` is it.

    `.reason` names its class and says why.
    """

    def __init__(self, argument: str, value: object, why: str) -> None:
        self.reason = f"{type(value).__name__}: {why}"
        super().__init__(argument, value, self.reason)
