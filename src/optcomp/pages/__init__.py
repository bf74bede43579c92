"""The pages: what people see of a centre in a browser.

Rendered on the server; every form works without scripts, and a small script swaps parts of a page while somebody types.
Pages hold no budget and no logic: they call the same functions as the HTTP interface.  A GET never spends.

Optional: `pip install 'optcomp[center]'`.
"""

from typing import TYPE_CHECKING

from optcomp.late import late, names_of

if TYPE_CHECKING:
    from optcomp.pages.app import from_environment, make_app

_MODULE_OF = {"from_environment": "app", "make_app": "app"}
"""Every name of the surface, and where it comes from."""

__all__ = ["from_environment", "make_app"]

if not TYPE_CHECKING:  # a type checker reads the imports above
    __getattr__, __dir__ = late(__name__, _MODULE_OF), names_of(__name__, _MODULE_OF)
