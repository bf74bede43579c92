"""The classes of a campaign in one table: what judges an instance, its share, and what it may not exceed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tests.campaign.asked import both_ways, order, promise, to_bits
from tests.campaign.claims import false_claim, in_units
from tests.campaign.engine import capped
from tests.campaign.fitted import calibrated
from tests.campaign.hostile_arguments import arguments, command, near_rates
from tests.campaign.hostile_certificates import certificate
from tests.campaign.judge import Limits, Outcome
from tests.campaign.labelled import labelled
from tests.campaign.lists import KINDS
from tests.campaign.mixtures import mixture
from tests.campaign.on_grids import on_grid
from tests.campaign.settings import setting

Judge = Callable[[Outcome], None]


@dataclass(frozen=True)
class Class:
    """How an instance is judged, how many there are of 20,000, and what no answer may exceed without a note."""

    judge: Judge
    share: int
    limits: Limits


_EXACT = Limits(hair=1e-15)
"""Lists of a dozen ε are solved exactly, so that even an answer next to zero is narrow."""
_ANY = Limits(seconds=3, check_seconds=20)

_ASKED: dict[str, Class] = {
    "wide": Class(partial(both_ways, kind="wide"), 7000, _EXACT),
    "order": Class(partial(order, kind="order"), 1500, _EXACT),
    "bits": Class(partial(to_bits, kind="bits"), 1200, Limits(seconds=10, check_seconds=20)),
    "promise": Class(partial(promise, kind="promise"), 1500, Limits(seconds=3)),
    "calibrate": Class(partial(calibrated, kind="calibrate"), 1500, Limits(seconds=5)),
    "units": Class(partial(in_units, kind="units"), 100, Limits(seconds=6, check_seconds=30)),
    "false-claims": Class(partial(false_claim, kind="false-claims"), 60, Limits(seconds=6, check_seconds=30)),
    **{
        kind: Class(partial(both_ways, kind=kind), 350, _ANY)
        for kind in ("few", "halves", "near", "ratio", "lumpy", "dominated", "types", "equal", "thousand", "lumps")
    },
    "lattice": Class(partial(both_ways, kind="lattice"), 120, Limits(seconds=6, check_seconds=20)),
    "middle": Class(partial(both_ways, kind="middle"), 100, Limits(seconds=6, check_seconds=0)),
    "real": Class(partial(both_ways, kind="real"), 5, Limits(seconds=6, check_seconds=0)),
    "mixtures": Class(mixture, 600, Limits(seconds=12)),
    "grids": Class(on_grid, 300, Limits(seconds=20)),
    "labels": Class(labelled, 100, Limits(seconds=20)),
    "settings": Class(setting, 200, Limits(seconds=20)),
    "near-rates": Class(near_rates, 100, Limits(seconds=20)),
    "hostile-certificates": Class(certificate, 500, Limits()),
    "hostile-arguments": Class(arguments, 500, Limits(seconds=60)),
    "hostile-commands": Class(command, 300, Limits(seconds=60)),
}
"""As a user asks."""

_ENGINE = {
    f"engine-{kind}": Class(partial(capped, kind=kind), 150, Limits(seconds=4))
    for kind, drawn in KINDS.items()
    if drawn.oracle is not None
}
"""The contour engine alone, with random caps on its work."""

CLASSES: dict[str, Class] = _ASKED | _ENGINE
"""All of them."""


def judged(kind: str, seed: int) -> Outcome:
    """The instance with this seed."""
    outcome = Outcome(kind, seed, CLASSES[kind].limits)
    start = time.process_time()
    CLASSES[kind].judge(outcome)
    outcome.spent = time.process_time() - start
    return outcome
