"""Noise is never compared by its name, and a statistic never told by its class: read off the source."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import optcomp
from optcomp.statistics.noise import known_noises
from optcomp.statistics.register import known_statistics

ROOT = Path(optcomp.__file__).parent
NOISE = ROOT / "statistics" / "noise"
READERS = {
    ROOT / "cli",
    ROOT / "reading",
    ROOT / "center" / "calculations.py",
    ROOT / "checker",
    ROOT / "theorems" / "certificates.py",
}
"""They read and write names of mechanisms, which are not kinds of noise: as people write them, and in certificates."""
NAMES = {noise.name for noise in known_noises()}
CLASSES = {statistic.__name__ for statistic in known_statistics()} | {"Counts"}


@cache
def nodes(path: Path) -> tuple[list[ast.Constant], list[ast.Call]]:
    """The constants of a file, and the calls of functions by their name."""
    found = list(ast.walk(ast.parse(path.read_text(encoding="utf8"))))
    calls = [node for node in found if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return [node for node in found if isinstance(node, ast.Constant)], calls


def named(path: Path) -> list[str]:
    """The names of noise that a file holds as text of their own."""
    return [str(node.value) for node in nodes(path)[0] if node.value in NAMES]


def told_by_class(path: Path) -> list[str]:
    """Tests whether something is one of the statistics."""
    calls = nodes(path)[1]
    asked = [call for call in calls if call.func.id in ("isinstance", "issubclass")]  # type: ignore[attr-defined]
    return [
        ast.unparse(call)
        for call in asked
        if CLASSES & {each.id for each in ast.walk(call.args[1]) if isinstance(each, ast.Name)}
    ]


def test_a_noise_is_named_once() -> None:
    found = {path: named(path) for path in ROOT.rglob("*.py") if not READERS & {path, *path.parents}}
    assert {path.parent for path, names in found.items() if names} == {NOISE}
    assert sorted(name for names in found.values() for name in names) == sorted(NAMES)


def test_no_statistic_is_told_by_its_class() -> None:
    found = {path: told_by_class(path) for path in ROOT.rglob("*.py")}
    assert {path: calls for path, calls in found.items() if calls} == {}


def test_both_would_be_seen(tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text("if noise == 'laplace' or isinstance(x, Mean | Sum):\n    pass\n", encoding="utf8")
    assert named(file) == ["laplace"]
    assert told_by_class(file) == ["isinstance(x, Mean | Sum)"]
