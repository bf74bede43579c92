"""Makes examples/people.parquet: a survey of invented people, in the manner of a public-use file.

60,000 rows about 40,000 people who answered once or twice; no row is about anybody.  `optcomp serve --demo` makes the
same table for itself.

    python examples/make_people.py
"""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from optcomp.center import invented_people

PEOPLE = Path(__file__).with_name("people.parquet")


if __name__ == "__main__":
    table = invented_people()
    pq.write_table(table, PEOPLE, compression="zstd", compression_level=19)
    print(f"{PEOPLE.name}: {table.num_rows} rows, {PEOPLE.stat().st_size / 1e6:.1f} MB")
