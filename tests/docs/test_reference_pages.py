"""References cannot lag: every public name, command, endpoint, theorem, error, setting and format is on its page."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from inspect import getdoc
from pathlib import Path
from typing import Annotated, Any

import jsonschema_rs
import pytest
import typer
from typer.main import get_command

import optcomp as oc
from optcomp.cli.main import app
from optcomp.ledger import Ledger
from optcomp.planner import read_file
from optcomp.release import release_plan
from optcomp.statistics import Categories, Integers, Reals, Table

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PEOPLE = ROOT / "examples" / "people.parquet"


def _loaded(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LIBRARY, CENTER, FORMATS, CARDS = map(
    _loaded, ("reference_library", "reference_center", "reference_formats", "theorem_cards")
)
CARDS.code_of = cache(CARDS.code_of)  # looks through all sources, for the page and for the test of the cards
WRITTEN = LIBRARY.PAGES | CENTER.PAGES | FORMATS.PAGES | CARDS.PAGES


def _text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf8")


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_references_are_current(name: str) -> None:
    """Run `make docs` when this fails."""
    assert _text(name) == WRITTEN[name]()


@pytest.mark.parametrize("room", ["", *LIBRARY.ROOMS])
def test_every_public_name_has_an_entry_that_says_something(room: str) -> None:
    """A signature alone does not; nor does a table of members."""
    module, page = importlib.import_module(f"optcomp.{room}".strip(".")), _text(f"reference/{room or 'optcomp'}.md")
    titles = re.findall(r"^## (\w+)$", page, re.MULTILINE)
    _, *entries = page.split("\n## ")
    silent = [entry.partition("\n")[0] for entry in entries if not _sentence(entry)]
    assert (set(module.__all__) - set(titles), silent) == (set(), [])
    assert len(titles) == len(set(titles)) == len(LIBRARY.names(module))


def _sentence(entry: str) -> str:
    """The first words of an entry below its title and signature."""
    told = re.sub(r"^```py\n.*?^```$", "", entry.partition("\n")[2], flags=re.MULTILINE | re.DOTALL).strip()
    return "" if told.startswith("|") else told.partition("\n")[0]


def test_no_entry_is_told_in_the_words_of_python() -> None:
    """Names of types, such as tuple[int, ...], have the docstrings of Python's own classes."""
    pages = "".join(_text(f"reference/{room or 'optcomp'}.md") for room in ("", *LIBRARY.ROOMS))
    foreign = [(getdoc(kind) or "").partition("\n")[0] for kind in (tuple, dict, list, Annotated[int, 0], int | str)]
    assert all(foreign)
    assert [words for words in foreign if words in pages] == []


UNLISTED = {"optcomp.proofs.hardness", "optcomp.proofs.count_noise", "optcomp.release.plan_facts"}
"""Modules behind a surface from which one page imports, and tells what."""


def test_every_name_that_pages_import_has_an_entry() -> None:
    known = {
        f"optcomp.{room}" if room else "optcomp": set(
            LIBRARY.names(importlib.import_module(f"optcomp.{room}".strip(".")))
        )
        for room in ("", *LIBRARY.ROOMS)
    }
    everything = set().union(*known.values())
    missing = [
        f"{page.name}: {module} {name}"
        for page in sorted(DOCS.rglob("*.md"))
        for block in re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf8"), re.MULTILINE | re.DOTALL)
        for module, name in _imported(block)
        if name not in known.get(module, everything) and not {module, f"{module}.{name}"} & UNLISTED
    ]
    assert missing == []


def _imported(block: str) -> Iterator[tuple[str, str]]:
    """Modules of ours, each with a name that a program takes from it."""
    for node in ast.walk(ast.parse(block)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("optcomp"):
            yield from ((str(node.module), each.name) for each in node.names)


def test_an_entry_that_says_nothing_is_noticed() -> None:
    assert _sentence("compose\n\n```py\ncompose(a)\n```\n\nThe total.\n") == "The total."
    assert _sentence("compose\n\n```py\ncompose(a)\n```\n\n| member | what it does |\n") == ""
    assert _sentence("Item\n\n\n") == ""


def test_every_request_and_parameter_says_something() -> None:
    _, *entries = _text("reference/endpoints.md").split("\n## ")
    assert [entry.splitlines()[0] for entry in entries if not entry.splitlines()[2].strip()] == []
    rows = [line for entry in entries for line in entry.splitlines() if line.startswith("| `")]
    assert len(rows) > 50
    assert [row for row in rows if not row.replace("\\|", "").split("|")[5].strip()] == []


def test_every_setting_says_what_it_means() -> None:
    rows = re.findall(r"^\| `.*", _text("reference/settings.md"), re.MULTILINE)
    assert len(rows) > 10
    assert [row for row in rows if not row.rstrip("| ").rpartition("|")[2].strip(" `")] == []
    assert [row for row in rows if row.rstrip().endswith("|  |")] == []


def test_every_option_has_a_help_text() -> None:
    silent = [
        f"{' '.join(path)} {option.name}"
        for path, command in _parsed(get_command(app))
        for option in command.params
        if not (getattr(option, "help", None) or getattr(option, "hidden", False))
    ]
    assert silent == []


def _parsed(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """A command and all below it, with their parameters."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _parsed(inner, (*path, name))


CLASS = re.compile(r"^ *class (\w+)(?:\[[^]]*])?(?:\(([^()]*)\))?:", re.MULTILINE)
"""The name of a class, and what it is derived from: parsing all sources would take forty times as long."""


def test_no_error_is_forgotten() -> None:
    """Classes are looked for in the sources, so an error of a room that is in no list is found too."""
    bases: dict[str, set[str]] = {}
    for path in (ROOT / "src" / "optcomp").rglob("*.py"):
        text = path.read_text(encoding="utf8")
        classes = CLASS.findall(text)
        assert len(classes) == len(re.findall(r"^ *class \w+[(\[:]", text, re.MULTILINE)), f"classes of {path}"
        for name, above in classes:
            bases.setdefault(name, set()).update(each.strip() for each in above.split(","))
    found, more = set[str](), {"OptcompError"}
    while more:
        found |= more
        more = {name for name, above in bases.items() if above & found} - found
    assert {name for name in found if not name.startswith("_")} == {kind.__name__ for kind in CENTER.errors()}


def test_no_room_is_forgotten() -> None:
    """Rooms without a page serve other rooms, or are commands and pages of their own."""
    rooms = {path.parent.name for path in (ROOT / "src" / "optcomp").glob("*/__init__.py")}
    assert rooms - set(LIBRARY.ROOMS) == {"cli", "instances", "numerics", "pages", "reading"}


def _commands(group: typer.Typer, before: tuple[str, ...] = ()) -> list[str]:
    found = []
    for each in group.registered_commands:
        name = each.name or (each.callback.__name__.replace("_", "-") if each.callback else "")
        found += [" ".join((*before, name))] if not each.hidden else []
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        path = (*before, str(inner.name or inner.typer_instance.info.name))
        found += [" ".join(path), *_commands(inner.typer_instance, path)]
    return found


def test_every_command_has_its_help_on_the_page() -> None:
    entries = re.findall(r"^## optcomp ?(.*)$", _text("command-line.md"), re.MULTILINE)
    commands = _commands(app)
    assert len(commands) > 30
    assert sorted(entries) == sorted(["", *commands])


def test_every_theorem_has_a_card_with_files_that_are_there() -> None:
    text, notes = _text("theorems.md"), CARDS.card_notes()
    assert set(notes) <= {record.id for record in oc.known_theorems()}
    for record in oc.known_theorems():
        assert f"\n## {record.id}\n" in text
        assert notes.get(record.id, {}).get("proof"), f"docs/theorem_cards.toml has no proof for {record.id}"
        named = (*CARDS.code_of(record), *CARDS.tests_of(record), *CARDS.oracles_of(record))
        assert all((ROOT / path).is_file() for path in named)


def test_every_error_has_a_remedy() -> None:
    told = CENTER.remedies()
    names = {kind.__name__ for kind in CENTER.errors()}
    assert set(told["errors"]) == names
    assert set(told["codes"]) == set(CENTER.STATUS)
    assert len(names) > 30
    assert all(value.endswith(".") for group in told.values() for value in group.values())


def test_every_variable_of_the_environment_is_told() -> None:
    assert CENTER.read_variables() == set(CENTER.VARIABLES)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A release, and the ledger that paid it."""
    place = tmp_path_factory.mktemp("release")
    plan = place / "plan.yaml"
    plan.write_text(
        "plan: 1\n"
        "data: {name: survey, rows: 60000, person: person, rows_per_person: 2}\n"
        "columns:\n  age: {integers: [16, 100]}\n  region: {categories: [north, east]}\n"
        "budget: {epsilon: 1, delta: 1e-6}\n"
        "statistics:\n  rows: {count: rows}\n  old: {median: age}\n  regions: {histogram: region}\n",
        encoding="utf8",
    )
    data = place / "people.parquet"
    data.write_bytes(PEOPLE.read_bytes())
    release_plan(read_file(plan), data, out=place / "survey.release.json")
    return place, json.loads((place / "survey.release.json").read_text(encoding="utf8"))


def _checked(name: str, document: Any) -> None:
    """It fits the schema, and without any one of its entries that are needed it does not."""
    validator = jsonschema_rs.validator_for(json.loads(_text(name)))
    validator.validate(document)
    assert not validator.is_valid({**document, "made up": 1})
    needed = json.loads(_text(name)).get("required", [])
    for entry in needed:
        assert not validator.is_valid({key: value for key, value in document.items() if key != entry}), entry


@pytest.mark.parametrize(
    "parts",
    [
        [("0.1", 0)] * 3,
        [("0.1", "1e-3")] * 5,
        [oc.Gaussian(4), ("0.1", 0)],
        [oc.Laplace(2), oc.PoissonSubsampled(oc.Gaussian(1), "0.01"), oc.RandomizedResponse(1, 4)],
        [0.001 * number for number in range(1, 1500)],
    ],
    ids=["pairs", "infinite", "gaussian", "laws", "digest"],
)
def test_certificates_fit_their_schema(parts: list[Any]) -> None:
    document = json.loads(json.dumps(oc.compose(parts, delta=1e-6).certificate()))
    _checked("schemas/certificate.json", document)


def test_releases_fit_their_schema(released: tuple[Path, Any]) -> None:
    _, document = released
    _checked("schemas/release.json", document)
    _checked("schemas/certificate.json", document["certificate"])


def test_snapshots_fit_their_schema(tmp_path: Path) -> None:
    columns = {"age": Integers(16, 100), "income": Reals(0, 1000), "region": Categories(["north", "east"])}
    Table(PEOPLE, columns, person="person", rows_per_person=2).save(tmp_path / "snapshot")
    _checked("schemas/snapshot.json", json.loads((tmp_path / "snapshot" / "declaration.json").read_text("utf8")))


def test_every_line_of_an_export_fits_its_schema(released: tuple[Path, Any]) -> None:
    place, _ = released
    with Ledger(place / "people.parquet.ledger") as ledger:
        ledger.export(place / "survey.export")
    validator = jsonschema_rs.validator_for(json.loads(_text("schemas/ledger-export.json")))
    lines = [json.loads(line) for line in (place / "survey.export").read_text("utf8").splitlines()]
    assert len(lines) > 5
    for line in lines:
        validator.validate(line)
        assert not validator.is_valid({**line, "answer": 1})


def test_schemas_are_all_on_the_page() -> None:
    used = {name for name, _ in FORMATS.FORMATS.values()}
    assert used == {"plan-schema.json", *(f"schemas/{path.name}" for path in (DOCS / "schemas").iterdir())}
    assert sys.modules.get("docs") is None  # pages are written by scripts, not by a package
