"""Optimal composition of (ε, δ) pairs: one list of methods, the cheapest first."""

from __future__ import annotations

from dataclasses import dataclass, replace

from optcomp.composition.method import Found, Method, found, in_turn
from optcomp.composition.widths import is_narrow
from optcomp.instances import Parts
from optcomp.theorems import Bound, Effort, Target, mv18_1_5, mv18_1_7, opt

_FEW_ATOMS = 300_000
"""Listed in about a tenth of a second, as fast as the engine and nearer to the truth."""

_SMALL_TABLE, _FEW_KINDS = 5e6, 300
"""Additions of a table that is quicker than the engine's first look, and kinds whose unit is found at once."""


class ClosedForm(Method[Parts]):
    """Nothing to add up, the top cell, zero, or equal ε: closed forms at any number of mechanisms (MV18-1.5)."""

    exact = True

    def affordable(self, instance: Parts, target: Target) -> bool:
        """Whether there is one, and it is decided that some ε works."""
        return mv18_1_5.has_closed_form(instance, target)

    def answer(self, instance: Parts, target: Target, effort: Effort) -> Found | None:
        """Between neighbouring floats."""
        return found(mv18_1_5.at_once(instance, target))


@dataclass(frozen=True)
class Atoms(Method[Parts]):
    """All values of the loss, listed (MV18-1.5); a few thousand in ball arithmetic, up to `most` in floats."""

    most: int
    exact = True

    def affordable(self, instance: Parts, target: Target) -> bool:
        """Whether the list is short enough."""
        return mv18_1_5.affordable(instance, self.most) and mv18_1_5.decided(instance, target)

    def answer(self, instance: Parts, target: Target, effort: Effort) -> Found | None:
        """To the last digits of floats."""
        return found(mv18_1_5.listed(instance, target, self.most))


@dataclass(frozen=True)
class Engine(Method[Parts]):
    """The contour integral (OPT); `work` caps a first look, before other methods have their turn, if any can help."""

    work: float | None = None

    def affordable(self, instance: Parts, target: Target) -> bool:
        """It serves all lists, if δ leaves room beside the leaks."""
        return mv18_1_5.has_room(instance, target)

    def answer(self, instance: Parts, target: Target, effort: Effort) -> Found:
        """A bracket, and its quadrature."""
        hopeless = effort.work > opt.WORK and mv18_1_7.shared_unit(instance, mv18_1_7.QUICK_WORK) is None
        allowed = effort if self.work is None or hopeless else replace(effort, work=self.work)
        return Found(*target.pick(opt.contour_epsilon, opt.contour_delta)(instance, target.given, allowed))


@dataclass(frozen=True)
class Lattice(Method[Parts]):
    """A table on a lattice that every ε_i lies on (MV18-1.7): nearly exact, and quick where the table is small."""

    work: float = mv18_1_7.QUICK_WORK
    kinds: int | None = None

    def affordable(self, instance: Parts, target: Target) -> bool:
        """Whether there is such a lattice, with a small table."""
        if self.kinds is not None and instance.kinds > self.kinds:
            return False
        return mv18_1_7.shared_unit(instance, self.work) is not None

    def answer(self, instance: Parts, target: Target, effort: Effort) -> Found | None:
        """A bracket about as wide as round-off."""
        return found(mv18_1_7.on_lattice(instance, target))


CLOSED_FORM, FEW_ATOMS, ALL_ATOMS = ClosedForm(), Atoms(_FEW_ATOMS), Atoms(mv18_1_5.FLOAT_ATOMS)
GLANCE, ENGINE, LATTICE = Engine(opt.FIRST_WORK), Engine(), Lattice()
TABLE = Lattice(_SMALL_TABLE, _FEW_KINDS)
IN_ORDER: tuple[Method[Parts], ...] = (CLOSED_FORM, FEW_ATOMS, TABLE, GLANCE, LATTICE, ENGINE, ALL_ATOMS)
"""The first that is narrow enough is the answer, else the narrowest."""
CERTIFIED: tuple[Method[Parts], ...] = (CLOSED_FORM, Atoms(0), ENGINE)
"""The engine, but for closed forms and the few thousand atoms that ball arithmetic lists at once."""
AT_ONE_GO: tuple[Method[Parts], ...] = (CLOSED_FORM, FEW_ATOMS, ENGINE)
"""For pairs as a part of something larger."""


def optimum(parts: Parts, target: Target, rtol: float | None) -> Found:
    """Optimal composition: as narrow as demanded, or as the default width, if any method gets there."""
    return narrowest(IN_ORDER, parts, target, Effort.of(rtol), rtol)


def narrowest(
    methods: tuple[Method[Parts], ...], parts: Parts, target: Target, effort: Effort, rtol: float | None = None
) -> Found:
    """The first answer that is narrow enough, else the narrowest; refuses where no method can serve."""

    def enough(bound: Bound) -> bool:
        return is_narrow(bound) if rtol is None else bound.width <= rtol

    answers = list(in_turn(methods, parts, target, effort, enough))
    if not answers:
        raise mv18_1_5.undecided()
    last = answers[-1]
    return last if enough(last.bound) else min(answers[::-1], key=lambda each: each.bound.width)
