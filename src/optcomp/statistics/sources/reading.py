"""How a source is read: the dialect of a file, other names for its columns, and which of its tables is meant."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from optcomp.errors import InvalidInput
from optcomp.statistics.fixed import Fixed
from optcomp.statistics.sources.dialect import Dialect, read_dialect


@dataclass(frozen=True)
class Reading:
    """All that is said about reading, and nothing about what is read.

    `multiline` lets quoted cells hold line breaks; `dialect` says how a file of lines is written; `rename` gives
    columns of the source the names that declarations and conditions use; `table` is a table of a database, or a sheet.
    """

    multiline: bool = False
    dialect: Dialect | None = None
    rename: Mapping[str, str] = field(default_factory=lambda: Fixed[str]({}))
    table: str | None = None

    @classmethod
    def of(cls, multiline: object, dialect: object, rename: object, table: object) -> Self:
        """Checked, as people say it."""
        if not isinstance(multiline, bool):
            raise InvalidInput("multiline", multiline, "must be True or False")
        if table is not None and (not isinstance(table, str) or not table):
            raise InvalidInput("table", table, "must be the name of a table or sheet")
        return cls(multiline, None if dialect is None else read_dialect(dialect), _renamed(rename), table)

    @property
    def in_lines(self) -> Dialect:
        """The dialect, or the fixed one."""
        return Dialect() if self.dialect is None else self.dialect

    @property
    def arguments(self) -> dict[str, Any]:
        """By which the same is said again."""
        return {"multiline": self.multiline, "dialect": self.dialect, "rename": self.rename, "table": self.table}

    @property
    def written(self) -> dict[str, Any]:
        """What is said beyond the dialect, ready for JSON."""
        found = {"rename": dict(self.rename)} if self.rename else {}
        return found | ({"table": self.table} if self.table is not None else {})

    def only_lines(self, what: str) -> None:
        """Refuses a dialect where nothing is read as lines."""
        if self.dialect is not None:
            raise InvalidInput("dialect", what, "is not written in lines: a dialect is for CSV files")

    def no_table(self, what: str) -> None:
        """Refuses a name where there is only one table."""
        if self.table is not None:
            raise InvalidInput("table", self.table, f"is for databases and workbooks, and the source is {what}")

    def own_names(self, used: Collection[str]) -> dict[str, str]:
        """What the source calls the columns that are used."""
        own = {new: old for old, new in self.rename.items()}
        return {name: own.get(name, name) for name in used}

    def new_names(self, columns: Collection[str]) -> tuple[str, ...]:
        """All columns by the names that are used; a new name must not be that of another column."""
        for old in self.rename:
            if old not in columns:
                raise InvalidInput("rename", old, f"is not in the table, which has {', '.join(map(str, columns))}")
        found = tuple(self.rename.get(name, name) for name in columns)
        for new in self.rename.values():
            if found.count(new) > 1:
                raise InvalidInput("rename", new, "is the name of another column already")
        return found


def _renamed(rename: object) -> Mapping[str, str]:
    if rename is None:
        return Fixed[str]({})
    if not isinstance(rename, Mapping):
        raise InvalidInput("rename", type(rename).__name__, "must map names in the source to names of yours")
    found = {str(old): new for old, new in rename.items()}
    for old, new in found.items():
        if not isinstance(new, str) or not new.strip() or not old:
            raise InvalidInput("rename", new, "must be a name")
    twice = [new for new in found.values() if list(found.values()).count(new) > 1]
    if twice:
        raise InvalidInput("rename", twice[0], "is given to two columns")
    return Fixed(found)
