"""Who may call what: a token, a rate, a role, a scope; all of it before the request is read or anything looked up."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from optcomp.center.parsing import check_json
from optcomp.center.persons import Person
from optcomp.center.problems import Problem
from optcomp.center.protection import OPEN_BYTES, PERSON, SPENDS, take_body
from optcomp.center.refusals import NotKnown, TooMany
from optcomp.center.service import ASKING, Service

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
_NOT_KNOWN = "A token is needed: Authorization: Bearer TOKEN. This one is missing, wrong, revoked or expired."
_LIMITED_TOKEN = "Your token is limited to some accounts, and this is about all of them."
_WITHOUT_BODY = {"GET", "HEAD"}
_COUNTED = "optcomp_counted"
"""Under which a request remembers for whom it counts, until its body was counted."""
_ROLES, _LIMITED, _SPENDING = "__optcomp_roles__", "__optcomp_limited__", "__optcomp_spends__"


def roles(*allowed: str, limited: bool = False) -> Callable[[Endpoint], Endpoint]:
    """Mark an endpoint with the roles that may call it, and whether tokens that are limited to some accounts may too.

    An endpoint with `limited=True` answers about what lies outside of these accounts as about what does not exist.
    """

    def mark(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _ROLES, allowed)
        setattr(endpoint, _LIMITED, limited)
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

        async def guarded(request: Request) -> Response:
            person = await run_in_threadpool(_by_token, service_of(request), request)
            await let_in(request, person, self.endpoint)
            if request.method not in _WITHOUT_BODY:
                await count_body(request)
                await check_json(request)
            return await handler(request)

        return guarded


def roles_of(endpoint: Callable[..., Any]) -> tuple[str, ...]:
    """The roles that may call an endpoint."""
    found: tuple[str, ...] = getattr(endpoint, _ROLES, ())
    return found


async def let_in(request: Request, person: Person, endpoint: Callable[..., Any]) -> None:
    """Let a person through to an endpoint, or refuse them: by rate, role, suspension and scope.

    Only requests that are let through may have a body as large as the settings allow.
    """
    await run_in_threadpool(_admit, request, person, endpoint)
    take_body(request)
    ASKING.set(person.id)


def _admit(request: Request, person: Person, endpoint: Callable[..., Any]) -> None:
    count_request(request, f"person {person.id}", service_of(request).settings.rate)  # what is refused counts too
    if person.role not in roles_of(endpoint):
        raise Problem("forbidden", "Your role may not do this.")
    if person.suspended:
        raise Problem("suspended", "You are suspended. Your seats and what is left in them stay as they are.")
    if person.limited and not getattr(endpoint, _LIMITED, False):
        raise Problem("forbidden", _LIMITED_TOKEN)
    request.state.person = person
    setattr(request.state, PERSON, person.id)
    setattr(request.state, SPENDS, getattr(endpoint, _SPENDING, False))


def service_of(request: Request) -> Service:
    """The centre that a request came to."""
    service: Service = request.app.state.service
    return service


def person_of(request: Request) -> Person:
    """Who asks."""
    person: Person = request.state.person
    return person


def _by_token(service: Service, request: Request) -> Person:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    try:
        return service.people.who(token.strip() if kind.lower() == "bearer" else "")
    except NotKnown:
        count_failed(service, request)
        raise Problem("not_known", _NOT_KNOWN) from None


async def count_body(request: Request) -> None:
    """Read a body. A large one counts as several requests, because parsing it takes longer.

    It never counts as more than half of what they have in a minute: else it could not be sent at all.
    """
    try:
        more, counted = len(await request.body()) // OPEN_BYTES, getattr(request.state, _COUNTED, None)
    except ClientDisconnect:
        raise HTTPException(400) from None
    if more and counted is not None:
        setattr(request.state, _COUNTED, None)
        subject, limit = counted
        await run_in_threadpool(count, service_of(request), subject, limit, amount=min(more, limit // 2))


def count_request(request: Request, subject: str, limit: int) -> None:
    """One more request of a subject in this minute, for which its body counts too; refused when there are too many."""
    count(service_of(request), subject, limit)
    setattr(request.state, _COUNTED, (subject, limit))


def count_failed(service: Service, request: Request) -> None:
    """One more wrong token from this address; refused when there are too many."""
    count(service, f"address {_address(request)}", service.settings.logins)


def count_sign_in(service: Service, request: Request, person: Person) -> None:
    """One more sign-in of a person, and from this address; refused when there are too many.

    The person comes first: so nobody uses up what others at the same address have.
    """
    count(service, f"sign-ins of {person.id}", service.settings.logins)
    count(service, f"sign-ins from {_address(request)}", service.settings.rate)


def count(
    service: Service, subject: str, limit: int, words: str = "Too many requests: wait a little.", *, amount: int = 1
) -> None:
    """So many more requests of a subject in this minute; refused when there are too many."""
    try:
        service.rates.count(subject, limit, amount)
    except TooMany as error:
        raise Problem("too_many", words, wait=error.seconds) from None


def _address(request: Request) -> str:
    return request.client.host if request.client else "unknown"
