"""Notebooks as Markdown, with their pictures as files: a page may hold no picture within itself."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any


def notebook_text(text: str, stem: str) -> tuple[str, dict[str, bytes]]:
    """A notebook as Markdown, and the pictures that it shows, by file name."""
    pictures: dict[str, bytes] = {}
    parts: list[str] = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for name, picture, printed in _outputs(cell, stem, len(pictures)):
            if picture:
                pictures[name] = picture
            parts.append(f"![{_title(parts)}]({name})" if picture else f"```text\n{printed}```")
    return "\n\n".join(parts), pictures


def _title(parts: list[str]) -> str:
    """What a picture is about: the last heading before it."""
    lines = [line for part in parts if not part.startswith("```") for line in part.splitlines()]
    return next((line.lstrip("# ") for line in reversed(lines) if line.startswith("#")), "")


def _outputs(cell: dict[str, Any], stem: str, before: int) -> Iterator[tuple[str, bytes, str]]:
    """What a cell shows: pictures with their names, and what it prints."""
    for output in cell.get("outputs", ()):
        if output["output_type"] == "stream":
            yield "", b"", "".join(output["text"])
        elif "image/png" in output["data"]:
            yield f"{stem}-{before}.png", base64.b64decode("".join(output["data"]["image/png"])), ""
            before += 1
