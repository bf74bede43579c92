"""A release as a Python script and as a notebook: the record inside, and a few lines that show it and prove it again.

Nothing that people named is part of the code.  The record is one piece of text, written by `ascii`, that the code reads
with `json.loads`: whatever a name holds, it stays text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from optcomp.release.store import text_of

_WIDTH = 96
"""Letters of the record on one line."""
_ABOUT = '''"""A release of differentially private statistics, with its record inside.

Run it to see the numbers.  Where optcomp is installed, it proves the release again.  Nothing is spent by that.
"""

import json
import sys
'''
_ROWS = '''def rows(record):
    """Name, statistic, cell, value and interval of every number that was released."""
    for entry in record["statistics"]:
        for each in entry.get("cells", [entry]):
            yield entry["name"], entry["statistic"], each.get("cell"), each["value"], each["interval"]


def shown(text):
    """Text as it is; what cannot be printed, or not here, is written as escapes."""
    coding = getattr(sys.stdout, "encoding", None) or "utf-8"
    plain = "" if text is None else str(text)
    return plain.encode(coding, "backslashreplace").decode(coding) if plain.isprintable() else ascii(plain)
'''
_SHOW = """for name, statistic, cell, value, interval in rows(RECORD):
    print(shown(name), shown(statistic), shown(cell), value, interval or "no interval", sep=" | ")
"""
_PROVE = """try:
    from optcomp.release import verify_release
except ImportError:
    print("Install optcomp to prove this release again.")
else:
    found = verify_release(RECORD)
    print("proved again" if found.proved else "NOT proved", *found.problems)
"""
_NOTEBOOK = {
    "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
"""What every notebook says about itself."""
_TITLE = (
    "# A release of differentially private statistics\n\nThe record is inside. The last cell proves it again, "
    "where optcomp is installed. Nothing is spent by that."
)


def script_text(release: Mapping[str, Any]) -> str:
    """A script that shows the released numbers and proves the release again."""
    return "\n".join([_ABOUT, _record(release), "", _ROWS, "", _SHOW, _PROVE])


def notebook_text(release: Mapping[str, Any]) -> str:
    """The same as a notebook, without any output."""
    code = ["import json\nimport sys\n\n" + _record(release), _ROWS + "\n\n" + _SHOW, _PROVE]
    cells = [_cell("markdown", 0, _TITLE), *(_cell("code", number, each) for number, each in enumerate(code, 1))]
    return json.dumps({"cells": cells, **_NOTEBOOK}, indent=1) + "\n"


def _cell(kind: str, number: int, source: str) -> dict[str, Any]:
    made = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": source.rstrip("\n")}
    return made | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def _record(release: Mapping[str, Any]) -> str:
    """An assignment; the text of the record in pieces that fit on lines."""
    text = text_of(release)
    lines = [f"    {text[place : place + _WIDTH]!a}" for place in range(0, len(text), _WIDTH)]
    return "\n".join(["RECORD = json.loads(", *lines, ")"])
