"""The chain by its formula, written a second time with hashlib and json; every kind of damage is found where it is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optcomp import InvalidInput
from optcomp.ledger.chain import Broken, Entry, canonical, commitment, first_head, follow, new_salt, next_head

LEDGER = "0f3b"
TEXTS = st.text(max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def plain(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def plain_head(head: str, row: list[object]) -> str:
    return hashlib.sha256((head + "\n" + plain(row)).encode("ascii")).hexdigest()


def made(count: int) -> list[tuple[Entry, str]]:
    """A chain of so many entries, by the plain formula."""
    head, rows = hashlib.sha256(b"optcomp-ledger\n" + LEDGER.encode()).hexdigest(), []
    for n in range(1, count + 1):
        entry = Entry(n, f"2026-01-01T00:00:{n:02}Z", "debit", n % 3 or None, plain({"é": str(n)}))
        head = plain_head(head, [n, entry.at, entry.kind, entry.account, entry.body])
        rows.append((entry, head))
    return rows


def broken(rows: Any, **options: Any) -> tuple[int, str]:
    """Where and why it breaks."""
    with pytest.raises(Broken) as caught:
        list(follow(rows, first_head(LEDGER), **options))
    assert str(caught.value) == f"entry {caught.value.sequence}: {caught.value.reason}"
    return caught.value.sequence, caught.value.reason


@given(VALUES)
def test_canonical_is_plain_json(value: object) -> None:
    assert canonical(value) == plain(value)
    assert canonical(value).isascii()
    assert json.loads(canonical(value)) == value


def test_the_order_of_keys_does_not_count() -> None:
    assert canonical({"b": 1, "a": (True, None)}) == canonical({"a": [True, None], "b": 1}) == '{"a":[true,null],"b":1}'


@pytest.mark.parametrize(
    ("value", "place", "kind"),
    [
        (0.5, "value", "float"),
        (float("nan"), "value", "float"),
        ({"a": [1, {"b": 37.25}]}, "value.a[1].b", "float"),
        ([np.float64(1)], "value[0]", "float64"),
        ([np.int64(1)], "value[0]", "int64"),
        (Fraction(1, 2), "value", "Fraction"),
        (Decimal("0.5"), "value", "Decimal"),
        (b"text", "value", "bytes"),
        ({1, 2}, "value", "set"),
        ({1: "one"}, "value", "int"),
        ({"a": {None: 1}}, "value.a", "NoneType"),
        ([10**4300], "value[0]", "int"),
    ],
)
def test_what_has_no_exact_json_is_refused_and_not_shown(value: object, place: str, kind: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        canonical(value)
    assert (caught.value.argument, caught.value.value) == (place, kind)
    assert "37.25" not in str(caught.value)


def test_the_longest_number() -> None:
    assert canonical(-(10**4300) + 1) == "-" + "9" * 4300


def test_the_first_head_is_fixed() -> None:
    assert first_head(LEDGER) == hashlib.sha256(b"optcomp-ledger\n0f3b").hexdigest()
    assert first_head(LEDGER) == "5d8b05c40e1a4defab5d3c5e68547e80e3bb244b26f2a595fee064a6f835ed2e"


def test_a_head_is_fixed() -> None:
    """Receipts hold such heads: this number stays as it is in every version."""
    head = next_head(first_head(LEDGER), 1, "2026-01-01T00:00:00Z", "open", None, '{"cap":"3"}')
    assert head == "17923001a7ceb52ca98984f6916fca6f2aefde3de97ac9ea5e580658a74919e1"


@given(st.integers(), TEXTS, TEXTS, st.none() | st.integers(), VALUES)
def test_next_head_is_the_plain_formula(sequence: int, at: str, kind: str, account: int | None, body: object) -> None:
    head, text = first_head("x"), plain(body)
    assert next_head(head, sequence, at, kind, account, text) == plain_head(head, [sequence, at, kind, account, text])


def test_fields_cannot_run_into_each_other() -> None:
    head = first_head(LEDGER)
    heads = {
        next_head(head, 1, "a", "b", None, "c"),
        next_head(head, 1, 'a","b', "", None, "c"),
        next_head(head, 1, "a", "b", None, "c]"),
        next_head(head, 1, "a", 'b",null,"c', None, ""),
        next_head(head, 11, "a", "b", None, "c"),
        next_head(head, 1, "a", "b", 0, "c"),
    }
    assert len(heads) == 6


def test_commitments() -> None:
    salt = new_salt()
    assert len(bytes.fromhex(salt)) == 32
    assert len({new_salt() for _ in range(100)}) == 100
    assert commitment(salt, "42 é") == hashlib.sha256(salt.encode() + b"\n42 \xc3\xa9").hexdigest()


@pytest.mark.parametrize("salt", ["", "ab", "A" * 64, "0" * 63 + "\n", "0" * 64 + "\n", "0" * 66])
def test_a_salt_of_another_form_is_refused(salt: str) -> None:
    with pytest.raises(InvalidInput, match="32 bytes in hex"):
        commitment(salt, "secret answer")


def test_a_text_that_cannot_be_written_is_not_shown() -> None:
    with pytest.raises(InvalidInput, match="UTF-8") as caught:
        commitment(new_salt(), "secret\ud800")
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_an_entry_cannot_change() -> None:
    with pytest.raises(FrozenInstanceError):
        made(1)[0][0].body = "{}"  # type: ignore[misc]


def test_a_whole_chain_is_followed() -> None:
    rows = made(20)
    assert list(follow(rows, first_head(LEDGER), end=(20, rows[-1][1]))) == [entry for entry, _ in rows]
    assert list(follow([], first_head(LEDGER), end=(0, first_head(LEDGER)))) == []


def test_a_part_of_a_chain_is_followed_from_a_head_that_is_known() -> None:
    rows = made(20)
    assert len(list(follow(rows[7:], rows[6][1], after=7, end=(20, rows[-1][1])))) == 13


def test_rows_are_read_one_by_one() -> None:
    asked = []

    def rows() -> Iterator[tuple[Entry, str]]:
        for row in made(5):
            asked.append(row)
            yield row

    walk = follow(rows(), first_head(LEDGER))
    assert next(walk).sequence == 1
    assert len(asked) == 1


CHANGES: list[dict[str, Any]] = [{"at": "2027"}, {"kind": "credit"}, {"account": 7}, {"body": "{}"}]


@pytest.mark.parametrize("n", [1, 5, 9])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_a_changed_entry(change: dict[str, Any], n: int) -> None:
    rows = made(10)
    rows[n - 1] = replace(rows[n - 1][0], **change), rows[n - 1][1]
    assert broken(rows) == (n, "it was changed, or one before it was taken away")


def test_a_changed_last_entry() -> None:
    rows = made(10)
    rows[9] = replace(rows[9][0], body="{}"), rows[9][1]
    assert broken(rows) == (10, "it does not fit its head")


def test_a_changed_head() -> None:
    rows = made(10)
    rows[4] = rows[4][0], "0" * 64
    assert broken(rows) == (5, "its head was changed")


def test_missing_entries() -> None:
    rows = made(10)
    assert broken(rows[:3] + rows[4:]) == (4, "it is missing")
    assert broken(rows[:3] + rows[6:]) == (4, "entries 4 to 6 are missing")
    assert broken(rows[1:]) == (1, "it is missing")
    assert broken(rows[:3] + rows[2:]) == (4, "another entry stands in its place")


def test_a_missing_entry_whose_numbers_were_closed_up() -> None:
    rows = made(10)
    closed = rows[:3] + [(replace(entry, sequence=entry.sequence - 1), head) for entry, head in rows[4:]]
    assert broken(closed)[0] == 4


def test_two_entries_that_changed_places() -> None:
    rows = made(10)
    (one, head), (two, other) = rows[3:5]
    rows[3:5] = [(replace(two, sequence=4), head), (replace(one, sequence=5), other)]
    assert broken(rows)[0] == 4


def test_another_ledger() -> None:
    with pytest.raises(Broken, match="entry 1: "):
        list(follow(made(3), first_head("another")))


def test_a_chain_that_ends_elsewhere() -> None:
    rows = made(10)
    end = 10, rows[9][1]
    assert broken(rows[:9], end=end) == (10, "it is missing")
    assert broken(rows[:7], end=end) == (8, "entries 8 to 10 are missing")
    assert broken([], end=end) == (1, "entries 1 to 10 are missing")
    assert broken(rows, end=(8, rows[7][1])) == (9, "the chain should end at entry 8")
    assert broken(rows, end=(10, "0" * 64)) == (10, "the chain ends in another head")


@pytest.mark.parametrize("change", [{"at": 3}, {"kind": None}, {"account": "7"}, {"body": b"{}"}])
def test_values_of_another_type(change: dict[str, Any]) -> None:
    rows = made(10)
    rows[4] = replace(rows[4][0], **change), rows[4][1]
    assert broken(rows) == (5, "it holds a value of another type than was written")


def test_the_first_of_two_breaks_is_told() -> None:
    rows = made(10)
    rows[4] = replace(rows[4][0], body="{}"), rows[4][1]
    rows[5] = replace(rows[5][0], account="7"), rows[5][1]  # type: ignore[arg-type]
    assert broken(rows) == (5, "it does not fit its head")


@given(st.integers(0, 9), st.integers(0, 10**6), st.sampled_from(["at", "kind", "body"]))
def test_one_character_anywhere(n: int, place: int, name: str) -> None:
    rows = made(10)
    entry, head = rows[n]
    text = getattr(entry, name)
    place %= len(text)
    changed = text[:place] + ("x" if text[place] != "x" else "y") + text[place + 1 :]
    rows[n] = replace(entry, **{name: changed}), head
    assert broken(rows)[0] == n + 1
