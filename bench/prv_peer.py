"""prv-accountant: its `PureDPMechanism`, the privacy random variable of randomized response.

The typical settings are those of its documentation: eps_error .1, delta_error δ/1000, the domain found by itself.  The
tuned ones ask for a thousandth of ε and give it a tight domain, the Chernoff bound at delta_error, and the exact mean
of each loss, because its quadrature misses the jumps of a two-point law just above .1 and then refuses.  For this its
accountant is put together from its public parts, with the mesh of the paper (Gopi, Lee and Wutschitz 2021).
"""

from __future__ import annotations

import math
import warnings

from prv_accountant import PRVAccountant, PureDPMechanism, composers, discretisers
from prv_accountant.domain import Domain
from prv_accountant.privacy_random_variables import PrivacyRandomVariableTruncated

from bench.answers import Answer, Contender
from bench.instances import Instance


class _KnownMean(PrivacyRandomVariableTruncated):  # type: ignore[misc]  # the peer has no types
    """±ε has mean ε tanh(ε/2)."""

    def mean(self) -> float:
        return float(self.prv.eps * math.tanh(self.prv.eps / 2))


def _typical(instance: Instance) -> Answer:
    counts = [count for _, count in instance.coins]
    mechanisms = [PureDPMechanism(eps) for eps, _ in instance.coins]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        accountant = PRVAccountant(mechanisms, 0.1, instance.delta / 1000, counts)
        lower, _, upper = accountant.compute_epsilon(instance.delta, counts)
    return Answer(float(upper), float(lower))


def _tuned(instance: Instance) -> Answer:
    slack = instance.delta / 1000
    bound = min(instance.total, instance.squares / 2 + math.sqrt(-2 * instance.squares * math.log(slack)))
    error = bound / 1000
    domain = Domain.create_aligned(-bound, bound, error / math.sqrt(instance.count / 2 * math.log(12 / slack)))
    losses = [_KnownMean(PureDPMechanism(eps), domain.t_min(), domain.t_max()) for eps, _ in instance.coins]
    composer = composers.Heterogeneous([discretisers.CellCentred().discretise(loss, domain) for loss in losses])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        composed = composer.compute_composition([count for _, count in instance.coins])
        lower, _, upper = composed.compute_epsilon(instance.delta, slack, error)
    return Answer(float(upper), float(lower))


CONTENDERS = (
    Contender("prv-accountant typical", _typical),
    Contender("prv-accountant tuned", _tuned),
)
