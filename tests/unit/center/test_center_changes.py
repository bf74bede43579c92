"""Two persons: a change waits for another owner, and one owner cannot be both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from optcomp.center import Conflict, Forbidden, NeedsSecond, NotFound
from tests.unit.center.homes import Centre


def asked(act: Callable[[], Any]) -> int:
    with pytest.raises(NeedsSecond) as told:
        act()
    return told.value.confirmation


def confirmed(pair: Centre, act: Callable[[], Any]) -> dict[str, Any]:
    return pair.catalogue.confirm(asked(act), by="otto")


def test_everything_that_changes_a_budget_waits(pair: Centre) -> None:
    number = asked(pair.register)
    assert pair.catalogue.datasets() == []
    assert pair.ledger.accounts() == ()
    (waiting,) = pair.changes.waiting()
    assert (waiting.id, waiting.who, waiting.kind, waiting.state) == (number, "olga", "register", "waiting")
    with pytest.raises(Conflict, match="by another owner"):
        pair.catalogue.confirm(number, by="olga")
    for by in ("ada", "aud"):
        with pytest.raises(Forbidden):
            pair.catalogue.confirm(number, by=by)
    with pytest.raises(NotFound):
        pair.catalogue.confirm(10**6, by="otto")
    made = pair.catalogue.confirm(number, by="otto")
    assert (made["kind"], made["who"], made["second"], made["made"]["name"]) == ("register", "olga", "otto", "people")
    with pytest.raises(Conflict, match="was carried out before"):
        pair.catalogue.confirm(number, by="otto")
    assert pair.changes.waiting() == []
    cut = lambda: pair.catalogue.cut("people", "b", {"ada": "0.1"}, delta="1e-8", by="olga")  # noqa: E731
    assert confirmed(pair, cut)["made"]["theorem"]
    (seat,) = pair.catalogue.seats()
    confirmed(pair, lambda: pair.catalogue.hand_on(seat.id, "ben", by="olga"))
    assert pair.catalogue.seat(seat.id).analyst == "ben"
    confirmed(pair, lambda: pair.catalogue.lower("people", epsilon=1, delta="1e-6", by="olga"))
    confirmed(pair, lambda: pair.catalogue.renew("people", pair.file(), by="olga"))
    assert pair.catalogue.dataset("people").version == 2
    pair.catalogue.suspend_seat(seat.id, True, by="olga")  # at once
    assert pair.catalogue.seat(seat.id).suspended
    confirmed(pair, lambda: pair.catalogue.suspend_seat(seat.id, False, by="olga"))
    assert not pair.catalogue.seat(seat.id).suspended
    pair.catalogue.close("people", True, by="olga")
    confirmed(pair, lambda: pair.catalogue.close("people", False, by="olga"))
    assert pair.catalogue.dataset("people").state == "open"
    pair.people.suspend("ada", True, by="olga")
    confirmed(pair, lambda: pair.people.suspend("ada", False, by="olga"))
    assert not pair.people.person("ada").suspended
    both = [(each.what, each.who, each.second) for each in pair.changes.all() if each.second]
    whats = ["registered", "cut", "handed on", "lowered", "renewed"]
    whats += ["suspension of seat lifted", "data set open", "suspension lifted"]
    assert both == [(what, "olga", "otto") for what in whats]


def test_one_owner_cannot_be_two(pair: Centre) -> None:
    number = asked(lambda: pair.people.add("olga2", "owner", by="olga"))
    assert "olga2" not in [person.name for person in pair.people.all()]
    olga = pair.people.who(pair.people.token("olga", by="olga"))
    with pytest.raises(Forbidden, match="token of another owner"):
        pair.people.token("otto", by=olga)
    pair.people.token("olga", by=olga)
    pair.catalogue.confirm(number, by="otto")
    assert pair.people.person("olga2").role == "owner"


def test_a_token_for_somebody_else_needs_two_owners(pair: Centre) -> None:
    """Else one owner could ask in an analyst's name, and spend her slot."""
    olga, otto = (pair.people.who(pair.people.token(name, by=name)) for name in ("olga", "otto"))
    number = asked(lambda: pair.people.token("ada", days=7, scope=["people"], by=olga))
    assert pair.people.tokens("ada") == []
    with pytest.raises(Conflict, match="by another owner"):
        pair.catalogue.confirm(number, by=olga)
    made = pair.catalogue.confirm(number, by=otto)["made"]
    person = pair.people.who(made["token"])
    assert (made["person"], person.name, person.scope) == ("ada", "ada", ("people",))
    (view,) = pair.people.tokens("ada")
    assert (view.by, view.second, round(view.expires - view.made)) == ("olga", "otto", 7 * 86_400)
    with pytest.raises(Conflict, match="was carried out before"):
        pair.catalogue.confirm(number, by=otto)
    with pair.store.read() as connection:  # it is shown, and not kept
        kept = connection.exec_driver_sql("SELECT detail FROM proposals UNION SELECT detail FROM changes").all()
    assert made["token"] not in str(kept)
    pair.people.token("ada", by="olga")  # whoever has the machine can be both


def test_an_owner_is_suspended_by_two(pair: Centre) -> None:
    olga, otto = (pair.people.who(pair.people.token(name, by=name)) for name in ("olga", "otto"))
    number = asked(lambda: pair.people.suspend("otto", True, by=olga))
    assert not pair.people.person("otto").suspended
    with pytest.raises(Conflict, match="by another owner"):
        pair.catalogue.confirm(number, by=olga)
    pair.catalogue.confirm(number, by=otto)
    assert pair.people.person("otto").suspended
    with pytest.raises(NeedsSecond):  # over HTTP one owner does not lift it either
        pair.people.suspend("otto", False, by=olga)
    pair.people.suspend("otto", False, by="olga")  # on the machine
    assert not pair.people.person("otto").suspended
    pair.people.suspend("ada", True, by=otto)  # an analyst at once
    assert pair.people.person("ada").suspended


def test_whoever_asked_must_be_an_owner_still(pair: Centre) -> None:
    number = asked(pair.register)
    pair.people.suspend("olga", True, by="otto")
    with pytest.raises(Exception, match="is suspended"):
        pair.catalogue.confirm(number, by="otto")
    assert pair.ledger.accounts() == ()


def test_a_confirmation_that_was_interrupted_may_be_repeated(pair: Centre, monkeypatch: pytest.MonkeyPatch) -> None:
    confirmed(pair, pair.register)
    number = asked(lambda: pair.catalogue.cut("people", "b", {"ada": "0.1"}, delta="1e-8", by="olga"))

    def killed(*_: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(pair.changes.__class__, "note", killed)
        with pytest.raises(RuntimeError):
            pair.catalogue.confirm(number, by="otto")
    assert pair.catalogue.seats() == []
    paid = str(pair.ledger.account("people").remaining())
    pair.catalogue.confirm(number, by="otto")
    assert len(pair.catalogue.seats()) == 1
    assert str(pair.ledger.account("people").remaining()) == paid
    assert pair.changes.waiting() == []
