"""What people are told about a plan: all numbers and sentences, ready for JSON, for tables and for pages.

Numbers of the total are rounded up; everything else to the nearest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from optcomp.guarantees import ZCDP, ApproxDP, Gaussian, PureDP
from optcomp.numerics.contour import BLUR
from optcomp.planner import HARM, Budget, Document, Line, Load, PairBudget, Plan, RhoBudget, Spending, Wish
from optcomp.release.pictures import label
from optcomp.statistics import Categories, Dates, Domain, Integers, Numbers, Reals, Text, could_be_one
from optcomp.theorems import Bound, cks20, fz21

_POINTS = 24
"""Of the curve of growth: enough to see its shape, and each is a composition."""
_MUCH = 10
"""Beyond this ε a guarantee says next to nothing."""
_TIMES_SMALLER = 10
"""How many times smaller than one over the number of people δ should be at the least."""
_HALF = 0.5
"""A relative error from which a number is of little use."""
_NEARLY = 0.999
"""A total below this share of the budget leaves something worth a sentence."""
_MOST_NAMES = 5
"""Names that a sentence lists before it counts."""
_LEAST_PLAIN, _MOST_PLAIN = -4, 15
"""Powers of ten between which numbers are written without an exponent."""
Pair = tuple[str, str]


def facts(plan: Plan) -> dict[str, Any]:
    """The plan as a document: what `Plan.as_dict` says, in words too, and with the shares of its statistics."""
    bound, shown = plan.bound, plan.as_dict()
    for entry, line, share in zip(shown["statistics"], plan.lines, shares(plan), strict=True):
        entry["share"] = share
        entry |= stated(plan.document, line)
    return shown | {
        "name": plan.document.table.name,
        "epsilon": None if bound is None else bound.upper,
        "rho": plan.total if bound is None else None,
        "delta": None if bound is None else bound.delta,
        "lower": None if bound is None else bound.lower,
        "upper": plan.total if bound is None else bound.upper,
        "method": "sum" if bound is None else bound.method,
        "notes": [about for about in [lower_side(plan)] if about is not None],
        "count": len(plan.lines),
        "columns": {name: declared(domain) for name, domain in plan.document.table.columns.items()},
        "verdict": plan.verdict(),
        "words": dict(words(plan)),
    }


def words(plan: Plan) -> list[Pair]:
    """What there is to know about a plan, a sentence for each heading."""
    document = plan.document
    found = [("budget", _budget(document.budget)), ("protects", protects(document)), ("total", _total(plan))]
    about_lower = lower_side(plan)
    if about_lower is not None:
        found.append(("lower side", about_lower))
    found.append(("risk", _risk(plan)))
    if document.reserve:
        found.append(("reserve", _reserve(plan)))
    if document.population is not None:
        found.append(("sample", _sample(plan)))
    if plan.fits and all(line.held for line in plan.lines) and _spare(plan):
        found.append(("left", "all statistics are held, so a part of the budget is not used"))
    found.append(("confidence", _confidence(document.confidence)))
    if any(assumed(document, wish) for wish in document.wishes):
        found.append(("starred", _STARRED))
    careful = cautions(plan)
    if careful:
        found.append(("careful", "; ".join(careful)))
    found.append(("gain", plan.verdict()))
    found.append(("suggestions", SUGGESTIONS))
    return found


SUGGESTIONS = (
    "budgets by the harm that disclosure could do: "
    + ", ".join(f"{harm} (ε = {eps}, δ = {delta})" for harm, (eps, delta) in HARM.items())
    + "; rules of thumb, not proofs"
)


_STARRED = "an error with a star rests on something that the plan does not say: see the note about the statistic"


def _budget(budget: ApproxDP | ZCDP) -> str:
    if isinstance(budget, ZCDP):
        return f"ρ = {near(float(budget.rho))}"
    return f"ε = {near(float(budget.epsilon))}, δ = {near(float(budget.delta))}"


def protects(document: Document) -> str:
    """Whom the guarantee is about, and what of them stays hidden."""
    rows = document.table.contribution.rows
    whose = "one person, who has one row" if rows == 1 else f"one person, with up to {rows} rows"
    if document.table.neighbours == "replace":
        return f"{whose}: what the rows say"
    return f"{whose}: whether the person is in the table at all"


def declared(domain: Domain) -> str:
    """What a column may hold, for people."""
    if isinstance(domain, Categories):
        return f"{', '.join(map(label, domain.values))}; anything else counts as {domain.other}"
    if isinstance(domain, Text):
        return f"text of at most {domain.most} characters, whose values nobody declared"
    if isinstance(domain, Dates):
        low, high = domain.ends_shown
        where = "" if domain.zone == "UTC" else f", in the time zone {domain.zone}"
        return f"dates from {low} to {high} by the {domain.every}{where}"
    assert isinstance(domain, Numbers)
    kind = "whole numbers" if isinstance(domain, Integers) else "numbers"
    unit = domain.given_unit if isinstance(domain, Reals) else None
    step = "" if unit is None else f" in steps of {near(float(unit))}"
    return f"{kind} from {near(float(domain.low), 12)} to {near(float(domain.high), 12)}{step}"


def _total(plan: Plan) -> str:
    bound = plan.bound
    if bound is None:
        return f"ρ = {up(plan.total)}, the sum of its parts (BS16)"
    return f"{_bracket(plan, bound)}{_excess(plan, bound)}"


def _bracket(plan: Plan, bound: Bound) -> str:
    """Ten digits, or as many as it takes to see the width."""
    ends = f"{down(bound.lower, 10)} ≤ optimal ≤ {up(bound.upper, 10)}"
    where = "" if plan.document.population is None else " on the sample"
    proof = f"proved: {ends} ({bound.theorem}, {bound.method})"
    return f"ε = {up(bound.upper, 10)} at δ = {near(bound.delta)}{where}, {proof}"


_STAND_INS: dict[type, Pair] = {
    PureDP: ("Laplace noise and exponential choices", "by the worst mechanism of the same ε"),
    Gaussian: ("Gaussian noise", "by continuous noise of slightly smaller σ"),
    ZCDP: ("Gaussian noise of small σ", "by Gaussian noise of the same ρ"),
}
"""What is drawn, and by what it is replaced in the proof of the lower side."""
_NOT_DRAWN = "The lower side is not about the noise that is drawn. It is proved with"
_DRAWN = "The upper side holds for the noise that is drawn."


def lower_side(plan: Plan) -> str | None:
    """What the lower side of the total is about, where that is not the noise that is drawn."""
    if not isinstance(plan.inside, ApproxDP):
        return "No lower side is proved for a sum of ρ."
    spendings = [line.spending for line in plan.lines]
    kinds = {type(value) for value in PairBudget(0, plan.inside.delta).counted(spendings)}
    found = [pair for kind, pair in _STAND_INS.items() if kind in kinds]
    if not found:
        return None
    replaced = [f"{what}{'' if place else ' replaced'} {by}" for place, (what, by) in enumerate(found)]
    return f"{_NOT_DRAWN} {', and '.join(replaced)}. {_DRAWN}"


def _excess(plan: Plan, bound: Bound) -> str:
    assert isinstance(plan.inside, ApproxDP)
    if bound.upper <= plan.inside.epsilon:
        return ""
    return f"; MORE than the budget of ε = {near(float(plan.inside.epsilon))}: this plan cannot be released"


def _spare(plan: Plan) -> bool:
    limit = plan.inside.rho if isinstance(plan.inside, ZCDP) else plan.inside.epsilon
    return plan.total < _NEARLY * float(limit)


def cautions(plan: Plan) -> list[str]:
    """What may be a mistake in the plan, or promises little."""
    document, found = plan.document, list[str]()
    if isinstance(document.budget, ApproxDP):
        eps, delta, people = document.budget.epsilon, document.budget.delta, document.population or document.rows
        if eps > _MUCH:
            found.append(f"ε = {near(float(eps))} promises very little")
        if people is not None and delta * people * _TIMES_SMALLER > 1:
            close = f"δ = {near(float(delta))} is not far below 1/{people:,}"
            found.append(f"{close}: it would allow publishing a few rows unchanged")
    wide = [line.wish.name for line in plan.lines if line.relative >= _HALF]
    if wide:
        found.append(f"relative errors of 50 % or more: {_few(wide)}")
    rows = document.rows
    odd = [wish.name for wish in document.wishes if rows is not None and (wish.rows or 0) > rows]
    if odd:
        found.append(f"`rows` is more than data.rows: {_few(odd)}")
    for one in could_be_one({wish.name: wish.statistic for wish in document.wishes}, document.table):
        found.append(f"{_few(one.names)} ask disjoint rows: one statistic with `by: {one.column}` shares the budget")
    return found


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _risk(plan: Plan) -> str:
    """What a reader may come to believe (KS14), about what the neighbours of the table differ in."""
    found, neighbours = plan.risk, plan.document.table.neighbours
    here, versions = "it 50 % likely that a person is in the table", "two versions of a person's rows equally likely"
    who = f"Take someone who knows all other rows and thinks {here if neighbours == 'add-remove' else versions}."
    sure = up(100 * found.posterior, 3)
    if sure == "100":
        return f"{who} The release may make them practically certain of the truth."
    if not found.probability:
        return f"{who} The release makes them at most {sure} % sure of the truth."
    more = f"The probability that the release makes them more than {sure} % sure of the truth"
    return f"{who} {more} is at most {near(found.probability)}."


def _reserve(plan: Plan) -> str:
    share = f"{near(100 * float(plan.document.reserve))} % of the budget"
    if plan.reserve is None:
        return f"{share} is left for later"
    later = f"ε = {near(float(plan.reserve.epsilon))} is kept for later questions"
    return f"{share}: {later}, and counted in the total as one more mechanism"


def _sample(plan: Plan) -> str:
    document, inside = plan.document, plan.inside
    assert isinstance(inside, ApproxDP)
    drawn = f"{document.rows:,} rows drawn at random from {document.population:,} people"
    spent = f"ε = {near(float(inside.epsilon))}, δ = {near(float(inside.delta))} may be spent on the sample"
    means = f"that is {_budget(document.budget)} for all {document.population:,} people (BBG18)"
    return f"{drawn}: {spent}; {means}, as long as nobody knows who was drawn"


def _confidence(confidence: float) -> str:
    percent = near(100 * confidence)
    return f"{percent} %: each ± holds with this probability, for all cells of a histogram together"


def stated(document: Document, line: Line) -> dict[str, Any]:
    """What a stated error rests on: rows with a value, what the plan leaves open, and what it would be otherwise."""
    return rests_on(document, line) | {"otherwise": otherwise(line)}


def rests_on(document: Document, line: Line) -> dict[str, Any]:
    """The same without what the error would be otherwise, which must be computed."""
    rows = line.spending.model.stated.setting.rows if line.wish.statistic.needs_rows else None
    open_ends = assumed(document, line.wish)
    return {"rows": rows, "assumes": open_ends, "note": _note(line, rows, open_ends)}


def assumed(document: Document, wish: Wish) -> list[str]:
    """What must be true for the error to hold, and is not said by the plan."""
    statistic, found = wish.statistic, list[str]()
    if not statistic.needs_rows:
        return found
    column, present = ", ".join(statistic.value_columns), document.known_about(wish).present
    if statistic.where is not None and wish.rows is None:
        found.append("the condition keeps all rows (else tell `rows`)")
    if present is None:
        found.append(f"no cell of {column} is missing (else tell `present`)")
    elif present < 1 and statistic.where is not None and wish.known.present is None:
        found.append(f"cells of {column} are missing as often where the condition holds (else tell `present`)")
    return [*found, *statistic.granted()]


def _note(line: Line, rows: int | None, open_ends: Sequence[str]) -> str | None:
    wish, own = line.wish, line.spending.model.stated.note(line.spending.scales)
    if own is not None:
        return own
    if rows is None:
        unsized = wish.statistic.where is not None and wish.rows is None and wish.size is None
        return "relative to all rows: tell how many satisfy the condition by `rows`" if unsized else None
    told = f"± for {rows:,} rows with a value{line.spending.model.stated.stated_for}"
    return f"{told}, if {' and '.join(open_ends)}" if open_ends else told


def otherwise(line: Line) -> dict[str, Any] | None:
    """The error at the same budget: of a mean in the middle, if nobody says where it is; of a distribution at worst."""
    found = line.spending.model.otherwise(line.spending.budget)
    return None if found is None else {"when": found[0], "error": found[1]}


def shares(plan: Plan) -> list[float]:
    """How much of the total each statistic is to blame for: in proportion to its amount times the slope there."""
    spendings = [line.spending for line in plan.lines]
    amounts = np.array([each.amount for each in spendings])
    load = Load([(each.model, 1) for each in spendings], extra=() if plan.reserve is None else (plan.reserve,))
    with np.errstate(all="ignore"):
        parts = amounts * _limit(plan).near(load, amounts, BLUR).slopes
        parts = parts if bool(np.isfinite(parts).all()) and parts.sum() > 0 else amounts
    return [float(part) for part in parts / parts.sum()]


def growth(plan: Plan) -> list[dict[str, float | None]]:
    """The total of the first k statistics, for k up to all: optimal, if ε were added up, and if ρ were."""
    spendings, count = [line.spending for line in plan.lines], len(plan.lines)
    places = sorted({round(1 + (count - 1) * step / (_POINTS - 1)) for step in range(_POINTS)})
    budget, sums = _limit(plan), _sums(plan)
    return [
        {
            "count": place,
            "total": plan.total if place == count and plan.reserve is None else budget.total(spendings[:place]),
            "sum": None if sums is None else sums[place - 1],
            "rho": _rho_sum(plan, spendings[:place]),
        }
        for place in places
    ]


def totals(plan: Plan) -> dict[str, float | None]:
    """What all statistics of the plan cost together, three ways: optimally, if ε were added up, and if ρ were.

    The first is certified; the others are for comparing.
    """
    extra = () if plan.reserve is None else (plan.reserve,)
    return {
        "total": plan.total,
        "sum": _sum(plan, extra),
        "rho": _rho_sum(plan, [line.spending for line in plan.lines], extra),
    }


def _sum(plan: Plan, extra: Sequence[PureDP]) -> float | None:
    """The last of `_sums` to nine digits, and the reserve: in floats, and for all statistics at once."""
    if not isinstance(plan.inside, ApproxDP):
        return None
    rhos = np.array([float(line.spending.budget) for line in plan.lines if not line.spending.pure])
    pure = [float(line.spending.budget) for line in plan.lines if line.spending.pure]
    mixed = cks20.epsilons_near(rhos, float(plan.inside.delta) / rhos.size).sum() if rhos.size else 0.0
    return math.fsum([*pure, *(float(each.epsilon) for each in extra), float(mixed)])


def _limit(plan: Plan) -> Budget:
    if isinstance(plan.inside, ZCDP):
        return RhoBudget(plan.inside.rho)
    return PairBudget(plan.inside.epsilon, plan.inside.delta)


def _sums(plan: Plan) -> list[float] | None:
    """Basic composition of the first so many; statistics with Gaussian noise share δ evenly, by CKS20."""
    if not isinstance(plan.inside, ApproxDP):
        return None
    share = Fraction(plan.inside.delta) / max(sum(not line.spending.pure for line in plan.lines), 1)
    rhos = {line.spending.budget for line in plan.lines if not line.spending.pure}
    found = {rho: fz21.epsilon_at(rho, share) for rho in rhos}  # those that are alike once: it takes long
    spendings = (line.spending for line in plan.lines)
    return list(accumulate(float(each.budget) if each.pure else found[each.budget] for each in spendings))


def error_told(entry: Mapping[str, Any]) -> str:
    """A stated error for people; a star where it rests on something that the plan does not say."""
    return near(entry["error"], 4) + (" *" if entry.get("assumes") else "")


def note_told(entry: Mapping[str, Any]) -> str:
    """The note about a stated error, with what it would be otherwise."""
    other = entry.get("otherwise")
    more = f"±{near(other['error'], 4)} {other['when']}" if other else ""
    return "; ".join(filter(None, [entry["note"], more]))


def _rho_sum(plan: Plan, spendings: Sequence[Spending], extra: Sequence[PureDP] = ()) -> float | None:
    """The ε that the sum of ρ gives at the δ of the budget (CKS20)."""
    if not isinstance(plan.inside, ApproxDP) or not plan.inside.delta:
        return None
    return fz21.epsilon_at(RhoBudget(0).total(spendings, extra), plan.inside.delta)


def up(value: float, digits: int = 6) -> str:
    """A few digits, not less than the value."""
    return _digits(value, digits, ROUND_CEILING)


def down(value: float, digits: int = 6) -> str:
    """A few digits, not more than the value."""
    return _digits(value, digits, ROUND_FLOOR)


def _digits(value: float, digits: int, rounding: str) -> str:
    if not math.isfinite(value):
        return "∞"
    short = Decimal(repr(value))
    exact = short if len(short.as_tuple().digits) <= digits else Decimal(value)
    found = Context(prec=digits, rounding=rounding).plus(exact).normalize()
    if not found or _LEAST_PLAIN <= found.adjusted() < _MOST_PLAIN:
        return format(found, "f")
    return f"{found.scaleb(-found.adjusted()).normalize():f}e{found.adjusted()}"


def near(value: float, digits: int = 6) -> str:
    """A few digits; large numbers in full."""
    text = f"{value:.{digits}g}"
    if "e+" in text and abs(value) < 10**_MOST_PLAIN:
        return f"{float(text):,.0f}"
    return text.replace("e-0", "e-").replace("e+0", "e+")
