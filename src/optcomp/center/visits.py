"""People who are signed in with a browser: a visit begins with a token, and ends with it.

The browser holds a random secret in a cookie, of which the hash is kept here.  A visit is good while its token is: a
token that is revoked or expires ends all visits that began with it.  Every form sends back the proof of its visit,
which no other site can read.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from hashlib import sha256

from sqlalchemy import delete, insert, select

from optcomp.center.people import People, token_hash
from optcomp.center.persons import Person, person_of, read_scope
from optcomp.center.refusals import NotKnown
from optcomp.center.store import Store, now
from optcomp.center.tables import PEOPLE, TOKENS, VISITS

_LONGEST = 12 * 3600
"""Seconds of a visit: a working day, after which the token is asked for again."""
_LIVING = 20  # login sessions of one person; another one ends those that would expire first


@dataclass(frozen=True)
class Visit:
    """Who is signed in, and what their forms must send back."""

    person: Person
    proof: str


class Visits:
    """Everybody who is signed in."""

    def __init__(self, store: Store) -> None:
        self._store, self._people = store, People(store)

    def begin(self, token: str) -> str:
        """The secret of a new visit, for whoever has this token; `NotKnown` without a good one."""
        self._people.who(token)
        secret = secrets.token_urlsafe(32)
        with self._store.write() as connection:
            at = now(connection)
            found = connection.execute(select(TOKENS).where(TOKENS.c.hash == token_hash(token))).one()
            connection.execute(delete(VISITS).where(VISITS.c.expires <= at))
            theirs = select(VISITS.c.hash).join(TOKENS, VISITS.c.token == TOKENS.c.id)
            theirs = theirs.where(TOKENS.c.person == found.person).order_by(VISITS.c.expires.desc())
            connection.execute(delete(VISITS).where(VISITS.c.hash.in_(theirs.offset(_LIVING - 1))))
            connection.execute(
                insert(VISITS).values(
                    hash=_hash(secret),
                    token=found.id,
                    proof=secrets.token_urlsafe(32),
                    expires=min(at + _LONGEST, found.expires),
                )
            )
        return secret

    def who(self, secret: str) -> Visit:
        """Whose visit this is; `NotKnown` if it has ended, or its token is no longer good."""
        wanted = (
            select(PEOPLE, TOKENS.c.scope, VISITS.c.proof, VISITS.c.expires)
            .join(TOKENS, TOKENS.c.person == PEOPLE.c.id)
            .join(VISITS, VISITS.c.token == TOKENS.c.id)
        )
        with self._store.read() as connection:
            found = connection.execute(
                wanted.where(VISITS.c.hash == _hash(secret), TOKENS.c.revoked.is_(False))
            ).one_or_none()
            if found is None or found.expires <= now(connection):
                raise NotKnown
        return Visit(person_of(found, read_scope(found.scope)), str(found.proof))

    def end(self, secret: str) -> None:
        """Sign out; nothing happens if that was done before."""
        with self._store.write() as connection:
            connection.execute(delete(VISITS).where(VISITS.c.hash == _hash(secret)))


def _hash(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
