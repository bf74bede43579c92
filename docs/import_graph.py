"""Which module imports which, read off the sources: for the test of cycles, and for the picture of the rooms."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"


def modules_and_imports() -> dict[str, set[str]]:
    """For each module all modules of ours that it imports, also inside functions and for type checking."""
    trees = {_name(path): ast.parse(path.read_text(encoding="utf8")) for path in sorted(SOURCE.rglob("*.py"))}
    return {name: {found for found in _imported(tree, trees) if found != name} for name, tree in trees.items()}


def _name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(tree: ast.Module, known: dict[str, ast.Module]) -> Iterator[str]:
    """`from a import b` means the module a.b if there is one, else the module a."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            names = (f"{node.module}.{each.name}" for each in node.names)
            yield from (name if name in known else node.module for name in names)


def room_of(module: str) -> str:
    """The first name below optcomp; the package itself is a room of its own."""
    return module.split(".")[1] if "." in module else module
