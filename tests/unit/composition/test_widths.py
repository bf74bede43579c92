"""One default width for each quantity; who is wider says so, and nobody is worse than a part of the list alone."""

from __future__ import annotations

import time

import pytest

import optcomp as oc
from optcomp.composition import mixtures
from optcomp.composition.reading import Item, read_any
from optcomp.composition.widths import BY_RENYI, DEFAULT_WIDTH, WIDE, is_narrow, with_width_note
from optcomp.instances.mixture import Mixture
from optcomp.theorems.bound import Bound
from optcomp.theorems.opt import CAPPED, Effort
from optcomp.theorems.target import Quantity, Target


def wide_note(bound: Bound) -> str:
    """The note on a wide answer, or nothing."""
    return next((note for note in bound.notes if note.startswith(WIDE)), "")


def made(lower: float, upper: float, quantity: Quantity = "epsilon", notes: tuple[str, ...] = ()) -> Bound:
    return Bound(
        quantity=quantity, lower=lower, upper=upper, given=0.0, theorem="ZDW22", method="contour", count=1, notes=notes
    )


@pytest.mark.parametrize(
    ("bound", "narrow"),
    [
        (made(1.0, 1.0), True),
        (made(1.0, 1.0 + 9e-10), True),
        (made(1.0, 1.0 + 2e-9), False),
        (made(0.0, 1e-12), True),
        (made(0.0, 1e-10), False),
        (made(0.0, 5e-324, "delta"), True),
        (made(0.0, 1e-100, "delta"), False),
        (made(1e-100, 1.0000000005e-100, "delta"), True),
        (made(0.0, float("inf")), False),
        (made(float("inf"), float("inf")), True),
    ],
)
def test_what_is_narrow(bound: Bound, narrow: bool) -> None:
    assert is_narrow(bound) is narrow
    assert bool(wide_note(with_width_note(bound))) is not narrow


def test_a_width_that_was_asked_for_needs_no_note() -> None:
    assert not wide_note(with_width_note(made(1.0, 1.0001), 1e-3))
    assert wide_note(with_width_note(made(1.0, 1.0001), 1e-6))


def test_a_cap_is_spoken_of_only_where_it_cost_something() -> None:
    assert with_width_note(made(1.0, 1.0 + 1e-12, notes=(CAPPED,))).notes == ()
    noted = with_width_note(made(1.0, 2.0, notes=(CAPPED,)))
    assert len(noted.notes) == 1
    assert wide_note(noted) == (
        "relative width 0.5, more than the usual 1e-9, because the work was capped; a smaller rtol= allows more work"
    )


def test_where_more_work_would_not_help_none_is_advised() -> None:
    noted = wide_note(with_width_note(made(1.0, 1.0 + 4e-6)))
    assert noted.startswith("relative width 4e-6, more than the usual 1e-9, because of round-off")
    assert "rtol" not in noted
    endless = wide_note(with_width_note(made(1.0, float("inf"))))
    assert endless.startswith("relative width infinite, more than the usual 1e-9")


def test_a_notion_says_why_it_is_wide() -> None:
    assert "name the mechanism" in wide_note(oc.compose([oc.ZCDP(0.1), oc.Laplace(2)], delta=1e-6))
    named = oc.compose([oc.ZCDP(0.1), oc.Laplace(2)], delta=1e-6, method="renyi")
    assert not wide_note(named)  # asked for by name: an upper side only


def test_laplace_at_zero() -> None:
    """The total variation of three of them."""
    bound = oc.compose({oc.Laplace(0.82): 3}, epsilon=0)
    assert bound.width <= DEFAULT_WIDTH["delta"]
    assert bound.lower <= 0.6478775252 <= bound.upper


def test_discrete_gaussian_beside_a_corner() -> None:
    """The root lies where δ(ε) has a corner: the lower side was 0."""
    bound = oc.compose({oc.DiscreteGaussian(0.46796, 2): 3}, delta=1.06e-33)
    assert bound.lower > 109.59
    assert bound.upper < 109.5962
    assert is_narrow(bound) or wide_note(bound)


@pytest.mark.parametrize("sigma", [0.1, 0.5, 1, 4])
def test_one_subsampled_mechanism_beside_a_pair_is_a_closed_form(sigma: float) -> None:
    bound = oc.compose([oc.PoissonSubsampled(oc.Gaussian(sigma), 0.3), oc.PureDP(0.79)], delta=7e-12)
    assert bound.width <= 1e-12


def test_many_rounds_at_a_small_rate_need_no_renyi() -> None:
    """Near the tilt at which one large loss takes over; by Rényi divergences δ was ten times as large."""
    bound = oc.compose({oc.PoissonSubsampled(oc.Gaussian(2), 0.001): 10_000}, epsilon=0.2)
    assert bound.theorem == "ZDW22"
    assert bound.width <= DEFAULT_WIDTH["delta"]
    assert bound.lower <= 1.46026331348e-06 <= bound.upper


def test_round_off_that_nobody_knows_ends_a_grid_and_is_said() -> None:
    """A replaced record at a tiny rate: bounds on round-off overflow there."""
    bound = oc.compose({oc.PoissonSubsampled(oc.Gaussian(1.76), 6e-6, "replace"): 148}, delta=8.8e-28)
    assert 0 <= bound.lower <= bound.upper
    assert is_narrow(bound) or wide_note(bound)


MIXTURES: list[dict[Item, int]] = [
    {oc.PoissonSubsampled(oc.Gaussian(0.05), 0.001): 2, oc.Laplace(3): 2, oc.PureDP(0.7): 1},
    {oc.PoissonSubsampled(oc.Gaussian(0.02), 0.1): 3, oc.Gaussian(2): 5},
    {oc.DiscreteGaussian(0.5, 2): 3, oc.Laplace(0.5): 2, oc.RandomizedResponse(1.5, 4): 2, oc.ApproxDP(0.3, 1e-9): 2},
    {oc.ZCDP(0.05): 2, oc.Laplace(0.6): 2, oc.PureDP(2): 1},
]


@pytest.mark.slow_cases("given0-0")
@pytest.mark.parametrize("number", range(len(MIXTURES)))
@pytest.mark.parametrize("given", [{"delta": 1e-6}, {"delta": 1e-20}, {"epsilon": 0.0}, {"epsilon": 3.0}])
def test_no_answer_is_worse_than_its_parts(number: int, given: dict[str, float]) -> None:
    """Dropping answers is free, so no part alone may prove more; and sums of known ε are never exceeded."""
    mixture = MIXTURES[number]
    whole = oc.compose(mixture, **given)  # type: ignore[arg-type]
    for part, count in mixture.items():
        alone = oc.compose({part: count}, **given)  # type: ignore[arg-type]
        assert whole.lower >= alone.lower * (1 - 1e-9), part
    assert is_narrow(whole) or wide_note(whole)
    if all(getattr(part, "pure", getattr(part, "epsilon", None)) is not None for part in mixture):
        assert whole.upper <= oc.compose(mixture, **given, method="basic").upper  # type: ignore[arg-type]


def test_falling_back_to_renyi_is_said() -> None:
    """With next to no work allowed the sum of losses is wider than what Rényi divergences prove."""
    mixture = read_any({oc.PoissonSubsampled(oc.Gaussian(2), 0.01): 1000})
    assert isinstance(mixture, Mixture)
    bound = mixtures.best(mixture, Target("delta", 1.0), Effort(1e-9, 1e3))
    assert bound.theorem == "CKS20"
    assert BY_RENYI in bound.notes
    assert "the work was capped" in wide_note(with_width_note(bound))
    narrow = oc.compose({oc.PoissonSubsampled(oc.Gaussian(2), 0.01): 1000}, epsilon=1.0)
    assert bound.lower <= narrow.lower <= narrow.upper <= bound.upper


@pytest.mark.parametrize("sigma", [0.001, 0.01, 0.012, 0.1, 100])
@pytest.mark.parametrize("rate", [1e-6, 0.5, 0.999999])
def test_one_round_is_tight_and_at_once(sigma: float, rate: float) -> None:
    """Among them the one that never came back."""
    start = time.process_time()
    for given in ({"delta": 1e-6}, {"delta": 1e-7}, {"epsilon": 2.0}):
        bound = oc.compose([oc.PoissonSubsampled(oc.Gaussian(sigma), rate)], **given)  # type: ignore[arg-type]
        assert is_narrow(bound), given
    assert time.process_time() - start < 20, "seconds of processor time; it takes less than 0.1"
