"""Lines of JSON for what libraries log: never the text of an exception."""

from __future__ import annotations

import json
import logging
import traceback

from optcomp.center.logs import JsonLines


def line(message: str, *arguments: object) -> dict[str, str]:
    record = logging.LogRecord("uvicorn.error", logging.ERROR, "file.py", 1, message, arguments, None)
    found: dict[str, str] = json.loads(JsonLines().format(record))
    return found


def test_an_exception_that_a_library_wrote_as_words_is_told_by_its_kind() -> None:
    try:
        raise ConnectionError("password=zanzibar\nsecond line: zanzibar")
    except ConnectionError:
        text = traceback.format_exc()
    found = line(text)
    assert "zanzibar" not in json.dumps(found)
    assert (found["event"], found["failure"]) == ("Traceback", "ConnectionError")


def test_other_words_are_kept() -> None:
    assert line("snapshot %s does not open (%s)", "survey/1", "OSError")["event"] == (
        "snapshot survey/1 does not open (OSError)"
    )
