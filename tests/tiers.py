"""The two tiers of the suite, and what each test costs (a pytest plugin).

A test belongs to the fast tier (`make test`) unless it is marked `slow`; `make test-full` runs everything.  Markers:

- `slow`: the test uses more than a second of processor time and runs in the full tier only;
- `slow_cases("postgresql", ...)`: the cases of a parametrised test whose id has one of these parts are slow;
- `smoke("wheel")`: the one test of an expensive kind that also runs in the fast tier; it has no limit.

Any other test may use one second of processor time, so that the fast tier stays fast.  It fails beyond `SLACK` seconds,
and `--times` lists it beyond one.  Processor time is that of the test's call phase, in this process and its children.
"""

from __future__ import annotations

import gc
import os
import resource
from collections import defaultdict
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pytest

PROCESSOR_LIMIT = "processor_limit"  # the setting that says how many seconds of processor time an unmarked test may use
SLACK = 6.0
"""Limits of processor time that fail a test: beside eight busy processes on two cores tests use two to three times as
much as alone, and a worker's first test imports what it needs."""
SLOWEST = 30  # rows of the table of the slowest tests

_TICKS = os.sysconf("SC_CLK_TCK")
_COST = pytest.StashKey[dict[str, float]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(PROCESSOR_LIMIT, "seconds of processor time that an unmarked test may use", default="1")
    parser.addoption("--times", action="store_true", help=f"print the {SLOWEST} slowest tests and the time per folder")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--times") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Times(), "optcomp-times")


def pytest_collection() -> None:
    gc.disable()  # collection makes many objects that stay, and looking through them takes a third of its time


def pytest_collection_finish() -> None:
    gc.freeze()  # nor are they looked through during the tests, which would make large tests slower
    gc.enable()


@pytest.hookimpl(tryfirst=True)  # before `-m` selects by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(_names_case(mark, item) for mark in item.iter_markers("slow_cases")):
            item.add_marker(pytest.mark.slow)


def _names_case(mark: pytest.Mark, item: pytest.Item) -> bool:
    """Whether the id of a parametrised case has one of the parts that the marker names."""
    case = item.name.partition("[")[2].removesuffix("]")
    return any(f"-{part}-" in f"-{case}-" for part in mark.args)


def processor_seconds() -> float:
    """Return the processor time of this process and its children; without /proc, only of children that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used) + sum(map(_used_by, _children(os.getpid())))


def _used_by(process: int) -> float:
    """Return the processor time of a process that runs and of all below it."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has just ended
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS + sum(map(_used_by, _children(process)))


def _children(process: int) -> Iterator[int]:
    """Return the children that the main thread of a process has started: a look at each thread would take long."""
    with suppress(OSError):
        yield from map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())


@contextmanager
def _costed(item: pytest.Item, phase: str) -> Iterator[None]:
    start = processor_seconds()
    try:
        yield
    finally:
        item.stash.setdefault(_COST, {})[phase] = processor_seconds() - start


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    with _costed(item, "setup"):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    with _costed(item, "call"):
        yield
    used = item.stash[_COST]["call"]
    limit = float(item.config.getini(PROCESSOR_LIMIT))
    if used > limit * SLACK and not has_no_limit(item):
        pytest.fail(
            f"{used:.1f} s of processor time, where an unmarked test may use {limit:g} s (and fails beyond "
            f"{limit * SLACK:g} s): make it cheaper, or mark it slow",
            pytrace=False,
        )


def has_no_limit(item: pytest.Item) -> bool:
    """Whether a test may use any amount of processor time."""
    return any(item.get_closest_marker(name) for name in ("slow", "smoke"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    with _costed(item, "teardown"):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    costs = item.stash.get(_COST, {})
    used = costs.get(report.when, 0.0)
    over = report.when == "call" and used > float(item.config.getini(PROCESSOR_LIMIT)) and not has_no_limit(item)
    for name, value in (("processor_seconds", used), ("over_limit", over)):  # xdist sends any attribute
        setattr(report, name, value)
    return report


@dataclass
class Cost:
    """What tests took together."""

    tests: int = 0
    processor: float = 0.0
    wall: float = 0.0

    def add(self, report: pytest.TestReport) -> None:
        """Add one phase of a test."""
        self.tests += report.when == "call"
        self.processor += getattr(report, "processor_seconds", 0.0)
        self.wall += report.duration


class _Times:
    """Sums the phases of all tests, from all workers, and prints three tables."""

    def __init__(self) -> None:
        self.tests: dict[str, Cost] = defaultdict(Cost)
        self.folders: dict[str, Cost] = defaultdict(Cost)
        self.over_limit: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if getattr(report, "over_limit", False):
            self.over_limit.append(report.nodeid)
        for costs, name in ((self.tests, report.nodeid), (self.folders, _folder(report.nodeid)), (self.folders, "all")):
            costs[name].add(report)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section(f"the {SLOWEST} slowest tests (seconds: wall, processor)")
        for name, cost in sorted(self.tests.items(), key=lambda each: -each[1].wall)[:SLOWEST]:
            terminalreporter.write_line(f"{cost.wall:8.1f} {cost.processor:8.1f}  {name}")
        terminalreporter.section("unmarked tests above the limit of processor time (seconds)")
        for name in sorted(self.over_limit, key=lambda each: -self.tests[each].processor):
            terminalreporter.write_line(f"{self.tests[name].processor:8.1f}  {name}")
        terminalreporter.section("time per folder (minutes: wall of all workers, processor)")
        for name, cost in sorted(self.folders.items(), key=lambda each: -each[1].wall):
            terminalreporter.write_line(
                f"{cost.wall / 60:8.1f} {cost.processor / 60:8.1f}  {name} ({cost.tests} tests)"
            )


def _folder(nodeid: str) -> str:
    """Return tests/unit/PACKAGE, tests/system/browser or the first folder below tests."""
    parts = PurePosixPath(nodeid.partition("::")[0]).parent.parts
    return "/".join(parts[: 3 if parts[1:2] == ("unit",) or parts[2:3] == ("browser",) else 2])
