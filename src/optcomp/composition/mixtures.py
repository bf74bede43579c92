"""Composition beyond (ε, δ) pairs: methods for mixtures of mechanisms and notions, in order.

- Every loss known: the losses add up (ZDW22); Gaussian ones alone in closed form (DRS22).
- Rényi bounds among them: either everything as Rényi divergences (CKS20), or the Rényi parts as one block, itself an
  (ε', δ') mechanism by CKS20, beside the losses of the others (ZDW22).  The smaller answer is returned.
- The lower side of a Rényi bound is a mechanism that satisfies it: Gaussian noise for zCDP and tCDP, nothing otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from optcomp.composition import pairs
from optcomp.composition.method import Found, Method, in_turn
from optcomp.composition.widths import BY_RENYI, LOWER_OF_BATCHES, is_narrow
from optcomp.guarantees import KnownLoss
from optcomp.instances import Mixture, Parts
from optcomp.theorems import Bound, ClosedForms, Effort, Target, cks20, drs22, mv18_1_5, zdw22

_SHARES = (0.5, 0.1, 0.01)
"""Of δ, for a block of Rényi bounds: the best share is not known, and each proves a bound."""
_MOST_EPSILON = 1e9
"""An ε beyond this says nothing, and is not composed further."""
BY_PAIRS = "every mechanism by its (ε, δ) alone"
_ROUGH = Effort(1e-6, 2e8)
"""For what is looser than that anyway."""


class Gaussians(Method[Mixture]):
    """Gaussian noise and leaks alone, in closed form (DRS22)."""

    exact = True

    def affordable(self, instance: Mixture, target: Target) -> bool:
        """Whether there is nothing else."""
        return instance.all_gaussian

    def answer(self, instance: Mixture, target: Target, effort: Effort) -> Found:
        """Between neighbouring floats."""
        return Found(target.pick(drs22.epsilon_at, drs22.delta_at)(instance, target.given))


class Curves(Method[Mixture]):
    """Closed forms of single losses, put together (ZDW22)."""

    def affordable(self, instance: Mixture, target: Target) -> bool:
        """Whether they promise to be narrow; a mechanism alone is left to its own closed form."""
        return (
            not zdw22.alone(instance) and ClosedForms(instance).promising and mv18_1_5.has_room(instance.leaky, target)
        )

    def answer(self, instance: Mixture, target: Target, effort: Effort) -> Found:
        """What they prove by themselves."""
        return Found(zdw22.in_closed_form(instance, target, ClosedForms(instance), effort.rtol))


class Losses(Method[Mixture]):
    """The sum of all losses by the contour integral (ZDW22)."""

    def affordable(self, instance: Mixture, target: Target) -> bool:
        """Whether every loss is known."""
        return not instance.bounded

    def answer(self, instance: Mixture, target: Target, effort: Effort) -> Found:
        """A bracket; where it is wide, with what closed forms and parts of the list prove."""
        bound = contour(instance, target, effort)
        return Found(bound if is_narrow(bound, effort.rtol) else _refined(bound, instance))


GAUSSIANS, CURVES, LOSSES = Gaussians(), Curves(), Losses()
IN_ORDER: tuple[Method[Mixture], ...] = (GAUSSIANS, CURVES, LOSSES)
"""For mixtures whose losses are all known: the first that is narrow, else the last."""


def best(mixture: Mixture, target: Target, effort: Effort) -> Bound:
    """The smallest upper side of all sound ways, with the largest lower side."""
    if not mixture.bounded:
        return truthful(_by_losses_or_renyi(mixture, target, effort), mixture, effort)
    found = [by_renyi(mixture, target), *_with_blocks(mixture, target)]
    pure = mixture.by_pure()
    if pure is not None:
        found.append(by_losses(pure, target, _ROUGH))
    chosen = min(found, key=lambda bound: bound.upper)
    lower = by_losses(mixture.attained(), target, _ROUGH).lower
    return replace(chosen, lower=min(lower, chosen.upper), count=mixture.count)


def truthful(bound: Bound, mixture: Mixture, effort: Effort) -> Bound:
    """The same; where laws are upper bounds only, the lower side is that of laws which two tables have.

    One mechanism alone attains its curve at every ε by itself.
    """
    if not mixture.loose or zdw22.alone(mixture):
        return bound
    known = by_losses(mixture.attained(), bound.target, effort)
    return replace(bound, lower=min(known.lower, bound.upper), notes=(*bound.notes, LOWER_OF_BATCHES))


def _by_losses_or_renyi(mixture: Mixture, target: Target, effort: Effort) -> Bound:
    """By the losses; where the work cap left that wide, perhaps better as Rényi divergences, and then that is said."""
    bound = by_losses(mixture, target, effort)
    if is_narrow(bound, effort.rtol):
        return bound
    other = by_renyi(mixture, target)
    if other.upper >= bound.upper:
        return bound
    return replace(other, lower=min(bound.lower, other.upper), notes=(*other.notes, BY_RENYI))


def by_losses(mixture: Mixture, target: Target, effort: Effort) -> Bound:
    """By the losses of all parts, which must be known."""
    if not mixture.losses:
        return pairs.narrowest(pairs.AT_ONE_GO, mixture.pairs, target, effort).bound
    *_, last = in_turn(IN_ORDER, mixture, target, effort, lambda bound: is_narrow(bound, effort.rtol))
    return last.bound


def contour(mixture: Mixture, target: Target, effort: Effort) -> Bound:
    """By the contour integral alone."""
    return target.pick(zdw22.epsilon_at, zdw22.delta_at)(mixture, target.given, effort)


def by_renyi(mixture: Mixture, target: Target) -> Bound:
    """Everything as Rényi divergences."""
    return target.pick(cks20.epsilon_at, cks20.delta_at)(mixture, target.given)


def _refined(bound: Bound, mixture: Mixture) -> Bound:
    """A wide bracket, with what closed forms and parts of the list prove."""
    target, closed = bound.target, ClosedForms(mixture)
    if target.quantity == "delta":
        least, most = closed.delta(target.given)
    else:
        least, most = closed.epsilon(target.given, bound.lower, bound.upper)
    lower = max([bound.lower, least, *_parts_alone(mixture, target)])
    return replace(bound, lower=min(lower, most), upper=min(bound.upper, most))


def _parts_alone(mixture: Mixture, target: Target) -> Iterator[float]:
    """Lower sides of the pairs alone and of the largest group alone: dropping answers loses nothing."""
    leaks = Parts.of({(0.0, delta): count for delta, count in mixture.pairs.leaks})
    if not mv18_1_5.decided(mixture.pairs, target):
        return
    if mixture.pairs.kinds:
        yield pairs.narrowest(pairs.AT_ONE_GO, mixture.pairs, target, _ROUGH).bound.lower
    if len(mixture.losses) > 1 or mixture.pairs.kinds:
        largest = max(mixture.losses, key=lambda item: item[1])
        yield by_losses(Mixture(leaks, (largest,)), target, _ROUGH).lower


def converted_first(mixture: Mixture, target: Target) -> Bound | None:
    """What is lost by turning every mechanism into an (ε, δ) pair first, half of δ shared by those without an ε.

    For an ε from δ only: the other way round there is no natural share.
    """
    needy = sum(count for value, count in mixture.others if value.pure is None)
    if target.quantity == "delta" or not target.given:
        return None
    counts = {(eps, delta): copies for eps, delta, copies in mixture.pairs.groups}
    for value, count in mixture.others:
        alone = (
            Mixture(Parts(()), ((value, 1),)) if isinstance(value, KnownLoss) else Mixture(Parts(()), (), ((value, 1),))
        )
        delta = 0.0 if value.pure is not None else float(target.given) / (2 * needy)
        eps = value.pure if value.pure is not None else best(alone, Target("epsilon", delta), _ROUGH).upper
        if not eps < _MOST_EPSILON:
            return None
        counts[eps, delta] = counts.get((eps, delta), 0) + count
    found = pairs.narrowest(pairs.AT_ONE_GO, Parts.of(counts), target, _ROUGH).bound
    return replace(found, method=f"{found.method}, pairs first", notes=(*found.notes, BY_PAIRS))


def _with_blocks(mixture: Mixture, target: Target) -> Iterator[Bound]:
    """All Rényi bounds as one (ε', δ') mechanism beside the others, for a few δ'."""
    if not mixture.losses and not mixture.pairs.kinds:
        return
    block = Mixture(Parts(()), (), mixture.bounded)
    whole = target.given if target.quantity == "epsilon" else by_renyi(mixture, target).upper
    for share in _SHARES:
        delta = share * float(whole)
        if not 0 < delta < 1:
            continue
        eps = cks20.epsilon_at(block, delta).upper
        if not 0 < eps < _MOST_EPSILON:
            continue
        note = f"the Rényi bounds as one mechanism of ε = {eps:.6g}, δ = {delta:.3g} (CKS20)"
        found = by_losses(mixture.without_bounded().with_block(eps, delta), target, _ROUGH)
        if math.isfinite(found.upper):
            yield replace(found, notes=(*found.notes, note))
