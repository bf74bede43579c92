"""Long work says how far it is, to whoever listens; silent otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, float], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call listener(what, share done between 0 and 1) from long computations inside this block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def report(what: str, share: float) -> None:
    """Say that `what` is done to this share."""
    listener = _listener.get()
    if listener is not None:
        listener(what, share)
