"""Numbers with reasons: every constant of a module says why it is what it is, and one decision lives in one place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1] / "src" / "optcomp"

ROOMS = (
    *(
        "numerics",
        "guarantees",
        "instances",
        "theorems",
        "composition",
        "checker",
        "proofs",
        "statistics",
        "interactive",
    ),
    *("planner", "interop", "training", "ledger", "release", "center", "cli"),
)
"""The rooms that are looked at."""

PRECISIONS = {"numerics/balls.py", "checker/balls.py"}
"""Where working precisions are decided: once for what is proved, and once for the checker, which shares no code."""

_CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
_PRECISION = re.compile(r"_?((?!MOST|EXACT|GRID|MORE)[A-Z0-9]+_)?BITS")
"""A working precision; limits such as _MOST_BITS, where doubling ends, belong to those who double."""
_CALLS = {"log", "exp", "sqrt", "tan", "array", "arange", "exp2", "fromhex", "Fraction"}
"""Functions of numbers that still make a number."""


def numeric(node: ast.expr) -> bool:
    """Whether an expression is a number, arithmetic of numbers, or a tuple of such."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int | float | complex) and not isinstance(value, bool)
        case ast.UnaryOp(operand=operand):
            return numeric(operand)
        case ast.BinOp(left=left, right=right):
            return numeric(left) and numeric(right)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return bool(elements) and all(map(numeric, elements))
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=arguments):
            return name in _CALLS and all(numeric(each) or isinstance(each, ast.Constant) for each in arguments)
        case ast.Name(id=name):
            return _CONSTANT.fullmatch(name) is not None
        case ast.Attribute(attr=name):
            return name in ("pi", "inf")
    return False


def names(target: ast.expr) -> Iterator[str]:
    """The names that an assignment binds."""
    if isinstance(target, ast.Tuple):
        for element in target.elts:
            yield from names(element)
    elif isinstance(target, ast.Name):
        yield target.id


def constants(text: str) -> Iterator[tuple[str, bool]]:
    """Each constant of a module that is a number, or a few of them in one line, and whether a reason stands with it.

    A reason is a string right below, a comment at the end of its lines, or a comment right above.
    """
    body, lines = ast.parse(text).body, text.splitlines()
    for place, node in enumerate(body):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if not isinstance(node, ast.Assign | ast.AnnAssign) or target is None or value is None or not numeric(value):
            continue
        bound = list(names(target))
        if not bound or not all(_CONSTANT.fullmatch(name) for name in bound):
            continue
        after = body[place + 1] if place + 1 < len(body) else None
        told = (
            isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str)
        )
        own = lines[node.lineno - 1 : node.end_lineno]
        above = lines[node.lineno - 2].strip() if node.lineno > 1 else ""
        yield ", ".join(bound), told or any("  # " in line for line in own) or above.startswith("# ")


def modules() -> list[Path]:
    return sorted(path for room in ROOMS for path in (SOURCES / room).rglob("*.py"))


@cache
def constants_of(path: Path) -> list[tuple[str, bool]]:
    return list(constants(path.read_text(encoding="utf-8")))


def test_every_constant_says_why() -> None:
    silent = [
        f"{path.relative_to(SOURCES)}: {name}" for path in modules() for name, told in constants_of(path) if not told
    ]
    assert not silent, "\n".join(silent)


def test_working_precisions_are_decided_in_one_place() -> None:
    decided = {
        str(path.relative_to(SOURCES))
        for path in modules()
        for name, _ in constants_of(path)
        if any(_PRECISION.fullmatch(each) for each in name.split(", "))
    }
    assert decided <= PRECISIONS


def test_no_precision_is_a_bare_number() -> None:
    """`precision(128)` says neither why nor whether it is the same decision as another 128."""
    bare = [
        f"{path.relative_to(SOURCES)}:{node.lineno}"
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("precision", "working")
        if any(isinstance(each, ast.Constant) and isinstance(each.value, int) for each in node.args)
    ]
    assert not bare


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("_MOST = 3\n", [("_MOST", False)]),
        ("_MOST = 3  # for a reason\n", [("_MOST", True)]),
        ('_MOST: int = 1 << 3\n"""For a reason."""\n', [("_MOST", True)]),
        ("# for a reason\n_LEAST, _MOST = 1e-3, math.inf\n", [("_LEAST, _MOST", True)]),
        ("_A = (1, 2.0)\n_B = _A\n", [("_A", False), ("_B", False)]),
        ("_LOGS = np.array([1, 2])\n", [("_LOGS", False)]),
        ("_NAME = 'text'\nKIND = {1: 2}\nvalue = 3\n_f = 2\n", []),
    ],
)
def test_what_counts_as_a_constant_with_a_reason(text: str, found: list[tuple[str, bool]]) -> None:
    assert list(constants(text)) == found
