"""The application with its pages: the centre's interface, and what people see of it."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from optcomp.center import Settings, made_from_environment
from optcomp.center import make_app as make_interface
from optcomp.pages import (
    auditor,
    calculator,
    desk,
    desk_files,
    desk_mechanisms,
    desk_questions,
    entrance,
    glossary,
    manual_pages,
    office,
    office_jobs,
    office_people,
    office_register,
    office_slots,
    office_versions,
    planner,
    planner_cart,
    planner_editor,
)
from optcomp.pages.access import PageRoute, found_visit, open_to_all, problem_of
from optcomp.pages.rendering import page

_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
"""What a file of ours is, by its ending; there are no others."""
_KEPT = "public, max-age=31536000, immutable"
"""The address of a file changes with the file."""
PARTS = (
    entrance,
    glossary,
    manual_pages,
    calculator,
    planner,
    planner_cart,
    planner_editor,
    desk,
    desk_questions,
    desk_files,
    desk_mechanisms,
    office,
    office_jobs,
    office_people,
    office_register,
    office_slots,
    office_versions,
    auditor,
)
"""Modules with a router of pages."""

_assets = APIRouter(route_class=PageRoute, include_in_schema=False)


def make_app(settings: Settings) -> FastAPI:
    """The centre of this home, with its pages."""
    app = make_interface(settings, calculates=True)
    app.include_router(_assets)
    for part in PARTS:
        app.include_router(part.router)
    _show_missing_pages(app)
    return app


def _show_missing_pages(app: FastAPI) -> None:
    """What is no address of ours is told in HTML, but below /api."""
    told_as_json = app.exception_handlers[HTTPException]

    async def missing(request: Request, error: Any) -> Response:
        problem = problem_of(error)
        if problem is None or request.url.path.startswith("/api/"):
            found: Response = await told_as_json(request, error)  # type: ignore[misc]
            return found
        request.state.visit = await run_in_threadpool(found_visit, request)
        return page(request, "problem.html", status=problem.status, problem=problem)

    app.add_exception_handler(HTTPException, missing)


def from_environment() -> FastAPI:
    """The same for worker processes, which find the home in their environment."""
    return made_from_environment(make_app)


@_assets.get("/assets/{name}")
@open_to_all
def asset_file(request: Request, name: str) -> Response:
    """A style, a script or a picture of ours."""
    ending = name[name.rfind(".") :]
    found = {file.name: file for file in (files(__package__) / "assets").iterdir()}.get(name)
    if found is None or ending not in _TYPES:
        raise HTTPException(404, "There is no such file.")
    return Response(found.read_bytes(), media_type=_TYPES[ending], headers={"Cache-Control": _KEPT})
