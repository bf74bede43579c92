"""The six broken mechanisms are caught, and what they are made of does what it says."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from optcomp.interactive.audit import AtMost, Side, audit, known_mechanisms
from optcomp.interactive.audit.broken import BROKEN, Casting, alternating, last_bits
from optcomp.statistics import Count, Integers, Table

SURE = 1 - Fraction(1, 10**9)
"""Confidence with which no true claim is called false in the lifetime of this test."""


@pytest.mark.parametrize("name", known_mechanisms(private=False))
def test_broken_mechanisms_are_caught(name: str) -> None:
    subject = BROKEN[name](seed=1)
    assert audit(subject).lower > subject.epsilon + 1
    assert audit(subject, confidence=SURE).violated
    assert audit(subject, 40_000).violated


def test_a_query_that_casts_cells_tells_who_is_there_for_certain() -> None:
    found = audit("broken-raw-cast", delta=0.9)
    assert math.isinf(found.lower)
    assert found.violated
    assert str(found.event) == (
        "no output but MechanismFailed because of a ConversionException, always and only on the second input"
    )
    assert (found.counts, found.measured, found.trials) == ((20, 0), 20, 20)
    assert found.as_dict()["lower"] is None


def test_a_snapshot_of_the_same_cells_does_not_fail() -> None:
    """The flaw is the cast in the query: read once, the same cells answer, and the cell counts as missing."""
    cells = pa.table({"age": ["17", "45", "70", "unknown"]})
    table = Table(cells, {"age": Integers(0, 100)}, bad_cells="missing")
    assert Count("age >= 18").measure(table) == ((2,),)
    with pytest.raises(duckdb.ConversionException):
        Count("age >= 18").measure(Casting.of(["17", "45", "70", "unknown"]))
    assert Count("age >= 18").measure(Casting.of(["17", "45", "70"])) == ((2,),)


def test_the_inputs_do_not_break_what_is_sound() -> None:
    """With noise on the queries that grows with the number of ⊤, the same queries tell nothing."""
    sound = alternating(
        "sound", 1.0, scales=(2.0, 4 * 50.0), most=50, seed=1, description="a sound SVT", source="DR14, Algorithm 1"
    )
    result = audit(sound, confidence=SURE)
    assert not result.violated


def test_stopping_hides_what_comes_later() -> None:
    """A technique that may say ⊤ once shows a difference of at most 1."""
    once = alternating("once", 1.0, scales=(2.0, 2.0), most=1, seed=1, description="", source="")
    assert set(once.run(1, 1000)) <= {-1, 0, 1}


def test_stoddard_never_gives_the_telling_answers() -> None:
    subject = BROKEN["broken-stoddard14"](seed=1)
    assert set(subject.run(0, 1000)) == {"⊥ ⊥", "⊥ ⊤", "⊤ ⊤"}
    assert set(subject.run(1, 1000)) == {"⊥ ⊥", "⊤ ⊥", "⊤ ⊤"}


def test_last_bits() -> None:
    values = np.array([1.0, 1.5, -0.75, 0.1, 3.0, 96.0, 2.0**-1074, 0.0, 1 + 2.0**-52])
    assert last_bits(values).tolist() == [_last_bit(float(value)) for value in values]


def _last_bit(value: float) -> int:
    """By the exact fraction: the last bit of n/2^k, n odd, is at 2^-k."""
    exact = Fraction(value)
    if exact == 0:
        return 0
    size = abs(exact.numerator)
    return (size & -size).bit_length() - exact.denominator.bit_length()


def test_the_last_bit_of_one_plus_noise_is_never_below_the_grid() -> None:
    subject = BROKEN["broken-float-laplace"](seed=2)
    sides: tuple[Side, Side] = (1, 0)
    ones, noughts = (Counter(subject.run(side, 20_000)) for side in sides)
    finer = AtMost(-54)
    assert not any(place in finer for place in ones)
    assert any(place in finer for place in noughts)


def test_a_seed_repeats() -> None:
    for make in BROKEN.values():
        assert list(make(seed=7).run(0, 50)) == list(make(seed=7).run(0, 50))
