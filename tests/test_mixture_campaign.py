"""The oracle behind random mixtures is sound, and their judge can fail."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

import optcomp as oc
from tests.campaign.judge import Outcome
from tests.campaign.mixtures import WAYS, drawn, judge
from tests.oracles import rounded
from tests.oracles.losses import (
    Sum,
    atoms_part,
    laplace_part,
    response_atoms,
    subsampled_gaussian_hockey,
    variance_hockey,
)
from tests.oracles.truth import real, working


def test_rounded_losses_enclose_what_is_known() -> None:
    """One Gaussian, three Laplace beside a coin, one subsampled: closed forms lie between the two sides, closely."""
    with working(192):
        for y in (0.0, 0.3, 1.5):
            known = [
                (rounded.Rounded([rounded.gaussian(Fraction(1, 2))]), variance_hockey(Fraction(1, 2))(real(y))),
                (
                    rounded.Rounded([rounded.laplace(0.5, 3), rounded.Points(lambda: response_atoms(0.7))]),
                    Sum([laplace_part(0.5, 3), atoms_part(lambda: response_atoms(0.7))]).excess(Fraction(y), 192),
                ),
                *(
                    (
                        rounded.Rounded([rounded.subsampled_gaussian(2, 0.1, way, 1)]),
                        subsampled_gaussian_hockey(2, 0.1, way)(real(y)),
                    )
                    for way in WAYS
                ),
            ]
            for sums, truth in known:
                low, high = sums.excess(y)
                assert low <= truth
                assert truth <= high
                assert high - low < 0.01


SEEDS = [seed for seed in range(6) if not drawn(Random(f"mixture {seed}")).notions]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_wrong_side_and_a_silent_wide_answer_are_found(seed: int) -> None:
    """The judge must be able to fail: sides moved by a little or a lot, and a note taken away."""
    asked = drawn(Random(f"mixture {seed}"))
    bound = oc.compose(asked.items, epsilon=0.25)
    moved = 0.7 if asked.truth() is None else 1 - 1e-6
    wrong, silent = Outcome("mixtures", seed), Outcome("mixtures", seed)
    judge(asked, replace(bound, lower=bound.lower * moved, upper=bound.lower * moved), wrong)
    assert wrong.number("violation") == 1
    wide = replace(bound, lower=0.0, notes=())
    silent.narrow("a wide answer", wide)
    judge(asked, wide, silent)
    assert [word for word, _ in silent.findings] == ["useless"]
