"""How requests are tried again: the same body with the same key, and never one that must not be sent twice."""

from __future__ import annotations

from typing import Any

import pytest

import optcomp
from optcomp.client import NotServed
from optcomp.client.exchange import Call, Reply, Wait, exchange, key_of, reply_of
from optcomp.client.failures import error_of
from optcomp.client.wire import checked


def driven(call: Call, replies: list[Reply | None], retries: int) -> tuple[list[Call], list[float], Any]:
    """What was sent, how long was waited, and what came out, by a driver of our own."""
    sent: list[Call] = []
    waited: list[float] = []
    flow, answer, left = exchange(call, retries), None, list(replies)
    try:
        while True:
            step = flow.send(answer)
            if isinstance(step, Wait):
                waited.append(step.seconds)
                answer = None
            else:
                sent.append(step)
                answer = left.pop(0)
    except StopIteration as done:
        return sent, waited, done.value
    except optcomp.OptcompError as error:
        return sent, waited, error


ASK = Call("POST", "/x", {"key": "k"})


def test_what_nobody_answered_is_sent_again_with_its_key() -> None:
    sent, waited, found = driven(ASK, [None, Reply(503, {"error": "busy"}), Reply(424, {}), Reply(200, {"a": 1})], 3)
    assert sent == [ASK] * 4
    assert waited == [0.2, 0.4, 0.8]
    assert found == {"a": 1}


def test_the_server_says_how_long_to_wait() -> None:
    _, waited, _ = driven(ASK, [Reply(429, {"error": "too_many"}, 17.0), Reply(429, {}, 1e9), Reply(200, {})], 3)
    assert waited == [17.0, 60.0]


def test_a_refusal_is_not_tried_again() -> None:
    for status, code in ((409, "budget_exceeded"), (422, "invalid"), (403, "forbidden"), (404, "not_found")):
        sent, waited, found = driven(ASK, [Reply(status, {"error": code, "message": "no"})], 3)
        assert len(sent) == 1
        assert not waited
        assert isinstance(found, optcomp.OptcompError)


def test_what_must_not_be_sent_twice_is_sent_once() -> None:
    sent, _, found = driven(Call("POST", "/wishes", {}, again=False), [None], 3)
    assert len(sent) == 1
    assert isinstance(found, NotServed)
    assert found.status == 0


def test_tries_end() -> None:
    sent, waited, found = driven(ASK, [Reply(424, {"error": "not_answered"})] * 3, 2)
    assert (len(sent), len(waited)) == (3, 2)
    assert isinstance(found, optcomp.MechanismFailed)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (409, {"error": "budget_exceeded", "message": "m", "remaining": {"words": "w"}}, optcomp.BudgetExceeded),
        (422, {"error": "invalid", "message": "m", "argument": "epsilon"}, optcomp.InvalidInput),
        (422, {"error": "invalid", "message": "m", "theorem": "RRUV16"}, optcomp.HypothesisNotMet),
        (409, {"error": "conflict", "message": "m", "closed": True}, optcomp.MechanismClosed),
        (424, {"error": "not_answered", "message": "m"}, optcomp.MechanismFailed),
        (409, {"error": "conflict", "message": "m"}, NotServed),
        (502, {}, NotServed),
    ],
)
def test_errors_are_the_library_s_own(status: int, body: dict[str, Any], kind: type[Exception]) -> None:
    assert type(error_of(status, body)) is kind or isinstance(error_of(status, body), kind)


def test_an_argument_that_is_wrong_is_named() -> None:
    error = error_of(422, {"error": "invalid", "message": "epsilon: must be positive", "argument": "epsilon"})
    assert isinstance(error, optcomp.InvalidInput)
    assert (error.argument, str(error)) == ("epsilon", "epsilon: must be positive")


def test_a_key_follows_from_the_question_alone() -> None:
    one = key_of("question", {"question": {"a": 1, "b": 2}, "repeat": 0})
    assert one == key_of("question", {"repeat": 0, "question": {"b": 2, "a": 1}})
    assert one != key_of("question", {"question": {"a": 1, "b": 2}, "repeat": 1})
    assert one != key_of("plan", {"question": {"a": 1, "b": 2}, "repeat": 0})
    assert len(one) <= 200


def test_a_reply_that_is_no_json() -> None:
    assert reply_of(502, b"<html>", {}) == Reply(502, None)
    assert reply_of(503, b"{}", {"retry-after": "3"}) == Reply(503, {}, 3.0)
    assert reply_of(503, b"", {"retry-after": "Wed, 21 Oct 2026"}).wait is None


@pytest.mark.parametrize(
    ("argument", "given"),
    [
        ("url", ("ftp://x", "t", 1.0, 1)),
        ("url", ("localhost", "t", 1.0, 1)),
        ("token", ("http://x", "", 1.0, 1)),
        ("token", ("http://x", "a\nb", 1.0, 1)),
        ("timeout", ("http://x", "t", 0.0, 1)),
        ("retries", ("http://x", "t", 1.0, -1)),
    ],
)
def test_what_a_client_is_made_with_is_checked(argument: str, given: tuple[Any, ...]) -> None:
    with pytest.raises(optcomp.InvalidInput) as caught:
        checked(*given)
    assert caught.value.argument == argument


def test_no_error_shows_a_token() -> None:
    with pytest.raises(optcomp.InvalidInput) as caught:
        checked("http://x", "oc_secret\n", 1.0, 1)
    assert "oc_secret" not in str(caught.value)
