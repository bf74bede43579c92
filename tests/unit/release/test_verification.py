"""Releases that were changed after they were made are refused, in a sentence; only what noise made stays unchecked."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import optcomp
from optcomp.cli.main import app
from optcomp.numerics import float_above
from optcomp.planner import read
from optcomp.release.released import release_plan
from optcomp.release.store import Identity, Store, plan_digest
from optcomp.release.verification import Verification, verify_release
from tests.plans import JUNK, Plain, every_kind, places, small, spoiled

ROWS = 1000
PAIR: Plain = {"epsilon": 1, "delta": "1e-6"}
SAMPLE: Plain = {"rows": ROWS, "rows_public": True, "population": 10**5, "neighbours": "replace"}
GAUSSIAN: Plain = {"count": None, "mechanism": "gaussian"}
PLANS: dict[str, tuple[Plain, str]] = {
    "sums": (small(), "checker"),
    "laplace": (
        small(budget=PAIR, statistics={f"s{i}": {"count": None, "mechanism": "laplace"} for i in range(9)}),
        "checker",
    ),
    "large noise": (small(budget=PAIR, statistics={f"s{i}": GAUSSIAN for i in range(30)}), "checker"),
    "small noise": (small(budget=PAIR, statistics={f"s{i}": GAUSSIAN for i in range(2)}), "checker"),
    "vectors": (
        small(
            budget={"epsilon": 5, "delta": "1e-6"}, statistics={"h": {"histogram": "region", "mechanism": "gaussian"}}
        ),
        "checker",
    ),
    "mixed": (
        small(budget=PAIR, statistics={f"s{i}": {"count": None} for i in range(20)} | {"m": {"median": "age"}}),
        "checker",
    ),
    "reserve": (small(budget=PAIR, reserve="0.3"), "checker"),
    "sample": (small(budget=PAIR, data=SAMPLE), "checker"),
    "rho": (small(budget={"rho": "0.1"}, reserve="0.5"), "sum"),
    "wanted": (
        small(
            budget=PAIR,
            objective="wanted",
            statistics={"a": {"count": None, "error": 30}, "b": GAUSSIAN | {"error": 40}},
        ),
        "checker",
    ),
    "every kind": (every_kind() | {"budget": PAIR}, "checker"),
    "every kind, sums": (every_kind(), "checker"),
}

SPOILED = ["sums", "mixed", "small noise", "sample", "rho", "every kind"]
"""Plans whose releases are changed in all kinds of ways."""
UNCHECKED = (
    r"started|finished",
    r"growth(\..*)?",
    r"record\.(data_hmac_sha256|versions)(\..*)?",
    r"statistics\.\d+\.(value|interval(\.\d+)?)",
    r"statistics\.\d+\.cells\.\d+\.(value|interval(\.\d+)?)",
    r"certificate\.parameters(\..*)?",
)
"""What a release says that nothing can confirm: noisy values, times, the key, pictures for comparison, and hints."""


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Plain]:
    """A release of every plan, as it stands in its file."""
    folder = tmp_path_factory.mktemp("releases")
    ages = [(37 * i) % 100 for i in range(ROWS)]
    columns = {
        "age": ages,
        "region": [("north", "south", None)[i % 3] for i in range(ROWS)],
        "income": [1000.0 * age for age in ages],
        "id": [i // 3 for i in range(ROWS)],
    }
    pq.write_table(pa.table(columns), folder / "people.parquet")
    found = {}
    for name, (plan, _) in PLANS.items():
        path = folder / f"{name}.release.json"
        release_plan(read(plan), folder / "people.parquet", path, ledger=folder / f"{name}.ledger")
        found[name] = json.loads(path.read_text(encoding="utf8"))
    return found


def put(view: Plain, way: tuple[Any, ...], value: Any) -> Plain:
    """The release with one value exchanged; a function is applied to the old one."""
    changed = inside = copy.deepcopy(view)
    for key in way[:-1]:
        inside = inside[key]
    inside[way[-1]] = value(inside[way[-1]]) if callable(value) else value
    return changed


def sealed(view: Plain) -> Plain:
    """With the digest of its plan, whatever that is now."""
    return put(view, ("record", "plan_sha256"), plan_digest(view["plan"]))


def refused(view: Plain) -> Verification:
    found = verify_release(view)
    assert not found.proved
    assert found.problems
    assert all(sentence and not re.search(r"\n|Error\b", sentence) for sentence in found.problems)
    return found


@pytest.mark.parametrize("name", PLANS)
def test_releases_are_proved(name: str, releases: dict[str, Plain]) -> None:
    found = verify_release(releases[name])
    assert (found.problems, found.status, found.by) == ((), "proved", PLANS[name][1])
    total = releases[name]["guarantee"]["total"]
    assert found.total == total.get("epsilon", total.get("rho"))
    assert ("format" in releases[name]["certificate"]) == (found.by == "checker")


@pytest.mark.parametrize("name", PLANS)
def test_releases_of_other_versions_are_proved(name: str, releases: dict[str, Plain]) -> None:
    """Their sentences may be other ones; their numbers may not."""
    view = releases[name]
    assert view["record"]["versions"]["optcomp"] == optcomp.__version__
    old = put(view, ("record", "versions", "optcomp"), "0.0.1")
    assert verify_release(old).proved
    assert verify_release(put(old, ("facts", "words", "risk"), "none at all")).proved
    refused(put(view, ("facts", "words", "budget"), "ε = 0.1"))
    for way in (("facts", "upper"), ("facts", "total"), ("facts", "statistics", 0, "scales", 0)):
        refused(put(old, way, 0.01))
    refused(put(old, ("facts", "statistics"), [None]))


Change = tuple[str, tuple[Any, ...], Any, str]
CHANGES: list[Change] = [
    ("sums", ("version",), 2, "must be a release: format 'optcomp-release', version 1"),
    ("sums", ("version",), True, "must be a release"),
    ("sums", ("status",), "ready", "status must be 'done'"),
    ("sums", ("guarantee",), [], "guarantee must be an object"),
    ("sums", ("plan", "budget", "epsilon"), 2, r"plan: is not the plan of this release"),
    ("sums", ("plan", "columns", "age", "integers", 1), 120, r"plan: is not the plan of this release"),
    ("sums", ("record", "plan_sha256"), "0" * 64, r"plan: is not the plan of this release"),
    ("sums", ("guarantee", "total", "epsilon"), 0.1, r"guarantee.total.epsilon is 0.1, but by the plan and the cert"),
    ("sums", ("guarantee", "budget", "epsilon"), 0.5, r"guarantee.budget.epsilon is 0.5, .* it is 1.0"),
    ("sums", ("guarantee", "neighbours"), "replace", r"guarantee.neighbours is \"replace\", .* it is \"add-remove\""),
    ("sums", ("guarantee", "rows_per_person"), 5, r"guarantee.rows_per_person is 5"),
    ("sums", ("guarantee", "protects"), "all", r"guarantee.protects is \"all\""),
    (
        "sums",
        ("statistics", 0, "noise", 0, "scale"),
        1.0,
        r"statistics.people.noise\[0\].scale is 1.0, but by the plan",
    ),
    ("sums", ("statistics", 0, "noise", 0, "unit"), "2", r"statistics.people.noise\[0\].unit is"),
    ("sums", ("statistics", 0, "epsilon"), "1/7", r"statistics.people.noise\[0\].scale is .*, but by the plan"),
    (
        "sums",
        ("statistics", 0, "epsilon"),
        "0.1",
        r"statistics.people.epsilon must be a positive fraction, got \"0.1\"",
    ),
    ("sums", ("statistics", 0, "epsilon"), "2/4", r"must be a positive fraction"),
    ("sums", ("statistics", 0, "epsilon"), "1/0", r"must be a positive fraction"),
    ("sums", ("statistics", 0, "epsilon"), "1/" + "9" * 300, r"statistics.people: "),
    ("sums", ("statistics", 0, "mechanism"), "exponential", r"mechanism is \"exponential\", .* laplace or gaussian"),
    (
        "laplace",
        ("statistics", 0, "mechanism"),
        "gaussian",
        r"mechanism is \"gaussian\", but by the plan it is laplace",
    ),
    ("sums", ("statistics", 0, "theorem"), "CR21", r"statistics.people.theorem is \"CR21\""),
    ("sums", ("statistics", 0, "statistic"), "sum", r"statistics.people.statistic is \"sum\", .* it is \"count\""),
    ("sums", ("statistics", 0, "name"), "x", r"statistics: must be those of the plan, in its order"),
    ("sums", ("statistics",), lambda found: found[::-1], r"statistics: must be those of the plan, in its order"),
    ("sums", ("statistics",), lambda found: found[:-1], r"statistics: must be those of the plan, in its order"),
    ("sums", ("statistics", 2, "cells", 0, "cell"), "east", r"statistics.regions.cells: are not those of the plan"),
    ("sums", ("statistics", 2, "cells"), lambda found: found[1:], r"cells: are not those of the plan"),
    ("sums", ("statistics", 0, "value"), "many", r"statistics.people: every value must be a number"),
    ("sums", ("statistics", 0, "interval"), [2, 1], r"every interval must be two numbers"),
    ("mixed", ("statistics", 20, "interval"), [1, 2], r"choices have no interval"),
    ("sums", ("certificate", "upper"), 0.5, r"guarantee.total.epsilon is 0.999\d*, .* it is 0.5"),
    ("sums", ("certificate", "upper"), 1.5, r"the total of ε = 1.5 is more than the budget, ε = 1.0"),
    ("sums", ("certificate", "upper"), None, r"certificate.upper must be a finite number, got null"),
    ("sums", ("certificate", "lower"), 0.5, r"facts.lower is"),
    ("sums", ("certificate", "lower"), 1.5, r"certificate.lower must lie between 0 and upper"),
    ("laplace", ("certificate", "given"), "1/1000", r"certificate.given is \"1/1000\", .* \"1/1000000\""),
    ("laplace", ("certificate", "mechanisms", 0, 0), 0.01, r"certificate: is not about the mechanisms of this plan"),
    ("laplace", ("certificate", "mechanisms", 0, 2), 8, r"certificate: is not about the mechanisms of this plan"),
    ("large noise", ("certificate", "gaussians", 0, 1), 29, r"certificate: is not about the mechanisms of this plan"),
    ("large noise", ("certificate", "count"), 1, r"certificate: is not about the mechanisms .*: count"),
    ("laplace", ("certificate", "format"), "x", r"certificate: format: must be"),
    ("laplace", ("certificate", "note"), "x", r"certificate.note does not belong here"),
    ("laplace", ("certificate", "quantity"), "delta", r"certificate.quantity is \"delta\""),
    ("laplace", ("certificate", "theorem"), None, r"certificate: has no theorem, or no method"),
    ("reserve", ("guarantee", "reserve"), None, r"guarantee.reserve is null, .* it is 0.3"),
    ("reserve", ("plan", "reserve"), "0.2", r"plan: is not the plan"),
    ("sample", ("guarantee", "sample", "population"), 10**6, r"guarantee.sample.population is 1000000"),
    ("sample", ("guarantee", "sample", "total", "epsilon"), 0.5, r"guarantee.sample.total.epsilon is 0.5"),
    ("sample", ("guarantee", "sample"), None, r"guarantee.sample is null"),
    ("rho", ("certificate", "rho"), 0.01, r"certificate.rho is 0.01, but by the plan and its budgets it is 0.0"),
    ("rho", ("guarantee", "total", "rho"), 0.01, r"guarantee.total.rho is 0.01"),
    ("small noise", ("certificate", "count"), 1, r"certificate: is not about the mechanisms .*: count"),
    ("small noise", ("certificate", "laws", 0, "copies"), 1, r"certificate: is not about the mechanisms .*: laws"),
    ("small noise", ("certificate", "laws", 0, "sigma"), 11, r"certificate: is not about the mechanisms .*: laws"),
    ("small noise", ("certificate", "notes"), ["safe"], r"certificate.notes does not belong here"),
    ("sums", ("facts", "upper"), 0.5, r"facts.upper is 0.5"),
    ("sums", ("facts", "total"), 0.5, r"facts.total is 0.5, but by the certificate it is about 0.99"),
    ("sums", ("facts", "words", "total"), "ε = 0.1", r"facts.words.total is \"ε = 0.1\""),
    ("sums", ("facts", "statistics", 0, "error"), 0.1, r"facts.statistics\[0\].error is 0.1"),
    ("mixed", ("facts", "risk", "posterior"), 0.6, r"facts.risk.posterior is 0.6"),
    ("mixed", ("facts", "risk", "probability"), 1e-9, r"facts.risk.probability is 1e-09"),
    (
        "rho",
        ("facts", "words", "risk"),
        "none",
        r"facts.words.risk is \"none\", but .* \"Take someone who knows all other rows",
    ),
    ("mixed", ("facts", "statistics", 0, "rho_error"), 9e9, r"facts.statistics\[0\].rho_error is"),
    ("mixed", ("facts", "gain_over_rho"), 3.0, r"facts.gain_over_rho is 3.0"),
    ("large noise", ("facts", "notes"), [], r"facts.notes is \[\], but .* \[\"The lower side is not about the noise"),
]


@pytest.mark.parametrize(("name", "way", "value", "sentence"), CHANGES, ids=[".".join(map(str, c[1])) for c in CHANGES])
def test_changes_are_refused(
    name: str, way: tuple[Any, ...], value: Any, sentence: str, releases: dict[str, Plain]
) -> None:
    found = refused(put(releases[name], way, value))
    assert any(re.search(sentence, problem) for problem in found.problems), found.problems


def scaled(factor: int) -> Callable[[float], float]:
    return lambda value: value * factor


def without_ledger(view: Plain) -> Plain:
    """The same, as an older version wrote it: the ledger's entry would have to be changed in as many places."""
    found = copy.deepcopy(view)
    del found["ledger"]
    return found


def test_changes_in_two_places_are_refused(releases: dict[str, Plain]) -> None:
    """What agrees in one place does not in another."""
    view = releases["laplace"]
    small_total = put(without_ledger(view), ("guarantee", "total", "epsilon"), 0.5)
    found = refused(put(small_total, ("certificate", "upper"), 0.5))
    assert any("certificate.lower" in problem for problem in found.problems)
    small_total = put(put(small_total, ("certificate", "upper"), 0.5), ("certificate", "lower"), 0.4)
    for place, end in (("upper", 0.5), ("epsilon", 0.5), ("total", 0.5), ("lower", 0.4)):
        small_total = put(small_total, ("facts", place), end)
    small_total = put(small_total, ("record", "versions", "optcomp"), "0.0.1")
    found = refused(small_total)
    assert found.status == "false"
    assert found.problems == ("certificate: upper: the optimal ε is proved to be larger",)
    less = put(view, ("statistics", 0, "epsilon"), lambda text: str(Fraction(text) / 2))
    less = put(less, ("statistics", 0, "noise", 0, "scale"), scaled(2))
    refused(less)
    budget = sealed(put(view, ("plan", "budget", "epsilon"), "1/2"))
    assert "the total of ε = 0.99" in refused(budget).problems[0]
    budget = sealed(put(view, ("plan", "budget", "epsilon"), 2))
    assert "guarantee.budget.epsilon is 1.0" in refused(budget).problems[0]
    wider = sealed(put(releases["sums"], ("plan", "columns", "age", "integers", 1), 999))
    assert any("scale is" in problem for problem in refused(wider).problems)
    people = sealed(put(releases["every kind"], ("plan", "data", "rows_per_person"), 4))
    assert any("scale is" in problem for problem in refused(people).problems)
    spent = put(releases["reserve"], ("guarantee", "reserve"), None)
    del spent["plan"]["reserve"]
    assert any("mechanisms" in problem or "facts" in problem for problem in refused(sealed(spent)).problems)
    stripped = put(releases["laplace"], ("certificate",), lambda found: found | {"format": None})
    del stripped["certificate"]["format"]
    assert refused(stripped).problems == ("certificate: is missing, although there can be one of this noise",)


def without_certificate(view: Plain) -> Plain:
    """A release with the bound in words: older ones of this noise have no certificate."""
    told = view["certificate"]
    kept = {name: told[name] for name in ("quantity", "given", "lower", "upper", "theorem", "method", "count")}
    words = kept | {"epsilon": told["upper"], "delta": float_above(Fraction(told["given"])), "notes": []}
    return put(view, ("certificate",), words)


def test_the_engine_proves_what_has_no_certificate(releases: dict[str, Plain]) -> None:
    """An old version may have been a little less sharp, but not sharper than the truth."""
    words = without_certificate(releases["small noise"])
    found = verify_release(words)
    assert (found.problems, found.status, found.by) == ((), "proved", "engine")
    for name, value in (("count", 1), ("notes", ["safe"]), ("epsilon", 0.5)):
        problems = refused(put(words, ("certificate", name), value)).problems
        assert any(f"certificate.{name} is" in problem for problem in problems)
    view = put(words, ("record", "versions", "optcomp"), "0.0.1")

    def claiming(lower: float, upper: float) -> Plain:
        found = without_ledger(view)
        found["guarantee"]["total"]["epsilon"] = upper
        found["certificate"] |= {"lower": lower, "upper": upper, "epsilon": upper}
        found["facts"] |= {"lower": lower, "upper": upper, "epsilon": upper, "total": upper}
        return found

    lower, upper = view["certificate"]["lower"], view["certificate"]["upper"]
    assert verify_release(claiming(lower - 1e-6, upper + 1e-9)).proved
    middle = (lower + upper) / 2
    assert refused(claiming(0.4, 0.5)).status == "false"
    assert refused(claiming(upper + 1e-10, upper + 1e-9)).status == "false"
    assert "the engine proves" in refused(claiming(middle - 1e-15, middle)).problems[0]


def test_held_statistics_are_held(releases: dict[str, Plain]) -> None:
    view = releases["every kind"]
    place = [entry["name"] for entry in view["statistics"]].index("mean")
    found = refused(sealed(put(view, ("plan", "statistics", "mean", "epsilon"), "0.01")))
    assert "statistics.mean.epsilon is 1/20, but the plan holds it at 1/100" in found.problems
    found = refused(sealed(put(view, ("plan", "statistics", "median", "error"), 1)))
    assert any("but the plan holds it at 1" in problem for problem in found.problems)
    assert place == 2


def test_unfinished_releases(tmp_path: Path) -> None:
    path = tmp_path / "plan.release.json"
    with Store(path).releasing(Identity("a", "b"), {"ledger": "c", "account": "d"}):
        view = json.loads(path.read_text(encoding="utf8"))
        found = refused(view)
        assert found.status == "unfinished"
        assert found.problems[0].startswith(f"this release is not finished (started {view['started']})")
    found = refused(json.loads(path.read_text(encoding="utf8")))
    assert found.problems[0].startswith(f"this release failed (started {view['started']})")


def unchecked(way: tuple[Any, ...]) -> bool:
    text = ".".join(map(str, way))
    return any(re.fullmatch(pattern, text) for pattern in UNCHECKED)


def leaves(view: Plain) -> dict[tuple[Any, ...], Any]:
    """The values that are no lists or objects, and empty ones, but for those that are not checked."""
    found = {}
    for way in places(view):
        value: Any = view
        for key in way:
            value = value[key]
        if not isinstance(value, dict | list) or not value:
            found[way] = value
        if way == ("facts", "total") and isinstance(value, int | float):
            found[way] = round(value, 5)  # it was found in a quicker way
    return {way: value for way, value in found.items() if not unchecked(way)}


@pytest.mark.slow_cases("every kind")
@pytest.mark.parametrize("name", SPOILED)
def test_what_is_not_checked(name: str, releases: dict[str, Plain]) -> None:
    """The list above says no more than is true: other values, times and hints do not matter."""
    view, seen = releases[name], set()
    for way in places(view):
        if not unchecked(way):
            continue
        inside: Any = view
        for key in way:
            inside = inside[key]
        if isinstance(inside, dict | list) or way[-2:] == ("versions", "optcomp"):
            continue
        kind = re.sub(r"\d+", "n", ".".join(map(str, way)))
        if kind not in seen:
            seen.add(kind)
            value = "x" if isinstance(inside, str) else inside if inside is None else float(inside)
            assert verify_release(put(view, way, value)).proved, way


@pytest.mark.parametrize("part", ["plan", "statistics", "guarantee", "certificate", "record", "facts"])
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_other_leaf_is_checked(part: str, releases: dict[str, Plain], data: st.DataObject) -> None:
    view = releases[data.draw(st.sampled_from(SPOILED))]
    known = leaves(view)
    way = data.draw(st.sampled_from([way for way in known if way[0] == part]))
    old = known[way]
    more = [st.sampled_from([old + 1, old * 2, -old])] if isinstance(old, int | float) else []
    value = data.draw(st.one_of(JUNK, *more))
    assume(isinstance(value, bool) != isinstance(old, bool) or value != old)
    assume(way != ("facts", "total") or value != 1)  # about the same
    changed = json.loads(json.dumps(put(view, way, value)))
    assume(plan_digest(changed["plan"]) != plan_digest(view["plan"]) or part != "plan")
    refused(changed)


@pytest.mark.parametrize("name", SPOILED)
@settings(max_examples=17, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_change_makes_a_traceback(name: str, releases: dict[str, Plain], data: st.DataObject) -> None:
    """And what is proved is what was released, but for what is not checked."""
    view = releases[name]
    changed = json.loads(json.dumps(data.draw(spoiled(view))))
    if not isinstance(changed, dict) or not verify_release(changed).proved:
        return
    parts = ["plan", "statistics", "guarantee", "certificate", "status", "format", "version"]
    versions = changed["record"].get("versions")
    if isinstance(versions, dict) and versions.get("optcomp") == optcomp.__version__:
        parts.append("facts")
    before, after = ({way: value for way, value in leaves(each).items() if way[0] in parts} for each in (view, changed))
    assert before == after


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_no_other_plan_makes_a_traceback(releases: dict[str, Plain], data: st.DataObject) -> None:
    """With a digest that fits; what is proved then still promises what the plan says."""
    view = releases[data.draw(st.sampled_from(["sums", "small noise", "sample", "rho", "every kind"]))]
    changed = copy.deepcopy(view) | {"plan": json.loads(json.dumps(data.draw(spoiled(view["plan"]))))}
    if not isinstance(changed["plan"], dict):
        refused(changed)
        return
    found = verify_release(sealed(changed))
    if found.proved:
        plan, old = read(changed["plan"]), read(view["plan"])
        assert plan.budget == old.budget
        assert (plan.table.columns, plan.table.neighbours) == (old.table.columns, old.table.neighbours)
        assert plan.table.contribution.rows == old.table.contribution.rows


def verify(tmp_path: Path, view: Plain | str, *options: str) -> tuple[int, str, str]:
    path = tmp_path / "plan.release.json"
    path.write_text(view if isinstance(view, str) else json.dumps(view), encoding="utf8")
    result = CliRunner().invoke(app, ["verify", str(path), *options])
    return result.exit_code, result.stdout, result.stderr


def test_the_command(tmp_path: Path, releases: dict[str, Plain]) -> None:
    ends = "the values themselves cannot be checked"
    code, shown, wrong = verify(tmp_path, releases["mixed"])
    assert (code, wrong) == (0, "")
    first, _, last = shown.splitlines()
    assert re.fullmatch(r"proved: 0.99\d* ≤ ε ≤ 0.99\d* at δ = 1e-6, \d+ mechanisms", first)
    assert last == f"the certificate is about the plan, the noise and the total of this release; {ends}"
    code, shown, wrong = verify(tmp_path, releases["small noise"])
    assert (code, wrong) == (0, "")
    assert shown.splitlines()[1] == "lower end by lattice; upper end by lattice"
    code, shown, wrong = verify(tmp_path, without_certificate(releases["small noise"]))
    assert (code, wrong) == (0, "")
    first, how, last = shown.splitlines()
    assert re.fullmatch(r"proved: 0.99\d* ≤ ε ≤ 0.99\d* at δ = 1e-6, 2 mechanisms", first)
    assert how == "proved by the engine itself, not by the independent checker: no certificate covers this noise"
    assert last == f"this total is about the plan and the noise of this release; {ends}"
    code, shown, wrong = verify(tmp_path, releases["rho"])
    assert (code, wrong) == (0, "")
    first, last = shown.splitlines()
    assert re.fullmatch(r"proved: ρ ≤ 0.04\d*, 3 statistics", first)
    assert last == f"the sum of ρ, by exact arithmetic, is about the plan and the noise of this release; {ends}"


def test_the_command_refuses(tmp_path: Path, releases: dict[str, Plain]) -> None:
    view = put(releases["sums"], ("guarantee", "total", "epsilon"), 0.1)
    code, shown, wrong = verify(tmp_path, view)
    assert (code, wrong) == (1, "")
    assert shown.startswith("rejected: guarantee.total.epsilon is 0.1, but by the plan and the certificate it is 0.99")
    code, shown, wrong = verify(tmp_path, view, "--json")
    assert (code, wrong) == (1, "")
    told = json.loads(shown)
    assert (told["proved"], told["status"], told["by"], len(told["problems"])) == (False, "mismatch", None, 1)
    code, shown, wrong = verify(tmp_path, releases["sums"], "--json")
    told = json.loads(shown)
    assert (code, wrong, told["proved"], told["status"], told["by"]) == (0, "", True, "proved", "checker")
    code, shown, wrong = verify(tmp_path, put(releases["sums"], ("status",), "started"))
    assert (code, shown) == (1, "")
    assert re.fullmatch(
        r"optcomp: \S+: this release is not finished \(started \S+\); run its command again: .* paid again\n", wrong
    )
    alone = {name: value for name, value in releases["sums"].items() if name != "ledger"} | {"status": "failed"}
    assert "failed (started" in verify(tmp_path, alone)[2]
    assert verify(tmp_path, alone)[2].endswith("; its budget must be taken as spent\n")
    code, _, wrong = verify(tmp_path, releases["sums"], "--from", "x.csv")
    assert (code, "--from: is for certificates" in wrong) == (2, True)
    text = json.dumps(releases["sums"])
    code, shown, wrong = verify(tmp_path, text.replace('"total": {', '"total": {"epsilon": 0.1, ', 1))
    assert (code, shown) == (1, "")
    assert "'epsilon' is given twice" in wrong
