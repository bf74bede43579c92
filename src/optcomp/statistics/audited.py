"""How a statistic is audited: on which of the shared neighbouring tables, with which budget, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Neighbourhood = Literal["added", "replaced", "rows", "groups"]
"""A person is added; or exchanged for another one; or added with two rows; or with a row in each of two groups."""
FEW = "age > 7 or age < 1"
"""One person whom the tables share, and the one in whom they differ."""


@dataclass(frozen=True)
class AuditCase:
    """What may be spent on a statistic, how the tables differ, and how often to run.

    The tables have the columns age (0 to 10), income (0 to 1000), region (north, south), score (0 to 19) and word
    (text).
    """

    statistic: Any
    spending: Mapping[str, Any]
    how: Neighbourhood = "added"
    trials: int = field(kw_only=True)
    delta: float = field(default=0.0, kw_only=True)
