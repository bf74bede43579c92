"""All ε_i different, uniform in (.001, .1): ours from ten to a million, and the peers as far as they go."""

from __future__ import annotations

import math
from collections.abc import Iterator

from bench import dp_accounting_peer as dp
from bench import prv_peer as prv
from bench.answers import Outcome
from bench.engine.asking import Asker, bracket, confirmed, cpu_cell, time_cell, width_cell
from bench.engine.lists import SMALL, instance
from bench.instances import power
from bench.report import Section
from bench.rows import BELOW, number, short, signed

DELTAS = (1e-6, 1e-9, 1e-20, 1e-100)
MAIN = 1e-9
"""The δ at which the slow are asked."""
BEST, DEFAULT, UNTRUNCATED = dp.BEST.name, dp.DEFAULT.name, dp.UNTRUNCATED.name
TYPICAL, TUNED = (contender.name for contender in prv.CONTENDERS)
_REACH = {DEFAULT: 1000, BEST: 10**5, TYPICAL: 1000, TUNED: 100}
"""The longest list that each is asked about."""
_ALL_DELTAS = {DEFAULT: 100, BEST: 1000, TYPICAL: 30, TUNED: 30}
"""The longest list for which each is asked at every δ."""
GOALS = ((1000, 150.0), (10**5, 400.0))
"""How many times faster than dp-accounting's best we want to be at which k; at both a thousand times tighter."""
_TIGHTER = 1000.0
_ROUNDING = 1e-13


def sizes(quick: bool) -> list[int]:
    return [10, 30, 100, 1000] if quick else [10, 30, 100, *(10**power for power in range(3, 7))]


def deltas(quick: bool) -> tuple[float, ...]:
    return (MAIN, 1e-20) if quick else DELTAS


def add_ours(section: Section, asker: Asker) -> None:
    """Time and width at the default, and with rtol=1e-12 from a thousand on."""
    rows, checks = [], []
    for k in sizes(asker.quick):
        for delta in deltas(asker.quick):
            question = instance(SMALL, k, delta)
            usual = asker.default(question)
            if k <= 1000 and delta >= 1e-20:
                checks.append(confirmed(question, usual.answer))
            cells = (power(k), f"{delta:g}", *_answer(usual), time_cell(usual), cpu_cell(usual), width_cell(usual))
            rows.append((*cells, *(_demanded(asker.fine(question)) if k >= 1000 else [""] * 4)))
    header = ("k", "δ", "ε", "method", "time", "CPU", "width", "time, rtol=1e-12", "CPU", "width", "reached")
    caption = (
        f"Different ε ~ {SMALL}, ours. An independent computation in floats (to 1e-9) confirms "
        f"{checks.count(True)} brackets and contradicts {checks.count(False)} (k ≤ 1000, δ ≥ 1e-20)"
    )
    section.add(caption, header, rows)


def _answer(outcome: Outcome) -> tuple[str, str]:
    answer = outcome.answer
    return ("–", short(outcome.failure)) if answer is None else (number(answer.epsilon), answer.how)


def _demanded(outcome: Outcome) -> tuple[str, ...]:
    reached = "–" if outcome.answer is None else "yes" if outcome.answer.reached else "no"
    return time_cell(outcome), cpu_cell(outcome), width_cell(outcome), reached


def add_peers(section: Section, asker: Asker) -> None:
    """Peers beside our default: how much slower, how much looser."""
    rows = [
        (power(k), f"{delta:g}", *cells)
        for k in sizes(asker.quick)
        for delta in deltas(asker.quick)
        for cells in _peers(asker, k, delta)
    ]
    caption = (
        f"The same lists, peers. *× CPU*: their processor time over ours at the default; *× width*: their excess "
        f"over our whole width. Beyond k = 1000 they are asked at δ = {MAIN:g} only"
    )
    section.add(caption, ("k", "δ", "contender", "time", "CPU", "× CPU", "excess", "× width", "remarks"), rows)


def _peers(asker: Asker, k: int, delta: float) -> Iterator[tuple[str, ...]]:
    names = [DEFAULT, BEST, *([UNTRUNCATED] if delta < 1e-16 and k <= 1000 else []), TYPICAL, TUNED]
    for name in names:
        if name == UNTRUNCATED or k <= _ALL_DELTAS[name] or (delta == MAIN and k <= _reach(asker, name)):
            yield name, *_beside(asker, k, delta, name)
        elif delta == MAIN:
            yield name, "–", "–", "–", "–", "–", _why_not(asker, name)


def _reach(asker: Asker, name: str) -> int:
    return _ALL_DELTAS[name] if asker.quick else _REACH[name]


def _why_not(asker: Asker, name: str) -> str:
    k = _reach(asker, name)
    outcome = asker.known.get((name, instance(SMALL, k, MAIN).group, MAIN))
    took = f" (k = {power(k)} took {time_cell(outcome)})" if outcome and outcome.seconds else ""
    return f"not run{took}"


def _beside(asker: Asker, k: int, delta: float, name: str) -> tuple[str, ...]:
    outcome = asker.ask(name, instance(SMALL, k, delta))
    if outcome.answer is None:
        return "–", "–", "–", "–", "–", short(outcome.failure)
    times = time_cell(outcome), cpu_cell(outcome), _times(slower(asker, k, delta, name))
    if math.isinf(outcome.answer.epsilon):
        return *times, "∞", "∞", "no finite answer"
    excess, ratio = looser(asker, k, delta, name)
    if excess < 0:
        return *times, signed(excess), "–", f"**{BELOW}**" if excess < -_ROUNDING else f"{BELOW}, by rounding"
    return *times, signed(excess), _times(ratio), ""


def slower(asker: Asker, k: int, delta: float, name: str) -> float | None:
    """Their processor time over ours."""
    question = instance(SMALL, k, delta)
    return _ratio(asker.ask(name, question).cpu, asker.default(question).cpu)


def looser(asker: Asker, k: int, delta: float, name: str) -> tuple[float, float | None]:
    """Their excess, and the same over our width."""
    question = instance(SMALL, k, delta)
    answer, usual = asker.ask(name, question).answer, asker.default(question)
    truth = bracket(usual)
    if answer is None or truth is None:
        return math.nan, None
    excess = truth.excess(answer.epsilon)
    return excess, _ratio(excess, usual.width)


def _times(ratio: float | None) -> str:
    if ratio is None:
        return "–"
    return f"{ratio:.2g}" if ratio < 100 else f"{ratio:.0f}" if ratio < 1e5 else f"{ratio:.0e}"


def add_goals(section: Section, asker: Asker) -> None:
    """What we want to be against what was measured, beside dp-accounting at its best."""
    rows = []
    for k, goal in GOALS:
        if k <= _reach(asker, BEST):
            question, excess = instance(SMALL, k, MAIN), looser(asker, k, MAIN, BEST)[0]
            theirs = asker.ask(BEST, question)
            usual, fine = asker.default(question), asker.fine(question)
            speed = [_against(_ratio(theirs.cpu, ours.cpu), goal) for ours in (usual, fine)]
            width = [_against(_ratio(excess, ours.width), _TIGHTER) for ours in (usual, fine)]
            rows.append((f"faster at k = {power(k)}", f"{goal:.0f} ×", *speed))
            rows.append((f"tighter at k = {power(k)}", f"{_TIGHTER:.0f} ×", *width))
    header = ("what", "goal", "at the default", "with rtol=1e-12")
    section.add(f"Goals beside {BEST}, δ = {MAIN:g}, in processor time", header, rows)


def _ratio(theirs: float | None, ours: float | None) -> float | None:
    return theirs / ours if theirs and ours else None


def _against(ratio: float | None, goal: float) -> str:
    return "–" if ratio is None else f"{_times(ratio)} ×" + ("" if ratio >= goal else " (missed)")


def summary(asker: Asker) -> list[tuple[str, ...]]:
    """One line for each k at δ = 1e-9: ours, and dp-accounting's best."""
    rows = []
    for k in sizes(asker.quick):
        usual = asker.default(instance(SMALL, k, MAIN))
        theirs: tuple[str, ...] = ("not run", "–")
        if k <= _reach(asker, BEST):
            outcome = asker.ask(BEST, instance(SMALL, k, MAIN))
            theirs = (cpu_cell(outcome), signed(looser(asker, k, MAIN, BEST)[0]))
        rows.append((power(k), cpu_cell(usual), width_cell(usual), *theirs))
    return rows
