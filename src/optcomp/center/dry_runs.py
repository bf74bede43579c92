"""Dry runs: questions about rows that are invented, from what is declared alone.

The rows are drawn evenly over what each column may hold, by a seeded generator: nothing is read from any snapshot, and
the same seed gives the same rows.  They are answered by the same engine, with fresh noise of the same kind and size as
a question about people has.  What comes out tells nothing about anybody.
"""

from __future__ import annotations

import random
from typing import Any

from optcomp.errors import InvalidInput
from optcomp.extras import needed
from optcomp.interactive import Answer, answer, checked_question
from optcomp.numerics import whole
from optcomp.statistics import Categories, Count, Dates, Declared, Domain, Integers, Numbers, Question, Table, Text

MOST_ROWS = 100_000
"""Rows of a dry run: more would not show anything else, and take long."""
INVENTED = "invented rows"
"""What a dry run is about."""
_WORD, _WORDS = "text", 20
"""Texts that nobody declared are invented, too: so many different ones."""


def invented_table(declared: Declared, *, rows: int = 1000, seed: int = 0) -> Table:
    """Rows drawn evenly over what is declared; everybody has as many as one person may have."""
    pyarrow: Any = needed("pyarrow", "data")
    count = whole(rows, "rows", 1, MOST_ROWS)
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise InvalidInput("seed", seed, "must be a whole number")
    generator = random.Random(seed)  # of the rows only: noise is never drawn from a generator with a seed
    cells = {name: _cells(domain, count, generator) for name, domain in declared.columns.items()}
    if declared.person is not None and declared.person not in cells:
        cells[declared.person] = [f"person {row // declared.contribution.rows}" for row in range(count)]
    if not cells:
        cells = {"row": list(range(count))}
    arguments = declared.arguments | {"name": f"{declared.name}, {INVENTED}"}
    return Table(pyarrow.table(cells), bad_cells="missing", **arguments)


def dry_run(declared: Declared, question: Question, *, rows: int = 1000, seed: int = 0) -> Answer:
    """The answer to a question about invented rows."""
    table = invented_table(declared, rows=rows, seed=seed)
    return answer(checked_question(question, table), table)


def warm_up() -> None:
    """Load what questions need, by one about nobody, so that the first one about people does not take longer."""
    dry_run(Declared({"value": Integers(0, 1)}), Question(Count("value >= 1"), epsilon=1), rows=1)


def _cells(domain: Domain, count: int, generator: random.Random) -> list[Any]:
    if isinstance(domain, Text):
        return [f"{_WORD} {generator.randint(1, _WORDS)}"[: domain.most] for _ in range(count)]
    top = domain.top
    places = [generator.randint(0, top) for _ in range(count)]
    if isinstance(domain, Categories):
        known = (*domain.values, None)
        return [known[place] for place in places]
    if isinstance(domain, Dates):
        return [domain.label(int(domain.low) + place) for place in places]
    assert isinstance(domain, Numbers)
    first, step, low, high, whole_numbers = domain.first, domain.step, domain.low, domain.high, domain.holds is int
    values = (min(max((first + place) * step, low), high) for place in places)
    return [int(value) if whole_numbers else float(value) for value in values]
