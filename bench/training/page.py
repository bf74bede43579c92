"""The part of the page about the benchmarks that goes through settings of training and through lattices."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from bench import page
from bench.engine.asking import width_cell
from bench.losses import dp_accounting_peer as dp
from bench.losses import prv_peer as prv
from bench.losses.asking import Asker
from bench.losses.cells import plain
from bench.losses.ours import AUTO
from bench.report import line
from bench.rows import signed
from bench.training import tables
from bench.training.clt_peer import GDP
from bench.training.contenders import BESIDE_TRAINING
from bench.training.questions import SEEN, Setting, cells, training

NARROW = 1e-9
"""The width that we promise; wider rows are named."""
SMALL = 1e-15
"""Below this δ floats that are not tilted are lost."""
FIRST = Setting(0.01, 1.0, 1000, 1e-5)
"""The setting of the first answer of a fresh process."""

_INTRO = """\
{count} settings of Poisson-subsampled Gaussian noise: a rate q from 1e-6 to 1, noise σ from .1 to 50, 1 to 10^7 rounds,
δ from 1e-4 to 1e-100. `python -m bench --only training` measures them; {machine}, load average {before:.1f} before and
{after:.1f} after. All times are processor time of a process that has answered before. *lower* and *upper* are the sides
of our bracket, *width* is relative. A cell of a peer holds its ε, by how much that exceeds our upper side, and its time
over ours. **below** marks an answer below our lower side, so below the truth; *inside* is one between both sides.
`PLDAccountant` is dp-accounting's default (grid 1e-4), `PLD 1e-5` a finer grid. `prv-accountant 0.01` is asked as
Opacus asks its accountant PRV, and RDP with the orders of Opacus. `GDP (CLT)` is the central limit formula of Opacus'
accountant GDP. A peer may take {limit:.0f} s."""

_RARE = 1e-5
"""Rates up to which a person hardly ever takes part."""
_WHY_RARE = """\
At rates of 1e-5 and less a person hardly ever takes part: the transform hardly fades and is followed far out, where
round-off and the cap on nodes both count; which of them counts more was not found out."""
_WHY_FEW = """\
With σ of .2 or less and few rounds the sum is taken on a grid, which can only be so fine: its length is capped."""

_LATTICES = """\
Losses on a lattice, and Laplace noise. The peer is dp-accounting: `best` is made to measure, with the lattice as its
grid and repeated doubling; coarse grids are its quickest way with Laplace noise, and `PLDAccountant` is its default,
which knows neither discrete noise nor how to repeat randomized response (its answer is that of one round)."""


def write_page(asker: Asker, load: tuple[float, float]) -> None:
    """Write this part of docs/benchmarks.md."""
    settings = training(asker.quick)
    intro = _INTRO.format(
        count=len(settings), machine=page.machine(), before=load[0], after=load[1], limit=asker.worker.limit
    )
    parts = [
        _wrapped(intro),
        _table(tables.TRAINING_HEADER, tables.training_rows(asker)),
        _wrapped(" ".join([_ours(asker), _confirmed(asker), _first(asker)])),
        _table(tables.TOTAL_HEADER, tables.totals(asker)),
        _wrapped(" ".join([_small(asker), _quicker(asker)])),
        _wrapped(_opacus(asker)),
        _wrapped(_LATTICES),
        _table(tables.LATTICE_HEADER, tables.lattice_rows(asker)),
        _wrapped(_better(asker)),
    ]
    page.write(page.TRAINING, "\n\n".join(parts))


def _wrapped(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(line(row) for row in (header, ["---"] * len(header), *rows))


def _name(setting: Setting) -> str:
    rate, sigma, rounds, delta = cells(setting)
    return f"q = {rate}, σ = {sigma}, {rounds} rounds, δ = {delta}"


def _ours(asker: Asker) -> str:
    """How many are as narrow as promised, and which are not."""
    found = {setting: asker.ours(question) for setting, question in training(asker.quick).items()}
    wide = {setting: outcome for setting, outcome in found.items() if (outcome.width or 0.0) > NARROW}
    told = f"Of our {len(found)} brackets, {len(found) - len(wide)} are at most {NARROW:g} wide."
    if not wide:
        return told
    listed = "; ".join(f"{_name(setting)}: {width_cell(outcome)}" for setting, outcome in wide.items())
    reasons = [_WHY_RARE] * any(setting.rate <= _RARE for setting in wide)
    reasons += [_WHY_FEW] * any(setting.rate > _RARE for setting in wide)
    return " ".join([told, f"Wider are {listed}.", *reasons])


def _confirmed(asker: Asker) -> str:
    checks = asker.checks.values()
    return (
        f"An independent computation in floats agrees with {sum(checks)} of {len(checks)} brackets; those of the "
        "lattices below are among them, and the others take it too long."
    )


def _first(asker: Asker) -> str:
    told = tables.first_of_all(AUTO, FIRST, training(False)[FIRST], asker.worker.limit)
    return f"The first answer of a fresh process takes {told}."


def _small(asker: Asker) -> str:
    """Who has an answer at a small δ."""
    questions = [question for setting, question in training(asker.quick).items() if setting.delta < SMALL]
    told = [
        f"`{entrant.name}` {sum((one.excess or 0.0) > 0 for one in found)} times"
        for entrant in BESIDE_TRAINING
        if (found := [one for question in questions for one in tables.compared(asker, question, (entrant,))])
    ]
    return (
        f"In the {len(questions)} settings with δ below {SMALL:g}, a finite answer above the truth comes from "
        f"{_listed(told)}."
    )


def _quicker(asker: Asker) -> str:
    """Who is quicker than we, but far from the truth."""
    told = []
    for entrant in BESIDE_TRAINING:
        found = [one for q in training(asker.quick).values() for one in tables.compared(asker, q, (entrant,))]
        far = [one for one in found if (one.ratio or 1.0) < 1 and one.excess is not None and one.excess >= tables.NEAR]
        if far:
            told.append(f"`{entrant.name}` {len(far)} times (excess from {min(one.excess or 0.0 for one in far):.1e})")
    return f"Quicker than we, and more than .1 % above the truth: {_listed(told)}." if told else ""


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _opacus(asker: Asker) -> str:
    """How near the stand-ins are to what Opacus itself said."""
    apart: list[float] = []
    refused = 0
    for setting, question in training(asker.quick).items():
        for entrant, said in zip((prv.FINER, dp.RDP_OPACUS, GDP), SEEN.get(setting, ()), strict=False):
            answer = asker.ask(entrant, question).answer
            if said is None:
                refused += answer is None
            elif answer is not None:
                apart.append(abs(answer.epsilon / said - 1))
    return (
        f"Opacus needs PyTorch and is not run. Opacus 1.6 itself was asked about the first {len(SEEN)} settings in "
        f"November 2026. Our stand-ins repeat {len(apart)} of its answers and differ from them by at most "
        f"{max(apart, default=0.0):.0e}; {refused} times both had none. "
        "Its own copy of PRV took 7 s for q = 1e-06, σ = 0.5, 10^6 rounds, where prv-accountant is slower."
    )


def _better(asker: Asker) -> str:
    """Where a peer did better, in words."""
    found = [one for one in tables.everything(asker) if one.better]
    if not found:
        return (
            "No peer was inside our bracket, and none above it was quicker and within .1 % of the truth, neither here "
            "nor in the settings of training."
        )
    inside = [one for one in found if not one.excess]
    listed = "; ".join(_told(one) for one in found)
    return (
        f"**Where a peer did better**: {len(inside)} times one was inside our bracket, and {len(found) - len(inside)} "
        "times one above it was quicker than we and within .1 % of the truth, here and in the settings of training. "
        f"{listed}."
    )


def _told(one: tables.Compared) -> str:
    speed = f"{plain(1 / one.ratio)} times our speed" if one.ratio else "no time"
    over = "inside our bracket" if not one.excess else f"excess {signed(one.excess)}"
    return f"{one.question.group}, δ = {one.question.delta:g}: `{one.entrant.name}`, {speed}, {over}"
