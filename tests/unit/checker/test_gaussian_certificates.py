"""Certificates about (ε, δ) pairs together with Gaussian noise: written, read, proved, and rejected when false."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import acb, arb

import optcomp as oc
from optcomp.checker import attempts, check, noisy
from optcomp.checker.attempts import Scene
from optcomp.checker.balls import ball, working
from optcomp.checker.closed import distance, gaussian_alone, normal_excess
from optcomp.checker.contour import Exhausted
from optcomp.checker.document import MOST_INLINE, read
from optcomp.checker.instance import Instance, Range
from optcomp.errors import InvalidInput
from tests.oracles.checks import above, below
from tests.oracles.losses import Beside, response_atoms, sums_of, variance_hockey
from tests.oracles.truth import Mechanism
from tests.unit.checker.certificates import Document, by_digest, claim
from tests.unit.cli.in_process import invoke

Noise = tuple[Fraction | float, int]
BITS = 320


def ignore(what: str, share: float) -> None:
    """Nobody is looking."""


def through_json(bound: oc.Bound) -> Document:
    document: Document = json.loads(json.dumps(bound.certificate(), allow_nan=False))
    return document


def truth_of(coins: Sequence[Mechanism], noise: Sequence[Noise]) -> Beside:
    """Every pattern of signs with a normal hockey stick of its own."""
    square = sum((copies * Fraction(mu) ** 2 for mu, copies in noise), Fraction(0))
    atoms = [(eps, copies) for eps, _, copies in coins if eps]
    leaks = [(delta, copies) for _, delta, copies in coins if delta]
    return Beside(
        [variance_hockey(square)], lambda: sums_of((response_atoms(eps), copies) for eps, copies in atoms), leaks
    )


def items_of(coins: Sequence[Mechanism], noise: Sequence[Noise]) -> dict[Any, int]:
    """The same for compose; every other μ as a σ."""
    items: dict[Any, int] = {}
    for eps, delta, copies in coins:
        items[eps, delta] = items.get((eps, delta), 0) + copies
    for number, (mu, copies) in enumerate(noise):
        key = oc.GaussianDP(mu) if number % 2 else oc.Gaussian(1 / Fraction(mu))
        items[key] = items.get(key, 0) + copies
    return items


def noisy_claim(
    coins: Sequence[Mechanism],
    noise: Sequence[Noise],
    quantity: str,
    given: Fraction | float | str,
    lower: float | None,
    upper: float | None,
) -> Document:
    document = claim(coins, quantity, given, lower, upper)
    listed = [[str(mu) if isinstance(mu, Fraction) else mu, copies] for mu, copies in noise]
    count = document["count"] + sum(copies for _, copies in noise)
    return document | {"version": 2, "count": count, "gaussians": listed}


def contains(found: Range, truth: arb, width: float = math.inf) -> bool:
    """Whether the truth is between, and the width at most this share of the smaller of F and 1 - F."""
    with working(BITS):
        narrow = width == math.inf or found.high - found.low <= truth.min(1 - truth) * width
        return not found.low > truth and not found.high < truth and bool(narrow)


def different(seed: int, k: int, low: float, high: float) -> list[Mechanism]:
    return [(float(eps), 0.0, 1) for eps in np.random.default_rng([59, seed]).uniform(low, high, k)]


# The ways to enclose F, against every pattern of signs.

PLACES: dict[str, tuple[list[Mechanism], float, float]] = {
    "coins dominate": (different(1, 7, 0.1, 1), 0.02, 2.0),
    "near zero": (different(1, 7, 0.1, 1), 0.02, 0.01),
    "beyond all coins": (different(1, 7, 0.1, 1), 0.02, 4.3),
    "alike": (different(2, 6, 0.1, 1), 0.8, 3.0),
    "left of the mean": (different(2, 6, 0.1, 1), 2.5, 0.5),
    "noise dominates": (different(3, 5, 0.001, 0.01), 3.0, 20.0),
    "deep": (different(3, 5, 0.1, 1), 0.5, 15.0),
    "copies": ([(0.25, 0.0, 9), (0.3, 0.0, 4)], 0.1, 1.5),
}


@pytest.mark.parametrize(("coins", "mu", "y"), PLACES.values(), ids=PLACES)
def test_every_way_contains_the_truth(coins: list[Mechanism], mu: float, y: float) -> None:
    place = Fraction(y)
    instance = Instance.of([(float(eps), 0.0, copies) for eps, _, copies in coins], [(mu / 2, 4)])
    with working(BITS):
        truth = truth_of(coins, [(mu / 2, 4)]).excess(place, BITS)
        assert contains(noisy.Noisy(instance, ignore).excess(place), truth, 1e-60)
        assert gaussian_alone(instance, place).low <= truth
        assert truth <= distance(instance).high
    for bits in (24, 64, 160):
        found = attempts.unsmoothed(Scene(instance), [place], bits, 20.0, ignore)[place]
        assert contains(found, truth, 2.0 ** (12 - bits))
    for width in (2 * mu, mu / 3):
        assert contains(attempts.smoothed(Scene(instance), [place], width, 20.0, ignore)[place], truth)


def test_smoothing_costs_what_the_density_says() -> None:
    """F_u - F is nearly w² p/2, which is both above zero and below the w² p that is taken off."""
    coins, mu, place, width = different(1, 7, 0.1, 1), 0.3, Fraction(2), 0.05
    instance = Instance.of([(float(eps), 0.0, copies) for eps, _, copies in coins], [(mu, 1)])
    truth, wider = (truth_of(coins, noise).excess(place, BITS) for noise in ([(mu, 1)], [(mu, 1), (width, 1)]))
    found = attempts.smoothed(Scene(instance), [place], width, 20.0, ignore)[place]
    gap = wider - truth
    assert gap > 0
    assert abs(found.high - wider) < gap / 10
    assert gap * 0.8 < truth - found.low < gap * 1.3


@pytest.mark.parametrize(("mu", "y"), [(1.0, 0.0), (0.3, 2.0), (3.0, -4.0), (0.01, 0.2), (2.0, 30.0)])
def test_closed_form_by_integration(mu: float, y: float) -> None:
    """∫ (1 - e^{y-l}) n(l) dl from y on, n the density of N(μ²/2, μ²)."""
    with working(128):
        m = arb(mu)

        def density(loss: acb, _: bool) -> acb:
            return (1 - (y - loss).exp()) * (-((loss - m * m / 2) ** 2) / (2 * m * m)).exp()

        value = normal_excess(m, arb(y))
        start = max(y, mu * mu / 2 - 40 * mu)  # below that next to nothing
        end = max(y, mu * mu / 2) + 40 * mu
        whole = acb.integral(density, start, end, abs_tol=value * 1e-30) / (m * (2 * arb.pi()).sqrt())
        assert abs(whole.real - value) < value * 1e-25


def test_effort_is_limited() -> None:
    instance = Instance.of([(float(eps), 0.0, 1) for eps, _, _ in different(4, 12, 0.1, 1)], [(1e-6, 1)])
    with pytest.raises(Exhausted):
        attempts.unsmoothed(Scene(instance), [Fraction(2)], 64, 0.05, ignore)
    assert noisy.cost(Instance.of([(0.1, 0.0, 10**6)], [(1.0, 1)])) == math.inf
    assert noisy.cost(Instance.of([(0.5, 0.0, 100), (0.25, 0.0, 100)], [(1.0, 1)])) < 0.1


# Whole certificates.

CASES: dict[str, tuple[list[Mechanism], list[Noise]]] = {
    "few coins": (different(5, 3, 0.1, 1), [(0.5, 1)]),
    "few coins, hardly any noise": (different(6, 6, 0.1, 1), [(1e-6, 3)]),
    "copies": ([(0.1, 0.0, 50), (0.2, 1e-9, 50)], [(Fraction(1, 4), 100)]),
    "equal": ([(0.01, 0.0, 10**5)], [(0.5, 1), (Fraction(1, 3), 2)]),
    "thirty": (different(7, 30, 0.1, 1), [(0.05, 1)]),
    "a hundred": (different(8, 100, 0.01, 0.2), [(Fraction(1, 20), 20)]),
    "a thousand": (different(9, 900, 0.001, 0.1), [(0.3, 1)]),
    "much noise": (different(10, 40, 0.01, 0.2), [(20.0, 2)]),
}
QUESTIONS: list[dict[str, float]] = [
    {"delta": 0.5},
    {"delta": 1e-2},
    {"delta": 1e-6},
    {"delta": 1e-100},
    {"epsilon": 0.3},
    {"epsilon": 6.0},
]


@pytest.mark.parametrize(("coins", "noise"), CASES.values(), ids=CASES)
def test_proved_and_tight(coins: list[Mechanism], noise: list[Noise]) -> None:
    """Proved as it is, rejected when both ends are moved by little more than the bracket."""
    leaky = any(delta for _, delta, _ in coins)
    for question in QUESTIONS:
        bound = oc.compose(items_of(coins, noise), **question)  # type: ignore[arg-type]
        document = through_json(bound)
        assert document["version"] == 2
        verdict = check(document)
        assert verdict.proved, (question, bound, verdict)
        if math.isinf(bound.upper):
            assert leaky
            continue
        shift = max(bound.upper - bound.lower, 1e-15 * bound.upper) * 1.2
        if bound.lower > 0 and bound.upper + shift < 1 + 1e9 * (bound.quantity == "epsilon"):
            for move in (shift, -shift):
                moved = check(document | {"lower": bound.lower + move, "upper": bound.upper + move})
                side = "lower" if move > 0 else "upper"
                assert (moved.status, moved.reason[:5]) == ("false", side), (question, bound, moved)


@pytest.mark.parametrize("leaks", [[], [(0.0, 1e-310, 2)], [(0.0, 1e-9, 5), (0.0, 1e-8, 1)]], ids=len)
@pytest.mark.parametrize("mu", [1e-6, 0.3, Fraction(7, 3), 1000.0])
def test_noise_alone(mu: Fraction | float, leaks: list[Mechanism]) -> None:
    """Adjacent floats, and not one float further."""
    scale = float(mu)
    for question in ({"delta": 0.5}, {"delta": 1e-6}, {"delta": 1e-300}, {"epsilon": scale}, {"epsilon": 30 * scale}):
        bound = oc.compose(items_of(leaks, [(mu, 1), (mu, 1)]), **question)  # type: ignore[arg-type]
        document = through_json(bound)
        assert check(document).proved, (bound, check(document))
        if bound.lower == bound.upper:  # no ε is needed, or none is possible
            continue
        assert bound.width < 1e-15
        low, high = math.nextafter(bound.lower, 0), math.nextafter(bound.upper, math.inf)
        if 0 < low < high < (1 if bound.quantity == "delta" else math.inf):
            assert check(document | {"lower": 0.0, "upper": low}).status == "false"
            assert check(document | {"lower": high, "upper": max(1.0, 2 * high)}).status == "false"


@pytest.mark.parametrize("seed", range(3))
def test_verdicts_agree_with_the_truth(seed: int) -> None:
    """Random mixtures with leaks, and claims whose ends lie at random distances from the optimum on either side."""
    rng = np.random.default_rng([61, seed])
    for _ in range(16):
        scale = 10.0 ** rng.uniform(-3, 0.5)
        coins: list[Mechanism] = [
            (float(eps), float(rng.choice([0.0, 1e-12, 1e-5])), int(rng.choice([1, 1, 1, 7])))
            for eps in scale * rng.uniform(0.05, 1, int(rng.integers(0, 6)))
        ]
        noise: list[Noise] = [(float(scale * 10.0 ** rng.uniform(-3, 1)), int(rng.integers(1, 4))) for _ in range(2)]
        noise = [(max(float(mu), 1e-6), copies) for mu, copies in noise]
        truth = truth_of(coins, noise)
        least = float(truth.delta(truth.total, 64).upper())
        delta = least + (1 - least) * 10.0 ** -rng.choice([rng.uniform(0, 2), rng.uniform(2, 100)])
        for question in ({"delta": delta}, {"epsilon": scale * rng.uniform(0, 4)}):
            bound = oc.compose(items_of(coins, noise), **question)
            verdict = check(through_json(bound))
            assert verdict.proved, (bound, verdict)
            if not math.isfinite(bound.upper) or not bound.lower > 1e-290:
                continue
            moves = rng.choice([-1.0, 1.0], 2) * 10.0 ** rng.uniform(-15, -1, 2)
            ends = sorted(end * (1 + float(move)) for end, move in zip((bound.lower, bound.upper), moves, strict=True))
            claimed = replace(bound, lower=ends[0], upper=ends[1])
            wanted = above(truth, claimed, claimed.lower) and below(truth, claimed, claimed.upper)
            verdict = check(through_json(claimed))
            assert verdict.status == ("proved" if wanted else "false"), (claimed, verdict)


def test_smoothing_decides_what_is_wide_and_has_hardly_any_noise() -> None:
    coins, noise = different(11, 70, 0.1, 1), [(1e-6, 1)]
    bound = oc.compose(items_of(coins, noise), delta=1e-6)
    wide = replace(bound, lower=bound.lower * (1 - 1e-5), upper=bound.upper * (1 + 1e-5))
    assert check(through_json(wide)).proved
    for shift in (1 + 3e-5, 1 - 3e-5):
        moved = replace(wide, lower=wide.lower * shift, upper=wide.upper * shift)
        assert check(through_json(moved)).status == "false"


def test_nothing_is_infinite_but_the_loss() -> None:
    """F never reaches zero: no ε is possible at δ = 0, or at what leaks; δ(ε) is above the leaks at every ε."""
    coins: list[Mechanism] = [(0.5, 0.25, 2), (0.25, 0.5, 1)]
    edge = Fraction(23, 32)
    for pairs, given in ((coins, edge), ([], Fraction(0)), ([(0.5, 0.0, 1)], Fraction(0))):
        noise: list[Noise] = [(0.5, 2)]
        assert check(noisy_claim(pairs, noise, "epsilon", given, None, None)).proved
        assert check(noisy_claim(pairs, noise, "epsilon", given, 1e9, None)).proved
        assert check(noisy_claim(pairs, noise, "epsilon", given, 0.0, 1e9)).status == "false"
        assert check(noisy_claim(pairs, noise, "delta", 1000, float(given), float(given))).status == "false"
        assert check(noisy_claim(pairs, noise, "delta", 40, float(given), float(given) + 1e-9)).proved
        assert check(claim(pairs, "epsilon", given, None, None)).status == "false"
    assert check(noisy_claim(coins, [(0.5, 2)], "epsilon", 0.7, None, None)).proved
    assert check(noisy_claim(coins, [(0.5, 2)], "epsilon", 0.72, None, None)).status == "false"
    assert check(noisy_claim(coins, [(0.5, 2)], "epsilon", 0.72, 1.3, None)).proved  # above the sum of all ε
    assert check(noisy_claim([], [(0.5, 2)], "delta", 1, 0.0, None)).proved


def test_leaving_out_noise_is_noticed() -> None:
    bound = oc.compose({oc.Gaussian(2): 3, 0.1: 20}, delta=1e-5)
    document = through_json(bound)
    assert document["gaussians"] == [["1/2", 3]]
    assert check(document | {"gaussians": [["1/2", 2]], "count": 22}).status == "false"
    assert check(document | {"gaussians": [["1/2", 2]]}).status == "mismatch"
    fewer = {key: value for key, value in document.items() if key != "gaussians"} | {"count": 20}
    assert check(fewer).reason.startswith("version")
    assert check(fewer | {"version": 1}).status == "false"


# Documents.

GOOD = noisy_claim([(0.5, 0.0, 2)], [(0.5, 2), (Fraction(1, 3), 1)], "epsilon", "1/1000", 0.0, 9.0)
MALFORMED: dict[str, tuple[str, Any]] = {
    "version 1": ("version", 1),
    "version 3": ("version", 3),
    "a version that is a float": ("version", 2.0),
    "none": ("gaussians", None),
    "text": ("gaussians", "0.5x3"),
    "a mapping": ("gaussians", {"0.5": 3}),
    "empty": ("gaussians", []),
    "a bare number": ("gaussians", [0.5, 3]),
    "three numbers": ("gaussians", [[0.5, 0.0, 3]]),
    "negative μ": ("gaussians", [[-0.5, 3]]),
    "μ of zero": ("gaussians", [[0, 3]]),
    "μ of text": ("gaussians", [["0.5", 3]]),
    "μ is nan": ("gaussians", [[float("nan"), 3]]),
    "μ is true": ("gaussians", [[True, 3]]),
    "zero copies": ("gaussians", [[0.5, 3], [0.25, 0]]),
    "half a copy": ("gaussians", [[0.5, 2.5]]),
    "true copies": ("gaussians", [[0.5, True]]),
    "too long a list": ("gaussians", [[0.001 * n, 1] for n in range(1, MOST_INLINE + 2)]),
}


@pytest.mark.parametrize(("field", "value"), MALFORMED.values(), ids=MALFORMED)
def test_malformed(field: str, value: object) -> None:
    assert check(GOOD).proved
    verdict = check(GOOD | {field: value})
    assert verdict.status == "malformed"
    assert verdict.reason.startswith(field)


def test_numbers_are_exact_and_equal_ones_added_up() -> None:
    found = read(GOOD | {"gaussians": [["1/3", 1], [0.5, 1], ["1/2", 1]]}).gaussians
    assert found == ((Fraction(1, 2), 2), (Fraction(1, 3), 1))
    with working(128):
        variance = Instance.of([], found).variance()
        assert abs(variance - ball(Fraction(11, 18))) < 1e-35


def test_supplied_mechanisms_are_compared() -> None:
    pairs: list[Any] = [(0.5, 0.0, 2)]
    noise: list[Noise] = [(Fraction(1, 3), 1), (Fraction(1, 2), 1), (0.5, 1)]
    document = by_digest(GOOD, pairs)
    assert check(document).status == "malformed"
    assert check(document, pairs).proved
    assert check(document, pairs, noise).proved
    other = check(document, pairs, noise[1:])
    assert (other.status, other.reason) == ("mismatch", "gaussians: the ones supplied are not those of the certificate")
    assert check(claim(pairs, "epsilon", "1/1000", 0.0, 1.0), pairs, noise).status == "mismatch"


# Written by compose.


def test_pairs_alone_are_of_version_1() -> None:
    cases: list[dict[Any, int]] = [{0.1: 3}, {0.1: 3, oc.Gaussian(2): 0}]
    for items in cases:
        document = oc.compose(items, delta=1e-6).certificate()
        assert document["version"] == 1
        assert "gaussians" not in document


def test_what_is_written() -> None:
    items = {oc.Gaussian("0.3", "0.6"): 2, oc.GaussianDP(2): 1, oc.GaussianDP(0.1): 4, (0.1, 1e-9): 5}
    document = oc.compose(items, delta=1e-6).certificate()  # type: ignore[arg-type]
    assert document["gaussians"] == [["2", 3], [0.1, 4]]
    assert (document["version"], document["count"], document["mechanisms"]) == (2, 12, [[0.1, 1e-9, 5]])


@pytest.mark.parametrize("other", [oc.ZCDP(0.001), oc.RenyiDP(8, 0.1), oc.Exponential(0.1)], ids=str)
def test_notions_are_refused(other: Any) -> None:
    bound = oc.compose({oc.Gaussian(4): 2, other: 1}, delta=1e-6)
    with pytest.raises(InvalidInput, match=r"notions such as Rényi bounds, and certificates cover only"):
        bound.certificate()


def test_long_lists() -> None:
    rng = np.random.default_rng(67)
    pairs: dict[Any, int] = dict.fromkeys(rng.uniform(0.001, 0.01, MOST_INLINE + 5).tolist(), 1)
    bound = oc.compose({**pairs, oc.Gaussian(4): 5}, delta=1e-6)
    document = through_json(bound)
    assert "digest" in document["mechanisms"]
    assert check(document, [(eps, 0.0, 1) for eps in pairs]).proved
    many: dict[Any, int] = {oc.GaussianDP(mu): 1 for mu in rng.uniform(0.01, 0.1, MOST_INLINE + 1)}
    with pytest.raises(InvalidInput, match=f"{MOST_INLINE + 1} different μ"):
        oc.compose(many, delta=1e-6).certificate()
    assert check(through_json(oc.compose(dict(list(many.items())[1:]), delta=1e-6))).proved


@pytest.mark.parametrize("method", ["renyi", "auto"])
def test_loose_claims_are_claims_too(method: str) -> None:
    for question in ({"delta": 1e-6}, {"epsilon": 3.0}):
        bound = oc.compose({oc.Gaussian(4): 20, 0.1: 20}, method=method, **question)  # type: ignore[arg-type]
        assert check(through_json(bound)).proved


# The command line.


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    items = "'gaussian(sigma=0.3, sensitivity=0.1)x20' 'gdp(0.2)' 0.1x50 0.2,1e-9x50"
    assert invoke(f"compose {items} --delta 1e-6 --certificate c.json").exit_code == 0
    document = json.loads(Path("c.json").read_text(encoding="utf8"))
    assert (document["version"], document["gaussians"]) == (2, [["1/3", 20], ["1/5", 1]])
    assert invoke("verify c.json").stdout.startswith("proved: ")
    moved = {end: document[end] * (1 + 1e-9) for end in ("lower", "upper")}
    Path("moved.json").write_text(json.dumps(document | moved), encoding="utf8")
    result = invoke("verify moved.json")
    assert (result.exit_code, result.stdout[:9]) == (1, "rejected:")


def test_mechanisms_from_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gaussian ones are compared where the file has some: as written, or else with doubles for parameters."""
    monkeypatch.chdir(tmp_path)
    for sigma in ("0.3", 0.3):
        document = oc.compose({oc.Gaussian(sigma): 2, oc.GaussianDP(sigma): 1, 0.5: 3}, delta=1e-6).certificate()
        Path("c.json").write_text(json.dumps(document), encoding="utf8")
        Path("all.yaml").write_text("[gaussian(0.3), gaussian(0.3), gdp(0.3), 0.5, 0.5, 0.5]", encoding="utf8")
        Path("pairs.yaml").write_text("[0.5, 0.5, 0.5]", encoding="utf8")
        Path("fewer.yaml").write_text("[gaussian(0.3), gdp(0.3), 0.5, 0.5, 0.5]", encoding="utf8")
        assert invoke("verify c.json --from all.yaml").exit_code == 0
        assert invoke("verify c.json --from pairs.yaml").exit_code == 0
        result = invoke("verify c.json --from fewer.yaml")
        assert (result.exit_code, result.stderr) == (1, "")
        assert result.stdout == "rejected: gaussians: the ones supplied are not those of the certificate\n"
