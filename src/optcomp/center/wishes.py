"""Analysts who ask for more, and answers that they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, insert, select, update

from optcomp.center.persons import By, Person, acting
from optcomp.center.refusals import Conflict, NotFound, TooMany
from optcomp.center.seats import Seats
from optcomp.center.store import now
from optcomp.center.tables import AGREEMENTS, DATASETS, PEOPLE, SEATS, WISHES
from optcomp.errors import InvalidInput

_LONGEST = 2000
"""Characters of a wish."""
_OPEN = 5  # budget requests of a person about one seat that may wait for an owner; more are refused with 429
_AGAIN = 60.0
"""Seconds after which somebody whose budget requests wait may try again."""
_TOO_MANY = f"{_OPEN} of your requests about this seat wait for an owner: ask again when one of them is decided"


@dataclass(frozen=True)
class Wish:
    """An analyst asks for more."""

    id: int
    at: float
    seat: int
    analyst: str
    words: str
    state: str

    def document(self) -> dict[str, Any]:
        """Ready for JSON."""
        return dict(vars(self))


class Wishes(Seats):
    """What analysts ask of owners, and agree to."""

    def wish(self, seat: int, words: str, *, by: By) -> int:
        """An analyst asks for more than a seat has; the number of the wish.  `TooMany` if enough of them wait."""
        plain = isinstance(words, str) and all(char.isprintable() or char in "\n\t" for char in words)
        if not plain or not words.strip() or len(words) > _LONGEST:
            raise InvalidInput("words", type(words).__name__, f"must be text, from 1 to {_LONGEST} characters")
        with self._store.write() as connection:
            person = acting(connection, by, "ask")
            if connection.scalar(select(SEATS.c.person).where(SEATS.c.id == seat)) != person.id:
                raise NotFound("seat", seat)
            mine = WISHES.c.seat == seat, WISHES.c.person == person.id, WISHES.c.state == "open"
            if connection.execute(select(func.count()).where(*mine)).scalar_one() >= _OPEN:
                raise TooMany(_AGAIN, _TOO_MANY)
            values = {"at": now(connection), "seat": seat, "person": person.id, "words": words, "state": "open"}
            return int(connection.execute(insert(WISHES).values(**values).returning(WISHES.c.id)).scalar_one())

    def wishes(self, viewer: Person | None = None) -> list[Wish]:
        """All wishes, the oldest first; those about the accounts of a viewer's token."""
        wanted = select(WISHES, PEOPLE.c.name).join(PEOPLE, PEOPLE.c.id == WISHES.c.person).order_by(WISHES.c.id)
        if viewer is not None and viewer.scope is not None:
            wanted = wanted.join(SEATS, SEATS.c.id == WISHES.c.seat).where(SEATS.c.account.in_(viewer.scope))
        with self._store.read() as connection:
            rows = connection.execute(wanted).all()
        return [Wish(row.id, row.at, row.seat, row.name, row.words, row.state) for row in rows]

    def decide(self, wish: int, granted: bool, *, by: By) -> None:
        """An owner's answer to a wish; more is given by cutting another batch."""
        with self._store.write() as connection:
            person = acting(connection, by, "change budgets")
            wanted = select(WISHES.c.state, SEATS.c.account).join(SEATS, SEATS.c.id == WISHES.c.seat)
            found = connection.execute(wanted.where(WISHES.c.id == wish)).one_or_none()
            if found is None or not person.sees(found.account):
                raise NotFound("wish", wish)
            if found.state != "open":
                raise Conflict(f"wish {wish}", f"was {found.state} before")
            new = "granted" if granted else "declined"
            connection.execute(update(WISHES).where(WISHES.c.id == wish).values(state=new))
            self._changes.note(connection, person.name, f"wish {new}", {"wish": wish})

    def agree(self, seat: int, request: str, *, by: By) -> None:
        """An analyst agrees that an answer is told to others, where the owner allows it."""
        with self._store.write() as connection:
            person = acting(connection, by, "ask")
            mine = SEATS.c.id == seat, SEATS.c.person == person.id, SEATS.c.dataset == DATASETS.c.id
            free = connection.scalar(select(DATASETS.c.free).where(*mine))
            if free is None:
                raise NotFound("seat", seat)
            if not free:
                raise InvalidInput("share", True, "the owner of this data set does not allow it")
            known = AGREEMENTS.c.seat == seat, AGREEMENTS.c.request == str(request)
            if connection.scalar(select(AGREEMENTS.c.seat).where(*known)) is None:
                values = {"seat": seat, "request": str(request), "at": now(connection)}
                connection.execute(insert(AGREEMENTS).values(**values))

    def agreed(self, name: str) -> list[tuple[int, str]]:
        """Seats and requests of a data set whose answers are shared; none where its owner does not allow it."""
        dataset = self.dataset(name)
        if not dataset.free:
            return []
        mine = SEATS.c.dataset == dataset.id, AGREEMENTS.c.seat == SEATS.c.id
        with self._store.read() as connection:
            rows = connection.execute(select(AGREEMENTS).where(*mine).order_by(AGREEMENTS.c.at)).all()
        return [(row.seat, row.request) for row in rows]
