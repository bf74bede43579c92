"""Noise that can be drawn again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import pytest

from optcomp.interactive import guess_and_check as checking
from optcomp.interactive import multiplicative_weights as weighing
from optcomp.interactive import sparse_vector as comparing


@pytest.fixture
def seeded(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Noise from a stream that can be started again: who draws more, or less, gets other noise from there on."""
    stream = Random(1)

    def noisy(values: Sequence[int], scale: float) -> list[int]:
        return [value + round(stream.gauss(0, scale)) for value in values]

    for module in (comparing, checking, weighing):
        monkeypatch.setattr(module, "with_laplace", noisy)
    monkeypatch.setattr(comparing, "with_gaussian", noisy)
    return stream.seed
