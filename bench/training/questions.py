"""The settings: rates from 1e-6 to 1, σ from .1 to 50, 1 to 10⁷ rounds, δ from 1e-4 to 1e-100; then lattices."""

from __future__ import annotations

from typing import NamedTuple

import optcomp as oc
from bench.instances import power
from bench.losses.questions import Part, Question, repeated


class Setting(NamedTuple):
    """Gaussian noise of `sigma` on a sample of the given rate, `rounds` times."""

    rate: float
    sigma: float
    rounds: int
    delta: float


class Opacus(NamedTuple):
    """What the three accountants of Opacus 1.6 said in one run of November 2026; None is an error."""

    prv: float | None
    rdp: float
    gdp: float | None


SEEN: dict[Setting, Opacus] = {
    Setting(0.04, 1.5, 2250, 1e-5): Opacus(6.7791, 7.3291, 6.6016),
    Setting(1 / 3000, 4.0, 10**4, 1.1e-18): Opacus(None, 0.5864, 0.0672),
    Setting(0.01, 0.3, 1000, 1e-5): Opacus(69.8295, 79.05, None),
    Setting(0.01, 0.2, 100, 1e-5): Opacus(75.1114, 87.98, None),
    Setting(0.1, 1.0, 3, 1e-5): Opacus(2.0972, 2.6065, 0.8335),
    Setting(0.01, 1.0, 2, 1e-5): Opacus(0.2555, 0.9767, 0.0539),
    Setting(1e-4, 0.6, 10**5, 1e-6): Opacus(0.9735, 2.267, 0.494),
    Setting(1e-6, 0.5, 10**6, 1e-8): Opacus(0.3058, 2.736, 0.032),
    Setting(0.02, 0.1, 50, 1e-5): Opacus(354.946, 839.6, None),
    Setting(0.001, 0.4, 5000, 1e-7): Opacus(14.3647, 16.59, 9.207),
}
"""Settings that were also given to Opacus itself, which needs PyTorch and is therefore not run here."""
SETTINGS: tuple[Setting, ...] = (
    *SEEN,
    Setting(0.01, 1.0, 1000, 1e-5),
    Setting(0.01, 1.0, 10**4, 1e-20),
    Setting(0.001, 0.8, 10**4, 1e-6),
    Setting(0.001, 2.0, 10**4, 1e-6),
    Setting(0.0005, 1.5, 2 * 10**4, 1e-6),
    Setting(0.02, 0.7, 3000, 1e-5),
    Setting(0.005, 1.1, 2 * 10**4, 1e-7),
    Setting(1.0, 10.0, 100, 1e-6),
    Setting(0.9, 2.0, 20, 1e-4),
    Setting(0.5, 20.0, 1000, 1e-6),
    Setting(0.1, 50.0, 10**5, 1e-8),
    Setting(0.01, 50.0, 10**6, 1e-10),
    Setting(0.001, 50.0, 10**5, 1e-4),
    Setting(0.001, 1.0, 10**7, 1e-8),
    Setting(1e-4, 1.0, 10**7, 1e-9),
    Setting(1e-5, 1.0, 10**7, 1e-6),
    Setting(1e-6, 0.7, 10**7, 1e-6),
    Setting(1e-5, 0.3, 10**5, 1e-7),
    Setting(0.001, 0.5, 100, 1e-4),
    Setting(0.01, 1.0, 1, 1e-4),
    Setting(0.5, 0.5, 1, 1e-6),
    Setting(0.2, 0.1, 1, 1e-5),
    Setting(0.1, 0.5, 10, 1e-30),
    Setting(0.01, 5.0, 10**4, 1e-50),
    Setting(0.25, 3.0, 500, 1e-100),
    Setting(0.001, 1.0, 10**6, 1e-100),
)
"""Those that trainers use, and the corners: no sampling, little and much noise, one round and ten million, small δ."""
_QUICK = 5
"""So many of the settings, and of the lattices, are asked in a quick run."""


def training(quick: bool) -> dict[Setting, Question]:
    """The question of each setting."""
    chosen = SETTINGS[:: len(SETTINGS) // _QUICK] if quick else SETTINGS
    return {setting: _question(setting) for setting in chosen}


def _question(setting: Setting) -> Question:
    noise = oc.Gaussian(setting.sigma)
    sampled = noise if setting.rate == 1 else oc.PoissonSubsampled(noise, setting.rate)
    return repeated(sampled, f"q = {_rate(setting)}, σ = {setting.sigma:g}", setting.rounds, setting.delta)


def _rate(setting: Setting) -> str:
    """As people write it."""
    return f"1/{1 / setting.rate:.0f}" if len(f"{setting.rate:g}") > 7 else f"{setting.rate:g}"


def cells(setting: Setting) -> tuple[str, str, str, str]:
    """Rate, σ, rounds, δ."""
    rounds = power(setting.rounds) if setting.rounds == 10 ** (len(str(setting.rounds)) - 1) else f"{setting.rounds}"
    return _rate(setting), f"{setting.sigma:g}", rounds, f"{setting.delta:g}"


def lattices(quick: bool) -> list[Question]:
    """Losses that are multiples of a unit; and Laplace noise, whose loss is so at its ends only."""
    cases: list[tuple[Part, str, int, float]] = [
        (oc.RandomizedResponse(1, 4), "randomized response of 4 answers, ε = 1", 100, 1e-6),
        (oc.RandomizedResponse(0.5, 10), "randomized response of 10 answers, ε = .5", 1000, 1e-9),
        (oc.RandomizedResponse(2, 100), "randomized response of 100 answers, ε = 2", 30, 1e-6),
        (oc.RandomizedResponse(0.1), "randomized response, ε = .1", 1000, 1e-6),
        (oc.DiscreteGaussian(4), "discrete Gaussian σ = 4", 100, 1e-6),
        (oc.DiscreteGaussian(1), "discrete Gaussian σ = 1", 1000, 1e-6),
        (oc.DiscreteGaussian(20), "discrete Gaussian σ = 20", 10, 1e-9),
        (oc.DiscreteLaplace(10, 3), "discrete Laplace, scale 10, sensitivity 3", 100, 1e-6),
        (oc.DiscreteLaplace(2, 5), "discrete Laplace, scale 2, sensitivity 5", 20, 1e-9),
        (oc.DiscreteLaplace(50, 1), "discrete Laplace, scale 50", 10**4, 1e-6),
        (oc.Laplace(10), "Laplace, scale 10", 100, 1e-6),
    ]
    return [repeated(*case) for case in (cases[: 2 * _QUICK : 2] if quick else cases)]
