"""`show`: numbers of the privacy loss against formulas, the curve against the library, and pictures that show them."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.image
import numpy as np
import pytest

import optcomp as oc
from optcomp.cli.drawing import affordable_points
from optcomp.cli.show.loss_histogram import histogram, loss_histogram
from optcomp.cli.show.mechanism_facts import MechanismFacts
from optcomp.cli.show.panels import MOST_POINTS
from optcomp.cli.show.privacy_curve import DELTAS, EPSILONS
from optcomp.reading import MechanismCounts
from tests.unit.cli.in_process import invoke

BLUE, ORANGE, BLACK = (0, 114, 178), (213, 94, 0), (0, 0, 0)


def printed(command: str) -> str:
    result = invoke(command)
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    return result.stdout


def parsed(command: str) -> Any:
    return json.loads(printed(command))


def _loss(item: str) -> Any:
    (mechanism,) = parsed(f"show '{item}' --json")["mechanisms"]
    (loss,) = mechanism["loss"]
    return mechanism, loss


def test_gaussian_loss_is_normal() -> None:
    """N(μ²/2, μ²) with μ = 1/4."""
    mechanism, loss = _loss("gaussian(sigma=4)x100")
    assert (loss["mean"], loss["variance"], loss["standard_deviation"]) == pytest.approx((1 / 32, 1 / 16, 1 / 4))
    assert (loss["largest"], loss["infinite"], mechanism["pure_epsilon"]) == (None, 0.0, None)
    assert (mechanism["name"], mechanism["parameters"], mechanism["count"]) == ("gaussian", {"sigma": "4"}, 100)


def test_laplace_loss_is_the_formula() -> None:
    """E L = ε - 1 + e^{-ε}, and the variance by integration of the density and the atoms."""
    mechanism, loss = _loss("laplace(scale=0.5)")
    eps = 2.0
    x = np.linspace(-eps, eps, 400_001)
    density = np.exp(-(eps - x) / 2) / 4
    mean = eps / 2 - eps * math.exp(-eps) / 2 + np.trapezoid(x * density, x)
    square = eps**2 * (1 + math.exp(-eps)) / 2 + np.trapezoid(x * x * density, x)
    assert mean == pytest.approx(eps - 1 + math.exp(-eps))
    assert (loss["mean"], loss["variance"]) == pytest.approx((mean, square - mean**2), rel=1e-8)
    assert (loss["largest"], mechanism["pure_epsilon"]) == (2.0, "2")


def test_randomized_response_is_plus_minus_epsilon() -> None:
    """Also the worst of all mechanisms with its ε."""
    p = math.exp(1) / (1 + math.exp(1))
    for item, worst in (("rr(eps=1)", False), ("1", True), ("sparse-vector(0.5, 0.5)", True)):
        mechanism, loss = _loss(item)
        assert (loss["mean"], loss["variance"]) == pytest.approx((2 * p - 1, 4 * p * (1 - p)))
        assert (mechanism["worst_case"], mechanism["pure_epsilon"], loss["largest"]) == (worst, "1", 1.0)


def test_leaks_are_infinite_losses() -> None:
    for item in ("name-and-shame(1e-3)", "0,1e-3", "0.5,1e-3"):
        mechanism, loss = _loss(item)
        assert (loss["infinite"], mechanism["pure_epsilon"]) == (1e-3, None)
        assert [loss[name] for name in ("mean", "variance", "standard_deviation", "largest")] == [None] * 4
        mean = math.tanh(0.25) / 2 if item.startswith("0.5") else 0.0
        assert (loss["finite_part"]["mean"], loss["finite_part"]["largest"]) == pytest.approx((mean, 2 * mean and 0.5))
    text = printed("show 'name-and-shame(0.001)'")
    assert "│ mean loss             │ ∞, finite part 0 " in text
    assert "│ variance, finite part │ 0  (standard deviation 0) " in text
    assert "│ largest loss          │ ∞, finite part 0 " in text
    text = printed("show 0.5,1e-3x2")
    assert "│ largest loss          │ ∞, finite part 0.5 " in text
    assert "│ 0.5,0.001 × 2 " in text
    assert "with probability 0.001" in text
    assert "the worst mechanism with this (ε, δ)" in text
    assert "note on δ = 1e-3, δ = 1e-6, δ = 1e-9, δ = 1e-12: δ is below the probability" in text


def test_both_directions_where_they_differ() -> None:
    view = parsed("show 'subsampled(gaussian(sigma=1), rate=0.01)' --json")
    losses = oc.PoissonSubsampled(oc.Gaussian(1), "0.01").loss.directions
    shown = view["mechanisms"][0]["loss"]
    assert [loss["direction"] for loss in shown] == ["remove", "add"]
    assert [loss["mean"] for loss in shown] == [loss.mean for loss in losses]
    assert shown[1]["largest"] == pytest.approx(-math.log(0.99))
    text = printed("show 'subsampled(gaussian(sigma=1), rate=0.01)'")
    assert text.index("a person removed") < text.index("unbounded") < text.index("a person added")


def test_the_curve_is_the_library_s() -> None:
    view = parsed("show 'gaussian(sigma=4)x10' 0.1x5 --json")
    counts: MechanismCounts = {oc.Gaussian("4"): 10, oc.PureDP("0.1"): 5}
    assert [bound["given"] for bound in view["delta_at"]] == ["1/10", "3/10", "1", "3", "10"]
    assert view["epsilon_at"] == [oc.compose(counts, delta=delta).as_dict() for delta in DELTAS]
    assert view["delta_at"] == [oc.compose(counts, epsilon=epsilon).as_dict() for epsilon in EPSILONS]
    assert view["count"] == 15


def test_printed_sides_are_on_the_safe_side() -> None:
    text = printed("show 'gaussian(sigma=4)x100'")
    for delta in DELTAS:
        row = next(line for line in text.splitlines() if f"δ = {delta} " in line)
        upper, lower = (float(cell.split()[-1]) for cell in row.split("│")[2:4])
        bound = oc.compose({oc.Gaussian("4"): 100}, delta=delta)
        assert lower <= bound.lower <= bound.upper <= upper
        assert upper - lower < 1e-7
        assert row.split("│")[4].strip() == "DRS22"


def test_notions_have_a_renyi_curve_instead() -> None:
    (mechanism,) = parsed("show 'tcdp(rho=0.01, omega=20)' --json")["mechanisms"]
    curve = {point["order"]: point["epsilon"] for point in mechanism["renyi"]}
    assert curve[8.0] == pytest.approx(0.08)
    assert curve[32.0] is None
    assert mechanism["loss"] == []
    text = printed("show 'tcdp(rho=0.01, omega=20)'")
    assert "D_2 ≤ 0.02, D_4 ≤ 0.04, D_8 ≤ 0.08, D_16 ≤ 0.16 " in text
    assert "only a bound on Rényi divergences is known of tcdp(rho=0.01, omega=20): no loss" in text
    assert parsed("show 'exponential(0.5)' --json")["mechanisms"][0]["pure_epsilon"] == "0.5"


def test_nothing_to_show() -> None:
    result = invoke(["show"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "optcomp: nothing to show: give items such as 0.1x50 or 'gaussian(sigma=4)'\n"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("show 'gausian(4)'", "item 'gausian(4)': no mechanism is called 'gausian'; did you mean gaussian?"),
        ("show 'gaussian(4)' --plot out.gif", "--plot: the file must end in .png, .svg, .pdf, got 'out.gif'"),
        ("show 'gaussian(4)' --plot no/out.png", "--plot: 'no' is not a directory"),
        ("show 'gaussian(4)' --plot taken.png", "--plot: taken.png: Is a directory"),
        ("show -0.1", "item '-0.1': epsilon: must not be negative"),
    ],
)
def test_bad_input(command: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken.png").mkdir()
    result = invoke(command)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"optcomp: {line}\n")


def test_histogram_of_laplace_noise_is_the_formula() -> None:
    """Atoms 1/2 at ε and e^{-ε}/2 at -ε, and e^{-(ε-l)/2}/2 of the loss at most l in between."""
    found = loss_histogram(oc.Laplace(1).loss)
    assert [place for place, _ in found.atoms] == pytest.approx([-1, 1], abs=1e-6)
    assert [weight for _, weight in found.atoms] == pytest.approx([math.exp(-1) / 2, 0.5])
    inside = np.clip(found.edges, -1, 1)
    below = np.exp(-(1 - inside) / 2) / 2
    assert found.masses == pytest.approx(np.diff(below), abs=1e-9)
    assert sum(found.masses) + sum(weight for _, weight in found.atoms) == pytest.approx(1)


def test_histogram_of_a_density_has_no_atoms() -> None:
    found = loss_histogram(oc.Gaussian(4).loss)
    assert found.atoms == ()
    widths = np.diff(found.edges)
    middle = 0.5 * (np.array(found.edges[1:]) + np.array(found.edges[:-1]))
    density = np.exp(-((middle - 1 / 32) ** 2) * 8) / math.sqrt(2 * math.pi / 16)
    assert found.densities == pytest.approx(density, rel=0.01)
    assert sum(found.masses) == pytest.approx(1, abs=2e-3)
    assert all(width == pytest.approx(widths[0]) for width in widths)


def test_histogram_of_few_values_is_all_atoms() -> None:
    found = loss_histogram(oc.DiscreteLaplace(2, 3).loss)
    assert [place for place, _ in found.atoms] == pytest.approx([-1.5, -0.5, 0.5, 1.5], abs=1e-6)
    assert sum(weight for _, weight in found.atoms) == pytest.approx(1)
    assert not any(found.masses)


def test_many_atoms_in_a_bin_stay_bars() -> None:
    steps = histogram(lambda x: math.floor(max(0.0, min(x, 1.0)) * 1000) / 1000, 0.0, 1.0, 20)
    assert steps.atoms == ()
    assert [round(mass, 6) for mass in steps.masses] == [0.05] * 20


def test_infinite_losses_are_outside_the_histogram() -> None:
    found = loss_histogram(oc.NameAndShame("0.25").loss)
    assert [weight for _, weight in found.atoms] == pytest.approx([0.75])


def _image(path: Path) -> Any:
    return (matplotlib.image.imread(path)[:, :, :3] * 255).round().astype(int)


def _has(image: Any, colour: tuple[int, int, int], least: int = 200) -> bool:
    return int((image == colour).all(axis=2).sum()) >= least


def test_png_has_three_panels(tmp_path: Path) -> None:
    path = tmp_path / "out.png"
    assert f"The plot is in {path}\n" in printed(f"show 'gaussian(sigma=4)x100' --plot {path}")
    image = _image(path)
    assert image.shape == (675, 2025, 3)
    panels = [image[:, start : start + 675] for start in (0, 675, 1350)]
    assert [_has(panel, BLUE) for panel in panels] == [True] * 3
    assert all(0.01 < float((panel.min(axis=2) < 128).mean()) < 0.3 for panel in panels)
    assert _has(panels[1][80:600, 150:], BLACK, 300)  # the curve of all


def test_curves_in_the_picture_are_where_they_should_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines handed to the figure: δ(ε) of one and of all, f(α), and the diagonal."""
    from matplotlib.axes import Axes

    drawn: dict[str, tuple[Any, Any]] = {}
    plain = Axes.plot

    def plot(self: Axes, x: Any, y: Any, *rest: Any, **style: Any) -> Any:
        drawn[str(style.get("label"))] = (x, y)
        return plain(self, x, y, *rest, **style)

    monkeypatch.setattr(Axes, "plot", plot)
    printed(f"show 'gaussian(sigma=2)x9' --plot {tmp_path / 'out.svg'}")
    mechanism = oc.Gaussian("2")
    eps, delta = drawn["one"]
    assert delta[:50] == [mechanism.loss.delta(value) for value in eps[:50]]
    eps, delta = drawn["9 mechanisms, proved from above"]
    assert eps[0] == 0.0
    assert eps[-1] == pytest.approx(oc.compose({mechanism: 9}, delta="1e-12").upper, rel=1e-14)
    assert delta == [oc.compose({mechanism: 9}, epsilon=value).upper for value in eps]
    alpha, f = drawn["one mechanism"]
    assert f == [mechanism.loss.tradeoff(value) for value in alpha]
    assert drawn["1 - α: nothing is told"] == ([0, 1], [1, 0])
    assert all(right <= left for left, right in itertools.pairwise(f))


def test_both_directions_are_drawn(tmp_path: Path) -> None:
    path = tmp_path / "out.png"
    printed(f"show 'subsampled(gaussian(sigma=0.5), rate=0.2)' --plot {path}")
    panels = [_image(path)[:, start : start + 675] for start in (0, 675, 1350)]
    assert all(_has(panel, BLUE) and _has(panel, ORANGE, 100) for panel in panels)


def test_notions_are_drawn_in_two_panels(tmp_path: Path) -> None:
    path = tmp_path / "out.png"
    text = printed(f"show 'zcdp(0.01)x3' 'gaussian(4)' --plot {path}")
    assert "note: the panels of one mechanism show zcdp(rho=0.01)\n" in text
    assert _image(path).shape == (675, 1350, 3)
    assert _has(_image(path)[:, :675], BLUE)


def test_svg_names_what_it_shows(tmp_path: Path) -> None:
    path = tmp_path / "out.svg"
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        printed(f"show 0.5,1e-3x3 --plot {path}")
    text = path.read_text(encoding="utf8")
    for words in ("worst case of 0.5,0.001", "infinite with probability 0.001", "probability of an atom", "δ(ε)"):
        assert words in text
    assert "density, exact" not in text


def test_slow_curves_get_fewer_points() -> None:
    assert [affordable_points(seconds, MOST_POINTS) for seconds in (0.0, 0.5, 60.0)] == [25, 20, 8]


def test_portraits_know_their_text() -> None:
    assert MechanismFacts(oc.Laplace("0.1"), 3).text == "laplace(scale=0.1)"
    assert [name for name, _ in MechanismFacts(oc.Laplace("0.1"), 3).directions] == [""]
    assert list(MechanismFacts(oc.ZCDP("0.1"), 1).directions) == []
