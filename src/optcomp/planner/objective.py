"""What a split of the budget aims at."""

from __future__ import annotations

from typing import Literal

Objective = Literal["scale", "squares", "worst", "wanted"]
"""What a split is best for: see above."""
