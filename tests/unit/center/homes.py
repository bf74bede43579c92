"""A centre with a few people, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from optcomp.center import Catalogue, Changes, Dataset, People, Settings, Store
from optcomp.ledger import Ledger
from optcomp.statistics import Integers

COLUMNS = {"age": Integers(0, 99)}
"""What is declared of the table of the tests."""


class Centre:
    """A home with one owner, two analysts and an auditor."""

    def __init__(self, home: Path, data: Path, **more: Any) -> None:
        self.data = data
        self.open(Settings.write(home, folders=[str(data)], **more))
        self.people.add("olga", "owner", by=None)
        for name, role in (("ada", "analyst"), ("ben", "analyst"), ("aud", "auditor")):
            self.people.add(name, role, by="olga")

    def open(self, settings: Settings) -> None:
        """Open everything, by these settings."""
        self.settings, self.store = settings, Store(settings)
        self.ledger = Ledger(settings.ledger, private=settings.private)
        self.people, self.catalogue = People(self.store), Catalogue(self.store, self.ledger)
        self.changes = Changes(self.store)

    def file(self, name: str = "people.csv", rows: int = 40) -> Path:
        """A table of people below the folder."""
        path = self.data / name
        path.write_text("age\n" + "".join(f"{number}\n" for number in range(rows)), encoding="utf8")
        return path

    def register(self, name: str = "people", **more: Any) -> Dataset:
        """A data set of forty people."""
        given: dict[str, Any] = {"epsilon": "3", "delta": "1e-6", "by": "olga"} | more
        return self.catalogue.register(name, self.file(f"{name}.csv"), COLUMNS, **given)

    def close(self) -> None:
        """Give back all connections."""
        self.store.close()
        self.ledger.close()
