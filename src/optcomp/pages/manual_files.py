"""Which files the documentation is made of, and under which addresses they are shown.

A checkout has them where they were written.  A wheel carries copies of them: `setup.py` reads this module by its path,
so it imports nothing but the standard library.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

COPIES = "manual"
"""The folder of this package that holds the copies in a wheel."""
FIRST = "docs/README.md"
"""The page that everything begins with: the map."""
_ALWAYS = ("docs/**/*.md", "docs/**/*.ipynb", "CHANGELOG.md", "CONTRIBUTING.md", "bench/results.md")
"""Pages that are there whether or not somebody links to them."""
PAGES = (".md", ".ipynb")
"""What is written as a page."""
PICTURES = (".png",)
"""What pages show."""
_TEXTS = (".py", ".toml", ".yaml", ".service", "Containerfile")
"""What is shown as it is, on a page of its own."""
_PLAIN = (".json",)
"""What is handed out as it is."""
_LINK = re.compile(r"\]\(([^()\s#:]+)(?:#[^()\s]*)?\)")
"""The target of a link or picture in Markdown that is a file."""
_OUTSIDE = "more"
"""What is not below docs/ is shown below this address."""


def root() -> Path | None:
    """The folder that holds docs/ and the rest: that of a wheel, else that of the checkout; None without either."""
    here = Path(__file__).parent
    return next((place for place in (here / COPIES, here.parents[2]) if (place / FIRST).is_file()), None)


def manual_files(place: Path) -> list[str]:
    """All files of the documentation, as paths below `place`: its pages, and what they link to."""
    found = {path.relative_to(place).as_posix() for pattern in _ALWAYS for path in place.glob(pattern)}
    waiting = list(found)
    while waiting:
        name = waiting.pop()
        fresh = {each for each in linked(place, name) if _is_shown(each) and (place / each).is_file()} - found
        found |= fresh
        waiting += fresh
    return sorted(found)


def copy_manual(place: Path, target: Path) -> None:
    """Copy all files of the documentation to where a wheel has them; what was there before is gone."""
    shutil.rmtree(target, ignore_errors=True)
    for name in manual_files(place):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(place / name, target / name)


def linked(place: Path, name: str) -> Iterator[str]:
    """What a page links to, as paths below `place`; for a folder, the files in it."""
    if not name.endswith(PAGES):
        return
    for target in _LINK.findall(_text(place / name)):
        path = joined(name, target)
        if path is not None and (place / path).is_dir():
            yield from (each.relative_to(place).as_posix() for each in sorted((place / path).iterdir()))
        elif path is not None:
            yield path


def _text(path: Path) -> str:
    """The Markdown of a page."""
    text = path.read_text(encoding="utf8")
    if path.suffix != ".ipynb":
        return text
    return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown")


def joined(name: str, target: str) -> str | None:
    """The path that a link of a page means; None where it leaves the folder."""
    parts = list(PurePosixPath(name).parent.parts)
    for part in PurePosixPath(target).parts:
        if part == ".." and not parts:
            return None
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/".join(parts)


def _is_shown(name: str) -> bool:
    return name.endswith((*PAGES, *PICTURES, *_TEXTS, *_PLAIN))


def is_page(name: str) -> bool:
    """Whether a file is shown as a page, and not handed out as it is."""
    return name.endswith((*PAGES, *_TEXTS))


def address(name: str) -> str:
    """Where a file is shown, below /docs/; the front page of the repository is the map."""
    name = FIRST if name == "README.md" else name
    shown = name.removeprefix("docs/") if name.startswith("docs/") else f"{_OUTSIDE}/{name}"
    if not is_page(name):
        return shown
    folder, _, last = shown.rpartition("/")
    stem = "index" if last == "README.md" else last.removesuffix(".md").removesuffix(".ipynb")
    return f"{folder}/{stem}.html" if folder else f"{stem}.html"
