"""JAX-Privacy with our accountant, through dp-accounting: ε of a run, and the noise for a target."""

from __future__ import annotations

import pytest
from jax_privacy import accounting

import optcomp as oc
from optcomp.interop.jax_privacy import OptcompAccountantConfig
from optcomp.interop.steps import RTOL
from tests.frameworks.page_blocks import check_page

PARAMS = accounting.DpParams(
    num_samples=50_000,
    batch_size=500,
    noise_multipliers=1.1,
    delta=1e-5,
    sampling_method=accounting.SamplingMethod.POISSON,
)


def test_a_run() -> None:
    trainer = accounting.DpsgdTrainingAccountant(dp_accountant_config=OptcompAccountantConfig())
    truth = oc.compose({oc.PoissonSubsampled(oc.Gaussian(1.1), 0.01): 1000}, delta=1e-5)
    epsilon = trainer.compute_epsilon(1000, PARAMS)
    assert truth.lower <= epsilon <= truth.upper * (1 + RTOL)
    pld = accounting.DpsgdTrainingAccountant(dp_accountant_config=accounting.PldAccountantConfig())
    assert pld.compute_epsilon(1000, PARAMS) == pytest.approx(epsilon, rel=1e-3)


def test_noise_for_a_target() -> None:
    trainer = accounting.DpsgdTrainingAccountant(dp_accountant_config=OptcompAccountantConfig())
    noise = accounting.calibrate_noise_multiplier(
        target_epsilon=2.0,
        accountant=trainer,
        batch_sizes=500,
        num_updates=1000,
        num_samples=50_000,
        target_delta=1e-5,
        tol=0.01,
    )
    steps = {oc.PoissonSubsampled(oc.Gaussian(noise), 0.01): 1000}
    assert 1.9 < oc.compose(steps, delta=1e-5).lower <= 2.0


def test_the_blocks_of_the_page() -> None:
    """The page on training shows what they print."""
    assert check_page("jax-privacy") == 1
