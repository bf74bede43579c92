"""People and tokens: what is stored, who is known, when it ends, and how often one may ask."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any

import pytest
from sqlalchemy import select, update

from optcomp.center import Conflict, Forbidden, NotFound, NotKnown, Suspended, TooMany
from optcomp.center import people as people_module
from optcomp.center.tables import COUNTERS, PEOPLE, TOKENS
from optcomp.errors import InvalidInput
from tests.unit.center.homes import Centre


def everything_stored(centre: Centre) -> str:
    found = []
    with centre.store.read() as connection:
        for table in (PEOPLE, TOKENS):
            found += [str(tuple(row)) for row in connection.execute(select(table))]
    return "\n".join([*found, *(str(change) for change in centre.changes.all())])


def test_a_token_is_shown_once_and_kept_as_its_hash(centre: Centre) -> None:
    token = centre.people.token("ada", by="olga")
    assert re.fullmatch(r"oc_[A-Za-z0-9_-]{43}", token)
    stored = everything_stored(centre)
    assert token not in stored
    assert sha256(token.encode()).hexdigest() in stored
    assert centre.people.token("ada", by="olga") != token
    person = centre.people.who(token)
    assert (person.name, person.role, person.suspended, person.scope) == ("ada", "analyst", False, None)


def test_tokens_that_are_not_known(centre: Centre) -> None:
    unknown: list[Any] = ["", "oc_", "oc_" + "a" * 43, "oc_" + "é" * 43, "x" * 10**6, None, 7]
    for token in unknown:
        with pytest.raises(NotKnown) as told:
            centre.people.who(token)
        assert str(told.value) == "the token is not known, has expired or was revoked"


def test_the_clock_of_the_database_ends_tokens(centre: Centre) -> None:
    token = centre.people.token("ada", days=1, by="olga")
    (view,) = centre.people.tokens("ada")
    assert view.expires - view.made == 86_400
    assert not view.expired
    with centre.store.write() as connection:
        connection.execute(update(TOKENS).values(expires=TOKENS.c.expires - 82_800))
    assert centre.people.who(token).name == "ada"  # for an hour still
    with centre.store.write() as connection:
        connection.execute(update(TOKENS).values(expires=TOKENS.c.expires - 3_600))
    with pytest.raises(NotKnown):
        centre.people.who(token)
    assert centre.people.tokens("ada")[0].expired


def test_the_clock_of_the_process_does_not(centre: Centre, monkeypatch: pytest.MonkeyPatch) -> None:
    token = centre.people.token("ada", days=1, by="olga")
    monkeypatch.setattr("time.time", lambda: 10.0**11)
    assert centre.people.who(token).name == "ada"


def test_revoked(centre: Centre) -> None:
    first, second = (centre.people.token("ada", by="olga") for _ in range(2))
    (one, _) = centre.people.tokens("ada")
    with pytest.raises(Forbidden):
        centre.people.revoke(one.id, by="ada")
    centre.people.revoke(one.id, by="olga")
    with pytest.raises(NotKnown):
        centre.people.who(first)
    assert centre.people.who(second).name == "ada"
    with pytest.raises(NotFound):
        centre.people.revoke(10**6, by="olga")
    assert centre.changes.all()[-1].what == "token revoked"


def test_scopes(centre: Centre) -> None:
    person = centre.people.who(centre.people.token("ada", scope=["b", "a", "a"], by="olga"))
    assert person.scope == ("a", "b")
    assert (person.sees("a"), person.sees("c")) == (True, False)
    assert not centre.people.who(centre.people.token("ada", scope=[], by="olga")).sees("a")
    with pytest.raises(InvalidInput):
        centre.people.token("ada", scope="people", by="olga")


def test_a_scope_binds_owners_too(centre: Centre) -> None:
    centre.register()
    narrow = centre.people.who(centre.people.token("olga", scope=["others"], by="olga"))
    with pytest.raises(NotFound):
        centre.catalogue.cut("people", "b", {"ada": "0.1"}, delta="1e-8", by=narrow)


def test_days(centre: Centre) -> None:
    wrong: list[Any] = [0, -1, 1e9, float("nan"), True, "7"]
    for days in wrong:
        with pytest.raises(InvalidInput):
            centre.people.token("ada", days=days, by="olga")


def test_only_owners_manage_people(centre: Centre) -> None:
    for by in ("ada", "aud"):
        person = centre.people.who(centre.people.token(by, by="olga"))
        for act in (
            lambda by: centre.people.add("eve", "owner", by=by),
            lambda by: centre.people.suspend("olga", True, by=by),
            lambda by: centre.people.token(by if isinstance(by, str) else by.name, by=by),
        ):
            for who in (by, person):
                with pytest.raises(Forbidden):
                    act(who)
    with pytest.raises(InvalidInput):
        centre.people.add("eve", "owner", by=None)
    with pytest.raises(NotFound):
        centre.people.add("eve", "owner", by="nobody")
    assert [person.name for person in centre.people.all()] == ["olga", "ada", "ben", "aud"]


def test_a_role_is_read_again_when_it_is_used(centre: Centre) -> None:
    centre.people.add("otto", "owner", by="olga")
    otto = centre.people.who(centre.people.token("otto", by="olga"))
    centre.people.suspend("otto", True, by="olga")
    with pytest.raises(Suspended):  # whoever was an owner a moment ago
        centre.people.add("eve", "analyst", by=otto)


def test_suspended_is_told_apart(centre: Centre) -> None:
    token = centre.people.token("ada", by="olga")
    centre.people.suspend("ada", True, by="olga")
    person = centre.people.who(token)
    assert person.suspended
    with pytest.raises(Suspended, match="analyst 'ada' is suspended; ask an owner"):
        person.check("ask")
    with pytest.raises(Forbidden):  # the role comes first
        person.check("change budgets")
    centre.people.suspend("ada", False, by="olga")
    centre.people.who(token).check("ask")
    assert [change.what for change in centre.changes.all()][-2:] == ["suspended", "suspension lifted"]
    with pytest.raises(Conflict, match="cannot suspend themselves"):
        centre.people.suspend("olga", True, by="olga")


def test_names(centre: Centre) -> None:
    wrong: list[Any] = ["", " ", "x" * 201, "a\nb", "a\0", "a\u202eb", 7, None]
    for name in wrong:
        with pytest.raises(InvalidInput):
            centre.people.add(name, "analyst", by="olga")


def test_names_and_roles_that_fit(centre: Centre) -> None:
    centre.people.add("Zoë Ωmega " + "x" * 190, "analyst", by="olga")
    with pytest.raises(Conflict):
        centre.people.add("ada", "auditor", by="olga")
    with pytest.raises(InvalidInput, match="must be one of owner, analyst, auditor"):
        centre.people.add("eve", "root", by="olga")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock of the database that a test sets."""
    at = [1_000_000_000.0 - 1_000_000_000 % 60]
    monkeypatch.setattr(people_module, "now", lambda connection: at[0])
    return at


def test_rates_are_counted_in_the_database(centre: Centre, clock: list[float]) -> None:
    from optcomp.center import People, Store

    with Store(centre.settings) as other:  # as another worker would
        for place in range(6):
            (centre.people if place % 2 else People(other)).count("ada", 6)
        with pytest.raises(TooMany) as told:
            People(other).count("ada", 6)
    assert told.value.seconds == 60
    centre.people.count("ben", 6)
    clock[0] += 45
    with pytest.raises(TooMany) as told:
        centre.people.check_count("ada", 6)
    assert told.value.seconds == 15
    centre.people.check_count("ben", 6)
    clock[0] += 15
    centre.people.count("ada", 1)
    clock[0] += 120
    centre.people.count("ben", 1)
    with centre.store.read() as connection:  # old minutes are dropped
        assert [tuple(row)[:1] for row in connection.execute(select(COUNTERS))] == [("ben",)]


def test_checking_counts_nothing(centre: Centre, clock: list[float]) -> None:
    for _ in range(5):
        centre.people.check_count("x", 1)
    centre.people.count("x", 1)
    with pytest.raises(TooMany):
        centre.people.check_count("x", 1)


def test_counting_from_many_threads_misses_none(centre: Centre, clock: list[float]) -> None:
    def count(_: int) -> bool:
        try:
            centre.people.count("ada", 50)
        except TooMany:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(count, range(80))) == 50


def test_what_is_counted_lightly_leaves_other_writes_durable(centre: Centre) -> None:
    centre.people.count("ada", 50)
    wanted = ("PRAGMA synchronous", 2) if centre.store.database.sqlite else ("SHOW synchronous_commit", "on")
    for _ in range(3):
        with centre.store.database.borrowed() as first, centre.store.database.borrowed() as second:
            assert [each.execute(wanted[0]).fetchone()[0] for each in (first, second)] == [wanted[1]] * 2


def test_a_limited_token_makes_no_token_that_is_good_for_more(centre: Centre) -> None:
    limited = centre.people.who(centre.people.token("olga", scope=["people", "more"], by="olga"))
    before = len(centre.people.tokens("olga")), len(centre.people.tokens("ada"))
    for name in ("olga", "ada"):
        for scope in (None, ["others"], ["people", "others"]):
            with pytest.raises(Forbidden):
                centre.people.token(name, scope=scope, by=limited)
    assert (len(centre.people.tokens("olga")), len(centre.people.tokens("ada"))) == before
    assert centre.people.who(centre.people.token("ada", scope=["people"], by=limited)).scope == ("people",)


def test_names_that_look_like_others(centre: Centre) -> None:
    for name in (" ada", "ada ", "\u00a0ada", " "):
        with pytest.raises(InvalidInput, match="blank"):
            centre.people.add(name, "analyst", by="olga")
