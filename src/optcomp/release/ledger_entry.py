"""What the file of a release says about the ledger that was debited for it, and whether that fits together.

    receipt     where in which ledger the release stands; `commitment` binds its answers
    unit        whom the account protects: its neighbours, and whether all rows of a person
    paid        the guarantees that were debited, exactly; none if a slot was committed for the plan
    theorem     by which the account counts them
    releases    how many there are about these people, with this one
    before      what everything recorded for these people comes to without this release: exact sums, and (ε, δ) with
                the theorem that proves them
    after       the same with this release
    sample      the totals for the population, if the data are a secret sample (BBG18 is applied once, to all of it)
    reserve     the name of the slot with what the plan keeps for later

All of it follows from what was asked, and nothing from the data.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

from optcomp.errors import OptcompError
from optcomp.guarantees import ZCDP, ApproxDP, PureDP
from optcomp.interactive import (
    Cost,
    Offer,
    RecordedTotal,
    convert_unit,
    read_request_document,
    recorded_cost,
    recorded_total,
    request_document,
)
from optcomp.numerics import float_above
from optcomp.planner import Document, Spending
from optcomp.release.pictures import printable
from optcomp.release.plan_facts import near, up
from optcomp.theorems import bbg18, theorem

if TYPE_CHECKING:
    from optcomp.ledger import Account, Placed

_SUMS = ("epsilon", "rho", "delta")
"""What is summed of everything recorded."""
_HEX = re.compile(r"[0-9a-f]{64}")
"""A head, or a commitment."""
_FRACTION = re.compile(r"[0-9]{1,4000}(/[0-9]{1,4000})?")
"""An exact number."""
_ENTRIES = {"receipt", "unit", "paid", "theorem", "releases", "odometer_delta", "before", "after", "sample", "reserve"}
_RECEIPT = {"ledger", "account", "sequence", "head", "commitment"}
_NAME = 80
"""Characters of a plan's name in the name of a slot."""
Entry = dict[str, Any]


def reserve_name(document: Document, digest: str) -> str:
    """The name of the slot with what a plan keeps for later; `digest` is that of the release."""
    return f"reserve of {printable(document.table.name, _NAME)} {digest[:8]}"


def plan_offers(cost: ApproxDP | ZCDP, parts: Offer, reserve: PureDP | None) -> list[Offer]:
    """Every guarantee that is proved of a plan: its total, and those of its parts with what is kept for later."""
    return [(cost,), (*parts, *(() if reserve is None else (reserve,)))]


def offers_of(
    document: Document, spendings: Sequence[Spending], cost: ApproxDP | ZCDP, reserve: PureDP | None
) -> list[Offer]:
    """Every guarantee that is proved of a plan that spends this."""
    questions = [each.model.question(each.budget) for each in spendings]
    return plan_offers(cost, tuple(part for each in questions for part in each.costs(document.table)), reserve)


def ledger_entry(account: Account, placed: Placed, reserve: str | None) -> Entry:
    """What is told about the debit of a release, but for the receipt, which there is after it is stored."""
    delta, sample, unit = account.odometer_delta, account.sample, account.unit
    assert unit is not None
    return {
        "unit": {"neighbours": unit.neighbours, "whose": unit.whose},
        "paid": [request_document(each) for each in placed.paid],
        "theorem": account.budget.theorem,
        "releases": placed.releases,
        "odometer_delta": str(delta),
        "before": _recorded(placed.before, delta),
        "after": _recorded(placed.after, delta),
        "sample": None if sample is None else _sampled(sample, placed.before, placed.after, delta),
        "reserve": reserve,
    }


def _recorded(sums: Cost, delta: Fraction) -> Entry:
    written = {name: None if sums.get(name) is None else str(sums.get(name)) for name in _SUMS}
    return {"sums": written, "totals": [_told(total) for total in recorded_total(sums, delta)]}


def _told(total: RecordedTotal) -> Entry:
    return {"epsilon": total.epsilon, "delta": float_above(total.delta), "theorem": total.theorem}


def _pair_told(total: ApproxDP) -> Entry:
    numbers = {name: float_above(Fraction(getattr(total, name))) for name in ("epsilon", "delta")}
    return numbers | {"theorem": bbg18.ID}


def _sampled(sample: tuple[int, int], before: Cost, after: Cost, delta: Fraction) -> Entry:
    def seen(sums: Cost) -> list[Entry]:
        pairs = [ApproxDP(each.exactly, each.delta) for each in recorded_total(sums, delta)]
        return [_pair_told(bbg18.outside(each, *sample)) for each in pairs]

    return {"rows": sample[0], "population": sample[1], "before": seen(before), "after": seen(after)}


def so_far(entry: Mapping[str, Any]) -> str:
    """How much was released about these people up to this release, in a sentence."""
    count, totals, sample = entry["releases"], entry["after"]["totals"], entry["sample"]
    many = f"{count} release{'' if count == 1 else 's'} so far"
    if not totals:
        return f"these people: {many}, and no total is proved of all of them together"
    told = f"these people: {many}, together at most {_pair(totals[0])} by {totals[0]['theorem']}"
    if sample is None:
        return told
    return f"{told} on the sample; that is {_pair(sample['after'][0])} for all {sample['population']:,} people (BBG18)"


def _pair(total: Mapping[str, Any]) -> str:
    return f"(ε, δ) = ({up(total['epsilon'])}, {near(total['delta'])})"


def problems_of(
    entry: object, document: Document, offers: Sequence[Offer], *, keeps: bool, same_version: bool
) -> list[str]:
    """What does not fit together in the entry of a release whose plan has these offers; the ledger is not needed.

    `keeps` says whether the plan keeps something for later.
    """
    if not isinstance(entry, Mapping) or set(entry) != _ENTRIES:
        return [f"ledger: must have the entries {', '.join(sorted(_ENTRIES))}"]
    found = _receipt_problems(entry["receipt"])
    try:
        found += _paid_problems(entry, document, offers, keeps=keeps)
        theorem(entry["theorem"])  # by which the account counts: any that is known
        found += _sum_problems(entry, same_version=same_version)
    except (OptcompError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError):
        found.append("ledger: is not as it was written")
    return found


def _receipt_problems(receipt: object) -> list[str]:
    if not isinstance(receipt, Mapping) or set(receipt) != _RECEIPT:
        return [f"ledger.receipt: must have the entries {', '.join(sorted(_RECEIPT))}"]
    texts = all(isinstance(receipt[name], str) for name in ("ledger", "account", "head", "commitment"))
    hexes = texts and all(_HEX.fullmatch(receipt[name]) for name in ("head", "commitment"))
    if not hexes or type(receipt["sequence"]) is not int or receipt["sequence"] < 1:
        return ["ledger.receipt: is not as it was written"]
    return []


def _paid_problems(entry: Mapping[str, Any], document: Document, offers: Sequence[Offer], *, keeps: bool) -> list[str]:
    """What was debited must be proved of this plan, for the unit of the account."""
    unit, own = entry["unit"], "row" if document.table.person is None else "person"
    if unit["whose"] != own:
        return [f"ledger.unit.whose is {unit['whose']!r}, but by the plan it is {own!r}"]
    here, there = document.table.neighbours, unit["neighbours"]
    known = [[request_document(convert_unit(each, here, there).guarantee) for each in offer] for offer in offers]
    if entry["paid"] and entry["paid"] not in known:
        return ["ledger.paid: is not a guarantee that is proved of this plan"]
    name = entry["reserve"]
    if keeps != isinstance(name, str) or (keeps and not name.startswith(reserve_name(document, ""))):
        return ["ledger.reserve: is not the slot of what this plan keeps for later"]
    return []


def _sum_problems(entry: Mapping[str, Any], *, same_version: bool) -> list[str]:
    """Sums go on by what was paid; totals are those of the sums."""
    delta = _exact(entry["odometer_delta"])
    before, after = (_read_sums(entry[name]["sums"]) for name in ("before", "after"))
    paid = [read_request_document(each) for each in entry["paid"]]
    moved = reduce(Cost.plus, (recorded_cost(each).rounded_up() for each in paid), before)
    found = []
    if moved != after:
        found.append("ledger.after.sums: are not those before and what was paid")
    if type(entry["releases"]) is not int or entry["releases"] < 1:
        found.append("ledger.releases: must be a whole number above 0")
    for name, sums in (("before", before), ("after", after)):
        if same_version and entry[name] != _recorded(sums, delta):
            found.append(f"ledger.{name}.totals: are not those of the sums")
    sample = entry["sample"]
    if same_version and sample is not None:
        size = sample["rows"], sample["population"]
        if sample != _sampled(size, before, after, delta):
            found.append("ledger.sample: does not follow from the totals (BBG18)")
    return found


def _read_sums(written: Mapping[str, Any]) -> Cost:
    amounts: dict[str, Any] = {name: None if written[name] is None else _exact(written[name]) for name in _SUMS}
    return Cost(**amounts)


def _exact(text: object) -> Fraction:
    """A fraction as it is written here; any other text, such as one with a vast exponent, is refused."""
    if not isinstance(text, str) or not _FRACTION.fullmatch(text):
        raise ValueError("not a fraction")
    return Fraction(text)
