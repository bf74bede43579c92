"""Certificates of version 3: written for every known loss, read exactly, proved, and never proved when false."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import optcomp as oc
from optcomp.checker import Verdict, check
from optcomp.checker.claimed import KINDS
from optcomp.checker.document import MOST_INLINE
from optcomp.errors import InvalidInput
from optcomp.instances import Mixture, Parts
from tests.unit.checker.certificates import Document
from tests.unit.cli.in_process import invoke


def sampled(sigma: float, rate: float | str) -> oc.PoissonSubsampled:
    return oc.PoissonSubsampled(oc.Gaussian(sigma), rate)


MIXTURE: dict[Any, int] = {
    sampled(1, 0.01): 300,
    oc.PoissonSubsampled(oc.Laplace(2), "1/50"): 40,
    oc.Laplace(2): 3,
    oc.RandomizedResponse(0.5, 4): 4,
    oc.DiscreteGaussian(5): 6,
    oc.DiscreteLaplace(3, 2): 4,
    oc.Gaussian(4): 5,
    (0.1, 1e-9): 10,
    0.2: 3,
}
LISTS: dict[str, dict[Any, int]] = {
    "laplace": {oc.Laplace(1): 100},
    "few laplace": {oc.Laplace(1): 3, oc.Laplace("3.3"): 2},
    "answers": {oc.RandomizedResponse(1, 5): 30},
    "many answers": {oc.RandomizedResponse(0.01, 5): 10**5, oc.RandomizedResponse(0.02, 3): 100},
    "discrete laplace": {oc.DiscreteLaplace(2, 3): 20},
    "discrete gaussian": {oc.DiscreteGaussian(5): 50},
    "shifted": {oc.DiscreteGaussian("2.5", 2): 20, (0.3, 1e-8): 4},
    "gaussian sample": {sampled(1, 0.01): 1000},
    "laplace sample": {oc.PoissonSubsampled(oc.Laplace(1), 0.01): 1000},
    "one": {sampled(0.7, 0.05): 1},
    "whole samples": {sampled(1, 1): 3, oc.PoissonSubsampled(oc.Laplace(1), 1): 2},
    "pairs": {oc.Laplace(1): 5, (0.3, 1e-8): 20, 0.25: 3},
    "everything": MIXTURE,
}
QUESTIONS: list[dict[str, Any]] = [{"delta": 1e-6}, {"delta": "1/50"}, {"epsilon": 1.5}]


def through_json(bound: oc.Bound, **options: float) -> Document:
    document: Document = json.loads(json.dumps(bound.certificate(**options), allow_nan=False))
    return document


def moved(document: Document, share: float) -> Document:
    return document | {end: document[end] * (1 + share) for end in ("lower", "upper")}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_proved_and_tight(name: str, question: dict[str, Any]) -> None:
    """What compose answers is proved, and what is off by one part in a million is not."""
    bound = oc.compose(LISTS[name], **question)
    document = through_json(bound)
    assert document["version"] == 3
    verdict = check(document)
    assert (verdict.status, verdict.count) == ("proved", sum(LISTS[name].values())), verdict.reason
    if bound.lower == bound.upper or bound.width > 5e-7:
        return
    for share in (-1e-6, 1e-6):
        assert check(moved(document, share)).status == "false"
    half = document | {"upper": bound.lower * (1 - 1e-6), "lower": 0.0}
    assert check(half).status == "false"


def test_wider_claims() -> None:
    bound = oc.compose(LISTS["gaussian sample"], delta=1e-6)
    wide = through_json(bound, rtol=1e-3)
    assert wide["lower"] < bound.lower < bound.upper < wide["upper"]
    assert wide["upper"] - wide["lower"] == pytest.approx(1e-3 * bound.upper, rel=1e-6)
    assert check(wide).proved
    same = through_json(bound, rtol=1e-15)
    assert (same["lower"], same["upper"]) == (bound.lower, bound.upper)
    for wrong in (0, -1e-3, 1, math.nan):
        with pytest.raises(InvalidInput, match="rtol"):
            bound.certificate(rtol=wrong)
    delta = oc.compose({oc.Laplace(1): 100}, epsilon=1.0)
    assert through_json(delta, rtol=0.5)["upper"] == 1.0
    assert check(through_json(delta, rtol=0.5)).proved


def test_wider_claims_about_pairs() -> None:
    bound = oc.compose({0.1: 50, 0.2: 3}, delta=1e-6, bits=100)
    assert "enclosure" in bound.certificate()
    wide = through_json(bound, rtol=1e-6)
    assert "enclosure" not in wide
    assert check(wide).proved


def test_what_is_written() -> None:
    document = through_json(oc.compose(MIXTURE, delta=1e-6))
    assert (document["version"], document["neighbours"], document["count"]) == (3, "add/remove", 375)
    assert document["gaussians"] == [["1/4", 5]]
    assert document["mechanisms"] == [[0.2, 0.0, 3], [0.1, 1e-9, 10]]
    laws = sorted(document["laws"], key=lambda law: law["kind"])
    assert laws == [
        {"kind": "discrete_gaussian", "sigma": "5", "sensitivity": 1, "copies": 6},
        {"kind": "discrete_laplace", "scale": "3", "sensitivity": 2, "copies": 4},
        {"kind": "laplace", "epsilon": "1/2", "copies": 3},
        {"kind": "poisson_subsampled_gaussian", "mu": "1", "rate": 0.01, "copies": 300},
        {"kind": "poisson_subsampled_laplace", "epsilon": "1/2", "rate": "1/50", "copies": 40},
        {"kind": "randomized_response", "epsilon": 0.5, "answers": 4, "copies": 4},
    ]
    replaced = {"poisson_replaced_gaussian", "poisson_replaced_laplace", "batch_gaussian", "batch_laplace"}
    whole = {"poisson_subsampled_discrete_gaussian", "poisson_replaced_discrete_gaussian"}
    others = replaced | whole  # each has its own file of tests
    assert {law["kind"] for law in laws} == set(KINDS) - others


def test_whole_samples_are_no_samples() -> None:
    document = through_json(oc.compose(LISTS["whole samples"], delta=1e-6))
    assert document["gaussians"] == [["1", 3]]
    assert document["laws"] == [{"kind": "laplace", "epsilon": "1", "copies": 2}]
    assert "neighbours" not in document


def test_too_many_laws_are_refused() -> None:
    many: dict[Any, int] = {oc.Laplace(100 + number): 1 for number in range(MOST_INLINE + 1)}
    bound = replace(oc.compose({oc.Laplace(1): 1}, delta=1e-6), about=Mixture.of(Parts.of({}), many, {}))
    with pytest.raises(InvalidInput, match=f"{MOST_INLINE + 1} different laws"):
        bound.certificate()


# Every direction counts.


def test_both_directions_count() -> None:
    """A claim that holds for persons removed, and not for persons added, is false; δ near the largest loss added."""
    mechanism = oc.PoissonSubsampled(oc.Laplace("0.2"), "0.3")
    removed, added = (max(law.delta(0.3) for law in (way,)) for way in mechanism.loss.directions)
    assert removed != added
    bound = oc.compose({mechanism: 1}, epsilon=0.3)
    document = through_json(bound)
    assert check(document).proved
    smaller, larger = sorted((removed, added))
    assert check(document | {"lower": 0.0, "upper": larger * (1 + 1e-12)}).proved
    assert check(document | {"lower": 0.0, "upper": smaller * (1 + 1e-12)}).status == "false"
    assert check(document | {"lower": larger * (1 - 1e-12), "upper": 1.0}).proved
    assert check(document | {"lower": larger * (1 + 1e-9), "upper": 1.0}).status == "false"


def test_largest_losses() -> None:
    """With nothing to spare, the largest loss is the answer; unbounded losses have none."""
    laplace = through_json(oc.compose({oc.Laplace(1): 3, oc.RandomizedResponse(0.5, 3): 2}, delta=0))
    assert (laplace["upper"], check(laplace).status) == (4.0, "proved")
    assert check(laplace | {"upper": 3.9999, "lower": 0}).status == "false"
    assert check(laplace | {"upper": 5, "lower": 4.0001}).status == "false"
    for unbounded in (oc.DiscreteGaussian(5), sampled(1, 0.1)):
        none = through_json(oc.compose({unbounded: 2}, delta=0))
        assert (none["lower"], none["upper"], check(none).status) == (None, None, "proved")
        assert check(none | {"lower": 1.0, "upper": 100.0}).status == "false"
    leaks = through_json(oc.compose({oc.Laplace(1): 3, (0.1, 1e-3): 1}, delta=1e-4))
    assert (leaks["lower"], check(leaks).status) == (None, "proved")


@pytest.mark.parametrize(
    ("noise", "rate", "rounds"),
    [(oc.Gaussian(1), 0.01, 1000), pytest.param(oc.Laplace(1), 0.1, 5, marks=pytest.mark.slow)],
    ids=str,
)
def test_work_is_limited(noise: oc.Gaussian | oc.Laplace, rate: float, rounds: int) -> None:
    """What cannot be proved within the effort is said to be undecided."""
    bound = oc.compose({oc.PoissonSubsampled(noise, rate): rounds}, delta=1e-6)
    narrow = through_json(bound) | {"lower": (bound.lower + bound.upper) / 2 * (1 - 1e-13)}
    verdict = check(narrow, effort=0.01)
    assert verdict.status == "undecided"
    assert "not decided" in verdict.reason


# Tampered documents.

BASE: dict[Any, int] = {
    sampled(1, 0.01): 400,
    oc.Laplace(2): 2,
    oc.RandomizedResponse(0.5, 4): 3,
    oc.DiscreteGaussian(5): 2,
}


@cache
def _base_bound() -> oc.Bound:
    return oc.compose(BASE, delta=1e-6)


def base() -> Document:
    """A true certificate; a new document for each test, because tests change it."""
    return through_json(_base_bound())


@cache
def base_verdict() -> Verdict:
    """Return what the checker says of the unchanged document; it is the same for every test that compares with it."""
    return check(base())


LAW: dict[str, Any] = {"kind": "laplace", "epsilon": "1/2", "copies": 2}

MALFORMED: list[tuple[str, Any, str]] = [
    ("version", 1, "version"),
    ("version", 2, "version"),
    ("version", 3.0, "version"),
    ("version", 4, "version"),
    ("neighbours", None, "neighbours"),
    ("neighbours", "replace", "neighbours"),
    ("laws", [], "laws"),
    ("laws", None, "laws"),
    ("laws", "laplace", "laws"),
    ("laws", [LAW] * (MOST_INLINE + 1), "laws"),
    ("laws", [[1, 2]], r"laws\[0\]"),
    ("laws", [LAW | {"kind": "cauchy"}], r"laws\[0\].kind"),
    ("laws", [LAW | {"kind": ["laplace"]}], r"laws\[0\].kind"),
    ("laws", [LAW, LAW | {"scale": 1}], r"laws\[1\].scale"),
    ("laws", [LAW | {"copies": 0}], r"laws\[0\].copies"),
    ("laws", [LAW | {"copies": 2.0}], r"laws\[0\].copies"),
    ("laws", [LAW | {"copies": True}], r"laws\[0\].copies"),
    ("laws", [{"kind": "laplace", "copies": 1}], r"laws\[0\].epsilon"),
    ("laws", [LAW | {"epsilon": 0}], r"laws\[0\].epsilon"),
    ("laws", [LAW | {"epsilon": -1}], r"laws\[0\].epsilon"),
    ("laws", [LAW | {"epsilon": "1/0"}], r"laws\[0\].epsilon"),
    ("laws", [LAW | {"epsilon": "1e9"}], r"laws\[0\].epsilon"),
    ("laws", [LAW | {"epsilon": 1e10}], r"laws\[0\].epsilon"),
    ("laws", [LAW | {"epsilon": True}], r"laws\[0\].epsilon"),
    (
        "laws",
        [{"kind": "randomized_response", "epsilon": 1, "answers": 1, "copies": 1}],
        r"laws\[0\].answers",
    ),
    (
        "laws",
        [{"kind": "randomized_response", "epsilon": 1, "answers": 2.5, "copies": 1}],
        r"laws\[0\].answers",
    ),
    ("laws", [{"kind": "discrete_laplace", "scale": 1, "sensitivity": 0, "copies": 1}], r"laws\[0\].sensitivity"),
    ("laws", [{"kind": "discrete_gaussian", "sigma": 1, "sensitivity": 2000, "copies": 1}], r"laws\[0\].sensitivity"),
    ("laws", [{"kind": "poisson_subsampled_gaussian", "mu": 1, "rate": 1, "copies": 1}], r"laws\[0\].rate"),
    ("laws", [{"kind": "poisson_subsampled_gaussian", "mu": 1, "rate": 0, "copies": 1}], r"laws\[0\].rate"),
    ("laws", [{"kind": "poisson_subsampled_laplace", "epsilon": 1, "rate": "3/2", "copies": 1}], r"laws\[0\].rate"),
    ("hints", 3, "hints"),
    ("hints", {"sideways": {}}, "hints.sideways"),
    ("hints", {"removed": 1}, "hints.removed"),
    ("hints", {"removed": {"tilt": "x"}}, "hints.removed.tilt"),
    ("gaussians", [], "gaussians"),
    ("count", "27", "count"),
    ("quantity", "rho", "quantity"),
    ("given", 1.5, "given"),
    ("lower", "a", "lower"),
    ("upper", [], "upper"),
]


@pytest.mark.parametrize(("field", "value", "named"), MALFORMED)
def test_malformed(field: str, value: Any, named: str) -> None:
    verdict = check(base() | {field: value})
    assert verdict.status == "malformed"
    assert verdict.reason.startswith(named.replace("\\", "")), verdict.reason


def test_neighbours_belong_to_samples() -> None:
    document = through_json(oc.compose({oc.Laplace(1): 3}, delta=1e-6))
    assert check(document | {"neighbours": "add/remove"}).reason.startswith("neighbours")
    pairs = through_json(oc.compose({0.1: 3}, delta=1e-6))
    for name in ("neighbours", "hints"):
        assert check(pairs | {name: {}}).reason.startswith(name)


BASE_KINDS = ("poisson_subsampled_gaussian", "laplace", "randomized_response", "discrete_gaussian")


def test_every_kind_of_law_is_changed() -> None:
    assert sorted(law["kind"] for law in base()["laws"]) == sorted(BASE_KINDS)


@pytest.mark.parametrize("change", [f"{kind}.{name}" for kind in BASE_KINDS for name in KINDS[kind]])
def test_changed_parameters_are_noticed(change: str) -> None:
    """One number of one law is changed, so that more is spent than is claimed."""
    document, (kind, name) = base(), change.split(".")
    (law,) = (law for law in document["laws"] if law["kind"] == kind)
    better = name in ("sigma", "scale", "answers")  # less of it is less privacy
    value = Fraction(law[name]) * (Fraction(99, 100) if better else Fraction(101, 100))
    if name in ("answers", "sensitivity"):
        value = Fraction(law[name] + (-1 if better else 1))
    assert base_verdict().proved
    law[name] = str(value)
    assert check(document).status == "false"


def test_changed_copies_are_noticed() -> None:
    document = base()
    for place in range(len(document["laws"])):
        changed = copy.deepcopy(document)
        changed["laws"][place]["copies"] += 1
        assert check(changed).status == "mismatch"
        changed["count"] += 1
        assert check(changed).status == "false"


LIES = (0, -1e300, 3.5, "1/3")


@pytest.mark.parametrize("name", ["tilt", "step", "smoothing", "nodes"])
@pytest.mark.parametrize("lie", LIES)
def test_hints_are_never_believed(lie: float | str, name: str) -> None:
    """Whatever they say, a true claim is proved and a false one is not."""
    truth = base_verdict()
    assert truth.proved
    hints = {way: {name: lie} for way in ("removed", "added", "both")}
    lied = base() | {"hints": hints, "parameters": {name: lie}, "theorem": "none", "method": "none"}
    assert check(lied) == truth
    assert check(moved(lied, 1e-6)).status == "false"


# Supplied mechanisms, and the command line.


def test_supplied_laws_are_compared() -> None:
    document = base()
    laws = document["laws"]
    assert check(document, laws=laws).proved
    assert check(document, laws=list(reversed(laws))).proved
    split = [*laws[1:], laws[0] | {"copies": 1}, laws[0] | {"copies": laws[0]["copies"] - 1}]
    assert check(document, laws=split).proved
    for other in ([], laws[1:], [*laws, LAW]):
        assert check(document, laws=other).status == "mismatch"
    pairs = through_json(oc.compose({0.1: 3}, delta=1e-6))
    assert check(pairs, laws=laws).status == "mismatch"


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    items = "'laplace(0.3)x5' 'subsampled(gaussian(1.1), 0.01)x100' 'rr(0.7, 3)x4' 0.1x5"
    assert invoke(f"compose {items} --delta 1e-6 --certificate c.json").exit_code == 0
    document = json.loads(Path("c.json").read_text(encoding="utf8"))
    assert (document["version"], document["count"]) == (3, 114)
    assert invoke("verify c.json").stdout.startswith("proved: ")
    Path("moved.json").write_text(json.dumps(moved(document, 1e-6)), encoding="utf8")
    result = invoke("verify moved.json")
    assert (result.exit_code, result.stdout[:9]) == (1, "rejected:")


@pytest.mark.parametrize("number", ["0.3", pytest.param(0.3, marks=pytest.mark.slow)], ids=repr)
def test_mechanisms_from_files(number: float | str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Laws are compared where the file has some: as written, or else with doubles for parameters."""
    monkeypatch.chdir(tmp_path)
    items: dict[Any, int] = {
        oc.Laplace(number): 1,
        oc.DiscreteLaplace(number): 1,
        oc.DiscreteGaussian(number): 1,
        oc.RandomizedResponse(number, 3): 1,
        oc.PoissonSubsampled(oc.Gaussian(number), number): 1,
        oc.PoissonSubsampled(oc.Laplace(number), number): 1,
        0.5: 1,
    }
    document = oc.compose(items, delta=1e-6).certificate(rtol=1e-2)
    Path("c.json").write_text(json.dumps(document), encoding="utf8")
    laws = [
        *("laplace(0.3)", "discrete-laplace(0.3)", "discrete-gaussian(0.3)", "rr(0.3, 3)"),
        *("subsampled(gaussian(0.3), 0.3)", "subsampled(laplace(0.3), 0.3)"),
    ]
    Path("all.yaml").write_text("\n".join(f"- {law}" for law in [*laws, "0.5"]), encoding="utf8")
    Path("fewer.yaml").write_text("\n".join(f"- {law}" for law in [*laws[1:], "0.5"]), encoding="utf8")
    assert invoke("verify c.json --from all.yaml").stdout.split(":")[0] == "proved"
    result = invoke("verify c.json --from fewer.yaml")
    assert (result.exit_code, result.stdout) == (
        1,
        "rejected: laws: the ones supplied are not those of the certificate\n",
    )
