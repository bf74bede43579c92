"""Is a release what it says?  All that follows from its plan and its budgets, derived again and compared.

    plan            its digest; the statistics are those of the plan, as they were asked for
    noise           the scales are those that each budget gives, for the table that the plan declares
    certificate     is about exactly the mechanisms that these budgets make, and the δ that may be spent on the data
    guarantee       the total is that of the certificate and within the budget; the rest is what the plan says
    facts           repeat all that
    ledger          what was debited is proved of this plan; sums and totals go on by that

Then the total is proved: by the independent checker; for a budget of ρ by exact arithmetic; and where certificates do
not reach by the engine itself.  What noise was drawn nobody can tell, so values and their intervals are not looked at,
and neither are times, the key, and what the first k statistics would cost.

Sentences, and comparisons with other splits, may be other ones in other versions: where another version made a release,
they are left alone.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, cast

import optcomp
from optcomp.checker import Verdict, check
from optcomp.composition import compose, read_any
from optcomp.errors import InvalidInput, OptcompError, PrecisionNotReached
from optcomp.guarantees import ZCDP, ApproxDP, PureDP
from optcomp.instances import Parts
from optcomp.numerics import Exact
from optcomp.planner import (
    RTOL,
    Choosing,
    Document,
    Line,
    PairBudget,
    Plan,
    RhoBudget,
    Spending,
    Wish,
    inside_of,
    item_of,
    read,
)
from optcomp.release.ledger_entry import offers_of, problems_of
from optcomp.release.plan_facts import facts
from optcomp.release.store import FORMAT, plan_digest
from optcomp.release.told import guarantee_told, noise_told
from optcomp.statistics import Question
from optcomp.theorems import MOST_INLINE, Bound

VERSION = 1
"""Of the format of releases."""
Tell = Callable[[str, float], None]
Status = Literal["proved", "false", "undecided", "mismatch", "malformed", "unfinished"]
By = Literal["checker", "engine", "sum"]
_PARTS: dict[str, type] = {"record": dict, "plan": dict, "statistics": list, "guarantee": dict, "certificate": dict}
_LASTING = ("budget", "inside", "reserve", "confidence", "objective", "name", "count")
_TOTALS = ("total", "epsilon", "rho", "delta", "lower", "upper", "theorem", "method")
_OF_STATISTICS = ("name", "statistic", "mechanism", "epsilon", "rho", "scales")
_CERTIFICATE = {
    *("format", "version", "quantity", "given", "lower", "upper", "theorem", "method", "count", "mechanisms"),
    *("gaussians", "enclosure", "parameters"),
}
_NEARLY = {"error", "relative", "naive_error", "rho_error", "share", "gain", "gain_over_rho", "posterior"}
"""Floats that other machines may round in another way."""
_NEAR = 1e-6
"""By how much they may differ, relatively."""
_BUDGET = re.compile(r"[0-9]{1,400}(/[0-9]{1,400})?")
_SHOWN = 60
"""Characters of a wrong value that a line has room for."""
_MISSING = object()
_AGAIN, _SPENT = "run its command again: it is finished without being paid again", "its budget must be taken as spent"


@dataclass(frozen=True)
class Verification:
    """What came of it: `proved`; or else `problems`, a sentence each."""

    status: Status
    problems: tuple[str, ...] = ()
    by: By | None = None
    """Who proved the total: the independent checker, the engine, or exact arithmetic."""
    verdict: Verdict | None = None
    """What the checker says."""
    bound: Bound | None = None
    """What the engine proved, where certificates do not reach."""
    total: float | None = None
    """The total: ε, or ρ."""
    count: int = 0
    """How many mechanisms the total is about."""

    @property
    def proved(self) -> bool:
        """Whether everything fits together and the total is proved."""
        return self.status == "proved"


class _Stop(Exception):
    """What is wrong leaves nothing to compare."""


@dataclass
class _Release:
    """A release, and what was found wrong with it."""

    view: Mapping[str, Any]
    problems: list[str] = field(default_factory=list)

    @property
    def same_version(self) -> bool:
        """Whether this version made it."""
        versions = self.view["record"].get("versions")
        return isinstance(versions, Mapping) and versions.get("optcomp") == optcomp.__version__

    def wrong(self, sentence: str) -> None:
        """One more sentence."""
        self.problems.append(sentence)

    def same(self, place: str, found: object, wanted: object, by: str) -> None:
        """Every difference between what is recorded and what should be."""
        self._same(place, found, json.loads(json.dumps(wanted)), by)

    def _same(self, place: str, found: object, wanted: object, by: str) -> None:
        if isinstance(found, dict) and isinstance(wanted, dict):
            for key in {**wanted, **found}:
                self._same(f"{place}.{key}", found.get(key, _MISSING), wanted.get(key, _MISSING), by)
        elif isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
            for index, pair in enumerate(zip(found, wanted, strict=True)):
                self._same(f"{place}[{index}]", *pair, by)
        elif found is _MISSING:
            self.wrong(f"{place} is missing")
        elif wanted is _MISSING:
            self.wrong(f"{place} does not belong here")
        elif not _equal(found, wanted, nearly=place.rpartition(".")[2] in _NEARLY):
            self.wrong(f"{place} is {_shown(found)}, but {by} it is {_shown(wanted)}")

    def stop(self) -> None:
        """Go no further if anything is wrong."""
        if self.problems:
            raise _Stop


def _equal(found: object, wanted: object, *, nearly: bool) -> bool:
    """Numbers by value; true is no number."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if nearly and isinstance(found, int | float) and isinstance(wanted, int | float):
        low, high = sorted((wanted * (1 - _NEAR), wanted * (1 + _NEAR)))
        return low <= found <= high
    return found == wanted


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _number(value: object) -> float | None:
    """A finite float, or nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def verify_release(view: Mapping[str, Any], tell: Tell | None = None) -> Verification:
    """Compare all parts of a release with each other, and prove its total; the data are not needed."""
    about = _Release(view)
    refused = _status(about)
    if refused is not None:
        return refused
    try:
        document = _plan(about)
        return _proved(about, document, _statistics(about, document), tell)
    except _Stop:
        return Verification("mismatch", tuple(about.problems))


def _status(about: _Release) -> Verification | None:
    """Why there is nothing to compare."""
    view = about.view
    if view.get("format") != FORMAT or type(view.get("version")) is not int or view["version"] != VERSION:
        return Verification("malformed", (f"must be a release: format {FORMAT!r}, version {VERSION}",))
    status = view.get("status")
    if status in ("started", "failed"):
        when = f"started {view['started']}" if isinstance(view.get("started"), str) else "started"
        word = "is not finished" if status == "started" else "failed"
        known = isinstance(view.get("ledger"), dict)
        return Verification("unfinished", (f"this release {word} ({when}); {_AGAIN if known else _SPENT}",))
    if status != "done":
        return Verification("malformed", (f"status must be 'done', got {_shown(status)}",))
    for name, kind in {**_PARTS, "facts": dict}.items():
        if not isinstance(view.get(name), kind):
            return Verification("malformed", (f"{name} must be {'a list' if kind is list else 'an object'}",))
    return None


def _plan(about: _Release) -> Document:
    """The plan, which must be the one that was begun with."""
    plan = about.view["plan"]
    if plan_digest(plan) != about.view["record"].get("plan_sha256"):
        about.wrong("plan: is not the plan of this release: record.plan_sha256 is the digest of another")
        about.stop()
    try:
        return read(plan)
    except OptcompError as error:
        about.wrong(f"plan: {error}")
        raise _Stop from None


def _statistics(about: _Release, document: Document) -> list[Spending]:
    """What each statistic spends, if all are those of the plan."""
    entries, wishes = about.view["statistics"], document.wishes
    names = [entry.get("name") if isinstance(entry, dict) else None for entry in entries]
    if names != [wish.name for wish in wishes]:
        about.wrong("statistics: must be those of the plan, in its order")
        about.stop()
    spendings = [_spending(about, document, wish, entry) for wish, entry in zip(wishes, entries, strict=True)]
    about.stop()
    return [each for each in spendings if each is not None]


def _spending(about: _Release, document: Document, wish: Wish, entry: Mapping[str, Any]) -> Spending | None:
    """What a statistic spends; its noise must be what that gives."""
    place, mechanism, before = f"statistics.{wish.name}", entry.get("mechanism"), len(about.problems)
    known = {noise.name: noise for noise in (wish.statistic.noises() if wish.noise is None else (wish.noise,))}
    if not isinstance(mechanism, str) or mechanism not in known:
        about.wrong(f"{place}.mechanism is {_shown(mechanism)}, but by the plan it is {' or '.join(known)}")
        return None
    noise = known[mechanism]
    kind = noise.currency.name
    text = entry.get(kind)
    budget = _budget(text)
    if budget is None:
        about.wrong(f"{place}.{kind} must be a positive fraction, got {_shown(text)}")
        return None
    try:
        spending = Spending(item_of(document, wish, noise).model, budget)
        question = spending.model.question(budget)
        wanted = {
            "name": wish.name,
            "statistic": str(wish.statistic),
            "mechanism": mechanism,
            kind: text,
            "noise": noise_told(question, document.table),
            "theorem": noise.theorem,
        }
        cells = _cells(question, document)
        _check_hold(about, place, wish, spending)
    except OptcompError as error:
        about.wrong(f"{place}: {error}")
        return None
    values = ("value", "interval") if cells is None else ("cells",)
    told = {key: value for key, value in entry.items() if key not in values}
    about.same(place, told, wanted, "by the plan and its budget")
    _check_values(about, place, entry, cells, chosen=noise.chooses)
    return spending if len(about.problems) == before else None


def _budget(text: object) -> Fraction | None:
    """A fraction as it is written in a release, in its lowest terms."""
    if not isinstance(text, str) or not _BUDGET.fullmatch(text):
        return None
    top, _, bottom = text.partition("/")
    if bottom and not int(bottom):
        return None
    found = Fraction(int(top), int(bottom or 1))
    return found if found > 0 and str(found) == text else None


def _check_hold(about: _Release, place: str, wish: Wish, spending: Spending) -> None:
    for name, held in (("epsilon", wish.epsilon), ("rho", wish.rho)):
        if held is not None and (held != spending.budget or spending.model.noise.currency.name != name):
            about.wrong(f"{place}.{name} is {spending.budget}, but the plan holds it at {held}")
    if wish.error is not None and about.same_version and not spending.error <= wish.error * (1 + _NEAR):
        about.wrong(f"{place}: its error is {spending.error:g}, but the plan holds it at {wish.error:g}")


def _cells(question: Question, document: Document) -> list[Any] | None:
    """What there is a value for; None if there is one value."""
    single, parts = question.noise.chooses, question.statistic.parts(document.table)
    zeros = [[Fraction(0)] * (1 if single else len(part.cells)) for part in parts]
    value = question.statistic.value(document.table, zeros)
    if not isinstance(value, Mapping):
        return None
    return [list(cell) if isinstance(cell, tuple) else cell for cell in value]


def _check_values(
    about: _Release, place: str, entry: Mapping[str, Any], cells: list[Any] | None, *, chosen: bool
) -> None:
    """Values are there, for the right cells; which ones they are nobody can tell."""
    if cells is None:
        told = [entry]
    else:
        told = entry["cells"] if isinstance(entry.get("cells"), list) else []
        named = [each.get("cell", _MISSING) if isinstance(each, dict) else _MISSING for each in told]
        wanted = json.loads(json.dumps(cells))
        if len(named) != len(wanted) or not all(
            found is not _MISSING and _equal(found, cell, nearly=False)
            for found, cell in zip(named, wanted, strict=True)
        ):
            about.wrong(f"{place}.cells: are not those of the plan")
            return
    for each in told:
        if (cells is not None and len(each) > 3) or _number(each.get("value")) is None:
            about.wrong(f"{place}: every value must be a number, with an interval or without")
            return
        if not _is_interval(each.get("interval", _MISSING), none=chosen):
            about.wrong(f"{place}: {'choices have no interval' if chosen else 'every interval must be two numbers'}")
            return


def _is_interval(value: object, *, none: bool) -> bool:
    """Two numbers in order where the noise gives an interval, and nothing else."""
    if none:
        return value is None
    ends = [_number(end) for end in value] if isinstance(value, list) else []
    return len(ends) == 2 and ends[0] is not None and ends[1] is not None and ends[0] <= ends[1]


def _proved(about: _Release, document: Document, spendings: list[Spending], tell: Tell | None) -> Verification:
    """The total of these budgets, which must be what the release says in all places."""
    try:
        inside = inside_of(document)
    except OptcompError as error:
        about.wrong(f"plan: {error}")
        raise _Stop from None
    choosing = Choosing(document, inside)
    if isinstance(inside, ZCDP):
        return _by_sum(about, choosing, spendings, inside)
    certificate = about.view["certificate"]
    upper = _number(certificate.get("upper"))
    if upper is None or upper < 0:
        about.wrong(f"certificate.upper must be a finite number, got {_shown(certificate.get('upper'))}")
        raise _Stop
    if not Fraction(upper) <= inside.epsilon:
        about.wrong(f"the total of ε = {upper!r} is more than the budget, ε = {float(inside.epsilon)!r}")
        raise _Stop
    cost = ApproxDP(Fraction(upper), inside.delta)
    wanted = guarantee_told(document, cost, choosing.reserve)
    about.same("guarantee", about.view["guarantee"], wanted, "by the plan and the certificate")
    about.same("certificate.quantity", certificate.get("quantity"), "epsilon", "in a release")
    _check_ledger(about, choosing, spendings, cost)
    _check_facts(about, choosing, spendings, _recorded(about, inside, upper))
    about.stop()
    budget = PairBudget(inside.epsilon, inside.delta)
    counted = read_any(budget.counted(spendings, choosing.extra))
    pairs, noise = (counted, ()) if isinstance(counted, Parts) else (counted.pairs, counted.gaussian)
    if isinstance(counted, Parts) or (
        not counted.bounded and len(noise) == len(counted.losses) and len(dict(noise)) <= MOST_INLINE
    ):
        return _by_checker(about, pairs, noise, inside.delta, tell)
    return _by_engine(about, budget, spendings, choosing.extra)


def _by_checker(
    about: _Release, pairs: Parts, noise: Sequence[tuple[Exact, int]], delta: Exact, tell: Tell | None
) -> Verification:
    certificate = about.view["certificate"]
    if "format" not in certificate:
        about.wrong("certificate: is missing, although there can be one of this noise")
        raise _Stop
    about.same("certificate.given", certificate.get("given"), str(Fraction(delta)), "by the plan")
    for name in sorted(set(certificate) - _CERTIFICATE):
        about.wrong(f"certificate.{name} does not belong here")
    about.stop()
    groups: list[tuple[Exact, Exact, int]] = [(eps, leak, copies) for eps, leak, copies in pairs.groups]
    verdict = check(certificate, groups, list(noise), tell=tell)
    if verdict.status in ("mismatch", "malformed"):
        why = "is not about the mechanisms of this plan with this noise: " if verdict.status == "mismatch" else ""
        about.wrong(f"certificate: {why}{verdict.reason}")
        raise _Stop
    problems = () if verdict.proved else (f"certificate: {verdict.reason}",)
    total = _number(certificate["upper"])
    return Verification(verdict.status, problems, "checker", verdict, None, total, verdict.count)


def _by_engine(
    about: _Release, budget: PairBudget, spendings: Sequence[Spending], extra: Sequence[PureDP]
) -> Verification:
    """The engine again: not independent of what made the release."""
    told = about.view["certificate"]
    lower, upper = _number(told.get("lower")) or 0.0, _number(told.get("upper")) or 0.0
    bound = budget.bound(spendings, extra)
    if not lower <= bound.lower <= bound.upper <= upper:  # another version, or machine: to more digits
        bound = _finer(budget, spendings, extra)
    wanted = bound.as_dict() | {"epsilon": upper, "lower": told.get("lower"), "upper": told.get("upper")}
    if not about.same_version:
        wanted |= {name: told.get(name) for name in ("theorem", "method", "notes")}
    about.same("certificate", told, wanted, "by the plan and its noise")
    about.stop()
    found = f"the engine proves {bound.lower!r} ≤ ε ≤ {bound.upper!r}, the release says {lower!r} ≤ ε ≤ {upper!r}"
    if lower <= bound.lower and bound.upper <= upper:
        return Verification("proved", (), "engine", None, bound, upper, bound.count)
    false = bound.upper < lower or upper < bound.lower
    return Verification("false" if false else "undecided", (found,), "engine", None, bound, upper, bound.count)


def _finer(budget: PairBudget, spendings: Sequence[Spending], extra: Sequence[PureDP]) -> Bound:
    try:
        return compose(budget.counted(spendings, extra), delta=budget.delta, rtol=RTOL / 100)
    except PrecisionNotReached as wide:
        return cast(Bound, wide.bound)


def _by_sum(about: _Release, choosing: Choosing, spendings: list[Spending], inside: ZCDP) -> Verification:
    """Σρ, exactly; what is reserved may not be spent."""
    total, document = RhoBudget(inside.rho).total(spendings), choosing.document
    wanted = {"quantity": "rho", "rho": total, "theorem": "BS16", "method": "sum"}
    about.same("certificate", about.view["certificate"], wanted, "by the plan and its budgets")
    told = guarantee_told(document, ZCDP(total), choosing.reserve)
    about.same("guarantee", about.view["guarantee"], told, "by the plan and its budgets")
    limit = Fraction(inside.rho) * (1 - document.reserve)
    if not Fraction(total) <= limit:
        about.wrong(f"the sum of ρ is {total!r}, more than the budget, ρ = {float(limit)!r}")
    _check_ledger(about, choosing, spendings, ZCDP(total))
    _check_facts(about, choosing, spendings, None)
    about.stop()
    return Verification("proved", (), "sum", None, None, total, len(spendings))


def _check_ledger(about: _Release, choosing: Choosing, spendings: Sequence[Spending], cost: ApproxDP | ZCDP) -> None:
    """What is said about the ledger; a release that was made without one says nothing."""
    if "ledger" in about.view:
        offers = offers_of(choosing.document, spendings, cost, choosing.reserve)
        keeps, same = choosing.reserve is not None, about.same_version
        entry, plan = about.view["ledger"], choosing.document
        about.problems.extend(problems_of(entry, plan, offers, keeps=keeps, same_version=same))


def _recorded(about: _Release, inside: ApproxDP, upper: float) -> Bound:
    """The total as the release tells it."""
    certificate = about.view["certificate"]
    lower = _number(certificate.get("lower"))
    if lower is None or not 0 <= lower <= upper:
        about.wrong(f"certificate.lower must lie between 0 and upper, got {_shown(certificate.get('lower'))}")
        raise _Stop
    words = [certificate.get(name) for name in ("theorem", "method")]
    if not all(isinstance(word, str) for word in words):
        about.wrong("certificate: has no theorem, or no method")
        raise _Stop
    theorem, method = map(str, words)
    return Bound(
        quantity="epsilon", lower=lower, upper=upper, given=inside.delta, theorem=theorem, method=method, count=0
    )


def _check_facts(about: _Release, choosing: Choosing, spendings: Sequence[Spending], bound: Bound | None) -> None:
    """What reports show; sentences and comparisons are those of the version that wrote them."""
    told, document = about.view["facts"], choosing.document
    total = _plan_total(about, choosing, spendings, bound)
    lines = tuple(_line(document, *pair) for pair in zip(document.wishes, spendings, strict=True))
    plan = Plan(document, lines, choosing.inside, total, choosing.reserve, choosing, bound)
    try:
        wanted = facts(plan)
    except InvalidInput as error:
        about.wrong(f"facts: cannot be derived again ({error})")
        raise _Stop from None
    by = "by the plan and the total"
    if about.same_version:
        about.same("facts", told, wanted, by)
        return
    for name in (*_LASTING, *_TOTALS):
        about.same(f"facts.{name}", told.get(name), wanted[name], by)
    entries = told.get("statistics")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        about.wrong("facts.statistics must be a list of objects")
        return
    about.same("facts.statistics", _lasting(entries), _lasting(wanted["statistics"]), by)


def _lasting(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What every version says of a statistic."""
    return [{key: entry[key] for key in _OF_STATISTICS if key in entry} for entry in entries]


def _plan_total(about: _Release, choosing: Choosing, spendings: Sequence[Spending], bound: Bound | None) -> float:
    """The total that the plan was made with: for ε a little above the certified one, found in a quicker way."""
    if bound is None:
        assert isinstance(choosing.inside, ZCDP)
        return RhoBudget(choosing.inside.rho).total(spendings)
    total = _number(about.view["facts"].get("total"))
    most = bound.upper * (1 + _NEAR) + 2 * (bound.upper - bound.lower)
    if total is None or not bound.upper <= total <= most:
        about.wrong(f"facts.total is {_shown(total)}, but by the certificate it is about {bound.upper!r}")
        return bound.upper
    return total


def _line(document: Document, wish: Wish, spending: Spending) -> Line:
    held = wish.hold or any(each is not None for each in (wish.epsilon, wish.rho, wish.error))
    error = spending.error
    return Line(wish, spending, error, error / item_of(document, wish, spending.model.noise).size, held)
