"""Everybody who is asked, by name."""

from __future__ import annotations

from bench.losses import dp_accounting_peer, ours, prv_peer
from bench.losses.questions import Entrant, Question

PEERS: tuple[Entrant, ...] = (*dp_accounting_peer.CONTENDERS, *prv_peer.CONTENDERS)
BY_NAME = {entrant.name: entrant for entrant in (*ours.CONTENDERS, *PEERS)}
_SLOW = (dp_accounting_peer.FINE, prv_peer.FINEST)


def fitting(question: Question, entrants: tuple[Entrant, ...], quick: bool) -> list[Entrant]:
    """Those who can be asked this, in a quick run without the slow ones."""
    return [entrant for entrant in entrants if entrant.fits(question) and not (quick and entrant in _SLOW)]
