"""Several files that are one table: the same columns, read one after the other in the order of their names."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Any

from optcomp.errors import InvalidInput
from optcomp.statistics.sources.source import Source


class Several(Source):
    """The rows of all files."""

    def __init__(self, files: Sequence[Source], name: str) -> None:
        super().__init__()
        self._files, self._ends = files, list[int]()
        first = files[0]
        self.name, self.where = first.name, name
        self.columns, self.kinds, self.dialect = first.columns, first.kinds, first.dialect
        self.size = sum(each.size or 0 for each in files)
        for each in files[1:]:
            if set(each.columns) != set(first.columns):
                raise InvalidInput("source", each.where, f"must have the same columns as {first.where}")
            if each.kinds != first.kinds:
                raise InvalidInput("source", each.where, f"must have columns of the same types as {first.where}")
            if each.dialect != first.dialect:
                raise InvalidInput("source", each.where, f"must have the same delimiter as {first.where}")

    def in_numbers(self, column: Any) -> Any:
        """As the dialect of all of them writes them."""
        return self._files[0].in_numbers(column)

    def batches(self) -> Generator[Any]:
        """File by file."""
        rows, self._ends = 0, []
        for each in self._files:
            with closing(each.batches()) as batches:
                for batch in batches:
                    rows += batch.num_rows
                    yield batch
            self._ends.append(rows)
            self._note(each)

    def _note(self, each: Source) -> None:
        """The lines of one file, among those of all."""
        for why, count in each.lines.bad.items():
            self.lines.bad[why] = self.lines.bad.get(why, 0) + count
        if self.lines.first is None and each.lines.first is not None:
            self.lines.first = each.lines.first
            self.lines.file = each.where
        self.lines.longest = max(self.lines.longest, each.lines.longest)

    def share(self, rows: int) -> float:
        """By the files that were read."""
        return len(self._ends) / len(self._files)

    def _file_of(self, row: int) -> tuple[Source, int]:
        starts = [0, *self._ends]
        place = min(sum(row >= end for end in self._ends), len(self._files) - 1)
        return self._files[place], row - starts[place]

    def place(self, row: int) -> str:
        """In which file, and where there."""
        file, within = self._file_of(row)
        return f"{file.where}, {file.place(within)}"
