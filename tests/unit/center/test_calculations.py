"""What the calculator computes is what the library proves; what cannot be read is told by its field."""

from __future__ import annotations

import math
import time
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

import optcomp as oc
from optcomp.center.calculations import ROWS, Wrong, answer, asked_of, certificate, compared, read_file
from optcomp.center.calculators import perform
from optcomp.center.curves import curves, spread
from optcomp.checker import check
from optcomp.reading import KINDS, MechanismCounts

PAIRS: MechanismCounts = {oc.PureDP("0.1"): 50, oc.ApproxDP("0.2", "1e-9"): 50}
MIXED: MechanismCounts = {**PAIRS, oc.Gaussian(4): 100}
TEXTS: dict[str, Any] = {"0.1x50 0.2,1e-9x50": PAIRS, "0.1x50\n0.2, 1e-9 x50; gaussian(sigma=4)x100": MIXED}


def asked(**given: Any) -> dict[str, Any]:
    return {"mechanisms": "", "sought": "epsilon", "at": "1e-6"} | given


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(("sought", "at"), [("epsilon", "1e-6"), ("epsilon", "1/3"), ("delta", "3")])
def test_the_answer_is_the_library_s_rounded_outwards(text: str, sought: str, at: str) -> None:
    given = {"delta": at} if sought == "epsilon" else {"epsilon": at}
    truth = oc.compose(TEXTS[text], **given)  # type: ignore[arg-type]
    bound = answer(asked(mechanisms=text, sought=sought, at=at))["bound"]
    lower, upper = Fraction(bound["lower"]), Fraction(bound["upper"])
    assert lower <= Fraction(truth.lower) <= Fraction(truth.upper) <= upper
    assert upper <= Fraction(truth.upper) * (1 + Fraction(1, 10**8))
    assert (bound["theorem"], bound["count"]) == (truth.theorem, truth.count)
    assert bound["statement"] == oc.theorem(truth.theorem).statement


def test_what_is_proved_exactly_is_said_so() -> None:
    bound = answer(asked(mechanisms="0.1x3", at="0"))["bound"]
    assert bound["upper"] == "0.3"
    assert oc.compose([oc.PureDP("0.1")] * 3, epsilon="0.3").upper == 0


def test_text_rows_and_training_are_added_up() -> None:
    rows = [
        {"kind": "pair", "first": "0.1", "second": "", "count": "5"},
        {"kind": "pair", "first": "0.2", "second": "1e-9", "count": ""},
        {"kind": "pair", "first": "", "second": "", "count": ""},
        {"kind": "sampled-laplace", "first": "2", "second": "0.5", "count": "3"},
        {"kind": "gaussian", "first": "4", "second": "2", "count": "7"},
    ]
    training = {"rate": "0.01", "noise": "1.5", "steps": "20"}
    found = asked_of(asked(mechanisms="0.1", rows=rows, training=training)).counts
    assert found == {
        oc.PureDP("0.1"): 6,
        oc.ApproxDP("0.2", "1e-9"): 1,
        oc.PoissonSubsampled(oc.Laplace(2), "0.5"): 3,
        oc.Gaussian(4, 2): 7,
        oc.PoissonSubsampled(oc.Gaussian("1.5"), "0.01"): 20,
    }


def test_every_kind_of_the_command_line_is_a_row() -> None:
    known = {kind.name: [parameter.name for parameter in kind.parameters] for kind in KINDS}
    rows = {name.replace("_", "-"): list(names) for key, (name, names) in ROWS.items() if not key.startswith("sampled")}
    rows.pop("")
    for name in ("subsampled", "without-replacement"):  # of another mechanism: rows for it, or words
        known.pop(name)
    assert rows == known
    numbers = {"order": "2", "answers": "3", "rho": "0.01", "omega": "20", "delta": "1e-9", "epsilon": "0.1"}
    for kind, (_, names) in ROWS.items():
        first, second = [*(numbers.get(name, "0.5") for name in names), ""][:2]
        second = "1" if names[-1] == "sensitivity" else second
        made = asked_of(asked(rows=[{"kind": kind, "first": first, "second": second, "count": "2"}])).counts
        assert list(made.values()) == [2], kind


def test_the_comparison_is_the_library_s() -> None:
    found = compared(asked(mechanisms="0.1x50 0.2,1e-9x50"))
    truth = oc.compare(PAIRS, delta="1e-6")
    assert [row["theorem"] for row in found["rows"]] == [bound.theorem for bound in truth]
    for row, bound in zip(found["rows"], truth, strict=True):
        assert Fraction(row["lower"]) <= Fraction(bound.lower)
        assert Fraction(row["upper"]) >= Fraction(bound.upper)
    assert {"theorem": "DRV10", "name": "advanced composition", "reason": "needs equal ε, δ"} in found["left_out"]


def test_every_point_of_a_curve_is_proved() -> None:
    found = curves(asked(mechanisms="0.1x50 0.2,1e-9x50"), 3600.0)
    assert all(curve["whole"] for curve in found.values())
    for name, curve in found.items():
        assert curve["curves"][0]["method"] == "auto"
        for point in curve["points"]:
            if name == "k":
                continue
            given = {name: point["label"]}
            truth = oc.compose(PAIRS, **given)
            if truth.upper == math.inf:
                assert point["upper"]["auto"] == "∞"
                continue
            assert Fraction(point["lower"]) <= Fraction(truth.lower), name
            assert Fraction(point["upper"]["auto"]) >= Fraction(truth.upper), name
    whole = found["k"]["points"][-1]
    assert whole["x"] == 100
    assert whole["y"]["auto"] == oc.compose(PAIRS, delta="1e-6").upper
    assert whole["y"]["basic"] == oc.compose(PAIRS, delta="1e-6", method="basic").upper


def test_curves_end_in_time() -> None:
    slow = asked(training={"rate": "0.01", "noise": "1", "steps": "1000"})
    begun = time.process_time()
    found = curves(slow, 0.0, cost=0.2)
    assert time.process_time() - begun < 60
    assert not any(curve["points"] or curve["whole"] for curve in found.values())


def test_points_are_spread() -> None:
    for number in range(30):
        assert sorted(spread(number)) == list(range(number))
    assert list(spread(13))[:3] == [12, 6, 0]


def test_a_certificate_says_the_claim() -> None:
    found = certificate(asked(mechanisms="0.1x50 0.2,1e-9x50"))["certificate"]
    assert found == oc.compose(PAIRS, delta="1e-6").certificate()
    assert check(found).proved
    with pytest.raises(Wrong, match="certificates cover only"):
        certificate(asked(mechanisms="zcdp(0.1)"))


def test_an_answer_that_is_wide_says_why() -> None:
    bound = answer(asked(mechanisms="zcdp(0.1)"))["bound"]
    assert bound["why_wide"].startswith("Relative width 0.07")
    assert "which mechanism is the worst" in bound["why_wide"]
    assert not answer(asked(mechanisms="0.1x50"))["bound"]["why_wide"]


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"mechanisms": "name-and-shame(0.1)"}, "none"),
        ({"mechanisms": "5x1000", "sought": "delta", "at": "1"}, "one"),
        ({"mechanisms": "0.1"}, ""),
    ],
)
def test_an_answer_that_promises_nothing_says_so(given: dict[str, Any], word: str) -> None:
    assert answer(asked(**given))["bound"]["useless"] == word


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("epsilon,delta,count\n0.1,,50\n0.2,1e-9,50\n", "csv"),
        ('[{"epsilon": 0.1, "count": 50}, {"epsilon": 0.2, "delta": 1e-9, "count": 50}]', "json"),
        ("- {epsilon: 0.1, count: 50}\n- {epsilon: 0.2, delta: 1e-9, count: 50}\n", "yml"),
        ("- {epsilon: 0.1, count: 50}\n- {epsilon: 0.2, delta: 1e-9, count: 50}\n", "txt"),
    ],
)
def test_a_file_becomes_text_that_means_the_same(text: str, ending: str) -> None:
    found = read_file(text, ending)
    assert found["count"] == 100
    assert asked_of(asked(mechanisms=found["mechanisms"])).counts == PAIRS


BOMB = "- &a {epsilon: 1, x: &b [" + ", ".join(["n"] * 5000) + "]}\n" + "- *a\n" * 5000
HOSTILE: list[tuple[dict[str, Any], str]] = [
    ({"mechanisms": "nan"}, "mechanisms"),
    ({"mechanisms": "infx3"}, "mechanisms"),
    ({"mechanisms": "1e999999999"}, "mechanisms"),
    ({"mechanisms": "0.1x99999999999999999999"}, "mechanisms"),
    ({"mechanisms": "9" * 5000}, "mechanisms"),
    ({"mechanisms": "(" * 5000}, "mechanisms"),
    ({"mechanisms": "gaussian(" * 1000 + ")" * 1000}, "mechanisms"),
    ({"mechanisms": "<script>alert(1)</script>"}, "mechanisms"),
    ({"mechanisms": "0.1\x00"}, "mechanisms"),
    ({"mechanisms": "0.1", "at": "nan"}, "at"),
    ({"mechanisms": "0.1", "at": ""}, "at"),
    ({"mechanisms": "0.1", "at": "-1"}, "at"),
    ({"mechanisms": "0.1", "at": "2"}, "at"),
    ({"mechanisms": "0.1", "at": "1e-99999999"}, "at"),
    ({"mechanisms": "0.1", "sought": "money"}, "sought"),
    ({"mechanisms": "0.1 gaussian(4)", "adaptive": True}, "mechanisms"),
    ({"rows": [{"kind": "gaussian", "first": "4)x100", "second": "", "count": "1"}]}, "row-1"),
    ({"rows": [{"kind": "pair", "first": "", "second": "1e-9", "count": "1"}]}, "row-1"),
    ({"rows": [{"kind": "nothing", "first": "1", "second": "", "count": ""}]}, "row-1"),
    ({"training": {"rate": "0.1", "noise": "1", "steps": ""}}, "training"),
    ({"training": {"rate": "2", "noise": "1", "steps": "10"}}, "training"),
]


@pytest.mark.parametrize(("given", "field"), HOSTILE)
def test_what_cannot_be_used_is_told_quickly_and_by_its_field(given: dict[str, Any], field: str) -> None:
    begun = time.process_time()
    found = perform("answer", {"given": asked(**given)})
    assert found["error"] == field
    assert time.process_time() - begun < 60
    words = found["words"]
    assert "--" not in words
    assert "rtol" not in words
    assert "Traceback" not in words


@pytest.mark.parametrize("text", [BOMB, "[" * 100_000, "", "# nothing\n", "a,b\n1,2\n", '"', "\x00", "{a: [}"])
@pytest.mark.parametrize("ending", ["csv", "json", "yaml", ""])
def test_a_file_that_cannot_be_used_is_told_quickly(text: str, ending: str) -> None:
    begun = time.process_time()
    found = perform("read_file", {"text": text, "ending": ending})
    assert found["error"] == "file"
    assert time.process_time() - begun < 60


@pytest.mark.parametrize("text", ["0.001x1000000000", "gaussian(sigma=1000)x1000000000", "0.1x1000000000000000"])
def test_very_many_mechanisms_are_no_trouble(text: str) -> None:
    begun = time.process_time()
    found = answer(asked(mechanisms=text))["bound"]
    assert Decimal(found["upper"]) > 0
    assert time.process_time() - begun < 60


@pytest.mark.parametrize(
    ("sought", "at", "end"), [("delta", "2", 2.5), ("delta", "0", 10.0), ("epsilon", "1e-6", None)]
)
def test_the_curve_over_epsilon_ends_a_little_beyond_the_answer(sought: str, at: str, end: float | None) -> None:
    """From 0 to 1.25 times the ε that was given or found, rounded to two digits a step; to 10 where there is none."""
    question = asked(mechanisms="0.1x50", sought=sought, at=at)
    places = [float(point["x"]) for point in curves(question, 3600.0)["epsilon"]["points"]]
    wanted = end or 1.25 * oc.compose([oc.PureDP("0.1")] * 50, delta=at).upper
    assert places[0] == 0
    assert places == sorted(places)
    assert places[-1] == pytest.approx(wanted, rel=0.05)
