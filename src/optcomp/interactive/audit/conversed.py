r"""Every interactive mechanism on two neighbouring tables, with questions that make it tell as much as it can.

A sparse vector tells most if a neighbour raises the questions that it answers with ⊥ and lowers, or leaves, the one it
answers with ⊤: ⊥ after ⊥ makes a high threshold likely, which then has to be lower for ⊤, while the neighbour would
need the opposite.  The feature is the sequence of all answers.  Guess and check is attacked by guesses about one count,
some right and one too high by one; multiplicative weights make their own guesses, so questions are weighted such that
these come out right, or too high.  Both also tell a noisy count when corrected.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

from optcomp.composition import compose
from optcomp.interactive.audit.auditable import Auditable, Side
from optcomp.interactive.audit.hostile import probes
from optcomp.interactive.audit.tables import neighbouring
from optcomp.interactive.guess_and_check import GuessAndCheck, GuessAndCheckRun
from optcomp.interactive.multiplicative_weights import STEPS, MultiplicativeWeightsRun, PrivateMultiplicativeWeights
from optcomp.interactive.sparse_vector import GaussianSparseVector, SparseVector, SparseVectorRun
from optcomp.statistics import Count, Neighbourhood, Table

DNRRV09 = "Dwork, Naor, Reingold, Rothblum, Vadhan, On the complexity of differentially private data release, 2009"
HR10 = "Hardt, Rothblum, A multiplicative weights mechanism for privacy-preserving data analysis, 2010"
LSL17 = "Lyu, Su, Li, Understanding the sparse vector technique for differential privacy, 2017, Algorithm 7"
LYU22 = "Lyu, Composition theorems for interactive differential privacy, 2022"
ZW20 = "Zhu, Wang, Improving sparse vector technique with Renyi differential privacy, 2020"
"""Where the mechanisms come from."""

GROWS = Count("region == 'south'")
"""1 on the first table and 2 on the second: the person in whom they differ is from the south."""
SHRINKS = Count("region == 'north' and age < 5")
"""2 and 1, where that person takes the place of a young one from the north."""
STAYS = Count("score == 4 and age < 8")
"""2 on both tables."""
NORTH, SOUTH = 20, 1
"""How many people whom both tables share are from there."""
_THRESHOLD = 2
"""What the counts of the tables are just below, or at."""
_DELTA = 0.01
"""Large, so that a few thousand runs show something."""

Conversation = Callable[[Table], Hashable]
"""One run of a mechanism on a table, from start to end, and what is kept of it."""


def conversed(
    name: str,
    talk: Conversation,
    claim: float,
    *,
    how: Neighbourhood,
    description: str,
    source: str,
    trials: int,
    delta: float = 0.0,
) -> Auditable:
    """A mechanism that is started anew for each run."""
    tables = neighbouring(how)

    def run(side: Side, trials: int) -> Iterable[Hashable]:
        return [talk(tables[side]) for _ in range(trials)]

    return Auditable(
        name=name,
        epsilon=claim,
        delta=delta,
        description=description,
        source=f"{source}; noise by OpenDP",
        private=True,
        run=run,
        trials=trials,
        probes=lambda: probes(how, talk),
    )


def sparse_vector(
    name: str, spec: SparseVector | GaussianSparseVector, questions: Sequence[Count], source: str, trials: int
) -> Auditable:
    """The questions one after another; where the threshold is refreshed, from the first one again after each ⊤."""
    how: Neighbourhood = "added" if spec.monotone else "replaced"
    tables = neighbouring(how)
    delta = _DELTA if isinstance(spec, GaussianSparseVector) else 0.0
    listed = ", ".join(f"{questions.count(one)} × {one}" for one in dict.fromkeys(questions))
    return conversed(
        name,
        lambda table: answers(spec.start(table), questions),
        compose(list(spec.costs(tables[0])), delta=delta).epsilon,
        how=how,
        description=f"{spec}: {listed}; a person is {'added' if spec.monotone else 'exchanged'}",
        source=source,
        trials=trials,
        delta=delta,
    )


def answers(run: SparseVectorRun, questions: Sequence[Count]) -> str:
    """⊤ and ⊥, until no question or no positive answer is left."""
    told, place = "", 0
    while place < len(questions) and run.positives_left:
        above = run.ask(questions[place])
        told += "⊤" if above else "⊥"
        place = 0 if above and run.spec.refresh else place + 1
    return told


def never_refreshed() -> Auditable:
    """One threshold for two positive answers."""
    spec = SparseVector(_THRESHOLD, epsilon=4, positives=2)
    return sparse_vector("sparse-vector", spec, [GROWS] * 3 + [SHRINKS] * 2, LSL17, 3_400)


def monotone() -> Auditable:
    """The same with less noise, for questions that all grow when a person is added."""
    spec = SparseVector(_THRESHOLD, epsilon=4, positives=2, monotone=True)
    return sparse_vector("sparse-vector-monotone", spec, [GROWS] * 4 + [STAYS] * 2, LSL17, 3_200)


def refreshed() -> Auditable:
    """A threshold for each positive answer."""
    spec = SparseVector(_THRESHOLD, epsilon=3, positives=2, refresh=True)
    return sparse_vector("sparse-vector-refreshed", spec, [GROWS] * 2 + [SHRINKS] * 2, DNRRV09, 3_000)


def gaussian() -> Auditable:
    """With Gaussian noise, for a known number of questions."""
    spec = GaussianSparseVector(_THRESHOLD, sigma_threshold=2, sigma_questions=3, questions=5)
    return sparse_vector("sparse-vector-gaussian", spec, [GROWS] * 4 + [SHRINKS], ZW20, 6_000)


def guess_and_check() -> Auditable:
    """Guesses that are right on the first table and too low by one on the second; then the other way round."""
    spec, tables = GuessAndCheck(1, epsilon=3, corrections=2), neighbouring("added")
    guesses = [SOUTH] * 3 + [SOUTH + 1] * 2
    return conversed(
        "guess-and-check",
        lambda table: corrections(spec.start(table), guesses),
        compose(list(spec.costs(tables[0])), delta=0).epsilon,
        how="added",
        description=f"{spec}, tolerance 1: {GROWS}, guesses {', '.join(map(str, guesses))}; a person is added",
        source=LYU22,
        trials=2_200,
    )


def corrections(run: GuessAndCheckRun, guesses: Sequence[int]) -> tuple[int | None, ...]:
    """For each guess None if it stands, else which of the exact counts the noisy one lies at or beyond."""
    told: list[int | None] = []
    for guess in guesses:
        if run.corrections_left:
            found = run.ask(GROWS, guess)
            told.append(nearest(found.value) if found.corrected else None)
    return tuple(told)


def multiplicative_weights() -> Auditable:
    """Questions whose guess is too high by one on the first table and right on the second; then right and too low."""
    spec = PrivateMultiplicativeWeights(["region"], tolerance=1, epsilon=3, corrections=1)
    tables = neighbouring("added")
    return conversed(
        "multiplicative-weights",
        lambda table: estimates(spec.start(table), [1] * 2 + [0] * 2),
        compose(list(spec.costs(tables[0])), delta=0).epsilon,
        how="added",
        description=f"{spec}, tolerance 1: the south and so much of the north that the guess is too high by 1, or "
        "right; a person is added",
        source=HR10,
        trials=1_600,
    )


def estimates(run: MultiplicativeWeightsRun, excesses: Sequence[int]) -> tuple[bool, tuple[int | None, ...]]:
    """Whether there seem to be more rows than there are on the first table; and for each question how it was corrected.

    That is None if the guess stands, else -1, 0 or 1: the answer is not above the exact one of the first table,
    between, or not below that of the second.
    """
    told: list[int | None] = []
    for excess in excesses:
        if run.corrections_left:
            north = share_of_north(run.rows, excess)
            found, exact = run.ask([north, 1, 0]), NORTH * north + SOUTH
            told.append((-1 if found.value <= exact else int(found.value >= exact + 1)) if found.corrected else None)
    return run.rows > NORTH + SOUTH, tuple(told)


def share_of_north(rows: int, excess: int) -> float:
    """The weight b of the north for which a guess is so much too high on the first table, as far as there is one.

    `rows` spread evenly over north, south and elsewhere come to (1 + b) rows/3; in fact they are 20 b + 1.
    """
    each = rows / 3
    found = (each - SOUTH - excess) / (NORTH - each) if each < NORTH else 1.0
    return round(min(max(found, 0.0), 1.0) * STEPS) / STEPS


def nearest(south: float) -> int:
    """Which of the two exact counts of the south a noisy one lies at or beyond."""
    return min(max(int(south), SOUTH), SOUTH + 1)


CONVERSED: dict[str, Callable[[], Auditable]] = {
    "sparse-vector": never_refreshed,
    "sparse-vector-monotone": monotone,
    "sparse-vector-refreshed": refreshed,
    "sparse-vector-gaussian": gaussian,
    "guess-and-check": guess_and_check,
    "multiplicative-weights": multiplicative_weights,
}
"""By name."""
