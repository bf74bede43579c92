"""The ε of many ρ at once: as the certified conversion has them, to nine digits."""

from __future__ import annotations

import numpy as np
import pytest

from optcomp.theorems import cks20, fz21


@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-9, 1e-30])
def test_many_at_once_are_as_each_by_itself(delta: float) -> None:
    rhos = np.array([1e-8, 3e-5, 0.002, 0.1, 1.0, 40.0])
    found = cks20.epsilons_near(rhos, delta)
    for rho, near in zip(rhos.tolist(), found.tolist(), strict=True):
        assert near == pytest.approx(fz21.epsilon_at(rho, delta), rel=1e-8, abs=1e-12)
