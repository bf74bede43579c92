"""Eight processes on one account until its budget is gone: granted is what fits, exactly, and all of it is there."""

from __future__ import annotations

import pytest

from tests.system.campaigns import campaign


@pytest.mark.parametrize("mode", ["shared", "own", "releases"])
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_eight_processes(database: str, mode: str) -> None:
    requests = "200" if mode != "releases" else "50"
    code, printed = campaign("many_processes", "--requests", requests, "--database", database, "--mode", mode)
    assert code == 0, printed
    assert " 0 findings" in printed
