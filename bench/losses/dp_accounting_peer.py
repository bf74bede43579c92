"""dp-accounting: its accountant as it comes, its privacy loss distributions on several grids, and made to measure.

`1e-4` is its default grid.  On the others connect-the-dots is asked for wherever it is to be had.  `best` knows more
than the package does: Gaussian mechanisms are one of σ/√k, whose single distribution needs no convolution; losses that
lie on a lattice get that lattice as their grid and are composed by repeated doubling.  `deep` cuts tails only far below
δ, which the package needs for any finite answer at δ = 1e-20.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import dp_accounting
from dp_accounting.pld import common, pld_privacy_accountant, privacy_loss_distribution
from dp_accounting.rdp import rdp_privacy_accountant

import optcomp as oc
from bench.answers import Answer
from bench.dp_accounting_peer import BEST_TRUNCATION, TRUNCATION, repeated
from bench.losses.questions import COARSE, Entrant, Item, Lattice, Question

Relation = dp_accounting.NeighboringRelation
_USUAL_MASS = -50.0
"""ln of the mass that it cuts off Gaussian noise when told nothing."""
_SMALL = 1e-15
"""Below this δ it answers ∞ unless tails are kept."""
_FAR = 1e-6
"""Tails are cut at this part of δ by `deep`."""
_GRAIN = 1e-4
"""Grid of one Gaussian loss, as a part of its standard deviation."""

OPACUS_ORDERS = (*(1 + x / 10 for x in range(1, 100)), *range(12, 64))
"""The Rényi orders that Opacus tries when told nothing."""


def _loss(item: Item, grid: float, mass: float = _USUAL_MASS) -> Any:
    """The privacy loss distribution of one mechanism on a grid."""
    make: Any = privacy_loss_distribution
    match item:
        case oc.Gaussian():
            return make.from_gaussian_mechanism(
                float(item.sigma), value_discretization_interval=grid, log_mass_truncation_bound=mass
            )
        case oc.PoissonSubsampled():
            return make.from_gaussian_mechanism(
                _sigma(item),
                value_discretization_interval=grid,
                log_mass_truncation_bound=mass,
                sampling_prob=float(item.rate),
            )
        case oc.Laplace():
            return make.from_laplace_mechanism(float(item.scale), value_discretization_interval=grid)
        case oc.DiscreteGaussian():
            return make.from_discrete_gaussian_mechanism(
                float(item.sigma), value_discretization_interval=grid, use_connect_dots=grid != COARSE
            )
        case oc.DiscreteLaplace():
            return make.from_discrete_laplace_mechanism(
                1 / float(item.scale), item.sensitivity, value_discretization_interval=grid
            )
        case oc.RandomizedResponse():
            return make.from_randomized_response(_noise(item), item.answers, value_discretization_interval=grid)
    pair = common.DifferentialPrivacyParameters(float(item.epsilon), float(item.delta))
    return make.from_privacy_parameters(pair, grid)


def _sigma(item: oc.PoissonSubsampled) -> float:
    if not isinstance(item.mechanism, oc.Gaussian):
        raise TypeError(item)
    return float(item.mechanism.sigma)


def _noise(item: oc.RandomizedResponse) -> float:
    """The probability of an answer at random, which makes the true one e^ε times as likely as each other one."""
    return item.answers / (math.exp(item.epsilon) + item.answers - 1)


def _on_grid(grid: float) -> Callable[[Question], Answer]:
    def ask(question: Question) -> Answer:
        return _composed(question, grid, _USUAL_MASS, TRUNCATION)

    return ask


def _composed(question: Question, grid: float, mass: float, truncation: float) -> Answer:
    total = None
    for item, count in question.items:
        part = _loss(item, grid, mass)
        part = part.self_compose(count, truncation) if count > 1 else part
        total = part if total is None else total.compose(part)
    return _read(total, question)


def _read(distribution: Any, question: Question) -> Answer:
    return Answer(float(distribution.get_epsilon_for_delta(question.delta)))


def _made_to_measure(question: Question) -> Answer:
    ((item, count),) = question.items
    if isinstance(item, oc.Gaussian):
        sigma = float(item.sigma) / math.sqrt(count)
        mass = math.log(question.delta) + math.log(_FAR)
        return _read(_loss(oc.Gaussian(sigma), _GRAIN / sigma, mass), question)
    truncation = BEST_TRUNCATION if question.delta > _SMALL else 0.0
    return _read(repeated(_on_lattice(item), count, truncation), question)


def _on_lattice(item: Item) -> Any:
    """Randomized response: multiples of ε; discrete Gaussian noise: (2x - 1)/2σ²; discrete Laplace: of 1/scale."""
    if isinstance(item, oc.DiscreteGaussian):
        return _loss(item, 0.5 / float(item.sigma) ** 2)
    if isinstance(item, oc.RandomizedResponse):
        whole = math.exp(item.epsilon) + item.answers - 1
        masses = {1: math.exp(item.epsilon) / whole, 0: (item.answers - 2) / whole, -1: 1 / whole}
        return _rounded({place: mass for place, mass in masses.items() if mass}, float(item.epsilon))
    if not isinstance(item, oc.DiscreteLaplace):
        raise TypeError(item)
    return _discrete_laplace(float(item.scale), item.sensitivity)


def _discrete_laplace(scale: float, shift: int) -> Any:
    """Losses (shift - 2x)/scale for x from 0 to the shift; what its own constructor makes of them is rounded up."""
    ratio = math.exp(-1 / scale)
    weights = {shift: 1 / (1 - ratio), -shift: ratio**shift / (1 - ratio)}
    weights |= {shift - 2 * x: ratio**x for x in range(1, shift)}
    step, whole = (1 if shift % 2 else 2), math.fsum(weights.values())
    return _rounded({place // step: weight / whole for place, weight in weights.items()}, step / scale)


def _rounded(masses: dict[int, float], unit: float) -> Any:
    """A distribution with these masses at multiples of a unit."""
    return privacy_loss_distribution.PrivacyLossDistribution.create_from_rounded_probability(masses, 0.0, unit)


def _deep(question: Question) -> Answer:
    far = _FAR * question.delta
    return _composed(question, COARSE, math.log(far / question.count), far)


def _event(item: Item) -> Any:
    match item:
        case oc.Gaussian():
            return dp_accounting.GaussianDpEvent(float(item.sigma))
        case oc.PoissonSubsampled():
            return dp_accounting.PoissonSampledDpEvent(float(item.rate), dp_accounting.GaussianDpEvent(_sigma(item)))
        case oc.Laplace():
            return dp_accounting.LaplaceDpEvent(float(item.scale))
        case oc.RandomizedResponse():
            return dp_accounting.RandomizedResponseDpEvent(_noise(item), item.answers)
    raise TypeError(item)


def _accountant(make: Callable[[Any], Any]) -> Callable[[Question], Answer]:
    def ask(question: Question) -> Answer:
        ((item, count),) = question.items
        replace = isinstance(item, oc.RandomizedResponse)
        accountant = make(Relation.REPLACE_ONE if replace else Relation.ADD_OR_REMOVE_ONE)
        accountant.compose(_event(item), count)
        return Answer(float(accountant.get_epsilon(question.delta)))

    return ask


def _has_event(question: Question) -> bool:
    return isinstance(question.only, oc.Gaussian | oc.PoissonSubsampled | oc.Laplace | oc.RandomizedResponse)


def _measurable(question: Question) -> bool:
    return isinstance(question.only, oc.Gaussian | Lattice)


def _is_subsampled(question: Question) -> bool:
    return isinstance(question.only, oc.PoissonSubsampled)


def _is_laplace(question: Question) -> bool:
    return isinstance(question.only, oc.Laplace)


ACCOUNTANT = Entrant(
    "dp-accounting PLDAccountant",
    _accountant(lambda relation: pld_privacy_accountant.PLDAccountant(relation)),
    _has_event,
)
COARSEST = Entrant("dp-accounting PLD 1e-2", _on_grid(1e-2), _is_laplace)
COARSER = Entrant("dp-accounting PLD 1e-3", _on_grid(1e-3))
USUAL = Entrant("dp-accounting PLD 1e-4", _on_grid(COARSE), lambda question: not _is_subsampled(question))
FINE = Entrant("dp-accounting PLD 1e-5", _on_grid(1e-5))
BEST = Entrant("dp-accounting PLD best", _made_to_measure, _measurable)
DEEP = Entrant(
    "dp-accounting PLD deep",
    _deep,
    lambda question: question.delta < _SMALL and not _measurable(question),
)
RDP = Entrant(
    "dp-accounting RDP",
    _accountant(lambda relation: rdp_privacy_accountant.RdpAccountant(neighboring_relation=relation)),
    _has_event,
)
RDP_OPACUS = Entrant(
    "RDP, orders of Opacus",
    _accountant(lambda relation: rdp_privacy_accountant.RdpAccountant(OPACUS_ORDERS, relation)),
    _has_event,
)
CONTENDERS = (ACCOUNTANT, COARSER, USUAL, FINE, BEST, DEEP, RDP)
