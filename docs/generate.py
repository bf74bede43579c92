"""Write the generated pages: theorems, references, the command line, Figure 2, the schema of plans, rooms and walks.

`make docs` runs this; a test compares the pages with what would be written now, so they cannot drift.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import typer

import optcomp as oc
from optcomp.cli.main import app
from optcomp.planner.plan_schema import schema

DOCS = Path(__file__).parent
OTHERS = ("theorem_cards", "reference_library", "reference_center", "reference_formats")
"""Scripts beside this one, each with pages of its own."""


def commands(group: typer.Typer, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """A command and all below it, in the order of the program; what is hidden is left out."""
    yield before
    for each in group.registered_commands:
        name = each.name or (each.callback.__name__.replace("_", "-") if each.callback else "")
        if not each.hidden:
            yield (*before, name)
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            yield from commands(inner.typer_instance, (*before, str(inner.name or inner.typer_instance.info.name)))


def command_page() -> str:
    """The help of every command, as a terminal of 100 columns shows it."""
    codes = [
        "Exit code 0; 2 and one line on standard error for bad input and for data that cannot be read; 1 if `verify`",
        "did not prove the claim, if `audit` caught a mechanism leaking more than it claims, if `data check` has",
        "advice, or if `ledger verify` found something wrong.",
    ]
    lines = ["# Command line", "", *codes, ""]
    for command in commands(app):
        lines += [f"## optcomp {' '.join(command)}".rstrip(), "", "```text", _help(command), "```", ""]
    return "\n".join(lines)


def _help(command: tuple[str, ...]) -> str:
    """What --help prints, without colours and at a fixed width."""
    environment = {**os.environ, "COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1", "TERM": "dumb"}
    call = [str(Path(sys.executable).with_name("optcomp")), *command, "--help"]
    run = subprocess.run(call, capture_output=True, text=True, check=True, env=environment)
    return "\n".join(line.rstrip() for line in run.stdout.strip().splitlines())


def figure_2_page() -> str:
    """How much larger than optimal the older bounds are at the setting of Murtagh and Vadhan's Figure 2."""
    lines = [
        "# Murtagh and Vadhan's Figure 2, in numbers",
        "",
        "k mechanisms, each (ε, 0)-DP, at δ_g = 2^−25. The optimal total is exact (KOV15-3.3); the other columns say",
        "by how much each bound exceeds it. The paper reports savings of 30–40 % over DRV and about 20 % over the KOV",
        "bound.",
        "",
        "| ε | k | optimal ε_g | basic (DKMMN06) | DRV10 | KOV15-3.4 |",
        "|---|---|---|---|---|---|",
    ]
    for eps in ("0.005", "0.01", "0.05", "0.1"):
        lines += [_figure_2_row(eps, k) for k in (50, 100, 200, 500, 1000, 10_000)]
    lines += [
        "",
        "For the paper's ε = 0.005 the KOV bound is 17–23 % above the optimum from k = 50 to 1000, and DRV 25–37 %:",
        "the paper's figures, if an excess over the optimum is meant and k is at the lower end. The gap of DRV is not",
        "monotone: its drift term kε(e^ε − 1) is twice the true mean of the loss, so it grows again once the mean",
        "dominates, while the KOV bound, which has the right mean, becomes asymptotically tight.",
        "",
    ]
    return "\n".join(lines)


def _figure_2_row(eps: str, k: int) -> str:
    delta = 2.0**-25
    best = oc.compose({eps: k}, delta=delta).epsilon
    excess = [
        f"+{100 * (oc.compose({eps: k}, delta=delta, method=method).epsilon / best - 1):.1f} %"
        for method in ("basic", "advanced", "kov")
    ]
    return f"| {eps} | {k} | {best:.6f} | {' | '.join(excess)} |"


def plan_schema() -> str:
    """What `optcomp plan schema` prints."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def walks_page() -> str:
    """Imports between rooms, and the files that four calls pass: once before the rooms were drawn anew, and now."""
    rooms, walks = (_printed(f"{name}.py", "--json") for name in ("import_graph", "walks"))
    rooms_then, walks_then = (_stored(f"{name}-before.json") for name in ("rooms", "walks"))
    lines = [
        "# Rooms and walks, counted",
        "",
        "Written by `make docs`; [architecture](architecture.md) says what the rooms and walks are. *Before* is commit",
        "3ca6864, the last one before the rooms were drawn anew.",
        "",
        "| imports between rooms | before | now |",
        "|---|---|---|",
        _row("modules", sum(rooms_then["modules"].values()), sum(rooms["modules"].values())),
        _row("imports of another room", rooms_then["crossing"], rooms["crossing"]),
        _row("of them, of a module deep inside it", rooms_then["deep"], rooms["deep"]),
        _row("modules that import themselves by some way round", len(rooms_then["in_cycles"]), len(rooms["in_cycles"])),
        "",
        "What stands in no room is for everybody, and imports of it are not counted: `errors`, and `optcomp` itself.",
        "",
        "| walk | files, before | files, now | rooms, now |",
        "|---|---|---|---|",
        *(
            f"| [{name}](#{name.replace(' ', '-')}) | {len(walks_then[name])} | {len(files)} | {len(_rooms(files))} |"
            for name, files in walks.items()
        ),
        "",
        "A file counts if one of its functions runs. Below, files stand in the order in which they are first entered.",
        "",
    ]
    for name, files in walks.items():
        lines += [f"## {name[0].upper()}{name[1:]}", "", *_steps(files), ""]
    return "\n".join(lines)


def _printed(script: str, option: str) -> Any:
    """The JSON object that a script of this folder prints, in a process of its own."""
    run = subprocess.run([sys.executable, str(DOCS / script), option], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def _stored(name: str) -> Any:
    return json.loads((DOCS / name).read_text(encoding="utf8"))


def _row(what: str, before: int, now: int) -> str:
    return f"| {what} | {before} | {now} |"


def _room(file: str) -> str:
    return file.split("/")[0].removesuffix(".py")


def _rooms(files: list[str]) -> set[str]:
    return {_room(file) for file in files if "/" in file}


def _steps(files: list[str]) -> list[str]:
    """One line for each stay in a room."""
    stays = [(room, [file.removeprefix(f"{room}/") for file in stay]) for room, stay in groupby(files, _room)]
    return [f"{place}. `{room}`: {', '.join(stay)}" for place, (room, stay) in enumerate(stays, start=1)]


def _others() -> dict[str, Callable[[], str]]:
    """The pages that other scripts of this folder write."""
    found: dict[str, Callable[[], str]] = {}
    for name in OTHERS:
        spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found |= module.PAGES
    return found


PAGES: dict[str, Callable[[], str]] = {
    "command-line.md": command_page,
    "figure-2.md": figure_2_page,
    "plan-schema.json": plan_schema,
    "walks.md": walks_page,
    **_others(),
}


def main() -> None:
    """Write every page."""
    (DOCS / "reference").mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf8")


if __name__ == "__main__":
    main()
