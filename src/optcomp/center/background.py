"""Replies of requests that read sources: the result of a job, or the job itself if it goes on in the background."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import JSONResponse

from optcomp.center.access import person_of, service_of
from optcomp.center.owner_jobs import OwnerJob
from optcomp.center.replies import OwnerJob as Reply

Background = Annotated[bool, Query(description="Whether to reply at once, with status 202 and the job that goes on.")]
"""What a request says that need not wait."""


async def answered(
    request: Request, kind: str, given: Mapping[str, Any], background: bool, account: str | None = None
) -> Any:
    """The result of a job; or the job, if it is to go on in the background."""
    if not background:
        about = _seen(request, account)
        return await service_of(request).preparers.call(kind, given, person_of(request), account=about)
    made = await started(request, kind, given, account=account)
    where = {"Location": f"/api/v1/owner/jobs/{made.id}"}
    return JSONResponse(told(made).model_dump(), 202, headers=where)


async def started(
    request: Request,
    kind: str,
    given: Mapping[str, Any],
    *,
    account: str | None = None,
    key: str | None = None,
    patience: float = 0.0,
) -> OwnerJob:
    """Start a job for the person who asks, and wait a while for its end; see `Preparers.start`."""
    about: dict[str, Any] = {"account": _seen(request, account), "key": key, "patience": patience}
    return await service_of(request).preparers.start(kind, given, person_of(request), **about)


def told(job: OwnerJob) -> Reply:
    """A job as a reply."""
    return Reply.model_validate(job.document())


def _seen(request: Request, account: str | None) -> str | None:
    """An account, if whoever asks sees it: others must not learn from a job that somebody else tried its name."""
    return account if account is not None and person_of(request).sees(account) else None
