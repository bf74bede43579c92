"""A part of the campaign on tables, and proof that it notices a cell that betrays somebody."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from _pytest.mark import ParameterSet

from optcomp.statistics import cells, preparing
from tests.campaign import hostile, pairs, sources
from tests.campaign.tables import CROWD, ENGINES, Job, jobs, judging

FIRST = 4
"""Instances of each kind that are asked for in the fast tier."""


def _in_parts(part: str, engine: str, amount: int, statistic: str | None = None) -> list[Job]:
    """The first few, and the others fifty at a time."""
    starts = [0, FIRST, *range(50, amount, 50), amount]
    return [Job(part, engine, range(*ends), statistic) for ends in pairwise(starts)]


AMOUNTS = [
    *(job for engine in ENGINES if engine != "spark" for job in _in_parts("cells", engine, 50)),
    Job("cells", "spark", range(1)),
    *_in_parts("pairs", "duckdb", 200),
    *_in_parts("pairs", "duckdb", 200, "frequent"),
    *_in_parts("pairs", "postgres", 200),
    Job("pairs", "spark", range(2)),
]
"""A tenth, but for pairs on Spark, which take a second each; one table of Spark holds the odd rows of a crowd."""


def _named(job: Job) -> str:
    return "-".join(filter(None, (job.part, job.statistic, job.engine, str(job.seeds.start))))


def _case(job: Job) -> ParameterSet:
    slow = job.engine == "spark" or len(job.seeds) > FIRST
    return pytest.param(job, id=_named(job), marks=[pytest.mark.slow] if slow else [])


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")  # which Ibis asks it for
@pytest.mark.parametrize("job", [_case(job) for job in AMOUNTS])
def test_a_part_of_the_campaign(job: Job) -> None:
    with judging(job) as judge:
        findings = [line for seed in job.seeds for line in judge(seed)]
    assert not findings, "\n".join(findings)


def test_the_campaign_is_as_large_as_it_says() -> None:
    found = dict[tuple[str, str], int]()
    for job in jobs(500, 2000, 100):
        times = CROWD if (job.part, job.engine) == ("cells", "spark") else 1
        found[job.part, job.engine] = found.get((job.part, job.engine), 0) + times * len(job.seeds)
    assert found == {
        **{
            ("cells", engine): 500
            for engine in ("csv", "tsv", "parquet", "arrow", "pandas", "duckdb", "postgres", "spark")
        },
        ("pairs", "duckdb"): 2000,
        ("pairs", "postgres"): 2000,
        ("pairs", "spark"): 100,
    }


def _nothing_marked(words: Any) -> Any:
    return np.zeros(len(words), np.int64)


def _all_rows(lot: preparing.Lot, staged: str) -> str:
    return lot.everything(staged)


BROKEN: dict[str, tuple[Any, str, Any]] = {
    "unreadable cells become categories": (cells, "_marked", _nothing_marked),
    "everybody keeps all rows": (preparing.Lot, "query", _all_rows),
}


@pytest.mark.parametrize("name", list(BROKEN))
def test_what_is_broken_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*BROKEN[name])
    engine = sources.Arrow()
    assert any(hostile.judge(engine, seed) for seed in range(12))


def test_a_cell_that_changes_how_others_are_read_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """If one cell of a batch is too long, all of them count as too long."""
    read = cells._text

    def reader(column: Any) -> Any:
        found = read(column)
        long = cells.mark(cells.LONG)
        return pa.array([long] * len(found), found.type) if long in found.to_pylist() else found

    monkeypatch.setattr(cells, "_text", reader)
    engine = sources.Pandas()
    assert any("rows of somebody else differ" in line for seed in range(12) for line in hostile.judge(engine, seed))


def test_a_change_beyond_what_is_declared_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing.Lot, "query", _all_rows)
    lines = (line for seed in range(25) for line in _of_people(seed))
    assert any("and declares" in line for line in lines)


def _of_people(seed: int) -> list[str]:
    """Without groups, whose places are not stored by the broken lot."""
    return [] if pairs.drawn(seed).declared.grouped_by else pairs.judge(seed)
