"""Composition beyond (ε, δ) pairs: which theorem serves a mixture of mechanisms and notions, and which is best.

- Every loss known: the losses add up (ZDW22); Gaussian ones alone in closed form (DRS22).
- Rényi bounds among them: either everything as Rényi divergences (CKS20), or the Rényi parts as one block, itself an
  (ε', δ') mechanism by CKS20, beside the losses of the others (ZDW22).  The smaller answer is returned.
- The lower side of a Rényi bound is a mechanism that satisfies it: Gaussian noise for zCDP and tCDP, nothing otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from optcomp.composition.widths import BY_RENYI, is_narrow
from optcomp.errors import HypothesisNotMet, NotAffordable
from optcomp.guarantees.known_loss import KnownLoss
from optcomp.instances.mixture import Mixture
from optcomp.instances.parts import Parts
from optcomp.numerics.exact import Exact
from optcomp.theorems import cks20, dkmmn06, drs22, opt, zdw22
from optcomp.theorems.bound import Bound, Quantity
from optcomp.theorems.curves import ClosedForms
from optcomp.theorems.opt import Effort

_SHARES = (0.5, 0.1, 0.01)
"""Of δ, for a block of Rényi bounds."""
_FEW_ATOMS = 300_000
BY_PAIRS = "every mechanism by its (ε, δ) alone"
_ROUGH = Effort(1e-6, 2e8)
"""For what is looser than that anyway."""


def best(mixture: Mixture, quantity: Quantity, given: Exact, effort: Effort) -> Bound:
    """The smallest upper side of all sound ways, with the largest lower side."""
    if not mixture.bounded:
        return _by_losses_or_renyi(mixture, quantity, given, effort)
    found = [by_renyi(mixture, quantity, given), *_with_blocks(mixture, quantity, given)]
    pure = mixture.by_pure()
    if pure is not None:
        found.append(by_losses(pure, quantity, given, _ROUGH))
    chosen = min(found, key=lambda bound: bound.upper)
    lower = by_losses(mixture.attained(), quantity, given, _ROUGH).lower
    return replace(chosen, lower=min(lower, chosen.upper), count=mixture.count)


def _by_losses_or_renyi(mixture: Mixture, quantity: Quantity, given: Exact, effort: Effort) -> Bound:
    """By the losses; where the work cap left that wide, perhaps better as Rényi divergences, and then that is said."""
    bound = by_losses(mixture, quantity, given, effort)
    if is_narrow(bound, effort.rtol):
        return bound
    other = by_renyi(mixture, quantity, given)
    if other.upper >= bound.upper:
        return bound
    return replace(other, lower=min(bound.lower, other.upper), notes=(*other.notes, BY_RENYI))


def by_losses(mixture: Mixture, quantity: Quantity, given: Exact, effort: Effort) -> Bound:
    """By the losses of all parts; notions are refused."""
    _refuse_notions(mixture)
    if not mixture.losses:
        return opt.answer(quantity, mixture.pairs, given, None, _FEW_ATOMS, effort)[0]
    if mixture.all_gaussian:
        return drs22.epsilon_at(mixture, given) if quantity == "epsilon" else drs22.delta_at(mixture, given)
    closed = ClosedForms(mixture)
    if closed.promising and not zdw22.alone(mixture):
        quick = zdw22.in_closed_form(mixture, quantity, given, closed)
        if quick is not None and is_narrow(quick, effort.rtol):
            return quick
    bound = certified(mixture, quantity, given, effort)
    return bound if is_narrow(bound, effort.rtol) else _refined(bound, mixture, closed)


def _refined(bound: Bound, mixture: Mixture, closed: ClosedForms) -> Bound:
    """A wide bracket, with what closed forms and parts of the list prove."""
    ends = _closed_ends(bound, closed)
    lower = max([bound.lower, ends[0], *_parts_alone(mixture, bound)])
    return replace(bound, lower=min(lower, ends[1]), upper=min(bound.upper, ends[1]))


def _closed_ends(bound: Bound, closed: ClosedForms) -> tuple[float, float]:
    if bound.quantity == "delta":
        return closed.delta(bound.given)
    return closed.epsilon(bound.given, bound.lower, bound.upper)


def _parts_alone(mixture: Mixture, bound: Bound) -> Iterator[float]:
    """Lower sides of the pairs alone and of the largest group alone: dropping answers loses nothing."""
    leaks = Parts.of({(0.0, delta): count for delta, count in mixture.pairs.leaks})
    with suppress(NotAffordable):  # whether any ε works is undecided
        if mixture.pairs.kinds:
            yield opt.answer(bound.quantity, mixture.pairs, bound.given, None, _FEW_ATOMS, _ROUGH)[0].lower
        if len(mixture.losses) > 1 or mixture.pairs.kinds:
            largest = max(mixture.losses, key=lambda item: item[1])
            yield by_losses(Mixture(leaks, (largest,)), bound.quantity, bound.given, _ROUGH).lower


def _refuse_notions(mixture: Mixture) -> None:
    if mixture.bounded:
        names = ", ".join(sorted({type(notion).__name__ for notion, _ in mixture.bounded}))
        raise HypothesisNotMet(zdw22.ID, f"it needs the privacy loss of every mechanism, and {names} only bounds it")


def certified(mixture: Mixture, quantity: Quantity, given: Exact, effort: Effort) -> Bound:
    """By the engine."""
    _refuse_notions(mixture)
    return (zdw22.epsilon_at if quantity == "epsilon" else zdw22.delta_at)(mixture, given, effort)


def by_renyi(mixture: Mixture, quantity: Quantity, given: Exact) -> Bound:
    """Everything as Rényi divergences."""
    return (cks20.epsilon_at if quantity == "epsilon" else cks20.delta_at)(mixture, given)


def basic(mixture: Mixture, quantity: Quantity, given: Exact) -> Bound:
    """The sums of ε and δ, if every part has them."""
    return (dkmmn06.epsilon_at if quantity == "epsilon" else dkmmn06.delta_at)(pairs_of(mixture, dkmmn06.ID), given)


FIXED, ADAPTIVE = "use 'auto'", "for parameters chosen after seeing answers use a filter of optcomp.interactive"
"""What to do where a mechanism has no (ε, δ) of its own."""


def pairs_of(mixture: Mixture, theorem: str, advice: str = FIXED) -> Parts:
    """Everything by its (ε, δ), for a theorem that knows no more."""
    parts = mixture.as_pairs()
    if parts is None:
        names = ", ".join(sorted({type(value).__name__ for value, _ in mixture.others if value.pure is None}))
        raise HypothesisNotMet(theorem, f"it needs (ε, δ) guarantees, and {names} has none of its own; {advice}")
    return parts


def converted_first(mixture: Mixture, quantity: Quantity, given: Exact) -> Bound | None:
    """What is lost by turning every mechanism into an (ε, δ) pair first, half of δ shared by those without an ε.

    For an ε from δ only: the other way round there is no natural share.
    """
    needy = sum(count for value, count in mixture.others if value.pure is None)
    if quantity == "delta" or not given:
        return None
    counts = {(eps, delta): copies for eps, delta, copies in mixture.pairs.groups}
    for value, count in mixture.others:
        alone = (
            Mixture(Parts(()), ((value, 1),)) if isinstance(value, KnownLoss) else Mixture(Parts(()), (), ((value, 1),))
        )
        delta = 0.0 if value.pure is not None else float(given) / (2 * needy)
        eps = value.pure if value.pure is not None else best(alone, quantity, delta, _ROUGH).upper
        if not eps < 1e9:
            return None
        counts[eps, delta] = counts.get((eps, delta), 0) + count
    found = opt.answer(quantity, Parts.of(counts), given, None, _FEW_ATOMS, _ROUGH)[0]
    return replace(found, method=f"{found.method}, pairs first", notes=(*found.notes, BY_PAIRS))


def _with_blocks(mixture: Mixture, quantity: Quantity, given: Exact) -> Iterator[Bound]:
    """All Rényi bounds as one (ε', δ') mechanism beside the others, for a few δ'."""
    if not mixture.losses and not mixture.pairs.kinds:
        return
    block = Mixture(Parts(()), (), mixture.bounded)
    whole = given if quantity == "epsilon" else by_renyi(mixture, quantity, given).upper
    for share in _SHARES:
        delta = share * float(whole)
        if not 0 < delta < 1:
            continue
        eps = cks20.epsilon_at(block, delta).upper
        if not 0 < eps < 1e9:
            continue
        note = f"the Rényi bounds as one mechanism of ε = {eps:.6g}, δ = {delta:.3g} (CKS20)"
        rest = mixture.without_bounded().with_block(eps, delta)
        found = by_losses(rest, quantity, given, _ROUGH)
        if math.isfinite(found.upper):
            yield replace(found, notes=(*found.notes, note))
