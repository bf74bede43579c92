"""Cells against an oracle that shares no code with their reader; and what was found by it."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from random import Random
from typing import Any

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from optcomp.errors import UnreadableData
from optcomp.statistics import Categories, Domain, Histogram, Integers, Reals, Table, Text, cells
from tests.campaign import odd_cells
from tests.campaign.hostile import DOMAINS
from tests.oracles.cells import Cell, outcome, person, text_code
from tests.oracles.snapshots import identity

KEY = bytes(32)
EACH = [domain for domains in DOMAINS.values() for domain in domains]
RANDOM = Random(7)
TEXTS = [*odd_cells.NUMBERS, *odd_cells.TEXT, *odd_cells.BREAKS, *(odd_cells.text(RANDOM) for _ in range(1500))]
FLOATS = [*odd_cells.FLOATS, *(odd_cells.number(RANDOM) for _ in range(1500))]
WHOLE = [odd_cells.integer(RANDOM, -(2**63), 2**63 - 1) for _ in range(1500)]
COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "text": (pa.string(), TEXTS),
    "bytes": (pa.binary(), [odd_cells.raw(RANDOM) for _ in range(1500)]),
    "floats": (pa.float64(), FLOATS),
    "integers": (pa.int64(), WHOLE),
    "truths": (pa.bool_(), [True, False, None]),
}


def read(domain: Domain, column: Any) -> list[Any]:
    """Codes; nothing; or why not, as text."""
    if isinstance(domain, Text):
        words, why = cells.texts(domain, cells.plain(column))
        codes = np.array(why, object)
        codes[why == 0] = [text_code(word) for word in words.drop_null().to_pylist()]
    else:
        codes, _ = cells.encode(domain, cells.plain(column))
    return [None if code == cells.MISSING else cells.WHY[code] if code < 0 else code for code in codes.tolist()]


def begins_with_nul(cell: Cell) -> bool:
    text = cell.decode("utf8", "replace") if isinstance(cell, bytes) else cell
    return isinstance(text, str) and text.strip(" ").startswith("\0")


@pytest.mark.parametrize("kind", list(COLUMNS))
@pytest.mark.parametrize("domain", EACH, ids=repr)
def test_every_cell_becomes_what_the_oracle_says(kind: str, domain: Domain) -> None:
    arrow, values = COLUMNS[kind]
    for cell, found in zip(values, read(domain, pa.array(values, arrow)), strict=True):
        expected = outcome(domain, cell)
        assert found == expected or (isinstance(found, str) and begins_with_nul(cell)), (cell, found, expected)


@pytest.mark.parametrize("kind", list(COLUMNS))
def test_everybody_is_who_the_oracle_says(kind: str) -> None:
    arrow, values = COLUMNS[kind]
    found, codes = cells.person(cells.plain(pa.array(values, arrow)))
    words = [None if word is None else str(word) for word in found.to_pylist()]
    for cell, word, code in zip(values, words, codes.tolist(), strict=True):
        expected, why = person(cell)
        assert (word, code < cells.MISSING) == (expected, why is not None), cell


def test_half_of_a_step_is_rounded_up_and_less_is_not() -> None:
    below = math.nextafter(0.5, 0)
    assert read(Reals(0, 8, unit=1), pa.array([below, 0.5, 1.5, -0.5])) == [0, 1, 2, 0]


def test_a_grid_as_fine_as_floats_keeps_them_apart() -> None:
    low = 2**60
    values = [float(low + 256 * place) for place in range(6)]
    assert read(Reals(low, low + 2**28), pa.array(values)) == list(range(6))
    odd = Reals(Fraction(low + 1), Fraction(low + 1 + 2**10))
    assert read(odd, pa.array(values)) == [outcome(odd, value) for value in values]


def test_bounds_between_two_floats_clamp_to_the_side_on_which_a_value_is() -> None:
    between = Integers(2**60 + 1, 2**60 + 4)
    assert read(between, pa.array([-math.inf, 0.0, 2.0**60, 2.0**60 + 256, math.inf])) == [0, 0, 0, 3, 3]
    assert read(between, pa.array(["-inf", "0", "-1e30", "1e30", str(2**60 + 2)])) == [0, 0, 0, 3, 1]


def test_only_the_letters_a_to_z_have_a_case() -> None:
    assert read(Reals(0, 8, unit=1), pa.array(["İnf", "INF", "NaN"])) == ["not a number", 8, None]


def stored(source: Any, columns: dict[str, Domain], **options: Any) -> Counter[tuple[Any, ...]]:
    table = Table(source, columns, person="who", lot_key=KEY, **options)
    return Counter(table.run("SELECT * FROM optcomp_rows"))


def test_people_of_64_bits_without_a_sign_are_people() -> None:
    """One of them must not decide whether the table is prepared."""
    for largest in (3, 2**63, 2**64 - 1):
        people = pa.table({"who": pa.array([1, largest], pa.uint64()), "x": [1, 2]})
        found = stored(people, {"x": Integers(0, 9)})
        assert found == {(identity(KEY, "1"), 1): 1, (identity(KEY, str(largest)), 2): 1}


def test_integers_of_any_size_tell_people_apart_or_nobody() -> None:
    frame = pd.DataFrame({"who": pd.Series([10**400, -(10**400), 10**5000, -(10**5000)], dtype=object), "x": 1})
    assert len(stored(frame, {"x": Integers(0, 9)}, bad_cells="missing")) == 2
    with pytest.raises(UnreadableData, match="longer") as caught:
        stored(frame, {"x": Integers(0, 9)})
    assert (caught.value.count, caught.value.place) == (2, "the table, row 3, column 'who'")


def test_objects_are_read_as_columns_of_their_type_are() -> None:
    cells_of = [True, np.float32(0.1), 10**305, 2.5]
    frame = pd.DataFrame({"who": range(4), "x": pd.Series(cells_of, dtype=object)})
    table = Table(frame, {"x": Reals(0, 3)})
    expected = [outcome(Reals(0, 3), cell) for cell in (True, float(np.float32(0.1)), math.inf, 2.5)]
    assert sorted(table.run("SELECT x FROM (SELECT c0 AS x FROM optcomp_rows)")) == sorted((code,) for code in expected)
    keys = Table(frame, {"x": Categories([1, 2])})
    assert Counter(keys.run("SELECT c0 FROM optcomp_rows")) == {(0,): 1, (2,): 3}


@pytest.mark.parametrize("groups", [1, 2])
def test_missing_and_undeclared_categories_are_one_group(groups: int) -> None:
    """A histogram counts them in one cell, of which a person has no more rows than are declared."""
    people = pa.table({"who": ["eve"] * 4, "x": ["a", "z", None, ""]})
    bounds: dict[str, Any] = {"rows_per_person": 4, "groups_per_person": groups, "rows_per_group": 1}
    for number in range(8):
        key = bytes([number]) * 32
        table = Table(people, {"x": Categories(["a"])}, person="who", lot_key=key, **bounds)
        (counts,) = Histogram("x").measure(table)
        (part,) = Histogram("x").parts(table)
        assert max(counts) <= 1
        assert sum(counts) == groups
        assert sum(count * count for count in counts) <= part.l2_squared


@pytest.mark.parametrize(("kind", "most"), [("HUGEINT", 2**127 - 1), ("UHUGEINT", 2**128 - 1), ("UBIGINT", 2**64 - 1)])
def test_the_largest_integers_of_duckdb_are_large(kind: str, most: int) -> None:
    backend = ibis.duckdb.connect()
    backend.con.execute(f"CREATE TABLE t (who {kind}, x {kind})")
    backend.con.execute(f"INSERT INTO t VALUES (1, 1), ({most}, {most})")
    found = stored(backend.table("t"), {"x": Integers(0, 9)})
    assert found == {(identity(KEY, "1"), 1): 1, (identity(KEY, str(most)), 9): 1}


@pytest.mark.parametrize("domain", [Integers(2**53 - 1, 2**53 + 5), Categories([2**53, 2**53 + 1, 2**53 + 2])])
def test_text_of_integers_where_floats_end_is_read_as_the_integers_are(domain: Domain) -> None:
    whole = [sign * (2**53 + away) for away in range(-2, 7) for sign in (1, -1)]
    assert read(domain, pa.array(list(map(str, whole)))) == read(domain, pa.array(whole))
