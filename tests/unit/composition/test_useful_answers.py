"""Answers that are of use: narrow where they can be, in order, and true as they are published."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import optcomp as oc
from optcomp.checker import check
from optcomp.numerics.exact_numbers import float_above, float_below, text_of
from optcomp.theorems.opt import CAPPED
from tests.oracles.checks import encloses
from tests.oracles.halves import Halves
from tests.oracles.losses import Beside, variance_hockey
from tests.oracles.truth import decided, real
from tests.unit.cli.in_process import invoke

WIDE_RANGE = [0.24, 0.072, 1.583, 0.094]
"""A line far up the losses of this list meets δ = .11 below zero; the answer is 1.5526."""
PROMISED = [0.13, 0.514, 0.021, 0.075, 0.092, 1.677]


def truth_of(sizes: list[float]) -> Halves:
    return Halves([(x, 0.0, 1) for x in sizes])


@pytest.mark.parametrize("method", ["auto", "exact", "certified"])
def test_a_line_that_meets_delta_below_zero_is_not_the_answer(method: str) -> None:
    bound = oc.compose(WIDE_RANGE, delta=0.11, method=method)
    assert encloses(truth_of(WIDE_RANGE), bound)
    assert bound.width < 1e-15
    assert bound.upper == pytest.approx(1.55264966)


@pytest.mark.parametrize("bits", [53, 100, 400])
def test_to_any_number_of_bits(bits: int) -> None:
    bound = oc.compose(WIDE_RANGE, delta=0.11, bits=bits)
    assert encloses(truth_of(WIDE_RANGE), bound)
    assert bound.enclosure is not None
    assert (bound.enclosure[1] - bound.enclosure[0]) * 2**bits <= 1


def test_more_delta_never_costs_more_epsilon() -> None:
    for sizes in (WIDE_RANGE, PROMISED, [2.9, 0.03, 0.4, 1.7, 0.011]):
        uppers = [oc.compose(sizes, delta=0.003 * step).upper for step in range(1, 250)]
        assert uppers == sorted(uppers, reverse=True)


def test_the_answer_zero_is_found() -> None:
    """δ is the total variation distance, a hair more: the halvings towards 0 would take a thousand looks."""
    unit = 0.0004974714247509837
    bound = oc.compose(
        {4 * unit: 457, 2 * unit: 475, 5 * unit: 325, unit: 207, 3 * unit: 235}, delta=0.0278231957500682
    )
    assert (bound.lower, bound.upper) == (0.0, 0.0)


def test_nothing_is_ranked_before_the_optimum() -> None:
    bounds = oc.compare(WIDE_RANGE, delta=0.11)
    assert bounds[0].theorem == "MV18-1.5"
    assert all(bounds[0].upper <= other.upper for other in bounds)


def test_murtagh_vadhan_keeps_its_promise() -> None:
    bound = oc.compose(PROMISED, delta=0.073, method="murtagh-vadhan", eta=0.01)
    later = Fraction(bound.upper) - Fraction(1, 100)
    assert encloses(truth_of(PROMISED), bound)
    assert (
        decided(lambda bits: truth_of(PROMISED).delta(later, bits) - (real(Fraction(-1, 200)).exp() * real(0.073))) >= 0
    )


def test_calibrated_to_the_best() -> None:
    found = oc.calibrate(lambda s: [s * x for x in WIDE_RANGE], epsilon=1.5, delta=0.11)
    assert truth_of([found * x for x in WIDE_RANGE]).at_most(1.5, 0.11)
    assert not truth_of([found * (1 + 3e-6) * x for x in WIDE_RANGE]).at_most(1.5, 0.11)


@pytest.mark.parametrize("seed", range(4))
def test_on_an_atom_a_small_table_comes_before_a_patient_integral(seed: int) -> None:
    rng = np.random.default_rng(seed)
    steps = rng.choice(np.arange(2, 100), 12, replace=False)
    copies = rng.multinomial(351 - 12, [1 / 12] * 12) + 1
    counts = {round(int(a) * 1e-4, 4): int(m) for a, m in zip(steps, copies, strict=True)}
    place = int(oc.compose(counts, delta=1e-6).upper * 1e4)
    place -= (int(steps @ copies) - place) % 2
    bound = oc.compose(counts, epsilon=float(Fraction(place, 10**4)))
    assert (bound.method, CAPPED in bound.notes) == ("murtagh-vadhan", False)
    assert bound.width < 1e-9
    assert check(bound.certificate()).proved


def test_a_false_claim_with_ends_far_apart_is_found_false() -> None:
    sizes = [float(x) for x in np.random.default_rng(1).uniform(0.01, 0.1, 60)]
    claim = oc.compose(sizes, delta=1e-6).certificate()
    upper = float(str(claim["upper"]))
    assert check({**claim, "lower": upper / 2}).proved
    assert check({**claim, "lower": upper / 2, "upper": 0.9999 * upper}).status == "false"


def test_thousands_of_different_leaks_leave_signs_undecided_and_sides_true() -> None:
    leaks = [float(x) for x in np.random.default_rng(5).uniform(1e-9, 1e-7, 6000)]
    truth = Beside([variance_hockey(Fraction(10, 16))], leaks=[(leak, 1) for leak in leaks])
    for delta in (1e-3, 3.5e-4):
        bound = oc.compose([oc.Gaussian(4)] * 10 + [oc.NameAndShame(leak) for leak in leaks], delta=delta)
        assert truth.sign(bound.lower, delta) >= 0
        assert truth.sign(bound.upper, delta) <= 0
        assert bound.width < 1e-9


def test_a_delta_next_to_the_leaks_has_an_answer() -> None:
    delta = Fraction(1, 10) + Fraction(1, 2**17000)
    bound = oc.compose({oc.Gaussian(1): 1, oc.NameAndShame("0.1"): 1}, delta=delta)
    assert bound.lower == pytest.approx(153.943178, rel=1e-8)
    assert bound.upper <= math.nextafter(bound.lower, math.inf)
    assert len(repr(bound)) > 5000
    assert len(str(bound)) < 150
    assert Fraction(json.loads(json.dumps(bound.as_dict()))["delta"]) >= delta


def test_what_was_given_is_rounded_up() -> None:
    bound = oc.compose([oc.Gaussian("1")], epsilon="30.0000000000000017")
    assert bound.given == Fraction("30.0000000000000017")
    assert bound.epsilon == 30.000000000000004
    assert oc.compose([oc.Gaussian(1)], epsilon=bound.epsilon).lower <= bound.delta
    assert "30.0000000000000017" in str(bound)
    assert oc.compose([0.5], delta=1e-6).delta == 1e-6
    assert oc.compose([0.5], delta="0.1").delta == 0.1


@given(st.fractions(min_value=Fraction(1, 10**12), max_value=10**6))
def test_floats_beside_a_number_are_true_as_floats_and_as_decimals(number: Fraction) -> None:
    above, below = float_above(number), float_below(number)
    assert below <= number <= above
    assert Fraction(repr(below)) <= number <= Fraction(repr(above)) or number in (above, below)
    assert above - below <= 4 * math.ulp(above)
    assert Fraction(text_of(number)) == number


@given(st.decimals(min_value="0.001", max_value="40", places=19))
def test_the_pair_on_the_command_line_is_true(epsilon: object) -> None:
    result = invoke(f"compose gaussian(sigma=1) --epsilon {epsilon} --json")
    shown = json.loads(result.stdout, parse_float=Fraction)
    assert shown["epsilon"] >= Fraction(str(epsilon))
    assert Fraction(float(shown["epsilon"])) >= Fraction(str(epsilon))


def test_an_upper_side_is_above_the_truth_as_a_decimal_too() -> None:
    told = invoke("compose 0.1000000000000000005 --delta 0", env={"COLUMNS": "100"}).stdout
    shown = next(line for line in told.splitlines() if "total ε" in line).split()[4]
    assert Fraction(shown) >= Fraction("0.1000000000000000005")
    assert Fraction(repr(oc.compose(["0.1000000000000000005"], delta=0).upper)) >= Fraction("0.1000000000000000005")
    assert oc.compose(["0.1"], delta=0).upper == 0.1
    assert oc.compose([0.1], delta=0).upper == 0.1


def test_exact_ends_stay_within_the_possible_and_within_the_floats() -> None:
    questions: list[tuple[dict[object, int], dict[str, float]]] = [
        ({oc.PureDP(1.2069710237367983): 1000}, {"epsilon": 1.4987}),
        ({oc.PureDP(2.678): 1724}, {"epsilon": 0.0}),
        ({(0.40475491899996996, 4.597681268038748e-14): 1}, {"epsilon": 0.40475491899996996}),
        ({oc.PureDP(0.013055760712064688): 1173033}, {"epsilon": 15314.83}),
    ]
    for parts, asked in questions:
        bound = oc.compose(parts, bits=84, **asked)  # type: ignore[arg-type]
        assert bound.enclosure is not None
        assert bound.lower <= bound.enclosure[0] <= bound.enclosure[1] <= bound.upper <= 1
        assert len(json.dumps(bound.certificate())) < 3000
        assert check(bound.certificate()).proved


def test_an_undecided_leak_is_said() -> None:
    """Leaks too many to compare as fractions, and a δ that agrees with them to far more bits than are looked at."""
    leaks = {Fraction(1, 3**40 + step): 1 for step in range(600)}
    kept = Fraction(1)
    for leak in leaks:
        kept *= 1 - leak
    delta = 1 - kept + Fraction(1, 2**40000)
    bound = oc.compose({oc.Gaussian(1): 1, **{oc.NameAndShame(leak): 1 for leak in leaks}}, delta=delta)
    assert bound.upper == math.inf
    assert 0 < bound.lower < 400
    assert any("not decided" in note for note in bound.notes)
