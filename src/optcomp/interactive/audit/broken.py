r"""Six mechanisms that are not as private as they were said to be, and that an audit must catch.  Never use them.

Four are sparse vector techniques (SVT) that Lyu, Su and Li took apart; on each query q_i of sensitivity 1 they compare
q_i + ν_i with a threshold T + ρ, ρ drawn once, and say ⊤ or ⊥.  The fifth is Laplace noise in floating point.
The sixth has sound noise, on a table that reads its cells anew for every question: one cell makes the question fail.

They draw from numpy's generator because nothing they release is meant to be private; no other file of this room may.
The inputs below are neighbours (no query changes by more than 1), chosen so that the flaw shows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from optcomp.extras import needed
from optcomp.interactive.answers import measured
from optcomp.interactive.audit.auditable import Auditable, Side
from optcomp.numerics import Floats, Ints
from optcomp.statistics import Count, Integers, Table

LYU_SU_LI = "Lyu, Su, Li, Understanding the Sparse Vector Technique for Differential Privacy, VLDB 2017"
"""Where most of them were found to be wrong."""
_PAIRS = 50
"""Pairs of queries put to the techniques that leak through many ⊤ and ⊥."""


def roth11(seed: int | None = None) -> Auditable:
    r"""An SVT that answers ⊤ with q_i + ν_i itself: the noise of the comparison is released.

    The answer a bounds the threshold, T + ρ <= a, so that a neighbour's larger queries cannot hide behind a larger
    threshold: after m times ⊥ and a low answer the ratio is near e^{(m+1)ε/2}, for every m.
    """
    eps, queries = 2.0, np.array([0.0, 0.0, 0.0, 0.0, 1.0])
    generator = np.random.default_rng(seed)

    def run(side: Side, trials: int) -> Iterable[Hashable]:
        threshold = generator.laplace(0, 2 / eps, (trials, 1))
        noisy = queries + side + generator.laplace(0, 2 / eps, (trials, queries.size))
        above = noisy >= threshold
        last = above[:, -1] & ~above[:, :-1].any(axis=1)
        return np.where(last, np.floor(4 * noisy[:, -1]) / 4, np.inf).tolist()  # type: ignore[no-any-return]

    return Auditable(
        name="broken-roth11",
        epsilon=eps,
        description="SVT that answers with the noisy value it compared: counts 0,0,0,0,1 or 1,1,1,1,2",
        source=f"Roth, lecture notes on the sparse vector technique, 2011; {LYU_SU_LI}, Algorithm 3",
        private=False,
        run=run,
    )


def lee_clifton14(seed: int | None = None) -> Auditable:
    r"""An SVT whose query noise does not grow with the number c of ⊤ it allows.

    It takes ν_i ~ Lap(4/3ε) where c ⊤ need c times as much; its true ε is up to (1 + 6c)/4 times what is claimed.
    """
    eps = 1.0
    return alternating(
        "broken-lee-clifton14",
        eps,
        scales=(4 / eps, 4 / (3 * eps)),
        most=_PAIRS,
        seed=seed,
        description=f"SVT whose noise ignores that {_PAIRS} ⊤ are allowed: {2 * _PAIRS} queries, 0 or ±1",
        source=f"Lee, Clifton, Top-k frequent itemsets via differentially private FP-trees, KDD 2014; {LYU_SU_LI}, "
        "Algorithm 4",
    )


def stoddard14(seed: int | None = None) -> Auditable:
    r"""An SVT with noise on the threshold only.

    ⊥ for a query that is 0 and ⊤ for one that is 1 says 0 < T + ρ <= 1; with the two exchanged it never happens.
    """
    eps, queries = 1.0, (np.array([0.0, 1.0]), np.array([1.0, 0.0]))
    generator = np.random.default_rng(seed)

    def run(side: Side, trials: int) -> Iterable[Hashable]:
        above = queries[side] >= generator.laplace(0, 2 / eps, (trials, 1))
        return [_signs(row) for row in above.tolist()]

    return Auditable(
        name="broken-stoddard14",
        epsilon=eps,
        description="SVT without noise on the queries: counts 0,1 or 1,0",
        source="Stoddard, Chen, Machanavajjhala, Differentially private algorithms for empirical machine learning, "
        f"2014; {LYU_SU_LI}, Algorithm 5",
        private=False,
        run=run,
    )


def chen15(seed: int | None = None) -> Auditable:
    r"""An SVT that never stops: one threshold, as many ⊤ as there are large queries.

    Each of n queries that is 0 or 1 adds to what is known; the leak grows with n without bound.
    """
    eps = 1.0
    return alternating(
        "broken-chen15",
        eps,
        scales=(2 / eps, 2 / eps),
        most=2 * _PAIRS,
        seed=seed,
        description=f"SVT without a limit on the number of ⊤: {2 * _PAIRS} queries, 0 or ±1",
        source="Chen, Xiao, Zhang, Xu, Differentially private high-dimensional data publication via sampling-based "
        f"inference, KDD 2015; {LYU_SU_LI}, Algorithm 6",
    )


def float_laplace(seed: int | None = None) -> Auditable:
    r"""Laplace noise by inversion in double precision, added to the answer in double precision.

    1 + noise is always a multiple of 2^-53: for |noise| >= 1/2 by the grid of the noise, else by that of the sum.  But
    0 + noise has bits below 2^-53 where |noise| < 1/2, so the place of the last bit gives the answer away.
    """
    eps = 1.0
    generator = np.random.default_rng(seed)

    def run(side: Side, trials: int) -> Iterable[Hashable]:
        magnitude = -np.log(1 - generator.random(trials)) / eps
        noise = np.where(generator.random(trials) < 0.5, -magnitude, magnitude)
        return last_bits(side + noise).tolist()  # type: ignore[no-any-return]

    return Auditable(
        name="broken-float-laplace",
        epsilon=eps,
        description="Laplace noise in floating point, of scale 1, on the counts 0 or 1; the place of its last bit",
        source="Mironov, On significance of the least significant bits for differential privacy, CCS 2012",
        private=False,
        run=run,
    )


class Casting(Table):
    """A table as no table may be: its cells stay text, and every query casts them."""

    _raw: Any

    @classmethod
    def of(cls, ages: Sequence[str]) -> Casting:
        """A table of one column."""
        arrow: Any = needed("pyarrow", "data")
        cells = arrow.table({"age": list(ages)})
        table = cls(cells, {"age": Integers(0, 100)}, bad_cells="missing")
        duckdb: Any = needed("duckdb", "data")
        table._raw = duckdb.connect()
        table._raw.register("given", cells)
        table._raw.execute("CREATE TABLE cells AS FROM given")
        table._raw.execute(f"CREATE VIEW {table._rows.name} AS SELECT CAST(age AS INTEGER) AS c0 FROM cells")
        return table

    def run(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a result, by an engine that sees the cells."""
        return list(self._raw.cursor().execute(query).fetchall())


def raw_cast(seed: int | None = None) -> Auditable:
    r"""A count with enough noise, by a query that casts cells to numbers.

    With a cell that is no number the query fails: who is told so knows that the person is there.
    """
    eps, grown, generator = 1.0, Count("age >= 18"), np.random.default_rng(seed)
    tables = cache(lambda: (Casting.of(["17", "45", "70"]), Casting.of(["17", "45", "70", "unknown"])))

    def run(side: Side, trials: int) -> Iterable[Hashable]:
        ((exact,),) = measured(grown, tables()[side])
        return np.round(exact + generator.laplace(0, 1 / eps, trials)).tolist()  # type: ignore[no-any-return]

    return Auditable(
        name="broken-raw-cast",
        epsilon=eps,
        description="a count whose query casts text to numbers: a person is added whose age is no number",
        source="every query over raw cells that can fail on one of them",
        private=False,
        run=run,
    )


def last_bits(values: Floats) -> Ints:
    """The exponents of the last bits that are set: 1.5 has its last bit at 2^-1; 0 counts as 2^0."""
    mantissas, exponents = np.frexp(values)
    whole = np.abs(mantissas * 2.0**53).astype(np.int64)
    last = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return np.where(whole == 0, 0, exponents - 53 + last).astype(np.int64)


def alternating(
    name: str,
    eps: float,
    *,
    scales: tuple[float, float],
    most: int,
    seed: int | None,
    description: str,
    source: str,
) -> Auditable:
    """An SVT with noise of these scales on threshold and queries that stops after `most` times ⊤.

    All queries are 0 on the first input; on the second they are 1, -1, 1, -1, ...  The feature is how many more ⊤ came
    from the former than from the latter: a threshold that is low or high moves both alike.
    """
    generator = np.random.default_rng(seed)
    signs = np.tile([1, -1], _PAIRS)

    def run(side: Side, trials: int) -> Iterable[Hashable]:
        threshold = generator.laplace(0, scales[0], (trials, 1))
        above = side * signs + generator.laplace(0, scales[1], (trials, signs.size)) >= threshold
        answered = np.cumsum(above, axis=1) - above < most
        return ((above & answered) @ signs).tolist()  # type: ignore[no-any-return]

    return Auditable(name=name, epsilon=eps, description=description, source=source, private=False, run=run)


def _signs(row: list[bool]) -> str:
    return " ".join("⊤" if above else "⊥" for above in row)


BROKEN: dict[str, Callable[..., Auditable]] = {
    "broken-roth11": roth11,
    "broken-lee-clifton14": lee_clifton14,
    "broken-stoddard14": stoddard14,
    "broken-chen15": chen15,
    "broken-float-laplace": float_laplace,
    "broken-raw-cast": raw_cast,
}
"""By name; a seed makes the noise the same every time, for tests."""
