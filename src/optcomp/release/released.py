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
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optcomp.errors import BudgetExceeded, InvalidInput, MechanismFailed, OptcompError, UnreadableData
from optcomp.guarantees import ZCDP, ApproxDP
from optcomp.interactive import Answer, Offer, answer, paid_session
from optcomp.interactive.filters import Filter, SumFilter, ZCDPFilter
from optcomp.numerics import Exact, listening
from optcomp.planner import Document, PairBudget, Plan, RhoBudget, Spending, make_plan
from optcomp.release.ledger_entry import ledger_entry, plan_offers, reserve_name, so_far
from optcomp.release.payer import Payer
from optcomp.release.plan_facts import facts, growth
from optcomp.release.store import (
    Identity,
    NotReleased,
    Store,
    Taken,
    Unpaid,
    View,
    file_digest,
    now,
    plan_digest,
    text_of,
)
from optcomp.release.told import Released, guarantee_told, versions_told
from optcomp.statistics import Count, Table, difference, is_snapshot
from optcomp.theorems import Bound

if TYPE_CHECKING:
    from optcomp.ledger import Account, Ledger, Stored

_DELTA = Fraction(1, 10**6)
"""δ of the odometer of an account that a plan without δ opens."""
Tell = Callable[[str, float], None]


def table_of(document: Document, source: object) -> Table:
    """The table with what the plan declares about it: prepared now, or before by a plan that declares the same."""
    if isinstance(source, str | Path) and is_snapshot(Path(source)):
        return _from_snapshot(document, Path(source))
    return Table(source, **document.table.arguments, bad_cells=document.bad_cells, multiline=document.multiline)


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


@dataclass(frozen=True)
class Prepared:
    """A plan that fits a table and its budget; nothing has been asked yet."""

    plan: Plan
    table: Table
    bound: Bound | None
    cost: ApproxDP | ZCDP

    @property
    def offers(self) -> list[Offer]:
        """Every guarantee that is proved of this release: its certified total, and those of its questions.

        What the plan keeps for later is part of the total, and beside the questions it stands by itself.
        """
        parts = tuple(cost for line in self.plan.lines for cost in line.question.costs(self.table))
        return plan_offers(self.cost, parts, self.plan.reserve)

    def run(self, tell: Tell = lambda what, share: None) -> Released:
        """Pay for the whole plan from its own budget, then ask; an error after the debit refunds nothing.

        The ledger was debited before.
        """
        session = paid_session(self.table, _quota(self.plan), name="release")
        questions = [line.question for line in self.plan.lines]

        def ask() -> tuple[Answer, ...]:
            found = []
            for place, question in enumerate(questions):
                tell(f"asking {question.statistic}", place / len(questions))
                found.append(answer(question, self.table))
            return tuple(found)

        answers = session.pay(f"a plan of {len(questions)} statistics", [self.cost], ask)
        return Released(self.plan, answers, self.bound, session)


def prepare(plan: Plan, table: Table) -> Prepared:
    """Prove the total for this table, and refuse what cannot be released; no question is asked."""
    for line in plan.lines:
        line.wish.statistic.check(table)
        line.question.scales(table)
    spendings = _spendings(plan, table)
    if isinstance(plan.inside, ApproxDP):
        bound = _proved(plan, plan.inside, spendings)
        _affordable(bound.upper, plan.inside.epsilon, "ε")
        _check_sample(plan, table)
        return Prepared(plan, table, bound, ApproxDP(Fraction(bound.upper), plan.inside.delta))
    total = RhoBudget(plan.inside.rho).total(spendings)
    _affordable(total, plan.inside.rho, "ρ")
    return Prepared(plan, table, None, ZCDP(total))


def _proved(plan: Plan, inside: ApproxDP, spendings: Sequence[Spending]) -> Bound:
    """The total for this table: that of the plan, if the same guarantees are spent."""
    extra = () if plan.reserve is None else (plan.reserve,)
    budget = PairBudget(inside.epsilon, inside.delta)
    planned = budget.counted([line.spending for line in plan.lines], extra)
    if plan.bound is not None and planned == budget.counted(spendings, extra):
        return plan.bound
    return budget.bound(spendings, extra)


def _quota(plan: Plan) -> Filter:
    """Exactly what may be spent on the table."""
    if isinstance(plan.inside, ZCDP):
        return ZCDPFilter(plan.inside.rho)
    return SumFilter(plan.inside.epsilon, plan.inside.delta)


def _spendings(plan: Plan, table: Table) -> list[Spending]:
    """What each statistic spends on the very table that is asked."""
    models = [replace(line.spending.model, table=table) for line in plan.lines]
    return [Spending(model, line.spending.budget) for model, line in zip(models, plan.lines, strict=True)]


def _affordable(total: float, limit: Exact, symbol: str) -> None:
    if not total <= limit:
        reason = f"the plan costs {symbol} = {total:.10g}, more than its budget of {float(limit):g}; nothing was spent"
        raise BudgetExceeded(total, limit, reason)


def _check_sample(plan: Plan, table: Table) -> None:
    """A sample that is larger than declared is less secret than the plan says; its size is public by declaration."""
    if plan.document.population is None:
        return
    ((rows,),) = Count().measure(table)
    if rows != plan.document.rows:
        raise InvalidInput("data.rows", plan.document.rows, "is not the number of rows of the table")


def release_plan(
    document: Document,
    data: str | Path,
    out: str | Path,
    tell: Tell = lambda what, share: None,
    *,
    ledger: str | Path | Ledger | None = None,
    account: str | None = None,
    private: str | Path | None = None,
    notice: Callable[[str], None] = lambda sentence: None,
) -> tuple[dict[str, Any], bool]:
    """The release of a plan about data, and whether it was made now; the same again is read from its file.

    `data` is a file, which is prepared first, or a snapshot.  Either is read before anything is spent or written, and
    then no more.  It is debited from an account of a ledger: by default the one beside the data (see `payer.py`);
    `private` is the private folder of that ledger, by default beside its file.
    After an interruption the same call goes on, and nothing is debited again.  `notice` is given sentences that the
    owner of the data should read: that a ledger was made, and what was released about these people so far.
    """
    if not isinstance(document, Document):
        raise InvalidInput("document", type(document).__name__, "must be a plan as planner.read or read_file gives it")
    source, store = _path(data, "data"), Store(_path(out, "out"))
    with Payer(document, source, ledger, account, notice, private) as payer:
        found = _Data.of(document, source, tell)
        view, fresh = _Release(document, found, store, payer, tell).made()
    if fresh and view["ledger"]["releases"] > 1:
        notice(so_far(view["ledger"]))
    return view, fresh


def _path(value: object, argument: str) -> Path:
    if isinstance(value, str | Path):
        return Path(value)
    why = ": a release is bound to its data by the digest of a file; write them to one" if argument == "data" else ""
    raise InvalidInput(argument, type(value).__name__, f"must be the path of a file{why}")


@dataclass(frozen=True)
class _Data:
    """The data of a release: who they are, and how they are read."""

    document: Document
    path: Path
    digest: str
    snapshot: Table | None

    @classmethod
    def of(cls, document: Document, path: Path, tell: Tell) -> _Data:
        """A snapshot is opened, and thereby verified; of a file there is a digest."""
        if not is_snapshot(path):
            return cls(document, path, _digest(path, tell), None)
        table = table_of(document, path)
        assert table.digest is not None
        return cls(document, path, table.digest, table)

    def table(self, tell: Tell) -> Table:
        """Ready to be asked; a file must be the same after it was read."""
        if self.snapshot is not None:
            return self.snapshot
        with listening(tell):
            table = _opened(self.document, self.path)
        if _digest(self.path, tell) != self.digest:
            raise UnreadableData(self.path.name, "changed while it was read; nothing was spent")
        return table


class ReleaseInterrupted(MechanismFailed):
    """A release was paid for and not finished; whoever asks for it again pays nothing more."""

    def __str__(self) -> str:
        return f"{super().__str__()}; run the same command again: the release is finished without being paid again"


class _Release:
    """One release on its way."""

    def __init__(self, document: Document, data: _Data, store: Store, payer: Payer, tell: Tell) -> None:
        self._document, self._data, self._store, self._payer, self._tell = document, data, store, payer, tell
        self._identity = Identity(plan_digest(document.source), data.digest)
        self._ran = False

    def made(self) -> tuple[View, bool]:
        """From its file, from the ledger, or now."""
        stored = self._store.found(self._identity)
        if stored is not None:
            return stored, False
        account = self._payer.find()
        answered = None if account is None else account.answered(self._key(account))
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
                    answered = self._paid(account, prepared)
                assert answered is not None
                return finish(_told_by(answered)), self._ran
        except Taken:
            stored = self._store.found(self._identity)
            if stored is None:
                reason = "was there a moment ago; nothing was spent, try again"
                raise NotReleased(self._store.path, reason) from None
            return stored, False

    def _form(self, account: Account) -> dict[str, str]:
        """What is released, for the ledger and whoever audits it."""
        return {"plan": self._identity.plan, "data": account.named(self._identity.data)}

    def _key(self, account: Account) -> str:
        form = self._form(account)
        return f"release {form['plan']} {form['data']}"

    def _paid(self, account: Account, prepared: Prepared) -> Stored:
        """The answers, from whoever was first to store them."""
        plan, key, later = prepared.plan, self._key(account), None
        if plan.reserve is not None:
            later = reserve_name(self._document, hashlib.sha256(key.encode()).hexdigest()), plan.reserve
        told = {
            "plan": self._document.source,
            "guarantee": guarantee_told(self._document, prepared.cost, plan.reserve),
            "facts": facts(plan),
            "growth": growth(plan),
        }

        def run() -> str:
            self._ran, started = True, now()
            released = prepared.run(self._tell)
            own = {
                "statistics": released.results(),
                "certificate": released.certificate(),
                "record": versions_told(),
            }
            entry = ledger_entry(account, account.place(key), None if later is None else later[0])
            return text_of({"started": started, **told, **own, "ledger": entry, "finished": now()})

        try:
            return account.release(
                key=key,
                what=f"a plan of {len(plan.lines)} statistics about {self._document.table.name}",
                form=self._form(account),
                offers=prepared.offers,
                run=run,
                declared=self._document.table,
                plan=self._identity.plan,
                reserve=later,
            )
        except MechanismFailed as failure:
            if not self._ran:
                raise
            what, kind = failure.what, failure.kind
        except OptcompError as refused:
            raise Unpaid(refused) from None
        raise ReleaseInterrupted(what, kind)  # out here, so that no __context__ leads to the error


def _told_by(stored: Stored) -> View:
    """A release as the ledger keeps it, with the receipt."""
    view: View = json.loads(stored.answer)
    return view | {"ledger": {"receipt": stored.receipt.document()} | view["ledger"]}


def _odometer_delta(cost: ApproxDP | ZCDP) -> Fraction:
    """For an account that a plan opens: as much for the δ of parts as the plan has, and as much again."""
    delta = Fraction(cost.delta) if isinstance(cost, ApproxDP) else Fraction(0)
    return min(2 * delta, Fraction(1, 2)) or _DELTA


def _opened(document: Document, data: Path) -> Table:
    try:
        return table_of(document, data)
    except InvalidInput as error:
        if error.argument != "columns":
            raise
        raise misfit(data, error) from None


def misfit(data: Path, error: InvalidInput) -> InvalidInput:
    """A column of the file is not as the plan says: an error about the file."""
    return InvalidInput("source", str(data), f"does not fit the plan: column {error.value!r} {error.problem}")


def _digest(data: Path, tell: Tell) -> str:
    try:
        return file_digest(data, tell)
    except IsADirectoryError:
        raise InvalidInput("source", str(data), "is a folder, but not a snapshot") from None
    except OSError as error:
        raise InvalidInput("source", str(data), f"cannot be read ({error.strerror or error})") from None
