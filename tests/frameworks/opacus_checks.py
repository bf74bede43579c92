"""The accountant in Opacus: registered, like its own where they are not about approximations, and in real training."""

from __future__ import annotations

import copy
import json
import pickle
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from opacus import PrivacyEngine
from opacus.accountants import IAccountant, PRVAccountant, RDPAccountant, create_accountant
from opacus.accountants.utils import get_noise_multiplier
from opacus.utils.batch_memory_manager import BatchMemoryManager

import optcomp as oc
import optcomp.interop.opacus
from optcomp.checker import check
from optcomp.interop.opacus import OpacusAccountant
from optcomp.interop.steps import RTOL
from tests.frameworks.page_blocks import check_page

NOISE, RATE, STEPS, DELTA = 1.5, 0.04, 2250, 1e-5
TRUTH = 6.7687803934
"""ε of that many steps at that δ: Opacus' own tests say 7.3291 by RDP, 6.7774 by PRV and 6.60 by GDP."""


@pytest.fixture(autouse=True)
def _warnings_are_ours() -> Iterator[None]:
    """Whatever an accountant of ours warns about would be an error; Opacus and PyTorch may warn."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", module=r"optcomp\..*")
        yield


def stepped(accountant: Any, steps: int = STEPS, noise: float = NOISE) -> Any:
    for _ in range(steps):
        accountant.step(noise_multiplier=noise, sample_rate=RATE)
    return accountant


def test_it_is_registered() -> None:
    accountant = create_accountant("optcomp")
    assert isinstance(accountant, OpacusAccountant)
    assert isinstance(accountant, IAccountant)
    assert accountant.mechanism() == "optcomp"
    assert optcomp.interop.opacus.NAME == "optcomp"


def test_the_setting_of_its_own_tests() -> None:
    accountant = stepped(OpacusAccountant())
    epsilon = accountant.get_epsilon(delta=DELTA)
    assert TRUTH - 1e-9 < epsilon < TRUTH * (1 + RTOL)
    assert epsilon < stepped(PRVAccountant()).get_epsilon(DELTA) < stepped(RDPAccountant()).get_epsilon(DELTA)
    assert accountant.get_epsilon(DELTA, alphas=[2, 3], eps_error=0.1) == epsilon
    assert accountant.get_delta(epsilon) == pytest.approx(DELTA, rel=1e-3)


def test_length_counts_optimisation_steps() -> None:
    accountant = stepped(OpacusAccountant(), 50)
    assert (len(accountant.history), len(accountant)) == (1, 50)
    stepped(accountant, 1, 2 * NOISE)
    assert (len(accountant.history), len(accountant)) == (2, 51)


@pytest.mark.parametrize("delta", [0.08, 0.2, 0.5])
def test_epsilon_is_never_negative(delta: float) -> None:
    accountant = OpacusAccountant()
    assert accountant.get_epsilon(delta) == 0
    accountant.step(noise_multiplier=1.2, sample_rate=0.2)
    assert accountant.get_epsilon(delta=delta) >= 0


@pytest.mark.parametrize(("more", "prv"), [({"epochs": 90}, 1.34765625), ({"steps": 2000}, 1.2915)])
def test_noise_for_a_target(more: dict[str, int], prv: float) -> None:
    """Not above the noise that its tests find by PRV, and never beyond the target."""
    found = get_noise_multiplier(target_epsilon=8, target_delta=DELTA, sample_rate=RATE, accountant="optcomp", **more)
    assert found <= prv
    accountant = create_accountant("optcomp")
    accountant.history = [(found, RATE, more.get("steps", int(90 / RATE)))]
    assert 7.98 < accountant.get_epsilon(DELTA) < 8


@pytest.mark.parametrize("epsilon", [50.0, 300.0])
def test_large_targets(epsilon: float) -> None:
    """A wish of opacus#604: noise for an ε far above 10."""
    sigma = get_noise_multiplier(
        target_epsilon=epsilon,
        target_delta=DELTA,
        sample_rate=0.01,
        steps=500,
        accountant="optcomp",
        epsilon_tolerance=1,
    )
    accountant = create_accountant("optcomp")
    accountant.history = [(sigma, 0.01, 500)]
    assert epsilon - 1 <= accountant.get_epsilon(DELTA) <= epsilon


def test_state_dictionaries() -> None:
    accountant = stepped(OpacusAccountant(), 100)
    state = accountant.state_dict()
    assert state["history"] == accountant.history
    assert state["history"] is not accountant.history
    assert accountant.state_dict({"other": 1}) == {"other": 1, "history": accountant.history, "mechanism": "optcomp"}
    wrongs: list[dict[str, Any]] = [{}, {"1": 2}, {"history": []}, {"history": [], "mechanism": "rdp"}]
    for wrong in wrongs:
        with pytest.raises(ValueError, match=r"state.dict"):
            OpacusAccountant().load_state_dict(wrong)
    with pytest.raises(ValueError, match="optcomp"):
        RDPAccountant().load_state_dict(state)


def test_a_run_that_is_resumed_costs_what_it_would_have() -> None:
    half = stepped(OpacusAccountant(), STEPS - 1000)
    spent = half.get_epsilon(DELTA)
    resumed = OpacusAccountant()
    resumed.load_state_dict(json.loads(json.dumps(half.state_dict())))
    assert resumed.get_epsilon(DELTA) == spent
    kept = half.state_dict()
    stepped(resumed, 1000)
    assert half.state_dict() == kept
    assert TRUTH - 1e-9 < resumed.get_epsilon(DELTA) < TRUTH * (1 + RTOL)
    for other in (copy.deepcopy(resumed), pickle.loads(pickle.dumps(resumed))):
        assert other.state_dict() == resumed.state_dict()
        assert other.get_epsilon(DELTA) == pytest.approx(resumed.get_epsilon(DELTA), rel=RTOL)


def test_history_may_be_replaced() -> None:
    accountant = stepped(OpacusAccountant(), 10)
    large = accountant.get_epsilon(DELTA)
    accountant.history = [(NOISE, RATE, 5), (2 * NOISE, RATE, 1), (NOISE, RATE, 2)]
    steps = {oc.PoissonSubsampled(oc.Gaussian(NOISE), RATE): 7, oc.PoissonSubsampled(oc.Gaussian(2 * NOISE), RATE): 1}
    assert accountant.get_epsilon(DELTA) == pytest.approx(oc.compose(steps, delta=DELTA).upper, rel=RTOL)
    assert accountant.get_epsilon(DELTA) < large


def test_the_edges() -> None:
    accountant = OpacusAccountant()
    accountant.history = [(0.0, 0.1, 1)]
    assert accountant.get_epsilon(DELTA) == float("inf")
    assert accountant.get_delta(1) == 1
    accountant.history = [(1.0, 0.0, 10)]
    assert accountant.get_epsilon(DELTA) == 0
    accountant.history = [(1.0, 1e-9, 10)]
    assert 0 <= accountant.get_epsilon(DELTA) < 1
    accountant.history = [(1.0, 1.5, 10)]
    with pytest.raises(oc.InvalidInput, match="sample_rate"):
        accountant.get_epsilon(DELTA)


def test_a_certificate() -> None:
    bound = stepped(OpacusAccountant(), 200).bound(DELTA)
    assert check(bound.certificate()).proved
    assert bound.count == 200


def test_threads_step_and_ask() -> None:
    accountant, asked = OpacusAccountant(), list[float]()

    def work() -> None:
        for _ in range(40):
            accountant.step(noise_multiplier=NOISE, sample_rate=RATE)
            asked.append(accountant.get_epsilon(DELTA))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(accountant), len(asked), len(accountant.history)) == (160, 160, 1)
    truth = oc.compose({oc.PoissonSubsampled(oc.Gaussian(NOISE), RATE): 160}, delta=DELTA)
    assert truth.lower <= accountant.get_epsilon(DELTA) <= truth.upper * (1 + RTOL)
    assert max(asked) <= accountant.get_epsilon(DELTA) * (1 + RTOL)  # the last of all steps may not be the last asked


def training(engine: PrivacyEngine, **private: Any) -> tuple[Any, Any, Any]:
    torch.manual_seed(0)
    points = torch.randn(400, 2)
    data = torch.utils.data.TensorDataset(points, (points.sum(1) > 0).long())
    loader = torch.utils.data.DataLoader(data, batch_size=40)
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    made: tuple[Any, Any, Any] = engine.make_private(
        module=model, optimizer=optimizer, data_loader=loader, max_grad_norm=1.0, **private
    )
    return made


def epochs(model: Any, optimizer: Any, loader: Any, count: int) -> None:
    for _ in range(count):
        for points, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(points), labels).backward()
            optimizer.step()


def test_a_training_run_with_a_checkpoint(tmp_path: Path) -> None:
    engine = PrivacyEngine(accountant="optcomp")
    model, optimizer, loader = training(engine, noise_multiplier=1.0)
    spent = []
    for _ in range(3):
        epochs(model, optimizer, loader, 1)
        spent.append(engine.get_epsilon(DELTA))
    steps = oc.PoissonSubsampled(oc.Gaussian(1.0), 0.1)
    bounds = [oc.compose({steps: 10 * epoch}, delta=DELTA) for epoch in (1, 2, 3)]
    assert len(engine.accountant) == 30
    for epsilon, bound in zip(spent, bounds, strict=True):
        assert bound.lower <= epsilon <= bound.upper * (1 + RTOL)
    path = tmp_path / "checkpoint.pt"
    engine.save_checkpoint(path=path, module=model, optimizer=optimizer)
    again = PrivacyEngine(accountant="optcomp")
    model, optimizer, loader = training(again, noise_multiplier=1.0)
    again.load_checkpoint(path=path, module=model, optimizer=optimizer)
    assert again.get_epsilon(DELTA) == pytest.approx(spent[-1], rel=RTOL)
    epochs(model, optimizer, loader, 1)
    assert len(again.accountant) == 40
    points = torch.randn(500, 2)
    right = (model(points).argmax(1) == (points.sum(1) > 0).long()).float().mean()
    assert right > 0.6


def test_a_target_and_physical_batches() -> None:
    torch.manual_seed(1)
    data = torch.utils.data.TensorDataset(torch.randn(200, 2), torch.randint(2, (200,)))
    loader = torch.utils.data.DataLoader(data, batch_size=50)
    model = torch.nn.Linear(2, 2)
    engine = PrivacyEngine(accountant="optcomp")
    model, optimizer, loader = engine.make_private_with_epsilon(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=loader,
        target_epsilon=3.0,
        target_delta=DELTA,
        epochs=2,
        max_grad_norm=1.0,
    )
    with BatchMemoryManager(data_loader=loader, max_physical_batch_size=16, optimizer=optimizer) as small:
        epochs(model, optimizer, small, 2)
    assert 2.9 < engine.get_epsilon(DELTA) < 3.0
    assert len(engine.accountant) == 8


def test_the_blocks_of_the_page() -> None:
    """The page on training shows what they print."""
    assert check_page("opacus") == 1
