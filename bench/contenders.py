"""Everybody who is asked, table by table."""

from __future__ import annotations

from dataclasses import replace

from bench import diffprivlib_peer, dp_accounting_peer, ours, prv_peer
from bench.answers import Contender
from bench.published import PUBLISHED

HOMOGENEOUS: tuple[Contender, ...] = (
    *ours.CONTENDERS,
    *dp_accounting_peer.CONTENDERS,
    *prv_peer.CONTENDERS,
    *diffprivlib_peer.CONTENDERS,
)
HETEROGENEOUS = HOMOGENEOUS
MURTAGH_VADHAN: tuple[Contender, ...] = (
    ours.MURTAGH_VADHAN,
    PUBLISHED,
    *(
        replace(contender, fits=lambda instance: instance.eta == 0.01)  # they know no η: once is enough
        for contender in (ours.CONTENDERS[0], dp_accounting_peer.BEST, dp_accounting_peer.DEFAULT)
    ),
)
BY_NAME = {contender.name: contender for contender in (*HOMOGENEOUS, *MURTAGH_VADHAN, ours.FINE, ours.FINEST)}
