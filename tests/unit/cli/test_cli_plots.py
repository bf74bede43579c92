"""Plots: real files with real curves, and parts of a list that grow as they should."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import matplotlib
import matplotlib.image
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import optcomp as oc
from optcomp.cli.compose.growth_plot import MOST_POINTS
from optcomp.cli.drawing import affordable_points
from optcomp.composition import growing
from optcomp.reading import MechanismCounts
from tests.unit.cli.in_process import invoke


def test_png_is_not_blank(tmp_path: Path) -> None:
    path = tmp_path / "out.png"
    result = invoke(["compare", "0.01x1000", "--delta", "1e-9", "--plot", str(path)])
    assert result.exit_code == 0, result.stderr
    assert f"The plot is in {path}" in result.stdout
    image = matplotlib.image.imread(path)
    assert image.shape[:2] == (750, 1200)
    assert 15_000 < path.stat().st_size < 500_000
    colours = np.unique((image[:, :, :3] * 255).round().astype(int).reshape(-1, 3), axis=0)
    assert {(0, 0, 0), (0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167)} <= set(map(tuple, colours.tolist()))
    inside = image[60:670, 90:1190, :3].min(axis=2)
    assert 0.01 < float((inside < 0.5).mean()) < 0.3


@pytest.mark.parametrize("command", ["0.1x50 0.2,1e-9x50 --epsilon 3", "0.3 0.2 0.1 --delta 1e-6 --adaptive"])
def test_svg_and_pdf(tmp_path: Path, command: str) -> None:
    for kind, magic in {"svg": b"<?xml", "pdf": b"%PDF"}.items():
        path = tmp_path / f"out.{kind}"
        result = invoke(f"compare {command} --json --plot {path}")
        assert result.exit_code == 0, result.stderr
        assert json.loads(result.stdout)["bounds"]
        assert path.read_bytes().startswith(magic)


def test_infinite_points_are_left_out(tmp_path: Path) -> None:
    """Past a hundred mechanisms nothing is proved, before that there is a curve."""
    path = tmp_path / "out.png"
    result = invoke(["compare", "0.1,1e-8x200", "--delta", "1e-6", "--plot", str(path)])
    assert (result.exit_code, result.stderr) == (0, "")
    assert path.stat().st_size > 10_000


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=30), st.integers(1, 40))
def test_parts_grow_to_the_whole(sizes: list[int], points: int) -> None:
    counts: MechanismCounts = {oc.PureDP(place): size for place, size in enumerate(sizes)}
    parts = list(growing(counts, points))
    for smaller, larger in itertools.pairwise(parts):
        assert all(smaller[item] <= larger[item] for item in larger)
        assert sum(smaller.values()) < sum(larger.values())
    if any(sizes):
        assert parts[-1] == {item: size for item, size in counts.items() if size}


def test_single_mechanisms_enter_in_order() -> None:
    counts: MechanismCounts = {oc.PureDP(place): 1 for place in range(5)}
    for part in growing(counts, 40):
        present = list(part.values())
        assert present == sorted(present, reverse=True)


def test_equal_mechanisms_start_with_one() -> None:
    parts = list(growing({oc.PureDP(1): 1000}, 40))
    assert [sum(part.values()) for part in (parts[0], parts[-1])] == [1, 1000]


def test_slow_lists_get_fewer_points() -> None:
    assert [affordable_points(seconds, MOST_POINTS) for seconds in (0.0, 0.1, 0.5, 60.0)] == [40, 40, 20, 8]


def test_labels_say_what_the_axes_cannot(tmp_path: Path) -> None:
    """Curves at zero have no place on a logarithmic axis; k grows in whole steps, in an order that is told."""
    drawn = {}
    for items in ("0.1", "0.1 0.2 0.3", "0.1x3 0.2x8"):
        path = tmp_path / "out.svg"
        with matplotlib.rc_context({"svg.fonttype": "none"}):
            result = invoke(["compare", *items.split(), "--epsilon", "0.2", "--plot", str(path)])
        assert result.exit_code == 0, result.stderr
        drawn[items] = path.read_text(encoding="utf8")
    assert "basic composition (0)" in drawn["0.1"]
    assert "0.5</text>" not in drawn["0.1"]
    assert "number of mechanisms k</text>" in drawn["0.1"]
    assert "number of mechanisms k, in the order given" in drawn["0.1 0.2 0.3"]
    assert "number of mechanisms k, all kinds growing in proportion" in drawn["0.1x3 0.2x8"]


def test_nothing_but_zeros_is_not_drawn(tmp_path: Path) -> None:
    path = tmp_path / "out.svg"
    result = invoke(["compare", "0.1", "--epsilon", "0.2", "--adaptive", "--plot", str(path)])
    assert (result.exit_code, path.exists()) == (2, False)
    assert result.stderr == "optcomp: --plot: there is no δ above 1e-30 at ε = 0.2, so nothing to draw\n"
