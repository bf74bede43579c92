r"""Laws whose losses are all whole multiples of one unit, but for an offset: their sums are exact on that grid.

Randomized response among n answers, discrete Laplace and Gaussian noise: no cell is split or merged, and the only
errors are those of the transform.  Places that are a rounding error off the grid are covered by the slip.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from flint import arb

from optcomp.numerics.balls import FLOAT_BITS, ball, float_down, float_up, precision
from optcomp.numerics.blocked import LIBM, Floats, Ints, U
from optcomp.numerics.grids.grid_law import GridLaw, Rest
from optcomp.numerics.lattice import common_unit
from optcomp.numerics.laws.atoms import AtomicLaw
from optcomp.numerics.laws.discrete_gaussian import DiscreteGaussianLaw
from optcomp.numerics.laws.law import Summand

_FAR = 12.0
"""Deviations of a discrete Gaussian that are listed at least: e^{-12²/2} is 5e-32."""
_MOST_PLACES = 1 << 20
"""Longer laws are left to other methods."""
_FAINT, _TINY = 1e-290, 1e-280
"""Smaller masses are left out, and more than all of them together."""
_LAWS, _SHORT = 64, 1 << 14
"""So many laws of so many places at most are kept on their grids: 16 MB."""
_MOST_OFF = 1e-12
"""A place farther from the grid than this part of the largest loss is not on it."""


class LatticeLaw:
    """Masses on a grid between two floats each."""

    def __init__(
        self,
        base: Fraction,
        index: Ints,
        masses: tuple[Floats, Floats],
        slip: float,
        rest: Rest | None,
        before: arb | int = 0,
    ) -> None:
        """`before` is the mass of losses below the grid, which may count as larger than all."""
        crowd = 4 * U * (2 + int(np.bincount(index).max()))
        most: Floats = np.bincount(index, masses[0]).astype(np.float64) * (1 + crowd)
        least: Floats = np.bincount(index, masses[1]).astype(np.float64) * (1 - crowd)
        faint = least < _FAINT
        most[faint] = least[faint] = 0.0
        self.base, self._masses, self.slip, self._rest, self._before = base, (most, least), slip, rest, before

    @property
    def most(self) -> Floats:
        """The larger masses."""
        return self._masses[0]

    @cached_property
    def spare(self) -> float:
        """At least the mass that is not on the grid."""
        with precision(FLOAT_BITS):
            return float_up(self._rest.own + self._before) + 2 * _TINY if self._rest else _TINY

    @cached_property
    def loss(self) -> float:
        """By how much the masses may be too large as a whole, as a log: at least the largest log(most/least)."""
        most, least = self._masses
        share = float(np.max(1 - least[most > 0] / most[most > 0], initial=0.0)) + 4 * U
        return -math.log1p(-share) * (1 + 32 * U) if share < 1 else math.inf

    def above(self) -> GridLaw:
        """At least the law."""
        nothing = Rest(arb(_TINY), arb(0), Fraction(0))
        rest = replace(self._rest, own=self._rest.own + self._before + _TINY) if self._rest else nothing
        return GridLaw(self.base, self._masses[0], self.slip, None, rest)

    def below(self) -> GridLaw:
        """At most the law."""
        return GridLaw(self.base, self._masses[1], self.slip, None, self._rest)


def lost_by(laws: Sequence[tuple[LatticeLaw, int]]) -> float:
    """At least the log of the larger masses of a sum over its masses."""
    return math.fsum(copies * law.loss for law, copies in laws) * (1 + 4 * U)


def lattice(laws: Sequence[tuple[Summand, int]], log_t: float) -> tuple[list[tuple[LatticeLaw, int]], float] | None:
    """The laws on their common grid, and its width; None if there is none."""
    h = _width(tuple(law for law, _ in laws))
    if h is None:
        return None
    copies = sum(count for _, count in laws)
    deviations = math.ceil(max(math.sqrt(2 * max(math.log(copies) - log_t + 33, 1.0)), _FAR))
    found = []
    for law, count in laws:
        on_grid = _kept(law, h, deviations) if _is_short(law, h, deviations) else _placed(law, h, deviations)
        if on_grid is None:
            return None
        found.append((on_grid, count))
    return found, h


@lru_cache(maxsize=_LAWS)
def _width(laws: tuple[Summand, ...]) -> float | None:
    """The width of the common grid."""
    units: set[float] = set()
    for law in laws:
        if isinstance(law, AtomicLaw):
            units |= set(np.diff(np.sort(law.places)).tolist())
        elif isinstance(law, DiscreteGaussianLaw):
            units.add(float(law.shift / Fraction(law.sigma) ** 2))
        else:
            return None
    ordered = sorted(unit for unit in units if unit > 0)
    return ordered[0] if len(ordered) == 1 else common_unit(ordered)


def _is_short(law: Summand, h: float, deviations: int) -> bool:
    """Whether a law takes so little room that it is kept."""
    if isinstance(law, AtomicLaw):
        return bool(np.ptp(law.places) <= _SHORT * h)
    return isinstance(law, DiscreteGaussianLaw) and 2 * deviations * law.sigma * law.shift <= _SHORT


def _placed(law: Summand, h: float, deviations: int) -> LatticeLaw | None:
    """A law on the grid."""
    return _atoms(law, h) if isinstance(law, AtomicLaw) else _discrete_gaussian(law, h, deviations)  # type: ignore[arg-type]


_kept = lru_cache(maxsize=_LAWS)(_placed)


def _atoms(law: AtomicLaw, h: float) -> LatticeLaw | None:
    """Atoms one by one, in balls."""
    with precision(FLOAT_BITS):
        atoms = law.atoms()
        values = law.places
        base = float(values.min())
        reach = float(np.abs(values).max())
        if (float(values.max()) - base) / h > _MOST_PLACES:
            return None
        index = np.rint((values - base) / h).astype(np.int64)
        off = [abs(value - base - int(k) * ball(h)) for (value, _), k in zip(atoms, index.tolist(), strict=True)]
        slip = max(map(float_up, off))
        if slip > _MOST_OFF * reach:
            return None
        masses = np.array([float_up(p) for _, p in atoms]), np.array([max(float_down(p), 0.0) for _, p in atoms])
    return LatticeLaw(Fraction(base), index, masses, slip, None)


def _discrete_gaussian(law: DiscreteGaussianLaw, h: float, deviations: int) -> LatticeLaw | None:
    """The loss (Δ² - 2Δx)/2σ² for |x| up to some deviations; left of that lies the rest, with larger losses."""
    sigma, shift = Fraction(law.sigma), law.shift
    far = math.ceil(deviations * float(sigma)) + shift + 1
    unit = shift / sigma**2
    multiple = round(float(unit) / h)
    if multiple < 1 or 2 * far * multiple > _MOST_PLACES:
        return None
    off = abs(Fraction(h) * multiple - unit) * 2 * far
    reach = float(unit) * far
    if off > _MOST_OFF * reach:
        return None
    x = np.arange(far, -far - 1, -1, dtype=np.float64)
    exponent = x * x / (2 * float(sigma) ** 2)
    with precision(FLOAT_BITS):
        whole = (2 * arb.pi()).sqrt() * ball(law.sigma) * law.ring(0.0)
        masses = np.exp(-exponent) / float(whole.mid())
        own, other = law.sides(float(unit * (far + Fraction(shift, 2))) * (1 + 1e-13))  # x < -far
    own, other = own.max(arb(0)), other.max(arb(0))  # x > far has just as much, of small losses
    error = U * (LIBM + 12 + 8 * exponent)
    most, least = masses * (1 + error), masses * (1 - error)
    index = np.arange(x.size, dtype=np.int64) * multiple
    base = Fraction(shift * (shift - 2 * far)) / (2 * sigma**2)
    top = Fraction(shift * (shift + 2 * far)) / (2 * sigma**2)
    return LatticeLaw(base, index, (most, least), float(off) * 1.0001 + 1e-300, Rest(own, other, top), own)
