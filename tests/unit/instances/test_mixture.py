"""Mixtures: which losses are added up, and why all of them in one direction."""

from __future__ import annotations

from fractions import Fraction
from itertools import product as sequences

from optcomp import Gaussian, Laplace, PoissonSubsampled
from optcomp.instances.mixture import Mixture
from optcomp.instances.parts import Parts
from optcomp.proofs import Finite, OneSided, product

SAMPLED = (PoissonSubsampled(Gaussian(2), "0.01"), PoissonSubsampled(Laplace(3), "0.1"))
ODDS = Fraction(11, 10)
RATE = Fraction(1, 10)


def test_a_symmetric_list_has_one_direction() -> None:
    assert list(Mixture.of(Parts(()), {Laplace(2): 3, Gaussian(5): 1}, {}).directions) == [0]


def test_all_losses_are_taken_in_the_same_direction() -> None:
    mixture = Mixture.of(Parts(()), {SAMPLED[0]: 3, SAMPLED[1]: 2, Laplace(2): 1}, {})
    assert list(mixture.directions) == [0, 1]
    for direction in mixture.directions:
        laws = [law for law, _ in mixture.laws(direction, +1)]
        assert [value.laws[direction] in laws for value in SAMPLED] == [True, True]
        assert not any(value.laws[1 - direction] in laws for value in SAMPLED)


def test_mixed_directions_would_cost_more() -> None:
    """The example of docs/losses.md: so it matters that the two data sets are the same in every round."""
    plain = Finite({"yes": Fraction(1, 4), "no": Fraction(3, 4)})
    other = {"yes": Fraction(3, 4), "no": Fraction(1, 4)}
    sampled = Finite({answer: (1 - RATE) * plain[answer] + RATE * other[answer] for answer in ("yes", "no")})
    assert sampled == Finite({"yes": "3/10", "no": "7/10"})
    ways = {"removed": (sampled, plain), "added": (plain, sampled)}
    deltas = {
        rounds: OneSided(*(product(*(ways[way][side] for way in rounds)) for side in (0, 1))).delta(ODDS)
        for rounds in sequences(ways, repeat=2)
    }
    assert max(deltas["removed", "removed"], deltas["added", "added"]) == Fraction("0.02875")
    assert deltas["removed", "added"] == deltas["added", "removed"] == Fraction("0.0325")
