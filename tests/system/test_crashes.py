"""kill -9 at every named state, restart, retry: a tenth of the campaign; and ledgers that are wrong are found."""

from __future__ import annotations

import re

import pytest

from tests.campaign.crash_points import BROKEN, POINTS
from tests.campaign.crash_script import written
from tests.campaign.crashes import TIMER
from tests.system.campaigns import campaign

WHERE = {
    "tells before it stores": "answered: before the commit",
    "refunds on retry": "question: before the run",
    "debits nothing": "reserved: after the anchor",
    "draws the threshold again": "asked: after the anchor",
}
"""Where a crash shows what is wrong."""


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_fifty_crashes(database: str) -> None:
    code, printed = campaign("crashes", "--crashes", "50", "--seed", "100", "--database", database)
    assert code == 0, printed
    counts = {name: int(count) for count, name in re.findall(rf"^ *(\d+) +{database} (.*)$", printed, re.MULTILINE)}
    assert set(counts) == {*POINTS, TIMER}
    assert all(counts[point] for point in POINTS), counts
    assert sum(counts.values()) >= 50


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_ledger_is_found(broken: str) -> None:
    code, printed = campaign(
        "crashes", "--crashes", "12", "--database", "sqlite", "--broken", broken, "--point", WHERE[broken]
    )
    assert code == 1, printed
    assert "FOUND" in printed
    assert "unexpected error" not in printed


def test_every_script_has_a_sparse_vector_and_every_kind_of_step_is_there() -> None:
    scripts = [written(seed).steps for seed in range(100, 110)]
    for steps in scripts:
        assert any(step.do == "open" and step.of == "sparse vector" for step in steps)
    kinds = {step.do for steps in scripts for step in steps}
    assert kinds == {"session", "delegate", "batch", "slot", "question", "plan", "planned", "open", "ask"}
    assert {step.of for steps in scripts for step in steps if step.do == "open"} == {
        "sparse vector",
        "guess and check",
        "multiplicative weights",
    }
