"""The part of the page about the benchmarks that is about known losses."""

from __future__ import annotations

import textwrap

from bench import page
from bench.losses import dp_accounting_peer as dp
from bench.losses import questions as asked
from bench.losses.asking import Asker
from bench.losses.cells import excess, plain
from bench.losses.ours import CERTIFIED, CONVERTED, RENYI
from bench.losses.questions import Entrant
from bench.losses.tables import SHOWN, Better, beaten, inside, summary
from bench.report import line
from bench.rows import signed

_TEXT = """\
{intro}

{table}

{speed}

{others}"""

_INTRO = """\
Poisson-subsampled Gaussian noise, as in training with noisy gradients; in processor time, {machine}. *optcomp* and
*width* are ours; a cell of a peer says how many times as long as optcomp it takes, and by how much its ε exceeds the
lower side of our bracket. `PLDAccountant` is dp-accounting's default (grid 1e-4), `PLD 1e-3` and `1e-5` are other
grids; the numbers after `prv-accountant` are its eps_error."""


def write_page(asker: Asker) -> None:
    """Write this part of docs/benchmarks.md."""
    header = ("steps", "δ", "optcomp", "width", *(entrant.name for entrant in SHOWN))
    table = "\n".join(line(row) for row in (header, ["---"] * len(header), *summary(asker)))
    speed = " ".join(_speed(asker, entrant) for entrant in (dp.FINE, dp.ACCOUNTANT, dp.COARSER))
    others = " ".join([_gaussian(asker), _confirmed(asker), _mixed(asker), _better(asker)])
    intro = _wrapped(_INTRO.format(machine=page.machine()))
    page.write(page.LOSSES, _TEXT.format(intro=intro, table=table, speed=_wrapped(speed), others=_wrapped(others)))


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def _speed(asker: Asker, entrant: Entrant) -> str:
    """How much slower and how much looser one of them is, over all questions that it answers."""
    pairs = []
    for question in asked.subsampled(asker.quick):
        theirs, ours = asker.ask(entrant, question), asker.ours(question)
        over = excess(asker, question, theirs)
        if over is not None and theirs.cpu and ours.cpu:
            pairs.append((theirs.cpu / ours.cpu, over))
    if not pairs:
        return f"`{entrant.name}` has no answer."
    ratios, overs = zip(*pairs, strict=True)
    return (
        f"`{entrant.name}` takes {plain(min(ratios))} to {plain(max(ratios))} times as long as optcomp, "
        f"with an excess of {min(overs):.0e} to {max(overs):.0e}."
    )


def _gaussian(asker: Asker) -> str:
    questions = asked.gaussian(asker.quick)
    answers = [(asker.ours(question).answer, asker.ask(CERTIFIED, question).answer) for question in questions]
    good = sum(inside(*both) == "yes" for both in answers)
    return (
        f"Gaussian noise composed by the engine encloses the closed form in {good} of {len(answers)} cases, "
        "from 1 to 10^4 mechanisms and δ from 1e-3 to 1e-100."
    )


def _confirmed(asker: Asker) -> str:
    checks = asker.checks.values()
    return f"An independent computation in floats agrees with {sum(checks)} of all {len(checks)} brackets."


def _mixed(asker: Asker) -> str:
    question = asked.mixed(asker.quick)[0]
    found = [asker.ask(way, question).answer for way in (RENYI, CONVERTED)]
    sides = [asker.ours(question).answer, *found]
    shown = ["–" if answer is None else f"{answer.epsilon:.4g}" for answer in sides]
    return (
        f"A list that mixes pairs, pure, Gaussian and subsampled mechanisms costs ε = {shown[0]} at "
        f"δ = {question.delta:g}; by Rényi divergences {shown[1]}, and {shown[2]} if each mechanism is first converted "
        "to (ε, δ)."
    )


def _better(asker: Asker) -> str:
    """The most favourable of each group of mechanisms."""
    best: dict[str, Better] = {}
    for one in beaten(asker):
        group = one.question.group
        if group not in best or _quicker(one) > _quicker(best[group]):
            best[group] = one
    if not best:
        return "No peer was both sound and quicker within .1 % of the truth."
    listed = "; ".join(_told(one) for one in best.values())
    return f"Where a peer was sound and either quicker within .1 % of the truth or inside our bracket: {listed}."


def _told(one: Better) -> str:
    return (
        f"{one.question.group} (`{one.name}` at δ = {one.question.delta:g}, {plain(_quicker(one))} times our speed, "
        f"excess {signed(one.over)})"
    )


def _quicker(one: Better) -> float:
    return (one.ours.cpu or 0.0) / (one.theirs.cpu or 1.0)
