"""A tenth of the trials of colluding analysts, in an interpreter of its own."""

from __future__ import annotations

import pytest

from tests.system.campaigns import campaign


@pytest.mark.parametrize(("kind", "trials"), [("honest", 200), ("redrawn", 80)])
def test_what_analysts_learn_together_is_certified(kind: str, trials: int) -> None:
    """The bound stays below what is certified, and lies above it where a stored answer is drawn again."""
    code, printed = campaign("collusion", "--trials", str(trials), "--broken", str(trials), "--kind", kind)
    assert code == 0, printed
    assert f" {trials} trials" in printed
