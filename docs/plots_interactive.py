"""The pictures of docs/interactive.md, measured on the shipped survey: `python docs/plots_interactive.py`.

Two figures: the error of 200 linear questions against the budget, by four mechanisms; and how far above the threshold a
count must be for a sparse vector to see it.  Prints the figures as tables too.  Takes about two minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib import pyplot as plt

from optcomp.interactive import (
    GuessAndCheck,
    PrivateMultiplicativeWeights,
    Session,
    SparseVector,
    SumFilter,
)
from optcomp.statistics import Contingency, Table
from optcomp.statistics.noise import laplace_scale, with_laplace

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
COLUMNS = ("region", "education", "age", "employed", "woman", "household")
EDGES = {"age": [16, 30, 45, 60, 75, 100]}
BUDGETS = ("0.1", "0.3", "1", "3", "10")
CORRECTIONS = {"0.1": 10, "0.3": 20, "1": 40, "3": 80, "10": 160}
QUESTIONS, REPEATS = 200, 3
_LEAST_TOLERANCE = 600
Floats = npt.NDArray[np.float64]


def survey() -> Table:
    """The shipped table, declared as in examples/people.py."""
    sys.path.insert(0, str(ROOT / "examples"))
    from people import survey as made

    return made()


def questions(labels: Sequence[tuple[object, ...]], rng: np.random.Generator) -> Floats:
    """Random conjunctions: for two or three columns, half of their values each."""
    columns = list(zip(*labels, strict=True))
    found = []
    for _ in range(QUESTIONS):
        inside = np.ones(len(labels), dtype=bool)
        for place in rng.choice(len(COLUMNS), rng.integers(2, 4), replace=False):
            values = sorted(set(columns[place]), key=str)
            kept = set(rng.permutation(np.array(values, dtype=object))[: (len(values) + 1) // 2].tolist())
            inside &= np.array([value in kept for value in columns[place]])
        found.append(inside)
    return np.array(found, dtype=np.float64)


def by_laplace(table: Table, asked: Floats, counts: Floats, epsilon: str) -> Floats:
    """Every question gets its share of ε."""
    scale = laplace_scale(table.contribution.rows * QUESTIONS, Fraction(epsilon))
    return np.array(with_laplace([round(value) for value in (asked @ counts).tolist()], scale), dtype=np.float64)


def by_table(table: Table, asked: Floats, counts: Floats, epsilon: str) -> Floats:
    """One noisy table of counts answers everything."""
    answer = Session(table, SumFilter(epsilon)).ask(Contingency(COLUMNS, EDGES), epsilon=epsilon)
    return np.asarray(asked @ np.array(list(answer.value.values()), dtype=np.float64))


def by_guesses(table: Table, asked: Floats, counts: Floats, epsilon: str) -> Floats:
    """Guesses from what would hold if the columns were independent, corrected where they are far off."""
    spec = GuessAndCheck(tolerance(epsilon), epsilon=epsilon, corrections=CORRECTIONS[epsilon], sensitivity=2)
    run = Session(table, SumFilter(epsilon)).open(spec)
    shape = [len(axis.labels) for axis in Contingency(COLUMNS, EDGES).axes(table).values()]
    guesses = asked @ independent(counts.reshape(shape)).ravel()
    found = []
    for value, guess in zip((asked @ counts).tolist(), guesses.tolist(), strict=True):
        left = run.corrections_left
        found.append(run.checked(round(value), round(guess)).value if left else guess)
    return np.array(found)


def by_weights(table: Table, asked: Floats, counts: Floats, epsilon: str) -> Floats:
    """A synthetic table that learns where it is far off."""
    spec = PrivateMultiplicativeWeights(
        COLUMNS, edges=EDGES, tolerance=tolerance(epsilon), epsilon=epsilon, corrections=CORRECTIONS[epsilon]
    )
    run = Session(table, SumFilter(epsilon)).open(spec)
    for weights in asked:
        run.ask(weights)
    return np.asarray(asked @ np.array(list(run.synthetic.values())))


def tolerance(epsilon: str) -> int:
    """About the noise of a check, and at least a hundredth of the rows: corrections are few."""
    check = SparseVector(1, epsilon=Fraction(epsilon) / 2, positives=CORRECTIONS[epsilon], sensitivity=2)
    return max(round(2 * check.scales()[1]), _LEAST_TOLERANCE)


def independent(counts: Floats) -> Floats:
    """The product of the marginals, taken to be public."""
    total, found = counts.sum(), np.ones_like(counts) * counts.sum()
    for place in range(counts.ndim):
        marginal = counts.sum(axis=tuple(i for i in range(counts.ndim) if i != place)) / total
        found *= marginal.reshape([-1 if i == place else 1 for i in range(counts.ndim)])
    return np.asarray(found)


METHODS: dict[str, Callable[[Table, Floats, Floats, str], Floats]] = {
    "Laplace noise on each question": by_laplace,
    "one noisy table of counts": by_table,
    "guess and check, independent columns": by_guesses,
    "multiplicative weights": by_weights,
}


def workload(table: Table) -> None:
    """Mean error of the questions against the budget."""
    cells = Contingency(COLUMNS, EDGES)
    counts = np.array(cells.measure(table)[0], dtype=np.float64)
    asked = questions(cells.cells(table), np.random.default_rng(7))
    truth, rows = asked @ counts, counts.sum()
    print(f"{QUESTIONS} questions about {rows:,.0f} rows in {counts.size:,} cells; mean error in % of the rows")
    print("| | " + " | ".join(f"ε = {epsilon}" for epsilon in BUDGETS) + " |")
    figure, axes = plt.subplots(figsize=(7, 4.2))
    for name, method in METHODS.items():
        errors = []
        for epsilon in BUDGETS:
            off = [np.abs(method(table, asked, counts, epsilon) - truth).mean() / rows for _ in range(REPEATS)]
            errors.append(100 * float(np.mean(off)))
        print(f"| {name} | " + " | ".join(f"{error:.2g}" for error in errors) + " |", flush=True)
        axes.loglog([float(epsilon) for epsilon in BUDGETS], errors, marker="o", label=name)
    axes.set(xlabel="ε for all questions", ylabel="mean error, % of rows")
    axes.legend()
    figure.tight_layout()
    figure.savefig(IMAGES / "workload-error.png", dpi=130)


def sparse_vectors() -> None:
    """The distance from the threshold that is seen with 95 % confidence, against the number of positives."""
    positives = (1, 2, 5, 10, 20, 50, 100)
    figure, axes = plt.subplots(figsize=(7, 4.2))
    kinds: dict[str, Callable[[int], int]] = {
        "refreshed": lambda c: SparseVector(0, epsilon=1, positives=c, refresh=True).accuracy(100),
        "never refreshed": lambda c: SparseVector(0, epsilon=1, positives=c).accuracy(100),
        "never refreshed, monotone": lambda c: SparseVector(0, epsilon=1, positives=c, monotone=True).accuracy(100),
    }
    print("| positives | " + " | ".join(map(str, positives)) + " |")
    for name, kind in kinds.items():
        distances = [kind(c) for c in positives]
        print(f"| {name} | " + " | ".join(map(str, distances)) + " |")
        axes.loglog(positives, distances, marker="o", label=name)
    axes.set(xlabel="positive answers c", ylabel="distance seen among 100 questions, 95 %")
    axes.set_title("ε = 1, counts of sensitivity 1")
    axes.legend()
    figure.tight_layout()
    figure.savefig(IMAGES / "sparse-vector.png", dpi=130)


def main() -> None:
    """Both figures."""
    mpl.use("agg")
    sparse_vectors()
    workload(survey())


if __name__ == "__main__":
    main()
