"""The reference of the library: every public name with its signature and docstring, room by room."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import optcomp

SOURCE = Path(optcomp.__file__).parent
ROOMS = (
    *("statistics", "interactive", "planner", "release", "ledger", "client", "center", "checker", "proofs", "interop"),
    *("training", "composition", "guarantees", "theorems", "interactive.audit", "statistics.noise"),
)
"""Rooms that programs use, and two folders within them; those that are left out serve other rooms only."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_LONG = 60
"""Letters of a default value that are shown."""
FRONT = (
    "`import optcomp as oc` has all names of this page. Rooms have more: "
    + ", ".join(f"[{room}]({room}.md)" for room in ROOMS)
    + "."
)


def names(module: ModuleType) -> list[str]:
    """The surface of a room, in the order of the alphabet."""
    more = ("AsyncClient", "Client") if module is optcomp else ()
    return sorted((*module.__all__, *more), key=str.lower)


def page(room: str) -> str:
    """The reference of one room; an empty name is the front door."""
    module = importlib.import_module(f"optcomp.{room}" if room else "optcomp")
    title = f"# optcomp.{room}" if room else "# The library, name by name"
    about = FRONT if not room else _text(inspect.getdoc(module) or "")
    lines = [title, "", "Written from docstrings and types by `make docs`.", "", about, ""]
    for name in names(module):
        lines += [f"## {name}", "", *_entry(name, getattr(module, name), module), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _entry(name: str, value: Any, module: ModuleType) -> Iterator[str]:
    if not str(getattr(value, "__module__", "")).startswith("optcomp"):
        yield _constant(name, module)  # of tuple[int, ...] and its like Python would tell about tuples
    elif inspect.isclass(value):
        yield from _class(name, value)
    elif callable(value) and inspect.getdoc(value) and hasattr(value, "__qualname__"):
        yield from _signature(name, value)
        yield _text(inspect.getdoc(value) or "")
    else:
        yield _constant(name, module)


def _class(name: str, value: type) -> Iterator[str]:
    yield from _signature(name, value)
    yield _text(_own_doc(value))
    rows = [(member, what) for member, what in _members(value)]
    if rows:
        yield ""
        yield from ("| member | what it does |", "|---|---|")
        yield from (f"| `{member}` | {what} |" for member, what in rows)


def _own_doc(value: type) -> str:
    """The docstring; dataclasses and enums get one by themselves, which says nothing."""
    found = value.__doc__ or ""
    return "" if found.startswith(f"{value.__name__}(") else inspect.cleandoc(found)


def _members(value: type) -> Iterator[tuple[str, str]]:
    """Public methods and properties that the class or one of ours above it defines."""
    seen: set[str] = set()
    for kind in value.__mro__:
        if not kind.__module__.startswith("optcomp"):
            continue
        for name, member in vars(kind).items():
            if name.startswith("_") or name in seen:
                continue
            seen.add(name)
            plain = getattr(member, "__func__", getattr(member, "fget", getattr(member, "func", member)))
            ours = str(getattr(plain, "__module__", "")).startswith("optcomp")  # the default of a field may be a class
            doc = inspect.getdoc(plain) if callable(plain) and ours else None
            if doc:
                called = f"{name}{_arguments(plain, bound=True)}" if callable(member) or plain is not member else name
                shown = name if isinstance(member, property) or hasattr(member, "func") else called
                yield shown.replace("|", "\\|"), " ".join(doc.split("\n\n")[0].split()).replace("|", "\\|")


def _signature(name: str, value: Any) -> Iterator[str]:
    arguments = _arguments(value)
    yield from ("```py", f"{name}{arguments}", "```", "") if arguments else ()


def _arguments(value: Any, *, bound: bool = False) -> str:
    """The arguments with their types, as they are written in the source."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parts, last = [], None
    given = list(found.parameters.values())
    for each in given[1:] if bound and given and given[0].name in ("self", "cls") else given:
        if each.kind is each.KEYWORD_ONLY and last not in (each.KEYWORD_ONLY, each.VAR_POSITIONAL):
            parts.append("*")
        last = each.kind
        mark = "*" if each.kind is each.VAR_POSITIONAL else "**" if each.kind is each.VAR_KEYWORD else ""
        typed = f": {_type(each.annotation)}" if each.annotation is not each.empty else ""
        default = "" if each.default is each.empty else (" = " if typed else "=") + _default(each.default)
        parts.append(f"{mark}{each.name}{typed}{default}")
    returned = "" if found.return_annotation is found.empty else f" -> {_type(found.return_annotation)}"
    return f"({', '.join(parts)}){'' if inspect.isclass(value) else returned}"


def _type(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _default(value: Any) -> str:
    shown = _ADDRESS.sub("", repr(value))
    return "…" if len(shown) > _LONG or shown.startswith("<") else shown


def _text(doc: str) -> str:
    """A docstring as Markdown: indented parts and examples stay as they are."""
    return re.sub(r"^(>>> .*(?:\n(?!\n).*)*)", r"```text\n\1\n```", doc, flags=re.MULTILINE)


def _constant(name: str, module: ModuleType) -> str:
    """What is written below a constant in the source, in its room or in the one that it comes from."""
    if isinstance(getattr(module, name), ModuleType):
        return _text(inspect.getdoc(getattr(module, name)) or "")
    room = _constants(Path(str(module.__file__)).parent)
    return " ".join((room.get(name) or _constants(SOURCE).get(name, "")).split())


@cache
def _constants(folder: Path) -> dict[str, str]:
    """The sentences below constants, in all files of a room."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*.py")):
        body = ast.parse(path.read_text(encoding="utf8")).body
        for statement, below in pairwise(body):
            given = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
            targets = [each for one in given for each in (one.elts if isinstance(one, ast.Tuple) else [one])]
            told = below.value if isinstance(below, ast.Expr) else None
            if isinstance(told, ast.Constant) and isinstance(told.value, str):
                found |= {each.id: told.value for each in targets if isinstance(each, ast.Name)}
    return found


PAGES = {"reference/optcomp.md": partial(page, "")} | {f"reference/{room}.md": partial(page, room) for room in ROOMS}
