r"""How far off will an answer be?  The error of a statistic at a confidence, before anything is spent.

Errors are in units of the variable, about the noise alone, with n rows that have a value.  Each statistic has a
`StatedError` of its own.  Released intervals are made by the same functions, of the noisy answers instead of what the
plan says.  `smooth` is about the same without steps and limits: for optimisation, never for claims.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

from optcomp.statistics.declared import Declared
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.known import UNKNOWN, Known
from optcomp.statistics.noise import AddedNoise, Noise, added
from optcomp.statistics.part import Part

_LEAST_OF_SCALE = 0.02
"""Where noise hardly ever leaves 0, an error without steps still falls with the scale."""


@dataclass(frozen=True)
class Setting:
    """What an error is stated for."""

    table: Declared
    noise: Noise
    rows: int | None
    """Those that have a value, where there may be others."""
    confidence: float
    known: Known = UNKNOWN
    where: str = ""
    """Which rows are meant if not all, for people: a phrase that goes on after their number."""


class StatedError(ABC):
    """The error of one statistic as a function of the scales of the noise of its parts."""

    hint: str = ""
    """What else can be done about an error that no budget reaches."""

    def __init__(self, setting: Setting, parts: tuple[Part, ...]) -> None:
        self.setting, self.parts = setting, parts

    @abstractmethod
    def error(self, scales: Sequence[float]) -> float:
        """For the discrete noise that is really drawn."""

    @abstractmethod
    def smooth(self, times: float) -> float:
        """About the same, without steps and without a limit, at so many times the scales at a budget of 1."""

    @property
    def likeness(self) -> tuple[Hashable, ...]:
        """What it depends on beside the sizes of its parts."""
        return ()

    @property
    def stated_for(self) -> str:
        """For which data it is stated, for people: a phrase that goes on after the number of rows."""
        return self.setting.where

    def note(self, scales: Sequence[float]) -> str | None:
        """What else it says, for people."""
        return None

    def otherwise(self, scales: Sequence[float]) -> tuple[str, float] | None:
        """When it would be another, for people, and which."""
        return None

    @cached_property
    def noise(self) -> AddedNoise:
        """The noise, if it is added to numbers."""
        return added(self.setting.noise)

    @cached_property
    def unit_scales(self) -> list[float]:
        """The scale of the noise of each part at a budget of 1."""
        return [self.setting.noise.unit_scale(part) for part in self.parts]

    def noises(self, scales: Sequence[float], confidence: float) -> Noises:
        """The noise of all parts."""
        return Noises(self.noise, tuple(scales), confidence)


class ReachError(StatedError):
    """The joint reach of the noise over all cells of the first part, times the unit: for all data."""

    def error(self, scales: Sequence[float]) -> float:
        """The reach, in whole steps."""
        part = self.parts[0]
        return float(self.noises(scales, self.setting.confidence).cells(len(part.cells)) * part.unit)

    def smooth(self, times: float) -> float:
        """The reach, without steps."""
        scale = self.unit_scales[0] * times
        reach = self.noise.smooth_reach(scale, self.setting.confidence, len(self.parts[0].cells))
        return max(reach, _LEAST_OF_SCALE * scale) * float(self.parts[0].unit)
