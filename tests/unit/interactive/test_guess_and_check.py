"""Guess and check: the exact loss of check and answers together, how far off answers are, and what is refused."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from itertools import product
from math import exp, log

import pyarrow
import pytest
from flint import arb

from optcomp import ApproxDP, BudgetExceeded, InvalidInput, MechanismClosed, MechanismFailed, PureDP
from optcomp.interactive import GuessAndCheck, Session, SumFilter
from optcomp.statistics import Count, Integers, Sum, Table
from tests.oracles.thresholds import BITS, NO_TABLE, Answers, Noise, Script, courses, losses
from tests.oracles.truth import real, working
from tests.unit.interactive.lost import kept_by_an_engine

COLUMNS = {"age": Integers(0, 99)}
Values = list[int]


def table() -> Table:
    return Table(pyarrow.table({"age": list(range(100))}), COLUMNS)


def all_courses(spec: GuessAndCheck, values: Values) -> dict[Answers, Script]:
    """Every course, for guesses that are all zero."""

    def run() -> Answers:
        running, answers = spec.start(NO_TABLE), Answers()
        with suppress(MechanismClosed):
            while len(answers) < len(values):
                answers += (running.checked(values[len(answers)], 0).corrected,)
        return answers

    return courses(run, len(values))


def answer_losses(one: Script, two: Script) -> list[list[tuple[arb, arb]]]:
    """For each answer that was told, the losses log P/P' and their chances under P."""
    found = []
    for p, q in zip(one.told, two.told, strict=True):
        assert p.noise == q.noise
        near = range(min(p.value, q.value), max(p.value, q.value) + 1)
        atoms = [(abs(y - q.value) - abs(y - p.value), p.noise.at(y - p.value)) for y in near]
        edge = abs(p.value - q.value)
        toward = p.noise.above(1), p.noise.above(edge + 1)  # beyond P's own value, and beyond the other one
        atoms += [(edge, toward[0]), (-edge, toward[1])]
        found.append([(loss / real(p.noise.scale), chance) for loss, chance in atoms])
    return found


def hockey_stick(spec: GuessAndCheck, values: Values, moved: Values, eps: Fraction) -> arb:
    """E(1 - e^{ε-L})_+ of everything that is told, exactly."""
    one, two = all_courses(spec, values), all_courses(spec, moved)
    found = losses(one, two)
    total = arb(0)
    with working(BITS):
        for answers, script in one.items():
            for atoms in product(*answer_losses(script, two[answers])):
                loss, chance = found[answers], script.chance()
                for each, weight in atoms:
                    loss, chance = loss + each, chance * weight
                total += chance * arb(0).max(1 - (real(eps) - loss).exp())
    return total


NEIGHBOURS = [
    ([1, 9, 0], [0, 8, 1]),
    ([-6, 14, 2], [-5, 13, 1]),
    ([5, 5, 5], [6, 6, 6]),
    ([-12, -12, 30], [-13, -13, 29]),
    ([3, -40, -3], [2, -41, -4]),
    ([45, -45, 1], [46, -46, 0]),
]


def whole_loss(spec: GuessAndCheck, values: Values, moved: Values) -> arb:
    """The greatest |log P/P'| of a course and any answers that are told in it."""
    one, two = all_courses(spec, values), all_courses(spec, moved)
    found = losses(one, two)
    worst = arb(0)
    for answers, script in one.items():
        atoms = answer_losses(script, two[answers])
        chances = [sum((chance for _, chance in each), arb(0)) for each in atoms]
        assert all(abs(chance - 1) < 1e-12 for chance in chances)
        worst = worst.max(abs(found[answers]) + sum((max(abs(loss) for loss, _ in each) for each in atoms), arb(0)))
    return worst


@pytest.mark.parametrize(("values", "moved"), NEIGHBOURS)
@pytest.mark.parametrize("corrections", [1, 2])
def test_the_whole_loss_is_within_epsilon(values: Values, moved: Values, corrections: int) -> None:
    spec = GuessAndCheck(5, epsilon=2, corrections=corrections)
    assert whole_loss(spec, values, moved) > 1
    assert whole_loss(spec, values, moved) <= 2


def test_the_whole_loss_comes_near() -> None:
    """So a check, or an answer, with more than its share of ε would be caught."""
    assert whole_loss(GuessAndCheck(5, epsilon=2, corrections=1), *NEIGHBOURS[-1]) > 1.9


@pytest.mark.parametrize(("values", "moved"), NEIGHBOURS)
@pytest.mark.parametrize("delta", ["0.2", "0.01", "0.00001"])
def test_optimal_composition_covers_it(values: Values, moved: Values, delta: str) -> None:
    spec = GuessAndCheck(5, epsilon=3, corrections=2, check_share="1/3")
    total = Fraction(spec.total(delta).epsilon)
    assert hockey_stick(spec, values, moved, total) <= real(Fraction(delta))
    assert hockey_stick(spec, moved, values, total) <= real(Fraction(delta))


@pytest.mark.slow
def test_a_smaller_total_would_be_caught() -> None:
    spec = GuessAndCheck(5, epsilon=3, corrections=2, check_share="1/20")
    total, values, moved = Fraction(spec.total("0.01").epsilon), [-60, 60, 60], [-59, 61, 61]
    assert hockey_stick(spec, values, moved, total) <= real(Fraction("0.01"))
    assert hockey_stick(spec, values, moved, total * Fraction("0.9")) > real(Fraction("0.01"))


@pytest.mark.parametrize("share", ["1/2", "0.9", "0.1"])
@pytest.mark.parametrize("confidence", ["0.6", "0.95"])
def test_accuracy_exactly(share: str, confidence: str) -> None:
    """Guesses at this distance are all corrected, and all corrections are nearer, with the confidence or more."""
    spec = GuessAndCheck("3.5", epsilon=9, corrections=3, check_share=share)
    far = spec.accuracy(3, confidence)
    caught = all_courses(spec, [far, -far, far])[True, True, True].chance()
    noise = Noise("laplace", spec.answer_scale)
    with working(BITS):
        assert caught * (1 - 2 * noise.above(far)) ** 3 >= real(Fraction(confidence))


def test_accuracy_where_only_the_answer_is_noisy() -> None:
    """Off by less than 3, for off by 2 at most; less than 2 would be promised too often."""
    spec = GuessAndCheck("1/2", epsilon=202, corrections=1, check_share="100/101")
    assert spec.accuracy(1, "0.991") == 3
    noise = Noise("laplace", spec.answer_scale)
    with working(BITS):
        assert 1 - 2 * noise.above(3) >= arb("0.991") > 1 - 2 * noise.above(2)


@pytest.mark.slow
def test_accuracy_with_real_noise() -> None:
    """5,000 runs; a false alarm has a probability of at most 1e-10, by Chernoff's bound."""
    spec, runs, missed = GuessAndCheck(2, epsilon=6, corrections=3, check_share="2/3"), 5000, 0
    far = spec.accuracy(3, "0.8")
    for _ in range(runs):
        running = spec.start(NO_TABLE)
        answers = [running.checked(1000 + far, 1000).value - (1000 + far) for _ in range(3)]
        missed += any(abs(off) >= far for off in answers)
    share = missed / runs
    if share > 0.2:
        divergence = share * log(share / 0.2) + (1 - share) * log((1 - share) / 0.8)
        assert exp(-runs * divergence) > 1e-10


def test_accuracy_next_to_certainty() -> None:
    spec = GuessAndCheck(2, epsilon=1, corrections=3)
    assert spec.accuracy(5, "0.9999") < spec.accuracy(5, 1 - 1e-16) < 2000


def test_at_work() -> None:
    """Noise of scales up to 0.14: guesses that are off by 3 pass, by 88 and 650 do not, but for e^-40."""
    running = Session(table(), SumFilter(100)).open(GuessAndCheck(10, epsilon=80, corrections=2))
    assert running.ask(Count(), 97) == running.ask(Count(), "97.4")
    first = running.ask(Count(), 12)
    assert first.corrected
    assert abs(first.value - 100) < 10
    assert running.ask(Count("age < 50"), 700).corrected
    assert running.corrections_left == 0
    with pytest.raises(MechanismClosed, match="all corrections are made"):
        running.ask(Count(), 100)


def test_costs() -> None:
    spec = GuessAndCheck(10, epsilon="0.3", corrections=4, check_share="1/3")
    assert spec.costs() == (PureDP("0.1"), *[PureDP("0.05")] * 4)
    session = Session(table(), SumFilter("0.3"))
    session.open(spec)
    assert session.budget.spent.epsilon == Fraction("0.3")
    with pytest.raises(BudgetExceeded):
        session.open(spec)


def test_with_a_delta_it_costs_its_optimal_composition() -> None:
    spec = GuessAndCheck(10, epsilon=3, corrections=100, delta="1e-6")
    (cost,) = spec.costs()
    assert isinstance(cost, ApproxDP)
    assert cost.delta == Fraction("1e-6")
    assert float(cost.epsilon) == spec.total("1e-6").epsilon < 2.4
    tiny = GuessAndCheck(10, epsilon="0.3", corrections=2, delta="1e-300")
    assert tiny.costs() == (ApproxDP("0.3", "1e-300"),)  # the sum, exactly, and not a float next to it


@pytest.mark.parametrize(
    "wrong",
    [
        {"tolerance": 0},
        {"epsilon": 0},
        {"epsilon": "1e-14", "corrections": 10},
        {"epsilon": "1e-8", "corrections": 10**6, "check_share": "0.999999"},
        {"corrections": 0},
        {"sensitivity": "1"},
        {"check_share": 1},
        {"delta": 1},
    ],
)
def test_bad_parameters_cost_nothing(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        GuessAndCheck(**{"tolerance": 1, "epsilon": 1, "corrections": 1, **wrong})  # type: ignore[arg-type]


def test_bad_questions_cost_nothing() -> None:
    running = GuessAndCheck(10, epsilon=80, corrections=2).start(table())
    for statistic, guess in ((Sum("age"), 1), (Count(), "many"), (Count(), float("nan")), (Count("x > 1"), 0)):
        with pytest.raises(InvalidInput):
            running.ask(statistic, guess)
    assert running.corrections_left == 2


def test_an_engine_that_fails_takes_no_correction() -> None:
    about, lose = kept_by_an_engine(Table(pyarrow.table({"age": [1]}), COLUMNS))
    running = GuessAndCheck(10, epsilon=80, corrections=2).start(about)
    lose()
    with pytest.raises(MechanismFailed):
        running.ask(Count(), 10**6)
    assert running.corrections_left == 2
