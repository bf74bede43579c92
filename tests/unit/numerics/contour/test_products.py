"""φ as a plain product: every value within the error that is claimed, whatever the number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from optcomp.numerics.contour.coins import Coins
from optcomp.numerics.contour.products import BLOCK_NODES, RUN_NODES, block_products, product_error, run_products
from tests.oracles.contour import phi, within

RNG = np.random.default_rng(12)
FAMILIES: dict[str, Coins] = {
    "different": Coins(np.sort(RNG.uniform(0.01, 2, 41)), np.ones(41)),
    "copies": Coins(np.array([0.1, 0.7, 3.0]), np.array([1.0, 1000.0, 37.0])),
    "large": Coins(np.array([5.0, 30.0, 500.0]), np.array([2.0, 1.0, 3.0])),
    "tiny": Coins(np.sort(RNG.uniform(1e-9, 1e-8, 20)), RNG.integers(1, 50, 20).astype(np.float64)),
}


@pytest.mark.parametrize("name", list(FAMILIES))
@pytest.mark.parametrize(("c", "step"), [(0.5, 2.0**-6), (7.0, 0.2578125), (-0.375, 1.5)])
def test_products(name: str, c: float, step: float) -> None:
    coins = FAMILIES[name]
    step /= float(coins.x[-1])
    step = float(np.ldexp(np.rint(np.ldexp(step, 60)), -60)) if step > 2**-30 else step
    step = float(np.float32(step))  # 24 bits, as plans have
    blocks = np.array([0, 1, 3, 500], dtype=np.int64)
    values = block_products(coins, c, step, blocks)
    pairs = list(zip(coins.x.tolist(), coins.m.tolist(), strict=True))
    for row, block in enumerate(blocks.tolist()):
        for column in (0, 1, 63, 64, 2047, BLOCK_NODES - 1):
            theta = step * (block * BLOCK_NODES + column)
            error = float(product_error(coins, np.array([theta]))[0])
            assert within(complex(values[row, column]), phi(pairs, c, theta), error), (block, column)


@pytest.mark.parametrize("name", list(FAMILIES))
@pytest.mark.parametrize(("c", "step"), [(0.5, 2.0**-6), (7.0, 0.2578125), (-0.375, 1.5)])
def test_short_runs(name: str, c: float, step: float) -> None:
    """Nodes here and there, the last ones far out."""
    coins = FAMILIES[name]
    step = float(np.float32(step / float(coins.x[-1])))
    runs = np.concatenate((np.arange(0, 900, 3), [10**4, 10**6])).astype(np.int64)
    values = run_products(coins, c, step, runs)
    assert values.shape == (runs.size, RUN_NODES)
    pairs = list(zip(coins.x.tolist(), coins.m.tolist(), strict=True))
    for row in (0, 1, 127, 128, runs.size - 2, runs.size - 1):
        for column in (0, 1, RUN_NODES - 1):
            theta = step * float(runs[row] * RUN_NODES + column)
            error = float(product_error(coins, np.array([theta]))[0])
            assert within(complex(values[row, column]), phi(pairs, c, theta), error), (row, column)


def test_runs_twice_and_blocks() -> None:
    """Runs give the same bits again, whatever the threads do, and blocks give nearly the same values."""
    coins, runs = FAMILIES["different"], np.arange(700, dtype=np.int64)
    together = run_products(coins, 0.5, 0.125, runs)
    again = run_products(coins, 0.5, 0.125, runs)
    assert np.array_equal(together, again)
    blocks = block_products(coins, 0.5, 0.125, np.array([0], dtype=np.int64))[0]
    near = together[: BLOCK_NODES // RUN_NODES].ravel()
    assert np.abs(near - blocks).max() <= 2 * product_error(coins, np.array([0.125 * BLOCK_NODES]))[0]


def test_few_blocks_and_many_give_the_same_bits() -> None:
    coins = FAMILIES["different"]
    together = block_products(coins, 0.5, 0.125, np.arange(6, dtype=np.int64))
    for block in range(6):
        alone = block_products(coins, 0.5, 0.125, np.array([block], dtype=np.int64))
        assert np.array_equal(alone[0], together[block])


def test_error_is_small() -> None:
    assert product_error(FAMILIES["different"], np.array([100.0]))[0] < 1e-11
