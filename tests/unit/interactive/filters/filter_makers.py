"""One filter of each kind, and sums of all sizes, for the tests of what filters have in common."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import strategies as st

from optcomp.interactive.filters import (
    AdaptiveFilter,
    BestFilter,
    Cost,
    Filter,
    RenyiFilter,
    SumFilter,
    ZCDPFilter,
)

MAKERS: dict[str, Callable[[], Filter]] = {
    "sum": lambda: SumFilter("1", "1e-6"),
    "zcdp": lambda: ZCDPFilter("1/50", "1e-7"),
    "renyi": lambda: RenyiFilter(8, "0.3"),
    "adaptive": lambda: AdaptiveFilter("1", "1e-6", "1e-7"),
    "best": lambda: BestFilter("1", "1e-6", "1e-7"),
    "pure": lambda: SumFilter("1"),
    "empty": lambda: SumFilter("0"),
    "best without parts": lambda: BestFilter("1", "1e-6"),
    "best by sums alone": lambda: BestFilter("1e-9", "1e-12"),
}
ALL = pytest.mark.parametrize("kind", MAKERS)

PIECES = st.sampled_from(
    [*map(Fraction, ("0", "1/3", "1/2", "1", "2", "1e9")), 1 - Fraction(1, 10**40), 1 + Fraction(1, 10**40)]
)
"""What part of its cap a sum is."""


@st.composite
def sums_near(draw: st.DrawFn, state: Filter) -> Cost:
    """Sums at, below and above the caps; an ε that is counted no longer, where there is another way."""
    amounts: dict[str, Fraction | None] = {}
    for name in state.currencies():
        whole = state.caps.get(name) or draw(st.sampled_from([Fraction(0), Fraction(1, 10**9)]))
        dead = name == "epsilon" and len(state.ways) > 1 and draw(st.booleans())
        amounts[name] = None if dead else whole * draw(PIECES)
    return Cost(**amounts)  # type: ignore[arg-type]
