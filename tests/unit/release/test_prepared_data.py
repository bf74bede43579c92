"""Data are prepared before anything is spent: snapshots that are kept and released, and cells that cannot be read."""

from __future__ import annotations

import hmac
import json
from collections import Counter
from pathlib import Path
from typing import Any

import ibis
import pytest

from optcomp import InvalidInput, UnreadableData
from optcomp.planner import Document, read
from optcomp.release import NotReleased, Store, prepare_data, release_plan
from optcomp.release.released import table_of
from optcomp.release.store import plan_digest
from optcomp.statistics import Count, Table
from tests.plans import ROWS, Plain, small


def document(**changes: Any) -> Document:
    return read(small(**changes))


def test_data_that_change_while_they_are_read(data: Path, out: Path) -> None:
    """Before anything is spent or written."""

    def changing(what: str, share: float) -> None:
        if what == "preparing the data" and not changed:
            changed.append(what)
            with data.open("ab") as file:
                file.write(b"x")

    changed: list[str] = []
    with pytest.raises(UnreadableData, match=r"^people.parquet: changed while it was read; nothing was spent$"):
        release_plan(document(), data, out, changing)
    assert changed
    assert not out.exists()
    assert not Store(out).private.exists()


def test_a_source_that_is_gone_after_preparation_does_not_matter(data: Path, out: Path) -> None:
    """It is deleted when the first question is asked."""

    def deleting(what: str, share: float) -> None:
        if what.startswith("asking"):
            data.unlink(missing_ok=True)

    view, fresh = release_plan(document(budget={"epsilon": 5000}), data, out, deleting)
    assert fresh
    assert not data.exists()
    assert abs(view["statistics"][0]["value"] - ROWS) <= 2  # noise of scale 0.055


HOSTILE = {
    "text": (b"9,north\nmany,south\n", "not a number", "line 3, column 'age'"),
    "beyond": (b"9,north\n1e999,south\n", "a number beyond the range of floats", "line 3, column 'age'"),
    "latin": (b"9,n\xf6rth\n8,south\n", "text that is not UTF-8", "line 2, column 'region'"),
    "long": (b"9," + b"n" * 5000 + b"\n", "longer than 4,096 characters", "line 2, column 'region'"),
    "ragged": (b"9,north\n8\n", "too few cells", "line 3"),
    "open": (b'9,"north\n8,south\n', "a quotation mark that is not closed", "line 2"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_cell_is_told_before_anything_is_spent(name: str, out: Path, tmp_path: Path) -> None:
    rows, reason, place = HOSTILE[name]
    path = tmp_path / "people.csv"
    path.write_bytes(b"age,region\n" + rows)
    with pytest.raises(UnreadableData) as error:
        release_plan(document(), path, out)
    assert (error.value.place, error.value.reason, error.value.count) == (f"people.csv, {place}", reason, 1)
    assert not any(word in str(error.value) for word in ("many", "1e999", "nnnn", "south"))
    assert list(tmp_path.iterdir()) == [path]
    missing = document(data={"rows": 1000, "bad_cells": "missing"})
    assert release_plan(missing, path, out)[1]


def test_cells_with_line_breaks_are_declared(out: Path, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('age,region,note\n9,north,"a\nb"\n8,south,\n', encoding="utf8")
    with pytest.raises(UnreadableData, match="a quotation mark that is not closed"):
        release_plan(document(), path, out)
    counts = {"people": {"count": None, "epsilon": 100}, "regions": {"histogram": "region", "epsilon": 100}}
    budget = {"epsilon": 200}
    plan = document(budget=budget, data={"rows": 2, "multiline": True}, statistics=counts)
    view, _ = release_plan(plan, path, out)
    assert view["statistics"][0]["value"] == 2  # noise at ε = 100 is not 0 with probability e^-99


# Snapshots


def test_a_release_from_a_snapshot(data: Path, out: Path, tmp_path: Path) -> None:
    """Its identity is that of the plan and of the snapshot; the file that it came from is not needed."""
    wanted = document(budget={"epsilon": 5000})
    found = prepare_data(wanted, data, tmp_path / "people.snapshot")
    data.unlink()
    view, fresh = release_plan(wanted, found.snapshot, out)
    assert fresh
    assert abs(view["statistics"][0]["value"] - ROWS) <= 2  # noise of scale 0.055
    assert view["record"]["plan_sha256"] == plan_digest(small(budget={"epsilon": 5000}))
    digest = json.loads((tmp_path / "people.snapshot" / "keys.json").read_text(encoding="utf8"))["digest"]
    private = json.loads(Store(out).private.read_text(encoding="utf8"))
    assert private["data_sha256"] == digest == Table.open(found.snapshot).digest
    assert (
        view["record"]["data_hmac_sha256"]
        == hmac.new(bytes.fromhex(private["key"]), digest.encode(), "sha256").hexdigest()
    )
    assert digest not in out.read_text(encoding="utf8")
    assert release_plan(wanted, found.snapshot, out) == (json.loads(json.dumps(view)), False)


def test_another_snapshot_of_the_same_data_is_other_data(data: Path, out: Path, tmp_path: Path) -> None:
    """Its lot may be another one, and so is its key."""
    one, two = (prepare_data(document(), data, tmp_path / name).snapshot for name in ("one", "two"))
    release_plan(document(), one, out)
    with pytest.raises(NotReleased, match="holds a release of other data"):
        release_plan(document(), two, out)
    with pytest.raises(NotReleased, match="holds a release of other data"):
        release_plan(document(), data, out)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data": {"neighbours": "replace"}}, "neighbours is 'replace' in the plan and 'add-remove' in the snapshot"),
        ({"data": {"person": "id"}}, "person is 'id' in the plan and None in the snapshot"),
        ({"data": {"person": "id", "rows_per_person": 2}}, "person is 'id' in the plan and None in the snapshot"),
        (
            {"columns": small()["columns"] | {"age": {"integers": [0, 98]}}},
            "column 'age' is Integers(0, 98) in the plan and Integers(0, 99) in the snapshot",
        ),
        (
            {"columns": small()["columns"] | {"income": {"reals": [0, 1]}}},
            "column 'income' is Reals(0, 1) in the plan and None in the snapshot",
        ),
    ],
)
def test_a_snapshot_of_another_declaration_is_refused(
    changes: Plain, words: str, data: Path, out: Path, tmp_path: Path
) -> None:
    found = prepare_data(document(), data, tmp_path / "people.snapshot")
    with pytest.raises(InvalidInput) as error:
        release_plan(document(**changes), found.snapshot, out)
    assert error.value.argument == "source"
    again = "prepare the data again with this plan"
    assert error.value.problem == f"is a snapshot of another declaration: {words}; {again}"
    assert not out.exists()


def test_a_plan_with_another_name_of_the_table_fits_a_snapshot(data: Path, out: Path, tmp_path: Path) -> None:
    found = prepare_data(document(), data, tmp_path / "people.snapshot")
    assert release_plan(document(data={"rows": 900, "name": "persons"}), found.snapshot, out)[1]


def test_a_snapshot_that_was_changed_is_refused(data: Path, out: Path, tmp_path: Path) -> None:
    found = prepare_data(document(), data, tmp_path / "people.snapshot")
    with (tmp_path / "people.snapshot" / "rows.parquet").open("ab") as file:
        file.write(b"x")
    with pytest.raises(UnreadableData, match="is not as it was prepared"):
        release_plan(document(), found.snapshot, out)
    assert not out.exists()


def test_a_snapshot_that_lacks_something_is_refused(data: Path, out: Path, tmp_path: Path) -> None:
    found = prepare_data(document(), data, tmp_path / "people.snapshot")
    (tmp_path / "people.snapshot" / "keys.json").unlink()
    with pytest.raises(InvalidInput, match=r"^source: is missing, or was changed by hand"):
        release_plan(document(), found.snapshot, out)
    backend = ibis.duckdb.connect(tmp_path / "rows.duckdb")
    table_of(document(), data).save(tmp_path / "kept.snapshot", connection=backend)
    with pytest.raises(InvalidInput, match=r"^source: is a snapshot whose rows a database keeps"):
        release_plan(document(), tmp_path / "kept.snapshot", out)
    assert not out.exists()


# What is told about preparation


def test_counts_of_what_was_done(tmp_path: Path) -> None:
    """Against plain Python."""
    owners = ["a", "b", "", "a", "c", "a", "b", "", "a", "d", "e"]
    ages = ["5", "x", "7", "120", "8.5", "", "-3", "9", "1e999", "12", ""]
    lines = [
        f"{who},{age},{'north' if i % 2 else 'west'}" for i, (who, age) in enumerate(zip(owners, ages, strict=True))
    ]
    lines.append("only one cell")
    path = tmp_path / "people.csv"
    path.write_text("id,age,region\n" + "\n".join(lines) + "\n", encoding="utf8")
    wanted = document(data={"person": "id", "rows_per_person": 2, "bad_cells": "missing"})
    found = prepare_data(wanted, path, tmp_path / "x.snapshot")
    counts = Counter(filter(None, owners))
    kept = sum(min(count, 2) for count in counts.values())
    assert found.person is not None
    assert (found.rows, found.person.people, found.person.rows) == (kept, len(counts), counts.total())
    assert (found.person.nobody, found.person.dropped) == (owners.count("") + 1, counts.total() - kept)
    assert (found.file.rows, dict(found.file.unread), found.file.first_unread) == (
        len(lines),
        {"too few cells": 1},
        "people.csv, line 13",
    )
    age, region = found.columns
    assert (age.missing, age.unreadable, age.rounded, age.below, age.above) == (3, 2, 1, 1, 1)
    assert age.reasons == {"not a number": 1, "a number beyond the range of floats": 1}
    assert age.first_unread == "people.csv, line 3"
    assert (region.missing, region.unknown, region.unseen) == (1, 6, ("south",))
    assert Count().measure(Table.open(found.snapshot)) == ((kept,),)
    assert json.loads(json.dumps(found.as_dict()))["notice"].startswith("Exact numbers, without noise")


def test_what_is_said_goes_before_the_plan(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('age,region,note\nx,north,"a\nb"\n8,south,\n', encoding="utf8")
    plain = document()
    with pytest.raises(UnreadableData):
        prepare_data(plain, path, tmp_path / "x.snapshot")
    with pytest.raises(UnreadableData, match="not a number"):
        prepare_data(plain, path, tmp_path / "x.snapshot", multiline=True)
    assert list(tmp_path.iterdir()) == [path]
    found = prepare_data(plain, path, tmp_path / "x.snapshot", multiline=True, bad_cells="missing")
    assert (found.rows, found.file.unread, found.file.bad_cells) == (2, {}, "missing")
    lenient = document(data={"rows": 2, "bad_cells": "missing", "multiline": True})
    with pytest.raises(UnreadableData):
        prepare_data(lenient, path, tmp_path / "y.snapshot", bad_cells="refuse")
    assert prepare_data(lenient, path, tmp_path / "y.snapshot").rows == 2


def test_what_cannot_be_prepared(data: Path, tmp_path: Path) -> None:
    found = prepare_data(document(), data, tmp_path / "x.snapshot")
    wrong: list[tuple[Any, Any, dict[str, Any], str]] = [
        (data, found.snapshot, {}, "^path: is there already, and a snapshot is never overwritten: name a new folder"),
        (found.snapshot, tmp_path / "y", {}, "^source: is a snapshot"),
        (tmp_path / "none.csv", tmp_path / "y", {}, "^source: is not a file"),
        (data, tmp_path / "y", {"bad_cells": "skip"}, "^bad_cells: must be 'refuse' or 'missing'"),
    ]
    for source, target, options, words in wrong:
        with pytest.raises(InvalidInput, match=words):
            prepare_data(document(), source, target, **options)
    with pytest.raises(InvalidInput, match=r"^memory: must be a size such as"):
        prepare_data(document(data={"person": "id"}), data, tmp_path / "y", memory="much")
    assert not (tmp_path / "y").exists()
