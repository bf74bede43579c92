"""The theorems as records: what each says, when it may be used, where it comes from.

A `Bound` names one of these ids.  Hypotheses are values, not prose, so that the front door can refuse what a theorem
does not cover.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from optcomp.errors import HypothesisNotMet, UnknownTheorem

Parameters = Literal["fixed", "adaptive"]
"""Whether the (ε_i, δ_i) must be fixed in advance, or may be chosen while answers arrive."""

Interaction = Literal["sequential", "concurrent"]
"""Whether the mechanisms run one after another, or may be interactive and interleaved."""

CONCURRENT = "Lyu (2022), Theorem 1: every (ε, δ) composition theorem also holds for interleaved interactive mechanisms"

MURTAGH_VADHAN = "Murtagh, Vadhan, The Complexity of Computing the Optimal Composition of Differential Privacy, 2018"


@dataclass(frozen=True, kw_only=True)
class Theorem:
    """One theorem of the register."""

    id: str
    name: str
    statement: str
    hypotheses: str
    source: str
    aliases: tuple[str, ...] = ()
    parameters: Parameters = "fixed"
    interaction: Interaction = "concurrent"
    equal_parts: bool = False
    """Whether all mechanisms must promise the same (ε, δ)."""
    optimal: bool = False
    """Whether the value is the best possible, not only an upper bound."""

    def require(self, *, parameters: Parameters, all_equal: bool) -> None:
        """Refuse input that the theorem does not cover."""
        if parameters == "adaptive" and self.parameters == "fixed":
            raise HypothesisNotMet(
                self.id,
                "it needs parameters fixed in advance, and these were chosen adaptively; "
                "only a filter (or basic composition) is sound then",
            )
        if self.equal_parts and not all_equal:
            raise HypothesisNotMet(
                self.id, "it needs mechanisms with equal (ε, δ), and these differ; use 'kov' or 'strong' instead"
            )


_RECORDS = (
    Theorem(
        id="DKMMN06",
        name="basic composition",
        statement="The composition of (ε_i, δ_i)-DP mechanisms is (Σε_i, Σδ_i)-DP.",
        hypotheses="Any mechanisms. As a running filter the sums also cover parameters chosen on the way.",
        source="Dwork, Kenthapadi, McSherry, Mironov, Naor, Our Data, Ourselves, EUROCRYPT 2006",
        parameters="adaptive",
    ),
    Theorem(
        id="DRV10",
        name="advanced composition",
        statement="k mechanisms, each (ε, δ)-DP, are (ε√(2k ln(1/δ')) + kε(e^ε − 1), kδ + δ')-DP for every δ' > 0.",
        hypotheses="Equal (ε, δ), fixed in advance.",
        source="Dwork, Rothblum, Vadhan, Boosting and Differential Privacy, FOCS 2010; as in MV18, Theorem 1.3",
        equal_parts=True,
    ),
    Theorem(
        id="Smith25-1.1",
        name="strong composition",
        statement=(
            "k mechanisms, each (ε, δ)-DP, are (ε√(2k ln(1/δ')) + kε(e^ε − 1)/(e^ε + 1), kδ + δ')-DP for every δ' > 0; "
            "for different parameters (Σε_i tanh(ε_i/2) + √(2 ln(1/δ') Σε_i²), Σδ_i + δ'), by Hoeffding's inequality."
        ),
        hypotheses="Parameters fixed in advance.",
        source="Smith, lecture notes on differential privacy (2025), lecture 10, Theorem 1.1",
    ),
    Theorem(
        id="KOV15-3.4",
        name="Kairouz–Oh–Viswanath closed form, equal parameters",
        statement=(
            "k mechanisms, each (ε, δ)-DP, are (ε_g, 1 − (1 − δ)^k (1 − δ̃))-DP with A = kε(e^ε − 1)/(e^ε + 1) and "
            "ε_g = min{kε, A + ε√(2k ln(e + ε√k/δ̃)), A + ε√(2k ln(1/δ̃))}, for every δ̃ in [0, 1]."
        ),
        hypotheses="Equal (ε, δ), fixed in advance.",
        source="Kairouz, Oh, Viswanath, The Composition Theorem for Differential Privacy, ICML 2015, Theorem 3.4",
        equal_parts=True,
    ),
    Theorem(
        id="KOV15-3.5",
        name="Kairouz–Oh–Viswanath closed form",
        statement=(
            "(ε_i, δ_i)-DP mechanisms are (ε_g, 1 − (1 − δ̃)∏(1 − δ_i))-DP with A = Σε_i(e^{ε_i} − 1)/(e^{ε_i} + 1), "
            "S = Σε_i² and ε_g = min{Σε_i, A + √(2S ln(e + √S/δ̃)), A + √(2S ln(1/δ̃))}, for every δ̃ in [0, 1]."
        ),
        hypotheses="Parameters fixed in advance; they may differ.",
        source="Kairouz, Oh, Viswanath, The Composition Theorem for Differential Privacy, ICML 2015, Theorem 3.5",
    ),
    Theorem(
        id="KOV15-3.3",
        aliases=("MV18-1.4",),
        name="optimal composition, equal parameters",
        statement=(
            "For k mechanisms, each (ε, δ)-DP, the least ε_g at δ_g solves Pr[Bin(k, p) ≥ m] − "
            "e^{ε_g} Pr[Bin(k, 1 − p) ≥ m] = 1 − (1 − δ_g)/(1 − δ)^k, with p = e^ε/(1 + e^ε) and m = ⌈(ε_g + kε)/2ε⌉. "
            "No smaller ε_g holds for all mechanisms."
        ),
        hypotheses="Equal (ε, δ), fixed in advance.",
        source="Kairouz, Oh, Viswanath, ICML 2015, Theorem 3.3; Murtagh, Vadhan 2018, Theorem 1.4",
        equal_parts=True,
        optimal=True,
    ),
    Theorem(
        id="MV18-1.5",
        name="optimal composition",
        statement=(
            "For (ε_i, δ_i)-DP mechanisms the least ε_g ≥ 0 at δ_g is the least with E(1 − e^{ε_g − L})₊ ≤ "
            "1 − (1 − δ_g)/∏(1 − δ_i), where L = Σ±ε_i, each sign + with probability e^{ε_i}/(1 + e^{ε_i}). If the "
            "right side is negative no ε_g works. No smaller ε_g holds for all mechanisms."
        ),
        hypotheses="Parameters fixed in advance; they may differ.",
        source=MURTAGH_VADHAN + ", Theorem 1.5",
        optimal=True,
    ),
    Theorem(
        id="MV18-1.7",
        name="Murtagh–Vadhan approximation",
        statement=(
            "Rounding every ε_i up to a multiple of η/(k+1) and composing exactly by a knapsack recursion gives ε* "
            "with OptComp(δ_g) ≤ ε* ≤ OptComp(e^{−η/2} δ_g) + η. Rounding down instead gives a lower bound."
        ),
        hypotheses="Parameters fixed in advance; they may differ. Time grows like k³/η.",
        source=MURTAGH_VADHAN + ", Theorem 1.7",
    ),
    Theorem(
        id="OPT",
        name="certified enclosure of optimal composition",
        statement=(
            "With F(y) = E(1 − e^{y − L})₊ as in MV18-1.5, F_w the same for L plus an independent N(w²/2, w²) and p_w "
            "the density of that sum, F_w(y) − w² e^{w²/8} p_w(y) ≤ F(y) ≤ F_w(y). Both are contour integrals that a "
            "finite sum encloses, so the y with F(y) = 1 − (1 − δ_g)/∏(1 − δ_i) lies between two computed numbers."
        ),
        hypotheses="Parameters fixed in advance; they may differ.",
        source="the engine's proof in docs/engine.md; the value enclosed is that of MV18-1.5",
        optimal=True,
    ),
)

_BY_ID = {name.lower(): record for record in _RECORDS for name in (record.id, *record.aliases)}


def known_theorems() -> tuple[Theorem, ...]:
    """Every theorem of the register."""
    return _RECORDS


def theorem(id: str) -> Theorem:
    """The theorem with this id, or with this as an alias; upper and lower case are alike."""
    try:
        return _BY_ID[str(id).lower()]
    except KeyError:
        known = ", ".join(record.id for record in _RECORDS)
        raise UnknownTheorem("theorem", id, f"must be one of {known}") from None
