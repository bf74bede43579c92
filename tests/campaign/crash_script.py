"""Seeded scripts of requests, and what each must come to: in plain Fractions, by first fit."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction

ACCOUNT = "people"
"""The one account of a script; as a holder it is named so."""
CONDITIONS = ("age > 60", "age < 30", "region == 'north'", "age > 40", "region == 'south' and age > 50")
MECHANISMS = ("sparse vector", "guess and check", "multiplicative weights")


@dataclass(frozen=True)
class Step:
    """One thing that a worker does; the same every time it is started."""

    do: str
    """session, delegate, batch, slot, question, plan, planned, open or ask."""
    key: str
    """Names it; the name of what it opens."""
    holder: str = ACCOUNT
    """Who pays; for `planned` and `ask` whose plan or mechanism it is."""
    of: str = ""
    """The plan or mechanism that is asked; the slot that is taken; the kind of mechanism that is opened."""
    costs: tuple[str, ...] = ()
    """What it costs, as exact numbers that are added up."""
    where: str = ""
    number: int = 0
    """Of the planned question; positives or corrections; or how often the same was asked before."""

    @property
    def price(self) -> Fraction:
        """All of it."""
        return sum((Fraction(cost) for cost in self.costs), Fraction(0))


@dataclass
class Script:
    """Steps, and the budget of the account."""

    budget: str
    steps: list[Step] = field(default_factory=list)


def written(seed: int) -> Script:
    """A script: every kind of request, and budgets that run out before the end."""
    rng = random.Random(seed)
    script = Script("4")
    steps = script.steps
    steps.append(Step("session", "ada", costs=("1.9",)))
    opened, plans, holders = list[Step](), list[Step](), ["ada"]
    sessions = [Step("delegate", "bob", "ada", costs=("0.4",)), Step("slot", "left", of="left", costs=("0.3",))]
    batch = Step("batch", "batch", costs=("0.61",), where="left right")
    later = [batch, *rng.sample(sessions, 2), Step("session", "eve", costs=("1.8",))]
    if later.index(batch) > 0:
        later.sort(key=lambda step: step.do != "batch")
    kinds = ["open sparse vector", "plan", *rng.sample(["open guess and check", "open multiplicative weights"], 1)]
    work = kinds + rng.choices(["question", "ask", "ask", "planned"], k=11)
    rng.shuffle(work)
    places = sorted(rng.sample(range(len(work)), len(later)))
    for n, kind in enumerate(work):
        if n in places:
            step = later.pop(0)
            steps.append(step)
            holders += [step.key] if step.do != "batch" else []
        _add(steps, rng, n, kind, holders, opened, plans)
    return script


def _add(
    steps: list[Step], rng: random.Random, n: int, kind: str, holders: list[str], opened: list[Step], plans: list[Step]
) -> None:
    holder, where = rng.choice(holders), rng.choice(CONDITIONS)
    if kind.startswith("open"):
        made = Step("open", f"m{n}", "ada", kind[5:], (rng.choice(("0.2", "0.3")),), number=rng.choice((1, 2, 4)))
        opened.append(made)
        steps.append(made)
    elif kind == "plan":
        plans.append(Step("plan", f"p{n}", "ada", costs=("0.05", "0.1", "0.07")))
        steps.append(plans[-1])
    elif kind == "ask" and opened:
        of = rng.choice(opened)
        place = "region == 'north'" if of.of == MECHANISMS[2] else where
        steps.append(Step("ask", f"a{n}", of.holder, of.key, where=place, number=n))
    elif kind == "planned" and plans:
        of = rng.choice(plans)
        steps.append(Step("planned", f"{of.key} {n}", of.holder, of.key, number=rng.randrange(3)))
    else:
        cost = rng.choice(("0.1", "0.15", "0.003", "0.3"))
        steps.append(Step("question", f"q{n}", holder, costs=(cost,), where=where, number=n))


@dataclass
class Expected:
    """What a finished script must have come to."""

    granted: list[Step] = field(default_factory=list)
    refused: list[Step] = field(default_factory=list)
    spent: dict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    caps: dict[str, Fraction] = field(default_factory=dict)


def expected(script: Script) -> Expected:
    """First fit, step by step; what belongs to something refused is left out."""
    found = Expected(caps={ACCOUNT: Fraction(script.budget)})
    there = {ACCOUNT}
    for step in script.steps:
        if step.holder not in there or (step.of and step.do in ("ask", "planned", "slot") and step.of not in there):
            continue
        debit = Fraction(0) if step.do == "slot" else step.price
        if found.spent[step.holder] + debit > found.caps[step.holder]:
            found.refused.append(step)
            continue
        found.granted.append(step)
        found.spent[step.holder] += debit
        there.add(step.key)
        there.update(step.where.split() if step.do == "batch" else ())
        if step.do in ("session", "delegate", "slot"):
            found.caps[step.key] = step.price
            found.spent.setdefault(step.key, Fraction(0))
    return found
