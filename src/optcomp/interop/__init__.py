"""Exchange with dp-accounting: its events as our guarantees and back, and an accountant that answers with our bounds.

Optional: `pip install 'optcomp[interop]'`.  Nothing else in optcomp imports dp-accounting.  Accountants for training
frameworks are modules of their own, which need the framework too: `opacus`, `jax_privacy` and `flower`.
"""

from optcomp.extras import needed

needed("dp_accounting", "interop")  # looked for here, so that its absence is told in one place

from optcomp.interop.accountant import OptcompAccountant
from optcomp.interop.reading import from_event
from optcomp.interop.refusal import UnsupportedEvent
from optcomp.interop.writing import to_event

__all__ = ["OptcompAccountant", "UnsupportedEvent", "from_event", "to_event"]
