"""Everything that a ledger claims, derived again from the entries of its chain alone.

Entries are taken one after another and forgotten.  What stays is one record for each holder, slot and mechanism, and
for each request that is not answered yet.  A request that an entry creates is shown with the entry, as the database or
an export has it: its key, its description and its form must be those that the entry names by their digests.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from optcomp.composition import compose
from optcomp.errors import OptcompError
from optcomp.guarantees import ApproxDP, PureDP
from optcomp.interactive import Filter, Offer, read_request_document, recorded_cost, restore
from optcomp.ledger.amounts import named
from optcomp.ledger.chain import Entry, canonical, digest
from optcomp.ledger.claims import with_cap
from optcomp.ledger.debits import SECRET, SECRET_FORM
from optcomp.ledger.derived import DerivedHolder, DerivedMechanism, DerivedPlan, DerivedSlot, Findings, Prices
from optcomp.ledger.payments import paid_documents
from optcomp.ledger.schema import NOBODY
from optcomp.ledger.states import AccountState, SlotState
from optcomp.ledger.units import Unit

CREATING = frozenset({"session", "reserved", "batch", "entered", "asked"})
"""Kinds of entries that create a request each; requests are numbered in the order of these."""
HOLDING = frozenset({"opened", "session"})
"""Kinds of entries that create a holder each, likewise."""
SLOTS_THEOREM = "Lyu22-1"
"""Why slots may be used one beside the other."""
_GROUP = "GROUP"
"""Why a guarantee for other neighbours counts."""
_FORM_OF = {
    "session": ("holder", "parent", "slot", "name", "opened"),
    "batch": ("name", "slots", "theorem", "plans"),
}
"""Requests whose form is part of their entry."""
_TEXTS = 1 << 14
"""Guarantees whose text is remembered."""
_DAMAGE = (KeyError, TypeError, ValueError, AttributeError, IndexError, OptcompError, ArithmeticError)
"""What an entry that no ledger wrote may lead to."""


class Asked(NamedTuple):
    """A request, as far as everybody may see it; a row of the database has these names too."""

    id: int
    holder: int
    key: str
    mechanism: int | None
    kind: str
    what: str
    form: str


class Derivation:
    """A ledger as its entries tell it."""

    def __init__(self) -> None:
        self.findings = Findings()
        self.ledger: str | None = None
        self.public_key: str | None = None
        self.place: str | None = None
        self.incarnation = 0
        self.version = 0
        """Of the schema, as far as entries tell: 0 until one that migrates the ledger."""
        self.holders: dict[int, DerivedHolder] = {}
        self.slots: dict[int, DerivedSlot] = {}
        self.mechanisms: dict[int, DerivedMechanism] = {}
        self.reserved: dict[int, str] = {}
        """Requests that are not answered, with their kinds."""
        self._plans: dict[int, DerivedPlan] = {}
        self._releases: dict[int, Fraction] = {}
        """The ε that each release has paid, as far as it is known: a reserve is part of it."""
        self._prices = Prices()
        self._texts: dict[str, str] = {}
        self._takes: dict[str, Callable[[Entry, Any, Any, str | None], None]] = {
            "created": self._created,
            "opened": self._opened,
            "unit": self._unit,
            "session": self._session,
            "reserved": self._reserved,
            "answered": self._answered,
            "asked": self._asked,
            "batch": self._batch,
            "split": self._split,
            "handed on": self._handed_on,
            "reserve": self._reserve,
            "entered": self._entered,
            "cap": self._cap,
            "failed": self._failed,
            "adopted": self._adopted,
            "migrated": self._migrated,
        }

    def take(self, entry: Entry, body: Any, row: Asked | None, about: str | None) -> None:
        """One entry; with the request, or the text about the holder, that it creates."""
        take = self._takes.get(entry.kind)
        try:
            if take is None:
                self._wrong(entry, f"{entry.kind!r} is no kind of entry that this program knows")
            else:
                take(entry, body, row, about)
        except _DAMAGE as error:
            self._wrong(entry, f"it cannot be understood ({type(error).__name__})")

    def written(self, paid: Any) -> str:
        """What was paid, as text; the same guarantees come again and again."""
        known = repr(paid)
        text = self._texts.get(known)
        if text is None:
            if len(self._texts) >= _TEXTS:
                self._texts.clear()
            text = self._texts[known] = canonical(paid)
        return text

    def finish(self) -> None:
        """After the last entry: add up."""
        for holder in self.holders.values():
            try:
                problem = holder.settle()
            except _DAMAGE as error:
                problem = f"what {holder.words} has paid cannot be added up ({type(error).__name__})"
            if problem is not None:
                self.findings.add(problem)

    def _wrong(self, entry: Entry, problem: str) -> None:
        self.findings.add(f"entry {entry.sequence}: {problem}")

    def _created(self, entry: Entry, body: Any, row: Asked | None, about: str | None) -> None:
        if entry.sequence != 1:
            self._wrong(entry, "a ledger is created once")
        self.ledger, self.public_key, self.place = body["ledger"], body["public_key"], body["place"]
        self.incarnation = 1

    def _opened(self, entry: Entry, body: Any, row: Asked | None, about: str | None) -> None:
        number, facts = body["holder"], body["about"]
        unit = None if facts["unit"] is None else tuple(facts["unit"])
        others = [each.name for each in self.holders.values() if each.is_account]
        if entry.account != number or number in self.holders:
            self._wrong(entry, "it opens an account under a number that is not its own")
        if sorted(body["disjoint"]) != sorted(others):
            self._wrong(entry, "it does not say that its people are in no other account")
        opened = self._fresh(entry, body["opened"])
        found = DerivedHolder(number, number, NOBODY, None, body["name"], canonical(facts), opened, self._prices)
        found.unit, found.facts = unit, facts
        self.holders[number] = found

    def _fresh(self, entry: Entry, document: Any) -> Filter:
        budget = restore(document)
        if budget.admitted or any(budget.spent.get(name) for name in budget.currencies()):
            self._wrong(entry, "it begins with a filter that was spent from")
        return budget

    def _unit(self, entry: Entry, body: Any, row: Asked | None, about: str | None) -> None:
        account = self.holders[self._number(entry)]
        if account.unit is not None:
            self._wrong(entry, f"the unit of {account.words} was changed")
        account.unit = tuple(body["unit"])
        account.facts = {**account.facts, "unit": body["unit"]}
        account.about = canonical(account.facts)

    def _number(self, entry: Entry) -> int:
        if entry.account is None:
            raise KeyError("account")
        return entry.account

    def _session(self, entry: Entry, body: Any, row: Asked | None, about: str | None) -> None:
        parent = self._holder(entry, body["parent"])
        opened, number = self._fresh(entry, body["opened"]), body["holder"]
        if about is None or digest(about) != body["about"]:
            self._wrong(entry, f"what session {body['name']!r} is about is not what the entry names")
        offer = self._offer(entry, parent, opened, about)
        if body["slot"] is None:
            if body["paid"] != paid_documents(parent.opened, offer):
                self._wrong(entry, f"session {body['name']!r} did not pay for its whole budget")
            self._pay(entry, parent, body)
        else:
            self._within_slot(entry, body, offer)
        if number in self.holders:
            self._wrong(entry, "it opens a session under a number that another one has")
        own = parent.account, parent.id, body["slot"], body["name"], body["about"], opened, self._prices
        self.holders[number] = DerivedHolder(number, *own)
        account = self.holders[parent.account]
        account.sessions += 1
        account.theorems.add(opened.theorem)
        self._check_form(entry, body, row, parent.id, "session")

    def _offer(self, entry: Entry, parent: DerivedHolder, opened: Filter, about: str | None) -> Offer:
        """What a session costs its parent, in the unit of the account."""
        if not parent.is_account or about is None:
            return (opened.total,)
        table = json.loads(about)["table"]
        given = Unit(table["neighbours"], "row" if table["person"] is None else "person")
        if parent.unit is None:
            self._wrong(entry, f"{parent.words} has no unit yet")
            return (opened.total,)
        unit = Unit(*parent.unit)  # type: ignore[arg-type]
        if unit != given:
            parent.theorems.add(_GROUP)
        return unit.converted((opened.total,), given)

    def _within_slot(self, entry: Entry, body: Any, offer: Offer) -> None:
        slot, total = self._free_slot(entry, body["slot"], SlotState.TAKEN), offer[0]
        if body["paid"] or body["price"]:
            self._wrong(entry, "a session in a slot is paid by the slot, and this one was paid twice")
        if not isinstance(total, ApproxDP | PureDP) or not slot.holds(Fraction(total.epsilon), Fraction(total.delta)):
            self._wrong(entry, f"session {body['name']!r} promises less than its slot {slot.name!r}")

    def _free_slot(self, entry: Entry, number: int, then: SlotState) -> DerivedSlot:
        slot = self.slots[number]
        if slot.state != SlotState.FREE:
            self._wrong(entry, f"slot {slot.name!r} was used twice: it was {slot.state} before")
        if slot.account != entry.account:
            self._wrong(entry, f"slot {slot.name!r} belongs to another account")
        slot.state = then
        return slot

    def _holder(self, entry: Entry, number: int) -> DerivedHolder:
        holder = self.holders[number]
        if holder.account != entry.account:
            self._wrong(entry, f"{holder.words} belongs to another account")
        return holder

    def _pay(self, entry: Entry, holder: DerivedHolder, body: Any) -> None:
        if holder.state != AccountState.OPEN:
            self._wrong(entry, f"{holder.words} is {holder.state}, and was debited all the same")
        self._count(entry, holder, self.written(body["paid"]), body["price"])

    def _count(self, entry: Entry, holder: DerivedHolder, paid: str, price: Mapping[str, str] | None) -> None:
        problem = holder.pay(paid, price)
        if problem is not None:
            self._wrong(entry, problem)

    def _reserved(self, entry: Entry, body: Any, row: Asked | None, about: str | None) -> None:
        holder = self._holder(entry, body["holder"])
        if row is None:
            self._wrong(entry, "the request that it reserves is gone")
        else:
            self.reserved[row.id] = body["kind"]
            self._check_row(entry, body, row, holder.id, body["kind"], digest(row.form) == body["form"])
        if body["paid"]:
            self._pay(entry, holder, body)
        else:
            self._unpaid(entry, holder, body, None if row is None else json.loads(row.form))
        if row is not None and body["kind"] == "mechanism":
            spec = canonical(json.loads(row.form)["mechanism"])
            self.mechanisms[row.id] = DerivedMechanism(holder.id, spec)
        elif row is not None and body["kind"] == "release":
            slot = self.slots.get(body.get("slot"))
            self._releases[row.id] = _epsilon(body["paid"]) if slot is None else Fraction(slot.epsilon)
        elif row is not None and body["kind"] == "plan":
            questions = tuple(digest(canonical(each)) for each in json.loads(row.form)["plan"])
            self._plans[row.id] = DerivedPlan(holder.id, questions)

    def _unpaid(self, entry: Entry, holder: DerivedHolder, body: Any, form: Any) -> None:
        """What costs nothing: a plan in the slot that was cut for it, a question of a plan, a key for digests."""
        if holder.state == AccountState.SPENT:
            self._wrong(entry, f"{holder.words} is {holder.state}, and was asked all the same")
        if form is not None and body["kind"] == "release" and body.get("slot") is not None:
            slot = self._free_slot(entry, body["slot"], SlotState.TAKEN)
            if slot.plan is None or form.get("plan") != slot.plan:
                self._wrong(entry, f"slot {slot.name!r} was not cut for this plan")
        elif form is not None and body["kind"] == "planned":
            self._planned(entry, holder, form)
        elif body["kind"] != SECRET or form != SECRET_FORM:
            self._wrong(entry, "it was not paid for")

    def _planned(self, entry: Entry, holder: DerivedHolder, form: Any) -> None:
        """A question that was paid with its plan: one of the plan's own, and not answered before."""
        plan, index = self._plans.get(form["committed"]), form["index"]
        if plan is None or plan.holder != holder.id or form["committed"] in self.reserved:
            self._wrong(entry, "it names a plan that was not paid for")
            return
        if plan.questions[index] != digest(canonical(form["question"])) or index in plan.answered:
            self._wrong(entry, f"question {index} is not that of its plan, or was answered before")
        plan.answered.add(index)

    def _check_form(self, entry: Entry, body: Any, row: Asked | None, holder: int, kind: str) -> None:
        """The request of an entry that holds its whole form."""
        if row is None:
            self._wrong(entry, "the request that it creates is gone")
            return
        form: dict[str, Any] = {name: body[name] for name in _FORM_OF.get(kind, ())} or {kind: row.key}
        if kind == "batch":
            form["whole"] = [body["paid"][0]["epsilon"], body["paid"][0]["delta"]]
        self._check_row(entry, body, row, holder, kind, row.form == canonical(form))

    def _check_row(self, entry: Entry, body: Any, row: Asked, holder: int, kind: str, same_form: bool) -> None:
        if not same_form:
            self._wrong(entry, f"request {row.id} has another form than the one that was entered")
        if row.holder != holder or row.kind != kind or row.mechanism != body.get("mechanism"):
            self._wrong(entry, f"request {row.id} is not the one that was entered")
        if named(row.key, row.what) != body["named"]:
            self._wrong(entry, f"request {row.id} has another key or description than was entered")

    def _answered(self, entry: Entry, body: Any, row: Asked | None, about: str | None) -> None:
        kind = self.reserved.pop(body["request"], None)
        if kind is None:
            self._wrong(entry, f"it answers request {body['request']}, which was not waiting for an answer")
        elif kind == "mechanism":
            self.mechanisms[body["request"]].opened = True

    def _asked(self, entry: Entry, body: Any, row: Asked | None, about: str | None) -> None:
        holder, found = self._holder(entry, body["holder"]), self.mechanisms.get(body["mechanism"])
        if found is None or not found.opened or found.holder != holder.id:
            self._wrong(entry, f"it asks mechanism {body['mechanism']}, which was not paid for and opened before")
        elif holder.state == AccountState.SPENT:
            self._wrong(entry, f"{holder.words} is {holder.state}, and was asked all the same")
        else:
            found.asked += 1
        if row is None:
            self._wrong(entry, "the question that it answers is gone")
        else:
            self._check_row(entry, body, row, holder.id, "ask", digest(row.form) == body["form"])

    def _batch(self, entry: Entry, body: Any, row: Asked | None, about: str | None) -> None:
        account = self._holder(entry, body["holder"])
        self._certify(entry, account, body)
        self._pay(entry, account, body)
        self._check_form(entry, body, row, account.id, "batch")
        if row is not None:
            self._cut(entry, body["slots"], body["numbers"], row.id, None, body["plans"])
        account.theorems |= {SLOTS_THEOREM}

    def _certify(self, entry: Entry, account: DerivedHolder, body: Any) -> None:
        """The optimal composition of the slots must be within what was paid for all of them."""
        ((kind, epsilon, delta),) = ((each["kind"], each["epsilon"], each["delta"]) for each in body["paid"])
        ordered = sorted(body["slots"], key=body["numbers"].__getitem__)
        shares = [ApproxDP(*(Fraction(part) for part in body["slots"][name])) for name in ordered]
        bound = compose(shares, delta=Fraction(delta))
        if kind != "ApproxDP" or not Fraction(bound.upper) <= Fraction(epsilon):
            self._wrong(entry, f"the slots of batch {body['name']!r} compose to more than was paid ({bound.theorem})")
        account.theorems.add(bound.theorem)

    def _cut(self, entry: Entry, shares: Any, numbers: Any, batch: int, parent: int | None, plans: Any) -> None:
        for name, (epsilon, delta) in shares.items():
            if numbers[name] in self.slots:
                self._wrong(entry, f"slot {name!r} has the number of another one")
            new = DerivedSlot(self._number(entry), batch, parent, name, epsilon, delta, plans.get(name))
            self.slots[numbers[name]] = new
            self.holders[new.account].slots += 1

    def _split(self, entry: Entry, body: Any, row: Asked | None, about: str | None) -> None:
        slot = self._free_slot(entry, body["slot"], SlotState.SPLIT)
        sums = [sum((Fraction(part[place]) for part in body["parts"].values()), Fraction(0)) for place in (0, 1)]
        if not slot.holds(*sums):
            self._wrong(entry, f"the parts of slot {slot.name!r} are more than it had")
        self._cut(entry, body["parts"], body["numbers"], slot.batch, body["slot"], {})

    def _handed_on(self, entry: Entry, body: Any, row: Asked | None, about: str | None) -> None:
        self._free_slot(entry, body["slot"], SlotState.FREE).name = body["name"]

    def _reserve(self, entry: Entry, body: Any, row: Asked | None, about: str | None) -> None:
        """What a release that was paid for keeps for later."""
        account = self._holder(entry, body["holder"])
        if Fraction(body["share"][0]) > self._releases.pop(body["request"], Fraction(0)) or Fraction(body["share"][1]):
            self._wrong(entry, f"slot {body['name']!r} is more than its release has paid")
        shares, numbers = {body["name"]: body["share"]}, {body["name"]: body["slot"]}
        self._cut(entry, shares, numbers, body["request"], None, {})
        account.theorems.add(SLOTS_THEOREM)

    def _entered(self, entry: Entry, body: Any, row: Asked | None, about: str | None) -> None:
        account, paid = self._holder(entry, body["holder"]), self.written(body["paid"])
        if body["price"] is not None:
            self._pay(entry, account, body)
        else:
            if account.state == AccountState.OPEN and account.fits(paid):
                self._wrong(entry, "it overdraws an account into which it fits")
            if account.state == AccountState.OPEN:
                account.state = AccountState.OVERDRAWN
            elif account.state == AccountState.SPENT:
                account.uncap()
            self._count(entry, account, paid, None)
        self._check_form(entry, body, row, account.id, "entered")

    def _cap(self, entry: Entry, body: Any, row: Asked | None, about: str | None) -> None:
        holder = self._holder(entry, body["holder"])
        before = holder.opened.document()
        problem = holder.lower(self._fresh(entry, body["opened"]))
        if problem is not None:
            self._wrong(entry, problem)
        holder.facts = with_cap(holder.facts, before, used=holder.budget.admitted > 0)
        holder.about = canonical(holder.facts)

    def _failed(self, entry: Entry, body: Any, row: Asked | None, about: str | None) -> None:
        if self.reserved.pop(body["request"], None) is None:
            self._wrong(entry, f"it gives up request {body['request']}, which was not waiting for an answer")

    def _adopted(self, entry: Entry, body: Any, row: Asked | None, about: str | None) -> None:
        self.incarnation += 1
        if body["incarnation"] != self.incarnation or body["from"] != self.place:
            self._wrong(entry, "it adopts another copy than this one")
        if body["public_key"] != self.public_key:
            for each in self.mechanisms.values():
                each.lost = True
        self.place, self.public_key = body["to"], body["public_key"]
        if not body["spent"]:
            return
        for holder in self.holders.values():
            holder.close()
        for slot in self.slots.values():
            if slot.state == SlotState.FREE:
                slot.state = SlotState.SPENT

    def _migrated(self, entry: Entry, body: Any, row: Asked | None, about: str | None) -> None:
        if not self.version < body["version"]:
            self._wrong(entry, "it migrates the ledger to a version that it has")
        self.version = body["version"]


def _epsilon(paid: Any) -> Fraction:
    """Σε of guarantees that have one."""
    known = [recorded_cost(read_request_document(each)).epsilon for each in paid]
    return sum(filter(None, known), Fraction(0))
