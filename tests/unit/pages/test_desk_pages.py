"""The desk without a browser's scripts: a GET never spends, a key is paid once, nobody sees another's seat."""

from __future__ import annotations

import re
from fractions import Fraction
from html import unescape
from typing import Any

import pytest

from optcomp.pages import desk, desk_files, desk_mechanisms, desk_questions
from tests.unit.center.served import Served
from tests.unit.pages.visitors import Visitor, hidden_fields, words_of

COUNT = "kind=count&where=age+%3E%3D+50&epsilon=0.1"


def spent(centre: Served, seat: int) -> Fraction:
    """What the ledger says, exactly."""
    slot = centre.service.ledger.account("survey").slot(centre.slot_of(seat))
    return Fraction(slot.budget.spent.epsilon or 0)


def confirmation(at: Visitor, seat: int, query: str = COUNT) -> str:
    """The address of a new confirmation."""
    found = at.get(f"/analyst/seats/{seat}/ask?{query}")
    assert found.status_code == 303
    return found.headers["location"]


def asked(at: Visitor, seat: int, query: str = COUNT) -> str:
    """The address of an answer that was paid for."""
    address = confirmation(at, seat, query)
    found = at.post(address, {}, page=address)
    assert found.status_code == 303, words_of(found.text)
    return found.headers["location"]


def opened(at: Visitor, seat: int, query: str) -> str:
    """The address of a mechanism that was opened."""
    address = at.get(f"/analyst/seats/{seat}/open/fix?{query}").headers["location"]
    found = at.post(address, {}, page=address)
    assert found.status_code == 303, words_of(found.text)
    return found.headers["location"]


def test_my_seats_and_nobody_elses(centre: Served) -> None:
    mine, other = centre.seat("ada", "3/4"), centre.seat("ben")
    text = Visitor(centre, "ada").get("/analyst").text
    assert f'href="/analyst/seats/{mine}"' in text
    assert f'href="/analyst/seats/{other}"' not in text
    assert "ε (epsilon): 0.75 of 0.75 left" in words_of(text)
    assert "Enough for about 15 more counts" in words_of(text)


@pytest.mark.parametrize("who", ["olga", "ruth"])
def test_the_desk_is_for_analysts(centre: Served, who: str) -> None:
    assert Visitor(centre, who).get("/analyst").status_code == 403
    assert Visitor(centre).get("/analyst").headers["location"] == "/sign-in?next=/analyst"


ROUTES = [
    (method, route.path)
    for part in (desk, desk_questions, desk_files, desk_mechanisms)
    for route in part.router.routes
    for method in route.methods
]
SEATED = sorted((method, path) for method, path in ROUTES if "{id}" in path and method != "HEAD")


def filled(path: str, seat: int, number: int = 1) -> str:
    return path.replace("{id}", str(seat)).replace("{number}", str(number)).replace("{key}", "some-key")


@pytest.mark.parametrize(("method", "path"), SEATED)
def test_a_seat_of_somebody_else_is_not_there(centre: Served, method: str, path: str) -> None:
    at, told = Visitor(centre, "ada"), []
    for seat in (centre.seat("ben"), 999_999):
        address = filled(path, seat)
        fields = {"proof": at.proof(), "words": "more", "question": "{}", "mechanism": "{}"}
        found = at.get(address) if method == "GET" else at.post(address, fields)
        assert found.status_code == 404, found.text
        told.append(words_of(found.text))
    assert told[0] == told[1]


@pytest.mark.parametrize("path", [path for method, path in SEATED if method == "POST"])
def test_a_form_without_its_proof_does_nothing(centre: Served, path: str) -> None:
    at, seat = Visitor(centre, "ada"), centre.seat("ada")
    number = int(asked(at, seat).rpartition("/")[2])
    before = spent(centre, seat)
    fixed = hidden_fields(at.get(confirmation(at, seat)).text)
    for proof in ("", Visitor(centre, "ben").proof()):
        found = at.post(filled(path, seat, number), fixed | {"proof": proof, "words": "more please"})
        assert found.status_code == 403
    assert spent(centre, seat) == before
    assert not [each for each in centre.service.catalogue.wishes() if each.words == "more please"]


def test_looking_spends_nothing_and_changes_nothing(centre: Served) -> None:
    at, seat = Visitor(centre, "ada"), centre.seat("ada")
    number = asked(at, seat).rpartition("/")[2]
    mechanism = opened(at, seat, "mechanism=sparse+vector&epsilon=0.1").rpartition("/")[2]
    before, head = spent(centre, seat), centre.service.ledger.head
    pages = [f"{COUNT}&dry=1", COUNT, "kind=mean&column=age&add=1&where_column=age&where_value=3", "kind=%00"]
    addresses = [f"/analyst/seats/{seat}?{each}" for each in pages]
    addresses += [
        filled(path, seat, int(each)) for method, path in SEATED if method == "GET" for each in (number, mechanism)
    ]
    for address in addresses:
        assert at.get(address).status_code in (200, 303, 404), address
    assert spent(centre, seat) == before == Fraction(1, 5)
    assert centre.service.ledger.head == head


def test_a_question_is_paid_once_and_shown(centre: Served) -> None:
    at, seat = Visitor(centre, "ada"), centre.seat("ada")
    address = confirmation(at, seat)
    page = at.get(address)
    assert "count where age >= 50 at ε = 0.1" in words_of(unescape(page.text))
    assert "ε 0.9 of 1 left" in words_of(page.text)
    fixed = hidden_fields(page.text)
    first, again = (at.post(address, fixed).headers["location"] for _ in range(2))
    assert first == again == at.get(address).headers["location"]
    assert spent(centre, seat) == Fraction(1, 10)
    (line,) = centre.call("get", f"/api/v1/seats/{seat}/transcript", "ada").json()["requests"]
    (amount,) = line["answer"]["amounts"][0]
    shown = at.get(first).text
    assert f'<p class="figure">{int(amount):,}</p>' in shown
    low, high = re.findall(r"between ([\d,.-]+) and ([\d,.-]+), with 95 %", words_of(shown))[0]
    assert int(low.replace(",", "")) <= int(amount) <= int(high.replace(",", ""))
    assert line["receipt"]["head"] in shown
    assert at.get(f"/analyst/seats/{seat}/ask?{COUNT}").headers["location"] != address


def test_the_key_is_fixed_with_the_question(centre: Served) -> None:
    """Another question under the same key is refused, and the confirmation says so."""
    at, seat = Visitor(centre, "ada"), centre.seat("ada")
    address = confirmation(at, seat)
    fixed = hidden_fields(at.get(address).text)
    assert at.post(address, fixed).status_code == 303
    other = at.post(address, fixed | {"question": fixed["question"].replace("50", "51")})
    assert other.status_code == 422
    assert "was used for something else" in words_of(other.text)
    assert spent(centre, seat) == Fraction(1, 10)


@pytest.mark.parametrize(
    "sent", ["", "{", "[]", "7", "[" * 100_000, '{"statistic": 1}', '{"a": NaN}', '{"a": "\\ud800"}']
)
def test_a_confirmation_that_was_changed_pays_nothing(centre: Served, sent: str) -> None:
    at, seat = Visitor(centre, "ada"), centre.seat("ada")
    address = confirmation(at, seat)
    found = at.post(address, {"question": sent}, page=address)
    assert found.status_code == 422
    assert spent(centre, seat) == 0


def test_what_does_not_fit_is_refused_in_words(centre: Served) -> None:
    at, seat = Visitor(centre, "ada"), centre.seat("ada", "3/20")
    first, second = confirmation(at, seat), confirmation(at, seat)
    fixed = hidden_fields(at.get(second).text)
    assert at.post(first, {}, page=first).status_code == 303
    refused = at.post(second, fixed)
    assert refused.status_code == 409
    assert "Not asked, and nothing was paid" in refused.text
    assert "exceeds by 0.05" in words_of(refused.text)
    assert "ε 0.05 of 0.15 left" in words_of(refused.text)
    assert f"/analyst/seats/{seat}#more" in refused.text
    assert spent(centre, seat) == Fraction(1, 10)
    form = words_of(at.get(f"/analyst/seats/{seat}?{COUNT}").text)
    assert "This does not fit into what is left" in form
    assert "Go on to confirm" not in form


@pytest.mark.parametrize(
    ("query", "field", "message"),
    [
        ("kind=count&epsilon=x", "epsilon", "must be a number"),
        ("kind=count&epsilon=-1", "epsilon", "must be positive"),
        ("kind=count&where=age+%3E%3D", "where", "must be a condition"),
        ("kind=count&where=income+%3E+1", "where", "income"),
        ("kind=histogram&column=age&bins=many", "bins", "must be a whole number"),
        ("kind=histogram&column=age&edges=5,4", "edges", "must ascend"),
        ("kind=quantiles&column=age&probabilities=2", "probabilities", "between 0 and 1"),
        ("kind=count&noise=gaussian&epsilon=1", "noise", "needs rho, or epsilon and delta"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(centre: Served, query: str, field: str, message: str) -> None:
    at, seat = Visitor(centre, "ada"), centre.seat("ada")
    text = at.get(f"/analyst/seats/{seat}?{query}").text
    (told,) = re.findall(rf'<p class="wrong" id="{field}-wrong">(.*?)</p>', text)
    assert message in unescape(told)
    assert "Go on to confirm" not in text
    assert at.get(f"/analyst/seats/{seat}/ask/a-key?{query}").status_code == 303


def test_a_suspended_seat_can_be_looked_at_only(centre: Served) -> None:
    at, seat = Visitor(centre, "ada"), centre.seat("ada")
    address = confirmation(at, seat)
    fixed = hidden_fields(at.get(address).text)
    centre.service.catalogue.suspend_seat(seat, True, by="olga")
    text = words_of(at.get(f"/analyst/seats/{seat}?{COUNT}").text)
    assert "This seat is suspended" in text
    assert "Go on to confirm" not in text
    assert "suspended" in words_of(at.get("/analyst").text)
    refused = at.post(address, fixed)
    assert refused.status_code == 403
    assert "suspended" in refused.text
    assert spent(centre, seat) == 0


def test_a_dry_run_says_so(centre: Served) -> None:
    at, seat = Visitor(centre, "ada"), centre.seat("ada")
    text = at.get(f"/analyst/seats/{seat}?{COUNT}&dry=1").text
    assert "Invented data" in text
    assert "They say nothing about anybody" in text
    assert "Invented data" not in at.get(f"/analyst/seats/{seat}?{COUNT}").text


def test_a_dry_run_that_takes_too_long_is_refused_beside_the_question(
    centre: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The question may be asked all the same."""
    monkeypatch.setattr("optcomp.center.jobs.MOST_FREE_NUMBERS", 0)
    at, seat = Visitor(centre, "ada"), centre.seat("ada")
    shown = at.get(f"/analyst/seats/{seat}?{COUNT}&dry=1")
    assert shown.status_code == 200
    text = words_of(shown.text)
    assert "must have at most 0 cells here" in text
    assert "Invented data" not in text
    assert "Go on to confirm" in text


def test_sharing_is_asked_for_and_others_see_it(centre: Served) -> None:
    at, ben = Visitor(centre, "ada"), Visitor(centre, "ben")
    seat, other = centre.seat("ada"), centre.seat("ben")
    query = "kind=histogram&column=region&epsilon=0.111"
    answer = asked(at, seat, query)
    assert "histogram of region at ε = 0.111" not in ben.get(f"/analyst/seats/{other}").text
    assert at.post(f"{answer}/share", {}, page=answer).status_code == 303
    assert "You shared this answer." in at.get(answer).text
    assert "histogram of region at ε = 0.111" in ben.get(f"/analyst/seats/{other}").text
    offered = words_of(ben.get(confirmation(ben, other, query)).text)
    assert "Somebody shared the answer to this very question." in offered
    again = words_of(at.get(confirmation(at, seat, query)).text)
    assert "You have the answer to this very question already." in again
    assert spent(centre, other) == 0


def test_a_question_may_be_shared_with_its_confirmation(centre: Served) -> None:
    at, seat = Visitor(centre, "ada"), centre.seat("ada")
    address = confirmation(at, seat, "kind=count&epsilon=0.0123")
    answer = at.post(address, {"share": "yes"}, page=address).headers["location"]
    assert "You shared this answer." in at.get(answer).text


def test_asking_for_more(centre: Served) -> None:
    at, seat = Visitor(centre, "ada"), centre.seat("ada")
    page = f"/analyst/seats/{seat}"
    words = 'more for <script>alert("1")</script>'
    for _ in range(2):
        found = at.post(f"{page}/wishes", {"words": words}, page=page)
        assert found.status_code == 303
    (wish,) = (each for each in centre.service.catalogue.wishes() if each.seat == seat)
    assert (wish.words, wish.analyst, wish.state) == (words, "ada", "open")
    shown = at.get(found.headers["location"]).text
    assert "Your words were sent to the owner." in shown
    assert "<script>alert" not in shown
    assert "not decided yet" in shown
    for wrong in ("", " ", "x" * 2001, "a\x00b"):
        assert at.post(f"{page}/wishes", {"words": wrong}, page=page).status_code == 422


def test_a_question_of_the_interface_is_shown_too(centre: Served) -> None:
    """One without a key, and one of a plan."""
    at, seat = Visitor(centre, "ada"), centre.seat("ada")
    question: dict[str, Any] = {"statistic": {"mean": "age"}, "noise": "laplace", "epsilon": "1/10"}
    told = centre.call("post", f"/api/v1/seats/{seat}/questions", "ada", {"question": question}).json()
    shown = at.get(f"/analyst/seats/{seat}/requests/{told['request']}")
    assert shown.status_code == 200
    assert "mean of age at ε = 0.1" in shown.text
    plan = centre.call("post", f"/api/v1/seats/{seat}/plans", "ada", {"questions": [question], "delta": "0"}).json()
    path = f"/api/v1/seats/{seat}/plans/{plan['plan']}/answers"
    answer = centre.call("post", path, "ada", {"index": 0}).json()
    for number in (plan["plan"], answer["request"]):
        assert at.get(f"/analyst/seats/{seat}/requests/{number}").status_code == 200
    transcript = words_of(at.get(f"/analyst/seats/{seat}/transcript").text)
    assert "mean of age at ε = 0.1, paid with its plan" in transcript
    assert f"/analyst/seats/{seat}/requests/{plan['plan']}" in at.get(f"/analyst/seats/{seat}/transcript").text
