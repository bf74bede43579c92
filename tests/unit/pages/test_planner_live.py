"""While somebody types: new errors and the certified total first, and comparisons when they are worked out."""

from __future__ import annotations

import re

import pytest

from optcomp.planner import make_plan, read
from optcomp.release import near
from tests.unit.center.served import Served
from tests.unit.pages.test_planner_pages import MADE, add, begun, fields_of, plan_in
from tests.unit.pages.visitors import Visitor, words_of

LIVE = {"X-Live": "1"}
"""What the script of a page says of itself."""


@pytest.fixture
def owner(centre: Served) -> Visitor:
    return Visitor(centre, "olga")


@pytest.fixture
def draft(owner: Visitor) -> str:
    """A draft with a count, a mean and a histogram."""
    made = begun(owner)
    for kind in ("count", "mean", "histogram"):
        assert add(owner, made, kind, **MADE[kind]).status_code == 303
    return made


def cells(text: str, way: str) -> list[str]:
    """The column of errors by another way to add up."""
    return [words_of(each) for each in re.findall(rf'<td [^>]*id="{way}-\d+"[^>]*>(.*?)</td>', text)]


def typed(at: Visitor, draft: str, **changes: str) -> str:
    """The page that a live edit is answered with."""
    found = at.post(draft, fields_of(at.get(draft).text) | changes, headers=LIVE)
    assert found.status_code == 200, words_of(found.text)
    return found.text


def test_errors_first_and_no_old_number_stays(owner: Visitor, draft: str) -> None:
    before = owner.get(draft).text
    assert "data-late" not in before
    text = typed(owner, draft, epsilon="0.5", harm="")
    plan = make_plan(read(plan_in(owner, draft)))
    shown = fields_of(text)
    for number, line in enumerate(plan.lines):
        assert shown[f"error-{number}"] == near(line.error, 4)
    total = re.search(r'data-total="optimal">([^<]*)<', text)
    assert total is not None
    assert plan.total <= float(total.group(1)) <= plan.total * (1 + 1e-5)
    for way in ("zcdp", "basic"):
        assert len(cells(before, way)) == 3
        assert cells(text, way) == ["… Being worked out"] * 3
        assert f'data-total="{way}"><span' in text
    risk = "Take someone who knows all other rows"
    assert risk in words_of(before)
    assert risk not in words_of(text)
    assert "times smaller" not in text


def test_what_comes_later_is_about_the_same_plan(owner: Visitor, draft: str) -> None:
    text = typed(owner, draft, epsilon="0.5", harm="")
    found = re.search(r'data-follow="([^"]*)" data-follow-late', text)
    assert found is not None
    whole = owner.get(found.group(1), headers=LIVE)
    assert whole.status_code == 200
    assert "data-late" not in whole.text
    assert "data-follow" not in whole.text
    back = {"next": None}  # where to go back to after the colours were changed
    assert fields_of(whole.text) | back == fields_of(text) | back
    plan = make_plan(read(plan_in(owner, draft)))
    for way, errors in (("zcdp", plan.by_rho), ("basic", plan.naive)):
        shown = [float(each.removeprefix("±")) for each in cells(whole.text, way)]
        assert shown == pytest.approx([errors[line.wish.name] for line in plan.lines], rel=1e-3)
    assert plan.verdict() in words_of(whole.text)
    late = re.findall(r'id="([\w-]+)" data-late|data-late id="([\w-]+)"', text)
    assert {name for pair in late for name in pair if name} == {
        *(f"{way}-{number}" for way in ("zcdp", "basic") for number in range(3)),
        "total",
        "means",
    }


def test_a_page_that_is_loaded_is_whole_and_nothing_is_changed_by_loading(owner: Visitor, draft: str) -> None:
    version = fields_of(typed(owner, draft, epsilon="0.5", harm=""))["version"]
    for path in (draft, f"{draft}/cart", f"{draft}/compared?version={version}", draft):
        text = owner.get(path).text
        assert "data-late" not in text, path
        assert "Being worked out" not in text, path
    assert fields_of(owner.get(draft).text)["version"] == version


def test_comparisons_of_another_version_are_refused(owner: Visitor, draft: str) -> None:
    first = typed(owner, draft, epsilon="0.5", harm="")
    typed(owner, draft, epsilon="0.6")
    version = fields_of(first)["version"]
    assert owner.get(f"{draft}/compared?version={version}", headers=LIVE).status_code == 409
    assert owner.get(f"{draft}/compared", headers=LIVE).status_code == 404


def test_a_refused_edit_is_told_beside_its_field_and_live_or_not_nothing_old_is_shown(
    owner: Visitor, draft: str
) -> None:
    typed(owner, draft, epsilon="0.5", harm="")
    wrong = fields_of(owner.get(draft).text) | {"epsilon": "nonsense"}
    live = owner.post(draft, wrong, headers=LIVE)
    plain = owner.post(draft, wrong)
    assert 'id="epsilon-wrong"' in live.text
    assert 'id="epsilon-wrong"' in plain.text
    assert cells(live.text, "zcdp") == ["… Being worked out"] * 3
    assert "data-late" not in plain.text


def test_nobody_else_sees_comparisons(centre: Served, draft: str) -> None:
    assert Visitor(centre, "omar").get(f"{draft}/compared?version=4").status_code == 404
