"""What closed forms prove about sums, against exact sums and hockey sticks from first principles."""

from __future__ import annotations

from fractions import Fraction

import pytest

import optcomp as oc
from optcomp.composition.reading import Item, read_any
from optcomp.instances.mixture import Mixture
from optcomp.theorems.curves import ClosedForms
from tests.oracles.losses import (
    Beside,
    Sum,
    atoms_part,
    discrete_laplace_atoms,
    gaussian_hockey,
    laplace_part,
    response_atoms,
    subsampled_gaussian_hockey,
    sums_of,
)
from tests.oracles.truth import Truth


def closed(parts: dict[Item, int]) -> ClosedForms:
    mixture = read_any(parts)
    assert isinstance(mixture, Mixture)
    return ClosedForms(mixture)


def _subsampled_beside() -> tuple[dict[Item, int], Truth]:
    parts: dict[Item, int] = {
        oc.PoissonSubsampled(oc.Gaussian(0.5), 0.1): 1,
        oc.PureDP(0.25): 3,
        oc.RandomizedResponse(1.0, 4): 2,
        oc.NameAndShame(1e-7): 2,
    }
    hockeys = [subsampled_gaussian_hockey(2, 0.1, way) for way in ("towards", "away")]
    sums = lambda: sums_of([(response_atoms(0.25), 3), (response_atoms(1.0, 4), 2)])  # noqa: E731
    return parts, Beside(hockeys, sums, [(1e-7, 2)])


def _gaussian_beside() -> tuple[dict[Item, int], Truth]:
    parts: dict[Item, int] = {oc.Gaussian(2): 1, oc.DiscreteLaplace(0.8, 2): 2}
    hockeys = [gaussian_hockey(Fraction(1, 2))]
    return parts, Beside(hockeys, lambda: sums_of([(discrete_laplace_atoms(0.8, 2), 2)]))


def _laplace_beside() -> tuple[dict[Item, int], Truth]:
    parts: dict[Item, int] = {oc.Laplace(2): 1, oc.PureDP(0.75): 2}
    return parts, Sum([laplace_part(0.5), atoms_part(lambda: response_atoms(0.75), 2)])


CASES = {"subsampled": _subsampled_beside, "gaussian": _gaussian_beside, "laplace": _laplace_beside}


@pytest.mark.parametrize("name", list(CASES))
def test_one_loss_beside_few_atoms_is_exact(name: str) -> None:
    parts, truth = CASES[name]()
    forms = closed(parts)
    for epsilon in (0.0, 0.2, 0.75, 1.7):
        low, high = forms.delta(epsilon)
        assert high - low <= 1e-15 * high
        assert truth.sign(epsilon, Fraction(low)) >= 0 >= truth.sign(epsilon, Fraction(high))
    for delta in (0.1, 1e-3, 1e-6):
        low, high = forms.epsilon(delta, 0.0, float("inf"))
        assert high - low <= 1e-12 * high
        assert truth.at_least(low, delta)
        assert truth.at_most(high, delta)


@pytest.mark.parametrize(("eps", "copies"), [(0.5, 3), (2.0, 2), (6.0, 4)])
def test_sides_of_several_losses(eps: float, copies: int) -> None:
    """Both hold; neither is exact."""
    truth = Sum([laplace_part(eps, copies), atoms_part(lambda: response_atoms(0.3), 2)], [(1e-9, 1)])
    forms = closed({oc.Laplace(1, eps): copies, oc.PureDP(0.3): 2, oc.NameAndShame(1e-9): 1})
    for epsilon in (0.0, 0.5, 0.9 * copies * eps):
        low, high = forms.delta(epsilon)
        assert low <= high
        assert truth.sign(epsilon, Fraction(low)) >= 0
        assert high == 1 or truth.sign(epsilon, Fraction(high)) <= 0
    for delta in (0.2, 1e-3, 1e-6):
        low, high = forms.epsilon(delta, 0.0, float("inf"))
        assert truth.at_least(low, delta)
        assert truth.at_most(high, delta)


@pytest.mark.parametrize("rounds", [2, 50, 1000])
@pytest.mark.parametrize("rate", [1e-6, 1e-3])
def test_rare_and_large_losses(rounds: int, rate: float) -> None:
    """With hardly any noise δ is the probability to be sampled at all, and that is proved in closed form."""
    low, high = closed({oc.PoissonSubsampled(oc.Gaussian(0.003), rate): rounds}).delta(1.0)
    sampled = 1 - (1 - Fraction(rate)) ** rounds
    assert low <= sampled * (1 + Fraction(1, 10**15))
    assert high >= sampled * (1 - Fraction(1, 10**12))
    assert high - low <= 1e-12 * high


def test_too_many_kinds_prove_nothing() -> None:
    forms = closed({oc.Laplace(1 + i / 64): 1 for i in range(41)})
    assert forms.delta(1.0) == (0.0, 1.0)
    assert forms.epsilon(1e-6, 0.5, 9.0) == (0.5, 9.0)


def test_what_would_be_wide_is_given_up_and_what_is_narrow_is_not() -> None:
    """Two places that nothing is decided about, farther apart than is wanted, are enough to know."""
    narrow = closed(_subsampled_beside()[0])
    for wanted in (1e-9, 1e-3):
        assert narrow.epsilon(1e-6, 0.0, float("inf"), wanted) == narrow.epsilon(1e-6, 0.0, float("inf"))
    wide = closed({oc.PoissonSubsampled(oc.Gaussian(1), 1e-2): 50})
    low, high = wide.epsilon(1e-6, 0.0, float("inf"))
    assert high - low > 0.01 * high
    assert wide.epsilon(1e-6, 0.0, float("inf"), 1e-9) == (0.0, float("inf"))
    assert wide.epsilon(1e-6, 0.0, float("inf"), 1.0) == (low, high)
