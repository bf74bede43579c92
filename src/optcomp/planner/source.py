"""Plans as text: YAML or JSON, read strictly and written back.

Numbers with a point or an exponent stay text, so that 0.1 is one tenth; `no` and `007` are text too, as in YAML 1.2.  A
key that is given twice is refused, and so is a document that would grow without end by references to itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from optcomp.errors import InvalidInput

MOST_BYTES = 20_000_000
"""Of a file: some hundred thousand statistics."""
MOST_VALUES = 2_000_000
"""Once references are followed: what fits into memory."""
_SHOWN = 60
"""Characters of a line that an error shows."""
_KINDS = {
    "null": (r"(?:~|null|Null|NULL|)", ["~", "n", "N", ""]),
    "bool": (r"(?:true|True|TRUE|false|False|FALSE)", list("tTfF")),
    "int": (r"[-+]?(?:0|[1-9][0-9_]*)", list("-+0123456789")),
    "merge": (r"(?:<<)", ["<"]),
}
"""What is not text: patterns, and the characters that such values begin with."""


DATA = (".csv", ".tsv", ".parquet")
"""Files that are named so hold data: they are no plans, and an error about one of their lines would show it."""


def is_data(name: str) -> bool:
    """Whether a file is named like one of data, packed or not."""
    return name.lower().removesuffix(".gz").endswith(DATA)


def load(path: Path) -> Any:
    """What a file says; JSON if it is named so, and else YAML."""
    if is_data(path.name):
        raise InvalidInput("plan", str(path), "must be a plan in YAML or JSON, and is named like a file of data")
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InvalidInput("plan", str(path), f"must have at most {MOST_BYTES} bytes")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("plan", str(path), "is not text in UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput("plan", str(path), f"cannot be read ({reason})") from None
    return parsed(text, path.name, as_json=path.suffix.lower() == ".json")


def parsed(text: str, name: str, *, as_json: bool = False) -> Any:
    """What a text says; an error names the line."""
    try:
        found = _from_json(text, name) if as_json else yaml.load(text, Loader=_Reader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _malformed(text, name, mark.line if mark else 0, error.problem or "is not a document") from None
    except yaml.YAMLError as error:
        raise InvalidInput(name, text[:_SHOWN], f"is not YAML ({str(error).splitlines()[0]})") from None
    except InvalidInput:
        raise
    except RecursionError:
        raise InvalidInput(name, text[:_SHOWN], "is nested too deeply") from None
    except (ValueError, OverflowError) as error:  # such as an integer of more digits than Python reads
        raise InvalidInput(name, text[:_SHOWN], f"cannot be read ({error})") from None
    if _values(found, {}, name) > MOST_VALUES:
        raise InvalidInput(name, text[:_SHOWN], f"must hold at most {MOST_VALUES} values")
    return found


def dumped(document: Mapping[str, Any], *, as_json: bool = False) -> str:
    """A plan as YAML or JSON; what it came from may have had comments, and they are not here."""
    if as_json:
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    return yaml.dump(
        document, Dumper=_Writer, sort_keys=False, allow_unicode=True, default_flow_style=None, width=_WIDTH
    )


_WIDTH = 120
"""Of lines that are written."""


def _malformed(text: str, name: str, line: int, problem: str) -> InvalidInput:
    lines = text.splitlines()
    shown = lines[min(line, len(lines) - 1)].strip()[:_SHOWN] if lines else ""
    return InvalidInput(f"{name}, line {line + 1}", shown, problem)


def _from_json(text: str, name: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise InvalidInput(name, key, "must not be given twice")
            found[key] = value
        return found

    try:
        return json.loads(text, object_pairs_hook=unique, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as error:
        raise _malformed(text, name, error.lineno - 1, f"is not JSON ({error.msg})") from None


def _values(value: object, known: dict[int, int], name: str) -> int:
    """How many values there are once references are followed."""
    if not isinstance(value, dict | list | tuple | set):
        return 1
    if id(value) not in known:
        known[id(value)] = -1
        inner = [*value, *value.values()] if isinstance(value, dict) else list(value)
        known[id(value)] = 1 + sum(_values(each, known, name) for each in inner)
    elif known[id(value)] < 0:
        raise InvalidInput(name, "a reference", "must not contain itself")
    return known[id(value)]


class _Reader(yaml.SafeLoader):
    """Mappings without repeated keys."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Keys are looked at as they are written."""
        seen: set[tuple[str, str]] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in seen:
                    raise yaml.constructor.ConstructorError(None, None, "is given twice", key.start_mark)
                seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep)


class _Writer(yaml.SafeDumper):
    """What the reader takes for text needs no quotes."""

    def ignore_aliases(self, data: object) -> bool:
        """Everything is written out."""
        return True


for _class in (_Reader, _Writer):
    _class.yaml_implicit_resolvers = {}
    for _kind, (_pattern, _first) in _KINDS.items():
        _class.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(f"^{_pattern}$"), _first)
