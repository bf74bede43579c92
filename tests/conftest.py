"""Settings for the whole suite: property tests draw the same examples every time and may take theirs."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "optcomp",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("optcomp")
