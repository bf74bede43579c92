"""What holds a budget or a secret is one object in one process: it is not copied, pickled or used after a fork.

Two copies of a session would each spend the whole budget, and two copies of a sparse vector would each give all the
positive answers that were paid for once.  Threads of one process may share the object itself.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Generic, NoReturn, TypeVar

from optcomp.errors import CannotBeShared
from optcomp.statistics import Table

S = TypeVar("S")
ANSWERS, BUDGET = "give all the answers that were paid for once", "spend the whole budget"
"""What two copies would do: of a mechanism at work, and of what holds a budget."""


class Turn:
    """A lock that only the process which made it can take.

    A thread that holds it and asks for it again gets an error: it would wait for itself.
    """

    def __init__(self, what: str, twice: str = ANSWERS) -> None:
        self._what, self._twice, self._process = what, twice, os.getpid()
        self._lock, self._holder = threading.Lock(), 0

    def check(self) -> None:
        """Refuses every process but the one that opened it."""
        here = os.getpid()
        if here != self._process:
            reason = f"was opened in process {self._process} and is used in process {here}"
            raise CannotBeShared(self._what, f"{reason}: both would {self._twice}; open a new one in this process")

    def __enter__(self) -> None:
        self.check()
        me = threading.get_ident()
        if self._holder == me:
            reason = "is being asked from inside its own request, and would wait for itself"
            raise CannotBeShared(self._what, reason)
        self._lock.acquire()
        self._holder = me

    def __exit__(self, *_: object) -> None:
        self._holder = 0
        self._lock.release()


class Live:
    """Holds a budget or a secret about a table; `_lock` is taken for everything that changes or reads its state."""

    def __init__(self, table: Table, what: str, twice: str = ANSWERS) -> None:
        self._table, self._what, self._twice = table, what, twice
        self._lock = Turn(what, twice)

    @property
    def table(self) -> Table:
        """The table it is about."""
        self._lock.check()
        return self._table

    def _refuse(self) -> NoReturn:
        reason = f"cannot be copied or pickled: each copy would {self._twice}; share the object itself"
        raise CannotBeShared(self._what, reason)

    def __copy__(self) -> NoReturn:
        self._refuse()

    def __deepcopy__(self, memo: dict[int, Any]) -> NoReturn:
        self._refuse()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        self._refuse()


class Running(Live, Generic[S]):
    """An interactive mechanism at work."""

    def __init__(self, spec: S, table: Table) -> None:
        super().__init__(table, str(spec))
        self._spec = spec

    @property
    def spec(self) -> S:
        """What was opened."""
        return self._spec
