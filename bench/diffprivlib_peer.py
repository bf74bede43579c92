"""diffprivlib: `BudgetAccountant.total`, the least of basic, DRV and the closed form of Kairouz, Oh and Viswanath."""

from __future__ import annotations

from diffprivlib import BudgetAccountant

from bench.answers import Answer, Contender
from bench.instances import Instance


def _total(instance: Instance) -> Answer:
    spent = [(eps, 0.0) for eps, count in instance.coins for _ in range(count)]
    return Answer(float(BudgetAccountant().total(spent_budget=spent, slack=instance.delta)[0]))


CONTENDERS = (Contender("diffprivlib", _total),)
