"""Batches of cells as batches of integers: what a snapshot holds, before the lot."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from optcomp.errors import UnreadableData
from optcomp.numerics import report
from optcomp.statistics import cells
from optcomp.statistics.column_types import fits
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import Text
from optcomp.statistics.sources import Source
from optcomp.statistics.tallies import ColumnTally

if TYPE_CHECKING:
    import pyarrow as pa

PERSON = "person"
"""The column of a snapshot that tells people apart."""
MOST_ROWS = 2**40
"""A larger table is refused: its sums might not fit 62 bits."""
_FEW = 1 << 14
"""Values of a column, far fewer than the rows that are written at a time."""


def cell_name(place: int) -> str:
    """The column of a snapshot that holds the cells of the declared column at this place."""
    return f"c{place}"


def text_name(place: int) -> str:
    """The column beside it with the text itself, for the lot alone."""
    return f"t{place}"


def used_columns(declared: Declared) -> list[str]:
    """The columns that are read: those declared, and that of people."""
    return list(dict.fromkeys((*declared.columns, *([] if declared.person is None else [declared.person]))))


def check_kinds(declared: Declared, source: Source) -> None:
    """Refuses a source whose columns cannot hold what is declared."""
    for name, domain in declared.columns.items():
        fits(name, domain, source.kinds[name])
    if declared.person is not None:
        fits(declared.person, None, source.kinds[declared.person])


class Encoder:
    """Reads a source once, and counts what it finds."""

    def __init__(self, declared: Declared, source: Source) -> None:
        self._declared, self._source = declared, source
        check_kinds(declared, source)
        self.columns = [ColumnTally(name, domain) for name, domain in declared.columns.items()]
        self.person = None if declared.person is None else ColumnTally(declared.person, None)
        self.rows = 0
        self._texts: dict[str, int] = {}

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that nobody declared, each at the place that its cells name."""
        return tuple(self._texts)

    @property
    def schema(self) -> pa.Schema:
        """Of what `batches` gives."""
        import pyarrow as pa

        kinds = enumerate(self._declared.columns.values())
        wide, short = pa.int64(), pa.int32()
        fields = [pa.field(cell_name(place), wide if isinstance(kind, Text) else short) for place, kind in kinds]
        if self._declared.person is not None:
            fields += [pa.field(text_name(place), pa.large_string()) for place in self._text_places]
            kind = self._source.kinds[self._declared.person]
            plain = pa.types.is_integer(kind) and not pa.types.is_uint64(kind)  # which int64 holds, whatever it is
            fields.append(pa.field(PERSON, wide if plain else pa.large_string()))
        return pa.schema(fields or [pa.field("c", pa.int32())])

    @property
    def _text_places(self) -> list[int]:
        """Those of columns of text."""
        return [place for place, domain in enumerate(self._declared.columns.values()) if isinstance(domain, Text)]

    @property
    def columns_of_few(self) -> list[str]:
        """Those of few values, which are best written once, in a dictionary."""
        domains = enumerate(self._declared.columns.values())
        return [cell_name(place) for place, domain in domains if domain.top < _FEW]

    def batches(self) -> Generator[Any]:
        """Integers; what is missing or cannot be read is null."""
        import pyarrow as pa

        schema = self.schema
        with closing(self._source.batches()) as batches:  # which may hold a connection
            for batch in batches:
                words = {place: self._words(batch, self.columns[place]) for place in self._text_places}
                columns = [
                    self._places(words[place]) if place in words else self._column(batch, tally)
                    for place, tally in enumerate(self.columns)
                ]
                if self.person is not None:
                    columns += words.values()
                    columns.append(self._person(batch, schema.field(PERSON).type))
                if not columns:
                    columns = [pa.nulls(batch.num_rows, pa.int32())]
                self.rows += batch.num_rows
                report("preparing the data", self._source.share(self.rows))
                yield pa.record_batch(columns, schema)

    def _column(self, batch: Any, tally: ColumnTally) -> Any:
        import pyarrow as pa

        assert tally.domain is not None
        column = cells.plain(batch.column(tally.name))
        in_numbers = self._source.in_numbers(column) if tally.domain.of_numbers else column
        codes, values = cells.encode(tally.domain, in_numbers)
        tally.add(column, codes, values)
        return pa.array(codes.astype(np.int32), mask=codes < 0)

    def _words(self, batch: Any, tally: ColumnTally) -> Any:
        """The texts of a column that nobody declared."""
        assert isinstance(tally.domain, Text)
        column = cells.plain(batch.column(tally.name))
        found, codes = cells.texts(tally.domain, column)
        tally.add(column, codes, None)
        return found

    def _places(self, words: Any) -> Any:
        """The place of each text in the owner's list, which grows by those that are new."""
        import pyarrow as pa
        import pyarrow.compute as pc

        known, new = words.unique().drop_null(), self._texts
        places = [new.setdefault(word, len(new)) for word in known.to_pylist()]
        return pa.array(places, pa.int64()).take(pc.index_in(words, known))

    def _person(self, batch: Any, kind: pa.DataType) -> Any:
        assert self.person is not None
        found, codes = cells.person(cells.plain(batch.column(self.person.name)))
        missing = np.where(codes == 0, np.where(found.is_valid().to_numpy(zero_copy_only=False), 0, -1), codes)
        self.person.add(found, missing, None)
        return found.cast(kind)

    def refuse(self) -> None:
        """Raises if anything could not be read; says where the first such place is, and how many there are."""
        lines, tallies = self._source.lines, [*self.columns, *([self.person] if self.person is not None else [])]
        found: list[tuple[int, str, str]] = []
        if lines.first is not None:
            found.append((lines.first[0], line_of(self._source, lines.first[0]), lines.first[1]))
        for tally in tallies:
            if tally.first is not None:
                row, why = tally.first
                where = f"{self._source.where}, {self._source.place(row)}, column {tally.name!r}"
                found.append((self._source.number(row), where, cells.WHY[why]))
        if not found:
            return
        _, place, reason = min(found)
        raise unreadable(place, reason, sum(lines.bad.values()), sum(tally.unreadable for tally in tallies))


def line_of(source: Source, line: int) -> str:
    """Where a line is."""
    return f"{source.lines.file or source.where}, line {line:,}"


def unreadable(place: str, reason: str, lines: int, found: int) -> UnreadableData:
    """The error about so many lines and cells, of which the first is at that place."""
    kinds = [(count, what) for count, what in ((lines, "line"), (found, "cell")) if count]
    counts = " and ".join(f"{count:,} {what}{'' if count == 1 else 's'}" for count, what in kinds)
    advice = f"{counts} cannot be read; mend the data, or say bad_cells='missing' to count them as missing"
    return UnreadableData(place, reason, lines + found, advice)
