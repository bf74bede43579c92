"""The oracle's own signs: decided where they can be, equal where balls only come closer and closer."""

from __future__ import annotations

import pytest
from flint import arb

from tests.oracles.truth import decided


def test_signs() -> None:
    assert decided(lambda bits: arb(2).sqrt() - arb("1.41421356237309504880")) == 1
    assert decided(lambda bits: arb("1.41421356237309504880") - arb(2).sqrt()) == -1
    assert decided(lambda bits: arb(0)) == 0
    assert decided(lambda bits: arb(2).sqrt() ** 2 - 2) == 0


def test_what_stays_open_is_no_sign() -> None:
    with pytest.raises(AssertionError, match="undecided"):
        decided(lambda bits: arb(0, 1e-300))
