"""prv-accountant with eps_error .1, as its documentation has it, .01 and .001; delta_error δ/1000, domain by itself."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import prv_accountant as prv

import optcomp as oc
from bench.answers import Answer
from bench.losses.questions import Entrant, Item, Question


def _variable(item: Item) -> Any:
    match item:
        case oc.Gaussian():
            return prv.GaussianMechanism(float(item.sigma))
        case oc.PoissonSubsampled(mechanism=oc.Gaussian() as inner):
            return prv.PoissonSubsampledGaussianMechanism(float(item.rate), float(inner.sigma))
        case oc.Laplace():
            return prv.LaplaceMechanism(float(item.pure))
        case oc.ApproxDP():
            return prv.ApproximateDPMechanism(float(item.epsilon), float(item.delta))
        case oc.PureDP() | oc.RandomizedResponse(answers=2):
            return prv.PureDPMechanism(float(item.epsilon))
    return None


def _within(error: float) -> Callable[[Question], Answer]:
    def ask(question: Question) -> Answer:
        variables, counts = [_variable(item) for item, _ in question.items], [count for _, count in question.items]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            accountant = prv.PRVAccountant(variables, error, question.delta / 1000, counts)
            lower, _, upper = accountant.compute_epsilon(question.delta, counts)
        if math.isnan(upper):
            raise ArithmeticError("returns nan")
        return Answer(float(upper), float(lower))

    return ask


def _known(question: Question) -> bool:
    return all(_variable(item) is not None for item, _ in question.items)


TYPICAL, FINER, FINEST = CONTENDERS = tuple(
    Entrant(f"prv-accountant {error:g}", _within(error), _known) for error in (0.1, 0.01, 0.001)
)
