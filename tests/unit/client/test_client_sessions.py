"""Clients against a centre in this process: the surface of a session, and the same sums as the ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from fractions import Fraction

import pytest

import optcomp
from optcomp.client import NotServed
from optcomp.guarantees import PureDP
from optcomp.interactive import SparseVector
from optcomp.statistics import Count, Histogram, Mean, Question
from tests.unit.center.served import Served, served


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("client") / "home", processes=False) as found:
        yield found


def test_the_front_door_has_both_clients() -> None:
    assert optcomp.Client.__module__ == "optcomp.client.client"
    assert {"Client", "AsyncClient"} <= set(dir(optcomp))


def test_a_session(centre: Served) -> None:
    seat = centre.seat("ada")
    with centre.client("ada") as client:
        assert client.datasets() == ["survey"]
        session = client.open("survey", slot=centre.slot_of(seat))
        assert session.declared.contribution.rows == 2
        answer = session.ask(Count(), epsilon="1/10")
        low, high = answer.interval("0.99999999999")
        assert low <= 200 <= high  # but for a chance of 1e-11
        assert session.ask(Count(), epsilon="1/10").value == answer.value
        assert session.remaining().amounts["epsilon"] == (Fraction(9, 10), Fraction(1))
        assert session.remaining(Question(Count(), epsilon="1/5")).count == 4
        fresh = session.ask(Count(), epsilon="1/10", repeat=1)
        assert fresh.receipt != answer.receipt
        assert session.remaining().amounts["epsilon"][0] == Fraction(8, 10)
        (first, second) = session.transcript
        assert (first.outcome, first.costs) == ("answered", (PureDP(Fraction(1, 10)),))
        assert answer.receipt is not None
        number = int(first.note.split()[1])
        assert answer.receipt["head"] in str(session.why(number))
        assert "answered  count at ε = 0.1" in session.explain()
        assert second.what == first.what


def test_a_budget_that_is_used_up(centre: Served) -> None:
    seat = centre.seat("ada", "1/2")
    session = centre.client("ada").open("survey", slot=centre.slot_of(seat))
    session.ask(Count(), epsilon="0.4")
    with pytest.raises(optcomp.BudgetExceeded) as caught:
        session.ask(Count(), epsilon="0.2")
    assert caught.value.remaining["amounts"]["epsilon"]["left"] == "1/10"  # type: ignore[index]
    with pytest.raises(optcomp.InvalidInput) as wrong:
        session.ask(Mean("income"), epsilon="0.01")
    assert "income" in str(wrong.value)
    assert session.remaining().amounts["epsilon"][0] == Fraction(1, 10)


def test_mechanisms_plans_previews_dry_runs(centre: Served) -> None:
    seat = centre.seat("ben")
    session = centre.client("ben").open("survey", slot=centre.slot_of(seat))
    run = session.open(SparseVector(-(10**4), epsilon="1/4", sensitivity=2))
    assert run.ask(Count()) is True  # but for a chance of e^-300: noise of scale 26 would have to reach 10^4
    with pytest.raises(optcomp.MechanismClosed):
        run.ask(Count("age >= 1"))
    plan = session.commit([Question(Count(), epsilon="1/8"), Question(Mean("age"), epsilon="1/8")])
    told: list[tuple[int, int]] = []
    assert plan.answers(lambda done, of: told.append((done, of)))[0].value == plan.answer(0).value
    assert told == [(1, 2), (2, 2)]
    assert session.remaining().amounts["epsilon"][0] == Fraction(1, 2)
    assert session.preview(Count(), epsilon="1/8")["more"] == 4
    invented = session.dry_run(Histogram("region"), epsilon="1")
    assert isinstance(invented.value, dict)
    assert str(invented).endswith("(invented data)")
    assert session.frame([invented, plan.answer(0)]).invented.tolist() == [True] * len(invented.value) + [False]
    assert session.remaining().amounts["epsilon"][0] == Fraction(1, 2)


def test_a_frame_has_error_bars(centre: Served) -> None:
    seat = centre.seat("ben")
    session = centre.client("ben").open("survey", slot=centre.slot_of(seat))
    answers = [session.ask(Count(), epsilon="1/4"), session.ask(Histogram("region"), epsilon="1/4")]
    frame = session.frame(answers)
    assert list(frame.columns) == ["statistic", "cell", "value", "low", "high", "rows_off", "invented"]
    assert len(frame) == 1 + len(answers[1].value)
    assert (frame.low <= frame.value).all()
    assert (frame.value <= frame.high).all()


def test_what_is_not_ours(centre: Served) -> None:
    client = centre.client("ada")
    with pytest.raises(NotServed) as caught:
        client.open("nothing")
    assert caught.value.code == "not_found"
    centre.tokens["nobody"] = "oc_" + "x" * 43
    with pytest.raises(NotServed) as unknown:
        centre.client("nobody").datasets()
    assert unknown.value.status == 401


def test_free_answers(centre: Served) -> None:
    seat = centre.seat("ada")
    session = centre.client("ada").open("survey", slot=centre.slot_of(seat))
    shared = session.ask(Count("age >= 10"), epsilon="1/10", share=True)
    found = centre.client("ben").free_answers("survey")
    assert shared.value in [each.value for each in found]


def test_the_asynchronous_client(centre: Served) -> None:
    """Ten questions at once, paid once each; the same surface."""
    seat = centre.seat("ada")

    async def many() -> tuple[list[float], Fraction, int]:
        async with centre.async_client("ada") as client:
            assert await client.datasets() == ["survey"]
            session = await client.open("survey", slot=centre.slot_of(seat))
            asked = [session.ask(Count(f"age >= {number}"), epsilon="1/20") for number in range(10)]
            values = [answer.value for answer in await asyncio.gather(*asked)]
            run = await session.open(SparseVector(50, epsilon="1/20", sensitivity=2))
            assert await run.ask(Count()) in (True, False)
            plan = await session.commit([Question(Count(), epsilon="1/20")])
            assert len(await plan.answers()) == 1
            assert (await session.preview(Count(), epsilon="1/20"))["more"] == 8
            left = (await session.remaining()).amounts["epsilon"][0]
            assert "Left" in await session.explain()
            return values, left, len(await session.transcript())

    values, left, lines = centre.wait(many())
    assert len(values) == 10
    assert left == 1 - 12 * Fraction(1, 20)
    assert lines == 14


def test_a_renewal_makes_nobody_pay_twice(centre: Served) -> None:
    """A seat goes on with its version, so the same question is the same request, also for a client that is new."""
    slot = centre.slot_of(centre.seat("ada"))
    first = centre.client("ada").open("survey", slot=slot).ask(Count(), epsilon="1/10")
    centre.service.catalogue.renew("survey", "people.parquet", by="olga")
    again = centre.client("ada").open("survey", slot=slot)
    assert again.ask(Count(), epsilon="1/10").receipt == first.receipt
    assert again.remaining().amounts["epsilon"] == (Fraction(9, 10), Fraction(1))
