"""Errors are outputs: certain ones are ε = ∞, those that come by chance are counted, and those on both sides end it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable

import pytest

import optcomp as oc
from optcomp.interactive.audit import Auditable, Event, Probe, Raised, Side, audit
from optcomp.interactive.audit.failures import AGAIN, failures
from optcomp.interactive.audit.run import epsilon_down


class Broken(Exception):
    """An engine that complains."""


def subject(run: Callable[[Side], Hashable], *probes: Probe) -> Auditable:
    """Each run by itself."""

    def runs(side: Side, trials: int) -> Iterable[Hashable]:
        return [run(side) for _ in range(trials)]

    return Auditable(
        name="subject",
        epsilon=1e9,
        delta=0.5,
        description="",
        source="",
        private=False,
        run=runs,
        probes=lambda: probes,
    )


def failing(side: Side, error: Exception | None = None) -> Callable[[Side], Hashable]:
    def run(each: Side) -> Hashable:
        if each == side:
            raise error or Broken("with a value in it")
        return 0

    return run


SIDES: tuple[Side, Side] = (0, 1)


@pytest.mark.parametrize("side", SIDES)
def test_a_certain_failure_is_infinite_whatever_is_claimed(side: Side) -> None:
    found = audit(subject(failing(side)), 400)
    assert math.isinf(found.lower)
    assert found.violated
    assert found.event == Event(Raised("Broken"), side)
    assert str(found.event).startswith("no output but Broken, always and only on the ")
    assert (found.counts, found.measured) == ((AGAIN, 0), AGAIN)


@pytest.mark.parametrize("side", SIDES)
def test_a_certain_failure_on_a_probe_is_infinite_and_named(side: Side) -> None:
    probes = [Probe("quiet cells", lambda each: None), Probe("loud cells", failing(side))]
    found = audit(subject(lambda each: 0, *probes), 400)
    assert math.isinf(found.lower)
    assert found.event == Event(Raised("Broken", "loud cells"), side)
    assert "Broken at loud cells" in str(found.event)


def test_failures_of_two_kinds_are_told_apart() -> None:
    def run(side: Side) -> Hashable:
        raise (Broken if side else KeyError)

    found = audit(subject(run), 400)
    assert math.isinf(found.lower)
    assert found.event.outputs == Raised("Broken")


def test_the_kind_of_an_engines_error_is_told_and_not_its_text() -> None:
    found = audit(subject(failing(1, oc.MechanismFailed("Count()", "ConversionException"))), 400)
    assert str(found.event.outputs) == "no output but MechanismFailed because of a ConversionException"


def test_a_failure_on_both_inputs_ends_the_audit() -> None:
    def run(side: Side) -> Hashable:
        raise Broken("the engine is down")

    with pytest.raises(Broken, match="the engine is down"):
        audit(subject(run), 400)
    with pytest.raises(Broken, match="the engine is down"):
        audit(subject(lambda side: 0, Probe("cells", run)), 400)


def test_failures_by_chance_are_counted_and_not_called_certain() -> None:
    """Every third run on the second input fails: the bound is that of counts, and finite."""
    ticks = itertools.count()

    def run(side: Side) -> Hashable:
        if side and not next(ticks) % 3:
            raise Broken
        return 0

    found = audit(subject(run), 3_000, confidence=0.9, delta=0.5)
    assert (found.event.likelier, found.counts[0], found.measured) == (0, 1500, 1500)
    assert found.counts[1] == 1000
    assert found.lower == epsilon_down(found.counts, 1500, 0.5, (1 - 0.9) / 2) < 1


def test_failures_by_chance_on_a_probe_end_the_audit() -> None:
    ticks = itertools.count()

    def run(side: Side) -> Hashable:
        if side and not next(ticks) % 3:
            raise Broken("now and then")
        return 0

    with pytest.raises(Broken, match="now and then"):
        audit(subject(lambda side: 0, Probe("cells", run)), 400)


def test_what_succeeds_is_run_once() -> None:
    seen: list[Side] = []
    found = failures(seen.append)
    assert (seen, found.certain, found.error) == ([0, 1], None, None)
