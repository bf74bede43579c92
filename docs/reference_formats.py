"""The reference of file formats: what each holds, from the schemas in this folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
FORMATS = {
    "Plan": (
        "plan-schema.json",
        "Written by people, in YAML or JSON. `optcomp plan schema` prints the schema, and editors check plans by it.",
    ),
    "Release": ("schemas/release.json", "Written by `optcomp plan release`; may be published."),
    "Certificate": (
        "schemas/certificate.json",
        "Written by `optcomp compose --certificate`; proved by `optcomp verify`.",
    ),
    "Snapshot": (
        "schemas/snapshot.json",
        "`declaration.json` in the folder of a snapshot. Its folder is as private as the data.",
    ),
    "Export of a ledger": (
        "schemas/ledger-export.json",
        "A text file with one JSON object in each line, signed; holds no answers. The schema is that of one line.",
    ),
}
"""Every format: its schema, and what it is for."""


def format_page() -> str:
    """All formats, entry by entry."""
    lines = [
        "# File formats",
        "",
        'Numbers that must be exact are text: decimals or fractions such as `"1/10"`. Every file has a format and a',
        "version; one that is not known is refused. Written from the schemas (JSON Schema, draft 2020-12) by",
        "`make docs`; the suite checks real files against them.",
        "",
    ]
    for title, (name, about) in FORMATS.items():
        schema = json.loads((DOCS / name).read_text(encoding="utf8"))
        lines += [f"## {title}", "", about, "", f"Schema: [{name}](../{name}).", ""]
        for kind in schema.get("oneOf", [schema]):
            kind = _followed(kind, schema)
            lines += [f"*{kind['title']}*", ""] if "oneOf" in schema else []
            lines += ["| entry | needed | type | meaning |", "|---|---|---|---|", *_rows(kind, schema), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _rows(kind: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    for name, each in kind.get("properties", {}).items():
        told = " ".join(str(each.get("description", _followed(each, schema).get("description", ""))).split())
        needed = "yes" if name in kind.get("required", ()) else "no"
        yield f"| `{name}` | {needed} | {_kind(each, schema)} | {told.replace('|', chr(92) + '|')} |"


def _followed(kind: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in kind:
        found: Any = schema
        for step in kind["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        kind = found
    return kind


def _kind(each: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    each = _followed(each, schema)
    if "const" in each:
        return f"`{json.dumps(each['const'])}`"
    if "enum" in each:
        return " or ".join(f"`{json.dumps(value)}`" for value in each["enum"])
    for name in ("anyOf", "oneOf"):
        if name in each:
            return " or ".join(dict.fromkeys(_kind(choice, schema) for choice in each[name]))
    found = each.get("type", "any")
    return " or ".join(found) if isinstance(found, list) else str(found)


PAGES = {"reference/formats.md": format_page}
