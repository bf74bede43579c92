"""What a centre refuses, and why; each is an answer of its own to whoever asks."""

from __future__ import annotations

from optcomp.errors import OptcompError


class NotKnown(OptcompError):
    """A token is none of ours, has expired or was revoked; which of these is not told."""

    def __init__(self) -> None:
        super().__init__("the token is not known, has expired or was revoked")


class Forbidden(OptcompError):
    """The role of a person does not allow this."""

    def __init__(self, role: str, act: str) -> None:
        self.role, self.act = role, act
        super().__init__(f"the role {role} may not do this: {act}")


class Suspended(OptcompError):
    """A person or a seat is suspended by an owner; that is not the same as being busy."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"{what} is suspended; ask an owner of the centre")


class NotFound(OptcompError):
    """There is nothing of this name, or nothing that this person may see."""

    def __init__(self, kind: str, name: object) -> None:
        self.kind, self.name = kind, name
        super().__init__(f"there is no {kind} {name!r}")


class Conflict(OptcompError):
    """Something of this name, or in this state, is there already."""

    def __init__(self, what: str, problem: str) -> None:
        self.what, self.problem = what, problem
        super().__init__(f"{what} {problem}")


class TooMany(OptcompError):
    """More requests in this minute, or at once, than are allowed."""

    def __init__(self, seconds: float, words: str | None = None) -> None:
        self.seconds = seconds
        super().__init__(words or f"too many requests: wait {seconds:.0f} s")


class NeedsSecond(OptcompError):
    """Nothing is changed yet: another owner must confirm it."""

    def __init__(self, confirmation: int, kind: str) -> None:
        self.confirmation, self.kind = confirmation, kind
        super().__init__(f"{kind}: waits for another owner, who confirms number {confirmation}")
