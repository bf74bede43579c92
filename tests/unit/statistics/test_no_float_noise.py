"""No path to noise but OpenDP's samplers of integers, in one file: read off the source, not believed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import optcomp

ROOT = Path(optcomp.__file__).parent
BROKEN = ROOT / "interactive" / "audit" / "broken.py"
NOISE = ROOT / "statistics" / "noise"
DRAWING = NOISE / "drawing.py"
FILES = sorted([*(ROOT / "statistics").rglob("*.py"), *(ROOT / "interactive").rglob("*.py")])
SIMULATED = {"laplace.py": {"rng.standard_exponential"}, "gaussian.py": {"rng.standard_normal"}}
"""Draws from the generator of `bands.py`, with which nothing is released."""
BANDS = ROOT / "statistics" / "bands.py"
COINS = ROOT / "interactive" / "audit" / "shipped.py"
KEYS = {
    ROOT / "statistics" / "preparing.py": {"secrets.token_bytes"},
    ROOT / "statistics" / "snapshot.py": {"secrets.token_hex"},
    ROOT / "statistics" / "spark.py": {"secrets.token_hex"},
}
"""Files that draw keys, and the names of temporary files and tables."""
FRAMES = ROOT / "statistics" / "sources" / "frame_cells.py"
"""Knows the type of cells that are UUIDs."""
RANDOM = {"random", "secrets", "uuid", "numpy.random", "scipy.stats", "scipy.special", "os.urandom"}
SAMPLING = {
    *("betavariate", "choice", "choices", "default_rng", "expovariate", "exponential", "gauss", "getrandbits"),
    *(
        "gumbel",
        "laplace",
        "lognormal",
        "normal",
        "normalvariate",
        "permutation",
        "ppf",
        "rand",
        "randbelow",
        "randint",
    ),
    *("randn", "random", "random_sample", "randrange", "rvs", "sample", "shuffle", "uniform"),
    *("standard_exponential", "standard_normal"),
    *("urandom", "uuid1", "uuid4", "rv_continuous"),
}


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf8"))


@cache
def imported(path: Path) -> tuple[str, ...]:
    """Every module, and every name of a module, that a file imports, at any depth."""
    return tuple(_imported(path))


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in (
            "__import__",
            "import_module",
            "needed",
        ):
            yield ast.unparse(node)


@cache
def calls(path: Path) -> tuple[str, ...]:
    """What is called, as it is written: ibis.random, rng.normal."""
    found = (node for node in ast.walk(tree(path)) if isinstance(node, ast.Call))
    return tuple(ast.unparse(node.func) for node in found if isinstance(node.func, ast.Attribute | ast.Name))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_draws_random_numbers_of_its_own(path: Path) -> None:
    if path == BROKEN:
        return  # mechanisms that are wrong on purpose, for the audit to find
    random = {name for name in imported(path) if any(name == each or name.startswith(f"{each}.") for each in RANDOM)}
    used = {call for call in calls(path) if call.startswith("secrets.")}
    if path in KEYS:
        assert (random, used) == ({"secrets"}, KEYS[path])
    else:
        assert random <= ({"uuid"} if path == FRAMES else set())
    assert not {name for name in imported(path) if "import" in name and not name.startswith("importlib.metadata")}
    assert not {name for name in imported(path) if name.startswith("needed") and not name.startswith("needed('")}
    drawn = {call for call in calls(path) if call.rsplit(".", 1)[-1] in SAMPLING}
    if path == BANDS:  # how far off a distribution may be, simulated with the same draws every time; added to nothing
        assert drawn == {"np.random.default_rng"}
        assert "np.random.default_rng(_SEED)" in path.read_text(encoding="utf8")
        return
    if path.parent == NOISE and path.name in SIMULATED:
        assert drawn == SIMULATED[path.name]
        return
    assert not drawn


def test_only_two_files_know_the_sampler() -> None:
    """The one that adds noise, and the audit's own randomized response, which flips coins and adds nothing."""
    knowing = {path for path in ROOT.rglob("*.py") if any("opendp" in name for name in imported(path))}
    assert knowing == {DRAWING, COINS}
    assert {call for call in calls(COINS) if "make_" in call} == {"dp.m.make_randomized_response_bitvec"}


def test_the_sampler_is_asked_for_integers_only() -> None:
    """Every domain is one of 64-bit integers, and every measurement is made on that domain."""
    atoms, made = [], []
    for node in (node for path in sorted(NOISE.glob("*.py")) for node in ast.walk(tree(path))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr.endswith("_domain"):
                atoms.append(ast.unparse(node))
            if node.func.attr.startswith(("make_", "then_")):
                made.append((node.func.attr, ast.unparse(node.args[0])))
    assert sorted(atoms) == ["dp.atom_domain(T='i64')", "dp.vector_domain(dp.atom_domain(T='i64'))"]
    assert sorted(made) == [("make_gaussian", "integers"), ("make_laplace", "integers"), ("make_noisy_max", "integers")]


def test_no_engine_is_asked_for_random_numbers() -> None:
    """Rows stay by a keyed digest: queries hold no draw, also not as text."""
    asked = re.compile(r"\b(random|rand|uuid|gen_random_uuid|setseed|tablesample)\s*\(|using sample", re.IGNORECASE)
    words = [
        node.value
        for path in (ROOT / "statistics").rglob("*.py")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert len(words) > 1000
    assert asked.search("ORDER BY random ()")
    assert not [word for word in words if asked.search(word)]
