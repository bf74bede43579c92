"""Code with one term changed, run in the place of the original: a test that still passes would not miss the term."""

from __future__ import annotations

import inspect
import sys
import textwrap
from functools import cached_property
from types import FunctionType, ModuleType

import pytest


def put_mutant(patch: pytest.MonkeyPatch, owner: type | ModuleType, name: str, *changes: tuple[str, str]) -> None:
    """Replace a function or method by its own source with some texts changed, each of which occurs once."""
    found = inspect.getattr_static(owner, name)
    plain = found.func if isinstance(found, cached_property) else getattr(found, "__func__", found)
    assert isinstance(plain, FunctionType)
    lines = textwrap.dedent(inspect.getsource(plain)).splitlines()
    while lines[0].startswith("@"):
        del lines[0]
    source = "\n".join(lines)
    for before, after in changes:
        assert source.count(before) == 1, f"{before!r} occurs {source.count(before)} times in {name}"
        source = source.replace(before, after)
    made: dict[str, FunctionType] = {}
    exec(compile(source, f"<mutant of {name}>", "exec"), vars(sys.modules[plain.__module__]), made)
    changed = made[plain.__name__]
    if isinstance(found, cached_property) and isinstance(owner, type):
        prop = cached_property(changed)
        prop.__set_name__(owner, name)
        patch.setattr(owner, name, prop)
    else:
        patch.setattr(owner, name, staticmethod(changed) if isinstance(found, staticmethod) else changed)
