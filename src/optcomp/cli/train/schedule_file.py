"""`--schedule`: the phases of a run out of a file, each a mapping from names to numbers as text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path

import yaml

from optcomp.cli.failures import Complaint
from optcomp.cli.reading.file_text import text_of
from optcomp.reading import SUFFIXES, Format, plain, sniff

FIELDS = ("sigma", "rate", "batch", "steps", "epochs")
"""What a phase may say."""
_MOST_PHASES = 10_000
"""More phases than anybody plans; each costs time of its own."""


def phases_from(path: str) -> list[dict[str, str]]:
    """Every phase of a file, its numbers as they were written."""
    name = "standard input" if path == "-" else path
    text = text_of(path, name)
    rows = _rows(text, SUFFIXES.get(Path(path).suffix.lower()) or sniff(text), name)
    if not isinstance(rows, list) or not rows or not all(isinstance(row, Mapping) for row in rows):
        raise Complaint(f"{name}: must be a list of phases, each with some of {', '.join(FIELDS)}")
    if len(rows) > _MOST_PHASES:
        raise Complaint(f"{name}: at most {_MOST_PHASES} phases, got {len(rows)}")
    return [_phase(row, f"{name}, phase {number}") for number, row in enumerate(rows, start=1)]


def _rows(text: str, format: Format, name: str) -> object:
    try:
        if format is Format.JSON:
            return json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
        if format is Format.YAML:
            return yaml.load(text, Loader=yaml.BaseLoader)
        return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (ValueError, yaml.YAMLError, csv.Error, RecursionError) as error:
        raise Complaint(f"{name}: cannot be read: {error}") from None


def _phase(row: Mapping[object, object], where: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in row.items():
        field = str(key).strip().lower()
        if field not in FIELDS:
            raise Complaint(f"{where}: {field!r} is not known; there are {', '.join(FIELDS)}")
        if value is not None and not isinstance(value, str):
            raise Complaint(f"{where}: {field}: must be a number")
        if value and value.strip():
            found[field] = plain(value.strip(), f"{where}: {field}")
    return found
