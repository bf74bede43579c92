"""Names that are imported when they are first used, so that a surface costs nothing until then."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def late(package: str, module_of: Mapping[str, str]) -> Callable[[str], object]:
    """A `__getattr__` for a package: `module_of` says from which module of the package each name comes."""

    def fetch(name: str) -> object:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        value = getattr(import_module(f"{package}.{module_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return fetch


def names_of(package: str, module_of: Mapping[str, str]) -> Callable[[], list[str]]:
    """A `__dir__` for the same package: its names, fetched or not, and what is there already."""
    return lambda: sorted({*vars(sys.modules[package]), *module_of} - {"TYPE_CHECKING", "late", "names_of"})
