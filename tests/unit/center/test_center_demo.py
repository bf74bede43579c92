"""The demonstration: the shipped table, made by code, and a home with everything in it."""

from __future__ import annotations

import importlib.util
import stat
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet

from optcomp.center import Catalogue, People, Store, invented_people, make_demo
from optcomp.center.invented import COLUMNS
from optcomp.ledger import Ledger

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_the_shipped_table_is_what_the_code_makes() -> None:
    assert invented_people().equals(pyarrow.parquet.read_table(EXAMPLES / "people.parquet"))


def test_the_example_declares_the_same() -> None:
    spec = importlib.util.spec_from_file_location("example_people", EXAMPLES / "people.py")
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    assert example.COLUMNS == COLUMNS


def test_a_home_to_try(tmp_path: Path) -> None:
    """Everybody has a token; the batch is one debit, and each analyst has a slot of a half."""
    made = make_demo(tmp_path / "home")
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700
    with Store(made.settings) as store, Ledger(made.settings.ledger, private=made.settings.private) as ledger:
        people = People(store)
        assert people.who(made.owner).role == "owner"
        assert [people.who(token).role for token in made.analysts] == ["analyst"] * 3
        assert people.who(made.auditor).role == "auditor"
        seats = Catalogue(store, ledger).seats()
        account = ledger.account("survey")
        assert [account.slot(seat.slot).epsilon for seat in seats] == [Fraction(1, 2)] * 3
        assert ledger.verify().findings == ()
    assert set(made.document()) == {"owner", "analysts", "auditor", "ledger"}
