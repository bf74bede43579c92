"""Accounts: one budget for one group of people, across sessions, plans, releases and processes.

An account is a filter.  Beside what the filter admits it keeps the sums of everything that was ever recorded, past the
cap too; of these an odometer makes a bound that holds whatever happened.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.exc import IntegrityError

from optcomp.composition import compose
from optcomp.errors import HypothesisNotMet, InvalidInput
from optcomp.guarantees import ApproxDP, PureDP
from optcomp.interactive import (
    Filter,
    Offer,
    RecordedTotal,
    Refused,
    Remaining,
    Request,
    Taken,
    charge_cheapest,
    price_offers,
    recorded_total,
    restore,
)
from optcomp.ledger import slots
from optcomp.ledger.amounts import named, read_sums, summed, written_cost, written_sums
from optcomp.ledger.books import Writing
from optcomp.ledger.caps import cap_of
from optcomp.ledger.chain import canonical
from optcomp.ledger.claims import with_cap
from optcomp.ledger.debits import RELEASES, SECRET, SECRET_FORM, Debit, Placed, debits_of, place_of
from optcomp.ledger.holders import Asked, Finished, Holder, Stored, Work, closed
from optcomp.ledger.opening import (
    SlotNotFree,
    change_free_slot,
    check_key,
    enter_request,
    fix_unit,
    open_session,
    unit_of,
)
from optcomp.ledger.payments import fixed, paid_documents
from optcomp.ledger.receipts import Receipt
from optcomp.ledger.requests import RequestView, request_of
from optcomp.ledger.schema import HOLDERS
from optcomp.ledger.session import DurableSession
from optcomp.ledger.slots import Share, Slot
from optcomp.ledger.states import AccountState, SlotState
from optcomp.ledger.units import Unit
from optcomp.numerics import Number
from optcomp.statistics import Declared, Table
from optcomp.theorems import Bound, bbg18

_OWN_KEYS = ("session ", "batch ")
"""With which the keys of sessions and batches begin."""


class Account:
    """One budget for one group of people."""

    def __init__(self, holder: Holder) -> None:
        self._holder = holder

    @property
    def name(self) -> str:
        """By which it is found again."""
        return self._holder.name

    @property
    def ledger_id(self) -> str:
        """Of the ledger that keeps it."""
        return self._holder.books.id

    @property
    def budget(self) -> Filter:
        """The filter as it stands now: an immutable value."""
        return self._holder.budget()

    @property
    def state(self) -> AccountState:
        """Whether anything more is admitted."""
        return AccountState(self._holder.row().state)

    @property
    def capped(self) -> bool:
        """Whether its owner set a cap; a release that finds no account opens one without."""
        return bool(self._about()["capped"])

    @property
    def unit(self) -> Unit | None:
        """What it protects; None until the first use, unless its owner said it."""
        found = self._about()["unit"]
        return None if found is None else Unit(*found)

    @property
    def odometer_delta(self) -> Fraction:
        """The δ of the odometer of everything recorded, fixed when the account was opened."""
        return Fraction(self._about()["delta"])

    @property
    def sample(self) -> tuple[int, int] | None:
        """(rows, population), if the data are a secret random sample."""
        found = self._about()["sample"]
        return None if found is None else (found[0], found[1])

    def _about(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._holder.row().about)
        return found

    def remaining(self, like: Request | None = None) -> Remaining:
        """What is left; with `like`, how many more such requests fit.  Nothing, if nothing is admitted any more."""
        row = self._holder.row()
        left = restore(row.budget).remaining(like)
        if row.state == AccountState.OPEN:
            return left
        nothing = {name: (Fraction(0), whole) for name, (_, whole) in left.amounts.items()}
        return Remaining(nothing, left.like, None if like is None else 0, Fraction(0))

    def session(self, table: Table, budget: Filter, *, name: str = "session") -> DurableSession:
        """A session about a table, paid whole from this account; the same name and filter again go on with it."""
        return DurableSession(open_session(self._holder, table, budget, name), table)

    def cut(
        self, slots_: Mapping[str, Share], *, delta: Number, epsilon: Number | None = None, name: str = "batch"
    ) -> dict[str, Slot]:
        """A batch of slots, certified and debited as one request of (ε_g, δ_g) (Lyu22-1)."""
        _, made = slots.cut(self._holder, slots_, delta=delta, epsilon=epsilon, name=name)
        return made

    def commit_plans(
        self,
        plans: Mapping[str, ApproxDP],
        *,
        delta: Number,
        epsilon: Number | None = None,
        name: str = "plans",
        unit: Unit | None = None,
    ) -> tuple[Bound, dict[str, Slot]]:
        """Slots for plans, by their digests, which are fixed before the first answer of any of them.

        Only then may the totals of several plans be composed optimally: a plan that was written after reading the
        answers of another one has parameters that depend on them.  `unit` is what their totals are about, as
        `unit_for` says; it decides what the account protects, if that is open.
        """
        named = {f"plan {digest[:12]}": digest for digest in plans}
        shares = {f"plan {digest[:12]}": total for digest, total in plans.items()}
        return slots.cut(self._holder, shares, delta=delta, epsilon=epsilon, name=name, plans=named, unit=unit)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """All slots, in the order in which they were cut."""
        return slots.all_slots(self._holder)

    def slot(self, name: str) -> Slot:
        """The slot of this name."""
        return slots.find_slot(self._holder, name)

    def release(
        self,
        *,
        key: str,
        what: str,
        form: Mapping[str, Any],
        offers: Sequence[Offer],
        run: Callable[[], str],
        declared: Declared,
        plan: str | None = None,
        reserve: tuple[str, PureDP] | None = None,
    ) -> Stored:
        """Debit a release, run it, keep it: once for each key, whatever crashes in between.

        `offers` is every guarantee that is proved of it; the account takes the cheapest that it can price, or the first
        if it has no cap.  If a slot was cut for `plan`, a digest, that pays.  `reserve` is a name, and what the offers
        pay for and the release leaves unused: it becomes a slot.
        """
        _check_key(key)
        given = Unit.of(declared)
        unit = unit_of(self._holder, given)
        converted = self._converted(offers, declared)
        later = None if reserve is None else (reserve[0], unit.converted((reserve[1],), given)[0])
        if later is not None and self._holder.find(key) is None:
            self._check_reserve(*later, converted)
        work = Work("release", key, what, form, converted, lambda: Finished(run(), None, self._reserving(later)))
        while True:
            slot = None if plan is None else slots.committed_slot(self._holder, plan)
            if slot is None:
                return self._holder.perform(replace(work, paid_by=self._first_use(unit)))
            slots.check_committed(slot, converted)
            with suppress(SlotNotFree):  # somebody else took the slot a moment ago
                return self._holder.perform(replace(work, offers=(), paid_by=self._first_use(unit, slot)))

    def foreseen(self, offers: Sequence[Offer], declared: Declared) -> tuple[Taken[Filter], Offer] | Refused:
        """What a release with these offers would take now, and which of them it would pay; nothing is debited."""
        row, opened = self._holder.row(), self._holder.opened
        if row.state != AccountState.OPEN:
            raise closed(self._holder, row)
        fixed_ones = [fixed(opened, offer) for offer in self._converted(offers, declared)]
        found = charge_cheapest(restore(row.budget), price_offers(opened, fixed_ones), delta_counts=False)
        return found if isinstance(found, Refused) else (found, fixed_ones[found.index])

    def _converted(self, offers: Sequence[Offer], declared: Declared) -> list[Offer]:
        """Offers for the unit of the account: those among which it chooses."""
        given = Unit.of(declared)
        converted = [unit_of(self._holder, given).converted(offer, given) for offer in offers]
        # without a cap nothing is saved by another offer, and the first one keeps the plain sums readable
        return converted if self.capped else converted[:1]

    def _first_use(self, unit: Unit, slot: Row[Any] | None = None) -> Callable[[Writing], Mapping[str, Any]]:
        """Decides what the account protects, and takes a slot, in the write that reserves."""

        def decide(writing: Writing) -> Mapping[str, Any]:
            fix_unit(writing, self._holder, unit)
            if slot is None:
                return {}
            change_free_slot(writing, slot.id, slot.name, state=SlotState.TAKEN)
            return {"slot": slot.id}

        return decide

    def _check_reserve(self, name: str, reserve: Any, offers: Sequence[Offer]) -> None:
        """A slot that does not fit into what is paid, or whose name is taken, is refused before anything is paid."""
        if any(slot.name == name for slot in self.slots):
            raise InvalidInput("reserve", name, "the account has a slot of such a name; nothing was spent")
        for offer in offers:
            pair = next((each for each in offer if isinstance(each, ApproxDP | PureDP) and len(offer) == 1), None)
            if pair is not None and not compose([reserve], delta=pair.delta).upper <= Fraction(pair.epsilon):
                raise InvalidInput("reserve", reserve, f"is more than what is paid, {pair}; nothing was spent")

    def _reserving(self, later: tuple[str, Any] | None) -> Callable[[Writing, int], None] | None:
        if later is None:
            return None
        name, eps = later[0], Fraction(later[1].epsilon)
        return lambda writing, request: slots.cut_reserve(self._holder, writing, request, name, eps)

    def answered(self, key: str) -> Stored | None:
        """The stored answer of a key, if there is one."""
        found = self._holder.find(key)
        return None if found is None or found.answer is None else self._holder.stored(found)

    def request(self, key: str) -> RequestView | None:
        """The request of a key as it stands, answered or on its way; None if nothing was debited for it."""
        found = self._holder.find(key)
        return None if found is None else request_of(self._holder, found.id)

    def place(self, key: str) -> Placed:
        """What a request paid, and the sums of everything recorded before it and with it."""
        return place_of(self._holder, key)

    def named(self, digest: str) -> str:
        """The name of data in this account: their digest under a key that only the ledger has.

        Keys and forms of requests are shown to auditors.  A plain digest among them would tell whoever guesses all rows
        whether the guess is right.
        """
        work = Work(
            SECRET, SECRET, "a key for digests of data", SECRET_FORM, (), lambda: Finished(secrets.token_hex(32))
        )
        key = bytes.fromhex(self._holder.perform(work).answer)
        return hmac.new(key, digest.encode(), "sha256").hexdigest()

    def has_released(self, plan: str) -> bool:
        """Whether a release of the plan of this digest was reserved."""
        return any(plan == json.loads(row.form).get("plan") for row in self._holder.requests("release"))

    def unit_for(self, declared: Declared) -> Unit:
        """What it protects; what this table does, if that is open."""
        return unit_of(self._holder, Unit.of(declared))

    def releases(self) -> tuple[Debit, ...]:
        """All releases, made here or entered afterwards, oldest first."""
        return debits_of(self._holder, RELEASES)

    def debits(self) -> tuple[Debit, ...]:
        """Everything that was debited: releases, sessions, batches."""
        return debits_of(self._holder)

    def enter(self, *, key: str, what: str, offers: Sequence[Offer], declared: Declared) -> Receipt:
        """Record a release that has happened elsewhere: always, past the cap too.

        If it does not fit, the account is overdrawn: closed to debits, and its cap is no longer claimed.
        """
        _check_key(key)
        if not offers or not all(isinstance(offer, tuple | list) and offer for offer in offers):
            raise InvalidInput("offers", offers, "must be at least one, and each the guarantees of one release: [(g,)]")
        given = Unit.of(declared)
        unit = unit_of(self._holder, given)
        converted = [fixed(self._holder.opened, unit.converted(offer, given)) for offer in offers]
        found = self._holder.find(key)
        if found is None:
            try:
                found = self._entered(key, what, converted, unit)
            except IntegrityError:  # somebody else entered it a moment ago
                found = self._holder.find(key)
                assert found is not None
        self._holder.check_same(found, "entered", canonical({"entered": key}))
        if found.paid not in [canonical(paid_documents(self._holder.opened, each)) for each in converted]:
            raise InvalidInput("key", key, f"was used for a release of another cost: {found.what}")
        return self._holder.stored(found).receipt

    def _entered(self, key: str, what: str, offers: Sequence[Offer], unit: Unit) -> Asked:
        holder = self._holder
        try:
            prices = price_offers(holder.opened, offers)
        except HypothesisNotMet:  # it has happened all the same
            prices = None
        with holder.books.writing() as writing:
            fix_unit(writing, holder, unit)
            row = holder.row_within(writing)
            charged = None
            if prices is not None and row.state == AccountState.OPEN:
                found = charge_cheapest(restore(row.budget), prices, delta_counts=False)
                charged = None if isinstance(found, Refused) else found
            offer = offers[0 if charged is None else charged.index]
            sums = written_sums(summed(read_sums(row.sums), offer))
            body: dict[str, Any] = {"holder": holder.id, "paid": paid_documents(holder.opened, offer)}
            body["named"] = named(key, what)
            if charged is not None:
                holder.swap(writing, row, charged.state, sums)
                body["price"] = written_cost(charged.cost)
            else:
                state = AccountState.OVERDRAWN if row.state == AccountState.OPEN else row.state
                about = json.loads(row.about)
                if row.state == AccountState.SPENT:  # all of the cap is spent, and this comes on top of it
                    about["capped"] = False
                holder.swap(writing, row, restore(row.budget), sums, state=state, about=canonical(about))
                body["price"] = None
            writing.append("entered", holder.account, body)
            enter_request(writing, holder, "entered", key, what, {"entered": key}, body["paid"])
        return holder.find(key)  # type: ignore[return-value]

    def lower(
        self, budget: Filter | None = None, *, epsilon: Number | None = None, delta: Number | None = None
    ) -> None:
        """A smaller cap; before the first answer any cap.  What was promised is never taken back.

        A filter, or ε and δ as for `Ledger.open`.
        """
        holder, given = self._holder, cap_of(budget, epsilon, delta)
        if given is None:
            raise InvalidInput("epsilon", epsilon, "must be given, or a filter")
        with holder.books.writing() as writing:
            row = holder.row_within(writing)
            if row.state == AccountState.SPENT:
                raise closed(holder, row)
            now = restore(row.budget)
            moved = given if not now.admitted and not given.admitted else now.lowered(given)
            text = given.document_text()
            about = with_cap(json.loads(row.about), json.loads(row.opened), used=now.admitted > 0)
            holder.swap(writing, row, moved, opened=text, about=canonical(about))
            writing.append("cap", holder.account, {"holder": holder.id, "opened": json.loads(text)})
        holder.opened = given

    def totals(self) -> tuple[RecordedTotal, ...]:
        """What everything recorded comes to, best first, each with the theorem that proves it.

        None if a copy was adopted that may lack debits: nothing is known then but that all of the budget may be spent.
        """
        row = self._holder.row()
        if row.state == AccountState.SPENT:
            return ()
        about = json.loads(row.about)
        return recorded_total(read_sums(row.sums), Fraction(about["delta"]))

    def outside(self, total: ApproxDP) -> ApproxDP | None:
        """A total seen from the population of which the data are a secret sample (BBG18); None if they are not."""
        sample = self._about()["sample"]
        return None if sample is None else bbg18.outside(total, *sample)

    def sessions(self) -> tuple[str, ...]:
        """The names of its sessions."""
        mine = select(HOLDERS.c.name).where(HOLDERS.c.parent == self._holder.id).order_by(HOLDERS.c.id)
        with self._holder.books.database.read() as connection:
            return tuple(connection.scalars(mine))

    def session_snapshots(self, name: str | None = None) -> dict[str, str | None]:
        """By what the ledger knows the snapshot of each session, or of the one that is named: see `snapshot_name`."""
        mine = select(HOLDERS.c.name, HOLDERS.c.about).where(HOLDERS.c.parent == self._holder.id)
        with self._holder.books.database.read() as connection:
            found = connection.execute(mine if name is None else mine.where(HOLDERS.c.name == name)).all()
        return {row.name: json.loads(row.about)["snapshot"] for row in found}

    def __repr__(self) -> str:
        return f"Account({self.name!r}, {self.state}, {self.remaining()})"


def _check_key(key: object) -> None:
    """A key of the caller's may not look like one of the ledger's own."""
    check_key("" if key is None else key)
    if str(key).startswith(_OWN_KEYS) or key == SECRET:
        raise InvalidInput("key", key, f"must not begin with one of {', '.join(map(repr, _OWN_KEYS))}")
