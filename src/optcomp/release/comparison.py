"""A release as it is recorded, compared with what should be: every difference is a sentence."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import optcomp

_NEARLY = {"error", "relative", "naive_error", "rho_error", "share", "gain", "gain_over_rho", "posterior"}
"""Floats that other machines may round in another way."""
NEAR = 1e-6
"""By how much they may differ, relatively."""
_SHOWN = 60
"""Characters of a wrong value that a line has room for."""
MISSING = object()
"""Stands for what is not there."""


class Mismatch(Exception):
    """What is wrong leaves nothing to compare."""


@dataclass
class Comparison:
    """A release, and what was found wrong with it."""

    view: Mapping[str, Any]
    problems: list[str] = field(default_factory=list)

    @property
    def same_version(self) -> bool:
        """Whether this version made it."""
        versions = self.view["record"].get("versions")
        return isinstance(versions, Mapping) and versions.get("optcomp") == optcomp.__version__

    def wrong(self, sentence: str) -> None:
        """One more sentence."""
        self.problems.append(sentence)

    def same(self, place: str, found: object, wanted: object, by: str) -> None:
        """Every difference between what is recorded and what should be."""
        self._same(place, found, json.loads(json.dumps(wanted)), by)

    def _same(self, place: str, found: object, wanted: object, by: str) -> None:
        if isinstance(found, dict) and isinstance(wanted, dict):
            for key in {**wanted, **found}:
                self._same(f"{place}.{key}", found.get(key, MISSING), wanted.get(key, MISSING), by)
        elif isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
            for index, pair in enumerate(zip(found, wanted, strict=True)):
                self._same(f"{place}[{index}]", *pair, by)
        elif found is MISSING:
            self.wrong(f"{place} is missing")
        elif wanted is MISSING:
            self.wrong(f"{place} does not belong here")
        elif not equal(found, wanted, nearly=place.rpartition(".")[2] in _NEARLY):
            self.wrong(f"{place} is {shown(found)}, but {by} it is {shown(wanted)}")

    def stop(self) -> None:
        """Go no further if anything is wrong."""
        if self.problems:
            raise Mismatch


def equal(found: object, wanted: object, *, nearly: bool) -> bool:
    """Numbers by value; true is no number."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if nearly and isinstance(found, int | float) and isinstance(wanted, int | float):
        low, high = sorted((wanted * (1 - NEAR), wanted * (1 + NEAR)))
        return low <= found <= high
    return found == wanted


def shown(value: object) -> str:
    """A value as a sentence has room for it."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def number(value: object) -> float | None:
    """A finite float, or nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None
