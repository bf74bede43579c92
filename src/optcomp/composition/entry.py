"""`compose` and `compare`: which theorems apply, which is best.

Every answer is a `Bound`.  `auto` is the best sound method: a closed form or a short list of atoms where that is cheap,
otherwise the certified engine, and it says which in `theorem`, `method` and `notes`.
"""

from __future__ import annotations

from dataclasses import replace

from optcomp.composition import named
from optcomp.composition.method import Instance
from optcomp.composition.mixtures import converted_first
from optcomp.composition.named import Named, Options
from optcomp.composition.reading import Items, read_any
from optcomp.composition.widths import with_width_note
from optcomp.errors import InvalidInput, PrecisionNotReached
from optcomp.guarantees import checked_delta, checked_epsilon
from optcomp.instances import Mixture
from optcomp.numerics import Number, exact, whole
from optcomp.theorems import Bound, Parameters, Target

METHODS = tuple(named.BY_NAME)
"""What `method=` takes."""
MOST_BITS = 100_000
"""More bits than anybody has a use for: a number of 30,000 digits."""


def compose(
    parts: Items,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
    rtol: float | None = None,
    eta: Number | None = None,
    bits: int | None = None,
    parameters: Parameters = "fixed",
) -> Bound:
    """How much privacy the mechanisms cost together: the optimal ε at a total `delta`, or δ at a total `epsilon`.

    `parts` is a list of guarantees, plain ε or (ε, δ) pairs, a mapping from those to counts, or an array.
    `rtol` demands a relative width and raises `PrecisionNotReached` rather than return a wider bracket.
    `eta` is the accuracy of method "murtagh-vadhan"; `bits` asks for the exact answer to that many bits.
    `parameters="adaptive"` says that ε_i were chosen after seeing answers, which optimal composition does not cover.
    """
    target = target_of(delta, epsilon)
    options = _checked_options(method, eta, bits, parameters, rtol)
    instance, chosen = read_any(parts), named.BY_NAME[method]
    refusal = chosen.refusal(instance, options)
    if refusal is not None:
        raise refusal
    bound = replace(_noted(chosen, chosen.answer(instance, target, options), instance, options), about=instance)
    if options.rtol is not None and not bound.width <= options.rtol:
        raise PrecisionNotReached(bound, options.rtol, bound.width)
    return bound


def _noted(method: Named, bound: Bound, instance: Instance, options: Options) -> Bound:
    """The same, with a word on its width where the method aims at one."""
    if not method.aims or options.parameters == "adaptive":
        return bound
    return with_width_note(bound, options.rtol, isinstance(instance, Mixture) and bool(instance.bounded))


def compare(
    parts: Items, *, delta: Number | None = None, epsilon: Number | None = None, parameters: Parameters = "fixed"
) -> list[Bound]:
    """Every theorem that applies, best (smallest upper side) first."""
    target = target_of(delta, epsilon)
    options = _checked_options("auto", None, None, parameters, None)
    instance = read_any(parts)
    bounds: list[Bound] = []
    for method in named.IN_ORDER:
        refusal = method.refusal(instance, options)
        if refusal is not None and method is named.AUTO:
            raise refusal
        if refusal is None and method.compared(instance):
            bounds.append(method.answer(instance, target, options))
    bounds[0] = _noted(named.AUTO, bounds[0], instance, options)
    if isinstance(instance, Mixture):
        bounds = _about_one_mixture(bounds, instance, target, options)
    different: dict[tuple[str, str], Bound] = {}
    for bound in bounds:
        different.setdefault((bound.theorem, bound.method), bound)
    return sorted(different.values(), key=lambda bound: bound.upper)


def _about_one_mixture(bounds: list[Bound], mixture: Mixture, target: Target, options: Options) -> list[Bound]:
    """Also converting each mechanism to (ε, δ) first; and all have the one lower side, for they are about the same."""
    first = converted_first(mixture, target) if options.parameters == "fixed" else None
    if first is not None:
        bounds = [bounds[0], first, *bounds[1:]]
    return [replace(bound, lower=min(bounds[0].lower, bound.upper)) for bound in bounds]


def target_of(delta: Number | None, epsilon: Number | None) -> Target:
    """Exactly one of the two, checked."""
    if (delta is None) == (epsilon is None):
        raise InvalidInput("delta, epsilon", (delta, epsilon), "give exactly one of the two")
    if delta is not None:
        return Target("epsilon", checked_delta(delta))
    return Target("delta", checked_epsilon(epsilon))


def checked_rtol(rtol: object) -> float:
    """A demanded relative width, not negative."""
    value = exact(rtol, "rtol")
    if value < 0:
        raise InvalidInput("rtol", rtol, "must not be negative")
    return float(value)


def _checked_options(method: str, eta: Number | None, bits: object, parameters: Parameters, rtol: object) -> Options:
    if method not in METHODS:
        raise InvalidInput("method", method, f"must be one of {', '.join(METHODS)}")
    if parameters not in ("fixed", "adaptive"):
        raise InvalidInput("parameters", parameters, "must be 'fixed' or 'adaptive'")
    if eta is not None and method != "murtagh-vadhan":
        raise InvalidInput("eta", eta, f"belongs to method 'murtagh-vadhan', not to {method!r}")
    if bits is not None and method not in ("auto", "exact"):
        raise InvalidInput("bits", bits, f"belongs to method 'exact', not to {method!r}")
    return Options(
        parameters,
        None if rtol is None else checked_rtol(rtol),
        eta,
        None if bits is None else whole(bits, "bits", 1, MOST_BITS),
    )
