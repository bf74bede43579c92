"""What pages show as commands: every block has a known kind, and every command, option, extra and target is there."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from optcomp.cli.main import app
from optcomp.errors import OptcompError
from optcomp.planner import read

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])
RUN = ("docs/center.md", "docs/operations.md", "docs/how-to/")
"""Pages whose bash blocks run as one program."""
KINDS = {"python", "console", "bash", "sh", "text", "output", "yaml", "csv", "math", "py"}
"""python, console and bash run; sh is looked up here; text is compared with what runs before it; output is what one
run has printed; yaml is a plan; csv is a list of mechanisms; math is drawn; py is a signature of a reference."""
_FENCE = re.compile(r"^```(\w*)(?: opacus| jax-privacy| flower)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HIDDEN = re.compile(r"^[ >]+(?:```|~~~)(\w+)", re.MULTILINE)
"""A block in a list or a quotation, where no test looks for it."""
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
    here = _program()
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


@cache
def _program() -> Any:
    return get_command(app)


def _alternatives(word: str, group: Any) -> set[str]:
    """The commands of a group; `a|b` stands for both."""
    known = set(group.commands)
    return known | ({word} if set(word.split("|")) <= known else set())


def _default(group: Any, words: list[str]) -> Any:
    """`optcomp plan FILE` is `optcomp plan show FILE`."""
    return group.commands.get("show") if re.search(r"[./]|^[A-Z]", words[0]) else None


def problems(name: str, text: str) -> Iterator[str]:
    """Everything that is wrong with what a page shows."""
    blocks = _FENCE.findall(text)
    yield from (f"{each}: {wrong}" for each in commands(text) if (wrong := problem(each)))
    yield from wrong_kinds(name, {kind for kind, _ in blocks}, set(_HIDDEN.findall(text)))
    lines = [line for kind, block in blocks if kind == "console" for line in block.splitlines() if line[:2] == "$ "]
    yield from (f"{line}: not tested" for line in lines if not line.startswith(("$ optcomp ", "$ make ")))
    shown = [line.split()[2] for line in lines if line.startswith("$ make ")]
    yield from (f"no target {each}" for each in (*shown, *_TARGET.findall(text)) if f"\n{each}:" not in _makefile())
    extras = {extra for each in _EXTRAS.findall(text) for extra in each.split(",")}
    yield from (f"no extra {each}" for each in sorted(extras - _extras()))
    yield from (wrong for kind, block in blocks if kind == "yaml" for wrong in plan_problems(block))


def wrong_kinds(name: str, kinds: set[str], hidden: set[str]) -> Iterator[str]:
    """Kinds of blocks that no test looks at, or not on this page."""
    yield from (f"a block of kind {each!r}" for each in sorted(kinds - KINDS))
    yield from (f"a block of kind {each!r} in a list, where it is not tested" for each in sorted(hidden - {"math"}))
    if "bash" in kinds and not name.startswith(RUN):
        yield "bash, on a page whose commands do not run"
    if "py" in kinds and Path(name).parent.name != "reference":
        yield "py, on a page that is no reference"


def plan_problems(block: str) -> Iterator[str]:
    """Why a plan that is shown cannot be read."""
    try:
        if not read(yaml.safe_load(block)).table.columns:
            yield "a plan without columns"
    except (OptcompError, yaml.YAMLError) as error:
        yield f"a plan that cannot be read: {error}"


@cache
def _makefile() -> str:
    return (ROOT / "Makefile").read_text(encoding="utf8")


@cache
def _extras() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
    return set(project["optional-dependencies"])


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_what_a_page_shows_is_there(page: Path) -> None:
    assert list(problems(_name(page), page.read_text(encoding="utf8"))) == []


def test_commands_that_are_not_there_are_noticed() -> None:
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


PLAN = """plan: 1
data: {rows: 10}
columns: {age: {integers: [0, 99]}}
budget: {epsilon: 1}
statistics: {all: {count: rows}}
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Say `optcomp forget FILE`.\n", ["optcomp forget FILE: no command 'forget'"]),
        ("```ruby\nputs 1\n```\n", ["a block of kind 'ruby'"]),
        ("- then\n\n  ```bash\n  ls\n  ```\n", ["a block of kind 'bash' in a list, where it is not tested"]),
        ("- then\n\n  ```math\n  1\n  ```\n", []),
        ("```bash\nls\n```\n", ["bash, on a page whose commands do not run"]),
        ("```py\ncompose()\n```\n", ["py, on a page that is no reference"]),
        ("```console\n$ ls\na\n$ make test\n$ optcomp --version\n```\n", ["$ ls: not tested"]),
        ("```console\n$ make coffee\n```\nor `make tea`\n", ["no target coffee", "no target tea"]),
        ("`pip install '.[data,tea]'`\n", ["no extra tea"]),
        (f"```yaml\n{PLAN}```\n", []),
        (f"```yaml\n{PLAN.replace('epsilon', 'epsilom')}```\n", ["a plan that cannot be read: budget"]),
        ("```yaml\n]\n```\n```ruby\n```\n", ["a block of kind 'ruby'", "a plan that cannot be read: while parsing"]),
    ],
    ids=range(12),
)
def test_what_is_wrong_is_noticed(text: str, found: list[str]) -> None:
    """And all of it, not only the first."""
    told = list(problems("docs/page.md", text))
    assert len(told) == len(found)
    assert all(wrong.startswith(start) for wrong, start in zip(told, found, strict=True)), told


def test_where_a_block_may_stand_depends_on_the_page() -> None:
    assert list(problems("docs/how-to/page.md", "```bash\nls\n```\n")) == []
    assert list(problems("docs/reference/page.md", "```py\ncompose()\n```\n")) == []
