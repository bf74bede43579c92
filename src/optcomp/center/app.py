"""The centre's HTTP interface: FastAPI, described at /api/openapi.json, with no page of another host."""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from optcomp.extras import needed

needed("fastapi", "center")  # looked for here, so that its absence is told in one place

from fastapi import FastAPI, Request, Response
from fastapi.responses import PlainTextResponse

import optcomp
from optcomp.center import api_analyst, api_audit, api_owner, api_releases, api_sources, releases, replies
from optcomp.center.clock import OnClock
from optcomp.center.logs import log_as_json
from optcomp.center.problems import add_handlers
from optcomp.center.processes import keep_loaded
from optcomp.center.protection import Protection
from optcomp.center.readiness import READY
from optcomp.center.service import Service
from optcomp.center.settings import Settings
from optcomp.errors import InvalidInput

HOME = "OPTCOMP_CENTER"
"""The variable of the environment that names the home of the centre, for worker processes."""
_ABOUT = """Many analysts ask one group of people, each within a slot; all that they learn is private, by theorem.

Send `Authorization: Bearer TOKEN`.  Every error is `{"error": code, "message": words}`.  A request that debits is named
by its key: the same key again gives the stored answer, and costs nothing more."""
"""The first words of the published description."""


def make_app(settings: Settings, *, calculates: bool = False) -> FastAPI:
    """The interface of the centre in this home; `calculates` says whether it begins with processes that calculate."""
    service = Service(settings, (releases.finish,), calculates=calculates)

    @asynccontextmanager
    async def alive(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        try:
            yield
        finally:
            await service.close()

    app = FastAPI(
        title="optcomp data centre",
        version=optcomp.__version__,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=alive,
        redirect_slashes=False,
    )
    app.state.service = service
    add_handlers(app)
    _add_open_pages(app)
    for part in (api_analyst, api_releases, api_sources, api_owner, api_audit):
        app.include_router(part.router)
    app.add_middleware(OnClock, bucket=settings.bucket)
    app.add_middleware(Protection, hosts=settings.names, most_bytes=settings.most_bytes, meters=service.meters)
    return app


def from_environment() -> FastAPI:
    """The same for worker processes, which find the home in their environment."""
    return made_from_environment(make_app)


def made_from_environment(make: Callable[[Settings], FastAPI]) -> FastAPI:
    """What is made of the home in the environment, in a worker process."""
    home = os.environ.get(HOME)
    if not home:
        raise InvalidInput(HOME, home, "must name the home of a centre")
    _end_with_parent()
    log_as_json()
    made = make(Settings.read(Path(home)))
    keep_loaded()
    atexit.register(gc.unfreeze)  # libraries look at the end whether all of theirs was collected
    return made


def _end_with_parent() -> None:
    """A worker whose parent was killed would go on, on a port that nobody else can have then: it ends too."""
    parent = multiprocessing.parent_process()
    if parent is None:  # no worker, but the server itself
        return

    def wait() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True, name="optcomp-parent").start()


def _add_open_pages(app: FastAPI) -> None:
    """What needs no token, and tells nothing of anybody."""

    @app.get("/health", summary="Whether the server answers", tags=["operations"])
    async def health(request: Request) -> replies.Health:
        """Nothing is looked up."""
        service: Service = request.app.state.service
        return replies.Health(ok=True, name=service.settings.name, version=optcomp.__version__)

    @app.get("/ready", summary="Whether questions can be answered", tags=["operations"])
    async def ready(request: Request, response: Response) -> replies.Ready:
        """Status 503 while the ledger may be a copy or cannot be reached, no token is looked up, or no process answers.

        All of this is tried every few seconds, not by this request.
        """
        service: Service = request.app.state.service
        state = service.readiness.state
        response.status_code = 200 if state == READY else 503
        return replies.Ready(ok=state == READY, state=state)

    @app.get("/metrics", summary="Counts and times", tags=["operations"], response_class=PlainTextResponse)
    async def metrics(request: Request) -> str:
        """Of this process: in the text format of Prometheus; no names of people, no values."""
        service: Service = request.app.state.service
        return service.meters.text(service.gauges())
