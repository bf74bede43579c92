"""A centre with pages, which all tests of a file share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from optcomp.pages import make_app
from tests.unit.center.served import Served, served


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("pages") / "home", make_app, processes=False) as found:
        yield found
