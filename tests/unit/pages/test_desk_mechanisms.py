"""Interactive mechanisms on pages: paid once when they are opened, asked for nothing more, and closed in words."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.unit.center.served import Served
from tests.unit.pages.test_desk_pages import opened, spent
from tests.unit.pages.visitors import Visitor, hidden_fields, words_of

SPARSE = "mechanism=sparse+vector&threshold=100&epsilon=5&positives=2&sensitivity=2"
"""Counts up to 20 are below, and that of all 200 rows above, but for a chance of 1e-15: noise of scales 1.4 and 2.3."""


def standing(centre: Served, seat: int) -> dict[str, object]:
    (found,) = centre.call("get", f"/api/v1/seats/{seat}/mechanisms", "ada").json()["mechanisms"]
    return dict(found)


def test_it_is_paid_once_and_asked_for_nothing(centre: Served) -> None:
    at, seat = Visitor(centre, "ada"), centre.seat("ada", "10")
    confirm = at.get(f"/analyst/seats/{seat}/open/fix?{SPARSE}").headers["location"]
    text = words_of(at.get(confirm).text)
    assert "sparse vector at ε = 5, threshold 100, 2 positive" in text
    assert "ε 5 of 10 left" in text
    fixed = hidden_fields(at.get(confirm).text)
    first, again = (at.post(confirm, fixed).headers["location"] for _ in range(2))
    assert first == again == at.get(confirm).headers["location"]
    assert spent(centre, seat) == 5
    for _ in range(3):  # a form that is sent again is the same question
        told = at.post(first, {"kind": "count", "where": "age >= 90"}, page=first)
        assert told.status_code == 303
    shown = words_of(at.get(told.headers["location"]).text)
    assert "below the threshold" in shown
    assert "1 questions answered. 2 positive answers left" in shown
    assert spent(centre, seat) == 5


def test_a_fresh_answer_is_asked_for_by_number(centre: Served) -> None:
    """All rows lie far above the threshold: two positive answers, and it is closed."""
    at, seat = Visitor(centre, "ada"), centre.seat("ada", "10")
    address = opened(at, seat, SPARSE)
    at.post(address, {"kind": "count"}, page=address)
    assert 'name="fresh" value="1"' in at.get(address).text
    for _ in range(2):
        assert at.post(address, {"kind": "count", "fresh": "1"}, page=address).status_code == 303
    found = standing(centre, seat)
    assert [each["answer"] for each in found["asked"]] == [True, True]  # type: ignore[attr-defined]
    assert found["closed"]
    text = at.get(address).text
    assert "It has given all the answers that were paid for." in text
    assert "Ask the mechanism" not in text
    refused = at.post(address, {"kind": "count", "where": "age >= 1", "proof": at.proof()})
    assert refused.status_code == 409
    assert "all positive answers are given" in words_of(refused.text)
    assert "closed" in words_of(at.get(f"/analyst/seats/{seat}").text)
    assert spent(centre, seat) == 5


def test_guesses_and_weights(centre: Served) -> None:
    at, seat = Visitor(centre, "ada"), centre.seat("ada", "20")
    guess = opened(at, seat, "mechanism=guess+and+check&tolerance=100&epsilon=8&corrections=2&sensitivity=2")
    weights = opened(
        at, seat, "mechanism=multiplicative+weights&columns=region&tolerance=20&epsilon=8&corrections=2&check_share=1/2"
    )
    right = at.post(guess, {"kind": "count", "guess": "200"}, page=guess).headers["location"]
    assert "200: the guess passed the check" in words_of(at.get(right).text)  # noise of scale 2.8 is not 100: e^-35
    wrong = at.post(guess, {"kind": "count", "guess": "9999"}, page=guess).headers["location"]
    assert "measured with noise" in words_of(at.get(wrong).text)
    told = at.post(weights, {"where": "region == 'north'"}, page=weights)
    assert told.status_code == 303
    side = at.get(f"/analyst/seats/{seat}").text
    assert guess in side
    assert weights in side
    assert "1 corrections left" in words_of(side)
    assert spent(centre, seat) == 16


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"kind": "count", "where": "age >"}, "where"), ({"kind": "count", "where": "income > 3"}, "where")],
)
def test_what_is_wrong_is_said_beside_its_field(centre: Served, fields: dict[str, str], field: str) -> None:
    at, seat = Visitor(centre, "ada"), centre.seat("ada", "10")
    address = opened(at, seat, SPARSE)
    found = at.post(address, fields, page=address)
    assert found.status_code == 422
    assert f'id="{field}-wrong"' in found.text
    assert standing(centre, seat)["asked"] == []


def test_a_guess_that_is_no_number_is_said_beside_it(centre: Served) -> None:
    at, seat = Visitor(centre, "ada"), centre.seat("ada", "10")
    address = opened(at, seat, "mechanism=guess+and+check&tolerance=50&epsilon=8&corrections=2&sensitivity=2")
    found = at.post(address, {"kind": "count", "guess": "many"}, page=address)
    assert found.status_code == 422
    assert 'id="guess-wrong"' in found.text


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("mechanism=sparse+vector&epsilon=x", "epsilon"),
        ("mechanism=sparse+vector&threshold=", "threshold"),
        ("mechanism=sparse+vector&positives=0", "positives"),
        ("mechanism=guess+and+check&tolerance=-1", "tolerance"),
        ("mechanism=guess+and+check&check_share=2", "check_share"),
        ("mechanism=multiplicative+weights&columns=age&where=age+%3E", "where"),
    ],
)
def test_a_form_that_makes_no_sense_is_not_paid_for(centre: Served, query: str, field: str) -> None:
    at, seat = Visitor(centre, "ada"), centre.seat("ada", "10")
    text = at.get(f"/analyst/seats/{seat}/open?{query}").text
    assert f'id="{field}-wrong"' in text
    assert "Go on to confirm" not in text


def test_what_a_slot_cannot_pay_for_is_said(centre: Served) -> None:
    at, seat = Visitor(centre, "ada"), centre.seat("ada", "1")
    curve = words_of(at.get(f"/analyst/seats/{seat}/open?mechanism=gaussian+sparse+vector").text)
    assert "this costs something else" in curve
    assert "Go on to confirm" not in curve
    confirm = at.get(f"/analyst/seats/{seat}/open/fix?{SPARSE}").headers["location"]
    assert "This does not fit into what is left" in words_of(at.get(confirm).text)
    refused = at.post(confirm, {"mechanism": fixed_sparse(at, centre), "proof": at.proof()})
    assert refused.status_code == 409
    assert "Not asked, and nothing was paid" in refused.text
    assert spent(centre, seat) == Fraction(0)


def fixed_sparse(at: Visitor, centre: Served) -> str:
    rich = centre.seat("ada", "10")
    return hidden_fields(at.get(at.get(f"/analyst/seats/{rich}/open/fix?{SPARSE}").headers["location"]).text)[
        "mechanism"
    ]
