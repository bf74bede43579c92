"""Which ledger and which account pay for a release.

The ledger is the one that is named, or the one beside the data: `people.csv.ledger` for `people.csv`.  A snapshot that
was asked before names its ledger and account, and is debited nowhere else.  The account is the one that the plan names
(`data.account`), or the caller; else the one that is called like the data, or the only one that there is.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from optcomp.errors import InvalidInput
from optcomp.planner import Document
from optcomp.statistics import is_snapshot, named_ledger

if TYPE_CHECKING:
    from collections.abc import Callable

    from optcomp.ledger import Account, Ledger

SUFFIX = ".ledger"
"""Of a ledger that lies beside its data."""
_NOBODY = "people"
"""The name of an account whose people nobody named."""


def beside(data: Path) -> Path:
    """The ledger beside data."""
    path = data if data.name else data.resolve()
    return path.with_name(f"{path.name}{SUFFIX}")


class Payer:
    """The ledger and the account of a release; a context, which closes what it opened."""

    def __init__(
        self,
        document: Document,
        data: Path | None,
        ledger: str | Path | Ledger | None,
        account: str | None,
        notice: Callable[[str], None],
        private: str | Path | None = None,
        witness: str | Path | None = None,
    ) -> None:
        from optcomp.ledger import Ledger  # the extra is looked for before anything is read

        self._document, self._notice = document, notice
        self._named = named_ledger(data) if data is not None and is_snapshot(data) else None
        self._ledger = ledger if isinstance(ledger, Ledger) else None
        self._place: str | Path | None = None
        if self._ledger is None:
            self._place = beside(data) if ledger is None and data is not None else _checked_place(ledger)
        self._options: dict[str, Any] = {"private": private, "witness": witness}
        for name, value in self._options.items():
            if value is not None and self._ledger is not None:
                raise InvalidInput(name, str(value), "must not be given beside a Ledger, which has its own")
        self._own = self._ledger is None
        self._asked = self._account_asked(account)

    def _account_asked(self, given: str | None) -> str | None:
        """The name that was said, once or several times."""
        said = {"data.account": self._document.account, "account": given}
        if self._named is not None:
            said["the snapshot"] = self._named[1]
        names = {where: name for where, name in said.items() if name is not None}
        if len(set(names.values())) > 1:
            told = ", ".join(f"{where} says {name!r}" for where, name in names.items())
            raise InvalidInput("account", given or self._document.account, f"must be one and the same: {told}")
        return next(iter(names.values()), None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._own and self._ledger is not None:
            self._ledger.close()

    def find(self) -> Account | None:
        """The account, if it is there."""
        ledger = self._opened(create=False)
        if ledger is None:
            return None
        accounts = {each.name: each for each in ledger.accounts()}
        if self._asked is not None:
            return self._checked(accounts.get(self._asked))
        own = accounts.get(self._own_name)
        return self._checked(own if own is not None or len(accounts) != 1 else next(iter(accounts.values())))

    def _checked(self, account: Account | None) -> Account | None:
        """The total of an account is told for one sample (BBG18): a plan about another one would make that untrue."""
        rows, population = self._document.rows, self._document.population
        known = None if account is None else account.sample
        if account is not None and known is not None and population is not None and (rows, population) != known:
            told = f"account {account.name!r} is about a sample of {known[0]:,} of {known[1]:,}"
            raise InvalidInput("data.population", f"{rows} of {population}", f"{told}, and the plan about another one")
        return account

    def open(self, delta: Any) -> Account:
        """The account; if there is none, one without a cap, whose odometer has this δ."""
        found = self.find()
        if found is not None:
            return found
        ledger = self._opened(create=True)
        assert ledger is not None
        name, others = self._asked or self._own_name, [each.name for each in ledger.accounts()]
        if name in others:  # somebody else opened it a moment ago
            opened = self._checked(ledger.account(name))
            assert opened is not None
            return opened
        if others:
            listed = ", ".join(map(repr, others[:3])) + (" and others" if len(others) > 3 else "")
            problem = f"is no account of {ledger.address}, which has {listed}"
            raise InvalidInput("account", name, f"{problem}; name one of them, or open it first if nobody is in both")
        if ledger.head.sequence == 1:
            self._notice(
                f"a new ledger was made, {ledger.address}: keep it with the data; tables about the same people should "
                "name one ledger and one account"
            )
        document = self._document
        sample = None if document.population is None or document.rows is None else (document.rows, document.population)
        return ledger.open_uncapped(name, declared=document.table, delta=delta, sample=sample)

    @property
    def _own_name(self) -> str:
        """That of the data, where the plan says one."""
        named = self._document.source.get("data", {}).get("name")
        return _NOBODY if named is None else self._document.table.name

    def _opened(self, *, create: bool) -> Ledger | None:
        if self._ledger is None:
            self._ledger = self._open_place(create=create)
        if self._ledger is not None and self._named is not None and self._named[0] != self._ledger.id:
            problem = f"is ledger {self._ledger.id}, and the snapshot is debited from {self._bound}; name that ledger"
            raise InvalidInput("ledger", self._ledger.address, problem)
        return self._ledger

    def _open_place(self, *, create: bool) -> Ledger | None:
        from optcomp.ledger import Ledger, NoLedgerYet

        assert self._place is not None
        path = Path(self._place) if "://" not in str(self._place) else None
        if path is not None and not path.exists():
            if self._named is not None:
                problem = f"does not exist, and the snapshot is debited from {self._bound}; name that ledger"
                raise InvalidInput("ledger", str(path), problem)
            return Ledger(path, **self._options) if create else None
        try:
            return Ledger(self._place, **self._options, create=create)
        except NoLedgerYet:
            if self._named is None and not create:
                return None
            raise

    @property
    def _bound(self) -> str:
        assert self._named is not None
        return f"account {self._named[1]!r} of ledger {self._named[0]}"


def _checked_place(ledger: object) -> str | Path:
    if isinstance(ledger, str | Path) and str(ledger):
        return ledger
    raise InvalidInput("ledger", type(ledger).__name__, "must be a path, a postgresql:// address or a Ledger")
