"""Judges what a ledger holds against what was revealed and what the script may cost, with arithmetic of its own."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.campaign.crash_records import Records, digest, state
from tests.campaign.crash_script import ACCOUNT, Script, Step, expected

_PAID = {"question": "question", "plan": "plan", "open": "mechanism"}
"""Steps that are debited as requests, and the kinds of these."""
_OPENED = {"session": "session", "delegate": "session", "slot": "session", "batch": "batch"}
"""Steps that are entered and answered at once."""
_DONE = ("answered", "delivered")


class Judge:
    """Of one script; remembers everything that was revealed, by any of its workers."""

    def __init__(self, script: Script, private: Path) -> None:
        self._script, self._private = script, private
        self._expected = expected(script)
        self._revealed: dict[int, dict[str, Any]] = {}
        self._thresholds: dict[int, int] = {}

    def hear(self, lines: list[dict[str, Any]]) -> list[str]:
        """Lines of one worker: what was told before must be told again."""
        found = []
        for line in lines:
            if "error" in line:
                found.append(f"unexpected error: {line['error']}")
                continue
            number = line["step"]
            step, before = self._script.steps[number], self._revealed.setdefault(number, line)
            both = set(before) & set(line)
            if {"receipt", *before} != {"receipt", *line} or any(before[name] != line[name] for name in both):
                found.append(f"{step.do} {step.key}: another answer than before the crash")
            if (step in self._expected.refused) != ("refused" in line) or step not in self._possible():
                found.append(
                    f"{step.do} {step.key}: {'refused' if 'refused' in line else 'granted'} against the budget"
                )
        return found

    def _possible(self) -> list[Step]:
        return self._expected.granted + self._expected.refused

    def judge(self, records: Records, *, finished: bool) -> list[str]:
        """Everything that is wrong."""
        found = records.chain_breaks()
        found += self._budgets(records, finished)
        found += self._debits(records)
        found += self._answers(records)
        found += self._mechanisms(records)
        for number in self._revealed:
            found += self._told(records, number)
        if finished:
            missing = [step for step in self._expected.granted if self._row(records, step) is None]
            told = {self._script.steps[number] for number in self._revealed}
            found += [f"{step.do} {step.key}: granted, but not there" for step in missing if step.do != "ask"]
            found += [f"{step.do} {step.key}: never told" for step in self._possible() if step not in told]
        return found

    def _budgets(self, records: Records, finished: bool) -> list[str]:
        """Each holder has spent what the chain says, not more than its cap, and at the end what the script costs."""
        found, debited = [], records.debited()
        for row in records.holders:
            name, budget = row["name"], json.loads(row["budget"])
            spent, cap = Fraction(budget["spent"]["epsilon"]), Fraction(budget["parameters"]["epsilon"])
            if cap != self._expected.caps[name]:
                found.append(f"{name}: has another cap")
            if spent > cap or debited[row["id"]] > cap:
                found.append(f"{name}: overspent")
            if spent != debited[row["id"]]:
                found.append(f"{name}: spent {spent}, and the chain has debits of {debited[row['id']]}")
            if spent > self._expected.spent[name] or (finished and spent != self._expected.spent[name]):
                found.append(f"{name}: spent {spent}, and the script costs {self._expected.spent[name]}")
            if row["guard"] != 2**62 * spent.numerator * cap.denominator // (spent.denominator * cap.numerator):
                found.append(f"{name}: its guard is not what was spent")
        return found

    def _debits(self, records: Records) -> list[str]:
        """Every request has its one debit in the chain, and every debit its request."""
        inside = Counter(
            (body["holder"], body["kind"], body["form"])
            for entry, body in records.bodies
            if entry["kind"] == "reserved"
        )
        rows = Counter(
            (row["holder"], row["kind"], digest(row["form"]))
            for row in records.requests
            if row["kind"] in ("planned", *_PAID.values())
        )
        return [] if inside == rows else ["requests and debits in the chain are not the same"]

    def _answers(self, records: Records) -> list[str]:
        """Every stored answer is in the chain once, after its debit."""
        found, by_id = [], {row["id"]: row for row in records.requests}
        paid_at = {
            (body["holder"], body["form"]): entry["sequence"]
            for entry, body in records.bodies
            if entry["kind"] == "reserved"
        }
        seen: Counter[int] = Counter()
        for entry, body in records.bodies:
            if entry["kind"] == "answered":
                row = by_id[body["request"]]
                seen[row["id"]] += 1
                if not paid_at.get((row["holder"], digest(row["form"])), entry["sequence"]) < entry["sequence"]:
                    found.append(f"{row['key']}: answered before its debit")
                if row["state"] not in _DONE or body["commitment"] != digest(f"{row['salt']}\n{row['answer']}"):
                    found.append(f"{row['key']}: the chain knows another answer")
        for row in records.requests:
            run = row["kind"] in ("planned", *_PAID.values())
            if run and seen[row["id"]] != (row["state"] in _DONE):
                found.append(f"{row['key']}: answered {seen[row['id']]} times in the chain, and is {row['state']}")
            paid_by = json.loads(row["form"]).get("committed") if row["kind"] == "planned" else row["mechanism"]
            if paid_by is not None and by_id[paid_by]["state"] not in _DONE:
                found.append(f"{row['key']}: asked of what is not there")
        return found

    def _mechanisms(self, records: Records) -> list[str]:
        """Each goes on where it was: one threshold for ever, every question and every positive counted once."""
        found = []
        for row in records.mechanisms:
            asked = [each for each in records.requests if each["mechanism"] == row["id"]]
            answers = [json.loads(each["answer"]) for each in asked]
            positives = sum(answer if isinstance(answer, bool) else answer["corrected"] for answer in answers)
            inside = sum(e["kind"] == "asked" and b["mechanism"] == row["id"] for e, b in records.bodies)
            step = next(
                s for s in self._script.steps if s.do == "open" and f"key {s.key}" == self._key(records, row["id"])
            )
            known = state(self._private, row["state"])
            unchecked = sum(isinstance(answer, dict) and answer.get("checked") is False for answer in answers)
            if self._thresholds.setdefault(row["id"], known["threshold"]) != known["threshold"]:
                found.append(f"{step.key}: its threshold was drawn again")
            if positives > step.number or known["positives_left"] != step.number - positives:
                found.append(f"{step.key}: {positives} of {step.number} positives, {known['positives_left']} left")
            if known["asked"] != len(asked) - unchecked or row["version"] != 1 + len(asked) or inside != len(asked):
                found.append(f"{step.key}: its questions were not counted once each")
        return found

    def _key(self, records: Records, request: int) -> str:
        return str(next(row["key"] for row in records.requests if row["id"] == request))

    def _told(self, records: Records, number: int) -> list[str]:
        """What was revealed is stored, debited and in the chain."""
        line, step = self._revealed[number], self._script.steps[number]
        if "refused" in line:
            return []
        row = self._row(records, step)
        if "closed" in line:
            return [] if self._is_closed(records, step) else [f"{step.key}: closed too early"]
        if row is None or row["state"] not in _DONE:
            return [f"{step.do} {step.key}: told without a debit, or it was lost"]
        found = []
        if step.do in ("question", "planned", "ask") and json.loads(row["answer"]) != line["answer"]:
            found.append(f"{step.do} {step.key}: another answer is stored than was told")
        if step.do in _PAID and sum(Fraction(each["epsilon"]) for each in json.loads(row["paid"])) != step.price:
            found.append(f"{step.do} {step.key}: paid something else than its price")
        if "receipt" in line:
            entry, receipt = records.entries[line["receipt"]["sequence"] - 1], line["receipt"]
            committed = json.loads(entry["body"])["commitment"]
            if (entry["head"], committed) != (receipt["head"], receipt["commitment"]):
                found.append(f"{step.do} {step.key}: its receipt is not in the chain")
        return found

    def _is_closed(self, records: Records, step: Step) -> bool:
        opened = next(each for each in self._script.steps if each.do == "open" and each.key == step.of)
        row = self._row(records, opened)
        states = [each["state"] for each in records.mechanisms if row is not None and each["id"] == row["id"]]
        return bool(states) and state(self._private, states[0])["positives_left"] == 0

    def _row(self, records: Records, step: Step) -> dict[str, Any] | None:
        """The request of a step."""
        holders = {row["id"]: ACCOUNT if row["id"] == row["account"] else row["name"] for row in records.holders}
        mine = [row for row in records.requests if holders[row["holder"]] == step.holder]
        if step.do == "planned":
            plan = next(each for each in self._script.steps if each.do == "plan" and each.key == step.of)
            paid = self._row(records, plan)
            form = None if paid is None else (paid["id"], step.number)
            planned = [row for row in mine if row["kind"] == "planned"]
            forms = {(f["committed"], f["index"]): row for row in planned for f in [json.loads(row["form"])]}
            return forms.get(form)  # type: ignore[arg-type]
        name = f"{_OPENED[step.do]} {step.key}" if step.do in _OPENED else f"key {step.key}"
        return next((row for row in mine if row["key"] == name), None)
