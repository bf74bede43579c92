"""What holds a budget or a secret is one object in one process: it is not copied, pickled or used after a fork.

Two copies of a session would each spend the whole budget, and two copies of a sparse vector would each give all the
positive answers that were paid for once.  Threads of one process may share the object itself.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, NoReturn, TypeVar

from optcomp.errors import CannotBeShared
from optcomp.interactive.specs import Mechanism
from optcomp.statistics import Table

S = TypeVar("S", bound=Mechanism)
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


class Running(Live, ABC, Generic[S]):
    """An interactive mechanism at work.

    Its questions have a form without code, and its answers too: `ask(...)` is `ask_form(form(...))`, and
    `read_told(told(answer))` is the answer.  Forms, told answers and states are ready for JSON, and exact.
    """

    TOLD: ClassVar[tuple[str, ...]] = ()
    """Its attributes that anybody may read."""

    def __init__(self, spec: S, table: Table) -> None:
        super().__init__(table, str(spec))
        self._spec = spec

    @property
    def spec(self) -> S:
        """What was opened."""
        return self._spec

    def form(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The form of a question: takes what `ask` takes; looks at no data."""
        return self.spec.form(self.table, *args, **kwargs)

    @abstractmethod
    def ask_form(self, form: object) -> Any:
        """The answer to a question in its form; refuses what `ask` refuses."""

    def told(self, answer: Any) -> Any:
        """An answer, ready for JSON."""
        return self.spec.told(answer)

    def read_told(self, value: object) -> Any:
        """The answer that was written so."""
        return self.spec.read_told(value)

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """All that it takes to go on, but the data: `spec.resume(table, state)` does.  It is secret."""
