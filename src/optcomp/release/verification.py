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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, cast

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
from optcomp.release.checked_statistics import spendings_of
from optcomp.release.comparison import NEAR, Comparison, Mismatch, number, shown
from optcomp.release.ledger_entry import offers_of, problems_of
from optcomp.release.plan_facts import facts
from optcomp.release.store import FORMAT, plan_digest
from optcomp.release.told import guarantee_told
from optcomp.theorems import MOST_INLINE, Bound, described

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
    *("gaussians", "laws", "neighbours", "hints", "enclosure", "parameters"),
}
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


def verify_release(view: Mapping[str, Any], tell: Tell | None = None) -> Verification:
    """Compare all parts of a release with each other, and prove its total; the data are not needed."""
    about = Comparison(view)
    refused = _status(about)
    if refused is not None:
        return refused
    try:
        document = _plan(about)
        return _proved(about, document, spendings_of(about, document), tell)
    except Mismatch:
        return Verification("mismatch", tuple(about.problems))


def _status(about: Comparison) -> Verification | None:
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
        return Verification("malformed", (f"status must be 'done', got {shown(status)}",))
    for name, kind in {**_PARTS, "facts": dict}.items():
        if not isinstance(view.get(name), kind):
            return Verification("malformed", (f"{name} must be {'a list' if kind is list else 'an object'}",))
    return None


def _plan(about: Comparison) -> Document:
    """The plan, which must be the one that was begun with."""
    plan = about.view["plan"]
    if plan_digest(plan) != about.view["record"].get("plan_sha256"):
        about.wrong("plan: is not the plan of this release: record.plan_sha256 is the digest of another")
        about.stop()
    try:
        return read(plan)
    except OptcompError as error:
        about.wrong(f"plan: {error}")
        raise Mismatch from None


def _proved(about: Comparison, document: Document, spendings: list[Spending], tell: Tell | None) -> Verification:
    """The total of these budgets, which must be what the release says in all places."""
    try:
        inside = inside_of(document)
    except OptcompError as error:
        about.wrong(f"plan: {error}")
        raise Mismatch from None
    choosing = Choosing(document, inside)
    if isinstance(inside, ZCDP):
        return _by_sum(about, choosing, spendings, inside)
    certificate = about.view["certificate"]
    upper = number(certificate.get("upper"))
    if upper is None or upper < 0:
        about.wrong(f"certificate.upper must be a finite number, got {shown(certificate.get('upper'))}")
        raise Mismatch
    if not Fraction(upper) <= inside.epsilon:
        about.wrong(f"the total of ε = {upper!r} is more than the budget, ε = {float(inside.epsilon)!r}")
        raise Mismatch
    cost = ApproxDP(Fraction(upper), inside.delta)
    wanted = guarantee_told(document, cost, choosing.reserve)
    about.same("guarantee", about.view["guarantee"], wanted, "by the plan and the certificate")
    about.same("certificate.quantity", certificate.get("quantity"), "epsilon", "in a release")
    _check_ledger(about, choosing, spendings, cost)
    _check_facts(about, choosing, spendings, _recorded(about, inside, upper))
    about.stop()
    budget = PairBudget(inside.epsilon, inside.delta)
    counted = read_any(budget.counted(spendings, choosing.extra))
    if isinstance(counted, Parts):
        return _by_checker(about, counted, [], [], inside.delta, tell)
    if not counted.bounded:
        noise, laws = described(counted)
        known = "format" in certificate or not laws  # a release may be older than certificates about laws
        if known and max(len(noise), len(laws)) <= MOST_INLINE:
            return _by_checker(about, counted.pairs, noise, laws, inside.delta, tell)
    return _by_engine(about, budget, spendings, choosing.extra)


def _by_checker(
    about: Comparison,
    pairs: Parts,
    noise: Sequence[object],
    laws: Sequence[Mapping[str, object]],
    delta: Exact,
    tell: Tell | None,
) -> Verification:
    certificate = about.view["certificate"]
    if "format" not in certificate:
        about.wrong("certificate: is missing, although there can be one of this noise")
        raise Mismatch
    about.same("certificate.given", certificate.get("given"), str(Fraction(delta)), "by the plan")
    for name in sorted(set(certificate) - _CERTIFICATE):
        about.wrong(f"certificate.{name} does not belong here")
    about.stop()
    groups: list[tuple[Exact, Exact, int]] = [(eps, leak, copies) for eps, leak, copies in pairs.groups]
    verdict = check(certificate, groups, noise, laws or None, tell=tell)
    if verdict.status in ("mismatch", "malformed"):
        why = "is not about the mechanisms of this plan with this noise: " if verdict.status == "mismatch" else ""
        about.wrong(f"certificate: {why}{verdict.reason}")
        raise Mismatch
    problems = () if verdict.proved else (f"certificate: {verdict.reason}",)
    total = number(certificate["upper"])
    return Verification(verdict.status, problems, "checker", verdict, None, total, verdict.count)


def _by_engine(
    about: Comparison, budget: PairBudget, spendings: Sequence[Spending], extra: Sequence[PureDP]
) -> Verification:
    """The engine again: not independent of what made the release."""
    told = about.view["certificate"]
    lower, upper = number(told.get("lower")) or 0.0, number(told.get("upper")) or 0.0
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


def _by_sum(about: Comparison, choosing: Choosing, spendings: list[Spending], inside: ZCDP) -> Verification:
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


def _check_ledger(about: Comparison, choosing: Choosing, spendings: Sequence[Spending], cost: ApproxDP | ZCDP) -> None:
    """What is said about the ledger; a release that was made without one says nothing."""
    if "ledger" in about.view:
        offers = offers_of(choosing.document, spendings, cost, choosing.reserve)
        keeps, same = choosing.reserve is not None, about.same_version
        entry, plan = about.view["ledger"], choosing.document
        about.problems.extend(problems_of(entry, plan, offers, keeps=keeps, same_version=same))


def _recorded(about: Comparison, inside: ApproxDP, upper: float) -> Bound:
    """The total as the release tells it."""
    certificate = about.view["certificate"]
    lower = number(certificate.get("lower"))
    if lower is None or not 0 <= lower <= upper:
        about.wrong(f"certificate.lower must lie between 0 and upper, got {shown(certificate.get('lower'))}")
        raise Mismatch
    words = [certificate.get(name) for name in ("theorem", "method")]
    if not all(isinstance(word, str) for word in words):
        about.wrong("certificate: has no theorem, or no method")
        raise Mismatch
    theorem, method = map(str, words)
    return Bound(
        quantity="epsilon", lower=lower, upper=upper, given=inside.delta, theorem=theorem, method=method, count=0
    )


def _check_facts(about: Comparison, choosing: Choosing, spendings: Sequence[Spending], bound: Bound | None) -> None:
    """What reports show; sentences and comparisons are those of the version that wrote them."""
    told, document = about.view["facts"], choosing.document
    total = _plan_total(about, choosing, spendings, bound)
    lines = tuple(_line(document, *pair) for pair in zip(document.wishes, spendings, strict=True))
    plan = Plan(document, lines, choosing.inside, total, choosing.reserve, choosing, bound)
    try:
        wanted = facts(plan)
    except InvalidInput as error:
        about.wrong(f"facts: cannot be derived again ({error})")
        raise Mismatch from None
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


def _plan_total(about: Comparison, choosing: Choosing, spendings: Sequence[Spending], bound: Bound | None) -> float:
    """The total that the plan was made with: for ε a little above the certified one, found in a quicker way."""
    if bound is None:
        assert isinstance(choosing.inside, ZCDP)
        return RhoBudget(choosing.inside.rho).total(spendings)
    total = number(about.view["facts"].get("total"))
    most = bound.upper * (1 + NEAR) + 2 * (bound.upper - bound.lower)
    if total is None or not bound.upper <= total <= most:
        about.wrong(f"facts.total is {shown(total)}, but by the certificate it is about {bound.upper!r}")
        return bound.upper
    return total


def _line(document: Document, wish: Wish, spending: Spending) -> Line:
    held = wish.hold or any(each is not None for each in (wish.epsilon, wish.rho, wish.error))
    error = spending.error
    return Line(wish, spending, error, error / item_of(document, wish, spending.model.noise).size, held)
