"""The file formats by their names."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    """How a file is written."""

    CSV = "csv"
    JSON = "json"
    YAML = "yaml"


SUFFIXES = {".csv": Format.CSV, ".json": Format.JSON, ".yaml": Format.YAML, ".yml": Format.YAML}
"""Endings of file names."""
