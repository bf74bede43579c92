"""A centre with pages, which all tests of a file share."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest

from optcomp.pages import make_app, office_jobs
from tests.unit.center.served import PATIENCE, Served, served


@pytest.fixture(scope="session", autouse=True)
def patient_forms() -> Iterator[None]:
    """Forms wait for their jobs until these are done, also on a busy machine."""
    with patch.object(office_jobs, "PATIENCE", PATIENCE):
        yield


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("pages") / "home", make_app, processes=False) as found:
        yield found
