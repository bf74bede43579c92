"""True claims are proved and false ones rejected, whoever found them and however."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import optcomp as oc
from optcomp.checker import Verdict, check
from optcomp.checker.instance import Instance
from optcomp.checker.prove import End, decide
from tests.oracles.checks import above, below
from tests.oracles.closed import ALL, DELTAS, epsilons_of, parts_of
from tests.oracles.instances import Instance as Example
from tests.oracles.instances import equal_instances, lattice_instances, small_instances
from tests.oracles.sums import subsets
from tests.oracles.truth import Mechanism
from tests.unit.checker.certificates import by_digest, certified, claim

MOVED = (1e-9, -1e-9)
"""Both ends moved together by one part in 10^9."""


def uniform(seed: int, k: int, low: float, high: float) -> list[Mechanism]:
    return [(float(eps), 0.0, 1) for eps in np.random.default_rng([41, seed]).uniform(low, high, k)]


def verdict_of(bound: oc.Bound, mechanisms: Sequence[Mechanism], shift: float = 0.0) -> Verdict:
    document = certified(bound, mechanisms, shift)
    return check(by_digest(document, mechanisms), mechanisms) if len(mechanisms) > 1000 else check(document)


def proved_and_tight(bound: oc.Bound, mechanisms: Sequence[Mechanism]) -> bool:
    """Whether the claim is proved, and rejected when it is moved either way."""
    assert bound.width < 0.9e-9
    moved = [verdict_of(bound, mechanisms, shift) for shift in MOVED]
    return verdict_of(bound, mechanisms).proved and {verdict.status for verdict in moved} == {"false"}


CASES: dict[str, tuple[list[Mechanism], float]] = {
    "one": ([(0.3, 0.0, 1)], 1e-6),
    "top cell": (uniform(1, 60, 0.01, 3), 1e-12),
    "ten equal": ([(0.1, 0.0, 10)], 1e-3),
    "equal with leaks": ([(0.1, 1e-9, 500)], 1e-6),
    "a million equal": ([(1e-3, 0.0, 10**6)], 1e-9),
    "10^12 equal": ([(1e-6, 0.0, 10**12)], 1e-9),
    "10^15 equal, large δ": ([(1e-8, 0.0, 10**15)], 0.1),
    "subsets": (uniform(2, 8, 0.1, 1), 1e-2),
    "halves": (uniform(3, 24, 0.01, 0.5), 1e-4),
    "multiplicities": ([(0.1, 0.0, 30), (0.123, 1e-9, 40)], 1e-6),
    "a lattice": ([(Fraction(a, 100), 0.0, 10 * a) for a in range(1, 12)], 1e-6),
    "floats near a lattice": ([(a / 100, 0.0, 10 * a) for a in range(1, 12)], 1e-6),
    "a thousand": (uniform(4, 1000, 0.001, 0.1), 1e-6),
    "tiny δ": (uniform(5, 1000, 0.001, 0.1), 1e-100),
    "thousands": (uniform(7, 4000, 0.001, 0.1), 1e-9),
}


@pytest.mark.slow_cases("thousands")
@pytest.mark.parametrize(("mechanisms", "delta"), CASES.values(), ids=CASES)
def test_epsilon(mechanisms: list[Mechanism], delta: float) -> None:
    bound = oc.compose(parts_of(mechanisms), delta=delta)
    assert proved_and_tight(bound, mechanisms)


@pytest.mark.parametrize("name", ["one", "equal with leaks", "halves", "multiplicities", "a lattice"])
def test_delta(name: str) -> None:
    mechanisms, delta = CASES[name]
    epsilon = oc.compose(parts_of(mechanisms), delta=delta).upper * 0.9
    assert proved_and_tight(oc.compose(parts_of(mechanisms), epsilon=epsilon), mechanisms)


@pytest.mark.parametrize("question", [{"delta": 0.6}, {"epsilon": 2.0}, {"epsilon": 15}], ids=str)
def test_wider_claims(question: dict[str, float]) -> None:
    """A large δ, and δ from ε, by the contour integral: claims of one part in 10^7 are cheaper to check."""
    mechanisms = uniform(6, 1000, 0.01, 0.1)
    bound = oc.compose(parts_of(mechanisms), **question)  # type: ignore[arg-type]
    wide = replace(bound, lower=bound.lower * (1 - 1e-7), upper=bound.upper * (1 + 1e-7))
    assert verdict_of(wide, mechanisms).proved
    assert {verdict_of(wide, mechanisms, shift).status for shift in (5e-7, -5e-7)} == {"false"}


@pytest.mark.parametrize("method", [method for method in oc.METHODS if method != "auto"])
def test_every_method(method: str) -> None:
    """Loose claims are claims too; what no longer contains the optimum is rejected."""
    mechanisms: list[Mechanism] = [(0.1, 1e-9, 30)]
    best = oc.compose(parts_of(mechanisms), delta=1e-6)
    bound = oc.compose(parts_of(mechanisms), delta=1e-6, method=method)
    assert verdict_of(bound, mechanisms).proved
    low, high = best.lower * (1 - 1e-9), best.upper * (1 + 1e-9)
    assert check(claim(mechanisms, "epsilon", 1e-6, 0.0, low)).status == "false"
    assert check(claim(mechanisms, "epsilon", 1e-6, high, bound.upper * 2)).status == "false"


@pytest.mark.parametrize("method", ["basic", "kov", "strong", "murtagh-vadhan"])
def test_loose_claims_are_cheap(method: str) -> None:
    mechanisms = uniform(8, 300, 0.01, 0.3)
    for question in ({"delta": 1e-6}, {"epsilon": 12.0}):
        bound = oc.compose(parts_of(mechanisms), method=method, **question)  # type: ignore[arg-type]
        assert verdict_of(bound, mechanisms).proved


def questions(example: Example) -> list[oc.Bound]:
    parts = list(example.parts)
    return [oc.compose(parts, delta=example.delta), oc.compose(parts, epsilon=example.epsilon)]


@pytest.mark.parametrize("seed", range(4))
def test_ugly_instances(seed: int) -> None:
    for example in small_instances(seed + 900, 24, most=11):
        for bound in questions(example):
            verdict = verdict_of(bound, [(eps, delta, 1) for eps, delta in example.parts])
            assert verdict.proved, (example, bound, verdict)


@pytest.mark.parametrize("seed", range(2))
def test_verdicts_agree_with_the_truth(seed: int) -> None:
    """Claims with ends at random distances from the optimum, from both sides, judged by an oracle too."""
    rng = np.random.default_rng([43, seed])
    for example in small_instances(seed + 950, 18, most=9):
        truth = subsets(example.parts)
        mechanisms = [(eps, delta, 1) for eps, delta in example.parts]
        for bound in questions(example):
            if not math.isfinite(bound.upper) or not bound.lower > 1e-290:
                continue
            moves = rng.choice([-1.0, 1.0], 2) * 10.0 ** rng.uniform(-15, -1, 2)
            lower, upper = sorted(end * (1 + move) for end, move in zip((bound.lower, bound.upper), moves, strict=True))
            claimed = replace(bound, lower=float(lower), upper=float(upper))
            wanted = above(truth, claimed, claimed.lower) and below(truth, claimed, claimed.upper)
            verdict = verdict_of(claimed, mechanisms)
            assert verdict.status == ("proved" if wanted else "false"), (example, claimed, verdict)


def test_counted_instances() -> None:
    for example in [*lattice_instances(7, 8), *equal_instances(7, 12)]:
        parts = parts_of(example.groups)
        for bound in (oc.compose(parts, delta=example.delta), oc.compose(parts, epsilon=example.epsilon)):
            verdict = verdict_of(bound, example.groups)
            assert verdict.proved, (example, bound, verdict)


@pytest.mark.parametrize("groups", ALL.values(), ids=ALL)
def test_extreme_scales(groups: list[Mechanism]) -> None:
    bounds = [oc.compose(parts_of(groups), delta=delta) for delta in DELTAS]
    bounds += [oc.compose(parts_of(groups), epsilon=epsilon) for epsilon in epsilons_of(groups)]
    for bound in bounds:
        verdict = verdict_of(bound, groups)
        assert verdict.proved, (bound, verdict)


@pytest.mark.parametrize("bits", [60, 300, 1000])
def test_enclosures(bits: int) -> None:
    mechanisms: list[Mechanism] = [(Fraction(1, 10), 0.0, 20), (Fraction(1, 7), 1e-9, 3)]
    bound = oc.compose(parts_of(mechanisms), delta=1e-6, bits=bits)
    assert bound.enclosure is not None
    document = certified(bound, mechanisms)
    assert check(document).proved
    step = Fraction(1, 2 ** (bits - 2))
    for ends in ([end + step for end in bound.enclosure], [end - step for end in bound.enclosure]):
        wide = {"lower": 0.0, "upper": 100.0, "enclosure": [str(end) for end in ends]}
        assert check(document | wide).status == "false"


def test_infinite_claims() -> None:
    leaky: list[Mechanism] = [(0.1, 1e-9, 50)]
    assert check(claim(leaky, "epsilon", 1e-9, None, None)).proved
    assert check(claim(leaky, "epsilon", 1e-9, 3.0, None)).proved
    assert check(claim(leaky, "epsilon", 1e-9, 0.0, 5.0)).status == "false"
    assert check(claim(leaky, "epsilon", 1e-6, None, None)).status == "false"
    assert check(claim(leaky, "epsilon", 1e-6, 1.0, None)).proved
    assert check(claim(leaky, "delta", 1, 0.0, None)).proved
    assert check(claim(leaky, "delta", 1, None, None)).status == "false"


def test_exact_equalities() -> None:
    """Just feasible, at the sum, and nothing but leaks: no ball decides these."""
    leaky: list[Mechanism] = [(0.5, 0.25, 2), (0.25, 0.5, 1)]
    edge = Fraction(23, 32)
    assert check(claim(leaky, "epsilon", edge, 1.25, 1.25)).proved
    assert check(claim(leaky, "epsilon", edge, 0.0, math.nextafter(1.25, 0))).status == "false"
    assert check(claim(leaky, "epsilon", edge, math.nextafter(1.25, 2), 2.0)).status == "false"
    assert check(claim(leaky, "delta", 1.25, float(edge), float(edge))).proved
    assert check(claim(leaky, "delta", 1.25, 0.0, math.nextafter(float(edge), 0))).status == "false"
    assert check(claim(leaky, "delta", 1.25, math.nextafter(float(edge), 1), 1.0)).status == "false"
    assert check(claim([(0.0, 0.0, 3)], "epsilon", 0, 0.0, 0.0)).proved
    assert check(claim([(0.0, 0.0, 3)], "delta", 0, 0.0, 0.0)).proved
    assert check(claim([], "epsilon", "1/2", 0.0, 0.0)).proved
    assert check(claim([(0.5, 0.0, 1)], "epsilon", "1/2", -1.0, -0.5)).status == "false"
    assert check(claim([(0.5, 0.0, 1)], "delta", 0, -1.0, -0.5)).status == "false"


def test_too_hard_is_said_to_be_undecided() -> None:
    mechanisms = uniform(9, 70, 0.1, 2)
    bound = oc.compose(parts_of(mechanisms), delta=1e-6, method="certified")
    verdict = check(certified(bound, mechanisms), effort=0.01)
    assert (verdict.proved, verdict.status) == (False, "undecided")
    assert verdict.reason.startswith("not decided")


def test_progress_is_told() -> None:
    heard: list[float] = []
    mechanisms = uniform(10, 20, 0.1, 1)
    bound = oc.compose(parts_of(mechanisms), epsilon=3)
    assert check(certified(bound, mechanisms), tell=lambda _, share: heard.append(share)).proved
    assert heard
    assert all(0 <= share <= 1 for share in heard)


def test_an_end_that_is_decided_stays_decided() -> None:
    instance = Instance.of([(0.5, 0.0, 2)])
    end = End("upper", Fraction(1), instance.target(0.5, 128), holds=True, how="already")
    decide(instance, [end], 128, 1.0, lambda *_: None)
    assert end.how == "already"
