"""Questions to mechanisms and their answers without code: a form asks what it was made of."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import pytest

from optcomp import InvalidInput
from optcomp.interactive import (
    Checked,
    Estimate,
    PrivateMultiplicativeWeights,
)
from optcomp.statistics import Count, Mean, Sum
from tests.unit.interactive.runs import ALL_MECHANISMS, MECHANISMS, TABLE, RepeatedNoise, asked, through_json


@pytest.mark.parametrize("name", ALL_MECHANISMS)
def test_a_form_asks_what_it_was_made_of(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the noise is: with the same noise, the same answers and states."""
    mechanism, noise = ALL_MECHANISMS[name], RepeatedNoise(monkeypatch)
    found = []
    for by_form in (False, True):
        if by_form:
            noise.again()
        run, rng, answers = mechanism.start(TABLE), Random(4), []
        for _ in range(15):
            question = asked(mechanism, rng)
            if not getattr(run, "positives_left", 1) or not getattr(run, "corrections_left", 1):
                break
            if by_form:
                form = through_json(run.form(*question))
                again = mechanism.form(TABLE.declared, *question) if isinstance(question[0], str) else form
                assert again == form
                answers.append(run.ask_form(form))
            else:
                answers.append(run.ask(*question))
        found.append((answers, run.state()))
    assert found[0] == found[1]
    assert noise.all_drawn()


def test_forms() -> None:
    sparse, checked, weights = (MECHANISMS[name].start(TABLE) for name in ("sparse", "checked", "weights"))
    assert sparse.form(Count("age > 3")) == {"statistic": {"count": "rows", "where": "age > 3"}}
    assert sparse.form(statistic=Sum("age")) == {"statistic": {"sum": "age"}}
    assert checked.form(Count(), "10.4") == {"statistic": {"count": "rows"}, "guess": 10}
    assert checked.form(Count(), guess=Fraction(21, 2)) == checked.form(Count(), 10.5)
    assert weights.form([1, 0.5, 1 / 4096]) == {"weights": [4096, 2048, 1]}
    assert weights.form(lambda label: label == ("south",)) == {"weights": [0, 4096, 0]}
    assert weights.form(" region == 'south' ") == {"where": "region == 'south'"}


BAD_FORMS: dict[str, list[Any]] = {
    "sparse": [
        None,
        {},
        {"statistic": "count"},
        {"statistic": {"mean": "age"}},
        {"statistic": {"count": "rows"}, "guess": 1},
        {"statistic": {"sum": "age"}},  # more sensitive than was paid for
        {"statistic": {"count": "rows", "where": "height > 3"}},
    ],
    "checked": [
        {"statistic": {"count": "rows"}},
        {"guess": 1},
        {"statistic": {"count": "rows"}, "guess": "many"},
        {"statistic": {"count": "rows"}, "guess": True},
        {"statistic": {"count": "rows"}, "guess": 1e30},
        {"statistic": {"mean": "age"}, "guess": 1},
    ],
    "weights": [
        [4096, 0, 0],
        {},
        {"weights": [4096, 0]},
        {"weights": [4096, 0, True]},
        {"weights": [4096, 0, 0.5]},
        {"weights": [4096, 0, -1]},
        {"weights": [4097, 0, 0]},
        {"weights": "123"},
        {"weights": [0, 0, 0], "where": "region == 'north'"},
        {"where": 3},
        {"where": "age > 3"},  # not a column of the cells
        {"where": "region > "},
        {"where": "region == 3"},
    ],
}


@pytest.mark.parametrize(("name", "form"), [(name, form) for name, forms in BAD_FORMS.items() for form in forms])
def test_forms_of_no_question_are_refused(name: str, form: Any) -> None:
    run = MECHANISMS[name].start(TABLE)
    before = run.state()
    with pytest.raises(InvalidInput):
        run.ask_form(form)
    assert run.state() == before


def test_what_a_question_must_be() -> None:
    with pytest.raises(InvalidInput, match="statistic"):
        MECHANISMS["sparse"].start(TABLE).form("age > 3")
    with pytest.raises(InvalidInput, match="guess"):
        MECHANISMS["checked"].start(TABLE).form(Count(), "1e30")
    with pytest.raises(InvalidInput, match="guess"):
        MECHANISMS["checked"].start(TABLE).ask(Count(), "1e30")
    with pytest.raises(InvalidInput, match="weights"):
        MECHANISMS["weights"].start(TABLE).form([2, 0, 0])
    with pytest.raises(InvalidInput, match="everything in a cell"):
        MECHANISMS["bins"].start(TABLE).ask("age > 4")
    with pytest.raises(InvalidInput, match="must be a Count"):
        MECHANISMS["sparse"].start(TABLE).ask_form({"statistic": Mean("age").document()})


def test_a_condition_is_its_cells() -> None:
    run = PrivateMultiplicativeWeights(["region", "age"], tolerance=1, epsilon=5000, corrections=9).start(TABLE)
    ages = [age % 21 for age in range(300)]
    truth = sum(age % 3 == 1 and age >= 12 for age in ages)
    found = run.ask("region == 'south' and age >= 12")
    assert found.corrected
    assert abs(found.value - truth) < 1
    cells = {label for label in run.labels if label[0] == "south" and label[1] != "(missing)" and label[1] >= 12}
    weights = run.form(lambda label: label in cells)["weights"]
    assert weights == [4096 * (label in cells) for label in run.labels]
    assert run.spec.steps(TABLE, "region == 'south' and age >= 12", run.labels).tolist() == weights


ANSWERS: list[tuple[str, Any, Any]] = [
    ("sparse", True, True),
    ("gaussian", False, False),
    ("checked", Checked(-7, corrected=False), {"value": -7, "corrected": False}),
    ("checked", Checked(2**62 + 1, corrected=True), {"value": 2**62 + 1, "corrected": True}),
    ("weights", Estimate(1 / 3, corrected=True), {"value": 1 / 3, "corrected": True, "checked": True}),
    ("bins", Estimate(5e-324, False, False), {"value": 5e-324, "corrected": False, "checked": False}),
]


@pytest.mark.parametrize(("name", "answer", "told"), ANSWERS)
def test_answers_are_told_and_read_back(name: str, answer: Any, told: Any) -> None:
    for speaker in (MECHANISMS[name], MECHANISMS[name].start(TABLE)):
        assert speaker.told(answer) == told
        found = speaker.read_told(through_json(told))
        assert found == answer
        assert type(found) is type(answer)


@pytest.mark.parametrize("name", ["sparse", "checked", "weights"])
@pytest.mark.parametrize(
    "value",
    [None, 1, "true", [], {}, {"value": "1", "corrected": True}, {"value": 1.5, "corrected": True},
     {"value": 1, "corrected": 1}, {"value": float("inf"), "corrected": True, "checked": True},
     {"value": 1.0, "corrected": True, "checked": None}, {"value": 1.0, "corrected": True, "checked": True, "x": 1}],
)  # fmt: skip
def test_what_was_never_told_is_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match="answer"):
        MECHANISMS[name].read_told(value)
