"""The kinds of noise that plans and releases may name."""

from __future__ import annotations

from collections.abc import Iterable

from optcomp.errors import InvalidInput
from optcomp.statistics.noise.exponential import EXPONENTIAL
from optcomp.statistics.noise.gaussian import GAUSSIAN
from optcomp.statistics.noise.kind import Noise
from optcomp.statistics.noise.laplace import LAPLACE

_KNOWN: dict[str, Noise] = {noise.name: noise for noise in (LAPLACE, GAUSSIAN, EXPONENTIAL)}
"""By name."""


def register_noise(noise: Noise) -> None:
    """Make a kind of noise known by its name, which must be new."""
    if noise.name in _KNOWN:
        raise InvalidInput("noise", noise.name, "is a name that is taken")
    _KNOWN[noise.name] = noise


def unregister_noise(noise: Noise) -> None:
    """Forget a kind of noise."""
    _KNOWN.pop(noise.name, None)


def known_noises() -> tuple[Noise, ...]:
    """All of them."""
    return tuple(_KNOWN.values())


def noise_named(name: str | Noise, among: Iterable[Noise] | None = None) -> Noise:
    """The noise of this name, perhaps among a few; what is a noise already must be one of them too."""
    known = {noise.name: noise for noise in (_KNOWN.values() if among is None else among)}
    word = name.name if isinstance(name, Noise) else name
    if not isinstance(word, str) or word not in known:
        raise InvalidInput("mechanism", word, f"must be one of {', '.join(known)}")
    return known[word]
