"""kill -9 at every named state, restart, retry: a tenth of the campaign; and ledgers that are wrong are found."""

from __future__ import annotations

import re

import pytest

from tests.campaign.crash_points import BROKEN, POINTS
from tests.campaign.crash_script import written
from tests.campaign.crashes import TIMER
from tests.system.campaigns import campaign, server


@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_fifty_crashes(database: str) -> None:
    with server(database) as where:
        code, printed = campaign("crashes", "--crashes", "50", "--seed", "100", "--database", database, *where)
    assert code == 0, printed
    counts = {name: int(count) for count, name in re.findall(rf"^ *(\d+) +{database} (.*)$", printed, re.MULTILINE)}
    assert set(counts) == {*POINTS, TIMER}
    assert all(counts[point] for point in POINTS), counts
    assert sum(counts.values()) >= 50


@pytest.mark.slow
@pytest.mark.slow
def test_broken_ledgers_are_found() -> None:
    """All but one show what is wrong at the first crash that comes to it.

    A threshold that is drawn again is the same by chance with probability 0.031 at most (ε = 0.3, one positive), and in
    thirty crashes it is drawn again more than ten times: it is not found with probability below 1e-15.
    """
    broken = [word for name in BROKEN for word in ("--broken", name)]
    code, printed = campaign("crashes", "--crashes", "30", "--database", "sqlite", *broken)
    assert code == 1, printed
    counts = dict(re.findall(r"^sqlite, (.*): (\d+) findings$", printed, re.MULTILINE))
    assert set(counts) == set(BROKEN)
    assert all(int(count) > 0 for count in counts.values()), printed
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
