"""Visits that end with their token, and drafts that no window overwrites."""

from __future__ import annotations

import sqlite3

import pytest

from optcomp.center import Conflict, Drafts, NotFound, NotKnown, People, Store, Visits, people
from optcomp.center import visits as visits_module
from optcomp.center.store import now
from optcomp.center.tables import VERSION
from optcomp.errors import InvalidInput
from tests.unit.center.homes import Centre


def test_a_visit_is_known_by_its_secret_alone(centre: Centre) -> None:
    visits = Visits(centre.store)
    token = centre.people.token("ada", scope=["people"], by="olga")
    first, second = visits.begin(token), visits.begin(token)
    assert first != second
    found = visits.who(first)
    assert (found.person.name, found.person.scope) == ("ada", ("people",))
    assert found.proof not in (first, token, visits.who(second).proof)
    visits.end(first)
    with pytest.raises(NotKnown):
        visits.who(first)
    assert visits.who(second).person.name == "ada"
    visits.end(first)


def test_no_visit_without_a_good_token(centre: Centre) -> None:
    for token in ("", "oc_" + "a" * 43, "x" * 10_000):
        with pytest.raises(NotKnown):
            Visits(centre.store).begin(token)


def test_a_visit_lasts_no_longer_than_its_token(centre: Centre, monkeypatch: pytest.MonkeyPatch) -> None:
    visits = Visits(centre.store)
    token = centre.people.token("ada", days=1 / 24, by="olga")
    secret = visits.begin(token)
    assert visits.who(secret).person.name == "ada"
    with monkeypatch.context() as an_hour_later:
        for module in (people, visits_module):
            an_hour_later.setattr(module, "now", lambda connection: now(connection) + 3600)
        for late in (lambda: visits.who(secret), lambda: visits.begin(token)):
            with pytest.raises(NotKnown):
                late()
    secret = visits.begin(centre.people.token("ben", by="olga"))
    assert visits.who(secret).person.name == "ben"
    (view,) = centre.people.tokens("ben")
    centre.people.revoke(view.id, by="olga")
    with pytest.raises(NotKnown):
        visits.who(secret)


def test_the_secret_is_not_in_the_database(centre: Centre) -> None:
    secret = Visits(centre.store).begin(centre.people.token("ada", by="olga"))
    if centre.store.database.sqlite:
        with sqlite3.connect(centre.store.database.path) as connection:
            assert secret not in "\n".join(connection.iterdump())


def test_drafts_are_of_one_person(centre: Centre) -> None:
    drafts, ada, ben = Drafts(centre.store), centre.people.person("ada"), centre.people.person("ben")
    made = drafts.add(ada, "plan", {"title": "höhe"})
    assert drafts.draft(ada, made.id) == made
    assert drafts.all(ben, "plan") == []
    for act in (lambda: drafts.draft(ben, made.id), lambda: drafts.drop(ben, made.id)):
        with pytest.raises(NotFound):
            act()
    with pytest.raises(NotFound):
        drafts.save(ben, made.id, {}, version=1)


def test_two_windows_do_not_overwrite_each_other(centre: Centre) -> None:
    drafts, ada = Drafts(centre.store), centre.people.person("ada")
    made = drafts.add(ada, "plan", {"n": 1})
    assert drafts.save(ada, made.id, {"n": 2}, version=1).version == 2
    with pytest.raises(Conflict, match="another window"):
        drafts.save(ada, made.id, {"n": 3}, version=1)
    assert drafts.draft(ada, made.id).document == {"n": 2}
    drafts.drop(ada, made.id)
    assert drafts.all(ada, "plan") == []


def test_a_draft_has_a_limit(centre: Centre) -> None:
    with pytest.raises(InvalidInput, match="draft"):
        Drafts(centre.store).add(centre.people.person("ada"), "plan", {"text": "x" * (1 << 20)})


def test_a_person_has_a_limited_number_of_drafts(centre: Centre, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optcomp.center.drafts._MOST", 2)
    drafts, ada, ben = Drafts(centre.store), centre.people.person("ada"), centre.people.person("ben")
    first, _ = drafts.add(ada, "plan", {}), drafts.add(ada, "question", {})
    with pytest.raises(Conflict, match="delete some of your 2"):
        drafts.add(ada, "plan", {})
    drafts.add(ben, "plan", {})
    drafts.drop(ada, first.id)
    drafts.add(ada, "plan", {})


def test_an_older_database_gets_what_it_lacks(centre: Centre) -> None:
    with centre.store.write() as connection:
        connection.exec_driver_sql("DROP TABLE drafts")
        connection.exec_driver_sql("UPDATE facts SET version = 1")
    centre.store.close()
    with Store(centre.settings) as again, again.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM drafts").scalar_one() == 0
        assert connection.exec_driver_sql("SELECT version FROM facts").scalar_one() == VERSION


def test_tokens_of_an_older_database_are_good_for_no_more(centre: Centre) -> None:
    """Until version 2 a scope named data sets; and who had made a token was in the log alone."""
    centre.register("people")
    centre.register("pets", account="people", epsilon=None, delta=None)
    centre.register("plants", disjoint=True)
    scopes = (None, ["people"], ["people", "pets"], ["pets", "plants", "people", "later"], ["plants"])
    tokens = [centre.people.token("ada", scope=scope, by="olga") for scope in scopes]
    with centre.store.write() as connection:
        for column in ("made_by", "second"):
            connection.exec_driver_sql(f"ALTER TABLE tokens DROP COLUMN {column}")
        connection.exec_driver_sql("UPDATE facts SET version = 2")
    centre.store.close()
    with Store(centre.settings) as again:
        found = [People(again).who(token).scope for token in tokens]
        assert found == [None, (), ("people",), ("people", "plants"), ("plants",)]
        assert {(view.by, view.second) for view in People(again).tokens("ada")} == {("olga", None)}


def test_a_limited_token_sees_no_draft_of_a_wider_one(centre: Centre) -> None:
    wide, narrow, narrower = (
        centre.people.who(centre.people.token("olga", scope=scope, by="olga"))
        for scope in (None, ["people", "pets"], ["people"])
    )
    drafts = Drafts(centre.store)
    made = [drafts.add(person, "plan", {"of": number}) for number, person in enumerate((wide, narrow, narrower))]
    seen = [[each.document["of"] for each in drafts.all(person, "plan")] for person in (wide, narrow, narrower)]
    assert [sorted(each) for each in seen] == [[0, 1, 2], [1, 2], [2]]
    for act in (
        lambda: drafts.draft(narrow, made[0].id),
        lambda: drafts.save(narrow, made[0].id, {}, version=1),
        lambda: drafts.drop(narrow, made[0].id),
    ):
        with pytest.raises(NotFound):
            act()
    assert drafts.draft(wide, made[0].id).document == {"of": 0}
