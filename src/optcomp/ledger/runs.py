"""Interactive mechanisms that go on after a crash: what they remember is stored, encrypted, together with the answer.

Each question reads the state, is answered, and stores answer and next state together; a state that somebody else has
moved on meanwhile is read again, and what was drawn for nothing is forgotten.  Nothing is revealed that is not stored.
"""

from __future__ import annotations

import json
import threading
from typing import Any

from sqlalchemy import Row, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from optcomp.errors import MechanismClosed
from optcomp.interactive import Mechanism, read_mechanism
from optcomp.ledger.amounts import named
from optcomp.ledger.chain import canonical, commitment, digest, new_salt
from optcomp.ledger.holders import IS_OPEN, Holder, Stored
from optcomp.ledger.keys import Keys, WrongKey
from optcomp.ledger.opening import check_key, checked_repeat
from optcomp.ledger.receipts import Receipt
from optcomp.ledger.schema import MECHANISMS, REQUESTS
from optcomp.ledger.states import AccountState, RequestState
from optcomp.ledger.transactions import Overtaken
from optcomp.statistics import Table

_BY_ID = select(MECHANISMS).where(MECHANISMS.c.id == bindparam("mechanism"))
_MOVE = (
    update(MECHANISMS)
    .where(MECHANISMS.c.id == bindparam("mechanism"), MECHANISMS.c.version == bindparam("read"), IS_OPEN)
    .values(version=bindparam("read") + 1, state=bindparam("moved"))
)


class DurableRun:
    """A mechanism at work, in the ledger: it has the surface of the mechanism's own run."""

    def __init__(self, holder: Holder, table: Table, request: int) -> None:
        self._holder, self._table, self._id = holder, table, request
        self._lock = threading.Lock()
        self._known: tuple[int, Any] | None = None
        self._spec = read_mechanism(json.loads(self._row().spec))
        self.receipt: Receipt | None = None
        """Of the last answer."""

    @property
    def request(self) -> int:
        """Its number: `DurableSession.run` finds it again."""
        return self._id

    @property
    def spec(self) -> Mechanism:
        """What was opened."""
        return self._spec

    @property
    def table(self) -> Table:
        """The table it is about."""
        return self._table

    def __getattr__(self, name: str) -> Any:
        """What the mechanism tells about itself, such as `positives_left`."""
        if name.startswith("_"):
            raise AttributeError(name)
        with self._lock:
            _, run = self._current()
            if name not in run.TOLD:
                raise AttributeError(f"{type(run).__name__} has no attribute {name!r}", name=name)
            return getattr(run, name)

    def ask(self, *args: Any, key: str | None = None, repeat: int = 0, **named: Any) -> Any:
        """Ask the mechanism; the same question again has the same answer, unless `repeat` counts it as another one."""
        return self._spec.read_told(json.loads(self.ask_stored(*args, key=key, repeat=repeat, **named).answer))

    def ask_stored(self, *args: Any, key: str | None = None, repeat: int = 0, **named: Any) -> Stored:
        """The same, as it is in the ledger: the number of the request, the text of the answer, the receipt."""
        with self._lock:
            asked = self._spec.form(self._table, *args, **named)
            check_key(key)
            form = canonical({"mechanism": self._id, "ask": asked, "repeat": checked_repeat(repeat)})
            own = f"ask {digest(form)}" if key is None else f"key {key}"
            while True:
                try:
                    return self._ask(asked, own, form)
                except Overtaken:
                    pass
                except IntegrityError:  # somebody else asked under this key a moment ago
                    if self._holder.find(own) is None:
                        raise AssertionError("the database refused an answer that the mechanism gave") from None
                self._known = None

    def _ask(self, asked: Any, key: str, form: str) -> Stored:
        found = self._holder.find(key)
        if found is not None:
            self._holder.check_same(found, "ask", form)
            stored = self._holder.stored(found)
        else:
            self._holder.check_not_spent()
            version, run = self._current()
            self._known = None  # the run is used up, unless its next state is stored
            answer = self._spec.told(run.ask_form(asked))
            stored = self._store(version, run, key, form, canonical_answer(answer))
            self._known = version + 1, run
        self.receipt = stored.receipt
        return stored

    def _store(self, version: int, run: Any, key: str, form: str, answer: str) -> Stored:
        salt, holder = new_salt(), self._holder
        committed, what = commitment(salt, answer), str(self._spec)
        with holder.books.writing() as writing:
            sealed = _sealed(
                self._keys(), self._id, version + 1, run
            )  # under the lock, or a rotation could overtake it
            moved = {"mechanism": self._id, "read": version, "moved": sealed}
            moved |= {"holder": holder.id, "spent": AccountState.SPENT.value}
            if writing.connection.execute(_MOVE, moved).rowcount != 1:
                raise Overtaken
            body = {"holder": holder.id, "mechanism": self._id, "form": digest(form), "commitment": committed}
            writing.append("asked", holder.account, body | {"named": named(key, what)})
            values = {"holder": holder.id, "key": key, "mechanism": self._id, "kind": "ask", "what": what}
            values |= {"form": form, "paid": "[]", "state": RequestState.ANSWERED, "answer": answer, "salt": salt}
            values |= {"sequence": writing.sequence, "head": writing.head}
            request: int = writing.connection.scalar(insert(REQUESTS).values(values).returning(REQUESTS.c.id))
        return Stored(request, answer, holder.receipt(writing.sequence, writing.head, committed))

    def _current(self) -> tuple[int, Any]:
        """The run in its newest state, and the version of that."""
        row = self._row()
        if self._known is None or self._known[0] != row.version:
            try:
                state = unsealed(self._keys(), row)
            except WrongKey as error:
                raise MechanismClosed(self._spec, f"{self._spec}: what it remembers cannot be read: {error}") from None
            self._known = row.version, self._spec.resume(self._table, state)
        return self._known

    def _row(self) -> Row[Any]:
        with self._holder.books.database.read() as connection:
            return connection.execute(_BY_ID, {"mechanism": self._id}).one()

    def _keys(self) -> Keys:
        return needed_keys(self._holder, self._spec)

    def __repr__(self) -> str:
        return f"DurableRun({self._spec})"


def needed_keys(holder: Holder, what: object) -> Keys:
    """The keys of the ledger; without them mechanisms are closed."""
    keys = holder.books.keys
    if keys is None:
        reason = f"{what}: the ledger is open without its private folder, which has the key of what mechanisms remember"
        raise MechanismClosed(what, reason)
    return keys


def canonical_answer(value: Any) -> str:
    """An answer or a state as text: numbers as they are, floats exact to the last bit."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def opened_mechanism(holder: Holder, request: int, spec: Mechanism, run: Any) -> dict[str, Any]:
    """The row of a mechanism that was just started."""
    sealed = _sealed(needed_keys(holder, spec), request, 1, run)
    return {"id": request, "spec": canonical(spec.document()), "state": sealed, "version": 1}


def _sealed(keys: Keys, mechanism: int, version: int, run: Any) -> str:
    """The state of a run, encrypted together with whose it is and how old, so that no other can be put in its place."""
    return keys.encrypt(canonical_answer({"mechanism": mechanism, "version": version, "state": run.state()}))


def unsealed(keys: Keys, row: Row[Any]) -> Any:
    """What a mechanism remembers; `WrongKey` if it is not the newest state of this mechanism."""
    found = json.loads(keys.decrypt(row.state))
    if (found["mechanism"], found["version"]) != (row.id, row.version):
        raise WrongKey(row.state)
    return found["state"]
