"""Somebody with a browser that has no scripts: cookies, forms with their hidden fields, redirects on request."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import httpx

from tests.unit.center.served import URL, Served


class _Fields(HTMLParser):
    """All hidden fields of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "input" and given.get("type") == "hidden":
            self.found[given.get("name") or ""] = given.get("value") or ""


class Visitor:
    """A person's browser."""

    def __init__(self, centre: Served, who: str | None = None, **headers: str) -> None:
        self._centre, self.cookies = centre, httpx.Cookies()
        self.headers = headers
        if who is not None:
            found = self.post("/sign-in", {"token": centre.tokens[who], "next": "/"})
            assert found.status_code == 303, found.text

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self._asked("GET", path, **more)

    def post(self, path: str, fields: dict[str, Any], *, page: str | None = None, **more: Any) -> httpx.Response:
        """Send a form; the hidden fields of `page` are sent along."""
        hidden = {} if page is None else hidden_fields(self.get(page).text)
        return self._asked("POST", path, data=hidden | fields, **more)

    def proof(self) -> str:
        """What every form of this visit sends back."""
        return hidden_fields(self.get("/").text)["proof"]

    def _asked(self, method: str, path: str, **more: Any) -> httpx.Response:
        async def asked() -> httpx.Response:
            transport = self._centre.transport
            async with httpx.AsyncClient(transport=transport, base_url=URL, cookies=self.cookies) as client:
                found = await client.request(method, path, headers=self.headers | more.pop("headers", {}), **more)
                self.cookies = client.cookies
                return found

        return self._centre.wait(asked())


def hidden_fields(text: str) -> dict[str, str]:
    """Names and values."""
    reader = _Fields()
    reader.feed(text)
    return reader.found


def words_of(text: str) -> str:
    """What a page says, without its marks."""
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())
