"""Who may call what: a token, a role, a rate; all of it before anything of the request is read or looked up."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from optcomp.center.problems import Problem
from optcomp.center.protection import PERSON, SPENDS
from optcomp.center.refusals import NotKnown, TooMany
from optcomp.center.roles import Person
from optcomp.center.service import ASKING, Service

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
_NOT_KNOWN = "A token is needed: Authorization: Bearer TOKEN. This one is missing, wrong, revoked or expired."
_ROLES, _SPENDING = "__optcomp_roles__", "__optcomp_spends__"


def roles(*allowed: str) -> Callable[[Endpoint], Endpoint]:
    """Marks an endpoint with the roles that may call it."""

    def mark(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _ROLES, allowed)
        return endpoint

    return mark


def spends(endpoint: Endpoint) -> Endpoint:
    """Marks an endpoint that may debit: every failure that nobody foresaw is the one after a debit."""
    setattr(endpoint, _SPENDING, True)
    return endpoint


class GuardedRoute(APIRoute):
    """A route that knows who may call it; without a mark nobody may."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, behind the check of token, role and rate."""
        handler = super().get_route_handler()
        allowed = getattr(self.endpoint, _ROLES, ())
        spending = getattr(self.endpoint, _SPENDING, False)

        async def guarded(request: Request) -> Response:
            person = await run_in_threadpool(_admitted, service_of(request), request, allowed)
            request.state.person = person
            setattr(request.state, PERSON, person.id)
            ASKING.set(person.id)
            setattr(request.state, SPENDS, spending)
            return await handler(request)

        return guarded


def service_of(request: Request) -> Service:
    """The centre that a request came to."""
    service: Service = request.app.state.service
    return service


def person_of(request: Request) -> Person:
    """Who asks."""
    person: Person = request.state.person
    return person


def _admitted(service: Service, request: Request, allowed: tuple[str, ...]) -> Person:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    address = request.client.host if request.client else "unknown"
    try:
        person = service.people.who(token.strip() if kind.lower() == "bearer" else "")
    except NotKnown:
        _count(service, f"address {address}", service.settings.logins)
        raise Problem("not_known", _NOT_KNOWN) from None
    if person.role not in allowed:
        raise Problem("forbidden", "Your role may not do this.")
    if person.suspended:
        raise Problem("suspended", "You are suspended. Your seats and what is left in them stay as they are.")
    _count(service, f"person {person.id}", service.settings.rate)
    return person


def _count(service: Service, subject: str, limit: int) -> None:
    try:
        service.people.count(subject, limit)
    except TooMany as error:
        raise Problem("too_many", "Too many requests: wait a little.", wait=error.seconds) from None
