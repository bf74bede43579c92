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

    def refusal(self, *, parameters: Parameters, all_equal: bool) -> HypothesisNotMet | None:
        """Why the theorem does not cover such input, if it does not."""
        if parameters == "adaptive" and self.parameters == "fixed":
            return HypothesisNotMet(
                self.id,
                "it needs parameters fixed in advance, and these were chosen adaptively; "
                "only a filter (or basic composition) is sound then",
            )
        if self.equal_parts and not all_equal:
            return HypothesisNotMet(
                self.id, "it needs mechanisms with equal (ε, δ), and these differ; use 'kov' or 'strong' instead"
            )
        return None

    def require(self, *, parameters: Parameters, all_equal: bool) -> None:
        """Refuse input that the theorem does not cover."""
        refusal = self.refusal(parameters=parameters, all_equal=all_equal)
        if refusal is not None:
            raise refusal


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
    Theorem(
        id="ZDW22",
        name="composition of dominating pairs",
        statement=(
            "If (P_i, Q_i) dominates mechanism i, the product of the pairs dominates the composition: δ(ε) = "
            "1 − ∏(1 − δ_i)(1 − E(1 − e^{ε − L})₊), L the sum of independent losses log P_i/Q_i. Attained when the "
            "mechanisms are those pairs. Poisson subsampling with rate q turns (P, Q) into ((1 − q)Q + qP, Q) for "
            "removing a person and (Q, (1 − q)Q + qP) for adding one."
        ),
        hypotheses="Mechanisms with a known privacy loss, or (ε, δ) pairs, fixed in advance.",
        source="Zhu, Dong, Wang, Optimal Accounting of Differential Privacy via Characteristic Function, AISTATS 2022",
        optimal=True,
    ),
    Theorem(
        id="REPLACE",
        name="Poisson samples where a record is replaced",
        statement=(
            "Let one person's presence in a sample move a number by at most Δ, and let each person be in it with "
            "probability q, independently. For tables in which one record is another one, the pair P = (1 − q)N(0) + "
            "qN(Δ), Q = (1 − q)N(0) + qN(−Δ) dominates, N(a) the law of the noise about a: Gaussian noise in any "
            "number of dimensions, or Laplace or discrete Gaussian noise (whole sums and Δ) on one number. Two tables "
            "have it: in one of them the record pulls to one side, in the other to the opposite one."
        ),
        hypotheses=(
            "A sample drawn anew for each round by independent coins; Δ is about a person added to a sample or removed "
            "from it, not replaced in it. All mechanisms of a list are about replaced records."
        ),
        source=(
            "by the Neyman–Pearson lemma, proved in docs/losses.md; the pair is the one that Lebeda, Regehr, Kamath, "
            "Steinke, Avoiding Pitfalls for Privacy Accounting of Subsampled Mechanisms under Composition, 2024, study"
        ),
        optimal=True,
    ),
    Theorem(
        id="ZDW22-11",
        name="samples of fixed size without replacement",
        statement=(
            "Let (P, Q) dominate a mechanism for tables in which one record is another one. On a batch of m of n "
            "records, drawn without replacement, q = m/n, its curve is at most that of (1 − q)Q + qP against Q for "
            "ε ≥ 0 and that of Q against (1 − q)Q + qP for ε < 0. Both together are the curve of one pair, with an "
            "atom at loss 0, so they compose as in ZDW22. At every ε two tables attain it, but for several rounds not "
            "the same two: a total is an upper bound."
        ),
        hypotheses=(
            "A batch drawn anew for each round; n is public. The sensitivity of the noise is about a record replaced. "
            "All mechanisms of a list are about replaced records."
        ),
        source=(
            "Zhu, Dong, Wang, Optimal Accounting of Differential Privacy via Characteristic Function, AISTATS 2022, "
            "Theorem 11; proved again in docs/losses.md"
        ),
    ),
    Theorem(
        id="DRS22",
        name="Gaussian differential privacy",
        statement=(
            "μ_i-GDP mechanisms compose to μ-GDP with μ² = Σμ_i², and μ-GDP is (ε, δ)-DP exactly for "
            "δ ≥ Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2). Gaussian noise of standard deviation σ is (Δ/σ)-GDP."
        ),
        hypotheses="Parameters fixed in advance; they may differ.",
        source="Dong, Roth, Su, Gaussian Differential Privacy, JRSS B 84, 2022",
        optimal=True,
    ),
    Theorem(
        id="M17",
        name="Rényi differential privacy",
        statement=(
            "Mechanisms with D_α ≤ ε_i(α) compose to D_α ≤ Σε_i(α); and D_α ≤ ε(α) gives "
            "(ε(α) + log(1/δ)/(α − 1), δ)-DP. The optimal curve of a mechanism is log E e^{(α−1)L}/(α − 1)."
        ),
        hypotheses="Curves fixed in advance; they may differ.",
        source="Mironov, Rényi Differential Privacy, CSF 2017",
    ),
    Theorem(
        id="CKS20",
        name="from Rényi divergences to (ε, δ)",
        statement=(
            "D_α ≤ ε(α) gives (ε, δ)-DP with δ = e^{(α − 1)(ε(α) − ε)} (1 − 1/α)^{α − 1}/α, for every α > 1. "
            "Discrete Gaussian noise is (Δ²/2σ²)-zCDP."
        ),
        hypotheses="A Rényi bound at some order; the best order may be chosen freely.",
        source="Canonne, Kamath, Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020",
    ),
    Theorem(
        id="BS16",
        name="zero-concentrated differential privacy",
        statement=(
            "ρ-zCDP means D_α ≤ ρα for all α > 1; ρ_i add up. ε-DP implies ε²/2-zCDP, μ-GDP implies μ²/2-zCDP, and "
            "ρ-zCDP implies (ρ + 2√(ρ log(1/δ)), δ)-DP. δ-approximate ρ-zCDP: the same given an event of "
            "probability 1 − δ; the δ_i compose to 1 − ∏(1 − δ_i)."
        ),
        hypotheses="Parameters fixed in advance; they may differ.",
        source="Bun, Steinke, Concentrated Differential Privacy, TCC 2016",
    ),
    Theorem(
        id="BDRS18",
        name="truncated concentrated differential privacy",
        statement="(ρ, ω)-tCDP means D_α ≤ ρα for 1 < α < ω; the ρ_i add up and ω is the least ω_i.",
        hypotheses="Parameters fixed in advance; they may differ.",
        source="Bun, Dwork, Rothblum, Steinke, Composable and Versatile Privacy via Truncated CDP, STOC 2018",
    ),
    Theorem(
        id="CR21",
        name="bounded range",
        statement=(
            "A mechanism whose privacy loss ranges over an interval of length ε for every pair of neighbours, such as "
            "the exponential mechanism, is ε-DP and ε²/8-zCDP."
        ),
        hypotheses="Bounded range, fixed in advance.",
        source="Cesar, Rogers, Bounding, Concentrating, and Truncating: Unifying Privacy Loss Composition, ALT 2021",
    ),
    Theorem(
        id="Lyu22-1",
        name="concurrent composition of (ε, δ)",
        statement=(
            "An interactive (ε, δ)-DP mechanism is a post-processing of leaky randomized response, so interleaved "
            "interactive mechanisms compose exactly as if they ran one after another."
        ),
        hypotheses="Interactive mechanisms with parameters fixed in advance, in any order of questions.",
        source="Lyu, Composition Theorems for Interactive Differential Privacy, NeurIPS 2022, Theorem 1",
        optimal=True,
    ),
    Theorem(
        id="Lyu22-2",
        aliases=("Lyu22-C1",),
        name="concurrent composition of Rényi divergences",
        statement=(
            "Interleaved interactive mechanisms with D_α ≤ ε_i compose to D_α ≤ Σε_i, for every α; hence ρ-zCDP and "
            "tCDP add up concurrently as well (Corollary 1)."
        ),
        hypotheses="Interactive mechanisms with bounds fixed in advance, in any order of questions.",
        source="Lyu, Composition Theorems for Interactive Differential Privacy, NeurIPS 2022, Theorem 2, Corollary 1",
    ),
    Theorem(
        id="VZ22",
        name="concurrent composition of f-DP",
        statement=(
            "Interleaved interactive mechanisms with trade-off functions f_i (so also with dominating pairs, or GDP) "
            "compose as if they ran one after another."
        ),
        hypotheses="Interactive mechanisms with trade-off functions fixed in advance, in any order of questions.",
        source="Vadhan, Zhang, Concurrent Composition Theorems for Differential Privacy, STOC 2023",
        optimal=True,
    ),
    Theorem(
        id="RRUV16",
        name="privacy filters and odometers",
        statement=(
            "A filter decides from the (ε_i, δ_i) so far whether the next mechanism may run, and is valid if all that "
            "runs is (ε, δ)-DP; an odometer reports an ε_n after each, and except with probability δ the loss is never "
            "above it. Running mechanisms while Σε_i ≤ ε and Σδ_i ≤ δ is a valid (ε, δ) filter."
        ),
        hypotheses="Any mechanisms; each (ε_i, δ_i) may depend on all answers before it.",
        source="Rogers, Roth, Ullman, Vadhan, Privacy Odometers and Filters: Pay-as-you-Go Composition, NIPS 2016",
        parameters="adaptive",
    ),
    Theorem(
        id="FZ21",
        name="Rényi filter",
        statement=(
            "Running mechanisms while their Rényi divergences of one order α sum to at most B keeps D_α of all of them "
            "at most B. So running them while Σρ_i ≤ ρ is ρ-zCDP: one filter for every order at once."
        ),
        hypotheses="A bound on D_α, or ρ_i-zCDP, for each mechanism; it may depend on all answers before it.",
        source="Feldman, Zrnic, Individual Privacy Accounting via a Rényi Filter, NeurIPS 2021",
        parameters="adaptive",
    ),
    Theorem(
        id="WRRW23",
        name="fully adaptive composition",
        statement=(
            "Running mechanisms while √(2 ln(1/δ') Σε_i²) + ½Σε_i² ≤ ε and Σδ_i ≤ δ'' is (ε, δ' + δ'')-DP. With "
            "V = Σε_i² and any γ > 0, the loss exceeds ½V + √(2(V + γ) ln(√(1 + V/γ)/δ')) at some moment with "
            "probability at most δ' + δ''. A ρ_i-zCDP mechanism counts as ε_i² = 2ρ_i in both. While Σρ_i ≤ ρ and "
            "Σδ_i ≤ δ, δ_i-approximate ρ_i-zCDP mechanisms are δ-approximate ρ-zCDP together."
        ),
        hypotheses="Any mechanisms; each (ε_i, δ_i) may depend on all answers before. δ', δ'' and γ are fixed first.",
        source="Whitehouse, Ramdas, Rogers, Wu, Fully-Adaptive Composition in Differential Privacy, ICML 2023",
        parameters="adaptive",
    ),
    Theorem(
        id="BEST-FILTER",
        name="sums or concentration, whichever still holds",
        statement=(
            "Let ρ-zCDP be (ε, δ')-DP. Running mechanisms while Σε_i ≤ ε or Σρ_i ≤ ρ is (ε, δ')-DP; where they are "
            "(ε_i, δ_i)-DP or δ_i-approximate ρ_i-zCDP, while also Σδ_i ≤ δ'', it is (ε, δ'' + (1 − δ'')δ')-DP."
        ),
        hypotheses=(
            "Any mechanisms; each ε_i, ρ_i and δ_i may depend on all answers before it. One without an ε_i closes the "
            "first way for good."
        ),
        source=(
            "optcomp, from RRUV16, FZ21 and WRRW23: what goes beyond ρ has a loss of at most ε for certain; the proof "
            "is in docs/filters.md"
        ),
        parameters="adaptive",
    ),
    Theorem(
        id="HSTVVXZ23",
        name="concurrent filters and odometers",
        statement=(
            "A filter or odometer that is valid for mechanisms run one after another is valid for interactive ones as "
            "well, however their questions are interleaved and whenever they are started, if what is measured is "
            "(ε, δ)-DP, f-DP or the Rényi divergence of a fixed order (so also zCDP)."
        ),
        hypotheses="Interactive mechanisms whose parameters are known when they are started, from all answers before.",
        source=(
            "Haney, Shoemate, Tian, Vadhan, Vyrros, Xu, Zhang, Concurrent Composition for Interactive Differential "
            "Privacy with Adaptive Privacy-Loss Parameters, CCS 2023"
        ),
        parameters="adaptive",
    ),
    Theorem(
        id="LSL17",
        name="sparse vector, threshold never refreshed",
        statement=(
            "For questions of sensitivity Δ answer ⊤ where q_i + ν_i ≥ T + z and ⊥ elsewhere, until c answers were ⊤, "
            "with one z for all, Laplace of scale Δ/ε_1, and ν_i of scale 2cΔ/ε_2: all answers together are "
            "(ε_1 + ε_2)-DP, however many there are. If all questions change in the same direction, scale cΔ/ε_2 will "
            "do. ν_i − z varies least for ε_1 : ε_2 = 1 : (2c)^{2/3}, or 1 : c^{2/3}."
        ),
        hypotheses="Questions, chosen on the way, of sensitivity at most Δ; ε_1, ε_2, c and T are fixed first.",
        source="Lyu, Su, Li, Understanding the Sparse Vector Technique for Differential Privacy, VLDB 2017",
    ),
    Theorem(
        id="DNRRV09",
        name="sparse vector, threshold refreshed",
        statement=(
            "AboveThreshold, the sparse vector that ends with its first ⊤, is ε-DP with noise of scales 2Δ/ε on the "
            "threshold and 4Δ/ε on each question, however many questions there are. c rounds of it, each with a "
            "threshold of its own, are c mechanisms of ε."
        ),
        hypotheses="Questions, chosen on the way, of sensitivity at most Δ; ε, c and T are fixed first.",
        source=(
            "Dwork, Naor, Reingold, Rothblum, Vadhan, On the Complexity of Differentially Private Data Release, STOC "
            "2009; as in Dwork, Roth, The Algorithmic Foundations of Differential Privacy, 2014, Section 3.6"
        ),
    ),
    Theorem(
        id="ZW20",
        name="sparse vector with Gaussian noise",
        statement=(
            "The sparse vector with one z ~ N(0, σ_1²), ν_i ~ N(0, σ_2²), at most k questions and c answers ⊤ has "
            "D_α ≤ αΔ²/2σ_1² + c log(1 + kB)/(α − 1), where B = e^{α(α−1)(2Δ)²/2σ_2²}, with Δ for 2Δ if all questions "
            "change in the same direction. Noise may be continuous, or discrete on whole numbers. The idea is the "
            "paper's, the bound is not: it is the one proved in optcomp.interactive.sparse_vector."
        ),
        hypotheses="At most k questions, chosen on the way, of sensitivity at most Δ; σ_1, σ_2, c, k, T fixed first.",
        source="Zhu, Wang, Improving Sparse Vector Technique with Rényi Differential Privacy, NeurIPS 2020",
    ),
    Theorem(
        id="HR10",
        name="private multiplicative weights",
        statement=(
            "Answer linear questions from a synthetic table, and let a sparse vector check each guess: only a guess "
            "that fails is answered from the data, with Laplace noise, and the synthetic table learns from the noisy "
            "answer by multiplicative updates. The privacy is that of the check and at most c noisy answers, however "
            "many questions there are; here they are composed concurrently (Lyu22-1)."
        ),
        hypotheses="Linear questions, chosen on the way, with weights in [0, 1]; all parameters are fixed first.",
        source=("Hardt, Rothblum, A Multiplicative Weights Mechanism for Privacy-Preserving Data Analysis, FOCS 2010"),
    ),
    Theorem(
        id="BBG18",
        name="secrecy of the sample",
        statement=(
            "An (ε, δ)-DP mechanism on n of N people, drawn without replacement and kept secret, is "
            "(log(1 + γ(e^ε − 1)), γδ)-DP for the whole population, γ = n/N."
        ),
        hypotheses=(
            "A simple random sample of fixed size that nobody is told; neighbours, in sample and population, exchange "
            "one person. All that is ever released about the sample is one mechanism."
        ),
        source=(
            "Balle, Barthe, Gaboardi, Privacy Amplification by Subsampling: Tight Analyses via Couplings and "
            "Divergences, NeurIPS 2018, Theorem 9"
        ),
        interaction="sequential",
    ),
    Theorem(
        id="KKMN09",
        name="names above a threshold",
        statement=(
            "Values that some row has get independent noise on their numbers of rows, and those above T are told, by "
            "name and with the noisy number. That is the noisy numbers of the values that others have, too, together "
            "with a (0, δ)-DP leak: the probability that one of those is told which one person alone has, at most "
            "max 1 − ∏(1 − P(X > T − k_j)) over all ways in which that person's rows can lie in values."
        ),
        hypotheses=(
            "A person has at most r rows, in at most g values, with at most w in each. The noise X is independent, and "
            "symmetric with a log-concave law on whole numbers, as discrete Laplace and discrete Gaussian noise are; T "
            "is at least w and is fixed before the data are looked at. A value that no row has is never told."
        ),
        source=(
            "Korolova, Kenthapadi, Mishra, Ntoulas, Releasing Search Queries and Clicks Privately, WWW 2009, for "
            "Laplace noise and the sum of all g; the proof, for both kinds of noise, is in docs/proofs/thresholds.md"
        ),
    ),
    Theorem(
        id="GROUP",
        name="privacy of groups",
        statement=(
            "For tables that are k neighbours apart, an (ε, δ)-DP mechanism is (kε, δ(e^{kε} − 1)/(e^ε − 1))-DP, a "
            "ρ-zCDP one k²ρ-zCDP, a μ-GDP one kμ-GDP, and a loss that ranges over an interval of length ε ranges over "
            "one of length kε. Noise on a number that moves by Δ is noise on one that moves by kΔ. To replace a person "
            "is to remove one and add one: k = 2."
        ),
        hypotheses="A guarantee for all neighbours, and a path of k steps between them; ε = 0 gives (0, kδ).",
        source=(
            "Dwork, Roth, The Algorithmic Foundations of Differential Privacy, 2014, Theorem 2.2; Vadhan, The "
            "Complexity of Differential Privacy, 2017, Lemma 2.2, with its sum written out; Bun, Steinke 2016, "
            "Proposition 1.9; Dong, Roth, Su 2022, on group privacy"
        ),
    ),
    Theorem(
        id="KS14",
        name="what a reader may come to believe",
        statement=(
            "If a release is (ε, rδ)-DP with 0 ≤ r < 1, its privacy loss exceeds ε + ln(1/(1 − r)) with probability at "
            "most δ. So whoever gave each of two neighbouring tables 1/2 believes in the true one with more than "
            "1/(1 + (1 − r)e^{−ε}) with probability at most δ. From (ε, δ) alone no such belief follows with "
            "probability δ; with probability 2δ one does, r = 1/2."
        ),
        hypotheses=(
            "One (ε, rδ) that the whole release satisfies, all statistics together. The reader may see all of it or a "
            "part, and may know the other rows or not; what is thought of them may not depend on this person."
        ),
        source=(
            "Kasiviswanathan, Smith, On the Semantics of Differential Privacy: A Bayesian Formulation, Journal of "
            "Privacy and Confidentiality 6, 2014, argue in this way; the proof is in docs/losses.md"
        ),
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
