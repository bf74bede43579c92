"""Data sets: snapshots with their declaration as public metadata, each under an account of the ledger.

The ledger comes first, and then the centre: what was interrupted in between is completed by asking for it again.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from optcomp.center.changes import Acting, Changes
from optcomp.center.folders import mark_of, new_folder
from optcomp.center.hidden import Hidden, hidden_from
from optcomp.center.persons import By, Person, acting
from optcomp.center.refusals import Conflict, NeedsSecond, NotFound
from optcomp.center.sources import check_source, declared_of, file_below, keeper_of, opened_source, written_source
from optcomp.center.store import Store, written
from optcomp.center.tables import DATASETS, VERSIONS
from optcomp.errors import InvalidInput
from optcomp.ledger import Account, Ledger, snapshot_name, usual_filter
from optcomp.numerics import Number, exact, report
from optcomp.statistics import (
    Declared,
    Dialect,
    Domain,
    Reading,
    Table,
    declaration_document,
    has_dialect,
    read_declaration,
    reading_of,
)

_NAME = re.compile(r"\w[\w .-]{0,99}")
"""Of a data set: it is part of addresses and of a path."""
_KEPT = 256
"""Declarations that are kept read."""


@dataclass(frozen=True)
class Dataset:
    """What can be asked about."""

    id: int
    name: str
    title: str
    account: str
    version: int
    snapshot: Path
    declared: Declared
    free: bool
    """Whether answers that their analysts share are told to others for nothing."""
    state: str

    def document(self) -> dict[str, Any]:
        """What everybody may know, ready for JSON: no path, no account."""
        about = {"name": self.name, "title": self.title, "version": self.version, "free": self.free}
        return {**about, "state": self.state, "declaration": declaration_document(self.declared)}


class Datasets:
    """Registers data sets, and finds them."""

    def __init__(self, store: Store, ledger: Ledger, *, job: int | None = None, memory: str | None = None) -> None:
        """`job` is the owner's job that registers, if one does; `memory` bounds what the engine takes meanwhile."""
        self._store, self._ledger, self._changes = store, ledger, Changes(store, job)
        self._job, self._memory = job, memory

    def register(
        self,
        name: str,
        source: str | Path,
        columns: Mapping[str, Domain] | None = None,
        *,
        declaration: Mapping[str, Any] | Declared | None = None,
        table: str | None = None,
        title: str = "",
        account: str | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        disjoint: bool | None = None,
        free: bool = False,
        bad_cells: str = "missing",
        multiline: bool = False,
        dialect: Mapping[str, Any] | Dialect | None = None,
        rename: Mapping[str, str] | None = None,
        by: By,
        **declared: Any,
    ) -> Dataset:
        """Prepare a snapshot of a file or of a table in a database, and open its account.

        The account is that of this name, or of `account`; people who may be in two data sets share an account, and a
        second account of the ledger needs `disjoint=True`.  Cells that cannot be read count as missing, unless
        `bad_cells` says otherwise.
        """
        person = self._person(by)
        about = declared_of(name, columns, declaration, declared)
        detail = _detail(name, title, account, epsilon, delta, disjoint, free)
        self._check_account(person, detail)
        detail |= {"source": written_source(source), "table": table, "bad_cells": bad_cells}
        detail |= _read_so(multiline, dialect, rename)
        detail |= {"declaration": declaration_document(about)}
        check_source(self._store.settings, source, table, self._hidden(person))
        self._check_new(name)
        self._second("register", detail, by)
        return self._register(detail, Acting(person.name))

    def register_snapshot(
        self,
        name: str,
        path: str | Path,
        *,
        title: str = "",
        account: str | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        disjoint: bool | None = None,
        free: bool = False,
        by: By,
    ) -> Dataset:
        """The same for a snapshot that is there, below a folder of the settings."""
        person = self._person(by)
        detail = _detail(name, title, account, epsilon, delta, disjoint, free) | {"path": str(path)}
        self._check_account(person, detail)
        file_below(self._store.settings, path, snapshot=True, hidden=self._hidden(person))
        self._check_new(name)
        self._second("register snapshot", detail, by)
        return self._register(detail, Acting(person.name))

    def renew(
        self,
        name: str,
        source: str | Path,
        *,
        table: str | None = None,
        multiline: bool = False,
        dialect: Mapping[str, Any] | Dialect | None = None,
        rename: Mapping[str, str] | None = None,
        by: By,
    ) -> Dataset:
        """A new version of a data set, with the same declaration and account; opened sessions keep theirs.

        What is not said about reading is as it was for the version before.
        """
        person = self._person_about(by, name)
        before = reading_of(self.dataset(name).snapshot)
        if not has_dialect(Path(source)):
            before.pop("dialect", None)
        check_source(self._store.settings, source, table, self._hidden(person))
        detail = {
            "name": name,
            "source": written_source(source),
            "table": table,
            "bad_cells": "missing",
            **_read_so(multiline, dialect or before.get("dialect"), rename or before.get("rename")),
        }
        self._second("renew", detail, by)
        return self._renew(detail, Acting(person.name))

    def lower(self, name: str, *, epsilon: Number, delta: Number | None = None, by: By) -> None:
        """A smaller cap for the account of a data set; see `Account.lower`."""
        acts = self._acts(by, name)
        detail = {"name": name, "epsilon": _text(epsilon, "epsilon"), "delta": _text(delta, "delta")}
        usual_filter(epsilon, delta)  # what is no budget is refused now, and not when it is confirmed
        self._second("lower", detail, by)
        self._lower(detail, acts)

    def close(self, name: str, on: bool, *, by: By) -> None:
        """Close a data set to all questions, at once; or open it again, for which a second owner may be wanted."""
        acts = self._acts(by, name)
        detail = {"name": name, "on": on}
        if self.dataset(name).state == "closed" and not on:
            self._second("open data set", detail, by)
        self._close(detail, acts)

    def _close(self, detail: Mapping[str, Any], acts: Acting) -> None:
        state = "closed" if detail["on"] else "open"
        with self._store.write() as connection:
            connection.execute(update(DATASETS).where(DATASETS.c.name == detail["name"]).values(state=state))
            self._changes.note(connection, acts, f"data set {state}", {"name": detail["name"]})

    def datasets(self) -> list[Dataset]:
        """All of them, by name."""
        with self._store.read() as connection:
            return [self._dataset(connection, row) for row in connection.execute(_newest().order_by(DATASETS.c.name))]

    def dataset(self, name: str) -> Dataset:
        """The one of this name."""
        with self._store.read() as connection:
            found = connection.execute(_newest().where(DATASETS.c.name == name)).one_or_none()
            if found is None:
                raise NotFound("data set", name)
            return self._dataset(connection, found)

    def account(self, dataset: Dataset) -> Account:
        """What pays for its answers."""
        return self._ledger.account(dataset.account)

    def _dataset(self, connection: Connection, row: Row[Any]) -> Dataset:
        path = self._store.settings.home / row.snapshot  # an absolute path stays as it is
        about = row.id, row.name, row.title, row.account, row.version, path, _declared(row.declaration)
        return Dataset(*about, bool(row.free), row.state)

    def _register(self, detail: Mapping[str, Any], acts: Acting) -> Dataset:
        name, settings = detail["name"], self._store.settings
        if "path" in detail:
            opened = Table.open(file_below(settings, detail["path"], snapshot=True))
            account = self._opened(opened, detail)
        else:
            opened = self._prepared(read_declaration(detail["declaration"]), detail)
            with _dropped_on_failure(opened):
                account = self._opened(opened, detail)
        opened.bind(self._ledger.id, account.name)
        about = {"name": name, "title": detail["title"], "account": account.name, "free": detail["free"]}
        about |= {"version": 1, "declaration": written(_document(opened, name)), "state": "open"}
        with self._store.write() as connection:
            if connection.scalar(select(DATASETS.c.id).where(DATASETS.c.name == name)) is not None:
                raise Conflict(f"a data set {name!r}", "is there already")
            number = connection.execute(insert(DATASETS).values(**about).returning(DATASETS.c.id)).scalar_one()
            self._enter_version(connection, number, 1, opened)
            self._changes.note(connection, acts, "registered", {**detail, "account": account.name})
        return self.dataset(name)

    def _renew(self, detail: Mapping[str, Any], acts: Acting) -> Dataset:
        known = self.dataset(detail["name"])
        opened = self._prepared(known.declared, detail)
        opened.bind(self._ledger.id, known.account)
        with self._store.write() as connection:
            mine = DATASETS.c.id == known.id
            version = int(connection.scalar(select(DATASETS.c.version).where(mine)) or 0) + 1
            connection.execute(update(DATASETS).where(mine).values(version=version))
            self._enter_version(connection, known.id, version, opened)
            self._changes.note(connection, acts, "renewed", {**detail, "version": version})
        return self.dataset(known.name)

    def _lower(self, detail: Mapping[str, Any], acts: Acting) -> None:
        account = self.account(self.dataset(detail["name"]))
        account.lower(epsilon=detail["epsilon"], delta=detail["delta"])
        with self._store.write() as connection:
            self._changes.note(connection, acts, "lowered", {**detail, "account": account.name})

    def _prepared(self, declared: Declared, detail: Mapping[str, Any]) -> Table:
        """A new snapshot below the home; one that an interrupted attempt left behind is in nobody's way."""
        with opened_source(self._store.settings, detail["source"], detail["table"]) as source:
            how: dict[str, Any] = {key: detail.get(key) for key in ("bad_cells", "multiline", "dialect", "rename")}
            how |= {"table": detail["table"] if isinstance(source, Path) else None, "memory": self._memory}
            made = Table(source, **declared.arguments, **how)
            report("freezing the table", 0)
            mark = mark_of(self._store, self._job)
            folder = new_folder(self._store.settings.snapshots / detail["name"], mark)
            made.save(folder, connection=keeper_of(source))
        report("entering it", 0)
        return made

    def _opened(self, table: Table, detail: Mapping[str, Any]) -> Account:
        name, budget = detail["account"], {key: detail[key] for key in ("epsilon", "delta")}
        if name in self._accounts():
            found = self._ledger.open(name, **budget)
        else:
            unit: dict[str, Any] = {"neighbours": table.neighbours, "person": table.person is not None}
            found = self._ledger.open(name, **budget, **unit, disjoint=detail["disjoint"])
        table.check_bound(self._ledger.id, name)
        return found

    def _enter_version(self, connection: Connection, number: int, version: int, table: Table) -> None:
        path, home = table.path, self._store.settings.home
        assert path is not None
        kept = path.relative_to(home) if path.is_relative_to(home) else path
        values = {"dataset": number, "version": version, "snapshot": str(kept), "mark": snapshot_name(table)}
        connection.execute(insert(VERSIONS).values(**values))

    def _check_new(self, name: str) -> None:
        with self._store.read() as connection:
            if connection.scalar(select(DATASETS.c.id).where(DATASETS.c.name == name)) is not None:
                raise Conflict(f"a data set {name!r}", "is there already")

    def _person(self, by: By) -> Person:
        """Whoever changes a budget."""
        with self._store.read() as connection:
            return acting(connection, by, "change budgets")

    def _person_about(self, by: By, dataset: str) -> Person:
        """Whoever changes the budget of a data set; an owner whose token is for other accounts does not see it."""
        person = self._person(by)
        if not person.sees(self.dataset(dataset).account):
            raise NotFound("data set", dataset)
        return person

    def _acts(self, by: By, dataset: str) -> Acting:
        return Acting(self._person_about(by, dataset).name)

    def _hidden(self, person: Person) -> Hidden | None:
        return hidden_from(self._changes, self._store.settings, person)

    def _check_account(self, person: Person, detail: Mapping[str, Any]) -> None:
        """Refuses an account that the token is not for, and tells nothing of those that there are besides."""
        name = detail["account"]
        if not person.sees(name):
            raise NotFound("account", name)
        if person.limited and detail["disjoint"] is not True and name not in self._accounts():
            problem = "must be true for a new account: nobody of it may be in another account of the ledger"
            raise InvalidInput("disjoint", detail["disjoint"], problem)

    def _accounts(self) -> set[str]:
        return {account.name for account in self._ledger.accounts()}

    def _second(self, kind: str, detail: Mapping[str, Any], by: By) -> None:
        """Where two persons are wanted, the change waits for another owner."""
        if self._store.settings.two_persons:
            raise NeedsSecond(self._changes.ask(kind, detail, by), kind)


@contextmanager
def _dropped_on_failure(table: Table) -> Iterator[None]:
    """A snapshot that nothing names yet goes away if its account cannot be opened."""
    try:
        yield
    except BaseException:
        if table.path is not None:
            shutil.rmtree(table.path, ignore_errors=True)
        raise


def at_version(dataset: Dataset, version: int, snapshot: Path) -> Dataset:
    """The data set as it was in a version."""
    return replace(dataset, version=version, snapshot=snapshot)


def _newest() -> Any:
    """Data sets with the snapshots of their newest versions."""
    same = (VERSIONS.c.dataset == DATASETS.c.id) & (VERSIONS.c.version == DATASETS.c.version)
    return select(DATASETS, VERSIONS.c.snapshot).join(VERSIONS, same)


def _document(table: Table, name: str) -> dict[str, Any]:
    return declaration_document(table) | {"name": name}


def _detail(
    name: str,
    title: str,
    account: str | None,
    epsilon: Number | None,
    delta: Number | None,
    disjoint: bool | None,
    free: bool,
) -> dict[str, Any]:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name != name.strip() or not name.isprintable():
        problem = "must be up to 100 letters, digits, blanks, dots, dashes and underscores, and begin with none of . -"
        raise InvalidInput("name", name, problem)
    if not isinstance(title, str) or len(title) > 1000 or not (title.isprintable() or not title):
        raise InvalidInput("title", title, "must be text that can be printed, up to 1000 characters")
    if not isinstance(free, bool):
        raise InvalidInput("free", free, "must be true or false")
    about = {"name": name, "title": title or name, "account": name if account is None else account}
    return about | {
        "epsilon": _text(epsilon, "epsilon"),
        "delta": _text(delta, "delta"),
        "disjoint": disjoint,
        "free": free,
    }


def _read_so(multiline: bool, dialect: Mapping[str, Any] | Dialect | None, rename: object) -> dict[str, Any]:
    """How a file is read, ready for JSON."""
    found = Reading.of(multiline, dialect, rename, None)
    written = None if found.dialect is None else found.dialect.written
    return {"multiline": found.multiline, "dialect": written, "rename": dict(found.rename) or None}


def _text(value: Number | None, argument: str) -> str | None:
    """An exact number, as text."""
    return None if value is None else str(Fraction(exact(value, argument)))


@lru_cache(maxsize=_KEPT)
def _declared(text: str) -> Declared:
    return read_declaration(json.loads(text))
