"""The accountant in Flower: its protocol, beside its own accountant, and inside its strategy."""

from __future__ import annotations

import json

import pytest
from flwr.serverapp import GaussianPrivacyEvent, NeighboringRelation, PrivacyConfig, SamplingMethod
from flwr.serverapp.strategy import DifferentialPrivacyServerSideFixedClipping, FedAvg

import optcomp as oc
from optcomp.interop.flower import FlowerAccountant
from optcomp.interop.steps import RTOL
from tests.frameworks.page_blocks import check_page

DELTA, CLIENTS = 1e-5, 1000
EVENT = GaussianPrivacyEvent(1.1, 50, CLIENTS)


def config(sampling: SamplingMethod = SamplingMethod.POISSON, most: float | None = None) -> PrivacyConfig:
    return PrivacyConfig(DELTA, CLIENTS, NeighboringRelation.ADD_OR_REMOVE_ONE, sampling, most)


def test_rounds_cost_what_compose_says() -> None:
    accountant = FlowerAccountant(config())
    assert (accountant.get_epsilon(DELTA), accountant.num_releases) == (0, 0)
    for _ in range(5):
        accountant.compose(EVENT, 20)
    truth = oc.compose({oc.PoissonSubsampled(oc.Gaussian(1.1), 0.05): 100}, delta=DELTA)
    spent = accountant.get_privacy_spent()
    assert truth.lower <= spent.epsilon <= truth.upper * (1 + RTOL)
    assert (spent.delta, spent.num_releases, spent.accounting_method) == (DELTA, 100, "optcomp")
    assert accountant.get_delta(spent.epsilon) == pytest.approx(DELTA, rel=1e-3)
    assert accountant.config == config()


def test_without_amplification() -> None:
    accountant = FlowerAccountant(config(SamplingMethod.NO_AMPLIFICATION))
    accountant.compose(EVENT, 3)
    assert accountant.get_epsilon(DELTA) == pytest.approx(oc.compose({oc.Gaussian(1.1): 3}, delta=DELTA).upper)


def test_clients_drawn_without_replacement() -> None:
    """By ZDW22-11; Flower's own accountant takes the noise as if a replaced client moved the sum by one clip norm."""
    fixed = PrivacyConfig(DELTA, CLIENTS, NeighboringRelation.REPLACE_ONE, SamplingMethod.WITHOUT_REPLACEMENT, 9.0)
    accountant = FlowerAccountant(fixed)
    accountant.compose(GaussianPrivacyEvent(3.0, 50, CLIENTS), 100)
    truth = oc.compose({oc.WithoutReplacement(oc.Gaussian(3.0, 2), 50, CLIENTS): 100}, delta=DELTA)
    assert truth.lower <= accountant.get_epsilon(DELTA) <= truth.upper * (1 + RTOL)
    assert accountant.would_exceed(GaussianPrivacyEvent(0.7, 50, CLIENTS), count=100)
    again = FlowerAccountant(fixed)
    again.load_state_dict(json.loads(json.dumps(accountant.state_dict())))
    assert again.get_epsilon(DELTA) == accountant.get_epsilon(DELTA)
    alone = FlowerAccountant(fixed)
    alone.compose(GaussianPrivacyEvent(3.0, CLIENTS, CLIENTS))
    assert alone.get_epsilon(DELTA) == pytest.approx(oc.compose({oc.Gaussian(3.0, 2): 1}, delta=DELTA).upper, rel=1e-8)


def test_limits_are_looked_at_without_spending() -> None:
    accountant = FlowerAccountant(config(most=2.0))
    accountant.compose(EVENT, 10)
    before = accountant.get_epsilon(DELTA)
    assert not accountant.would_exceed(EVENT)
    assert accountant.would_exceed(EVENT, count=1000)
    assert accountant.would_exceed(EVENT, max_epsilon=before)
    assert (accountant.num_releases, accountant.get_epsilon(DELTA)) == (10, before)
    with pytest.raises(oc.InvalidInput, match="max_epsilon"):
        FlowerAccountant(config()).would_exceed(EVENT)


def test_checkpoints() -> None:
    accountant = FlowerAccountant(config())
    accountant.compose(EVENT, 10)
    state = json.loads(json.dumps(accountant.state_dict()))
    again = FlowerAccountant(config())
    again.load_state_dict(state)
    assert again.get_epsilon(DELTA) == accountant.get_epsilon(DELTA)
    for other in (FlowerAccountant(config(most=3.0)), FlowerAccountant(config(SamplingMethod.NO_AMPLIFICATION))):
        with pytest.raises(oc.InvalidInput, match="config"):
            other.load_state_dict(state)


def test_what_is_refused() -> None:
    with pytest.raises(oc.InvalidInput, match="1000 clients"):
        FlowerAccountant(config()).compose(GaussianPrivacyEvent(1.0, 5, 10))


def test_its_strategy_takes_it() -> None:
    accountant = FlowerAccountant(config(SamplingMethod.NO_AMPLIFICATION, 10.0))
    accountant.compose(EVENT)
    strategy = DifferentialPrivacyServerSideFixedClipping(FedAvg(), 1.1, 1.0, 50, accountant=accountant)
    assert strategy.accountant is accountant


def test_the_blocks_of_the_page() -> None:
    """The page on training shows what they print."""
    assert check_page("flower") == 2
