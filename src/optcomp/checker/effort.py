"""How much processor time a check has left.

Every loop whose length a document chooses asks `look`; what cannot be interrupted, such as a product of matrices, asks
`room` first, with about the seconds that it takes.  Both raise `Spent`, after which open ends stay open: a claim is
then undecided, and never proved or refuted by it.  Seconds are those of the thread's own processor time, so that a busy
machine changes nothing.  Outside of `limited` nothing is limited.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
_FUNCTION = 2e-4, 1 << 10, 1.7
"""About the seconds of a few of the slowest functions (erfc) at so many bits, and the power by which they grow."""
_DIVISION = 1e-12
"""About the seconds that reducing a fraction takes, for the square of its bits."""

_end: ContextVar[float] = ContextVar("end", default=math.inf)
"""The processor time at which the effort is used up."""


class Spent(Exception):
    """The effort is used up."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Allow this many seconds of processor time from now on."""
    token = _end.set(min(_end.get(), time.thread_time() + seconds))
    try:
        yield
    finally:
        _end.reset(token)


def left() -> float:
    """The seconds that are left; infinite if nothing is limited."""
    return _end.get() - time.thread_time()


def look() -> None:
    """Go on only if there is time left."""
    if time.thread_time() > _end.get():
        raise Spent


def room(seconds: float) -> None:
    """Go on only if there are about so many seconds left."""
    if not seconds <= left():
        raise Spent


def looked(items: Iterable[T]) -> Iterator[T]:
    """The same items, with a look before each."""
    for item in items:
        look()
        yield item


def reducible(bits: float) -> None:
    """Go on only if a fraction of so many bits can be reduced in the time that is left."""
    room(_DIVISION * bits**2)


def precise(bits: float) -> None:
    """Go on only if a function of balls with this many bits can be evaluated in the time that is left."""
    room(_FUNCTION[0] * (1 + bits / _FUNCTION[1]) ** _FUNCTION[2])
