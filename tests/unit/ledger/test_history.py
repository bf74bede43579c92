"""What happened, entry by entry: every entry once, with its request, what was paid, and no answer."""

from __future__ import annotations

from pathlib import Path

from optcomp.ledger import HistoryEntry, Ledger
from optcomp.statistics import Count
from tests.unit.ledger.people import kinds, people


def test_every_entry_is_told_with_its_request(ledger_place: tuple[str, Path]) -> None:
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        account = ledger.open("study", epsilon="3", delta="1e-6")
        account.cut({"one": "1/2", "two": "1/2"}, delta="1e-7", name="spring")
        session = account.slot("one").session(people())
        session.ask(Count("age >= 65"), epsilon="0.1")
        session.ask(Count(), epsilon="0.2")
        account.slot("two").hand_on("three")
        account.lower(epsilon="2", delta="1e-6")
        found = ledger.history()
        assert [each.kind for each in found] == kinds(ledger)
        assert [each.sequence for each in found] == list(range(1, len(found) + 1))
        assert found[-1].head == ledger.head.head
        asked = [each for each in found if each.kind in ("reserved", "asked", "answered")]
        assert [each.what for each in asked if each.paid] == ["count where age >= 65 at ε = 0.1", "count at ε = 0.2"]
        assert [each.paid for each in asked if each.paid] == ["ε = 0.1", "ε = 0.2"]
        assert {each.holder for each in asked} == {"one"}
        answered = [each for each in asked if each.kind == "answered"]
        assert [each.request for each in answered] == [each.request for each in asked if each.paid]
        words = {each.kind: each.what for each in found}
        assert words["opened"] == "account study with (ε, δ) = (3, 1e-6)"
        assert words["cap"] == "budget (ε, δ) = (2, 1e-6)"
        assert words["batch"].startswith("batch 'spring': 2 slots, by ")
        assert words["handed on"].endswith("now three")
        assert {each.account for each in found} == {None, "study"}


def test_pages_of_history_are_the_whole(ledger_place: tuple[str, Path]) -> None:
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        account = ledger.open("study", epsilon="3", delta="1e-6")
        account.cut({"one": "1"}, delta="1e-7", name="spring")
        session = account.slot("one").session(people())
        for number in range(5):
            session.ask(Count(), epsilon="0.1", repeat=number)
        whole, after = ledger.history(), 0
        pieces: list[HistoryEntry] = []
        while some := ledger.history(after=after, most=2):
            pieces += some
            after = some[-1].sequence
        assert tuple(pieces) == whole
        assert "count at ε = 0.1" in {each.what for each in whole}
