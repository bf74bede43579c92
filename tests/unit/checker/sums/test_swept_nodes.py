"""Nodes that are left out: the bound on them holds, each of its terms is needed, and no node is forgotten."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from flint import acb, arb, fmpz

from optcomp.checker.balls import working
from optcomp.checker.contour import Sums, add
from optcomp.checker.kernels import Smoothed
from optcomp.checker.laws import (
    DiscreteGaussian,
    Laplace,
    ReplacedWhole,
    SampledNormal,
    SampledWhole,
    Spots,
    Spotted,
    TooMuch,
    response,
)
from optcomp.checker.sums import swept
from optcomp.checker.sums.swept import Bound, Sweep, suits
from optcomp.checker.sums.total import Total

BITS = 110
C = 6.5
LAWS: dict[str, Spotted] = {
    "removed": SampledWhole(1.0, 1, 0.1, "removed"),
    "added": SampledWhole(3.0, 2, 0.1, "added"),
    "replaced": ReplacedWhole(2.0, 1, 0.05),
    "plain": DiscreteGaussian(3.0, 1),
    "response": response(0.3, 5),
}


def kernel(step: float, last: int, width: float, tolerance: float) -> Smoothed:
    return Smoothed(
        arb(C), (arb(2),), arb(width) ** 2, width, arb(step), last, tolerance=tolerance, spread=1 + math.log(last)
    )


def every_node(total: Total, rule: Smoothed) -> Sums:
    """The sum without anything left out."""
    values = [acb(1)] * (rule.last + 1)
    for law, copies in total.laws:
        values = [a * b**copies for a, b in zip(values, law.waves(rule.c, rule.step, rule.last), strict=True)]
    sums = Sums([arb(0)], [arb(0)], rule.remainder())
    add(sums, rule, 0, values)
    return sums


@pytest.mark.parametrize("name", LAWS)
def test_one_place_at_a_time_is_the_wave(name: str) -> None:
    with working(BITS):
        spots, wave = LAWS[name].spots(arb(C)), LAWS[name].waves(arb(C), arb(17.25), 1)[1]
        assert spots.phi(arb(17.25)).overlaps(wave)
        assert spots.phi(arb(17.25)).real.rad() < 1e-25
        short = Spots(spots.weights[:-1], spots.losses[:-1], spots.weights[-1] + spots.rest)
        assert short.phi(arb(17.25)).overlaps(wave)


@pytest.mark.parametrize("name", LAWS)
def test_the_bound_holds_and_needs_its_terms(name: str) -> None:
    """In the middle of a range, anywhere in it, and with the atoms that were left out."""
    with working(BITS):
        spots = LAWS[name].spots(arb(C))
        bound = Bound.of(spots, 7)
        radius, worst = arb(1.5), arb(0)
        for place in range(40):
            theta = arb(20 + 13 * place)
            for part in (-1, -0.4, 0, 0.7, 1):
                size = abs(spots.phi(theta + radius * part))
                assert not size > bound.size(theta) + bound.slope * radius + bound.rest
                worst = worst.max(size - bound.size(theta) - bound.rest)
        assert worst > 0  # without the slope it would be false
        assert not abs(spots.phi(arb(0))) > bound.size(arb(0)) + bound.rest
        if len(bound.places) < len(spots.weights):
            assert abs(spots.phi(arb(0))) > bound.size(arb(0))  # without the rest, too
        assert bound.level(1e-6, radius).overlaps(arb(1e-6) ** (arb(1) / 7) - bound.slope * radius - bound.rest)


@pytest.mark.parametrize("name", LAWS)
def test_matrices_say_the_same(name: str) -> None:
    with working(BITS):
        bound, start, gap = Bound.of(LAWS[name].spots(arb(C)), 1), arb(1000), arb(7.5)
        rows = list(bound.squares(start, gap, 5, 6))
        for row, squares in enumerate(rows):
            for column, square in enumerate(squares):
                found = arb(fmpz(square)).sqrt() / 2**60
                assert abs(found - bound.size(start + gap * (6 * row + column))) < bound.rounding


def test_rounding_of_the_matrices_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """With few digits the sums are off by more than one unit, and by less than is said."""
    monkeypatch.setattr(swept, "_DIGITS", 7)
    with working(BITS):
        bound, start, gap = Bound.of(LAWS["added"].spots(arb(C)), 1), arb(1000), arb(7.5)
        off = [
            abs(arb(fmpz(square)).sqrt() / 2**14 - bound.size(start + gap * (20 * row + column)))
            for row, squares in enumerate(bound.squares(start, gap, 20, 20))
            for column, square in enumerate(squares)
        ]
        assert all(each < bound.rounding for each in off)
        assert max(float(each.mid()) for each in off) > 3 / 2**7


LISTS: dict[str, Total] = {
    "removed": Total(((LAWS["removed"], 400),)),
    "replaced": Total(((LAWS["replaced"], 2000),)),
    "beside others": Total(((LAWS["added"], 1500), (LAWS["response"], 3), (LAWS["plain"], 1))),
    "beside Laplace noise": Total(((LAWS["removed"], 400), (Laplace(0.5), 2))),
}


@pytest.mark.parametrize("name", LISTS)
def test_what_is_left_out_is_counted(name: str) -> None:
    total = LISTS[name]
    with working(BITS):
        rule = kernel(1.5, 4000, 0.001, 1e-9)
        assert suits(total, rule.last)
        truth, found = every_node(total, rule), swept.swept(total, rule, rule.c, 100.0)
        more = found.left_out.excess - truth.left_out.excess, found.left_out.density - truth.left_out.density
        assert not abs(found.excess[0] - truth.excess[0]) > more[0]
        assert not abs(found.density[0] - truth.density[0]) > more[1]
        assert 0 < more[0] < 1e-8


def broken(name: str) -> Callable[..., Any]:
    """A bound without one of its terms."""
    kept = Bound.level

    def level(self: Bound, limit: float, radius: arb) -> arb:
        return {
            "power": lambda: kept(self, limit, radius) + 1 - (arb(limit).log() / self.copies).exp(),
            "slope": lambda: kept(self, limit, radius) + self.slope * radius,
        }[name]()

    return level


@pytest.mark.parametrize("term", ["power", "slope"])
def test_a_bound_without_a_term_is_caught(term: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sums are then wrong by more than what is said to be left out."""
    total = Total(((LAWS["response"], 40),))  # |φ| is 1 at every multiple of 2π/0.3
    with working(BITS):
        rule = kernel(1.5, 4000, 0.001, 1e-9)
        truth = every_node(total, rule)
        monkeypatch.setattr(Bound, "level", broken(term))
        monkeypatch.setattr(swept, "_DRIFT", 0.5)
        monkeypatch.setattr(Sweep, "_beginning", lambda self: 1)
        found = swept.swept(total, rule, rule.c, 100.0)
        assert abs(found.excess[0] - truth.excess[0]) > 2 * found.left_out.excess


def test_few_nodes_and_fading_laws_are_not_swept() -> None:
    assert not suits(LISTS["removed"], 100)
    assert not suits(Total(((LAWS["removed"], 400), (SampledNormal(1.0, 0.1, "removed"), 1))), 10**6)
    assert not suits(Total(((Laplace(1.0), 5),)), 10**6)


def test_where_little_can_be_left_out_it_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two coins have |φ| near 1 almost everywhere: evaluating every node is cheaper."""
    total = Total(((response(0.01, 2), 2),))
    with working(BITS):
        rule = kernel(0.5, 8000, 0.0005, 1e-9)
        monkeypatch.setattr(Sweep, "_beginning", lambda self: 1)
        with pytest.raises(TooMuch):
            swept.swept(total, rule, rule.c, 100.0)
