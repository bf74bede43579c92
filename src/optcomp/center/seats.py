"""Seats: which slot of an account is whose.  What a slot may spend is in the ledger, and only there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from optcomp.center.changes import Acting
from optcomp.center.datasets import Dataset, Datasets, at_version
from optcomp.center.people import check_name
from optcomp.center.persons import By, Person
from optcomp.center.refusals import Conflict, NotFound, Suspended
from optcomp.center.shares import Proposal, propose_shares
from optcomp.center.tables import DATASETS, PEOPLE, PROPOSALS, SEATS, VERSIONS
from optcomp.composition import compose
from optcomp.errors import BudgetExceeded, InvalidInput
from optcomp.guarantees import ApproxDP
from optcomp.ledger import SlotNotFree
from optcomp.numerics import Number, exact

_Versions = dict[str, Dataset]
"""For slots, the data set in the version that their sessions were opened about."""
_ASKED_FOR = 500
"""Names that a database is asked for at a time."""
_ASKED = "has been asked in, and stays where it is"
"""Why a slot is not handed on."""


@dataclass(frozen=True)
class Seat:
    """A slot of an account, and the analyst whose it is."""

    id: int
    dataset: Dataset
    """In the version that the seat asks: the newest, or that of its session if that was opened before."""
    slot: str
    """In the ledger; its session has the same name."""
    batch: str
    analyst: str
    suspended: bool

    def check(self) -> None:
        """Refuses a seat that is suspended, or whose data set is closed."""
        if self.dataset.state != "open":
            raise Suspended(f"data set {self.dataset.name!r}")
        if self.suspended:
            raise Suspended(f"seat {self.id}")

    def document(self) -> dict[str, Any]:
        """Ready for JSON; without what is left, which the ledger knows."""
        about = {"id": self.id, "dataset": self.dataset.name, "version": self.dataset.version}
        return {**about, "batch": self.batch, "slot": self.slot, "analyst": self.analyst, "suspended": self.suspended}


class Seats(Datasets):
    """Cuts batches of slots, and knows whose they are."""

    def propose(
        self, name: str, analysts: Mapping[str, Number] | Sequence[str], *, epsilon: Number, delta: Number
    ) -> Proposal:
        """Equal slots, or slots in proportion to weights, as large as optimal composition allows."""
        account = self.account(self.dataset(name))
        left = account.remaining(ApproxDP(epsilon, delta))
        fits = left.count is None or left.count > 0
        return propose_shares(name, analysts, epsilon, delta, fits=fits)

    def cut(
        self,
        name: str,
        batch: str,
        slots: Mapping[str, Number | Sequence[Number]],
        *,
        delta: Number,
        epsilon: Number | None = None,
        by: By,
    ) -> dict[str, Any]:
        """A batch of slots, one for each analyst, certified and paid for; what proves it.

        The same batch again costs nothing, and completes one that was interrupted.
        """
        acts = self._acts(by, name)
        check_name(batch, "batch")
        detail: dict[str, Any] = {"name": name, "batch": batch, "slots": _shares(slots)}
        detail |= {
            "delta": _number(delta, "delta"),
            "epsilon": None if epsilon is None else _number(epsilon, "epsilon"),
        }
        with self._store.read() as connection:
            self._analysts(connection, detail["slots"])
        self._second("cut", detail, by)
        return self._cut(detail, acts)

    def _cut(self, detail: Mapping[str, Any], acts: Acting) -> dict[str, Any]:
        dataset, batch = self.dataset(detail["name"]), detail["batch"]
        names = {analyst: f"{batch}: {analyst}" for analyst in detail["slots"]}
        self._check_batch(dataset, batch)
        shares = {names[analyst]: ApproxDP(*pair) for analyst, pair in detail["slots"].items()}
        account = self.account(dataset)
        try:
            account.cut(shares, delta=detail["delta"], epsilon=detail["epsilon"], name=batch)
        except BudgetExceeded as refused:  # for auditors: the ledger has no entry of it
            about = {"account": dataset.account, "batch": batch, "request": "cut", "reason": refused.reason}
            self._changes.record(Acting(acts.by, acts.second), "refused", about)
            raise
        certificate = self._certificate(dataset, detail, names, list(shares.values()))
        with self._store.write() as connection:
            mine = SEATS.c.account == dataset.account, SEATS.c.batch == batch
            if connection.scalar(select(SEATS.c.id).where(*mine).limit(1)) is None:
                people = self._analysts(connection, names)
                same = {"dataset": dataset.id, "account": dataset.account, "batch": batch, "suspended": False}
                rows = [{**same, "slot": slot, "person": people[analyst]} for analyst, slot in names.items()]
                connection.execute(insert(SEATS), rows)
                self._changes.note(connection, acts, "cut", {**detail, "certificate": certificate})
            elif acts.proposal is not None:
                _carried_out(connection, acts)
        return certificate

    def _certificate(
        self, dataset: Dataset, detail: Mapping[str, Any], names: Mapping[str, str], shares: list[ApproxDP]
    ) -> dict[str, Any]:
        bound = compose(shares, delta=detail["delta"])
        whole = Fraction(bound.upper) if detail["epsilon"] is None else Fraction(detail["epsilon"])
        slots = {each: {"slot": names[each], "share": list(pair)} for each, pair in detail["slots"].items()}
        about = {"dataset": dataset.name, "account": dataset.account, "batch": detail["batch"], "slots": slots}
        about |= {"epsilon": str(whole), "delta": detail["delta"], "composed": bound.upper, "theorem": bound.theorem}
        return about | {"concurrent": "Lyu22-1", "head": self._ledger.head.document()}

    def _check_batch(self, dataset: Dataset, batch: str) -> None:
        """Two data sets may share an account; a batch belongs to one of them."""
        mine = SEATS.c.account == dataset.account, SEATS.c.batch == batch, SEATS.c.dataset != dataset.id
        with self._store.read() as connection:
            if connection.scalar(select(SEATS.c.id).where(*mine).limit(1)) is not None:
                raise Conflict(f"a batch {batch!r}", "of another data set is in the same account: give it another name")

    def _analysts(self, connection: Connection, names: Mapping[str, object] | Sequence[str]) -> dict[str, int]:
        """The numbers of people who may have a seat."""
        wanted, known = list(names), dict[str, Row[Any]]()
        for start in range(0, len(wanted), _ASKED_FOR):
            some = select(PEOPLE).where(PEOPLE.c.name.in_(wanted[start : start + _ASKED_FOR]))
            known |= {row.name: row for row in connection.execute(some)}
        for name in names:
            if name not in known:
                raise NotFound("person", name)
            if known[name].role != "analyst":
                raise InvalidInput("analyst", name, f"is {known[name].role}, and only analysts have seats")
        return {name: int(known[name].id) for name in names}

    def seats(self, person: Person | str | None = None) -> list[Seat]:
        """All seats, or those of an analyst that their token is for."""
        wanted = _seats()
        if person is not None:
            name = person if isinstance(person, str) else person.name
            wanted = wanted.where(PEOPLE.c.name == name)
        with self._store.read() as connection:
            rows = connection.execute(wanted.order_by(SEATS.c.id)).all()
        wanted_ones = {row.dataset for row in rows}
        about = {each.id: each for each in self.datasets() if each.id in wanted_ones}
        versions = {each.id: self._versions(each) for each in about.values()}
        found = [self._seat(row, about[row.dataset], versions[row.dataset]) for row in rows]
        return [seat for seat in found if not isinstance(person, Person) or person.sees(seat.dataset.account)]

    def analyst_of(self, account: str, slot: str) -> str:
        """Whose slot of an account it is; nothing if it is nobody's."""
        mine = SEATS.c.account == account, SEATS.c.slot == slot, SEATS.c.person == PEOPLE.c.id
        with self._store.read() as connection:
            return str(connection.scalar(select(PEOPLE.c.name).where(*mine)) or "")

    def seat(self, number: int, person: Person | None = None) -> Seat:
        """One seat; for an analyst only if it is theirs and their token is for its data set."""
        with self._store.read() as connection:
            row = connection.execute(_seats().where(SEATS.c.id == number)).one_or_none()
        if row is None:
            raise NotFound("seat", number)
        seat = self._seat(row, self.dataset(row.dataset_name))
        theirs = person is None or (person.sees(seat.dataset.account) and person.name == seat.analyst)
        if not theirs:
            raise NotFound("seat", number)
        return seat

    def _seat(self, row: Row[Any], dataset: Dataset, versions: _Versions | None = None) -> Seat:
        if row.next_slot is not None:
            row = self._settled(row)
        known = self._versions(dataset, row.slot) if versions is None else versions
        found = known.get(row.slot, dataset)
        return Seat(row.id, found, row.slot, row.batch, row.analyst, bool(row.suspended))

    def _versions(self, dataset: Dataset, slot: str | None = None) -> _Versions:
        """For each slot whose session was opened about an earlier version, that version; the ledger knows which."""
        if dataset.version == 1:
            return {}
        marks = self.account(dataset).session_snapshots(slot)
        with self._store.read() as connection:
            rows = connection.execute(select(VERSIONS).where(VERSIONS.c.dataset == dataset.id)).all()
        home = self._store.settings.home
        known = {row.mark: at_version(dataset, row.version, home / row.snapshot) for row in rows}
        return {name: known[mark] for name, mark in marks.items() if mark in known}

    def hand_on(self, seat: int, analyst: str, *, by: By) -> Seat:
        """The seat for somebody else; nothing may have been asked in it."""
        acts, _ = self._acts_on_seat(by, seat)
        with self._store.read() as connection:
            self._analysts(connection, [analyst])
        detail = {"seat": seat, "analyst": analyst}
        self._second("hand on", detail, by)
        self._hand_on(detail, acts)
        return self.seat(seat)

    def _acts_on_seat(self, by: By, number: int) -> tuple[Acting, Seat]:
        """Whoever changes a seat; one of an account that their token is not for is not there."""
        person = self._person(by)
        found = self.seat(number)
        if not person.sees(found.dataset.account):
            raise NotFound("seat", number)
        return Acting(person.name), found

    def _hand_on(self, detail: Mapping[str, Any], acts: Acting) -> None:
        """First what is meant, in the centre; then the ledger; then what has happened."""
        seat = self.seat(detail["seat"])
        if seat.analyst == detail["analyst"]:
            if acts.proposal is not None:
                with self._store.write() as connection:
                    _carried_out(connection, acts)
            return
        account = self.account(seat.dataset)
        wanted = _fresh(f"{seat.batch}: {detail['analyst']}", {slot.name for slot in account.slots})
        check_name(wanted)
        with self._store.write() as connection:
            person = self._analysts(connection, [detail["analyst"]])[detail["analyst"]]
            meant = {"next_slot": wanted, "next_person": person, "next_by": acts.by, "next_second": acts.second}
            mine = SEATS.c.id == seat.id, SEATS.c.slot == seat.slot, SEATS.c.next_slot.is_(None)
            if connection.execute(update(SEATS).where(*mine).values(**meant)).rowcount != 1:
                raise Conflict(f"seat {seat.id}", "is being handed on by somebody else")
        with self._store.write() as connection:  # nobody else hands it on meanwhile
            if connection.scalar(select(SEATS.c.next_slot).where(SEATS.c.id == seat.id)) != wanted:
                raise Conflict(f"seat {seat.id}", "is being handed on by somebody else")
            asked = False
            try:
                account.slot(seat.slot).hand_on(wanted)
            except SlotNotFree:  # any other failure may have come after the ledger had done it
                asked = True
                connection.execute(update(SEATS).where(SEATS.c.id == seat.id).values(**_NOTHING_MEANT))
            else:
                self._moved(connection, seat.id, acts)
        if asked:
            raise Conflict(f"seat {seat.id}", _ASKED)

    def _settled(self, row: Row[Any]) -> Row[Any]:
        """A seat whose handing on was interrupted: as the ledger says."""
        with self._store.write() as connection:
            self._moved(connection, row.id, Acting(row.next_by, row.next_second))
            return connection.execute(_seats().where(SEATS.c.id == row.id)).one()

    def _moved(self, connection: Connection, number: int, acts: Acting) -> None:
        """What was meant has happened in the ledger, or else it is given up."""
        row = connection.execute(_seats().where(SEATS.c.id == number)).one()
        if row.next_slot is None:
            return
        if row.next_slot not in {slot.name for slot in self._ledger.account(row.account).slots}:
            connection.execute(update(SEATS).where(SEATS.c.id == number).values(**_NOTHING_MEANT))
            return
        new = connection.execute(select(PEOPLE.c.name).where(PEOPLE.c.id == row.next_person)).scalar_one()
        moved = {"slot": row.next_slot, "person": row.next_person, **_NOTHING_MEANT}
        connection.execute(update(SEATS).where(SEATS.c.id == number).values(**moved))
        detail = {"seat": number, "from": row.analyst, "to": new, "slot": row.next_slot}
        self._changes.note(connection, acts, "handed on", detail)

    def suspend_seat(self, seat: int, on: bool, *, by: By) -> None:
        """Suspend a seat, at once; or let it go on, for which a second owner may be wanted."""
        acts, known = self._acts_on_seat(by, seat)
        detail = {"seat": seat, "on": on}
        if known.suspended and not on:
            self._second("lift suspension of seat", detail, by)
        self._suspend_seat(detail, acts)

    def _suspend_seat(self, detail: Mapping[str, Any], acts: Acting) -> None:
        with self._store.write() as connection:
            changed = update(SEATS).where(SEATS.c.id == detail["seat"]).values(suspended=detail["on"])
            connection.execute(changed)
            what = "seat suspended" if detail["on"] else "suspension of seat lifted"
            self._changes.note(connection, acts, what, {"seat": detail["seat"]})


_NOTHING_MEANT = {"next_slot": None, "next_person": None, "next_by": None, "next_second": None}
"""Of a seat that is not being handed on."""


def _carried_out(connection: Connection, acts: Acting) -> None:
    connection.execute(update(PROPOSALS).where(PROPOSALS.c.id == acts.proposal).values(state="done"))


def _seats() -> Any:
    """Seats with the names of their analysts and data sets."""
    joined = SEATS.join(PEOPLE, PEOPLE.c.id == SEATS.c.person).join(DATASETS, DATASETS.c.id == SEATS.c.dataset)
    names = PEOPLE.c.name.label("analyst"), DATASETS.c.name.label("dataset_name")
    return select(SEATS, *names).select_from(joined)


def _fresh(name: str, taken: set[str]) -> str:
    """A name that no slot of the account has had."""
    if name not in taken:
        return name
    return next(f"{name} ({number})" for number in range(2, len(taken) + 3) if f"{name} ({number})" not in taken)


def _shares(slots: object) -> dict[str, list[str]]:
    if not isinstance(slots, Mapping) or not slots:
        raise InvalidInput("slots", slots, "must be names of analysts with an ε or (ε, δ) each, at least one")
    found = {}
    for name, share in slots.items():
        pair = list(share) if isinstance(share, list | tuple) else [share, 0]
        if not isinstance(name, str) or len(pair) != 2:
            raise InvalidInput("slots", name, "must be the name of an analyst with an ε or (ε, δ)")
        made = ApproxDP(*pair)
        found[name] = [_number(made.epsilon, "epsilon"), _number(made.delta, "delta")]
    return found


def _number(value: Number, argument: str) -> str:
    return str(Fraction(exact(value, argument)))
