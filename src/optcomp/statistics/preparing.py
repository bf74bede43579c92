r"""Preparation: a table is read, checked, bounded and frozen once, before anything is spent.

Which rows of a person stay is a function of that person alone (SNAPSHOT in docs/snapshots.md).  For a fixed key, the
place of a row among the rows of its person is

    SHA-256(key, person, the row's integers and texts, its number among equal rows of that person)

and the first `rows_per_person` stay.  (Which integer a text has depends on who else is there; so the lot takes the
text.)  So neighbouring tables have snapshots that differ in the rows of one person, and in at most so many of them:
whatever the key is, whoever knows it, on every engine.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from shutil import copyfile
from typing import Any

from optcomp.errors import UnreadableData
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import Categories, Text
from optcomp.statistics.encoding import MOST_ROWS, PERSON, Encoder, cell_name, text_name
from optcomp.statistics.row_files import read_parquet
from optcomp.statistics.sources import Source

ROWS = "rows.parquet"
"""The file of a snapshot's rows."""
EVERYTHING = "everything.parquet"
"""The file of all rows as they were before the lot."""
_GROUP = 1 << 18
"""Rows in a group of a file: enough that looking up groups takes no time, and few enough for many threads."""
KEY_BYTES = 32
"""Of a key."""


def new_key() -> bytes:
    """Nobody guesses it."""
    return secrets.token_bytes(KEY_BYTES)


def staging(memory: str | None, folder: Path) -> Any:
    """An engine that spills into a folder."""
    import duckdb

    settings: dict[str, Any] = {"autoinstall_known_extensions": "false", "temp_directory": str(folder / "spill")}
    if memory is not None:
        settings["memory_limit"] = memory
    return duckdb.connect(":memory:", config=settings)


def prepare(
    source: Source, declared: Declared, key: bytes, folder: Path, *, memory: str | None, keep_everything: bool = False
) -> Encoder:
    """Write the rows of a snapshot into the folder; what was found on the way is in the encoder."""
    encoder = Encoder(declared, source)
    if declared.person is None:  # every row stays
        _write_batches(encoder, folder / ROWS)
        if keep_everything:
            copyfile(folder / ROWS, folder / EVERYTHING)
    else:
        engine, staged = staging(memory, folder), folder / "staged.parquet"
        try:
            _write_batches(encoder, staged)
            engine.execute("SET preserve_insertion_order = false")
            engine.execute("SET enable_progress_bar = false")  # which DuckDB would print where people work by hand
            engine.execute(f"CREATE VIEW staged AS FROM {read_parquet(staged)}")
            _write(engine, Lot(declared, key, DUCKDB).query("staged"), folder / ROWS)
            if keep_everything:
                _write(engine, Lot(declared, key, DUCKDB).everything("staged"), folder / EVERYTHING)
        except engine_errors() as error:
            raise UnreadableData(source.where, f"{out_of_engine(error)}; it may need more memory, or disk") from None
        finally:
            engine.close()
        staged.unlink()
    if encoder.rows > MOST_ROWS:
        raise UnreadableData(source.name, f"has more than {MOST_ROWS:,} rows")
    return encoder


def engine_errors() -> type[Exception]:
    """What DuckDB raises."""
    import duckdb

    found: type[Exception] = duckdb.Error
    return found


def out_of_engine(error: Exception) -> str:
    """An error of the engine in words, without its text, which may quote what was read."""
    return f"the engine could not go on ({type(error).__name__})"


def _write_batches(encoder: Encoder, path: Path) -> None:
    """Everything that is read, in a file: no more than some batches are in memory at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema, few = encoder.schema, encoder.columns_of_few
    writing = pq.ParquetWriter(path, schema, compression="none", use_dictionary=few)
    with writing as writer, closing(encoder.batches()) as batches:
        waiting, rows = list[Any](), 0
        for batch in batches:
            waiting.append(batch)
            rows += batch.num_rows
            if rows >= _GROUP:
                writer.write_table(pa.Table.from_batches(waiting, schema))
                waiting, rows = [], 0
        writer.write_table(pa.Table.from_batches(waiting, schema))
    pa.default_memory_pool().release_unused()


def _write(engine: Any, query: str, path: Path) -> None:
    """Not compressed: the integers are packed already, and questions would unpack them every time."""
    quoted = str(path).replace("'", "''")
    form = f"FORMAT parquet, COMPRESSION uncompressed, ROW_GROUP_SIZE {_GROUP}"
    engine.execute(f"COPY ({query}) TO '{quoted}' ({form})")


class Dialect:
    """How an engine writes what engines write differently."""

    def __init__(self, sha256: str, number: str, text: str) -> None:
        self._sha256, self._number, self.text = sha256, number, text

    def sha256(self, words: str) -> str:
        """In hexadecimal digits."""
        return self._sha256.format(words)

    def number(self, digest: str) -> str:
        """The first 60 bits of a digest."""
        return self._number.format(digest)


DUCKDB = Dialect("sha256({})", "CAST('0x' || substr({}, 1, 15) AS BIGINT)", "VARCHAR")
SPARK = Dialect("sha2({}, 256)", "CAST(conv(substr({}, 1, 15), 16, 10) AS BIGINT)", "STRING")


class Lot:
    """The query that leaves `rows_per_person` rows of each person, and makes ids of people that say nothing."""

    def __init__(self, declared: Declared, key: bytes, dialect: Dialect) -> None:
        self._declared, self._key, self._dialect = declared, key.hex(), dialect
        self._cells = [cell_name(place) for place in range(len(declared.columns))]
        self._drawn_by = [
            text_name(place) if isinstance(domain, Text) else cell_name(place)
            for place, domain in enumerate(declared.columns.values())
        ]
        """What a lot depends on: integers that depend on the row alone, and texts."""
        self._texts = set(self._drawn_by) - set(self._cells)

    def query(self, staged: str) -> str:
        """Of the rows in a table of integers, null where one is missing."""
        allowed, groups = self._declared.contribution.rows, self._groups()
        owned = f"SELECT * FROM {staged} WHERE {PERSON} IS NOT NULL"
        many = f"SELECT {PERSON} AS owner FROM {staged} WHERE {PERSON} IS NOT NULL GROUP BY {PERSON}"
        many += f" HAVING count(*) > {allowed}"
        if groups:
            inner = f"SELECT * FROM ({self._drawn(owned)}) AS drawn WHERE place <= {allowed}"
            return f"SELECT {self._kept(groups)} FROM ({inner}) AS kept"
        few = f"{self.everything(staged)} AND {PERSON} NOT IN (SELECT owner FROM many)"
        mine = f"SELECT * FROM {staged} WHERE {PERSON} IN (SELECT owner FROM many)"
        drawn = f"SELECT {self._kept({})} FROM ({self._drawn(mine)}) AS drawn WHERE place <= {allowed}"
        return f"WITH many AS ({many}) {few} UNION ALL {drawn}"

    def everything(self, staged: str) -> str:
        """The same rows before the lot, people by the same ids."""
        return f"SELECT {self._kept({})} FROM {staged} WHERE {PERSON} IS NOT NULL"

    def _kept(self, groups: Mapping[str, str]) -> str:
        """The columns of a snapshot."""
        number = self._dialect.number(self._dialect.sha256(self._words("'id'", self._text(PERSON))))
        return ", ".join(
            [f"{number} AS {PERSON}", *self._cells, *(f"{rank} AS {name}" for name, rank in groups.items())]
        )

    def _drawn(self, rows: str) -> str:
        """The place of each row among the rows of its person."""
        cells, each = ", ".join(self._drawn_by), ", ".join([PERSON, *self._drawn_by])
        numbered = (
            f"SELECT *, row_number() OVER (PARTITION BY {each} ORDER BY {PERSON}) AS number FROM ({rows}) AS mine"
        )
        words = self._words(
            "'lot'", self._text(PERSON), *(self._filled(cell) for cell in self._drawn_by), self._text("number")
        )
        lots = f"SELECT *, {self._dialect.sha256(words)} AS lot FROM ({numbered}) AS numbered"
        order = ", ".join(["lot", *([cells] if cells else []), "number"])
        return f"SELECT *, row_number() OVER (PARTITION BY {PERSON} ORDER BY {order}) AS place FROM ({lots}) AS lots"

    def _groups(self) -> dict[str, str]:
        """The place of a row's group among the groups of its person, and of the row in its group.

        Histograms count a category that is missing with those that are not declared: they are one group.
        """
        found, names = dict[str, str](), list(self._declared.columns)
        for rank, column in enumerate(self._declared.grouped_by):
            cell, domain = self._drawn_by[names.index(column)], self._declared.columns[column]
            if isinstance(domain, Categories):
                cell = f"coalesce({cell}, {domain.top})"
            draw = self._dialect.sha256(self._words(f"'group {rank}'", self._text(PERSON), self._filled(cell)))
            found[group_name(rank)] = (
                f"CAST(dense_rank() OVER (PARTITION BY {PERSON} ORDER BY {draw}, {cell}) - 1 AS INT)"
            )
            within = f"row_number() OVER (PARTITION BY {PERSON}, {cell} ORDER BY place)"
            found[within_name(rank)] = f"CAST({within} - 1 AS INT)"
        return found

    def _words(self, *words: str) -> str:
        return " || '/' || ".join([f"'{self._key}'", *words])

    def _text(self, column: str) -> str:
        return f"CAST({column} AS {self._dialect.text})"

    def _filled(self, column: str) -> str:
        """In words, nothing where it is missing; of a text its hash, which has no slash."""
        text = self._text(column)
        return f"coalesce({self._dialect.sha256(text) if column in self._texts else text}, '')"


def group_name(rank: int) -> str:
    """The column with the place of a row's group among those of its person."""
    return f"g{rank}"


def within_name(rank: int) -> str:
    """The column with the place of a row in its group."""
    return f"w{rank}"
