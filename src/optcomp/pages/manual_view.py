"""What the templates of the documentation are told about a page."""

from __future__ import annotations

from functools import partial
from typing import Any

from optcomp.pages.manual import INDEX, SEARCH, Manual, seen_from
from optcomp.pages.words import words


def page_view(found: Manual, address: str) -> dict[str, Any] | None:
    """A page by its address, or None; all links are relative, so they hold on a server and in a folder."""
    page = found.pages.get(address)
    if page is None and address != SEARCH:
        return None
    return {
        "address": address,
        "title": words()("manual.found_title") if page is None else page.title,
        "page": page,
        "pages": sorted(found.pages.items(), key=lambda item: item[1].title.lower()) if page is None else (),
        "steps": found.steps(address),
        "shelves": found.shelves(address),
        "to": partial(seen_from, address),
        "search": SEARCH,
        "index": INDEX,
    }
