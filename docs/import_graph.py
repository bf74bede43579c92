"""Which module imports which, read off the sources: for the test of cycles, and for the picture of the rooms.

`python docs/import_graph.py` draws docs/images/rooms.png; `--json` prints the counts instead. `make docs` runs it.
"""

from __future__ import annotations

import ast
import json
import logging
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOCS = Path(__file__).parent
SOURCE = DOCS.parent / "src"
PICTURE = DOCS / "images" / "rooms.png"
BEFORE = DOCS / "rooms-before.json"
"""The counts of commit 3ca6864, the last one before the rooms were drawn anew, made by `--json`."""

Facts = dict[str, Any]


def modules_and_imports(source: Path = SOURCE) -> dict[str, set[str]]:
    """For each module all modules of ours that it imports, also inside functions and for type checking."""
    trees = {_name(path, source): ast.parse(path.read_text(encoding="utf8")) for path in sorted(source.rglob("*.py"))}
    return {name: {found for found in _imported(tree, trees) if found != name} for name, tree in trees.items()}


def _name(path: Path, source: Path) -> str:
    parts = path.relative_to(source).with_suffix("").parts
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


def crossings(source: Path = SOURCE) -> list[tuple[str, str, bool]]:
    """Each module with what it imports of another room, as it is written, and whether that is deep inside the room.

    `from optcomp.theorems import opt` goes to the surface of the room; `from optcomp.theorems.opt import …` is deep.
    What stands in no room is for everybody and is not counted: the package itself, and single modules such as errors.
    """
    trees = {_name(path, source): ast.parse(path.read_text(encoding="utf8")) for path in sorted(source.rglob("*.py"))}
    packages = {name.rpartition(".")[0] for name in trees}
    pairs = {(name, found) for name, tree in trees.items() for found in _written(tree) if found in trees}
    rooms = {room_of(package) for package in packages if package.count(".") == 1}
    crossing = ((a, b) for a, b in pairs if room_of(b) in rooms and room_of(a) != room_of(b))
    return sorted((a, b, b not in packages) for a, b in crossing)


def _written(tree: ast.Module) -> Iterator[str]:
    """The modules that an import names after `from`, or after `import`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module


def in_cycles(imports: dict[str, set[str]]) -> list[str]:
    """The modules that import themselves by some way round."""
    return sorted(module for module in imports if module in _reached(imports, module))


def _reached(imports: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = list(imports[start])
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting += imports[module]
    return seen


def layers(root: Path = DOCS.parent) -> list[list[str]]:
    """The rooms as the import contract in pyproject.toml orders them, the topmost line first."""
    contracts = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf8"))["tool"]["importlinter"]["contracts"]
    lines = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [[room.strip().removeprefix("optcomp.") for room in line.split("|")] for line in lines]


def facts(root: Path = DOCS.parent) -> Facts:
    """Rooms with their sizes, and how many imports lead from one to another; ready for JSON."""
    imports = modules_and_imports(root / "src")
    crossing = crossings(root / "src")
    return {
        "layers": layers(root),
        "modules": dict(sorted(Counter(room_of(module) for module in imports).items())),
        "crossing": len(crossing),
        "deep": sum(deep for _, _, deep in crossing),
        "in_cycles": in_cycles(imports),
        "arrows": _arrows(crossing),
    }


def _arrows(crossing: list[tuple[str, str, bool]]) -> list[dict[str, Any]]:
    every, deep = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for a, b, inside in crossing:
        every[room_of(a), room_of(b)] += 1
        deep[room_of(a), room_of(b)] += inside
    return [{"from": a, "to": b, "imports": n, "deep": deep[a, b]} for (a, b), n in sorted(every.items())]


def drawn(found: Facts) -> str:
    """What a picture is made of, as a text that is stored in it, so that a test can tell whether it is current."""
    return json.dumps(found, sort_keys=True)


def draw(path: Path = PICTURE) -> None:
    """Who imports whom, before and now, side by side: one field for each pair of rooms."""
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    from matplotlib.figure import Figure

    before, now = json.loads(BEFORE.read_text(encoding="utf8")), facts()
    figure = Figure(figsize=(13, 6.6), dpi=110, layout="constrained")
    for place, (title, found) in enumerate((("before", before), ("now", now)), start=1):
        axes = figure.add_subplot(1, 2, place)
        _panel(axes, found)
        words = f"{found['crossing']} imports of another room, {found['deep']} of them of a module deep inside it"
        axes.set_title(f"{title}: {words}", fontsize=10, pad=14)
    figure.supxlabel(
        "A field counts the imports of the room above it by modules of the room to its left. Orange: of modules deep "
        "inside; blue: of the room's surface.\nRight of the diagonal an import goes down the house, left of it "
        "it would go up.",
        fontsize=9,
    )
    figure.savefig(path, metadata={"Description": drawn(now), "Software": None})


def _panel(axes: Axes, found: Facts) -> None:
    rooms = rooms_in_order(found)
    number = {room: place for place, room in enumerate(rooms)}
    for arrow in found["arrows"]:
        _field(axes, number[arrow["to"]], number[arrow["from"]], arrow)
    for place in range(len(rooms)):
        axes.fill([place, place + 1, place + 1, place], [place, place, place + 1, place + 1], color="#DDDDDD")
    middles = [place + 0.5 for place in range(len(rooms))]
    axes.set_xticks(middles, rooms, rotation=45, ha="left", fontsize=9)
    axes.set_yticks(middles, [f"{room} ({found['modules'][room]})" for room in rooms], fontsize=9)
    axes.set(xlim=(0, len(rooms)), ylim=(len(rooms), 0), aspect="equal")
    axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
    axes.grid(visible=False)


def rooms_in_order(found: Facts) -> list[str]:
    """What imports from a room or is imported: the package first, then as the contract orders them, then all others."""
    shown = {arrow[end] for arrow in found["arrows"] for end in ("from", "to")}
    ordered = ["optcomp", *(room for row in found["layers"] for room in row)]
    return [room for room in (*ordered, *sorted(shown - set(ordered))) if room in shown]


def _field(axes: Axes, x: int, y: int, arrow: dict[str, Any]) -> None:
    """The number of imports, on orange for those of deep modules and blue for the others, each by its share."""
    cut = y + 1 - arrow["deep"] / arrow["imports"]
    for colour, top, bottom in (("#9ECAE9", y, cut), ("#FDC086", cut, y + 1)):
        axes.fill([x, x + 1, x + 1, x], [top, top, bottom, bottom], color=colour, linewidth=0)
    axes.plot([x, x + 1, x + 1, x, x], [y, y, y + 1, y + 1, y], color="white", linewidth=2)
    axes.text(x + 0.5, y + 0.5, str(arrow["imports"]), ha="center", va="center", fontsize=9)


def main() -> None:
    """Draw the picture, or print the counts."""
    if "--json" in sys.argv[1:]:
        print(json.dumps(facts(), indent=1, ensure_ascii=False))
    else:
        draw()


if __name__ == "__main__":
    main()
