"""What pages show as commands: every block has a known kind, and every command, option, extra and target is there."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from optcomp.cli.main import app
from optcomp.planner import read

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])
RUN = {"docs/center.md", "docs/operations.md", *(f"docs/how-to/{path.name}" for path in (DOCS / "how-to").iterdir())}
"""Pages whose bash blocks run as one program."""
KINDS = {"python", "console", "bash", "sh", "text", "output", "yaml", "csv", "math", "py"}
"""python, console and bash run; sh is looked up here; text is compared with what runs before it; output is what one
run has printed; yaml is a plan; csv is a list of mechanisms; math is drawn; py is a signature of a reference."""
_FENCE = re.compile(r"^```(\w*)(?: opacus| jax-privacy| flower)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?<=\n\n)((?:    [^\n]+\n)+)")
_INLINE = re.compile(r"`(optcomp [^`]+)`")
_TARGET = re.compile(r"`make ([a-z][\w-]*)")
_EXTRAS = re.compile(r"pip install '\.\[([\w,]+)\]'")
_UNKNOWN = ("…", "FILE", "COMMAND")
"""Where a page leaves something out."""


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def commands(text: str) -> Iterator[str]:
    """Every line of a shell, and every piece of code within a sentence, that begins with optcomp."""
    blocks = [block for kind, block in _FENCE.findall(text) if kind in ("bash", "sh", "console")]
    plain = _FENCE.sub("", text)
    for block in (*blocks, *_INDENTED.findall(plain)):
        for line in block.replace("\\\n", " ").splitlines():
            found = re.match(r"\s*(?:\$ )?(?:\.venv/bin/)?(optcomp (?:[^|>#&;$]|\$(?!\())*)", line)
            if found and not found[1].startswith("optcomp:"):
                yield found[1]
    yield from _INLINE.findall(plain)


def problem(command: str) -> str | None:
    """What is wrong with a command: a name or an option that is not there."""
    try:
        words = shlex.split(command)[1:]
    except ValueError:
        words = command.split()[1:]
    here: Any = get_command(app)
    while words and hasattr(here, "commands"):
        if words[0].startswith("-") or words[0] in _UNKNOWN:
            break
        if words[0] not in _alternatives(words[0], here):
            fallback = _default(here, words)
            if fallback is None:
                return f"no command {words[0]!r}"
            here = fallback
            break
        if "|" in words[0]:
            return None
        here = here.commands[words.pop(0)]
    known = {name for option in here.params for name in (*option.opts, *option.secondary_opts)} | {"--help", "-h"}
    asked = [word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    return next((f"no option {word}" for word in asked if word not in known), None)


def _alternatives(word: str, group: Any) -> set[str]:
    """The commands of a group; `a|b` stands for both."""
    known = set(group.commands)
    return known | ({word} if set(word.split("|")) <= known else set())


def _default(group: Any, words: list[str]) -> Any:
    """`optcomp plan FILE` is `optcomp plan show FILE`."""
    return group.commands.get("show") if re.search(r"[./]|^[A-Z]", words[0]) else None


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_commands_and_their_options_are_there(page: Path) -> None:
    found = {each: problem(each) for each in commands(page.read_text(encoding="utf8"))}
    assert {each: wrong for each, wrong in found.items() if wrong} == {}


def test_what_is_not_there_is_noticed() -> None:
    assert problem("optcomp compose 0.1x5 --delta 1e-6") is None
    assert problem("optcomp compose 0.1x5 --delat 1e-6") == "no option --delat"
    assert problem("optcomp ledger forget survey.ledger") == "no command 'forget'"
    page = "Say `optcomp verify FILE`.\n\n    $ optcomp compare 0.1\n\n"
    page += "```sh\noptcomp ask survey 'count' --epsilon 0.1 > x\n```\n"
    assert list(commands(page)) == [
        "optcomp ask survey 'count' --epsilon 0.1 ",
        "optcomp compare 0.1",
        "optcomp verify FILE",
    ]
    assert sum(len(list(commands(page.read_text(encoding="utf8")))) for page in PAGES) > 150


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_block_has_a_kind_that_is_tested(page: Path) -> None:
    kinds = {kind for kind, _ in _FENCE.findall(page.read_text(encoding="utf8"))}
    assert kinds <= KINDS
    indented = re.findall(r"^[ >]+(?:```|~~~)(\w+)", page.read_text(encoding="utf8"), re.MULTILINE)
    assert set(indented) <= {"math"}  # nothing that should run hides in a list
    assert "bash" not in kinds or _name(page) in RUN
    assert "py" not in kinds or page.parent.name == "reference"


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_consoles_show_commands_that_are_tested(page: Path) -> None:
    blocks = [block for kind, block in _FENCE.findall(page.read_text(encoding="utf8")) if kind == "console"]
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    assert [line for line in lines if not line.startswith(("$ optcomp ", "$ make "))] == []
    makefile = (ROOT / "Makefile").read_text(encoding="utf8")
    assert all(f"\n{line.split()[2]}:" in makefile for line in lines if line.startswith("$ make "))


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_extras_and_targets_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf8")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]["optional-dependencies"]
    assert {extra for each in _EXTRAS.findall(text) for extra in each.split(",")} <= set(extras)
    makefile = (ROOT / "Makefile").read_text(encoding="utf8")
    assert [target for target in _TARGET.findall(text) if f"\n{target}:" not in makefile] == []


@pytest.mark.parametrize("page", [page for page in PAGES if "```yaml\n" in page.read_text(encoding="utf8")], ids=_name)
def test_plans_that_are_shown_can_be_read(page: Path) -> None:
    shown = [block for kind, block in _FENCE.findall(page.read_text(encoding="utf8")) if kind == "yaml"]
    for block in shown:
        assert read(yaml.safe_load(block)).table.columns
