"""Four walks through the house, traced: which files of optcomp a call passes, in the order in which it enters them.

`python docs/walks.py` prints them; `--json` prints one object. `docs/generate.py` writes them into docs/walks.md.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType

import optcomp
from optcomp.errors import MissingExtra

EXAMPLES = Path(__file__).parents[1] / "examples"

Walk = Callable[[], object]


def compose_a_list() -> Walk:
    """A hundred different ε: too many for an exact answer, so the engine is asked."""
    compose = optcomp.compose
    return lambda: compose([0.010 + 0.001 * i for i in range(100)], delta=1e-6)


def compose_a_mixture() -> Walk:
    """(ε, δ) pairs beside Gaussian and Laplace noise, by their losses."""
    pairs, gaussian, laplace = optcomp.ApproxDP("0.1", "1e-9"), optcomp.Gaussian(sigma=4), optcomp.Laplace(scale=10)
    compose = optcomp.compose
    return lambda: compose({pairs: 50, gaussian: 1, laplace: 20}, delta=1e-6)


def ask_a_session() -> Walk:
    """One noisy mean of a table that is open already, under a filter."""
    from optcomp.interactive import Session, SumFilter
    from optcomp.statistics import Integers, Mean, Table

    survey = Table(EXAMPLES / "people.parquet", {"age": Integers(16, 100)}, person="person", rows_per_person=2)
    session = Session(survey, SumFilter("1"))
    return lambda: session.ask(Mean("age", where="age < 65"), epsilon="0.5")


def release_a_plan() -> Walk:
    """The shipped plan of eight statistics, read from its file, worked out, and released into a temporary folder."""
    from optcomp.planner import read_file
    from optcomp.release import release_plan

    def walk() -> None:
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "plan.release.json"
            plan, ledger = read_file(EXAMPLES / "plan.yaml"), Path(folder) / "people.ledger"
            release_plan(plan, EXAMPLES / "people.parquet", target, ledger=ledger)

    return walk


WALKS: dict[str, Callable[[], Walk]] = {
    "compose a list": compose_a_list,
    "compose a mixture": compose_a_mixture,
    "ask a session": ask_a_session,
    "release a plan": release_a_plan,
}


def passed(walk: Walk) -> list[str]:
    """The files whose functions run during the call, in order of first entry."""
    found: dict[str, None] = {}
    root = str(Path(optcomp.__file__).parent) + "/"

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(root):
            found.setdefault(frame.f_code.co_filename.removeprefix(root))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        walk()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(found)


def load_everything() -> None:
    """Import every module now, so that no import is taken for a step of a walk.

    Those for frameworks that are not installed here are left out: no walk goes through them.
    """
    for module in pkgutil.walk_packages(optcomp.__path__, "optcomp."):
        with suppress(MissingExtra):
            importlib.import_module(module.name)


def walks() -> dict[str, list[str]]:
    """The four walks by name."""
    load_everything()
    return {name: passed(prepare()) for name, prepare in WALKS.items()}


def main() -> None:
    """Print the walks."""
    found = walks()
    if "--json" in sys.argv[1:]:
        print(json.dumps(found, indent=2))
        return
    for name, files in found.items():
        print(f"{name}: {len(files)} files", *(f"  {file}" for file in files), sep="\n")


if __name__ == "__main__":
    main()
