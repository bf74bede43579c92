"""A server for programs to try: it answers inside of the block, and is gone after it."""

from __future__ import annotations

import urllib.error
import urllib.request
from pathlib import Path

import pytest

from optcomp.center import DidNotStart, demo_server


@pytest.mark.slow
def test_a_server_answers_until_the_block_ends() -> None:
    with demo_server() as told:
        with urllib.request.urlopen(f"{told['url']}/health", timeout=60) as response:
            assert response.status == 200
        assert len(told["analysts"]) == 3
        home = Path(told["ledger"]).parent
        assert home.is_dir()
    assert not home.exists()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{told['url']}/health", timeout=5)


@pytest.mark.slow
def test_a_server_that_cannot_start_is_told() -> None:
    with pytest.raises(DidNotStart, match="optcomp serve --demo"), demo_server("--port", "70000"):
        raise AssertionError("it must not get here")
