"""The rooms of the house: no module depends on itself, by whatever way round."""

from __future__ import annotations

import importlib.util
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "docs" / "import_graph.py"


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    spec = importlib.util.spec_from_file_location(SCRIPT.stem, SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    found: dict[str, set[str]] = script.modules_and_imports()
    return found


def test_no_cycle_between_modules(imports: dict[str, set[str]]) -> None:
    assert len(imports) > 150
    TopologicalSorter(imports).prepare()


def test_a_cycle_would_be_found(imports: dict[str, set[str]]) -> None:
    with pytest.raises(CycleError):
        TopologicalSorter({**imports, "optcomp.errors": {"optcomp.cli.main"}}).prepare()
