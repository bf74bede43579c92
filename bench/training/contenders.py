"""Everybody who is asked, by name, and who stands beside us in which table."""

from __future__ import annotations

from bench.losses import dp_accounting_peer as dp
from bench.losses import ours
from bench.losses import prv_peer as prv
from bench.losses.questions import Entrant
from bench.training.clt_peer import GDP

BESIDE_TRAINING: tuple[Entrant, ...] = (dp.ACCOUNTANT, dp.FINE, prv.FINER, dp.RDP_OPACUS, GDP)
"""dp-accounting's default and its grid 1e-5, prv-accountant as Opacus calls it, Rényi orders of Opacus, its GDP."""
BESIDE_LATTICES: tuple[Entrant, ...] = (dp.BEST, dp.ACCOUNTANT, dp.COARSEST, dp.COARSER)
"""Made to measure, and the default; the two coarse grids are dp-accounting's best for Laplace noise."""
BY_NAME = {entrant.name: entrant for entrant in (*ours.CONTENDERS, *BESIDE_TRAINING, *BESIDE_LATTICES)}
