"""Samples and neighbours: what can be said, what is refused, and that nothing is mixed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import optcomp as oc
from optcomp.guarantees import MOST_REPLACED_RATIO, KnownLoss
from optcomp.interactive.filters.request_documents import read_request_document, request_document

REPLACED = oc.PoissonSubsampled(oc.Gaussian(1.0), 0.01, "replace")
BATCHES = oc.WithoutReplacement(oc.Laplace(2), 3, 100)
ANY: dict[str, Any] = {"neighbours": "swap", "batch": 1.5, "mechanism": oc.ZCDP(1)}
"""What types forbid and people write."""
ADDED = oc.PoissonSubsampled(oc.Gaussian(1.0), 0.01)


def test_who_is_a_neighbour() -> None:
    assert (REPLACED.neighbours, BATCHES.neighbours, ADDED.neighbours) == ("replace", "replace", "add-remove")
    plain: list[KnownLoss] = [oc.Gaussian(1), oc.Laplace(1), oc.RandomizedResponse(1.0, 3), oc.DiscreteGaussian(1)]
    assert [part.neighbours for part in plain] == [None] * 4
    assert BATCHES.rate == Fraction(3, 100)
    assert [len(part.laws) for part in (REPLACED, BATCHES, ADDED)] == [1, 1, 2]
    assert oc.PoissonSubsampled(oc.Gaussian(1.0), 0.01, neighbours="replace") == REPLACED != ADDED


def test_the_usual_neighbours_go_without_saying() -> None:
    assert repr(ADDED) == "PoissonSubsampled(mechanism=Gaussian(sigma=1.0, sensitivity=1.0), rate=0.01)"
    assert repr(REPLACED) == repr(ADDED)[:-1] + ", neighbours='replace')"


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (
            lambda: oc.PoissonSubsampled(oc.Gaussian(1), 0.1, ANY["neighbours"]),
            "neighbours: must be 'add-remove' or 'replace'",
        ),
        (lambda: oc.WithoutReplacement(oc.Gaussian(1), 0, 10), "batch: must be"),
        (lambda: oc.WithoutReplacement(oc.Gaussian(1), 11, 10), "batch: must be"),
        (lambda: oc.WithoutReplacement(oc.Gaussian(1), ANY["batch"], 10), "batch: must be"),
        (lambda: oc.WithoutReplacement(oc.Gaussian(1), 1, 10**9), "must lie in"),
        (lambda: oc.WithoutReplacement(ANY["mechanism"], 1, 10), "mechanism: must be a Gaussian or a Laplace"),
        (lambda: oc.WithoutReplacement(oc.Gaussian("0.0499"), 1, 10), f"at most {MOST_REPLACED_RATIO}"),
        (lambda: oc.PoissonSubsampled(oc.Laplace("0.0499"), 0.1, "replace"), f"at most {MOST_REPLACED_RATIO}"),
    ],
)
def test_refused(make: Any, problem: str) -> None:
    with pytest.raises(oc.InvalidInput, match=problem):
        make()


@pytest.mark.parametrize("other", [REPLACED, BATCHES])
def test_a_list_is_about_one_kind_of_neighbours(other: KnownLoss) -> None:
    with pytest.raises(oc.InvalidInput, match="a list is about one kind of neighbours"):
        oc.compose([ADDED, oc.Gaussian(1), other], delta=1e-6)
    with pytest.raises(oc.InvalidInput, match="a list is about one kind of neighbours"):
        oc.compare({ADDED: 1, other: 2}, delta=1e-6)
    composer = oc.Composer([ADDED])
    for ask in (lambda: composer.add(other), lambda: composer.what_if(other, delta=1e-6)):
        with pytest.raises(oc.InvalidInput, match="a list is about one kind of neighbours"):
            ask()
    assert composer.count == 1
    assert oc.compose({ADDED: 1, other: 0}, delta=1e-6).count == 1
    both = oc.compose([REPLACED, BATCHES, oc.Gaussian(8), (0.1, 1e-9)], delta=1e-6)
    assert both.lower <= both.upper < 3


def test_documents_keep_the_neighbours() -> None:
    for part in (REPLACED, BATCHES, ADDED):
        assert read_request_document(request_document(part)) == part
        again = oc.Composer.of(oc.Composer({part: 3}).as_dict())
        assert again.parts == oc.Composer({part: 3}).parts
    assert "neighbours" not in request_document(ADDED)


def test_certificates_and_events_know_the_neighbours() -> None:
    """There are certificates, and events for replaced records only."""
    from dp_accounting import NeighboringRelation  # here because importing dp_accounting takes long

    from optcomp.interop import UnsupportedEvent, to_event

    for part in (REPLACED, BATCHES):
        assert oc.compose({part: 1}, delta=1e-6).certificate()
        assert to_event([part])
        with pytest.raises(UnsupportedEvent):
            to_event([part], neighboring_relation=NeighboringRelation.ADD_OR_REMOVE_ONE)


def test_a_total_that_grows_is_as_good_as_one_from_nothing() -> None:
    composer = oc.Composer()
    for _ in range(3):
        composer.add(REPLACED, 40)
        total, afresh = composer.total(delta=1e-6), oc.compose(composer.parts, delta=1e-6)
        assert total.lower <= afresh.upper
        assert afresh.lower <= total.upper
        assert total.upper - total.lower < 1e-8


@pytest.mark.slow
def test_a_total_of_batches_that_grows_is_the_one_from_nothing() -> None:
    batches = oc.Composer({BATCHES: 5})
    batches.total(delta=1e-6)
    batches.add(BATCHES)
    total, afresh = batches.total(delta=1e-6), oc.compose({BATCHES: 6}, delta=1e-6)
    assert (total.lower, total.upper) == (afresh.lower, afresh.upper)


@pytest.mark.slow
def test_calibrated_noise_holds() -> None:
    def batches(sigma: float) -> dict[oc.WithoutReplacement, int]:
        return {oc.WithoutReplacement(oc.Gaussian(sigma, 2.0), 1, 100): 200}

    found = oc.calibrate(batches, epsilon=1, delta=1e-5, rtol=0.1, low=1.5, high=6.0)
    assert found.bound.upper <= 1 < oc.compose(batches(found.other), delta=1e-5).upper


def test_as_a_renyi_curve() -> None:
    """The divergence of a law that dominates is an upper bound for both tables."""
    part = oc.WithoutReplacement(oc.Gaussian(1.0), 1, 10)
    curve, poisson = (oc.convert(one, oc.RenyiDP) for one in (part, part.attained))
    assert float(curve.renyi(8.0)) >= float(poisson.renyi(8.0)) > 0
