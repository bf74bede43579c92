"""What is known about one mechanism: its privacy loss, or the Rényi divergences where only those are bounded."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import optcomp as oc
from optcomp.composition import Item
from optcomp.guarantees import KnownLoss, RenyiBounded
from optcomp.numerics import FLOAT_BITS, Exact, float_up, precision
from optcomp.reading import name_of, number, parameters, written

ORDERS = (1.5, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
"""Rényi orders that are shown."""

WORST = "the worst mechanism with this (ε, δ)"
"""Whose loss is shown where only an (ε, δ) is known."""


@dataclass(frozen=True)
class MechanismFacts:
    """One kind of mechanism and how many there are of it."""

    item: Item
    count: int

    @property
    def text(self) -> str:
        """The mechanism as the command line takes it."""
        return written(self.item)

    @property
    def worst(self) -> bool:
        """Whether only an (ε, δ) is known, so that the loss is that of the worst mechanism that satisfies it."""
        return not isinstance(self.item, KnownLoss | RenyiBounded | oc.NameAndShame)

    @property
    def loss(self) -> oc.PrivacyLoss | None:
        """Its privacy loss; none for a bound on Rényi divergences."""
        if isinstance(self.item, KnownLoss | oc.NameAndShame):
            return self.item.loss
        return None if isinstance(self.item, RenyiBounded) else _worst_loss(self.item)

    @property
    def directions(self) -> Iterator[tuple[str, oc.PrivacyLoss]]:
        """The loss in each direction by its name; in one that has no name where both are alike."""
        losses = self.loss.directions if self.loss is not None else ()
        return zip(("",) if len(losses) == 1 else ("remove", "add"), losses, strict=False)

    @property
    def pure(self) -> Exact | None:
        """The ε of its pure guarantee, if it has one."""
        if isinstance(self.item, KnownLoss | RenyiBounded):
            return self.item.pure
        eps, delta = _pair(self.item)
        return None if delta else eps

    def renyi(self, order: float) -> float:
        """At least the Rényi divergence of this order, for a notion."""
        assert isinstance(self.item, RenyiBounded)
        with precision(FLOAT_BITS):
            return float_up(self.item.renyi(order))

    def as_dict(self) -> dict[str, object]:
        """A JSON-ready view; an infinite number is None."""
        view: dict[str, object] = {
            "mechanism": self.text,
            "name": name_of(self.item),
            "parameters": parameters(self.item),
            "count": self.count,
            "pure_epsilon": None if self.pure is None else number(self.pure),
            "worst_case": self.worst,
            "loss": [_view(name, loss) for name, loss in self.directions],
        }
        if isinstance(self.item, RenyiBounded):
            view["renyi"] = [{"order": order, "epsilon": _finite(self.renyi(order))} for order in ORDERS]
        return view


def _pair(item: object) -> tuple[Exact, Exact]:
    return getattr(item, "epsilon"), getattr(item, "delta")  # noqa: B009 - every guarantee has them


def _worst_loss(item: object) -> oc.PrivacyLoss:
    """Randomized response, or nothing at all, beside the probability δ of telling everything."""
    eps, delta = _pair(item)
    if not eps:
        return oc.NameAndShame(delta).loss
    return oc.PrivacyLoss(oc.RandomizedResponse(eps).laws, float(delta))


def _view(direction: str, loss: oc.PrivacyLoss) -> dict[str, object]:
    """The moments of a loss that may be infinite are those of nothing; they stand under `finite_part`."""
    finite: dict[str, object] = {
        "mean": loss.mean,
        "variance": loss.variance,
        "standard_deviation": math.sqrt(loss.variance),
        "largest": _finite(loss.most),
    }
    whole = dict.fromkeys(finite) if loss.infinite else finite
    return {"direction": direction or "both", **whole, "infinite": loss.infinite, "finite_part": finite}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
