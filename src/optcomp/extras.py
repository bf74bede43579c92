"""Optional parts: a library that is not installed is missed in one line that says what to install."""

from __future__ import annotations

import importlib
from types import ModuleType

from optcomp.errors import MissingExtra


def needed(module: str, extra: str) -> ModuleType:
    """The module, which comes with an extra of optcomp: `needed("matplotlib.figure", "plots")`.

    An error inside an installed library is its own and passes through.
    """
    library = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != library:
            raise
        raise MissingExtra(library, extra) from None
