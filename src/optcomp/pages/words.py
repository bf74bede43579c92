"""All sentences that pages show, in one catalogue: a folder for each language, with a file for each part of the site.

Templates hold no sentences, so that another language is another folder.  A sentence may have places, `{name}`, that are
filled in; whatever fills them is escaped unless it is markup of our own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Any

from markupsafe import Markup, escape

DEFAULT = "en"
"""The language of whoever asks for none that we have."""


class NoSuchSentence(KeyError):
    """A template names a sentence that the catalogue lacks."""


class Words:
    """The sentences of one language."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._sentences = dict(_sentences(language))
        self._escaped = {key: Markup(escape(text)) for key, text in self._sentences.items()}
        self._parts: dict[str, tuple[tuple[str, str | None], ...] | None] = {}

    def __call__(self, key: str, **places: Any) -> Markup:
        """A sentence, with its places filled in."""
        try:
            text = self._escaped[key]
        except KeyError:
            raise NoSuchSentence(key) from None
        if not places:
            return text
        if key not in self._parts:
            self._parts[key] = _plain_parts(text)
        parts = self._parts[key]
        if parts is None:
            return text.format(**places)
        return Markup("".join(before if name is None else f"{before}{escape(places[name])}" for before, name in parts))

    def __contains__(self, key: str) -> bool:
        return key in self._sentences

    def __iter__(self) -> Iterator[str]:
        return iter(self._sentences)

    def below(self, key: str) -> dict[str, str]:
        """All sentences below a key, by the last part of their names."""
        start = f"{key}."
        return {name.removeprefix(start): text for name, text in self._sentences.items() if name.startswith(start)}


def _plain_parts(text: Markup) -> tuple[tuple[str, str | None], ...] | None:
    """What is before each place, and its name; None if a place says how it is to be written, which `format` knows."""
    parts = list(Formatter().parse(str(text)))
    if any(form or turn or not (name is None or name.isidentifier()) for _, name, form, turn in parts):
        return None
    return tuple((before, name) for before, name, _, _ in parts)


@cache
def words(language: str = DEFAULT) -> Words:
    """The catalogue of a language."""
    return Words(language)


@cache
def languages() -> tuple[str, ...]:
    """The languages there are."""
    return tuple(sorted(folder.name for folder in _FOLDER.iterdir() if folder.is_dir()))


def wanted_language(accepted: str) -> str:
    """The first language of an Accept-Language header that there is."""
    for part in accepted.split(",")[:20]:
        name = part.partition(";")[0].strip().lower().partition("-")[0]
        if name in languages():
            return name
    return DEFAULT


_FOLDER = files(__package__) / "words"


def _sentences(language: str) -> Iterator[tuple[str, str]]:
    for file in sorted((_FOLDER / language).iterdir(), key=lambda each: each.name):
        if file.name.endswith(".toml"):
            yield from _flat(file.name.removesuffix(".toml"), tomllib.loads(file.read_text(encoding="utf8")))


def _flat(prefix: str, found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in found.items():
        key = f"{prefix}.{name}"
        if isinstance(value, dict):
            yield from _flat(key, value)
        else:
            yield key, " ".join(str(value).split())
