"""Mechanisms as they stand, what one would cost, transcripts from their end, and a request under a key."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

from optcomp.center.jobs import perform
from optcomp.interactive import GaussianSparseVector, GuessAndCheck, PrivateMultiplicativeWeights, SparseVector
from optcomp.statistics import Count, Mean, Quantiles
from tests.unit.center.center_place import SmallCenter, form, small_center


class Desk:
    """Jobs of one seat, in this process."""

    def __init__(self, center: SmallCenter) -> None:
        self.center, self.ledger = center, center.ledger()

    def __call__(self, job: str, **arguments: Any) -> dict[str, Any]:
        arguments = {"seat": self.center.seat("ada"), **arguments}
        found: dict[str, Any] = json.loads(json.dumps(perform(self.ledger, self.center.settings, job, arguments)))
        return found


def test_mechanisms_tell_their_answers_and_what_is_left(tmp_path: Path) -> None:
    """No row is below, and all rows are above, but for a chance of e^-300: the noise has scales 4 and 7."""
    center = small_center(tmp_path, rows=4000)
    desk = Desk(center)
    assert desk("mechanisms") == {"mechanisms": []}
    spec = SparseVector(2000, epsilon="9/10", positives=2)
    number = desk("open_mechanism", mechanism=spec.document())["mechanism"]
    low = desk("ask_mechanism", mechanism=number, asked={"statistic": {"count": "rows", "where": "age < 0"}})
    high = [desk("ask_mechanism", mechanism=number, asked={"statistic": {"count": "rows"}}, repeat=n) for n in (0, 1)]
    (found,) = desk("mechanisms")["mechanisms"]
    assert [each["answer"] for each in found["asked"]] == [low["answer"], *(each["answer"] for each in high)]
    assert found["left"] == high[-1]["left"]
    assert [each["answer"] for each in found["asked"]] == [False, True, True]
    assert found["closed"]
    assert found["document"] == spec.document()
    assert center.spent() == Fraction(9, 10)


def test_a_preview_of_a_mechanism_is_what_it_costs(center: SmallCenter) -> None:
    desk = Desk(center)
    for spec in (
        SparseVector(10, epsilon="1/8", positives=3),
        GuessAndCheck(10, epsilon="1/8", corrections=4),
        PrivateMultiplicativeWeights(["age"], tolerance=50, epsilon="1/8", corrections=2, edges={"age": (0, 50, 99)}),
    ):
        before = center.spent()
        told = desk("preview_mechanism", mechanism=spec.document(), questions=50, confidence=0.9)
        assert center.spent() == before
        assert told["fits"]
        assert told["whole"] == "ε = 0.125"
        assert told["error"]["error"] == spec.reach(desk_declared(center), 50, 0.9)
        opened = desk("open_mechanism", mechanism=spec.document())
        assert opened["paid"]["words"] == told["whole"]
        assert center.spent() == before + Fraction(1, 8)
        assert opened["remaining"]["words"] == told["after"]["words"]


def desk_declared(center: SmallCenter) -> Any:
    from optcomp.center.opened import declared_in

    return declared_in(center.seat("ada")["snapshot"])


def test_a_slot_cannot_pay_for_a_curve(center: SmallCenter) -> None:
    spec = GaussianSparseVector(10, sigma_threshold=50, sigma_questions=50, questions=10)
    told = Desk(center)("preview_mechanism", mechanism=spec.document())
    assert (told["fits"], told["more"], told["cost"], told["whole"]) == (False, 0, [], None)
    assert "adds up" in told["note"]


def test_a_preview_tells_the_whole_cost_and_what_is_left_after(center: SmallCenter) -> None:
    desk, question = Desk(center), form(Mean("age"), epsilon="1/10")
    told = desk("preview", question=question)
    assert told["whole"] == "ε = 0.1"
    asked = desk("ask", question=question)
    assert asked["remaining"]["words"] == told["after"]["words"]
    assert asked["paid"]["words"] == "ε = 0.1"
    shares = form(Quantiles("age"), epsilon="3/10")
    chosen = desk("preview", question=shares)
    assert (chosen["fits"], chosen["more"], chosen["whole"]) == (True, 3, "ε = 0.3")
    assert desk("ask", question=shares)["remaining"]["words"] == chosen["after"]["words"]
    too_much = desk("preview", question=form(Count(), epsilon="7/10") | {"epsilon": "99/100"})
    assert (too_much["fits"], too_much["after"], too_much["whole"]) == (False, None, "ε = 0.99")


def test_transcripts_from_their_end_and_by_key(center: SmallCenter) -> None:
    desk = Desk(center)
    numbers = [
        desk("ask", question=form(Count(f"age >= {n}"), epsilon="1/100"), key=f"key {n}")["request"] for n in range(7)
    ]
    last = desk("transcript", newest=True, most=3)
    assert [each["request"] for each in last["requests"]] == numbers[-3:]
    assert last["more"]
    (found,) = desk("transcript", key="key 4")["requests"]
    assert (found["request"], found["key"]) == (numbers[4], "key 4")
    assert desk("transcript", key="key 99")["requests"] == []
