"""A quadrature whose kernels have no waves beyond T: a true bracket for any plan, and every error term at work."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optcomp.numerics.contour.anchor import Anchor, BandSource
from optcomp.numerics.contour.banded import Banded
from optcomp.numerics.contour.integral import Integral
from optcomp.numerics.contour.plan import Contour
from tests.mutants import put_mutant
from tests.unit.numerics.contour.test_integral import (
    GOOD,
    GOOD_REST,
    any_plans,
    coins_of,
    holds,
    holds_all_over,
    width,
)

PLANS = [GOOD, GOOD_REST]
PLACES = (0.3, 1.0, 2.2)


def made(name: str, plan: Contour, work: float = 1e9) -> Anchor:
    with np.errstate(all="ignore"):
        return BandSource(coins_of(name)).anchor(plan, work)


@settings(max_examples=100)
@given(any_plans(), st.sampled_from([1e3, 1e5, 1e9]))
def test_any_plan_gives_a_true_bracket(drawn: tuple[str, Contour, float], work: float) -> None:
    name, plan, elsewhere = drawn
    found = made(name, plan, work)
    assert found.integral.plan.band
    assert holds_all_over(name, found, elsewhere)


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("name", ["few", "copies", "many"])
def test_a_good_plan_gives_a_narrow_one(name: str, plan: Contour) -> None:
    """Without smoothing's reach: as narrow as a Gaussian of the planned variance, with a third of the nodes."""
    found = made(name, replace(plan, smoothing=1e-7))
    assert found.nodes.theta[-1] <= math.pi / math.sqrt(2e-7)
    for y in (0.1, 0.5, 1.0):
        assert holds(name, found.integral, y)
        assert width(found.integral, y) < 1e-3


def _thinned(plan: Contour, share: float, seed: int) -> Integral:
    """Without some of the nodes, whose weight goes to `near` and `far`."""
    found = made("few", plan)
    nodes = found.nodes
    lost = np.random.default_rng(seed).random(nodes.theta.size) < share
    lost[0] = False
    size = np.hypot(nodes.real, nodes.imag)[lost] * plan.step / math.pi
    left = {name: getattr(nodes, name)[~lost] for name in ("theta", "real", "imag", "error")}
    near = nodes.near + float((size / nodes.theta[lost] ** 2).sum())
    kept = replace(nodes, **left, near=near, far=nodes.far + float(size.sum()))
    return Banded(found.integral.plan, kept, found.log_means)


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("share", [0.2, 0.6])
def test_what_is_left_out_is_paid_for(plan: Contour, share: float) -> None:
    for seed in range(8):
        integral = _thinned(plan, share, seed)
        assert all(holds("few", integral, y) for y in PLACES)


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("error", [1e-5, 1e-3])
def test_errors_of_the_nodes_are_paid_for(plan: Contour, error: float) -> None:
    """Each φ moved by its error in the direction that hurts most, either way."""
    found = made("few", replace(plan, smoothing=1e-6))
    assert _moved_hold(found, error)


def _moved_hold(found: Anchor, error: float) -> bool:
    nodes, tilt = found.nodes, found.integral.plan.tilt
    held = []
    for y in PLACES:
        s = tilt + 1j * nodes.theta
        worst = np.exp(1j * nodes.theta * y) * np.conj(1 / (s * (s + 1)))
        worst *= error / np.abs(worst)
        for sign in (1, -1):
            real, imag = nodes.real + sign * worst.real, nodes.imag + sign * worst.imag
            moved = replace(nodes, real=real, imag=imag, error=nodes.error + error)
            held.append(holds("few", Banded(found.integral.plan, moved, found.log_means), y))
    return all(held)


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("distance", [1e-9, 1e-7, 1e-5, 1e-3])
def test_taylor_and_all_anew(plan: Contour, distance: float) -> None:
    """What is told near a centre is what is told there when that is the centre."""
    found = made("few", replace(plan, smoothing=1e-8))
    for y in (0.5, 1.1):
        first = Banded(found.integral.plan, found.nodes, found.log_means)
        first.sides(y)
        near, anew = first.sides(y + distance), found.integral.sides(y + distance)
        assert near.middle == pytest.approx(anew.middle, abs=1e-9)
        assert near.slope == pytest.approx(anew.slope, abs=1e-6)
        assert max(near.least, anew.least) <= min(near.most, anew.most)
        assert holds("few", first, y + distance)


def test_the_rest_of_taylors_formula_is_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """However far it is used."""
    monkeypatch.setattr("optcomp.numerics.contour.banded._REST", math.inf)
    found = made("few", replace(GOOD, smoothing=1e-8, tolerance=1e-14))
    top = float(found.nodes.theta[-1])

    def all_hold() -> bool:
        integral = Banded(found.integral.plan, found.nodes, found.log_means)
        integral.sides(1.0)
        return all(holds("few", integral, 1.0 + part / top) for part in (-0.49, -0.2, 0.2, 0.49))

    assert all_hold()
    found = made("few", replace(GOOD, smoothing=0.3, step=0.125, tolerance=1e-14))
    top = float(found.nodes.theta[-1])
    monkeypatch.setattr("optcomp.numerics.contour.banded._NEAR", 40.0)
    parts = (-3.4, -2.0, 2.0, 3.4)
    far = Banded(found.integral.plan, found.nodes, found.log_means)
    far.sides(1.0)
    assert all(holds("few", far, 1.0 + part / top) for part in parts)
    put_mutant(monkeypatch, Banded, "sides", (" + centre.fourth * far**4", ""))
    lax = Banded(found.integral.plan, found.nodes, found.log_means)
    lax.sides(1.0)
    assert not all(holds("few", lax, 1.0 + part / top) for part in parts)


@pytest.mark.parametrize("plan", PLANS)
def test_the_area_left_out_is_seen(plan: Contour, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes near T, whose kernel is not 1/θ²: lost with the worst sign, they cost more than `near`."""
    put_mutant(monkeypatch, Banded, "__init__", ("nodes.near + self._band.area * nodes.far", "0.0 * nodes.near"))
    assert not all(holds("few", _thinned(plan, 0.6, seed), y) for seed in range(8) for y in PLACES)


@pytest.mark.parametrize("plan", PLANS)
def test_node_errors_left_out_are_seen(plan: Contour, monkeypatch: pytest.MonkeyPatch) -> None:
    put_mutant(monkeypatch, Banded, "_part", ("terms[11] = errors + ", "terms[11] = "))
    assert not _moved_hold(made("few", replace(plan, smoothing=1e-6)), 1e-3)


@pytest.mark.parametrize("plan", PLANS)
def test_aliases_left_out_are_seen(plan: Contour, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = replace(plan, step=2.0, smoothing=1e-6)
    assert all(holds("few", made("few", wide).integral, y) for y in PLACES)
    put_mutant(monkeypatch, Banded, "sides", (" + self.aliasing(y)", ""))
    assert not all(holds("few", made("few", wide).integral, y) for y in PLACES)
