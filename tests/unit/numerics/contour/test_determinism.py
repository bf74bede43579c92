"""The same bits whatever the number of threads: no sum is left to a BLAS."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

import pytest

PROGRAM = """
import os
import numpy as np
from optcomp.composition.reading import read_parts
from optcomp.theorems.opt import Effort, contour_delta, contour_epsilon
cores = int(os.environ["CORES"])
os.cpu_count = lambda: cores
rng = np.random.default_rng(4)
for k, high in ((25, 1.0), (400, 0.2), (5000, 0.05)):
    parts = read_parts(rng.uniform(0.01, high, k))
    found = contour_epsilon(parts, 1e-6, Effort(1e-7, 1e8))[0]
    print(found.lower.hex(), found.upper.hex())
    found = contour_delta(parts, 0.8, Effort(1e-7, 1e8))[0]
    print(found.lower.hex(), found.upper.hex())
"""


@cache
def answers(threads: int, cores: int) -> str:
    environment = os.environ | {
        "OPENBLAS_NUM_THREADS": str(threads),
        "OMP_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
        "CORES": str(cores),
    }
    ran = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return ran.stdout


@pytest.mark.parametrize(("threads", "cores"), [(1, 3), (4, 1), (2, 16)])
def test_same_bits(threads: int, cores: int) -> None:
    assert answers(threads, cores) == answers(1, 1)
