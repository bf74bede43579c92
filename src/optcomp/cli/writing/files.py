"""JSON files that options ask for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from optcomp.cli.failures import Complaint


def write_json(path: Path, view: Mapping[str, object], option: str) -> None:
    """Write one object; `option` is what a complaint names."""
    try:
        path.write_text(json.dumps(view, indent=2, ensure_ascii=True, allow_nan=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise Complaint(f"{option}: {path}: {error.strerror or error}") from None
