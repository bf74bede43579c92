"""Plans as text: numbers stay exact, nothing is guessed, nothing is given twice, nothing grows without end."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optcomp import InvalidInput
from optcomp.planner import read_file
from optcomp.planner.source import MOST_VALUES, dumped, load, parsed
from tests.plans import every_kind, example, small

SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.text(max_size=20).filter(str.isprintable)
)
DOCUMENTS = st.dictionaries(
    st.text(max_size=8).filter(str.isprintable),
    st.recursive(
        SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc.", max_size=3), inner)
    ),
    max_size=5,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", "0.1"),
        ("1e-6", "1e-6"),
        ("1/3", "1/3"),
        (".5", ".5"),
        ("60_000", 60000),
        ("-3", -3),
        ("007", "007"),
        ("0x10", "0x10"),
        ("1:30", "1:30"),
        ("no", "no"),
        ("on", "on"),
        ("true", True),
        ("2024-01-31", "2024-01-31"),
        (".nan", ".nan"),
        ("~", None),
        ("", None),
        ("'5'", "5"),
    ],
)
def test_scalars(text: str, value: object) -> None:
    found = parsed(f"a: {text}", "plan")["a"]
    assert found == value
    assert type(found) is type(value)


def test_json_has_the_same_numbers() -> None:
    assert parsed('{"a": 0.1, "b": 1e-6, "c": 3, "d": NaN}', "plan", as_json=True) == {
        "a": "0.1",
        "b": "1e-6",
        "c": 3,
        "d": "NaN",
    }


@given(DOCUMENTS)
def test_what_is_written_is_read_again(document: dict[str, Any]) -> None:
    assert parsed(dumped(document), "plan") == document


@pytest.mark.parametrize("document", [example(), small(), every_kind()], ids=["example", "small", "every kind"])
def test_plans_survive_writing(document: dict[str, Any]) -> None:
    text = dumped(document)
    assert parsed(text, "plan") == document
    assert all(text.isdigit() for text in re.findall("'(.*?)'", text))  # only what would be read as integers


def test_what_is_shared_is_written_out() -> None:
    edges = [0, 50, 99]
    text = dumped({"a": {"edges": edges}, "b": {"edges": edges}})
    assert "&" not in text
    assert parsed(text, "plan") == {"a": {"edges": edges}, "b": {"edges": edges}}


def test_references_may_be_used() -> None:
    assert parsed("a: &e [1, 2]\nb: *e\n", "plan") == {"a": [1, 2], "b": [1, 2]}


LAUGHS = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\na: 2\n", "p.yaml, line 2: is given twice, got 'a: 2'"),
        ("a: {b: 1, b: 2}\n", "p.yaml, line 1: is given twice, got 'a: {b: 1, b: 2}'"),
        ("a: [1\n", "p.yaml, line 2: expected ',' or ']', but got '<stream end>', got 'a: [1'"),
        ("a: b: c\n", "p.yaml, line 1: mapping values are not allowed here, got 'a: b: c'"),
        ("\ta: 1\n", "p.yaml, line 1: found character '\\t' that cannot start any token, got 'a: 1'"),
        ("a: *b\n", "p.yaml, line 1: found undefined alias 'b', got 'a: *b'"),
        ("&a [*a]\n", "p.yaml: must not contain itself, got 'a reference'"),
        ("a: 1\n---\nb: 2\n", "p.yaml, line 2: but found another document, got '---'"),
        ("? {a: 1}\n: 2\n", "p.yaml, line 1: found unhashable key, got '? {a: 1}'"),
        (
            "\x00",
            "p.yaml: is not YAML (unacceptable character #x0000: special characters are not allowed), got '\\x00'",
        ),
        (LAUGHS, f"p.yaml: must hold at most {MOST_VALUES} values, got {LAUGHS[:60]!r}"),
        ("[" * 5000, f"p.yaml: is nested too deeply, got {'[' * 60!r}"),
    ],
    ids=range(12),
)
def test_refused(text: str, line: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parsed(text, "p.yaml")
    assert str(refusal.value) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"a": 1, "a": 2}', "p.json: must not be given twice, got 'a'"),
        ('{"a": 1,\n}', "p.json, line 2: is not JSON (Illegal trailing comma before end of object), got '}'"),
        ('{"a"', "p.json, line 1: is not JSON (Expecting ':' delimiter), got '{\"a\"'"),
        ("[" * 100_000, f"p.json: is nested too deeply, got {'[' * 60!r}"),
    ],
    ids=range(4),
)
def test_refused_json(text: str, line: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parsed(text, "p.json", as_json=True)
    assert str(refusal.value).replace("Expecting property name enclosed in double quotes", "") in (
        line,
        line.replace("Illegal trailing comma before end of object", ""),
    )


def test_objects_of_python_are_never_made() -> None:
    with pytest.raises(InvalidInput, match="could not determine a constructor"):
        parsed("a: !!python/object/apply:os.system ['true']\n", "p.yaml")


def test_endless_integers_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"p\.yaml: cannot be read"):
        parsed("a: " + "9" * 5000, "p.yaml")


def test_files(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(json.dumps(small()), encoding="utf8")
    assert load(tmp_path / "p.json") == small()
    (tmp_path / "p.yaml").write_text("﻿plan: 1\n", encoding="utf8")
    assert load(tmp_path / "p.yaml") == {"plan": 1}
    (tmp_path / "latin").write_bytes(b"\xe9")
    for name, problem in (("none", r"No such file"), ("latin", "is not text in UTF-8"), (".", "directory")):
        with pytest.raises(InvalidInput, match=problem):
            load(tmp_path / name)


def test_a_path_may_be_text(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(dumped(small(), as_json=True))
    assert read_file(str(tmp_path / "p.json")).wishes == read_file(tmp_path / "p.json").wishes
    for wrong in (small(), None, 3, b"p.yaml"):
        with pytest.raises(InvalidInput, match=f"path: must be the path of a YAML or .*{type(wrong).__name__}"):
            read_file(wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_file("p.yaml")
