"""Items and files: the same mechanisms however they are written, and numbers exactly as written."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import optcomp as oc
from optcomp.cli.reading.files import entries_from
from optcomp.cli.reading.items import entry_of
from optcomp.composition.reading import read_parts
from optcomp.reading import Format, entries_of, sniff, tally

EXAMPLES = Path(__file__).parents[3] / "examples"
EXPECTED = {oc.PureDP("0.1"): 3, oc.ApproxDP("0.2", "1e-9"): 50}

SAME = {
    "header": (Format.CSV, "epsilon,delta,count\n0.1,,3\n0.2,1e-9,50\n"),
    "any case, more columns": (Format.CSV, 'Name,COUNT,Epsilon,δ\n"a, b",3,0.1,\nc,50,0.2,1e-9\n'),
    "words under any name": (Format.CSV, "county,epsilon,id,delta,count\nKent,0.1,a1,,3\n,0.2,2,1e-9,50\n"),
    "comments, blanks, whole floats": (Format.CSV, "# made by hand\n\nepsilon,delta,count\n0.1,,3.0\n\n0.2,1e-9,5e1\n"),
    "no header": (Format.CSV, "0.1\n0.1\n0.1,0\n0.2,1e-9,50\n"),
    "semicolons": (Format.CSV, "eps;delta;count\n0.1;;3\n0.2;1e-9;50\n"),
    "tabs and CRLF": (Format.CSV, "epsilon\tdelta\tcount\r\n0.1\t\t3\r\n0.2\t1e-9\t50\r\n"),
    "JSON objects": (Format.JSON, '[{"epsilon": 0.1, "count": 3}, {"Epsilon": "0.2", "delta": 1e-9, "count": 50}]'),
    "JSON mixed": (Format.JSON, '[0.1, "0.1", [0.1, 0], [0.2, 1e-9, 50]]'),
    "JSON null": (Format.JSON, '[{"epsilon": 0.1, "delta": null, "count": 3}, [0.2, 1e-9, 50]]'),
    "YAML mappings": (
        Format.YAML,
        "- {epsilon: 0.1, count: 3, delta: ~}\n- epsilon: 0.2\n  delta: 1e-9\n  count: 50\n",
    ),
    "JSON words": (
        Format.JSON,
        '[{"epsilon": 0.1, "count": 3, "tags": ["a"], "on": "2026-01-01"}, [0.2, 1e-9, 50]]',
    ),
    "YAML mixed": (Format.YAML, "# by hand\n- 0.1\n- '0.1'\n- [0.1, 0]\n- [0.2, 1e-9, 50]\n"),
    "YAML document": (Format.YAML, "---\n- {epsilon: 0.1, count: 3, name: a}\n- [0.2, 1e-9, 50]\n"),
}


@pytest.mark.parametrize(("format", "text"), SAME.values(), ids=SAME)
def test_same_mechanisms(format: Format, text: str) -> None:
    assert sniff(text) == format
    assert read_parts(tally(entries_of(text, format, "file"))) == read_parts(EXPECTED)


@pytest.mark.parametrize("format", Format)
def test_decimals_stay_exact(format: Format) -> None:
    text = {Format.CSV: "0.1,1e-9", Format.JSON: "[[0.1, 1e-9]]", Format.YAML: "- [0.1, 1e-9]"}[format]
    (guarantee,) = tally(entries_of(text, format, "file"))
    assert guarantee == oc.ApproxDP(Fraction(1, 10), Fraction(1, 10**9))


def test_items() -> None:
    items = ["0.1", "0.1x2", " 0.2 , 1e-9 x 5e1", "1/3X1000000000", "0.5×0"]
    assert tally(map(entry_of, items)) == {
        oc.PureDP("0.1"): 3,
        oc.ApproxDP("0.2", "1e-9"): 50,
        oc.PureDP(Fraction(1, 3)): 10**9,
        oc.PureDP("0.5"): 0,
    }


@given(
    st.lists(st.tuples(st.fractions(0, 5), st.fractions(0, Fraction(1, 2)), st.integers(0, 10**9)), max_size=6),
    st.sampled_from(["item", *Format]),
)
def test_written_and_read_back(mechanisms: list[tuple[Fraction, Fraction, int]], way: str) -> None:
    rows = [(str(eps), str(delta), str(count)) for eps, delta, count in mechanisms]
    if way == "item":
        entries = [entry_of(f"{eps},{delta}x{count}") for eps, delta, count in rows]
    else:
        lines = {
            "csv": "\n".join(["epsilon,delta,count", *(",".join(row) for row in rows)]),
            "json": "[" + ",".join('["{}", "{}", {}]'.format(*row) for row in rows) + "]",
            "yaml": "\n".join("- [{}, {}, {}]".format(*row) for row in rows) or "[]",
        }
        entries = list(entries_of(lines[way], Format(way), "file"))
    expected: dict[oc.ApproxDP, int] = {}
    for eps, delta, count in mechanisms:
        guarantee = oc.ApproxDP(eps, delta)
        expected[guarantee] = expected.get(guarantee, 0) + count
    assert tally(entries) == expected


def test_format_by_name_content_or_order(tmp_path: Path) -> None:
    for name, text in {
        "a.YML": "[0.1, 0.2]",
        "b.txt": "- 0.1\n- 0.2\n",
        "c.json": "[0.1, 0.2]",
        "d": "0.1\n0.2\n",
    }.items():
        (tmp_path / name).write_text(text)
        assert len(list(entries_from(str(tmp_path / name), None))) == 2
    (tmp_path / "misnamed.csv").write_text("\ufeff[0.1, 0.2]", encoding="utf-8")
    assert len(list(entries_from(str(tmp_path / "misnamed.csv"), Format.JSON))) == 2


def test_examples_agree() -> None:
    small = [tally(entries_from(str(EXAMPLES / f"release.{kind}"), None)) for kind in ("json", "yaml")]
    assert small[0] == small[1]
    assert sum(small[0].values()) == 28
    rows = list(entries_from(str(EXAMPLES / "release.csv"), None))
    assert len(rows) == 42
    assert sum(tally(rows).values()) == 152
