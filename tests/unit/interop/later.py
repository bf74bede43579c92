"""Events that dp-accounting has had since its release 0.6.0, for tests with that release: the same names and fields."""

from __future__ import annotations

from typing import Any

import attr
import pytest
from dp_accounting import dp_event

_FIELDS: dict[str, dict[str, Any]] = {
    "DiscreteGaussianDpEvent": {"sigma": attr.ib(), "sensitivity": attr.ib(1.0), "dimension": attr.ib(None)},
    "EpsilonDeltaDpEvent": {"epsilon": attr.ib(), "delta": attr.ib()},
    "ExponentialMechanismDpEvent": {"epsilon": attr.ib()},
    "PermuteAndFlipDpEvent": {"epsilon": attr.ib()},
}


def install(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of events with those that the installed release lacks."""
    for name, fields in _FIELDS.items():
        if not hasattr(dp_event, name):
            made = attr.make_class(name, fields, bases=(dp_event.DpEvent,), frozen=True)
            monkeypatch.setattr(dp_event, name, made, raising=False)
    return dp_event
