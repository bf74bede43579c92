"""Every law beside its moments and hockey stick from first principles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from flint import acb, arb

from optcomp.guarantees.choices import response
from optcomp.guarantees.noise import discrete_laplace, normal
from optcomp.numerics.laws.discrete_gaussian import DiscreteGaussianLaw
from optcomp.numerics.laws.laplace import LaplaceLaw
from optcomp.numerics.laws.law import Law
from optcomp.numerics.laws.mixed_laplace import MixedLaplaceLaw
from optcomp.numerics.laws.mixed_normal import MixedNormalLaw
from optcomp.numerics.laws.mixed_whole import MixedWholeLaw, ReplacedWholeLaw
from optcomp.numerics.laws.replaced import GluedLaplaceLaw, GluedNormalLaw, ReplacedLaplaceLaw, ReplacedNormalLaw
from tests.oracles.losses import (
    Hockey,
    Moment,
    Way,
    atoms_moment,
    discrete_gaussian_hockey,
    discrete_gaussian_moment,
    discrete_laplace_atoms,
    far_subsampled_gaussian_moment,
    gaussian_hockey,
    gaussian_moment,
    laplace_hockey,
    laplace_moment,
    response_atoms,
    response_moment,
    subsampled_gaussian_hockey,
    subsampled_gaussian_moment,
    subsampled_laplace_hockey,
    subsampled_laplace_moment,
)
from tests.oracles.replaced_losses import (
    glued_gaussian_hockey,
    glued_gaussian_moment,
    glued_laplace_hockey,
    glued_laplace_moment,
    replaced_gaussian_hockey,
    replaced_gaussian_moment,
    replaced_laplace_hockey,
    replaced_laplace_moment,
)
from tests.oracles.sampled_whole import Side, whole_hockey, whole_moment
from tests.oracles.truth import Rational, real, working


@dataclass(frozen=True)
class Known:
    """A law and the truth about it; `reach` is about how far its loss extends, `furthest` the θ an oracle affords."""

    make: Callable[[], Law]
    moment: Moment
    hockey: Hockey
    reach: float
    furthest: float = 1e5
    bits: int = 200
    """What an oracle works with: less where it integrates."""


def atoms_hockey(atoms: Callable[[], list[tuple[Fraction, arb]]]) -> Hockey:
    return lambda y: sum((p * (1 - (y - real(a)).exp()).max(arb(0)) for a, p in atoms()), arb(0))


def _laplace(eps: Rational) -> Known:
    return Known(lambda: LaplaceLaw(Fraction(eps)), laplace_moment(eps), laplace_hockey(eps), float(eps))


def _normal(mu: Rational) -> Known:
    reach = float(mu) * (3 + float(mu))
    return Known(lambda: normal(Fraction(mu)), gaussian_moment(mu), gaussian_hockey(mu), reach)


def _response(eps: Rational, answers: int) -> Known:
    hockey = atoms_hockey(lambda: response_atoms(eps, answers))
    return Known(lambda: response(Fraction(eps), answers), response_moment(eps, answers), hockey, float(eps))


def _discrete_laplace(scale: Rational, shift: int) -> Known:
    def atoms() -> list[tuple[Fraction, arb]]:
        return discrete_laplace_atoms(scale, shift)

    make = lambda: discrete_laplace(Fraction(scale), shift)  # noqa: E731
    return Known(make, atoms_moment(atoms), atoms_hockey(atoms), shift / float(scale))


def _discrete_gaussian(sigma: Rational, shift: int) -> Known:
    truth = discrete_gaussian_moment(sigma, shift), discrete_gaussian_hockey(sigma, shift)
    return Known(lambda: DiscreteGaussianLaw(Fraction(sigma), shift), *truth, 4 * shift / float(sigma), 1e4)


def _mixed_normal(mu: Rational, q: Rational, way: Way) -> Known:
    truth = subsampled_gaussian_moment(mu, q, way), subsampled_gaussian_hockey(mu, q, way)
    reach = 3 * float(mu) if way == "towards" else float(q)
    return Known(lambda: MixedNormalLaw(mu, q, way), *truth, reach, 30 / max(float(mu), 0.1), 110)


def _far_mixed_normal(mu: Rational, q: Rational, way: Way) -> Known:
    truth = far_subsampled_gaussian_moment(mu, q, way), subsampled_gaussian_hockey(mu, q, way)
    reach = 3 * float(mu) if way == "towards" else float(q)
    return Known(lambda: MixedNormalLaw(mu, q, way), *truth, reach, 2.0)


def _mixed_laplace(eps: Rational, q: Rational, way: Way) -> Known:
    truth = subsampled_laplace_moment(eps, q, way), subsampled_laplace_hockey(eps, q, way)
    reach = float(eps) if way == "towards" else float(q)
    return Known(lambda: MixedLaplaceLaw(eps, q, way), *truth, reach, 200 / max(float(eps), 0.2), 110)


def _sampled_whole(sigma: Rational, shift: int, q: Rational, side: Side) -> Known:
    truth = whole_moment(sigma, shift, q, side), whole_hockey(sigma, shift, q, side)
    reach = float(q) if side == "away" else 3 * shift / float(sigma)

    def make() -> Law:
        if side == "replaced":
            return ReplacedWholeLaw(Fraction(sigma), shift, q)
        return MixedWholeLaw(Fraction(sigma), shift, q, side)

    return Known(make, *truth, reach, 1e4)


def _replaced_normal(mu: Rational, q: Rational) -> Known:
    truth = replaced_gaussian_moment(mu, q), replaced_gaussian_hockey(mu, q)
    return Known(lambda: ReplacedNormalLaw(mu, q), *truth, 3 * float(mu), 30 / max(float(mu), 0.1), 110)


def _replaced_laplace(eps: Rational, q: Rational) -> Known:
    truth = replaced_laplace_moment(eps, q), replaced_laplace_hockey(eps, q)
    return Known(lambda: ReplacedLaplaceLaw(eps, q), *truth, float(eps), 200 / max(float(eps), 0.2), 110)


def _glued_normal(mu: Rational, q: Rational) -> Known:
    truth = glued_gaussian_moment(mu, q), glued_gaussian_hockey(mu, q)
    return Known(lambda: GluedNormalLaw(mu, q), *truth, 3 * float(mu), 30 / max(float(mu), 0.1), 110)


def _glued_laplace(eps: Rational, q: Rational) -> Known:
    truth = glued_laplace_moment(eps, q), glued_laplace_hockey(eps, q)
    return Known(lambda: GluedLaplaceLaw(eps, q), *truth, float(eps), 200 / max(float(eps), 0.2), 110)


REPLACED = {"normal": (_replaced_normal, _glued_normal), "laplace": (_replaced_laplace, _glued_laplace)}

WHOLE_SIDES: tuple[Side, ...] = ("towards", "away", "replaced")

KNOWN: dict[str, Known] = {
    **{f"laplace {eps}": _laplace(eps) for eps in (1e-3, 0.1, Fraction(1, 3), 1.0, 4.0, 30.0)},
    **{f"normal {mu}": _normal(mu) for mu in (1e-3, Fraction(1, 3), 1.0, 20.0)},
    **{f"response {eps} {n}": _response(eps, n) for eps in (1e-3, 1.0, Fraction(8, 3), 30.0) for n in (2, 5)},
    **{
        f"geometric {scale} {shift}": _discrete_laplace(scale, shift)
        for scale, shift in ((1.0, 1), (0.1, 3), (100.0, 7), (Fraction(7, 3), 40))
    },
    **{
        f"discrete normal {sigma} {shift}": _discrete_gaussian(sigma, shift)
        for sigma, shift in ((0.1, 1), (0.3, 2), (1.0, 1), (1.0, 5), (Fraction(7, 3), 1), (3.0, 2))
    },
    **{
        f"subsampled normal {mu} {q} {way}": _mixed_normal(mu, q, way)
        for mu, q in ((1e-3, 0.5), (0.1, 1e-6), (0.5, 0.02), (1.0, 0.99), (4.0, 1e-3))
        for way in ("towards", "away")
    },
    **{
        f"subsampled far normal {mu} {q} {way}": _far_mixed_normal(mu, q, way)
        for mu, q in ((60.0, 0.5), (100.0, 1e-6), (1000.0, 0.999))
        for way in ("towards", "away")
    },
    **{
        f"subsampled laplace {eps} {q} {way}": _mixed_laplace(eps, q, way)
        for eps, q in ((1e-3, 0.5), (0.5, 1e-6), (1.0, 0.99), (4.0, 0.02), (12.0, 0.3))
        for way in ("towards", "away")
    },
    **{
        f"subsampled whole {sigma} {shift} {q} {side}": _sampled_whole(sigma, shift, q, side)
        for sigma, shift, q in (
            (0.3, 1, 0.3),
            (1.0, 1, 0.01),
            (1.0, 3, 0.99),
            (Fraction(7, 3), 1, Fraction(1, 3)),
            (40.0, 2, 1e-3),
        )
        for side in WHOLE_SIDES
    },
    **{
        f"subsampled {noise} {size} {q} {name}": make(size, q)
        for noise, makers in REPLACED.items()
        for name, make in zip(("replaced", "batches"), makers, strict=True)
        for size, q in ((1e-3, 0.5), (0.1, 1e-6), (0.5, Fraction(1, 60)), (1.0, 0.99), (4.0, 1e-3), (5.0, 0.3))
    },
}


@cache
def moment_at(name: str, c: float, theta: float = 0.0) -> acb:
    """E e^{(c+iθ)L} with as many bits as the oracle works with; cached, because many tests divide by the same one."""
    known = KNOWN[name]
    with working(known.bits):
        return known.moment(acb(c, theta))
