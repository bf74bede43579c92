"""HR10: what multiplicative weights tell depends on the data through questions of the promised sensitivity only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, product
from random import Random
from unittest.mock import patch

import pyarrow
import pytest

from optcomp.interactive import PrivateMultiplicativeWeights, guess_and_check, multiplicative_weights, sparse_vector
from optcomp.interactive.multiplicative_weights import STEPS, Estimate
from optcomp.statistics import Categories, Table

COLORS = ["red", "green", "blue"]
People = dict[int, list[str]]
"""The rows of each person."""
Rows = Iterator[tuple[str, ...]]
BASE: People = {1: ["red", "red"], 2: ["green"], 3: ["blue", "green", "red"], 4: ["green", "green"], 5: []}


def table(people: People, rows: int, neighbours: str) -> Table:
    flat = [(person, color) for person, colors in people.items() for color in colors]
    data = {"who": [person for person, _ in flat], "color": [color for _, color in flat]}
    source = pyarrow.table(data, schema=pyarrow.schema([("who", pyarrow.int64()), ("color", pyarrow.string())]))
    columns = {"color": Categories(COLORS)}
    return Table(source, columns, person="who", rows_per_person=rows, neighbours=neighbours)  # type: ignore[arg-type]


def every_order(count: int) -> Rows:
    return product(COLORS, repeat=count)


def one_order(count: int) -> Rows:
    return combinations_with_replacement(COLORS, count)


def neighbours_of(people: People, rows: int, kind: str, colors_of: Callable[[int], Rows]) -> Iterator[People]:
    """All that one person can do: leave, or come or be exchanged with any rows."""
    if kind == "add-remove":
        for person in people:
            yield {other: colors for other, colors in people.items() if other != person}
    for count in range(rows + 1):
        for colors in colors_of(count):
            yield {**people, 6 if kind == "add-remove" else 3: list(colors)}


@dataclass
class Scripted:
    """Fixes every outcome, whatever the data, and writes down which numbers of the data went in."""

    rng: Random
    counted: list[int] = field(default_factory=list)
    compared: list[int] = field(default_factory=list)
    answered: list[int] = field(default_factory=list)
    scales: list[float] = field(default_factory=list)

    def count(self, values: Sequence[int], scale: float) -> list[int]:
        self.counted += values
        self.scales.append(scale)
        return [9]

    def compare(self, values: Sequence[int], scale: float) -> list[int]:
        if not self.compared:  # the threshold comes first
            self.compared.append(0)
            return [0]
        self.compared += values
        return [self.rng.choice((-1, 1))]

    def answer(self, values: Sequence[int], scale: float) -> list[int]:
        self.answered += values
        return [self.rng.randint(-STEPS, 12 * STEPS)]


def told(people: People, rows: int, kind: str, seed: int) -> tuple[Scripted, list[Estimate], object]:
    script, rng = Scripted(Random(seed)), Random(seed + 1)
    spec = PrivateMultiplicativeWeights(["color"], tolerance=2, epsilon=1, corrections=4)
    with (
        patch.object(multiplicative_weights, "with_laplace", script.count),
        patch.object(sparse_vector, "with_laplace", script.compare),
        patch.object(guess_and_check, "with_laplace", script.answer),
    ):
        running = spec.start(table(people, rows, kind))
        weights = [[rng.choice((0, 1, rng.random())) for _ in running.labels] for _ in range(10)]
        return script, [running.ask(each) for each in weights], running.synthetic


@pytest.mark.parametrize("kind", ["add-remove", "replace"])
@pytest.mark.parametrize(
    ("seed", "colors_of"),
    [(0, one_order), *(pytest.param(seed, every_order, marks=pytest.mark.slow) for seed in range(2))],
)
def test_one_person_changes_every_number_by_at_most_the_sensitivity(
    kind: str, seed: int, colors_of: Callable[[int], Rows]
) -> None:
    rows, worst = 3, 0
    one, answers, synthetic = told(BASE, rows, kind, seed)
    for people in neighbours_of(BASE, rows, kind, colors_of):
        two, others, copy = told(people, rows, kind, seed)
        assert (others, copy) == (answers, synthetic)  # the same outcomes, so nothing else can tell the data apart
        assert abs(one.counted[0] - two.counted[0]) <= rows
        for p, q in zip(one.compared + one.answered, two.compared + two.answered, strict=True):
            assert abs(p - q) <= rows * STEPS
            worst = max(worst, abs(p - q))
    assert worst > rows * STEPS * 0.9
    assert len(one.compared) > 1
    assert len(one.answered) == 4


@pytest.mark.parametrize(("kind", "change"), [("add-remove", 3), ("replace", 3)])
def test_the_noise_is_for_that_sensitivity(kind: str, change: int) -> None:
    spec = PrivateMultiplicativeWeights(["color"], tolerance=2, epsilon=1, corrections=4)
    script, _, _ = told(BASE, 3, kind, 0)
    assert script.scales == [pytest.approx(change * 20)]
    checker = spec.checker(change)
    assert checker.sensitivity == change * STEPS
    assert checker.answer_scale == pytest.approx(change * STEPS * 4 / (0.95 / 2))
    assert sum(float(part.epsilon) for part in spec.parts) == pytest.approx(1)
    assert checker.parts == spec.checker(1).parts
