"""`optcomp train`: what people type, what is printed, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import matplotlib.image
import pytest

import optcomp as oc
from tests.unit.cli.in_process import invoke

MNIST = "train --examples 60000 --batch 256 --epochs 20 --sigma 1.1"


def printed(command: str, text: str | None = None) -> str:
    result = invoke(command, text)
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    return result.stdout


def parsed(command: str, text: str | None = None) -> Any:
    return json.loads(printed(f"{command} --json", text))


def complaint(command: str, text: str | None = None) -> str:
    result = invoke(command, text)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("optcomp: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_a_run_is_what_compose_says_of_its_steps() -> None:
    view = parsed(f"{MNIST} --delta 1e-5")
    steps = oc.PoissonSubsampled(oc.Gaussian("1.1"), Fraction(256, 60000))
    bound = oc.compose({steps: 4688}, delta="1e-5")
    for key, value in bound.as_dict().items():
        if key != "notes":
            assert view[key] == value
    assert view["phases"] == [{"sigma": "1.1", "rate": "8/1875", "steps": 4688}]
    assert (view["steps"], view["examples"], view["warnings"]) == (4688, 60000, [])
    assert [one["name"].partition(",")[0] for one in view["others"]] == ["RDP", "PRV", "GDP"]
    rdp, prv, gdp = (one["epsilon"] for one in view["others"])
    assert gdp < bound.lower < bound.upper < prv < rdp


def test_for_people() -> None:
    text = printed(f"{MNIST} --delta 1e-5 --over-steps 4")
    for words in (
        "8/1875 ≈ 0.00426667",
        "4,688  (20.0021 epochs)",
        "1.3188536",
        "ZDW22",
        "below the truth by",
        "1,172",
    ):
        assert words in text
    for words in (
        "clip norm",
        "no rule for when to stop",
        "not counted: trying several settings",
        "exact Gaussian noise",
    ):
        assert words in text
    assert "RDP" not in printed(f"{MNIST} --delta 1e-5 --alone")


def test_rate_and_steps_are_the_same_question() -> None:
    one = parsed(f"{MNIST} --delta 1e-5 --alone")
    assert parsed("train --rate 8/1875 --steps 4688 --sigma 1.1 --delta 1e-5 --alone")["upper"] == one["upper"]
    accumulated = parsed(
        "train --examples 60000 --batch 64 --accumulate 4 --epochs 20 --sigma 1.1 --delta 1e-5 --alone"
    )
    assert accumulated["upper"] == one["upper"]
    assert "parts of one Poisson sample" in str(accumulated["notes"])


def test_delta_at_an_epsilon() -> None:
    view = parsed(f"{MNIST} --epsilon 1")
    assert view["quantity"] == "delta"
    assert view["others"] == []
    assert 1e-5 < view["lower"] <= view["upper"] < 1e-3


@pytest.mark.parametrize(
    ("left_out", "name"),
    [("--batch 256 --epochs 20", "sigma"), ("--epochs 20 --sigma 1.1", "batch"), ("--batch 256 --sigma 1.1", "steps")],
)
def test_what_is_left_out_is_found(left_out: str, name: str) -> None:
    view = parsed(f"train --examples 60000 {left_out} --epsilon 2 --delta 1e-5 --alone")
    assert view["found"]["name"] == name
    assert 1.99 < view["upper"] <= 2


def test_a_schedule(tmp_path: Path) -> None:
    rows = [{"sigma": 1.2, "batch": 256, "epochs": 10}, {"sigma": 1, "rate": 0.01, "steps": 50}]
    json_file, csv_file, yaml_file = (tmp_path / f"phases.{suffix}" for suffix in ("json", "csv", "yaml"))
    json_file.write_text(json.dumps(rows))
    csv_file.write_text("sigma,batch,epochs,rate,steps\n1.2,256,10,,\n1,,,0.01,50\n")
    yaml_file.write_text("- {sigma: 1.2, batch: 256, epochs: 10}\n- {sigma: 1, rate: 0.01, steps: 50}\n")
    views = [
        parsed(f"train --examples 60000 --schedule {path} --delta 1e-5 --alone")
        for path in (json_file, csv_file, yaml_file)
    ]
    assert views[0] == views[1] == views[2]
    phases = {
        oc.PoissonSubsampled(oc.Gaussian("1.2"), Fraction(256, 60000)): 2344,
        oc.PoissonSubsampled(oc.Gaussian(1), "0.01"): 50,
    }
    assert views[0]["upper"] == oc.compose(phases, delta="1e-5").upper
    assert "phases" in printed(f"train --examples 60000 --schedule {json_file} --delta 1e-5 --alone --over-steps 3")


def test_options_fill_in_a_schedule() -> None:
    command = "train --examples 1000 --rate 0.5 --epochs 1 --schedule - --delta 1e-5 --alone"
    view = parsed(command, "sigma,batch\n4,\n8,100\n")
    assert [phase["rate"] for phase in view["phases"]] == ["0.5", "0.1"]
    assert [phase["steps"] for phase in view["phases"]] == [2, 10]
    sought = parsed("train --rate 0.1 --epsilon 1 --delta 1e-5 --schedule - --alone", "steps\n10\n20\n")
    assert sought["found"]["name"] == "sigma"
    assert sought["upper"] <= 1
    assert "least σ found" in printed("train --rate 1 --steps 2 --epsilon 1 --delta 1e-5 --alone")


@pytest.mark.parametrize(
    "options",
    ["", "--clip-sigma 10", "--batches fixed", "--group 3", "--epsilon 1", "--neighbours replace"],
)
def test_certificates_are_proved(options: str, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    asked = options if "--epsilon" in options else f"{options} --delta 1e-5"
    text = printed(f"{MNIST} {asked} --alone --certificate {path}")
    assert f"The certificate is in {path}" in text
    assert printed(f"verify {path}").startswith("proved: ")


def test_adaptive_clipping_is_a_second_query() -> None:
    one, two = (parsed(f"{MNIST} --delta 1e-5 --alone {more}") for more in ("", "--clip-sigma 5"))
    joint = oc.PoissonSubsampled(oc.Gaussian((1.1**-2 + 5**-2) ** -0.5), Fraction(256, 60000))
    assert two["upper"] == pytest.approx(oc.compose({joint: 4688}, delta="1e-5").upper, rel=1e-9)
    assert two["upper"] > one["upper"]
    assert "second query" in str(two["notes"])


def test_warnings_are_loud() -> None:
    text = printed(f"{MNIST} --delta 1e-4 --batches shuffled")
    assert text.count("WARNING: ") == 2
    assert "1/examples = 1/60000" in text
    assert "shuffled batches are not Poisson samples" in text
    view = parsed(f"{MNIST} --delta 1e-4 --batches shuffled")
    assert view["upper"] == oc.compose({oc.Gaussian("1.1"): 20}, delta="1e-4").upper
    assert view["lower"] == 0


@pytest.mark.slow
def test_a_plot(tmp_path: Path) -> None:
    path = tmp_path / "run.png"
    assert f"The plot is in {path}" in printed(f"{MNIST} --delta 1e-5 --plot {path}")
    assert matplotlib.image.imread(path).shape[:2] == (750, 1200)
    deltas = tmp_path / "deltas.svg"
    printed(f"train --rate 0.1 --steps 9 --sigma 1 --epsilon 1 --plot {deltas}")
    assert deltas.read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--batches truncated --delta 1e-5", "--batches: is refused: Poisson samples that are cut"),
        ("--batches padded --delta 1e-5", "filled up to a fixed size"),
        ("--batches mixed --delta 1e-5", "must be one of poisson"),
        ("--algorithm dp-ftrl --delta 1e-5", "noise is correlated between steps"),
        ("--algorithm banded --delta 1e-5", "noise is correlated between steps"),
        ("--batches shuffled --neighbours add-remove --delta 1e-5", "--neighbours: must be zero-out or replace"),
        ("--epsilon 1 --delta 1e-5", "leave out exactly one of --sigma, --batch and --epochs"),
        ("", "give --delta, --epsilon"),
        ("--rate 0.1 --delta 1e-5", "give one of --rate and --batch, not both"),
        ("--steps 5 --delta 1e-5", "give one of --steps and --epochs, not both"),
        ("--delta 1,5", "--delta: must be a number"),
        ("--clip-sigma 0 --delta 1e-5", "--clip-sigma: must be positive"),
        ("--group 0 --delta 1e-5", "--group: must be a whole number"),
        ("--over-steps 0 --delta 1e-5", "--over-steps: must be a whole number"),
        ("--plot run.gif --delta 1e-5", "--plot: the file must end in"),
        ("--schedule no-such-file --delta 1e-5", "no-such-file: No such file"),
    ],
)
def test_refusals_are_one_line(options: str, words: str) -> None:
    assert words in complaint(f"{MNIST} {options}")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("train --batch 5 --epochs 1 --sigma 1 --delta 1e-5", "give --examples with --batch"),
        ("train --rate 0.1 --steps 5 --delta 1e-5", "give --sigma"),
        ("train --rate 0.1 --sigma 1 --delta 1e-5", "give --epochs or --steps"),
        ("train --steps 5 --sigma 1 --delta 1e-5", "give --batch or --rate"),
        ("train --steps 5 --sigma 1 --epsilon 1 --delta 1e-5", "give --examples, so that a batch can be sought"),
        ("train --rate 2 --steps 5 --sigma 1 --delta 1e-5", "--rate: makes a rate of 2"),
        ("train --rate 0.1 --steps 5 --sigma -1 --delta 1e-5", "--sigma: must be positive"),
        ("train --rate 0.1 --steps 2.5 --sigma 1 --delta 1e-5", "--steps: must be a whole number"),
    ],
)
def test_what_is_missing_is_named(command: str, words: str) -> None:
    assert words in complaint(command)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sigma,clip\n1,2\n", "phase 1: 'clip' is not known"),
        ("sigma\n", "must be a list of phases"),
        ("[1, 2]", "must be a list of phases"),
        ("[{", "cannot be read"),
        ('[{"sigma": [1]}]', "sigma: must be a number"),
    ],
)
def test_schedules_that_cannot_be_read(text: str, words: str) -> None:
    assert words in complaint("train --rate 0.1 --steps 5 --sigma 1 --delta 1e-5 --schedule -", text)
