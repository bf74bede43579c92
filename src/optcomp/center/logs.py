"""What libraries log, as lines of JSON on standard error: their words, and of an error its kind alone."""

from __future__ import annotations

import json
import logging
import re
import sys
from datetime import UTC, datetime

_TRACE = "Traceback"
"""How the text of an exception begins."""
_KIND = re.compile(r"^[\w.]*?(\w*(?:Error|Exception|Exit|Interrupt|Warning))\b", re.MULTILINE)
"""The kind of an exception, at the beginning of a line; its words follow, which may have lines of their own."""


class JsonLines(logging.Formatter):
    """One line for each record; the text of an exception may hold values, and is left out."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": at, "level": record.levelname, "logger": record.name, "event": str(record.msg)}
        if not record.exc_info:
            line["event"] = record.getMessage()
            if line["event"].startswith(_TRACE):  # a library wrote an exception as words
                line["failure"] = ", ".join(_KIND.findall(line["event"])) or "unknown"
                line["event"] = _TRACE
        elif record.exc_info[0] is not None:
            line["failure"] = record.exc_info[0].__name__
        return json.dumps(line)


def log_as_json(level: int = logging.WARNING) -> None:
    """From now on everything that this process logs is a line of JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
