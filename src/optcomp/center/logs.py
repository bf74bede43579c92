"""What libraries log, as lines of JSON on standard error: their words, and of an error its kind alone."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime


class JsonLines(logging.Formatter):
    """One line for each record; the text of an exception may hold values, and is left out."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": at, "level": record.levelname, "logger": record.name, "event": str(record.msg)}
        if not record.exc_info:
            line["event"] = record.getMessage()
        elif record.exc_info[0] is not None:
            line["failure"] = record.exc_info[0].__name__
        return json.dumps(line)


def log_as_json(level: int = logging.WARNING) -> None:
    """From now on everything that this process logs is a line of JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
