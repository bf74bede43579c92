"""Exchange with other libraries: events and accountants of dp-accounting, and accountants for training frameworks.

Optional: `pip install 'optcomp[interop]'` for dp-accounting, whose names are here; `optcomp.interop.opacus`,
`optcomp.interop.jax_privacy` and `optcomp.interop.flower` need the library they are named after.  Nothing else in
optcomp imports any of these.
"""

from typing import TYPE_CHECKING

from optcomp.extras import needed
from optcomp.late import late, names_of

if TYPE_CHECKING:
    from optcomp.interop.accountant import OptcompAccountant
    from optcomp.interop.reading import from_event
    from optcomp.interop.refusal import UnsupportedEvent
    from optcomp.interop.writing import to_event

_MODULE_OF = {
    "OptcompAccountant": "accountant",
    "UnsupportedEvent": "refusal",
    "from_event": "reading",
    "to_event": "writing",
}
"""Every name of the surface, and where it comes from."""

__all__ = ["OptcompAccountant", "UnsupportedEvent", "from_event", "to_event"]

_fetch = late(__name__, _MODULE_OF)


def _of_dp_accounting(name: str) -> object:
    """A name; dp-accounting is looked for first, so that its absence is told in one place."""
    if name in _MODULE_OF:
        needed("dp_accounting", "interop")
    return _fetch(name)


if not TYPE_CHECKING:  # a type checker reads the imports above
    __getattr__, __dir__ = _of_dp_accounting, names_of(__name__, _MODULE_OF)
