"""A plan released: all its questions at once, as one mechanism whose certified total is what is spent.

Everything about the plan is fixed before the data are looked at, so the questions compose as mechanisms with fixed
parameters do.  The total is proved again for the table at hand; the budget is a filter that is debited before the first
question runs.  What is returned is made from noisy integers alone.  The file of a release makes sure that it happens
once (see `store.py`).
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import optcomp
from optcomp.errors import BudgetExceeded, InvalidInput, UnreadableData
from optcomp.guarantees import ZCDP, ApproxDP, PureDP
from optcomp.interactive import Answer, Session, answer
from optcomp.interactive.filters import Filter, SumFilter, ZCDPFilter
from optcomp.numerics import Exact, listening
from optcomp.planner import Document, PairBudget, Plan, RhoBudget, Spending, budget_dict, make_plan
from optcomp.release.plan_facts import facts, growth, protects
from optcomp.release.store import Identity, NotReleased, Store, Taken, file_digest, plan_digest
from optcomp.statistics import Count, Declared, Question, Table, difference, is_snapshot
from optcomp.theorems import Bound, bbg18

Tell = Callable[[str, float], None]


@dataclass(frozen=True)
class Released:
    """The answers to all questions of a plan, and what they cost together."""

    plan: Plan
    answers: tuple[Answer, ...]
    bound: Bound | None
    """The certified total, proved for the table; None if the budget is ρ."""
    session: Session

    def results(self) -> list[dict[str, Any]]:
        """Value, interval and noise of each statistic, ready for JSON."""
        pairs = zip(self.plan.lines, self.answers, strict=True)
        return [
            {
                "name": line.wish.name,
                "statistic": str(line.wish.statistic),
                "mechanism": found.question.mechanism,
                line.noise.currency.name: str(line.spending.budget),
                **_told(found, self.plan.document.confidence),
                "noise": noise_told(found.question, found.declared),
                "theorem": found.theorem,
            }
            for line, found in pairs
        ]

    def certificate(self) -> dict[str, Any]:
        """A claim that `optcomp verify` proves again, or the bound in words where certificates do not reach."""
        if self.bound is None:
            return {"quantity": "rho", "rho": self.plan.total, "theorem": "BS16", "method": "sum"}
        try:
            return self.bound.certificate()
        except InvalidInput:  # more than (ε, δ) pairs, such as the losses of Gaussian noise
            return self.bound.as_dict()


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

    def run(self, tell: Tell = lambda what, share: None) -> Released:
        """Pay for the whole plan, then ask; an error after the debit refunds nothing."""
        session = Session(self.table, _quota(self.plan), name="release")
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


def _told(found: Answer, confidence: float) -> dict[str, Any]:
    """One value, or one for each cell, with intervals where they follow from the noise."""
    try:
        interval = found.interval(confidence)
    except InvalidInput:
        interval = None
    if not isinstance(found.value, Mapping):
        return {"value": found.value, "interval": None if interval is None else list(interval)}
    cells = [
        {
            "cell": list(cell) if isinstance(cell, tuple) else cell,
            "value": value,
            "interval": None if interval is None else list(interval[cell]),
        }
        for cell, value in found.value.items()
    ]
    return {"cells": cells}


def noise_told(question: Question, table: Declared) -> list[dict[str, Any]]:
    """The scale of the noise of each part, in units of the column."""
    parts = question.statistic.parts(table)
    names = _parts_named(question, parts)
    return [
        {"part": name, "scale": scale * float(part.unit), "unit": str(part.unit)}
        for name, part, scale in zip(names, parts, question.scales(table), strict=True)
    ]


def _parts_named(question: Question, parts: Sequence[Any]) -> list[str]:
    if question.noise.chooses:
        return ["score"] * len(parts)
    return [str(part.cells[0]) if len(part.cells) == 1 else "each cell" for part in parts]


def release_plan(
    document: Document, data: str | Path, out: str | Path, tell: Tell = lambda what, share: None
) -> tuple[dict[str, Any], bool]:
    """The release of a plan about data, and whether it was made now; the same again is read from its file.

    `data` is a file, which is prepared first, or a snapshot.  Either is read before anything is spent or written, and
    then no more.
    """
    if not isinstance(document, Document):
        raise InvalidInput("document", type(document).__name__, "must be a plan as planner.read or read_file gives it")
    return _release(document, _path(data, "data"), _path(out, "out"), tell)


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


def _release(document: Document, data: Path, out: Path, tell: Tell) -> tuple[dict[str, Any], bool]:
    found, store = _Data.of(document, data, tell), Store(out)
    identity = Identity(plan_digest(document.source), found.digest)
    stored = store.found(identity)
    if stored is not None:
        return stored, False
    plan = make_plan(document)
    prepared = prepare(plan, found.table(tell))
    guarantee = guarantee_told(document, prepared.cost, plan.reserve)
    view = {"plan": document.source, "guarantee": guarantee, "facts": facts(plan), "growth": growth(plan)}
    try:
        with store.releasing(identity) as finish:
            released = prepared.run(tell)
            view |= {"statistics": released.results(), "certificate": released.certificate(), "record": _record()}
            return finish(view), True
    except Taken:
        stored = store.found(identity)  # which refuses unless the other process is done
        if stored is None:
            raise NotReleased(out, "was there a moment ago; nothing was spent, try again") from None
        return stored, False


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


def guarantee_told(document: Document, cost: ApproxDP | ZCDP, reserve: PureDP | None) -> dict[str, Any]:
    """What is promised, to whom, and what was spent for it."""
    found: dict[str, Any] = {
        "budget": budget_dict(document.budget),
        "total": budget_dict(cost),
        "reserve": None if reserve is None else float(reserve.epsilon),
        "neighbours": document.table.neighbours,
        "rows_per_person": document.table.contribution.rows,
        "protects": protects(document),
        "sample": None,
    }
    if document.population is not None and isinstance(cost, ApproxDP):
        outside = bbg18.outside(cost, document.rows or 0, document.population)
        found["sample"] = {"rows": document.rows, "population": document.population, "total": budget_dict(outside)}
    return found


def _record() -> dict[str, Any]:
    """What computed a release."""
    others = {name: version(name) for name in ("opendp", "duckdb", "ibis-framework", "numpy", "python-flint")}
    return {"versions": {"optcomp": optcomp.__version__, "python": platform.python_version(), **others}}
