"""Files that pages hand out: always as attachments, under a fixed name, never kept by anybody in between."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from fastapi import Response

from optcomp.release import never_a_formula


def download(name: str, content: str, kind: str) -> Response:
    """A file of text; the name is one of ours."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(content.encode(), media_type=f"{kind}; charset=utf-8", headers=headers)


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """A file of cells; text that looks like a formula begins with an apostrophe."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    for row in rows:
        writer.writerow([_cell(each) for each in row])
    return written.getvalue()


def _cell(value: object) -> object:
    return never_a_formula(value) if isinstance(value, str) else "" if value is None else value
