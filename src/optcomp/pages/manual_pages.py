"""The documentation on the server, below /docs: open to everyone, and without a request to another host."""

from __future__ import annotations

from functools import cache

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from optcomp.pages.access import PageRoute, open_to_all
from optcomp.pages.manual import INDEX, manual, search_index
from optcomp.pages.manual_view import page_view
from optcomp.pages.rendering import page

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_TYPES = {"png": "image/png", "json": "application/json", "js": "text/javascript; charset=utf-8"}
"""What a file is, by its ending; there are no others."""


@cache
def _index() -> bytes | None:
    """What the search looks through: all pages are made for it, once."""
    found = manual()
    return None if found is None else search_index(found).encode()


@router.get("/docs")
@open_to_all
def documentation(request: Request) -> Response:
    """The map."""
    return RedirectResponse("/docs/index.html", status_code=307)


@router.get("/docs/{address:path}")
@open_to_all
def documentation_page(request: Request, address: str) -> Response:
    """A page, a picture or a file."""
    found = manual()
    if found is None:
        return page(request, "manual_missing.html", status=404)
    view = page_view(found, address)
    if view is not None:
        return page(request, "manual.html", **view)
    content = _index() if address == INDEX else found.files.get(address)
    if content is None:
        raise HTTPException(404)
    return Response(content, media_type=_TYPES[address.rpartition(".")[2]], headers={"Cache-Control": "no-cache"})
