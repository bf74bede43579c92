"""`figures`: the table, the file and the picture say what the library says, and the page shows what is printed."""

from __future__ import annotations

import csv
import json
import re
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest

from optcomp.cli.figures import command as figures
from optcomp.cli.figures.counts import remarks
from optcomp.cli.figures.drawings import PICTURES
from optcomp.proofs import count_noise as count_noise_module
from optcomp.proofs import figures as data
from optcomp.proofs.count_noise import WAYS, CountNoise, Way, compare_counts, count_noise
from tests.unit.cli.in_process import invoke

DOCS = Path(__file__).parents[3] / "docs"
PAGE = DOCS / "losses-and-curves.md"
SMALL = (1, 5, 10)
NAMES = "counts, lecture-1, murtagh-vadhan-2, concurrent, simulation"


def invoked(*arguments: str) -> Any:
    return invoke(["figures", *arguments])


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_noise_module, "SIZES", SMALL)


@pytest.mark.usefixtures("few")
def test_table_and_file_are_the_library_s(tmp_path: Path) -> None:
    result = invoked(str(tmp_path / "new" / "out"), "--only", "counts", "--epsilon", "0.5", "--delta", "1e-5")
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    rows = list(compare_counts(SMALL, epsilon="0.5", delta="1e-5"))
    with (tmp_path / "new" / "out" / "counts.csv").open(encoding="utf8") as file:
        header, *lines = csv.reader(file)
    assert header == ["counts", *WAYS]
    assert [[float(cell) for cell in line[1:]] for line in lines] == [
        [row.deviation(way) for way in WAYS] for row in rows
    ]
    assert [int(line[0]) for line in lines] == list(SMALL)
    shown = [line.split("│") for line in result.stdout.splitlines() if re.match(r"│ +\d", line)]
    for cells, row in zip(shown, rows, strict=True):
        assert cells[7].strip() == WAYS[row.least]
        for cell, way in zip(cells[2:7], WAYS, strict=True):
            assert row.deviation(way) <= float(cell) <= row.deviation(way) * 1.0002


@pytest.mark.usefixtures("few")
def test_json(tmp_path: Path) -> None:
    view = json.loads(invoked(str(tmp_path), "--only", "Counts", "--json").stdout)
    assert (view["epsilon"], view["delta"]) == ("1", "1e-6")
    expected = count_noise(5, epsilon=1, delta="1e-6")
    assert view["counts"][1] == {
        "counts": 5,
        "deviations": {way: expected.deviation(way) for way in WAYS},
        "least": "laplace-l1",
    }


@pytest.mark.usefixtures("few")
def test_png_has_a_line_for_each_way(tmp_path: Path) -> None:
    invoked(str(tmp_path), "--only", "counts")
    image = (matplotlib.image.imread(tmp_path / "counts.png")[:, :, :3] * 255).round().astype(int)
    assert image.shape == (750, 1200, 3)
    colours = {tuple(colour) for colour in np.unique(image.reshape(-1, 3), axis=0).tolist()}
    assert {(204, 121, 167), (0, 114, 178), (213, 94, 0), (0, 158, 115), (0, 0, 0)} <= colours
    inside = image[60:670, 95:1190].min(axis=2)
    assert 0.005 < float((inside < 128).mean()) < 0.3


def _row(d: int, **scales: float) -> CountNoise:
    known: dict[Way, float] = dict.fromkeys(WAYS, float(d))
    return CountNoise(d, known | {name.replace("_", "-"): value for name, value in scales.items()})  # type: ignore[arg-type]


def test_remarks_say_where_each_wins() -> None:
    rows = [_row(1, gaussian_l2=5.0), _row(1000, gaussian_l2=50.0, laplace_strong=100.0)]
    lines = list(remarks(rows))
    assert lines[0] == "Laplace, ℓ1: least noise at d = 1; ×28.3 at d = 1,000"
    assert lines[1] == "Gaussian, ℓ2: least noise at d = 1,000; below Laplace, ℓ1 from d = 1,000 on"
    assert lines[2] == "Laplace, strong: never the least noise; below Laplace, ℓ1 from d = 1,000 on; +183% at d = 1,000"
    assert lines[3] == "Laplace, optimal: never the least noise; ×28.3 at d = 1,000"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("out --only nothing", f"--only: must be one of {NAMES}, got 'nothing'"),
        ("out --only counts,", f"--only: must be one of {NAMES}, got ''"),
        ("out --only counts --only lecture-2", f"--only: must be one of {NAMES}, got 'lecture-2'"),
        ("out --epsilon 0", "--epsilon: must be positive, got '0'"),
        ("out --delta 0", "--delta: must be positive, got '0'"),
        ("out --delta 1", "--delta: must be at least 0 and less than 1, got '1'"),
        ("out --delta 0,1", "--delta: must be a number such as 0.1, 1e-9 or 1/3, got '0,1' (decimal comma? write 0.1)"),
        ("taken", "'taken': File exists"),
        ("taken/out", "'taken/out': Not a directory"),
    ],
)
def test_bad_input(arguments: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("a file")
    result = invoked(*shlex.split(arguments))
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"optcomp: {line}\n")


@pytest.mark.usefixtures("few")
def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").mkdir()
    result = invoked(str(tmp_path), "--only", "counts")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"optcomp: {tmp_path / 'counts.csv'}: Is a directory\n"


def test_the_page_shows_what_is_printed(tmp_path: Path) -> None:
    """The whole comparison."""
    result = invoked(str(tmp_path), "--only", "counts")
    assert result.exit_code == 0
    lines = [line.rstrip() for line in result.stdout.replace(str(tmp_path), "pictures").splitlines()]
    assert lines[-1] == "Written: pictures/counts.svg"
    assert "\n".join(lines[:-1]) in PAGE.read_text(encoding="utf8")


# --- the figures of the papers and of the proofs ------------------------------------------------------------------


def stored(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("pictures")
    result = invoked(str(directory), "--only", "Simulation, concurrent", "--only", "murtagh-vadhan-2,lecture-1")
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    files = [f"{name}.{suffix}" for name in figures.FIGURES[1:] for suffix in ("csv", "png", "svg")]
    assert result.stdout.splitlines() == [f"Written: {directory / file}" for file in files]
    assert sorted(path.name for path in directory.iterdir()) == sorted(files)
    return directory


def test_names_are_those_of_the_pictures() -> None:
    assert ("counts", *PICTURES) == figures.FIGURES
    assert figures.complete_figure("c") == ["counts", "concurrent"]


@pytest.mark.parametrize("name", PICTURES)
def test_files_hold_the_rows(drawn: Path, name: str) -> None:
    picture = PICTURES[name]
    rows = list(picture.rows())
    assert len(rows) == picture.size
    written = [{column: str(cell) for column, cell in picture.cells(row).items()} for row in rows]
    assert stored(drawn / f"{name}.csv") == written


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_drawn(drawn: Path, name: str) -> None:
    width, height = PICTURES[name].shape
    image = matplotlib.image.imread(drawn / f"{name}.png")
    assert image.shape[:2] == (round(150 * height), round(150 * width))
    dark = float((image[:, :, :3].min(axis=2) < 0.7).mean())
    assert 0.01 < dark < 0.5
    svg = (drawn / f"{name}.svg").read_text(encoding="utf8")
    assert svg.startswith("<?xml")
    assert "<dc:date>" not in svg


def test_stored_numbers_obey_the_theorems(drawn: Path) -> None:
    for row in stored(drawn / "lecture-1.csv"):
        assert float(row["basic"]) == pytest.approx(int(row["k"]) * 0.01, rel=1e-15)
        assert float(row["optimal"]) <= min(float(row["basic"]), float(row["strong"]))
    for row in stored(drawn / "murtagh-vadhan-2.csv"):
        lower, best, kov, drv, basic = (float(row[c]) for c in ("lower", "optimal", "kov", "advanced", "basic"))
        assert lower <= best <= kov <= min(drv, basic)
    for row in stored(drawn / "concurrent.csv"):
        apart, mixed, low, high = (
            Fraction(row[c]) for c in ("one_by_one", "interleaved", "optcomp_low", "optcomp_high")
        )
        assert apart <= mixed <= min(low, high)
    parts = stored(drawn / "simulation.csv")
    for z in data.SIMULATED_X:
        here = [row for row in parts if int(row["outcome"]) == z]
        assert sum(Fraction(row["x_part"]) for row in here) == data.SIMULATED_X[z]
        assert sum(Fraction(row["y_part"]) for row in here) == data.SIMULATED_Y[z]


def test_drawing_again_gives_the_same_files(drawn: Path, tmp_path: Path) -> None:
    invoked(str(tmp_path), "--only", "simulation")
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (drawn / path.name).read_bytes()


def test_json_of_a_proof(tmp_path: Path) -> None:
    view = json.loads(invoked(str(tmp_path), "--only", "simulation", "--json").stdout)
    assert list(view) == ["simulation"]
    assert view["simulation"] == PICTURES["simulation"].view(list(data.simulation_parts()))


def test_the_page_shows_every_figure() -> None:
    page = DOCS / "figures.md"
    text = page.read_text(encoding="utf8")
    for name in PICTURES:
        assert f"](images/figure-{name}.png)" in text
        assert 5_000 < (DOCS / "images" / f"figure-{name}.png").stat().st_size < 120_000
    for name in figures.FIGURES:
        assert f"`{name}`" in text
