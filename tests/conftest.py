"""Settings for the whole suite: property tests draw the same examples every time and may take theirs.

Hundreds of tests start a Python of their own: what it compiles is kept, also where the environment says otherwise.
"""

from __future__ import annotations

import os
import sys

from hypothesis import HealthCheck, settings

settings.register_profile(
    "optcomp",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("optcomp")

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
