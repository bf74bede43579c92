"""The command `ledger lower`: another budget for an account, never a larger one after its first request."""

from __future__ import annotations

import typer

from optcomp.cli import options
from optcomp.cli.guarded import PlainCommand
from optcomp.cli.ledger.budgets import Address, Delta, Epsilon, FilterName, Name, Rho, budget_of, opened
from optcomp.cli.writing.printing import print_json, say


def lower(
    address: Address,
    name: Name,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    filter: FilterName = None,
    private: options.Private = None,
    witness: options.Witness = None,
    as_json: options.PlainJson = False,
) -> None:
    """Lower the budget of an account. Before its first request any cap may be set, and it is a promise.

    After the first request a cap is only lowered, by a filter of the same kind, and not below what is spent. It is then
    a limit and no promise, for the choice may depend on answers: what was claimed in advance stays claimed.

    optcomp ledger lower survey.ledger "survey 2026" --epsilon 2 --delta 1e-6

    optcomp ledger lower survey.ledger "school 2026" --rho 0.05
    """
    budget = budget_of(epsilon, delta, rho, filter)
    with opened(address, private, witness) as ledger:
        account = ledger.account(name)
        account.lower(budget)
        limit, left = account.budget.admitted > 0, str(account.remaining())
        claimed = next(each.cap for each in ledger.overview() if each.name == name)
        view = {"account": name, "budget": str(account.budget), "left": left, "limit": limit, "claimed": claimed}
        view["head"] = ledger.head.head
    if as_json:
        print_json(view)
        return
    say(f"Account {name!r} has another budget now: {view['budget']}; {left}")
    if limit:
        say(f"It was asked before, so this is a limit and no promise; claimed in advance: {claimed or 'nothing'}")


def register(app: typer.Typer) -> None:
    """Add the command to the commands about ledgers."""
    app.command(cls=PlainCommand)(lower)
