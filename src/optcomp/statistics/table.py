"""A table about people, with what is declared about it: columns, who a row belongs to, who counts as a neighbour.

Two data sets are neighbours if they differ in all rows of one person: added or removed ("add-remove"), or exchanged
for the rows of another one ("replace").  Rows beyond what a person may contribute are dropped inside the query engine;
which ones are kept depends on that person's rows alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from optcomp.errors import InvalidInput
from optcomp.numerics.exact import whole
from optcomp.statistics.domains import Domain, Numbers
from optcomp.statistics.fixed import Fixed
from optcomp.statistics.predicates import columns_of, condition
from optcomp.statistics.sources import connection_lock, is_relation, opened

if TYPE_CHECKING:
    import ibis.expr.types as ir

Neighbours = Literal["add-remove", "replace"]
"""What two neighbouring tables differ in."""
Key = Callable[["ir.Value"], "ir.Value"]
"""What is made of a column."""
Shape = tuple[str, Key]
"""A column, and what is made of it."""
Query = Any
"""A query ready to run: text for tables that we opened and for Spark, an expression for others."""
_MOST_ROWS = 10**6
"""Of one person: beyond, noise drowns everything."""
_MOST_QUERIES = 1024
"""Kept at a time; text of some kilobytes each."""


@dataclass(frozen=True)
class Contribution:
    """How much of the table one person can be: rows in all, cells of a histogram, rows in one cell."""

    rows: int
    groups: int
    rows_per_group: int
    replace: bool

    @property
    def cells_l1(self) -> int:
        """The most that the counts of disjoint cells can change in all."""
        return min(self.rows, self.groups * self.rows_per_group) * (2 if self.replace else 1)

    @property
    def cells_l2_squared(self) -> int:
        """The same for the sum of squares: as many full cells as fit, and one with the rest."""
        full = min(self.groups, self.rows // self.rows_per_group)
        rest = min(self.rows - full * self.rows_per_group, self.rows_per_group) if full < self.groups else 0
        return (full * self.rows_per_group**2 + rest**2) * (2 if self.replace else 1)

    def sum_change(self, low: int, high: int) -> int:
        """The most that a sum can change to which each row adds something in [low, high], or nothing."""
        top, bottom = max(high, 0), min(low, 0)
        return self.rows * (top - bottom if self.replace else max(top, -bottom))


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Declared:
    """What is declared about a table: all that sensitivities and accuracies depend on, and no data; it never changes.

    `columns` declares the columns that may be used, `person` the column that says whose row it is; without it every row
    is a person of its own.  `rows_per_person` (and for histograms `groups_per_person`, `rows_per_group`) bound what a
    person contributes.  `population` names the people whom the table is about: tables with different names are taken
    to be about different people, and a table without one may be about anybody.
    """

    columns: Fixed[Domain]
    person: str | None
    neighbours: Neighbours
    name: str
    population: str | None
    contribution: Contribution

    def __init__(
        self,
        columns: Mapping[str, Domain],
        *,
        person: str | None = None,
        rows_per_person: int = 1,
        groups_per_person: int | None = None,
        rows_per_group: int | None = None,
        neighbours: Neighbours = "add-remove",
        name: str = "table",
        population: str | None = None,
    ) -> None:
        if neighbours not in get_args(Neighbours):
            raise InvalidInput("neighbours", neighbours, "must be 'add-remove' or 'replace'")
        rows = whole(rows_per_person, "rows_per_person", 1, _MOST_ROWS)
        groups = rows if groups_per_person is None else whole(groups_per_person, "groups_per_person", 1, rows)
        each = rows if rows_per_group is None else whole(rows_per_group, "rows_per_group", 1, rows)
        if person is None and rows > 1:
            raise InvalidInput("rows_per_person", rows_per_person, "needs a column `person` that tells people apart")
        for argument, value in (("person", person), ("population", population)):
            if value is not None and not isinstance(value, str):
                raise InvalidInput(argument, value, "must be a name")
        object.__setattr__(self, "columns", _declared(columns))
        object.__setattr__(self, "person", person)
        object.__setattr__(self, "neighbours", neighbours)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "population", population)
        object.__setattr__(self, "contribution", Contribution(rows, groups, each, neighbours == "replace"))

    @property
    def declared(self) -> Declared:
        """The declarations by themselves, without any data."""
        bounds = self.contribution
        return Declared(
            self.columns,
            person=self.person,
            rows_per_person=bounds.rows,
            groups_per_person=bounds.groups,
            rows_per_group=bounds.rows_per_group,
            neighbours=self.neighbours,
            name=self.name,
            population=self.population,
        )

    def domain(self, column: str, kind: type[Any]) -> Any:
        """The declared domain of a column, which must be of this kind."""
        if not isinstance(column, str) or column not in self.columns:
            declared = ", ".join(self.columns) or "none"
            raise InvalidInput("column", column, f"is not a declared column of {self.name} ({declared})")
        domain = self.columns[column]
        if not isinstance(domain, kind):
            raise InvalidInput("column", column, f"must be declared as {kind.__name__}, and is {domain!r}")
        return domain

    def __repr__(self) -> str:
        whose = f"person={self.person!r}, rows_per_person={self.contribution.rows}" if self.person else "one row each"
        return f"{type(self).__name__}({self.name!r}, {len(self.columns)} columns, {whose}, {self.neighbours})"


class Table(Declared):
    """A table that statistics can be asked of.

    `source` is a CSV or Parquet file, a pandas, polars or Arrow table, or an Ibis table of an engine whose connection
    any thread may use: DuckDB, PostgreSQL and Spark are tested, SQLite is refused.  The rest is as in `Declared`.
    """

    def __init__(
        self,
        source: object,
        columns: Mapping[str, Domain],
        *,
        person: str | None = None,
        rows_per_person: int = 1,
        groups_per_person: int | None = None,
        rows_per_group: int | None = None,
        neighbours: Neighbours = "add-remove",
        name: str | None = None,
        population: str | None = None,
    ) -> None:
        super().__init__(
            columns,
            person=person,
            rows_per_person=rows_per_person,
            groups_per_person=groups_per_person,
            rows_per_group=rows_per_group,
            neighbours=neighbours,
            population=population,
        )
        used = dict.fromkeys((*self.columns, *([] if person is None else [person])))
        numbers = {column for column, domain in self.columns.items() if isinstance(domain, Numbers)}
        self._backend, self._relation, found = opened(source, list(used), numbers)
        self._own = not is_relation(source)
        self._spark = self._backend.name == "pyspark"
        object.__setattr__(self, "name", name or found)
        self._lock, self._connection = threading.Lock(), connection_lock(self._backend)
        self._queries: dict[Hashable, Query] = {}
        for column, domain in self.columns.items():
            domain.clean(self._relation[column])  # refuses types that do not fit

    def rows(
        self, shapes: Mapping[str, Shape], where: str | None = None, keys: Mapping[str, Key] | None = None
    ) -> ir.Table:
        """The rows that satisfy the condition, each person bounded, with the columns that the shapes make of them.

        For statistics that count cells, `keys` tells what the cell of a row is: a function of each of these columns,
        whose value is in the columns key0, key1, ...
        """
        asked = columns_of(where) if where is not None else ()
        for column in (*asked, *(shape[0] for shape in shapes.values())):
            self.domain(column, Domain)
        relation = self._relation
        made = {name: shape(relation[column]) for name, (column, shape) in shapes.items()}
        tests = {column: f"optcomp_test{i}" for i, column in enumerate(asked)}
        tested = {test: self.columns[column].clean(relation[column]) for column, test in tests.items()}
        owner = {"optcomp_person": relation[self.person]} if self.person is not None else {}
        kept = relation.select(**owner, **made, **tested) if owner or made or tested else relation
        if self.person is not None:
            kept = kept.filter(kept["optcomp_person"].notnull())
        if where is not None:
            kept = kept.filter(condition(where, {column: kept[test] for column, test in tests.items()}))
        places = {f"key{i}": key(kept[column]) for i, (column, key) in enumerate((keys or {}).items())}
        kept = kept.mutate(**places) if places else kept
        return kept if self.person is None else self._bounded(kept, list(places))

    def _bounded(self, kept: ir.Table, cell: Sequence[str]) -> ir.Table:
        """A draw for each row decides which rows, and which cells, of a person stay."""
        import ibis

        bounds, owner = self.contribution, "optcomp_person"
        kept = kept.mutate(optcomp_draw=ibis.random())
        if cell and bounds.groups < bounds.rows:
            first = kept.optcomp_draw.min().over(ibis.window(group_by=[owner, *cell]))
            kept = kept.mutate(optcomp_first=first)
            place = ibis.dense_rank().over(ibis.window(group_by=owner, order_by=["optcomp_first", *cell]))
            kept = kept.mutate(optcomp_group=place).filter(lambda t: t.optcomp_group < bounds.groups)
        if cell and bounds.rows_per_group < bounds.rows:
            place = ibis.row_number().over(ibis.window(group_by=[owner, *cell], order_by="optcomp_draw"))
            kept = kept.mutate(optcomp_within=place).filter(lambda t: t.optcomp_within < bounds.rows_per_group)
        place = ibis.row_number().over(ibis.window(group_by=owner, order_by="optcomp_draw"))
        return kept.mutate(optcomp_row=place).filter(lambda t: t.optcomp_row < bounds.rows)

    def prepared(self, question: Hashable, build: Callable[[Table], ir.Table]) -> Query:
        """The query for a question, built once: building takes longer than many an answer.

        A question that could change between two answers is built anew each time.
        """
        lasting = _never_changes(question)
        with self._lock, suppress(TypeError):  # what cannot be hashed is hardly a question: building it will tell
            known = self._queries.get(question) if lasting else None
            if known is not None:
                return known
        expression = build(self)
        known = str(self._backend.compile(expression)) if self._own or self._spark else expression
        if lasting:
            with self._lock:
                if len(self._queries) >= _MOST_QUERIES:
                    self._queries.clear()
                self._queries[question] = known
        return known

    def run(self, query: Query) -> list[tuple[Any, ...]]:
        """The rows of a result, by the engine; safe from any thread."""
        if self._spark:  # Ibis would take the rows through floats, because of their nulls
            return [tuple(row) for row in self._backend.raw_sql(query).collect()]
        if isinstance(query, str):  # a cursor for each query: threads do not wait for each other
            return list(self._backend.con.cursor().execute(query).fetchall())
        with self._connection:
            found = self._backend.to_pyarrow(query)
        return list(zip(*(column.to_pylist() for column in found.columns), strict=True)) if found.num_columns else []


def _never_changes(question: Hashable) -> bool:
    """A frozen data class; what it holds can be hashed, or it could not be looked up."""
    parameters = getattr(type(question), "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)


def _declared(columns: Mapping[str, Domain]) -> Fixed[Domain]:
    if not isinstance(columns, Mapping) or any(not isinstance(each, Domain) for each in columns.values()):
        raise InvalidInput("columns", columns, "must map names to Integers, Reals or Categories")
    return Fixed(columns)
