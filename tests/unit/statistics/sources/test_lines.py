"""Records of a file of lines: each record knows the line it began in, also across blocks of the file."""

from __future__ import annotations

import io

import pytest

from optcomp.statistics.sources import lines
from optcomp.statistics.sources.lines import Records


@pytest.mark.parametrize("chunk", [4, 6, 7, 8, 1 << 20])
@pytest.mark.parametrize(
    "text", ["a,b\n\nc,d\ne,f\n", "a,b\n\nc,d\n\n\ne,f\ng,h\n", "\n\na,b\nc,d\n", 'a,"x\ny"\nc,d\n\ne,f\n']
)
def test_records_know_their_lines(text: str, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_CHUNK", chunk)
    records = Records(io.BytesIO(text.encode()), ",", 2, multiline=True, line=1)
    found = b"".join(records.blocks()).decode()
    kept = [row for row in text.replace("x\ny", "x y").split("\n") if row]
    assert found.replace("x\ny", "x y").split("\n")[:-1] == kept
    begun = [text.replace("x\ny", "x.y").split("\n").index(row.replace("x y", "x.y")) for row in kept]
    shift = [("x\ny" in text) and row[0] != "a" for row in kept]  # the line break inside a cell is a line too
    assert [records.line_of(record) for record in range(len(kept))] == [
        1 + line + more for line, more in zip(begun, shift, strict=True)
    ]
