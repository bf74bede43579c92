"""A centre to try: a table of invented people, an account, three analysts with a slot each, an owner and an auditor.

Beside it lies a file that nobody has cleaned, for whoever wants to register one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optcomp.center.catalogue import Catalogue
from optcomp.center.invented import COLUMNS, VISITS, invented_people, invented_visits
from optcomp.center.people import People
from optcomp.center.settings import Settings
from optcomp.center.store import Store
from optcomp.extras import needed
from optcomp.ledger import Ledger

OWNER, ANALYSTS, AUDITOR = "olga", ("ada", "ben", "cho"), "ruth"
"""Who there is."""
DATASET = "survey"
"""What they ask about."""
_BUDGET, _BATCH_DELTA, _SLOT = ("3", "1e-6"), "1e-7", ("1/2", "0")
"""ε and δ of the account, δ of the batch, and what each analyst has."""


@dataclass(frozen=True)
class Demo:
    """A home, and the tokens of everybody in it."""

    settings: Settings
    owner: str
    analysts: tuple[str, ...]
    auditor: str

    def document(self) -> dict[str, Any]:
        """What is printed: tokens are shown here, and never again."""
        tokens = {"owner": self.owner, "analysts": list(self.analysts), "auditor": self.auditor}
        return {**tokens, "ledger": self.settings.shown_ledger}


def make_demo(home: Path, **given: Any) -> Demo:
    """A new home with everything that a demonstration needs; `given` are settings."""
    source = home.with_name(f"{home.name}.people")
    source.mkdir(mode=0o700)
    needed("pyarrow.parquet", "data").write_table(invented_people(), source / "people.parquet")
    (source / VISITS).write_text(invented_visits(), encoding="utf8")
    settings = Settings.write(home, **{"name": "demonstration", "folders": [str(source)], **given})
    with Store(settings) as store, Ledger(settings.ledger, **settings.beside_ledger) as ledger:
        people, catalogue = People(store), Catalogue(store, ledger)
        people.add(OWNER, "owner", by=None)
        for name, role in (*((each, "analyst") for each in ANALYSTS), (AUDITOR, "auditor")):
            people.add(name, role, by=OWNER)
        catalogue.register(
            DATASET,
            "people.parquet",
            COLUMNS,
            title="Invented people",
            account=DATASET,
            epsilon=_BUDGET[0],
            delta=_BUDGET[1],
            free=True,
            person="person",
            rows_per_person=2,
            by=OWNER,
        )
        catalogue.cut(DATASET, "first", dict.fromkeys(ANALYSTS, _SLOT), delta=_BATCH_DELTA, by=OWNER)
        tokens = {name: people.token(name, by=OWNER) for name in (OWNER, *ANALYSTS, AUDITOR)}
    return Demo(settings, tokens[OWNER], tuple(tokens[name] for name in ANALYSTS), tokens[AUDITOR])
