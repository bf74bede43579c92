"""No test may depend on chance or on a clock: random data have a seed, and no assertion compares a time that passed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
CLOCKS = {"time", "monotonic", "perf_counter", "time_ns", "monotonic_ns", "perf_counter_ns"}
"""Functions of `time` that read a wall clock; processor time may be compared, with slack."""
GENERATORS = {"Random", "default_rng", "RandomState", "SeedSequence"}
"""They are seeded by the machine when called without arguments."""
ABOUT_TIME = {
    "system/test_center_wire.py",
    "system/test_free_timing.py",
    "unit/center/test_center_cancellations.py",
}
"""Files that assert that some time has passed, which a busy machine cannot make false, and nothing about less time; or
that compare times which were taken in random order, by a test that knows the probability of chance."""


def findings(tree: ast.AST) -> Iterator[str]:
    """Describe every place that depends on chance or on a wall clock."""
    imported = any(isinstance(node, ast.Import) and node.names[0].name == "random" for node in ast.walk(tree))
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[], keywords=[]) if (
                name in GENERATORS
            ):
                yield f"line {node.lineno}: {name}() has no seed"
            case ast.Call(func=ast.Attribute(value=ast.Name(id="random"), attr=name)) if (
                imported and name not in GENERATORS
            ):
                yield f"line {node.lineno}: random.{name} has no seed"
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="random"), attr=name)) if name not in GENERATORS:
                yield f"line {node.lineno}: numpy.random.{name} has no seed"
            case ast.BinOp(op=ast.Sub(), left=left, right=right) if reads_clock(left) or reads_clock(right):
                yield f"line {node.lineno}: measures a time that passed"


def reads_clock(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="time"), attr=name) | ast.Name(id=name)):
            return name in CLOCKS
    return False


def test_no_test_depends_on_chance_or_on_a_clock() -> None:
    found = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        name = path.relative_to(TESTS).as_posix()
        wrong = list(findings(ast.parse(path.read_text(encoding="utf8"))))
        if wrong and name not in ABOUT_TIME:
            found[name] = wrong
    assert found == {}


def test_what_depends_on_chance_is_found() -> None:
    wrong = (
        "assert monotonic() - begun < 5",
        "x = Random()",
        "y = np.random.normal()",
        "import random; random.random()",
    )
    assert [len(list(findings(ast.parse(line)))) for line in wrong] == [1, 1, 1, 1]
    fine = ("assert time.monotonic() < until, 'no answer'", "Random(7)", "default_rng(3)", "time.process_time() - y")
    assert [len(list(findings(ast.parse(line)))) for line in fine] == [0, 0, 0, 0]
