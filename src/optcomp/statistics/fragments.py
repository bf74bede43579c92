"""Pieces of JSON Schema, of which the schema of a plan is made."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]
"""A schema, or its properties."""
ANY_NUMBER: Schema = {"$ref": "#/$defs/number"}
"""A number, or text that is one."""
COLUMN = "The column."
"""What most statistics are about."""


def entries(properties: Schema, required: list[str] | None = None) -> Schema:
    """An object with these entries and no others."""
    found: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return found | ({"required": required} if required else {})


def number(description: str) -> Schema:
    """A number."""
    return ANY_NUMBER | {"description": description}


def text(description: str) -> Schema:
    """Text."""
    return {"type": "string", "description": description}


def whole(description: str, least: int = 1, most: int | None = None) -> Schema:
    """A whole number."""
    found: Schema = {"type": "integer", "minimum": least, "description": description}
    return found if most is None else found | {"maximum": most}


def listed(items: Schema, description: str, least: int = 1, most: int | None = None) -> Schema:
    """A list."""
    found: Schema = {"type": "array", "items": items, "minItems": least, "description": description}
    return found if most is None else found | {"maxItems": most}
