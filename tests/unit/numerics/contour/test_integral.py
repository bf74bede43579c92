"""One quadrature: a true bracket for any plan, every error term doing its work, and the identities behind it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from optcomp.numerics.contour.anchor import Anchor, CoinSource
from optcomp.numerics.contour.coins import Coins
from optcomp.numerics.contour.gather import truncation
from optcomp.numerics.contour.integral import Integral, Nodes
from optcomp.numerics.contour.plan import Contour, log_reach
from tests.oracles.halves import Halves
from tests.oracles.truth import Truth, working

SIZES = [0.11, 0.35, 0.52, 0.6180339, 0.8, 0.81, 1.3]
FAMILIES: dict[str, list[tuple[float, int]]] = {
    "few": [(x, 1) for x in SIZES],
    "copies": [(0.05, 60), (0.21, 9)],
    "many": [(0.02 + 0.013 * i + 0.0001 * i * i, 1) for i in range(14)],
    "tiny": [(0.35, 1), (0.6180339, 1), (0.8, 2)],
    "large": [(0.3, 3), (4.0, 2), (7.5, 1)],
}
TRUTHS: dict[str, Truth] = {name: Halves((x, 0, m) for x, m in coins) for name, coins in FAMILIES.items()}


def coins_of(name: str) -> Coins:
    x, m = (np.array(column, dtype=np.float64) for column in zip(*FAMILIES[name], strict=True))
    return Coins(x, m)


def short(value: float) -> float:
    return float(np.float32(value))


def made(name: str, plan: Contour, work: float = 1e9) -> Anchor:
    with np.errstate(all="ignore"):
        return CoinSource(coins_of(name)).anchor(plan, work)


def log_h(name: str, plan: Contour, y: float) -> arb:
    """log H(y) with 200 bits."""
    excess = TRUTHS[name].delta(Fraction(y), 400)
    with working(300):
        return (excess if plan.excess else 1 - excess).log()


def holds(name: str, integral: Integral, y: float) -> bool:
    truth = log_h(name, integral.plan, y)
    with np.errstate(all="ignore"):
        sides = integral.sides(y)
    with working(300):
        low = sides.least == -math.inf or bool(arb(sides.least) <= truth)
        return low and (sides.most == math.inf or bool(truth <= arb(sides.most)))


def width(integral: Integral, y: float) -> float:
    sides = integral.sides(y)
    return sides.most - sides.least


def plan_for(excess: bool, tilt: float, y: float, step: float, smoothing: float, tolerance: float = 1e-12) -> Contour:
    above, below = (tilt + 3, tilt / 4) if excess else (tilt / 8, -1.0)
    return Contour(excess, short(tilt), y, short(step), short(above), short(below), smoothing, tolerance)


GOOD = plan_for(True, 1.5, 2.0, 0.25, 1e-4)
GOOD_REST = plan_for(False, -0.375, 0.5, 0.125, 1e-4)


@st.composite
def any_plans(draw: st.DrawFn) -> tuple[str, Contour, float]:
    """Coins, a plan for them, good or bad in tilt, step, smoothing, tolerance and Chernoff tilts; and another place."""
    name, excess = draw(st.sampled_from(list(FAMILIES))), draw(st.booleans())
    place, stretch = draw(st.floats(0.01, 0.99)), draw(st.floats(0.02, 3))
    tilt = 8 * place**2 if excess else -0.5 * place
    above = tilt * (1 + stretch) if excess else tilt * max(1 - stretch, 0)
    below = tilt * max(1 - stretch, 0) if excess else max(tilt * (1 + stretch), -1)
    total = float(TRUTHS[name].total)
    y, step = draw(st.floats(0, 1)) * total, short(10 ** draw(st.floats(-3, 1.3)))
    sizes = 10 ** draw(st.floats(-5, 0.5)), 10 ** draw(st.floats(-14, -1))
    plan = Contour(excess, short(tilt), y, step, short(above), short(below), *sizes)
    return name, plan, draw(st.floats(0, 1)) * total * 0.999


def holds_all_over(name: str, found: Anchor, elsewhere: float) -> bool:
    """At the place of the plan, at another one and at zero."""
    places = (found.integral.plan.y, elsewhere, 0.0)
    return all(holds(name, found.integral, y) for y in places if y < float(TRUTHS[name].total))


@settings(max_examples=100)
@given(any_plans(), st.sampled_from([1e3, 1e5, 1e9]))
def test_any_plan_gives_a_true_bracket(drawn: tuple[str, Contour, float], work: float) -> None:
    name, plan, elsewhere = drawn
    assert holds_all_over(name, made(name, plan, work), elsewhere)


@pytest.mark.parametrize("plan", [GOOD, GOOD_REST])
@pytest.mark.parametrize("name", ["few", "copies", "many"])
def test_a_good_plan_gives_a_narrow_one(name: str, plan: Contour) -> None:
    found = made(name, replace(plan, smoothing=1e-7))
    for y in (0.1, 0.5, 1.0):
        assert holds(name, found.integral, y)
        assert width(found.integral, y) < 1e-3


@pytest.mark.parametrize("plan", [GOOD, GOOD_REST])
@pytest.mark.parametrize("share", [0.2, 0.6])
def test_what_is_left_out_is_paid_for(plan: Contour, share: float) -> None:
    """Nodes thrown away at random, worst sign or not: their weight goes to `near` and `far`."""
    found = made("few", plan)
    nodes, w2 = found.nodes, plan.smoothing
    for seed in range(12):
        lost = np.random.default_rng(seed).random(nodes.theta.size) < share
        lost[0] = False
        size = np.hypot(nodes.real, nodes.imag)[lost] * np.exp(-0.5 * w2 * nodes.theta[lost] ** 2)
        far = float(size.sum()) * plan.step / math.pi
        near = float((size / nodes.theta[lost] ** 2).sum()) * plan.step / math.pi
        kept = Nodes(
            nodes.theta[~lost], nodes.real[~lost], nodes.imag[~lost], nodes.error[~lost],
            nodes.near + near, nodes.far + far,
        )  # fmt: skip
        for y in (0.3, 1.0, 2.2):
            assert holds("few", Integral(found.integral.plan, kept, found.log_means), y)


@pytest.mark.parametrize("plan", [GOOD, GOOD_REST])
@pytest.mark.parametrize("error", [1e-5, 1e-3, 1e-2])
def test_errors_of_the_nodes_are_paid_for(plan: Contour, error: float) -> None:
    """Each φ moved by its error in the direction that hurts most, either way."""
    plan = replace(plan, smoothing=1e-6)
    found = made("few", plan)
    nodes = found.nodes
    for y in (0.3, 1.0, 2.2):
        s = plan.tilt + 1j * nodes.theta
        worst = np.exp(1j * nodes.theta * (y - plan.smoothing * (plan.tilt + 0.5))) * np.conj(1 / (s * (s + 1)))
        worst *= error / np.abs(worst)
        for sign in (1, -1):
            moved = replace(
                nodes,
                real=nodes.real + sign * worst.real,
                imag=nodes.imag + sign * worst.imag,
                error=nodes.error + error,
            )
            assert holds("few", Integral(found.integral.plan, moved, found.log_means), y)


@pytest.mark.parametrize("plan", [GOOD, GOOD_REST])
@pytest.mark.parametrize("which", ["here", "above", "below"])
def test_errors_of_the_means_are_paid_for(plan: Contour, which: str) -> None:
    found = made("few", replace(plan, smoothing=1e-6))
    value, error = getattr(found.log_means, which)
    for shift in (1e-3, -1e-3):
        means = replace(found.log_means, **{which: (value + shift, error + 1.001e-3)})
        for y in (0.3, 1.0, 2.2):
            assert holds("few", Integral(found.integral.plan, found.nodes, means), y)


def atoms_of(name: str) -> dict[Fraction, arb]:
    """All losses with their probabilities."""
    atoms: dict[Fraction, arb] = {Fraction(0): arb(1)}
    for x, m in FAMILIES[name]:
        odds = arb(x).exp()
        for _ in range(m):
            grown: dict[Fraction, arb] = {}
            for place, p in atoms.items():
                for at, share in ((place + Fraction(x), odds / (1 + odds)), (place - Fraction(x), 1 / (1 + odds))):
                    grown[at] = grown.get(at, arb(0)) + p * share
            atoms = grown
    return atoms


def smoothed(atoms: dict[Fraction, arb], w2: float, y: arb) -> tuple[arb, arb]:
    """F_w(y) and p_w(y): for each atom l of the loss, Φ(w/2 + (l-y)/w) - e^{y-l} Φ(-w/2 + (l-y)/w)."""
    w, root = arb(w2).sqrt(), arb(2).sqrt()
    excess = density = arb(0)
    for place, p in atoms.items():
        z = (arb(place.numerator) / place.denominator - y) / w
        up, down = (-(z + w / 2) / root).erfc() / 2, (-(z - w / 2) / root).erfc() / 2
        excess += p * (up - (-z * w).exp() * down)
        density += p * (-((z + w / 2) ** 2) / 2).exp() / (w * (2 * arb.pi()).sqrt())
    return excess, density


@pytest.mark.parametrize("w2", [1e-4, 0.01, 0.5])
@pytest.mark.parametrize("y", [0.0, 0.7, 1.9, 3.3])
def test_smoothing_sandwich(w2: float, y: float) -> None:
    with working(200):
        excess, density = smoothed(atoms_of("few"), w2, arb(y))
        truth = TRUTHS["few"].delta(Fraction(y), 200)
        assert excess - arb(w2) * (arb(w2) / 8).exp() * density <= truth
        assert truth <= excess


@pytest.mark.parametrize("step", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("plan", [GOOD, GOOD_REST])
def test_sum_over_nodes_and_its_aliases(plan: Contour, step: float) -> None:
    """z S(y) is the sum of e^{cmΛ} H_w(y + mΛ), and the bound on aliasing is at least all terms but m = 0."""
    plan = replace(plan, step=step, smoothing=0.01, tolerance=1e-14)
    found = made("tiny", plan)
    mean, _ = found.log_means.here
    for y in (0.2, 1.1):
        with working(900):
            period, atoms = 2 * arb.pi() / arb(step), atoms_of("tiny")
            terms: dict[int, arb] = {}
            for m in range(-60, 61):
                excess = smoothed(atoms, 0.01, arb(y) + m * period)[0]
                h = excess if plan.excess else 1 - excess
                terms[m] = (arb(plan.tilt) * m * period).exp() * h
            scale = (arb(mean) + arb(0.005) * plan.tilt * (plan.tilt + 1) - arb(plan.tilt) * y).exp()
            total, aliases = sum(terms.values(), arb(0)), sum(terms.values(), arb(0)) - terms[0]
            assert abs((arb(found.integral.sides(y).middle).exp() - total) / total) < 1e-8
            assert not aliases / scale > found.integral.aliasing(y)


@pytest.mark.parametrize(("w2", "step", "last"), [(0.01, 0.5, 60), (1e-4, 3.0, 100), (1.0, 0.1, 45)])
def test_truncation(w2: float, step: float, last: int) -> None:
    theta = step * np.arange(last + 1, last + 4000)
    tail = np.exp(-0.5 * w2 * theta**2) * step / math.pi
    near, far = truncation(replace(GOOD, smoothing=w2), last * step)
    assert float(tail.sum()) <= far <= 3 * float(tail.sum())
    assert float((tail / theta**2).sum()) <= near


def test_reach_of_the_kernel() -> None:
    """(1 - e^{-z}) e^{-cz} is at most c^c/(1+c)^{1+c}, and nearly attains it."""
    c = np.array([0.0, 2.0**-24, 0.1, 1.0, 30.0, 1e6])
    z = 10 ** np.linspace(-8, 9, 200_001)
    for tilt, reach in zip(c.tolist(), np.exp(log_reach(True, c)).tolist(), strict=True):
        value = float((-np.expm1(-z) * np.exp(-tilt * z)).max())
        assert value <= reach * (1 + 1e-9)
        assert reach <= value * (1 + 1e-6)
    assert not log_reach(False, np.array([-0.5, -1.0, 0.0])).any()
