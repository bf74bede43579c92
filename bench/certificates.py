"""Certificates: how long an answer takes, and how long the independent checker takes to prove it again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from rich.console import Console

import optcomp as oc
from bench.report import Section
from optcomp.checker import check

AIM = 2.0, 20.0
"""A proof should take at most this many seconds, or this many times as long as the answer."""
REPEATS = 3
"""Of answers and proofs; the shortest time counts."""
T = TypeVar("T")
HEADER = ("list", "width", "answer", "proof", "proof/answer", "verdict")


def _sample(sigma: float, rate: float, rounds: int) -> dict[Any, int]:
    return {oc.PoissonSubsampled(oc.Gaussian(sigma), rate): rounds}


def _discrete(sigma: float, rounds: int, neighbours: Any = "add-remove") -> dict[Any, int]:
    return {oc.PoissonSubsampled(oc.DiscreteGaussian(sigma), 0.01, neighbours): rounds}


def _different(count: int, low: float = 0.001, high: float = 0.1) -> dict[Any, int]:
    """Different ε without a common unit, from a fixed seed."""
    return dict.fromkeys(np.random.default_rng([20, count]).uniform(low, high, count).tolist(), 1)


def _logarithmic(count: int) -> dict[Any, int]:
    """ε of all sizes between 1e-4 and 2."""
    return dict.fromkeys((10 ** np.random.default_rng([20, count]).uniform(-4, np.log10(2), count)).tolist(), 1)


def _lumps(count: int) -> dict[Any, int]:
    """One ε in ten is large, and the sums of those few stand apart."""
    large = np.random.default_rng([21, count]).uniform(1, 2, count // 10).tolist()
    return {**_different(count - len(large)), **dict.fromkeys(large, 1)}


def _nearly(count: int) -> dict[Any, int]:
    """ε that differ in the fourth digit."""
    return dict.fromkeys((0.05 * (1 + 1e-3 * np.random.default_rng([20, count]).uniform(size=count))).tolist(), 1)


def _written(count: int) -> dict[Any, int]:
    """ε with four digits after the point."""
    return dict.fromkeys([round(eps, 4) for eps in _different(count)], 1)


LENGTHS = 45, 60, 100, 150, 200, 400
"""Of lists of different ε: from where not all sums can be listed, to where few nodes of the integral matter."""


LISTS: dict[str, tuple[dict[Any, int], float | None]] = {
    "1000 × sample, q=.01, σ=1": (_sample(1, 0.01, 1000), None),
    "10⁴ × sample, q=.001, σ=2": (_sample(2, 0.001, 10_000), None),
    "10⁵ × sample, q=.0001, σ=.6": (_sample(0.6, 0.0001, 100_000), None),
    "1000 × sample, q=.01, σ=.3": (_sample(0.3, 0.01, 1000), None),
    "20 × sample, q=.01, σ=1": (_sample(1, 0.01, 20), None),
    **{f"{n} × sample, q=.01, σ=1, claimed to 1e-9": (_sample(1, 0.01, n), 1e-9) for n in (2, 3, 5, 10)},
    "3 × sample, q=.1, σ=1": (_sample(1, 0.1, 3), None),
    "5 × sample, q=.01, σ=.4, claimed to 1e-9": (_sample(0.4, 0.01, 5), 1e-9),
    "15 × sample, q=.001, σ=.8, claimed to 1e-9": (_sample(0.8, 0.001, 15), 1e-9),
    "3 × sample, q=.01, σ=1, a record replaced": ({oc.PoissonSubsampled(oc.Gaussian(1), 0.01, "replace"): 3}, None),
    "3 × Laplace sample, q=.01, ε=1": ({oc.PoissonSubsampled(oc.Laplace(1), 0.01): 3}, None),
    "1000 × Laplace sample, q=.01, ε=1": ({oc.PoissonSubsampled(oc.Laplace(1), 0.01): 1000}, None),
    "100 × Laplace(1)": ({oc.Laplace(1): 100}, None),
    "1000 × Laplace(100)": ({oc.Laplace(100): 1000}, None),
    "1000 × sample, q=.01, σ=1, a record replaced": (
        {oc.PoissonSubsampled(oc.Gaussian(1), 0.01, "replace"): 1000},
        None,
    ),
    "20 × sample, q=.01, σ=1, a record replaced": ({oc.PoissonSubsampled(oc.Gaussian(1), 0.01, "replace"): 20}, None),
    "1000 × Laplace sample, q=.01, ε=1, a record replaced": (
        {oc.PoissonSubsampled(oc.Laplace(1), 0.01, "replace"): 1000},
        None,
    ),
    "1000 × batch of 10 in 1000, σ=1, sensitivity 2": (
        {oc.WithoutReplacement(oc.Gaussian(1, 2), 10, 1000): 1000},
        None,
    ),
    "1000 × Laplace batch of 10 in 1000, ε=1": ({oc.WithoutReplacement(oc.Laplace(1), 10, 1000): 1000}, None),
    "10 × Laplace(1)": ({oc.Laplace(1): 10}, None),
    "1000 × discrete sample, q=.01, σ=4": (_discrete(4, 1000), None),
    "1000 × discrete sample, q=.01, σ=1": (_discrete(1, 1000), None),
    "1000 × discrete sample, q=.01, σ=4, a record replaced": (_discrete(4, 1000, "replace"), None),
    "10 × discrete sample, q=.01, σ=1": (_discrete(1, 10), None),
    "10 × discrete sample, q=.01, σ=4": (_discrete(4, 10), None),
    "30 × discrete sample, q=.01, σ=4, claimed to 1e-6": (_discrete(4, 30), 1e-6),
    "50 × discrete Gaussian σ=5": ({oc.DiscreteGaussian(5): 50}, None),
    "20 × discrete Laplace, b=2, Δ=3": ({oc.DiscreteLaplace(2, 3): 20}, None),
    "30 × randomized response of 5 answers": ({oc.RandomizedResponse(1, 5): 30}, None),
    "10⁶ × randomized response of 5 answers": ({oc.RandomizedResponse(0.01, 5): 10**6}, None),
    "300 × sample, 3 × Laplace, 50 pairs": (
        {**_sample(1, 0.01, 300), oc.Laplace(1): 3, (0.1, 1e-9): 50},
        None,
    ),
    **{f"{count} different ε from .001 to .1": (_different(count), None) for count in LENGTHS},
    **{f"{count} different ε from .1 to 2": (_different(count, 0.1, 2), None) for count in LENGTHS},
    **{f"{count} different ε of all sizes": (_logarithmic(count), None) for count in LENGTHS},
    **{f"{count} different ε, every tenth large": (_lumps(count), None) for count in LENGTHS},
    "100 different ε, claimed to 1e-6": (_different(100), 1e-6),
    "100 nearly equal ε": (_nearly(100), None),
    "100 different ε of four digits": (_written(100), None),
    "1000 different ε": (_different(1000), None),
}
"""Mechanisms, and how wide a bracket is claimed; None for the answer's own."""


def section(quick: bool, console: Console) -> Section:
    """Measure."""
    made, rows = Section("Certificates", ""), []
    for name, (mechanisms, rtol) in LISTS.items():
        console.print(f"certificates: {name}")
        rows.append(_row(name, mechanisms, rtol, 1 if quick else REPEATS))
    made.text = (
        f"Processor seconds for `compose` at δ = 1e-6, and for the independent checker to prove its certificate; the "
        f"aim is a proof within {AIM[0]:g} s or {AIM[1]:g} times the answer."
    )
    made.add("Proofs", HEADER, rows)
    return made


def _row(name: str, mechanisms: dict[Any, int], rtol: float | None, repeats: int) -> tuple[str, ...]:
    bound, answer = _shortest(lambda: oc.compose(mechanisms, delta=1e-6), repeats)
    document = bound.certificate(rtol)
    verdict, proof = _shortest(lambda: check(document), repeats)
    slow = "" if proof <= max(AIM[0], AIM[1] * answer) else ", above the aim"
    width = f"{bound.width if rtol is None else rtol:.1e}"
    return name, width, f"{answer:.3f} s", f"{proof:.3f} s", f"{proof / answer:.2g}", f"{verdict.status}{slow}"


def _shortest(call: Callable[[], T], repeats: int) -> tuple[T, float]:
    best = float("inf")
    for _ in range(repeats):
        begun = time.process_time()
        found = call()
        best = min(best, time.process_time() - begun)
    return found, best
