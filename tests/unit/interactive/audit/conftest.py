"""Tables with hostile cells are dropped when the tests of a file have run: each holds an engine with its threads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from optcomp.interactive.audit import hostile


@pytest.fixture(scope="module", autouse=True)
def _drop_hostile_tables() -> Iterator[None]:
    yield
    hostile._prepared.cache_clear()
