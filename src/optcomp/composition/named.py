"""The methods that people can ask for by name: what each serves, and how it answers.

A method is asked in this order: whether its theorem covers the instance (`refusal`), then for its `answer`.  Those that
prove an upper side only get the lower side of the largest group of equal ε alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

from optcomp.composition import mixtures, pairs
from optcomp.composition.method import Instance
from optcomp.errors import HypothesisNotMet
from optcomp.instances import Mixture, Parts
from optcomp.numerics import Exact, Number
from optcomp.theorems import (
    Bound,
    Effort,
    Parameters,
    Target,
    cks20,
    dkmmn06,
    drv10,
    kov15_3_5,
    mv18_1_5,
    mv18_1_7,
    opt,
    smith25_1_1,
    theorem,
    zdw22,
)

_LOWER_SIDE = "lower side:"
_MIXED_WORK = 5e8
"""The work cap for mixtures when no width is demanded: a node costs more there than for coins alone."""
_FIXED = "use 'auto'"
_ADAPTIVE = "for parameters chosen after seeing answers use a filter of optcomp.interactive"


@dataclass(frozen=True)
class Options:
    """How an answer is wanted."""

    parameters: Parameters = "fixed"
    rtol: float | None = None
    eta: Number | None = None
    bits: int | None = None


class Named(ABC):
    """A method by its name."""

    name: str
    aims = False
    """Whether it aims at the default width; the others are asked for to be compared, and are as wide as they are."""

    @abstractmethod
    def refusal(self, instance: Instance, options: Options) -> HypothesisNotMet | None:
        """Why the method does not cover the instance, if it does not."""

    @abstractmethod
    def answer(self, instance: Instance, target: Target, options: Options) -> Bound:
        """The bracket."""

    def compared(self, instance: Instance) -> bool:
        """Whether a comparison shows it beside `auto`."""
        return True


@dataclass(frozen=True)
class ByPairs(Named):
    """A theorem about (ε, δ) pairs; of other mechanisms it knows their (ε, δ) alone."""

    name: str
    theorem: str
    epsilon_at: Callable[[Parts, Exact], Bound]
    delta_at: Callable[[Parts, Exact], Bound]

    def refusal(self, instance: Instance, options: Options) -> HypothesisNotMet | None:
        """Without (ε, δ) of every mechanism, or by the hypotheses of the theorem."""
        known = _as_pairs(instance)
        if known is None:
            return _no_pairs(instance, self.theorem, options.parameters)
        return theorem(self.theorem).refusal(parameters=options.parameters, all_equal=known.all_equal)

    def answer(self, instance: Instance, target: Target, options: Options) -> Bound:
        """The upper side of the theorem."""
        known = _as_pairs(instance)
        assert known is not None
        bound = self._bound(known, target, options)
        if isinstance(instance, Parts):
            return bound
        notes = (note for note in bound.notes if not note.startswith(_LOWER_SIDE))
        return replace(bound, lower=0.0, notes=(*notes, mixtures.BY_PAIRS))

    def _bound(self, parts: Parts, target: Target, options: Options) -> Bound:
        return _with_lower(target.pick(self.epsilon_at, self.delta_at)(parts, target.given), parts)


@dataclass(frozen=True)
class MurtaghVadhan(ByPairs):
    """Every ε_i rounded to a lattice, to a relative accuracy η."""

    def _bound(self, parts: Parts, target: Target, options: Options) -> Bound:
        return target.pick(mv18_1_7.epsilon_at, mv18_1_7.delta_at)(parts, target.given, options.eta)

    def compared(self, instance: Instance) -> bool:
        """Pairs whose table is quick."""
        return isinstance(instance, Parts) and mv18_1_7.quick(instance)


class InFull(Named):
    """Optimal composition in full, or to a number of bits."""

    name, aims = "exact", True

    def refusal(self, instance: Instance, options: Options) -> HypothesisNotMet | None:
        """Mixtures, and parameters that were chosen adaptively."""
        if isinstance(instance, Mixture):
            return HypothesisNotMet(mv18_1_5.ID, "it needs (ε, δ) guarantees only, and so do 'exact' and bits")
        return theorem(mv18_1_5.ID).refusal(parameters=options.parameters, all_equal=instance.all_equal)

    def answer(self, instance: Instance, target: Target, options: Options) -> Bound:
        """Refuses what it cannot afford."""
        assert isinstance(instance, Parts)
        if options.bits is not None:
            return mv18_1_5.to_bits(instance, target, options.bits)
        return target.pick(mv18_1_5.epsilon_at, mv18_1_5.delta_at)(instance, target.given)

    def compared(self, instance: Instance) -> bool:
        """`auto` is as good."""
        return False


class Certified(Named):
    """The engine."""

    name, aims = "certified", True

    def refusal(self, instance: Instance, options: Options) -> HypothesisNotMet | None:
        """Mechanisms whose loss is not known, and parameters that were chosen adaptively."""
        used = theorem(opt.ID if isinstance(instance, Parts) else zdw22.ID)
        refusal = used.refusal(parameters=options.parameters, all_equal=False)
        if refusal is not None or isinstance(instance, Parts) or not instance.bounded:
            return refusal
        names = ", ".join(sorted({type(notion).__name__ for notion, _ in instance.bounded}))
        return HypothesisNotMet(used.id, f"it needs the privacy loss of every mechanism, and {names} only bounds it")

    def answer(self, instance: Instance, target: Target, options: Options) -> Bound:
        """By the contour integral, but for closed forms and a few atoms."""
        if isinstance(instance, Mixture):
            effort = effort_for(instance, options.rtol)
            return mixtures.truthful(mixtures.contour(instance, target, effort), instance, effort)
        return pairs.narrowest(pairs.CERTIFIED, instance, target, effort_for(instance, options.rtol)).bound

    def compared(self, instance: Instance) -> bool:
        """For pairs `auto` is as good."""
        return isinstance(instance, Mixture)


class Renyi(Named):
    """Everything as Rényi divergences."""

    name = "renyi"

    def refusal(self, instance: Instance, options: Options) -> HypothesisNotMet | None:
        """Parameters that were chosen adaptively."""
        return theorem(cks20.ID).refusal(parameters=options.parameters, all_equal=False)

    def answer(self, instance: Instance, target: Target, options: Options) -> Bound:
        """At the best order."""
        if isinstance(instance, Mixture):
            return mixtures.by_renyi(instance, target)
        return _with_lower(mixtures.by_renyi(Mixture(instance), target), instance)


class Auto(Named):
    """The best sound method: closed forms and short lists of atoms where they are cheap, otherwise the engine."""

    name, aims = "auto", True

    def refusal(self, instance: Instance, options: Options) -> HypothesisNotMet | None:
        """Bits of anything but pairs, and what basic composition refuses of parameters that were chosen adaptively."""
        if options.bits is not None:
            return EXACT.refusal(instance, options)
        return BASIC.refusal(instance, options) if options.parameters == "adaptive" else None

    def answer(self, instance: Instance, target: Target, options: Options) -> Bound:
        """Sums alone where parameters were chosen adaptively."""
        if options.bits is not None:
            return EXACT.answer(instance, target, options)
        if options.parameters == "adaptive":
            return BASIC.answer(instance, target, options)
        if isinstance(instance, Mixture):
            return mixtures.best(instance, target, effort_for(instance, options.rtol))
        return pairs.optimum(instance, target, options.rtol).bound


AUTO, EXACT = Auto(), InFull()
BASIC = ByPairs("basic", dkmmn06.ID, dkmmn06.epsilon_at, dkmmn06.delta_at)
IN_ORDER: tuple[Named, ...] = (
    AUTO,
    BASIC,
    ByPairs("advanced", drv10.ID, drv10.epsilon_at, drv10.delta_at),
    ByPairs("strong", smith25_1_1.ID, smith25_1_1.epsilon_at, smith25_1_1.delta_at),
    ByPairs("kov", "KOV15-3.5", kov15_3_5.epsilon_at, kov15_3_5.delta_at),
    EXACT,
    MurtaghVadhan("murtagh-vadhan", mv18_1_7.ID, mv18_1_7.epsilon_at, mv18_1_7.delta_at),
    Certified(),
    Renyi(),
)
BY_NAME = {method.name: method for method in IN_ORDER}


def effort_for(instance: Instance, rtol: float | None) -> Effort:
    """The width to aim at, and the work it may cost."""
    return Effort(work=_MIXED_WORK) if rtol is None and isinstance(instance, Mixture) else Effort.of(rtol)


def _as_pairs(instance: Instance) -> Parts | None:
    return instance if isinstance(instance, Parts) else instance.as_pairs()


def _no_pairs(instance: Instance, id: str, parameters: Parameters) -> HypothesisNotMet:
    assert isinstance(instance, Mixture)
    names = ", ".join(sorted({type(value).__name__ for value, _ in instance.others if value.pure is None}))
    advice = _ADAPTIVE if parameters == "adaptive" else _FIXED
    return HypothesisNotMet(id, f"it needs (ε, δ) guarantees, and {names} has none of its own; {advice}")


def _with_lower(bound: Bound, parts: Parts) -> Bound:
    """The same with a lower side at least that of the largest group of equal ε alone, beside all the leaks."""
    counts: dict[tuple[Exact, Exact], int] = {(0.0, delta): count for delta, count in parts.leaks}
    if parts.kinds:
        eps, count = parts.heaviest
        counts[eps, 0.0] = count
    group = mv18_1_5.at_once(Parts.of(counts), bound.target)  # None if it is undecided whether any ε works
    if group is None or group.lower <= bound.lower:
        return bound
    notes = tuple(note for note in bound.notes if not note.startswith(_LOWER_SIDE))
    return replace(bound, lower=group.lower, notes=(*notes, f"{_LOWER_SIDE} the largest group of equal ε alone"))
