"""The reference of the data centre: requests, errors and settings, written from the code."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

from fastapi.routing import APIRoute

import optcomp
from optcomp.center import Settings, make_app
from optcomp.center.access import roles_of
from optcomp.center.problems import STATUS
from optcomp.errors import OptcompError

DOCS = Path(__file__).parent
ROOMS = ("center", "client", "interactive", "interop", "ledger", "planner", "proofs", "release", "statistics")
"""Rooms with errors of their own."""
VARIABLES = {
    "OPTCOMP_SERVER": "The address of the data centre that `optcomp ask` asks, if `--server` is not given.",
    "OPTCOMP_TOKEN": "The token of `optcomp ask`, if `--token-file` is not given.",
    "OPTCOMP_WITNESS": "The witness of a ledger, for commands that are not given `--witness`.",
    "OPTCOMP_CENTER": "The home of the centre, for worker processes; `optcomp serve` sets it.",
}
"""Every variable of the environment that is read."""
_NOTHING = "nobody has written yet what to do"
"""Where `remedies.toml` lacks an entry; the suite fails then."""


def endpoint_page() -> str:
    """Every request with its role, parameters and body, from the description that the server itself publishes."""
    with tempfile.TemporaryDirectory() as folder:
        app = make_app(Settings.write(Path(folder) / "center"))
        told = app.openapi()
        known = {(route.path, method): route for route in _routes(app) for method in route.methods or ()}
        app.state.service.store.close()
        app.state.service.ledger.close()
    lines = [
        "# Endpoints",
        "",
        "Every request of a data centre, written from the description at `/api/openapi.json` by `make docs`. How",
        "to use them is told on [the data centre](../center.md#the-interface), and what the codes of errors mean",
        "[on another page](errors.md#codes-of-the-http-interface).",
        "",
    ]
    for path, methods in told["paths"].items():
        for method, about in methods.items():
            route = known[path, method.upper()]
            lines += _request(f"{method.upper()} {path}", about, roles_of(route.endpoint), told)
    return "\n".join(lines).rstrip("\n") + "\n"


def _routes(app: Any) -> Iterator[APIRoute]:
    for route in app.routes:
        if isinstance(route, APIRoute):
            yield route
        else:  # a router that was included as a whole
            inner = getattr(getattr(route, "original_router", None), "routes", ())
            yield from (each for each in inner if isinstance(each, APIRoute))


def _request(title: str, about: Mapping[str, Any], who: tuple[str, ...], told: Mapping[str, Any]) -> list[str]:
    told_of = [str(about.get(name, "")).strip().rstrip(".") for name in ("summary", "description")]
    lines = [f"## {title}", "", " ".join(f"{each}." for each in told_of if each).replace("\n", " "), ""]
    lines += [f"For: {', '.join(who) if who else 'anybody'}.", ""]
    rows = [
        (each["name"], each["in"], each.get("required", False), each.get("schema", {}), each.get("description", ""))
        for each in about.get("parameters", ())
    ]
    content = about.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if content is not None:
        schema = _followed(content, told)
        needed = schema.get("required", ())
        rows += [
            (name, "body", name in needed, each, each.get("description", ""))
            for name, each in schema.get("properties", {}).items()
        ]
    if rows:
        lines += ["| name | where | needed | type | meaning |", "|---|---|---|---|---|"]
        lines += [
            f"| `{name}` | {where} | {'yes' if needed else 'no'} | {_kind(schema, told)} | {_cell(meaning)} |"
            for name, where, needed, schema, meaning in rows
        ]
        lines += [""]
    return lines


def _followed(schema: Mapping[str, Any], told: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in schema:
        schema = told["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def _kind(schema: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    """The type of a value, in a word or two."""
    schema = _followed(schema, told)
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(each, told) for each in schema["anyOf"]))
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}), told)}"
    if "enum" in schema:
        return " or ".join(f"`{each}`" for each in schema["enum"])
    return str(schema.get("const") or schema.get("type", "any"))


def _cell(text: str) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def errors() -> list[type[OptcompError]]:
    """All errors of ours, by name."""
    for room in ROOMS:
        found = importlib.import_module(f"optcomp.{room}")
        for name in found.__all__:
            getattr(found, name)
    kept = (kind for kind in _below(OptcompError) if not kind.__name__.startswith("_"))
    return sorted(kept, key=lambda kind: kind.__name__)


def _below(kind: type[OptcompError]) -> set[type[OptcompError]]:
    inner = {each for child in kind.__subclasses__() for each in _below(child)}
    return {each for each in {kind, *inner} if each.__module__.startswith("optcomp.")}


def remedies() -> dict[str, dict[str, str]]:
    """What to do, by the name of an error and by the code of the interface."""
    found: dict[str, dict[str, str]] = tomllib.loads((DOCS / "remedies.toml").read_text(encoding="utf8"))
    return found


def error_page() -> str:
    """Every error with its cause, what it carries, and what to do."""
    told = remedies()
    lines = [
        "# Errors",
        "",
        "Everything that optcomp raises on purpose is an `OptcompError`. Causes are docstrings, written here by `make",
        "docs`; what to do is kept beside them, and a test asks for it. No message holds a value of anybody's data.",
        "",
    ]
    for kind in errors():
        above = [each.__name__ for each in kind.__mro__[1:] if each not in (object, BaseException, Exception)]
        lines += [f"## {kind.__name__}", ""]
        lines += [
            f"`{kind.__module__}`" + (f", a kind of {', '.join(f'`{each}`' for each in above)}." if above else "."),
            "",
        ]
        lines += [f"- Cause: {_first(kind)}"]
        carried = _carried(kind)
        lines += [f"- Carries: {', '.join(f'`.{name}`' for name in carried)}"] if carried else []
        lines += [f"- Do this: {told['errors'].get(kind.__name__, _NOTHING)}", ""]
    lines += ["## Codes of the HTTP interface", "", "| code | status | do this |", "|---|---|---|"]
    lines += [f"| `{code}` | {status} | {told['codes'].get(code, _NOTHING)} |" for code, status in STATUS.items()]
    return "\n".join(lines) + "\n"


def _first(kind: type) -> str:
    return " ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split())


def _carried(kind: type) -> list[str]:
    """What its constructor keeps."""
    found: dict[str, None] = {}
    for each in kind.__mro__:
        made = vars(each).get("__init__")
        if each.__module__.startswith("optcomp") and inspect.isfunction(made):
            for name in made.__code__.co_names:
                if name in made.__code__.co_varnames and name != "self":
                    found[name] = None
    return list(found)


def setting_page() -> str:
    """Every setting with its default, and every variable of the environment."""
    notes = _notes()
    lines = [
        "# Settings",
        "",
        "`center.yaml` in the home of a data centre holds them by name. Written from the code by `make docs`; more",
        "about some of them is in [operations](../operations.md#settings).",
        "",
        "| setting | type | default | meaning |",
        "|---|---|---|---|",
    ]
    for each in fields(Settings):
        if each.name != "home":
            default = "of the home" if each.default is MISSING else f"`{each.default!r}`"
            meaning = _cell(notes.get(each.name, ""))
            lines += [f"| `{each.name}` | `{_cell(str(each.type))}` | {default} | {meaning} |"]
    lines += ["", "## Variables of the environment", "", "| variable | meaning |", "|---|---|"]
    lines += [f"| `{name}` | {meaning} |" for name, meaning in VARIABLES.items()]
    return "\n".join(lines) + "\n"


def _notes() -> dict[str, str]:
    """The sentences below the fields, in the source."""
    text = Path(str(inspect.getsourcefile(Settings))).read_text(encoding="utf8")
    (body,) = [each.body for each in ast.parse(text).body if isinstance(each, ast.ClassDef) and each.name == "Settings"]
    return {
        one.target.id: str(two.value.value)
        for one, two in pairwise(body)
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        if isinstance(two, ast.Expr) and isinstance(two.value, ast.Constant)
    }


def read_variables() -> set[str]:
    """Names of variables in the sources."""
    source = Path(optcomp.__file__).parent
    texts = (path.read_text(encoding="utf8") for path in source.rglob("*.py"))
    return {name for text in texts for name in re.findall(r"\bOPTCOMP_[A-Z_]+\b", text)}


PAGES = {
    "reference/endpoints.md": endpoint_page,
    "reference/errors.md": error_page,
    "reference/settings.md": setting_page,
}
