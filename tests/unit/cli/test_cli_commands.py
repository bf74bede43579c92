"""What the commands print, in this process."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import optcomp as oc
from optcomp.cli.options import complete_format, complete_method
from optcomp.cli.sought_total import SoughtTotal
from optcomp.cli.theorems import complete_theorem
from optcomp.cli.writing.digits import decimal_ends, saving
from optcomp.composition import excess, published, shown_down, shown_up
from tests.unit.cli.in_process import invoke


def printed(command: str, text: str | None = None) -> str:
    result = invoke(command, text)
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    return result.stdout


def parsed(command: str, text: str | None = None) -> Any:
    return json.loads(printed(command, text))


def test_compose_json_is_the_bound() -> None:
    bound = oc.compose({oc.PureDP("0.1"): 50, oc.ApproxDP("0.2", "1e-9"): 50}, delta="1e-6")
    assert parsed("compose 0.1x50 0.2,1e-9x50 --delta 1e-6 --json") == bound.as_dict()


def test_items_and_file_together() -> None:
    view = parsed("compose 0.1x50 --from - --delta 1e-6 --json", "0.2,1e-9,50\n")
    assert view == parsed("compose 0.1x50 0.2,1e-9x50 --delta 1e-6 --json")


def test_compose_for_people() -> None:
    text = printed("compose 0.1x50 0.2,1e-9x50 --delta 1e-6")
    for words in ("8.000648273", "8.000648272", "1e-6", "100", "MV18-1.5, optimal composition", "46.6% saved"):
        assert words in text
    assert "\x1b" not in text


def test_compose_delta() -> None:
    view = parsed("compose 1/3x2 --epsilon 0.5 --json")
    assert view["quantity"] == "delta"
    assert view["upper"] == view["delta"] == pytest.approx(0.0521022673)
    assert "proves nothing: the ε_i add up to more than ε" in printed("compose 1/3x2 --epsilon 0.5")


def test_a_billion_mechanisms() -> None:
    view = parsed("compose 0.001x1000000000 --delta 1e-9 --json")
    assert view["count"] == 10**9
    assert view["upper"] == pytest.approx(688.75177)


def test_options_reach_the_library() -> None:
    command = "compose 0.1x20 0.2x20 --delta 1e-6 --json"
    assert parsed(f"{command} --method murtagh-vadhan --eta 0.5")["theorem"] == "MV18-1.7"
    assert parsed(f"{command} --adaptive")["theorem"] == "DKMMN06"
    assert "enclosure" in parsed(f"{command} --bits 100")
    assert parsed(f"{command} --rtol 1e-9")["count"] == 40


def test_infinite_answers_are_sentences() -> None:
    text = printed("compose 0.1,1e-9x50 --delta 1e-9")
    assert text.startswith("There is no finite ε at δ = 1e-9: δ is below the probability that some mechanism leaks")
    assert "total ε" not in text
    view = parsed("compose 0.1,1e-9x50 --delta 1e-9 --json")
    assert (view["epsilon"], view["upper"]) == (None, None)
    assert "δ = 1 promises nothing" in printed("compose 0.5x5 --epsilon 1 --method basic")
    assert "There is no finite ε" in printed("compare 0.1,1e-9x50 --delta 1e-9")


def test_bits_print_both_ends_whole() -> None:
    lower, upper = printed("compose 0.1x50 --delta 1e-6 --bits 400").splitlines()[-2:]
    assert lower.endswith(" ≤ ε")
    assert upper.endswith(" ≥ ε")
    digits = min(len(line.split()[0]) for line in (lower, upper))
    assert digits > 120
    assert lower[:100] == upper[:100]


def test_compare() -> None:
    view = parsed("compare 0.01x1000 --delta 1e-9 --json")
    bounds = oc.compare({oc.PureDP("0.01"): 1000}, delta="1e-9")
    assert view == {"bounds": [bound.as_dict() for bound in bounds], "count": 1000, "omitted": []}
    rows = [line for line in printed("compare 0.01x1000 --delta 1e-9").splitlines() if "│" in line]
    assert "best" in rows[1]
    assert [row.split("│")[4].strip() for row in rows[1:] if row.split("│")[4].strip()] == [b.theorem for b in bounds]


def test_compare_says_what_is_not_shown() -> None:
    command = "compare 0.1x5 0.2 --delta 1e-6"
    assert parsed(f"{command} --json")["omitted"] == [{"theorem": "DRV10", "reason": "needs equal ε, δ"}]
    assert printed(command).endswith("not shown: DRV10 (needs equal ε, δ)\n")
    fixed = "not shown: DRV10, Smith25-1.1, KOV15-3.5, MV18-1.5, MV18-1.7, CKS20 (needs ε, δ fixed in advance)"
    assert fixed in printed(f"{command} --adaptive")
    assert "not shown: MV18-1.7 (too large for a quick comparison)" in printed("compare 1x1000000 --delta 1e-6")
    assert "not shown: MV18-1.7 (adds nothing to what is shown)" in printed("compare 0.3 --delta 0")


def test_narrow_pages_lose_no_digits() -> None:
    result = invoke("compare 0.01x1000 --delta 1e-9", env={"COLUMNS": "30"})
    assert "1.782933" in result.stdout
    assert "…" not in result.stdout


@pytest.mark.parametrize(("columns", "headings"), [(60, 4), (79, 4), (80, 5), (104, 5), (120, 6)])
def test_narrow_terminals_get_fewer_columns(columns: int, headings: int) -> None:
    terminal = {"COLUMNS": str(columns), "TTY_COMPATIBLE": "1", "NO_COLOR": "1"}
    text = re.sub(r"\x1b\[\d*m", "", invoke("compare 0.01x1000 --delta 1e-9", env=terminal).stdout)
    assert "1.782933" in text
    assert max(map(len, text.splitlines())) <= columns
    assert next(line for line in text.splitlines() if "excess" in line).count("│") == headings + 1
    answer = invoke("compose 0.01x1000 --delta 1e-9", env=terminal).stdout
    assert ("(publish this)" in answer) == (columns < 90)


def test_sums_are_shown_as_a_person_writes_them() -> None:
    for items in ("0.3", "0.1x3", "0.2 0.1"):
        rows = printed(f"compose {items} --delta 0").splitlines()
        assert rows[1].split()[4] == "0.3"
        assert rows[2].split()[5] == "0.3"
    assert " 0.3 " in printed("compose 0.1x3 --delta 0 --adaptive")
    assert "0.7 " in next(row for row in printed("compare 0.1x5 0.2 --delta 1e-6").splitlines() if "DKMMN06" in row)


def test_short_decimals_below_the_float_need_a_proof() -> None:
    bound = oc.compose(["0.3"], delta=0)
    assert bound.upper > 0.3
    assert published(bound, lambda *_: True) == "0.3"
    assert published(bound, lambda *_: False) == "0.3000000001"
    asked = SoughtTotal(delta="0")
    assert asked.proves({oc.PureDP("0.3"): 1}, bound, Decimal("0.3"))
    assert not asked.proves({oc.PureDP("0.3"): 1}, bound, Decimal("0.2999999999"))


def test_one_mechanism_is_singular() -> None:
    assert printed("compare 0.1 --delta 1e-6").startswith("1 mechanism, ")


def test_wide_brackets_say_so() -> None:
    assert "bracket width" not in printed("compose 0.1x50 --delta 1e-6")
    row = next(
        row for row in printed("compose 0.1x50 --delta 1e-6 --method kov").splitlines() if "bracket width" in row
    )
    assert "%" in row


def test_theorems() -> None:
    listed = printed("theorems")
    assert all(record.id in listed for record in oc.known_theorems())
    assert {view["id"] for view in parsed("theorems --json")["theorems"]} == {
        record.id for record in oc.known_theorems()
    }


@pytest.mark.parametrize("record", oc.known_theorems(), ids=lambda record: record.id)
def test_theorem_in_full(record: oc.Theorem) -> None:
    words = " ".join(printed(f"theorems {record.id}").replace("│", " ").split())
    for text in (record.name, record.statement, record.hypotheses, record.source, *record.aliases):
        assert "".join(text.split()) in "".join(words.split())
    assert ("no smaller value holds" in words) == record.optimal
    assert parsed(f"theorems {record.id} --json")["source"] == record.source


def test_alias() -> None:
    assert "= MV18-1.4" in printed("theorems")
    assert parsed("theorems mv18-1.5 --json")["id"] == "MV18-1.5"
    assert parsed("theorems MV18-1.4 --json")["id"] == "KOV15-3.3"


def test_version_and_help() -> None:
    assert printed("--version") == f"optcomp {oc.__version__}\n"
    for command in ("", "--help", "-h"):
        assert all(
            name in printed(command)
            for name in ("compose", "compare", "theorems", "show", "figures", "--show-completion")
        )
    assert "optcomp compose 0.1x50 0.2,1e-9x50 --delta 1e-6" in printed("compose --help")


def test_flags_are_shown_as_flags() -> None:
    for command in ("", "compose", "compare", "theorems", "show", "figures", "verify"):
        assert "<bool>" not in printed(f"{command} --help")
    assert "infinite" not in printed("theorems --help")


def test_completion() -> None:
    assert complete_format("y") == ["yaml"]
    assert complete_method("mur") == ["murtagh-vadhan"]
    assert complete_theorem("MV18") == ["MV18-1.5", "MV18-1.7"]


@given(st.floats(0, 1e300), st.integers(1, 17))
def test_shown_numbers_are_on_the_safe_side(value: float, digits: int) -> None:
    assert float(shown_down(value, digits)) <= value <= float(shown_up(value, digits))
    assert float(shown_up(value, digits)) <= value * (1 + 11 * 10.0**-digits)


def test_percentages() -> None:
    assert excess(1.2, 1.0) == "+20%"
    assert excess(25.0, 1.0) == "×25"
    assert excess(0.0, 0.0) == "+0%"
    assert excess(math.inf, 1.0) == excess(1.0, 0.0) == "—"
    assert saving(8.0, 15.0) == "46.6%"


def test_decimal_ends_are_as_long_as_the_bits() -> None:
    bound = oc.compose({oc.PureDP("0.1"): 50}, delta="1e-6", bits=64)
    lower, upper = decimal_ends(bound, 64)
    assert float(lower) <= float(upper)
    assert len(upper) >= 20
