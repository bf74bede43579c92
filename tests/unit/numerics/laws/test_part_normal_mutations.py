"""Every error term of a part of a loss that can be seen to matter: left out, some claim is false; left in, none is."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from flint import acb, arb

from optcomp.numerics.laws import law as law_module
from optcomp.numerics.laws import panels, pieces
from optcomp.numerics.laws.law import Summand
from optcomp.numerics.laws.panels import PanelLaw, Rule
from optcomp.numerics.laws.pieces import Tilted
from tests.mutants import put_mutant
from tests.oracles.truth import working
from tests.unit.numerics.laws.test_part_normal import MIDDLE, NONE, Setting, law_of, moment

BITS = 110
STEEP: Setting = (0.5, 0.3, -1.0, 9.0, 2000.0)
"""Far in the tail, where panels are as wide as they may be."""
HUMPS: Setting = (12.39, 1e-100, -math.inf, 59.0, 3.0)
"""Two humps of about the same mass, the second one a difference of logs in the thousands."""
FLAT: Setting = (1.0, 0.3, 2.125, 2.25, 1.0)
"""An interval on which little changes: ends are all that there is."""
SMOOTH: Setting = (0.01, 0.3, -math.inf, 9.0, -1.0)
"""Nothing at the ends, and a loss that hardly changes."""
LEFT: Setting = (12.0, 0.3, -math.inf, -0.5, 0.0)
"""The far left of a loss, which is almost constant there."""


def below(value: arb, bound: float) -> bool:
    """Whether a number is at most a bound, which must be decided."""
    assert value <= bound or value > bound
    return bool(value <= bound)


def mean_held(setting: Setting) -> bool:
    """Whether the ball of K contains K."""
    with working(BITS):
        return bool(law_of(setting).log_mean(setting[4]).overlaps(moment(setting, 0.0).real.log()))


def quick_mean_held(setting: Setting) -> bool:
    """The same for K in floats."""
    with working(BITS):
        return bool(law_of(setting, quick=True).log_mean(setting[4]).overlaps(moment(setting, 0.0).real.log()))


def phi(setting: Setting, theta: float) -> acb:
    return moment(setting, theta) / moment(setting, 0.0)


def waves_held(setting: Setting, theta: float) -> bool:
    """Whether φ is within its error."""
    waves = law_of(setting).waves(setting[4], np.array([theta]))
    with working(BITS):
        angle = arb(float(waves.angle[0])) + arb(theta) * arb(waves.centre)
        off = abs((phi(setting, theta) / acb(arb(float(waves.log_size[0])), angle).exp()).log())
        return below(off, float(waves.error[0]))


def sizes_held(setting: Setting) -> bool:
    """Whether |φ| is below its bound at many places."""
    theta = np.linspace(0.5, 4.0, 12)
    most = law_of(setting).waves(setting[4], theta).log_most
    with working(BITS):
        return all(
            abs(phi(setting, at)) <= arb(log).exp() for at, log in zip(theta.tolist(), most.tolist(), strict=True)
        )


def fade_held(setting: Setting, theta: float) -> bool:
    """Whether |φ| is below what integration by parts proves."""
    with working(BITS):
        return below(abs(phi(setting, theta)), PanelLaw.fade(law_of(setting), setting[4], theta))


def left_held() -> bool:
    """The same for a loss so flat that θ must be huge: the line of the oracle is lifted where the phase turns."""
    mu, q, _, high, c = LEFT
    theta = 7 * math.exp(108.0)
    with working(400):
        up = acb(0, arb.pi() / (2 * mu))
        path = [acb(-20), acb(-4), acb(-3) + up, acb(high) + up, acb(high)]

        def along(theta: float) -> acb:
            def integrand(x: acb, analytic: bool) -> acb:
                odds = arb(q) / (1 - arb(q)) * (mu * x - arb(mu) ** 2 / 2).exp()
                return (acb(c + 1, theta) * (1 + odds).log(analytic=analytic) - x * x / 2).exp()

            return sum((acb.integral(integrand, *ends) for ends in pairwise(path)), acb(0))

        return below(abs(along(theta) / along(0.0)), PanelLaw.fade(law_of(LEFT), c, theta))


def range_held(setting: Setting, near: float, theta: float) -> bool:
    """Whether |φ| is below what is said of a range about another place."""
    with working(BITS):
        return below(abs(phi(setting, theta)).log(), law_of(setting).log_most_near(setting[4], near, near - theta))


def coarse_mean(patch: pytest.MonkeyPatch) -> None:
    """Rules that miss a millionth, so that it is seen what they miss."""
    patch.setattr(panels, "LOG_CUT", -20.0)


def coarse_waves(patch: pytest.MonkeyPatch) -> None:
    """The same for φ."""
    made = PanelLaw._made

    def rule(self: PanelLaw, c: float, theta: float, log_cut: float = 0.0) -> Rule:
        return made(self, c, theta, 0.0)

    patch.setattr(PanelLaw, "rule", rule)


def early_ends(patch: pytest.MonkeyPatch) -> None:
    """Pieces without an end are cut early: the proof holds for any steepness."""
    patch.setattr(pieces, "_STEEP", 2.0)


def as_it_is(patch: pytest.MonkeyPatch) -> None:
    """Nothing is made coarser."""


Term = tuple[str, type, str, str, str, Callable[[pytest.MonkeyPatch], None], Callable[[], bool]]
"""A name, a class and its method, what it says of a term and without it, how to see it, and what is then false."""
TERMS: list[Term] = [
    (
        "dropped",
        PanelLaw,
        "_made",
        "float((2 * half * np.exp(size - top))[~keep].sum()) + ",
        "",
        coarse_mean,
        lambda: mean_held(NONE[1]),
    ),
    (
        "rule",
        PanelLaw,
        "_made",
        "float((half * np.exp(np.minimum(reach, 300.0))).sum())",
        "0.0",
        coarse_mean,
        lambda: mean_held(STEEP),
    ),
    ("beyond the panels", PanelLaw, "_made", " + one.beyond(top)", "", early_ends, lambda: mean_held(NONE[1])),
    (
        "logs in floats",
        PanelLaw,
        "quick_log_mean",
        "off + fold_error",
        "fold_error",
        as_it_is,
        lambda: quick_mean_held(HUMPS),
    ),
    (
        "missed in floats",
        PanelLaw,
        "quick_log_mean",
        " + rule.missed",
        "",
        coarse_waves,
        lambda: quick_mean_held(NONE[1]),
    ),
    (
        "missed by φ",
        PanelLaw,
        "cloud",
        "0 * at + rule.missed",
        "0 * at",
        coarse_waves,
        lambda: waves_held(NONE[1], 0.3),
    ),
    (
        "weights",
        PanelLaw,
        "cloud",
        "value_error + 32 * U",
        "0 * value_error + 32 * U",
        as_it_is,
        lambda: waves_held(HUMPS, 1 / 195),
    ),
    (
        "places",
        PanelLaw,
        "cloud",
        "place_error, value",
        "0 * place_error, value",
        as_it_is,
        lambda: waves_held((10.0, 0.1, -math.inf, 4.0, -0.5), 300.0),
    ),
    ("ends", Tilted, "variation", "(inner + ends)", "inner", as_it_is, lambda: fade_held(FLAT, 300.0)),
    ("variation", Tilted, "variation", "(inner + ends)", "ends", as_it_is, lambda: fade_held(SMOOTH, 10.0)),
    ("slope of the density", Tilted, "variation", "(far + steep", "(steep", as_it_is, lambda: fade_held(SMOOTH, 10.0)),
    (
        "what does not fade",
        PanelLaw,
        "_fading",
        "stays += one.beyond(top)",
        "pass",
        early_ends,
        left_held,
    ),
    (
        "range",
        Summand,
        "log_most_near",
        " + radius * self.slope(c)",
        "",
        as_it_is,
        lambda: range_held(MIDDLE[1], 11.0, 0.3),
    ),
]


@pytest.mark.parametrize("term", TERMS, ids=[name for name, *_ in TERMS])
def test_terms(term: Term, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said holds with the term, and not without it."""
    _, owner, name, text, without, seen, held = term
    seen(monkeypatch)
    assert held()
    put_mutant(monkeypatch, owner, name, (text, without))
    assert not held()


def test_sizes_are_rounded_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the error of φ the bound on |φ| is false at some places."""
    assert sizes_held(MIDDLE[1])
    put_mutant(monkeypatch, law_module, "waves_of", ("size + small + 4 * U", "size"))
    monkeypatch.setattr("optcomp.numerics.laws.cloud.waves_of", law_module.waves_of)
    assert not sizes_held(MIDDLE[1])
