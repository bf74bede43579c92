"""Claims about sums of the losses of any mechanisms that a certificate may be about."""

from optcomp.checker.sums.decide import decide_directions
from optcomp.checker.sums.total import Total, totals_of

__all__ = ["Total", "decide_directions", "totals_of"]
