"""A file of data that the small plan is about, and where its release goes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.plans import ROWS


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "people.parquet"
    ages = [(37 * i) % 100 for i in range(ROWS)]
    columns = {
        "age": ages,
        "region": [("north", "south", None)[i % 3] for i in range(ROWS)],
        "income": [1000.0 * age for age in ages],
        "id": [i // 3 for i in range(ROWS)],
    }
    pq.write_table(pa.table(columns), path)
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "plan.release.json"
