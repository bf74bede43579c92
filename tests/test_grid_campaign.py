"""The judge of random grids can fail."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import pytest

from optcomp.numerics.contour import Independent, excess_at
from optcomp.numerics.grids import Found, way_for
from optcomp.numerics.laws import MixedNormalLaw
from tests.campaign.judge import Outcome
from tests.campaign.on_grids import RTOL, drawn, met, narrow


def test_a_wrong_bracket_and_a_silent_wide_one_are_found() -> None:
    """A bracket moved by a little more than its width no longer meets the contour's."""
    laws = [(MixedNormalLaw(1.0, 0.1, "towards"), 10)]
    way = way_for(laws)
    assert way is not None
    found = way.excess(1.0, 1e-6, 1e9)
    assert found is not None
    contour = excess_at(Independent(laws, math.inf), 1.0, 1e-6, 1e9)[0]
    for moved, words in ((0.0, []), (1e-4, ["violation"]), (-1e-4, ["violation"])):
        outcome = Outcome("grids", 0)
        met(outcome, "moved", replace(found, lower=found.lower + moved, upper=found.upper + moved), contour)
        assert [word for word, _ in outcome.findings] == words


@pytest.mark.parametrize(
    ("capped", "width", "words"), [(False, RTOL, []), (False, 2 * RTOL, ["useless"]), (True, 1.0, [])]
)
def test_a_wide_bracket_is_found_unless_it_says_so(capped: bool, width: float, words: list[str]) -> None:
    outcome = Outcome("grids", 0)
    narrow(outcome, "wide", Found(0.0, 1.0, 16, capped), width)
    assert [word for word, _ in outcome.findings] == words


def test_settings_are_varied() -> None:
    """Both directions, lists, lattices and single rounds."""
    asked = [drawn(Random(f"grid {seed}")) for seed in range(60)]
    words = [one.what for one in asked]
    for part in ("towards", "away", "RandomizedResponse", "DiscreteLaplace", "DiscreteGaussian", ", "):
        assert any(part in word for word in words), part
    assert len({round(one.log_t) for one in asked}) > 20
