"""Eight processes on one account until its budget is gone: granted is what fits, exactly, and all of it is there."""

from __future__ import annotations

import re

import pytest

from tests.campaign.many_processes import MODES
from tests.system.campaigns import campaign, server

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_eight_processes(database: str) -> None:
    """In one session, each in its own, and on the account itself.

    Ledgers without a lock are caught by eight processes of ten requests (tests/unit/ledger/test_machine.py).
    """
    with server(database) as where:
        code, printed = campaign("many_processes", "--requests", "50", "--database", database, *where)
    assert code == 0, printed
    assert re.findall(r"^ *(\w+) +(\w+): 8 x 50 requests.* 0 findings$", printed, re.MULTILINE) == [
        (database, mode) for mode in MODES
    ]
