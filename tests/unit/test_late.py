"""Surfaces whose names are fetched late: all are there, are listed, and nothing else is."""

from __future__ import annotations

import importlib

import pytest


@pytest.mark.parametrize("package", ["optcomp", *(f"optcomp.{name}" for name in ("numerics", "theorems", "planner"))])
def test_every_name_is_there_and_listed(package: str) -> None:
    module = importlib.import_module(package)
    assert set(module.__all__) <= set(dir(module))
    assert not {"TYPE_CHECKING", "late"} & set(dir(module))
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        module.nothing  # noqa: B018


def test_late_names_are_those_that_a_type_checker_sees() -> None:
    for package in ("optcomp.numerics", "optcomp.numerics.contour", "optcomp.theorems", "optcomp.planner"):
        module = importlib.import_module(package)
        assert sorted(module._MODULE_OF) == sorted(module.__all__)
        for name, source in module._MODULE_OF.items():
            assert getattr(importlib.import_module(f"{package}.{source}"), name) is getattr(module, name)
