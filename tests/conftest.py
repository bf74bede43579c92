"""Settings for the whole suite: tiers, a temporary folder for each run, property tests with fixed examples."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.tiers", "tests.leftovers"]

settings.register_profile(
    "optcomp",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("optcomp")
