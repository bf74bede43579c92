"""Templates become responses here: what every page is told, and the headers that every page has.

The policy allows scripts, styles and pictures of this server and nothing else: no inline script, no inline style, no
other host.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

import optcomp
from optcomp.center import Visit
from optcomp.pages.numbers import FILTERS
from optcomp.pages.words import Words, wanted_language, words

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""What a browser may load for a page."""
THEME = "optcomp_theme"
"""The cookie that holds the colours somebody chose."""
THEMES = ("auto", "light", "dark")
"""What may be chosen."""


@cache
def environment() -> Environment:
    """What templates are read by."""
    made = Environment(
        loader=PackageLoader("optcomp.pages"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= FILTERS
    made.globals["asset"] = asset
    return made


@cache
def asset(name: str) -> str:
    """The address of a file of ours; it changes with the file, so that browsers may keep it for ever."""
    content = (files(__package__) / "assets" / name).read_bytes()
    return f"/assets/{name}?v={sha256(content).hexdigest()[:12]}"


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A whole page."""
    return HTMLResponse(rendered(request, template, values), status, _headers())


def rendered(request: Request, template: str, values: Mapping[str, Any]) -> str:
    """The text of a page."""
    visit = visit_of(request)
    theme = request.cookies.get(THEME)
    shared = {
        "t": words_for(request),
        "person": None if visit is None else visit.person,
        "proof_field": partial(_proof_field, visit),
        "center": request.app.state.service.settings.name,
        "theme": theme if theme in THEMES else "auto",
        "themes": THEMES,
        "here": request.url.path,
        "version": optcomp.__version__,
    }
    return environment().get_template(template).render(shared | dict(values))


def _proof_field(visit: Visit | None) -> Markup:
    """What every form that changes something holds."""
    return Markup('<input type="hidden" name="proof" value="{}">').format("" if visit is None else visit.proof)


def words_for(request: Request) -> Words:
    """The sentences in the language that a browser asks for, if there is one."""
    return words(wanted_language(request.headers.get("accept-language", "")))


def visit_of(request: Request) -> Visit | None:
    """Who is signed in, if anybody is."""
    return getattr(request.state, "visit", None)


def _headers() -> dict[str, str]:
    # without a referrer browsers call the origin of our own forms null
    return {"Content-Security-Policy": POLICY, "Cache-Control": "no-store", "Referrer-Policy": "same-origin"}
