"""Data sets, batches and seats: what may be registered, what a batch costs, and what an interruption leaves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from sqlalchemy import Connection

import optcomp as oc
from optcomp.center import Changes, Conflict, Forbidden, NotFound, Suspended
from optcomp.center.seats import Seat
from optcomp.errors import BudgetExceeded, InvalidInput
from optcomp.ledger import Slot
from optcomp.statistics import Count, Table
from tests.servers import empty_database
from tests.unit.center.homes import COLUMNS, Centre


class Killed(Exception):
    """The process ends here."""


@contextmanager
def killed_before_the_centre(centre: Centre, monkeypatch: pytest.MonkeyPatch, writes: int = 0) -> Iterator[None]:
    """The centre's database is written so many times more, and then the process is gone."""
    left, write = [writes], centre.store.write

    @contextmanager
    def broken() -> Iterator[Connection]:
        if not left[0]:
            raise Killed
        left[0] -= 1
        with write() as connection:
            yield connection

    with monkeypatch.context() as patch:
        patch.setattr(centre.store, "write", broken)
        with pytest.raises(Killed):
            yield


def spent(centre: Centre, account: str = "people") -> Fraction:
    budget: Any = centre.ledger.account(account).budget
    found: Fraction = budget.spent.epsilon
    return found


def ask(centre: Centre, seat: Seat, **more: Any) -> float:
    slot = centre.ledger.account(seat.dataset.account).slot(seat.slot)
    with slot.session(Table.open(seat.dataset.snapshot)) as session:
        return float(session.ask(Count(), epsilon="0.01", **more).value)


def whats(centre: Centre) -> list[str]:
    return [change.what for change in centre.changes.all() if change.what not in ("added", "token made")]


def test_register_makes_a_bound_snapshot_and_an_account(centre: Centre) -> None:
    made = centre.register(title="All people", free=True)
    assert (made.name, made.title, made.account, made.version, made.state) == (
        "people",
        "All people",
        "people",
        1,
        "open",
    )
    assert made.free
    assert made.snapshot == centre.settings.home / "snapshots" / "people" / "1"
    assert Table.open(made.snapshot).bound_to == (centre.ledger.id, "people")
    assert dict(made.declared.columns) == COLUMNS
    account = centre.ledger.account("people")
    assert str(account.unit) == "each row by itself (add-remove)"
    assert str(account.budget).startswith("BestFilter, (ε, δ) = (3, 1e-6) in all")
    assert [each.name for each in centre.catalogue.datasets()] == ["people"]
    (change,) = [each for each in centre.changes.all() if each.what == "registered"]
    assert (change.who, change.second, change.detail["epsilon"]) == ("olga", None, "3")
    with pytest.raises(Conflict, match="is there already"):
        centre.register()
    with pytest.raises(NotFound):
        centre.catalogue.dataset("others")


def test_cells_that_cannot_be_read_are_missing_and_never_told(centre: Centre) -> None:
    path = centre.data / "bad.csv"
    path.write_text("age\n17\nsecret-cell\n18\n", encoding="utf8")
    given: dict[str, Any] = {"epsilon": 1, "by": "olga"}
    with pytest.raises(oc.UnreadableData) as told:
        centre.catalogue.register("bad", path, COLUMNS, bad_cells="refuse", **given)
    assert "secret-cell" not in str(told.value)
    assert centre.ledger.accounts() == ()
    assert centre.catalogue.register("bad", path, COLUMNS, **given).version == 1


def test_a_file_in_its_own_dialect_and_its_next_version(centre: Centre) -> None:
    path = centre.data / "german.csv"
    path.write_bytes("Alter (Jahre);Tag;Ort\n17;31.12.2020;Köln\n18;01.01.2021;Bonn\n".encode("latin-1"))
    columns = {
        "age": {"integers": [0, 99]},
        "Tag": {"dates": ["2020-01-01", "2021-12-31"], "format": "%d.%m.%Y"},
        "Ort": {"categories": ["Köln"]},
    }
    how: dict[str, Any] = {"dialect": {"delimiter": ";", "encoding": "latin-1"}, "rename": {"Alter (Jahre)": "age"}}
    made = centre.catalogue.register(
        "german", path, declaration={"columns": columns}, bad_cells="refuse", epsilon=1, by="olga", **how
    )
    where = "age == 17 and Tag == '2020-12-31' and Ort == 'Köln'"
    assert Count(where).measure(Table.open(made.snapshot)) == ((1,),)
    path.write_bytes("Tag;Alter (Jahre);Ort\n31.12.2020;17;Köln\n31.12.2020;17;Köln\n".encode("latin-1"))
    renewed = centre.catalogue.renew("german", path, by="olga")
    assert renewed.version == 2
    assert Count(where).measure(Table.open(renewed.snapshot)) == ((2,),)
    with pytest.raises(InvalidInput, match="encoding"):
        centre.catalogue.renew("german", path, dialect={"encoding": "morse"}, by="olga")


def test_declarations_as_documents(centre: Centre) -> None:
    columns = {"age": {"integers": [0, 99]}}
    made = centre.catalogue.register(
        "people", centre.file(), declaration={"columns": columns, "neighbours": "replace"}, epsilon=1, by="olga"
    )
    assert (made.declared.neighbours, dict(made.declared.columns)) == ("replace", COLUMNS)
    documents: list[Any] = [{"columns": columns, "colour": 1}, {"columns": 3}, {"columns": {"age": {}}}, {}, [], None]
    for document in documents:
        with pytest.raises(InvalidInput):
            centre.catalogue.register("other", centre.file(), declaration=document, epsilon=1, by="olga")


def test_only_files_below_the_folders(centre: Centre, tmp_path: Path) -> None:
    outside = tmp_path / "outside.csv"
    outside.write_text("age\n1\n", encoding="utf8")
    (centre.data / "link.csv").symlink_to(outside)
    (centre.data / "up").symlink_to(tmp_path)
    (tmp_path / "data2").mkdir()
    (tmp_path / "data2" / "x.csv").write_text("age\n1\n", encoding="utf8")
    os.mkfifo(centre.data / "pipe.csv")
    bad: list[str | Path] = [
        outside,
        "/etc/passwd",
        "../outside.csv",
        centre.data / ".." / "outside.csv",
        centre.data / "link.csv",
    ]
    bad += ["up/outside.csv", str(tmp_path / "data2" / "x.csv"), centre.data, "", "a\0b", "pipe.csv", "missing.csv"]
    bad += [centre.settings.home / "center.yaml", "postgresql://user:secret@host/db"]
    for source in bad:
        with pytest.raises(InvalidInput) as told:
            centre.catalogue.register("people", source, COLUMNS, epsilon=1, by="olga")
        assert "secret" not in str(told.value)
    assert centre.ledger.accounts() == ()
    centre.file()
    inside = tmp_path / "inside.csv"
    inside.symlink_to(centre.data / "people.csv")  # a link from elsewhere that leads in
    (centre.data / "same.csv").symlink_to(centre.data / "people.csv")
    assert centre.catalogue.register("a", "same.csv", COLUMNS, epsilon=1, by="olga").version == 1
    words = ["/etc/passwd", "/etc/there-is-no-such-file"]
    told_of = []
    for each in words:
        with pytest.raises(InvalidInput) as error:
            centre.catalogue.register("b", each, COLUMNS, epsilon=1, by="olga")
        told_of.append(error.value.problem)
    assert told_of[0] == told_of[1]


def test_only_tables_of_listed_databases(tmp_path: Path, center_databases: tuple[str, str]) -> None:
    import psycopg

    empty_database(center_databases[0])
    with psycopg.connect(center_databases[0]) as connection:
        connection.execute("CREATE TABLE people AS SELECT number AS age FROM generate_series(0, 39) number")
    home = Centre(tmp_path / "home", tmp_path, databases=[center_databases[0]])
    given: dict[str, Any] = {"epsilon": 1, "by": "olga"}
    made = home.catalogue.register("people", center_databases[0], COLUMNS, table="public.people", **given)
    (rows,) = made.snapshot.glob("*.parquet")
    assert pyarrow.parquet.read_table(rows).num_rows == 40
    assert "host=" not in str(home.changes.all())  # options of an address may hold a password, and so may its user
    with pytest.raises(InvalidInput, match="is not a database that the settings list"):
        home.catalogue.register("other", center_databases[1], COLUMNS, table="people", **given)
    for table in ("nothing", "", None, "no.people", "people; DROP TABLE people"):
        with pytest.raises(InvalidInput, match="table: "):
            home.catalogue.register("other", center_databases[0], COLUMNS, table=table, **given)
    assert len(home.ledger.accounts()) == 1
    home.close()


def test_names_of_data_sets(centre: Centre) -> None:
    for name in ("", "a/b", "..", ".hidden", "a\nb", " a", "a ", "x" * 101, "../up"):
        with pytest.raises(InvalidInput):
            centre.catalogue.register(name, centre.file(), COLUMNS, epsilon=1, by="olga")


def test_roles(centre: Centre) -> None:
    centre.register()
    for by in ("ada", "aud"):
        with pytest.raises(Forbidden):
            centre.register("more", by=by)
        with pytest.raises(Forbidden):
            centre.catalogue.cut("people", "b", {"ada": "0.1"}, delta="1e-8", by=by)
        with pytest.raises(Forbidden):
            centre.catalogue.lower("people", epsilon=1, delta="1e-6", by=by)
        with pytest.raises(Forbidden):
            centre.catalogue.renew("people", centre.file(), by=by)
        for missing in (
            lambda by: centre.catalogue.hand_on(99, "ben", by=by),
            lambda by: centre.catalogue.close("x", True, by=by),
        ):
            with pytest.raises(Forbidden):  # before anything is looked up
                missing(by)
        with pytest.raises(Forbidden):
            centre.catalogue.suspend_seat(99, True, by=by)
    assert whats(centre) == ["registered"]


def test_a_snapshot_that_is_there(centre: Centre) -> None:
    Table(centre.file(), COLUMNS).save(centre.data / "old.snapshot")
    made = centre.catalogue.register_snapshot("old", "old.snapshot", epsilon=1, by="olga")
    assert made.snapshot == centre.data / "old.snapshot"
    assert Table.open(made.snapshot).bound_to == (centre.ledger.id, "old")
    with pytest.raises(InvalidInput, match="is debited from account 'old'"):
        centre.catalogue.register_snapshot("again", "old.snapshot", epsilon=1, disjoint=True, by="olga")
    with pytest.raises(InvalidInput, match="below"):
        centre.catalogue.register_snapshot("no", centre.settings.snapshots / "x", epsilon=1, by="olga")


def test_a_second_account_must_be_disjoint_and_one_may_be_shared(centre: Centre) -> None:
    centre.register()
    with pytest.raises(InvalidInput, match="disjoint"):
        centre.register("more")
    assert not list((centre.settings.snapshots / "more").iterdir())
    shared = centre.register("more", account="people", epsilon=None, delta=None)
    assert shared.account == "people"
    assert len(centre.ledger.accounts()) == 1
    centre.catalogue.cut("people", "b", {"ada": "0.1"}, delta="1e-8", by="olga")
    with pytest.raises(Conflict, match="another data set"):
        centre.catalogue.cut("more", "b", {"ada": "0.1"}, delta="1e-8", by="olga")
    assert [seat.dataset.name for seat in centre.catalogue.seats()] == ["people"]


def test_cut_is_certified_and_debited_once(centre: Centre) -> None:
    centre.register()
    slots = {"ada": ("0.1", "1e-9"), "ben": "0.2"}
    proof = centre.catalogue.cut("people", "spring", slots, delta="1e-8", by="olga")
    bound = oc.compose([oc.ApproxDP("0.1", "1e-9"), oc.PureDP("0.2")], delta="1e-8")
    assert (proof["composed"], proof["theorem"]) == (bound.upper, bound.theorem)
    assert Fraction(proof["epsilon"]) == Fraction(bound.upper)
    assert proof["slots"]["ada"] == {"slot": "spring: ada", "share": ["1/10", "1/1000000000"]}
    before = spent(centre)
    assert 0 <= before - Fraction(bound.upper) <= Fraction(1, 10**30)  # rounded up as it entered
    assert centre.catalogue.cut("people", "spring", slots, delta="1e-8", by="olga")["slots"] == proof["slots"]
    assert spent(centre) == before
    assert [(seat.slot, seat.analyst) for seat in centre.catalogue.seats()] == [
        ("spring: ada", "ada"),
        ("spring: ben", "ben"),
    ]
    assert whats(centre) == ["registered", "cut"]
    with pytest.raises(InvalidInput, match="another batch"):
        centre.catalogue.cut("people", "spring", {"ada": "0.3"}, delta="1e-8", by="olga")
    with pytest.raises(BudgetExceeded):
        centre.catalogue.cut("people", "all", {"ada": "4"}, delta="1e-8", by="olga")
    for slots_, error in (({"zoe": 1}, NotFound), ({"olga": 1}, InvalidInput), ({}, InvalidInput)):
        with pytest.raises(error):
            centre.catalogue.cut("people", "x", slots_, delta="1e-8", by="olga")
    assert spent(centre) == before


def test_a_cut_that_is_interrupted_is_completed(centre: Centre, monkeypatch: pytest.MonkeyPatch) -> None:
    centre.register()
    given: dict[str, Any] = {"delta": "1e-8", "by": "olga"}
    with killed_before_the_centre(centre, monkeypatch):
        centre.catalogue.cut("people", "spring", {"ada": "0.1", "ben": "0.2"}, **given)
    paid = spent(centre)
    assert paid > 0
    assert centre.catalogue.seats() == []
    assert "cut" not in whats(centre)
    centre.catalogue.cut("people", "spring", {"ada": "0.1", "ben": "0.2"}, **given)
    assert spent(centre) == paid
    assert len(centre.catalogue.seats()) == 2
    assert whats(centre).count("cut") == 1


def test_a_registration_that_is_interrupted_is_completed(centre: Centre, monkeypatch: pytest.MonkeyPatch) -> None:
    with killed_before_the_centre(centre, monkeypatch):
        centre.register()
    assert [account.name for account in centre.ledger.accounts()] == ["people"]
    assert centre.catalogue.datasets() == []
    made = centre.register()
    assert made.snapshot.name == "2"  # the first one is left behind, and nobody has asked about it
    assert len(centre.ledger.accounts()) == 1


def test_a_lowering_that_is_interrupted_is_completed(centre: Centre, monkeypatch: pytest.MonkeyPatch) -> None:
    centre.register()
    given: dict[str, Any] = {"epsilon": 1, "delta": "1e-6", "by": "olga"}
    with killed_before_the_centre(centre, monkeypatch):
        centre.catalogue.lower("people", **given)
    centre.catalogue.lower("people", **given)
    assert "(1, 1e-6)" in str(centre.ledger.account("people").budget)
    assert whats(centre) == ["registered", "lowered"]


def test_hand_on(centre: Centre) -> None:
    centre.register()
    centre.catalogue.cut("people", "spring", {"ada": "0.1", "ben": "0.2"}, delta="1e-8", by="olga")
    first, second = centre.catalogue.seats()
    moved = centre.catalogue.hand_on(first.id, "ben", by="olga")
    assert (moved.id, moved.analyst, moved.slot) == (first.id, "ben", "spring: ben (2)")
    assert centre.catalogue.seats("ada") == []
    assert ask(centre, moved) is not None
    with pytest.raises(Conflict, match="has been asked in"):
        centre.catalogue.hand_on(first.id, "ada", by="olga")
    assert centre.catalogue.seat(first.id).analyst == "ben"
    assert centre.catalogue.hand_on(second.id, "ada", by="olga").slot == "spring: ada"
    assert whats(centre) == ["registered", "cut", "handed on", "handed on"]


def killed(*_: object, **__: object) -> None:
    raise Killed


@pytest.mark.parametrize("after", [False, True])
def test_a_handing_on_that_is_interrupted(centre: Centre, monkeypatch: pytest.MonkeyPatch, after: bool) -> None:
    centre.register()
    centre.catalogue.cut("people", "spring", {"ada": "0.1"}, delta="1e-8", by="olga")
    (seat,) = centre.catalogue.seats()
    with monkeypatch.context() as patch:  # before the ledger, or after it and before the centre
        patch.setattr(Changes if after else Slot, "note" if after else "hand_on", killed)
        with pytest.raises(Killed):
            centre.catalogue.hand_on(seat.id, "ben", by="olga")
    assert centre.ledger.account("people").slots[0].name == ("spring: ben" if after else "spring: ada")
    found = centre.catalogue.seat(seat.id)  # as the ledger says
    assert found.slot == centre.ledger.account("people").slots[0].name
    assert found.analyst == ("ben" if after else "ada")
    again = centre.catalogue.hand_on(seat.id, "ben", by="olga")
    assert (again.slot, again.analyst) == ("spring: ben", "ben")
    assert whats(centre).count("handed on") == 1
    assert ask(centre, again) is not None


def test_a_handing_on_whose_ledger_fails_after_it_did_it(centre: Centre, monkeypatch: pytest.MonkeyPatch) -> None:
    centre.register()
    centre.catalogue.cut("people", "spring", {"ada": "0.1"}, delta="1e-8", by="olga")
    (seat,) = centre.catalogue.seats()
    hand_on = Slot.hand_on

    def lost(self: Slot, name: str) -> Slot:
        hand_on(self, name)
        raise InvalidInput("ledger", "somewhere", "the database cannot be used now")

    with monkeypatch.context() as patch:
        patch.setattr(Slot, "hand_on", lost)
        with pytest.raises(InvalidInput, match="cannot be used now"):
            centre.catalogue.hand_on(seat.id, "ben", by="olga")
    found = centre.catalogue.seat(seat.id)
    assert (found.slot, found.analyst) == ("spring: ben", "ben")
    assert whats(centre).count("handed on") == 1


def test_two_owners_hand_on_the_same_seat(centre: Centre) -> None:
    centre.register()
    centre.catalogue.cut("people", "spring", {"ada": "0.1"}, delta="1e-8", by="olga")
    (seat,) = centre.catalogue.seats()
    names = [f"analyst {number}" for number in range(4)]
    for name in names:
        centre.people.add(name, "analyst", by="olga")

    def handed(name: str) -> bool:
        try:
            centre.catalogue.hand_on(seat.id, name, by="olga")
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(handed, names))
    found = centre.catalogue.seat(seat.id)
    assert centre.ledger.account("people").slot(found.slot).name == f"spring: {found.analyst}"
    assert whats(centre).count("handed on") == sum(done)
    assert ask(centre, found) is not None


def test_a_batch_is_cut_once_whoever_is_first(centre: Centre) -> None:
    centre.register()

    def cut(_: int) -> str:
        found = centre.catalogue.cut("people", "spring", {"ada": "0.1", "ben": "0.1"}, delta="1e-8", by="olga")
        return str(found["epsilon"])

    with ThreadPoolExecutor(4) as pool:
        (epsilon,) = set(pool.map(cut, range(8)))
    assert 0 <= spent(centre) - Fraction(epsilon) <= Fraction(1, 10**30)
    assert (len(centre.catalogue.seats()), whats(centre).count("cut")) == (2, 1)


def test_a_closed_data_set(centre: Centre) -> None:
    centre.register()
    centre.catalogue.cut("people", "spring", {"ada": "0.1"}, delta="1e-8", by="olga")
    centre.catalogue.close("people", True, by="olga")
    with pytest.raises(Suspended, match="data set 'people' is suspended"):
        centre.catalogue.seats()[0].check()
    centre.catalogue.close("people", False, by="olga")
    centre.catalogue.seats()[0].check()
    assert whats(centre)[2:] == ["data set closed", "data set open"]


def test_versions_and_sessions_that_were_opened_before(centre: Centre) -> None:
    centre.register()
    centre.catalogue.cut("people", "spring", {"ada": "0.1", "ben": "0.1"}, delta="1e-8", by="olga")
    ada, ben = centre.catalogue.seats()
    ask(centre, ada)
    newer = centre.catalogue.renew("people", centre.file("new.csv", rows=60), by="olga")
    assert (newer.version, newer.snapshot.name, newer.account) == (2, "2", "people")
    assert Table.open(newer.snapshot).bound_to == (centre.ledger.id, "people")
    assert centre.catalogue.seat(ada.id).dataset.version == 1
    assert centre.catalogue.seat(ben.id).dataset.version == 2
    assert [seat.dataset.version for seat in centre.catalogue.seats()] == [1, 2]
    ask(centre, centre.catalogue.seat(ada.id), repeat=1)
    ask(centre, centre.catalogue.seat(ben.id))
    centre.catalogue.renew("people", centre.file(), by="olga")
    assert [seat.dataset.version for seat in centre.catalogue.seats()] == [1, 2]
    with pytest.raises(NotFound):
        centre.catalogue.renew("others", centre.file(), by="olga")


def test_seats_of_others_are_not_found(centre: Centre) -> None:
    centre.register()
    centre.catalogue.cut("people", "spring", {"ada": "0.1", "ben": "0.1"}, delta="1e-8", by="olga")
    ada = centre.people.who(centre.people.token("ada", by="olga"))
    narrow = centre.people.who(centre.people.token("ada", scope=["others"], by="olga"))
    mine, theirs = centre.catalogue.seats()
    assert centre.catalogue.seat(mine.id, ada).slot == "spring: ada"
    assert [seat.id for seat in centre.catalogue.seats(ada)] == [mine.id]
    assert centre.catalogue.seats(narrow) == []
    for number, person in ((theirs.id, ada), (mine.id, narrow), (999, ada)):
        with pytest.raises(NotFound):
            centre.catalogue.seat(number, person)


def test_suspension_of_a_seat(centre: Centre) -> None:
    centre.register()
    centre.catalogue.cut("people", "spring", {"ada": "0.1"}, delta="1e-8", by="olga")
    (seat,) = centre.catalogue.seats()
    centre.catalogue.suspend_seat(seat.id, True, by="olga")
    with pytest.raises(oc.OptcompError, match=f"seat {seat.id} is suspended"):
        centre.catalogue.seat(seat.id).check()
    centre.catalogue.suspend_seat(seat.id, False, by="olga")
    centre.catalogue.seat(seat.id).check()
    assert whats(centre)[2:] == ["seat suspended", "suspension of seat lifted"]


def test_wishes_and_agreements(centre: Centre) -> None:
    centre.register(free=True)
    centre.catalogue.cut("people", "spring", {"ada": "0.1"}, delta="1e-8", by="olga")
    (seat,) = centre.catalogue.seats()
    number = centre.catalogue.wish(seat.id, "More, please:\nfor regions", by="ada")
    for by, error in (("ben", NotFound), ("olga", Forbidden), ("aud", Forbidden)):
        with pytest.raises(error):
            centre.catalogue.wish(seat.id, "more", by=by)
        with pytest.raises(error):
            centre.catalogue.agree(seat.id, "k", by=by)
    with pytest.raises(InvalidInput):
        centre.catalogue.wish(seat.id, "\x1b[2J", by="ada")
    (wish,) = centre.catalogue.wishes()
    assert (wish.analyst, wish.seat, wish.state) == ("ada", seat.id, "open")
    with pytest.raises(Forbidden):
        centre.catalogue.decide(number, True, by="ada")
    centre.catalogue.decide(number, True, by="olga")
    assert centre.catalogue.wishes()[0].state == "granted"
    with pytest.raises(Conflict, match="was granted before"):
        centre.catalogue.decide(number, False, by="olga")
    centre.catalogue.agree(seat.id, "key", by="ada")
    centre.catalogue.agree(seat.id, "key", by="ada")
    assert centre.catalogue.agreed("people") == [(seat.id, "key")]


def test_answers_are_shared_only_where_the_owner_allows(centre: Centre) -> None:
    centre.register()
    centre.catalogue.cut("people", "spring", {"ada": "0.1"}, delta="1e-8", by="olga")
    with pytest.raises(InvalidInput, match="does not allow"):
        centre.catalogue.agree(centre.catalogue.seats()[0].id, "key", by="ada")
    assert centre.catalogue.agreed("people") == []
