"""A plan released: all its questions at once, as one mechanism whose certified total is what is spent.

Everything about the plan is fixed before the data are looked at, so the questions compose as mechanisms with fixed
parameters do.  The total is proved again for the table at hand; it is debited before the first question runs, from the
plan's own budget and from the account of these people in a ledger.  What is returned is made from noisy integers alone.

The ledger makes sure that a release happens once: its key is the plan and the data.  It is reserved, which is the
debit; run; and its answers are stored, before anybody sees them.  Whatever is interrupted in between, the same command
again goes on from there, and pays nothing more.  The file is written from what is stored (see `store.py`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optcomp.errors import InvalidInput, UnreadableData
from optcomp.guarantees import ZCDP, ApproxDP
from optcomp.numerics import listening
from optcomp.planner import Document, make_plan
from optcomp.release.ledger_entry import so_far
from optcomp.release.payer import Payer
from optcomp.release.paying import Paying, told_by
from optcomp.release.proved_plan import Tell, prepare
from optcomp.release.store import Identity, NotReleased, Store, Taken, View, file_digest, plan_digest
from optcomp.statistics import (
    Table,
    cells_digest,
    difference,
    files_of,
    is_address,
    is_relation,
    is_snapshot,
)

if TYPE_CHECKING:
    from optcomp.ledger import Ledger

_DELTA = Fraction(1, 10**6)
"""δ of the odometer of an account that a plan without δ opens."""


def table_of(document: Document, source: object) -> Table:
    """The table with what the plan declares about it: prepared now, or before by a plan that declares the same."""
    if isinstance(source, str | Path) and is_snapshot(Path(source)):
        return _from_snapshot(document, Path(source))
    return Table(source, **document.table.arguments, bad_cells=document.bad_cells, **document.reading.arguments)


def _from_snapshot(document: Document, path: Path) -> Table:
    try:
        table = Table.open(path)
    except InvalidInput as error:
        in_database = "is a snapshot whose rows a database keeps: prepare one that keeps them in its folder"
        problem = in_database if error.argument == "connection" else error.problem
        raise InvalidInput("source", str(path), problem) from None
    other = difference(document.table, table, ("in the plan", "in the snapshot"))
    if other is not None:
        problem = f"is a snapshot of another declaration: {other}; prepare the data again with this plan"
        raise InvalidInput("source", str(path), problem)
    return table


def release_plan(
    document: Document,
    data: object,
    out: str | Path,
    tell: Tell = lambda what, share: None,
    *,
    ledger: str | Path | Ledger | None = None,
    account: str | None = None,
    private: str | Path | None = None,
    witness: str | Path | None = None,
    notice: Callable[[str], None] = lambda sentence: None,
) -> tuple[dict[str, Any], bool]:
    """The release of a plan about data, and whether it was made now; the same again is read from its file.

    `data` is a file, or several by a pattern, or a data frame, which are prepared first, or a snapshot.  They are read
    before anything is spent or written, and then no more.  It is debited from an account of a ledger: by default the
    one beside the data (see `payer.py`); of data frames and patterns the ledger must be named.  `private` is the
    private folder of that ledger, by default beside its file, and `witness` is its witness.  After an interruption the
    same call goes on, and nothing is debited again.  `notice` is given sentences that the owner of the data should
    read: that a ledger was made, and what was released about these people so far.
    """
    if not isinstance(document, Document):
        raise InvalidInput("document", type(document).__name__, "must be a plan as planner.read or read_file gives it")
    source, store = _named(data), Store(_path(out, "out"))
    if ledger is None and not _beside(source):
        problem = "must be named, for there is no file beside which it could lie"
        raise InvalidInput("ledger", None, problem)
    beside = source if isinstance(source, Path) else None
    with Payer(document, beside, ledger, account, notice, private, witness) as payer:
        found = _Data.of(document, source, tell)
        view, fresh = _Release(document, found, store, payer, tell).made()
    if fresh and view["ledger"]["releases"] > 1:
        notice(so_far(view["ledger"]))
    return view, fresh


def _path(value: object, argument: str) -> Path:
    if isinstance(value, str | Path):
        return Path(value)
    raise InvalidInput(argument, type(value).__name__, "must be the path of a file")


def _named(data: object) -> object:
    """A file by its path; a data frame as it is."""
    if data is None or isinstance(data, bytes | int | float):
        raise InvalidInput("data", type(data).__name__, "must be the path of a file, a snapshot, or a data frame")
    if is_address(data) or is_relation(data):
        problem = "may change while it is asked: prepare a snapshot of it first, and release from that"
        raise InvalidInput("data", "a table of a database", problem)
    return Path(data) if isinstance(data, str) else data


def _beside(source: object) -> bool:
    """Whether there is a file, or a snapshot, beside which a ledger can lie."""
    return isinstance(source, Path) and (is_snapshot(source) or files_of(source) == [source])


@dataclass(frozen=True)
class _Data:
    """The data of a release: who they are, and how they are read."""

    document: Document
    source: object
    digest: str
    snapshot: Table | None

    @classmethod
    def of(cls, document: Document, source: object, tell: Tell) -> _Data:
        """A snapshot is opened, and thereby verified; of a file, and of cells of a data frame, there is a digest."""
        if not (isinstance(source, Path) and is_snapshot(source)):
            return cls(document, source, _digest(document, source, tell), None)
        table = table_of(document, source)
        assert table.digest is not None
        return cls(document, source, table.digest, table)

    def table(self, tell: Tell) -> Table:
        """Ready to be asked; a file must be the same after it was read."""
        if self.snapshot is not None:
            return self.snapshot
        with listening(tell):
            table = _opened(self.document, self.source)
        if _digest(self.document, self.source, tell) != self.digest:
            name = self.source.name if isinstance(self.source, Path) else "the table"
            raise UnreadableData(name, "changed while it was read; nothing was spent")
        return table


class _Release:
    """One release on its way."""

    def __init__(self, document: Document, data: _Data, store: Store, payer: Payer, tell: Tell) -> None:
        self._document, self._data, self._store, self._payer, self._tell = document, data, store, payer, tell
        self._identity = Identity(plan_digest(document.source), data.digest)
        self._paying = Paying(document, self._identity)

    def made(self) -> tuple[View, bool]:
        """From its file, from the ledger, or now."""
        stored = self._store.found(self._identity)
        if stored is not None:
            return stored, False
        account = self._payer.find()
        answered = None if account is None else account.answered(self._paying.key(account))
        prepared = None if answered is not None else prepare(make_plan(self._document), self._data.table(self._tell))
        if account is None:
            assert prepared is not None
            account = self._payer.open(_odometer_delta(prepared.cost))
        if self._data.snapshot is not None:
            self._data.snapshot.bind(account.ledger_id, account.name)
        try:
            with self._store.releasing(
                self._identity, {"ledger": account.ledger_id, "account": account.name}
            ) as finish:
                if prepared is not None:
                    answered = self._paying.paid(account, prepared, self._tell)
                assert answered is not None
                return finish(told_by(answered)), self._paying.ran
        except Taken:
            stored = self._store.found(self._identity)
            if stored is None:
                reason = "was there a moment ago; nothing was spent, try again"
                raise NotReleased(self._store.path, reason) from None
            return stored, False


def _odometer_delta(cost: ApproxDP | ZCDP) -> Fraction:
    """For an account that a plan opens: as much for the δ of parts as the plan has, and as much again."""
    delta = Fraction(cost.delta) if isinstance(cost, ApproxDP) else Fraction(0)
    return min(2 * delta, Fraction(1, 2)) or _DELTA


def _opened(document: Document, data: object) -> Table:
    try:
        return table_of(document, data)
    except InvalidInput as error:
        if error.argument != "columns":
            raise
        raise misfit(data, error) from None


def misfit(data: object, error: InvalidInput) -> InvalidInput:
    """A column of the data is not as the plan says: an error about the data."""
    shown = str(data) if isinstance(data, Path) else type(data).__name__
    return InvalidInput("source", shown, f"does not fit the plan: column {error.value!r} {error.problem}")


def _digest(document: Document, data: object, tell: Tell) -> str:
    if not isinstance(data, Path):
        try:
            return cells_digest(data, document.table, document.reading)
        except InvalidInput as error:
            raise misfit(data, error) if error.argument == "columns" else error from None
    try:
        files = files_of(data)
        digests = [file_digest(each, tell) for each in files]
        return digests[0] if files == [data] else hashlib.sha256("".join(digests).encode()).hexdigest()
    except IsADirectoryError:
        raise InvalidInput("source", str(data), "is a folder, but not a snapshot") from None
    except OSError as error:
        raise InvalidInput("source", str(data), f"cannot be read ({error.strerror or error})") from None
