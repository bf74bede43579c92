"""Markdown becomes HTML here: headings with anchors, formulas as MathML, coloured code, tables and pictures.

Nothing of it needs a script, an inline style or another host.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from optcomp.pages.words import words

Resolve = Callable[[str], str | None]
"""The address that a link of a page means, seen from that page; None where there is nothing to link to."""
_INDEX = r"(\{[^{}]*\}|[^\W_]\b)"
_SPAN = re.compile(rf"(?:(?<!\w)([^\W\d_](?:'|[²³])?|\d+)|([)\]|]))(?:_{_INDEX}|\^{_INDEX})")
"""A letter with an index below or above it, as formulas within a sentence are written: ε_i, e^{y−L}."""
_DOLLARS = re.compile(r"(\$\$?)(.+?)\1", re.DOTALL)
"""A formula between dollar signs."""
_FORMATTER = HtmlFormatter(nowrap=True, classprefix="hl-")
"""Colours are classes of our own style sheet."""
_NOT_CODE = ("", "text")
"""Blocks that show what was printed."""


@dataclass(frozen=True)
class Section:
    """A part of a page below one heading."""

    anchor: str
    title: str
    depth: int
    text: str


@dataclass(frozen=True)
class Rendered:
    """A page as HTML, with what other pages need to know of it."""

    title: str
    html: Markup
    sections: tuple[Section, ...]
    links: tuple[str, ...]
    """Addresses that it links to or shows, as they stand in the HTML."""


def rendered(text: str, resolve: Resolve = lambda target: target, *, dollars: bool = False) -> Rendered:
    """A page of Markdown; `dollars`: formulas stand between dollar signs, as in notebooks."""
    parser = _parser()
    if dollars:
        parser.inline.ruler.before("escape", "dollars", _between_dollars)
    tokens = parser.parse(text)
    sections = tuple(_sections(tokens))
    links: list[str] = []
    _point(tokens, resolve, links)
    html = Markup(parser.renderer.render(tokens, parser.options, {}))
    return Rendered(sections[0].title if sections else "", html, sections, tuple(links))


def source_page(name: str, text: str) -> Rendered:
    """A file that is shown as it is."""
    lexer = {"py": "python", "toml": "toml", "yaml": "yaml", "service": "ini"}.get(name.rpartition(".")[2], "docker")
    html = Markup("<h1>{}</h1>\n").format(name) + Markup(_code(text, lexer))
    return Rendered(name, html, (Section("", name, 1, ""),), ())


def _parser() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    for kind in ("fence", "code_block", "text", "table_open", "table_close", "heading_close", "image", "dollars"):
        made.add_render_rule(kind, globals()[f"_show_{kind}"])
    return made


def anchor_of(title: str) -> str:
    """As GitHub makes it: lower case, hyphens for spaces, no punctuation."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _sections(tokens: Sequence[Token]) -> Iterator[Section]:
    """Every heading, which gets its anchor here, with the text below it."""
    found: list[tuple[str, str, int, list[str]]] = []
    used: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            title = _plain(tokens[place + 1])
            anchor = anchor_of(title)
            number = used[anchor] = used.get(anchor, -1) + 1
            anchor = f"{anchor}-{number}" if number else anchor
            token.attrSet("id", anchor)
            found.append((anchor, title, int(token.tag[1]), []))
        elif found and token.type in ("inline", "fence", "code_block") and tokens[place - 1].type != "heading_open":
            found[-1][3].append(_plain(token))
    for anchor, title, depth, texts in found:
        yield Section(anchor, title, depth, " ".join(texts))


def _plain(token: Token) -> str:
    """The words of a token."""
    if token.type != "inline":
        return token.content
    kept = [" " if each.type in ("softbreak", "hardbreak") else each.content for each in token.children or ()]
    return "".join(kept)


def _point(tokens: Sequence[Token], resolve: Resolve, links: list[str]) -> None:
    """Turn links to files into links to pages."""
    for token in tokens:
        _point(token.children or (), resolve, links)
        name = {"link_open": "href", "image": "src"}.get(token.type)
        if name is None:
            continue
        target = resolve(str(token.attrGet(name) or ""))
        if target is None:
            token.attrs.pop(name)  # what has no page is named, and not linked
        else:
            token.attrSet(name, target)
            links.append(target)


def _show_text(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    return _SPAN.sub(_raised, escape(tokens[place].content, quote=False))


def _raised(found: re.Match[str]) -> str:
    letter, bracket, below, above = found.groups()
    mark, index = ("sub", below) if below else ("sup", above)
    index = index[1:-1] if index.startswith("{") else index
    base = bracket or (f"<var>{letter}</var>" if not letter.isdigit() else letter)
    return f"{base}<{mark}>{_SPAN.sub(_raised, index)}</{mark}>"


def _show_fence(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    kind, _, _ = tokens[place].info.strip().partition(" ")  # a second word says which environment runs the block
    text = tokens[place].content
    return _formula(text) if kind == "math" else _code(text, kind)


def _show_code_block(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    return _code(tokens[place].content, "")


def _between_dollars(state: StateInline, silent: bool) -> bool:
    """`$x$` within a sentence, `$$x$$` on a line of its own."""
    found = _DOLLARS.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        token = state.push("dollars", "math", 0)
        token.content, token.markup = found[2], found[1]
    state.pos = found.end()
    return True


def _show_dollars(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    if tokens[place].markup == "$$":
        return _formula(tokens[place].content, "span")
    return convert(" ".join(tokens[place].content.split()), display="inline")


def _formula(text: str, tag: str = "div") -> str:
    """MathML, in a frame that scrolls by itself if the window is narrow."""
    shown = convert(" ".join(text.split()), display="block")
    named = words()("manual.formula")
    return f'<{tag} class="formula" tabindex="0" role="group" aria-label="{named}">{shown}</{tag}>\n'


def _code(text: str, kind: str) -> str:
    try:
        shown = escape(text) if kind in _NOT_CODE else highlight(text, get_lexer_by_name(kind), _FORMATTER)
    except ClassNotFound:
        shown = escape(text)
    return f'<pre tabindex="0"><code>{shown}</code></pre>\n'


def _show_table_open(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    return f'<div class="wide" tabindex="0" role="group" aria-label="{words()("manual.table")}"><table>\n'


def _show_table_close(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    return "</table></div>\n"


def _show_heading_close(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    """A heading ends with a link to itself."""
    head = tokens[place - 2]
    if head.tag == "h1":
        return "</h1>\n"
    named = escape(words()("manual.here", title=_plain(tokens[place - 1])))
    return f' <a class="here" href="#{head.attrGet("id")}" aria-label="{named}">#</a></{head.tag}>\n'


def _show_image(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    token = tokens[place]
    named = escape(self.renderInlineAsText(token.children or [], options, env))
    return f'<img src="{escape(str(token.attrGet("src") or ""))}" alt="{named}" loading="lazy">'
