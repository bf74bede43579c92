"""Words of the field, each in one plain sentence: as a page, and where they are used."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from optcomp.pages.access import PageRoute, open_to_all
from optcomp.pages.rendering import page
from optcomp.pages.words import words

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/glossary")
@open_to_all
def glossary(request: Request) -> Response:
    """All of them, in the order of the alphabet."""
    names = sorted(words().below("glossary.name"), key=lambda key: words().below("glossary.name")[key].lower())
    return page(request, "glossary.html", terms=names)
