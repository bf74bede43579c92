"""The documentation as a whole: every page rendered, every file at hand, and what a search looks through.

A page is made from its Markdown when somebody first asks for it, once in a process; the search needs all of them.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from urllib.parse import unquote

from optcomp.pages.manual_files import FIRST, PICTURES, address, is_page, joined, manual_files, root
from optcomp.pages.manual_map import Shelf, Step, read_map, steps
from optcomp.pages.manual_notebooks import notebook_text
from optcomp.pages.manual_text import Rendered, rendered, source_page
from optcomp.pages.words import words

INDEX = "search-index.js"
"""What the search loads: a file of data that a page can load without a server."""
SEARCH = "search.html"
"""The page that shows what was found."""
_WORD = re.compile(r"[^\W_]+")
"""What is looked for: letters and digits.  The script that searches splits words in the same way."""
_BEGINNING = 180
"""Letters of a section that are shown where it was found."""
_OFTEN = 4
"""A word that comes so often in a section belongs there; more often says no more."""
_BEHIND, _NOT_SEARCHED = ("more/", "decisions/", "index.html"), ("images/", "more/src/", "more/tests/")
"""Pages for maintainers, and the map, are told after the others; pages of pictures and sources not at all."""
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Within a name such as SparseVector."""


@dataclass(frozen=True)
class Manual:
    """All pages and files, by their addresses below /docs/."""

    pages: Mapping[str, Rendered]
    files: dict[str, bytes]
    map: tuple[Shelf, ...]
    """Its targets are addresses."""
    missing: list[tuple[str, str]]
    """Links that lead to nothing, of pages that were made: the page, and what it names."""

    def steps(self, page: str) -> tuple[Step, ...]:
        """Where a page stands on the paths of the map."""
        return steps(self.map, page)

    def shelves(self, page: str) -> list[tuple[str, bool, list[tuple[str, str, bool]]]]:
        """The map as it is seen from a page: titles, and links with whether they lead to this page."""
        return [
            (
                shelf.title,
                shelf.is_path,
                [(each.title, seen_from(page, each.target), each.target == page) for each in shelf.entries],
            )
            for shelf in self.map
        ]


@cache
def manual() -> Manual | None:
    """The documentation of this installation; None if it came without."""
    place = root()
    return None if place is None else made(place)


def made(place: Path) -> Manual:
    """The documentation below a folder."""
    maker = _Maker(place)
    for name in maker.names:
        maker.add(name)
    shelves = read_map((place / FIRST).read_text(encoding="utf8"))
    return Manual(_Late(maker.pages), maker.files, tuple(map(_placed, shelves)), maker.missing)


class _Late(Mapping[str, Rendered]):
    """Pages that are made when they are first asked for."""

    def __init__(self, makers: dict[str, Callable[[], Rendered]]) -> None:
        self._makers, self._made = makers, dict[str, Rendered]()

    def __getitem__(self, address: str) -> Rendered:
        if address not in self._made:
            self._made[address] = self._makers[address]()
        return self._made[address]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


class _Maker:
    """What is known while the pages are made."""

    def __init__(self, place: Path) -> None:
        self.place, self.names = place, manual_files(place)
        self.shown = {name: address(name) for name in self.names} | {"README.md": address(FIRST)}
        self.pages: dict[str, Callable[[], Rendered]] = {}
        self.files: dict[str, bytes] = {}
        self.missing: list[tuple[str, str]] = []
        for folder in {name.rpartition("/")[0] for name in self.names if name.endswith(PICTURES)}:
            gallery = address(f"{folder}/README.md")
            self.shown[folder] = gallery
            names = [name for name in self.names if name.rpartition("/")[0] == folder]
            self.pages[gallery] = partial(_pictures, names)

    def add(self, name: str) -> None:
        """A file, as a page or as it is."""
        shown = address(name)
        if not is_page(name):
            self.files[shown] = (self.place / name).read_bytes()
        elif name.endswith(".md"):
            self.pages[shown] = lambda: rendered(self.text(name), partial(self.resolved, name))
        elif name.endswith(".ipynb"):
            self.add_notebook(name)
        else:
            self.pages[shown] = lambda: source_page(name, self.text(name))

    def text(self, name: str) -> str:
        """What is in a file."""
        return (self.place / name).read_text(encoding="utf8")

    def add_notebook(self, name: str) -> None:
        """A notebook, with its pictures beside it."""
        shown = address(name)
        text, pictures = notebook_text(self.text(name), posixpath.basename(shown).removesuffix(".html"))
        self.shown |= {joined(name, each) or each: seen_from_above(shown, each) for each in pictures}
        self.files |= {seen_from_above(shown, each): data for each, data in pictures.items()}
        self.pages[shown] = lambda: rendered(text, partial(self.resolved, name), dollars=True)

    def resolved(self, name: str, target: str) -> str | None:
        """The address that a link of a file means, seen from the page of that file."""
        if ":" in target or target.startswith("#"):
            return target
        path, mark, anchor = target.partition("#")
        wanted = joined(name, unquote(path))
        if wanted is not None and wanted in self.shown:
            return seen_from(address(name), self.shown[wanted]) + mark + anchor
        if wanted is None or not (self.place / wanted).exists():
            self.missing.append((name, target))
        return None


def _pictures(names: list[str]) -> Rendered:
    """The page that shows all pictures of a folder."""
    files = [name.rpartition("/")[2] for name in names]
    parts = [f"# {words()('manual.pictures')}", *(f"## {file}\n\n![{file}]({file})" for file in files)]
    return rendered("\n\n".join(parts))


def _placed(shelf: Shelf) -> Shelf:
    """A section of the map with addresses in the place of files."""
    return replace(shelf, entries=tuple(replace(each, target=_address_of(each.target)) for each in shelf.entries))


def _address_of(target: str) -> str:
    path, mark, anchor = target.partition("#")
    return f"{address(joined(FIRST, path) or '')}{mark}{anchor}"


def seen_from_above(page: str, name: str) -> str:
    """The address of what is beside a page."""
    return posixpath.join(posixpath.dirname(page), name)


def seen_from(page: str, target: str) -> str:
    """An address below /docs/ as a link on one of its pages: it holds on a server and in a folder."""
    path, mark, anchor = target.partition("#")
    found = posixpath.relpath(path, posixpath.dirname(page) or ".") if path else ""
    return f"{found}{mark}{anchor}"


def search_index(found: Manual) -> str:
    """Every section with its beginning, and for every word the sections that have it: a script that holds data."""
    sections: list[list[str]] = []
    places: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for page, content in found.pages.items():
        if page.startswith(_NOT_SEARCHED):
            continue
        share = 1 if page.startswith(_BEHIND) else 2
        for section in content.sections:
            title = "" if section.title == content.title else section.title
            for word, weight in _weights(content.title, title, section.text).items():
                places[word][len(sections)] = share * weight
            mark = f"#{section.anchor}" if section.anchor and title else ""
            sections.append([f"{page}{mark}", content.title, title, section.text[:_BEGINNING]])
    whole = {word: [each for pair in counts.items() for each in pair] for word, counts in sorted(places.items())}
    told = json.dumps({"sections": sections, "words": whole}, ensure_ascii=False, separators=(",", ":"))
    return f"self.optcompIndex = {told};\n"


def _weights(page: str, title: str, text: str) -> dict[str, int]:
    """The words of a section: those of its title weigh most, then those of its page, then those that come often."""
    counts = Counter(_WORD.findall(text.lower()))
    found = {word: min(count, _OFTEN) for word, count in counts.items()}
    found |= {word: found.get(word, 0) + 2 * _OFTEN for word in _title_words(page)}
    return found | {word: found.get(word, 0) + 4 * _OFTEN for word in _title_words(title or page)}


def _title_words(title: str) -> list[str]:
    """Names of several words are found by each of them too."""
    return _WORD.findall(f"{title} {_HUMP.sub(' ', title)}".lower())
