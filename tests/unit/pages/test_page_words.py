"""All sentences are in the catalogue: templates hold none, name none that is missing, and none is left over."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from optcomp.pages.words import NoSuchSentence, Words, languages, wanted_language, words

FOLDER = Path(str(files("optcomp.pages")))
TEMPLATES = sorted((FOLDER / "templates").glob("*.html"))
_CODE = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_MARKS = re.compile(r"<[^>]*>|&\w+;|[\w-]+=\"[^\"]*\"", re.DOTALL)
_CALLED = re.compile(r"\b(?:t|words\(\)|words_for\(request\))\(\s*['\"]([\w.]+)['\"]\s*([~+]?)")
_ATTRIBUTES = re.compile(r"(?:title|alt|placeholder|aria-label)=\"([^\"]*)\"")


def left(text: str) -> str:
    """What of a template is neither mark nor blank."""
    return " ".join(re.findall(r"[^\W\d_]{2,}", _MARKS.sub(" ", _CODE.sub("", text))))


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_a_template_holds_no_sentence(template: Path) -> None:
    text = template.read_text(encoding="utf8")
    assert left(text) == ""
    for value in _ATTRIBUTES.findall(re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "", text, flags=re.DOTALL)):
        assert not re.search(r"[^\W\d_]{2,}", value), value


def test_a_sentence_in_a_template_would_be_noticed() -> None:
    assert left("<p>{{ t('a.b') }} and more</p>") == "and more"


def named() -> tuple[set[str], set[str]]:
    """Names of sentences that templates and modules use, and beginnings of names that they complete."""
    texts = [path.read_text(encoding="utf8") for path in [*TEMPLATES, *FOLDER.glob("*.py")]]
    called = [found for text in texts for found in _CALLED.findall(text)]
    return {name for name, more in called if not more}, {name for name, more in called if more}


def test_every_sentence_that_is_named_is_there() -> None:
    whole, begun = named()
    assert len(whole) > 20
    assert {name for name in whole if name not in words()} == set()
    assert {name for name in begun if not any(each.startswith(name) for each in words())} == set()


def test_languages() -> None:
    assert languages() == ("en",)
    for language in languages():
        assert set(Words(language)) == set(words())
    assert wanted_language("de-CH,fr;q=0.5") == "en"
    assert wanted_language("en-GB") == "en"


def test_what_fills_a_place_is_escaped() -> None:
    assert str(words()("site.signed_in", name="<b>", role="x")) == "&lt;b&gt;, x"
    with pytest.raises(NoSuchSentence):
        words()("site.nothing")


def test_every_term_has_a_meaning() -> None:
    assert set(words().below("glossary.name")) == set(words().below("glossary.meaning"))
