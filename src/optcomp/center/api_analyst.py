"""What analysts ask: datasets, seats, questions, mechanisms, plans, and why an answer is private.

A GET never spends and never draws.  A seat of somebody else is not there.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from optcomp.center import bodies, replies
from optcomp.center.access import GuardedRoute, count, person_of, roles, service_of, spends
from optcomp.center.bodies import KeyHeader, Number, PathName, one_key
from optcomp.center.looked_up import datasets_of, seat_of, seats_of, seen_dataset, working_seat
from optcomp.center.problems import Problem
from optcomp.center.service import place_of

router = APIRouter(prefix="/api/v1", route_class=GuardedRoute, tags=["analyst"], responses=replies.ERRORS)
_WISHES = 10  # of one person in a minute; more are refused with 429
_TOO_MANY_WISHES = f"You may ask for more {_WISHES} times in a minute: wait a little."
After = Annotated[int, Query(ge=0, lt=2**62, description="The last request that you know.")]
Most = Annotated[int, Query(ge=1, le=1000, description="So many requests at most.")]
Newest = Annotated[bool, Query(description="The last requests and not the first ones.")]
UnderKey = Annotated[
    str | None, Query(min_length=1, max_length=200, description="The request under this key alone, if there is one.")
]


@router.get("/me", summary="Who you are")
@roles("analyst", "owner", "auditor", limited=True)
def me(request: Request) -> replies.Me:
    """Name, role, and the accounts that the token is good for."""
    person = person_of(request)
    return replies.Me(name=person.name, role=person.role, scope=None if person.scope is None else list(person.scope))


@router.get("/me/tokens", summary="Tokens in your name")
@roles("analyst", "owner", "auditor", limited=True)
def my_tokens(request: Request) -> replies.Listed:
    """When and by whom each was made, and what it is good for; nothing that opens anything."""
    person = person_of(request)
    return replies.Listed(entries=[each.told(person) for each in service_of(request).people.tokens(person.name)])


@router.get("/datasets", summary="Datasets that you may see")
@roles("analyst", "owner", "auditor", limited=True)
def datasets(request: Request) -> replies.Datasets:
    """Those that an analyst has a seat at; all of them for owners and auditors."""
    return replies.Datasets(datasets=[replies.Dataset.of(each) for each in datasets_of(request)])


@router.get("/datasets/{name}", summary="One dataset, with its declaration")
@roles("analyst", "owner", "auditor", limited=True)
def dataset(request: Request, name: PathName) -> replies.DatasetInFull:
    """What is declared about it: public, and all that prices and errors follow from."""
    return replies.DatasetInFull.of_full(seen_dataset(request, name))


@router.get("/datasets/{name}/free", summary="Answers that were shared")
@roles("analyst", "owner", limited=True)
async def free(request: Request, name: PathName) -> replies.FreeAnswers:
    """Stored answers whose analysts agreed, where the owner allows it; they cost nothing."""
    found = await run_in_threadpool(seen_dataset, request, name)
    if not found.free:
        raise Problem("not_found", "The owner does not allow free answers about this dataset.")
    service = service_of(request)
    shared = await run_in_threadpool(service.shared, found)
    return replies.FreeAnswers.model_validate(await service.call("free", seats=shared))


@router.post("/datasets/{name}/dry-run", summary="Ask invented data")
@roles("analyst", "owner", limited=True)
async def dry_run(request: Request, name: PathName, body: bodies.DryRunBody) -> replies.DryRun:
    """The answer about data that were invented from the declaration alone; nothing is spent, and it says nothing."""
    found = await run_in_threadpool(seen_dataset, request, name)
    declaration = replies.declaration_of(found)
    service = service_of(request)
    told = await service.call("dry_run", declaration=declaration, question=body.question, rows=body.rows)
    return replies.DryRun.model_validate(told)


@router.get("/seats", summary="Your seats")
@roles("analyst", "owner", limited=True)
def seats(request: Request) -> replies.Seats:
    """Where an analyst may ask; all seats for owners."""
    return replies.Seats(seats=[replies.Seat.model_validate(each.document()) for each in seats_of(request)])


@router.get("/seats/{id}", summary="What is left in a seat")
@roles("analyst", limited=True)
async def seat(request: Request, id: Number) -> replies.SeatInFull:
    """What is left, in useful units; a notice when it is little."""
    found = await run_in_threadpool(seat_of, request, id)
    service = service_of(request)
    left = await service.call("remaining", seat=place_of(found), like=None)
    told = found.document() | {"left": left, "notice": service.notice(left)}
    return replies.SeatInFull.model_validate(told)


@router.get("/seats/{id}/transcript", summary="What was asked")
@roles("analyst", limited=True)
async def transcript(
    request: Request, id: Number, after: After = 0, most: Most = 1000, newest: Newest = False, key: UnderKey = None
) -> replies.Transcript:
    """Every request of a seat with what it cost, how it ended, and its answer."""
    found, wanted = await run_in_threadpool(seat_of, request, id), one_key(key, None)
    asked = {"after": after, "most": most, "newest": newest, "key": wanted}
    told = await service_of(request).call("transcript", seat=place_of(found), **asked)
    return replies.Transcript.model_validate(told)


@router.post("/seats/{id}/preview", summary="What a question would cost")
@roles("analyst", limited=True)
async def preview(request: Request, id: Number, body: bodies.PreviewBody) -> replies.Preview:
    """Cost, expected error, and how many more would fit, from declarations and the transcript; nothing is spent."""
    found = await run_in_threadpool(seat_of, request, id)
    service = service_of(request)
    told = await service.preview(found, body.question, body.confidence)
    return replies.Preview.model_validate(told)


@router.post("/seats/{id}/questions", summary="Ask a question")
@roles("analyst", limited=True)
@spends
async def ask(request: Request, id: Number, body: bodies.AskBody, header: KeyHeader = None) -> replies.Answer:
    """Debits, then answers.  The same key, or without a key the same question, has the same answer and is paid once."""
    found = await run_in_threadpool(working_seat, request, id)
    if body.share and not found.dataset.free:
        raise Problem("invalid", "share: the owner does not allow free answers", argument="share")
    key, service = one_key(body.key, header), service_of(request)
    told = await service.call("ask", seat=place_of(found), question=body.question, key=key, repeat=body.repeat)
    if body.share:
        await run_in_threadpool(service.share, found, told["request"], person_of(request))
    return replies.Answer.model_validate(told)


@router.get("/seats/{id}/mechanisms", summary="Mechanisms as they stand")
@roles("analyst", limited=True)
async def mechanisms(request: Request, id: Number) -> replies.Mechanisms:
    """Those that were opened in a seat, each with its answers and what it has left."""
    found = await run_in_threadpool(seat_of, request, id)
    return replies.Mechanisms.model_validate(await service_of(request).call("mechanisms", seat=place_of(found)))


@router.post("/seats/{id}/mechanisms/preview", summary="What a mechanism would cost")
@roles("analyst", limited=True)
async def preview_mechanism(request: Request, id: Number, body: bodies.MechanismPreviewBody) -> replies.Preview:
    """Its whole cost, how far off its answers may be, and whether it fits; nothing is spent."""
    found = await run_in_threadpool(seat_of, request, id)
    told = await service_of(request).call("preview_mechanism", seat=place_of(found), **body.model_dump())
    return replies.Preview.model_validate(told)


@router.post("/seats/{id}/mechanisms", summary="Open an interactive mechanism")
@roles("analyst", limited=True)
@spends
async def open_mechanism(
    request: Request, id: Number, body: bodies.MechanismBody, header: KeyHeader = None
) -> replies.Opened:
    """Debits all that the mechanism will ever cost, and starts it; again, it goes on where it was."""
    found = await run_in_threadpool(working_seat, request, id)
    key = one_key(body.key, header)
    told = await service_of(request).call(
        "open_mechanism",
        seat=place_of(found),
        mechanism=body.mechanism,
        key=key,
        repeat=body.repeat,
    )
    return replies.Opened.model_validate(told)


@router.post("/seats/{id}/mechanisms/{number}/questions", summary="Ask a mechanism")
@roles("analyst", limited=True)
@spends
async def ask_mechanism(
    request: Request, id: Number, number: Number, body: bodies.MechanismAskBody, header: KeyHeader = None
) -> replies.MechanismAnswer:
    """A question to a mechanism that was paid for; conflict when it has given all its answers."""
    found = await run_in_threadpool(working_seat, request, id)
    key = one_key(body.key, header)
    told = await service_of(request).call(
        "ask_mechanism",
        seat=place_of(found),
        mechanism=number,
        asked=body.ask,
        key=key,
        repeat=body.repeat,
    )
    return replies.MechanismAnswer.model_validate(told)


@router.post("/seats/{id}/plans", summary="Commit to questions")
@roles("analyst", limited=True)
@spends
async def commit(request: Request, id: Number, body: bodies.PlanBody, header: KeyHeader = None) -> replies.Plan:
    """Debits the optimal composition of questions that are fixed before the first answer to any of them."""
    found = await run_in_threadpool(working_seat, request, id)
    key = one_key(body.key, header)
    told = await service_of(request).call(
        "commit", seat=place_of(found), questions=body.questions, delta=body.delta, key=key
    )
    return replies.Plan.model_validate(told)


@router.post("/seats/{id}/plans/{number}/answers", summary="Ask a question of a plan")
@roles("analyst", limited=True)
@spends
async def planned(request: Request, id: Number, number: Number, body: bodies.PlannedBody) -> replies.Answer:
    """The answer to one question of a plan that is paid for."""
    found = await run_in_threadpool(working_seat, request, id)
    told = await service_of(request).call("planned", seat=place_of(found), plan=number, index=body.index)
    return replies.Answer.model_validate(told)


@router.post("/seats/{id}/cancel", summary="Stop a request")
@roles("analyst", limited=True)
async def cancel(request: Request, id: Number, body: bodies.CancelBody) -> replies.Cancelled:
    """Stops the process that works on a request of this seat, in whichever worker; what it cost stays spent."""
    found = await run_in_threadpool(seat_of, request, id)
    return replies.Cancelled(cancelled=await service_of(request).cancel(found, body.key))


@router.get("/seats/{id}/requests/{number}/why", summary="Why an answer is private")
@roles("analyst", limited=True)
async def why(request: Request, id: Number, number: Number) -> replies.Why:
    """Theorems with their statements, the slot, the certificate of its batch, and the receipt."""
    found = await run_in_threadpool(seat_of, request, id)
    told = await service_of(request).call("why", seat=place_of(found), request=number)
    return replies.Why.model_validate(told)


@router.post("/seats/{id}/requests/{number}/share", summary="Share an answer")
@roles("analyst", limited=True)
async def share(request: Request, id: Number, number: Number) -> replies.Done:
    """Lets others read a question that was answered and its answer, where the owner allows it; for ever."""
    found, service = await run_in_threadpool(seat_of, request, id), service_of(request)
    told = await service.call("transcript", seat=place_of(found), after=number - 1, most=1)
    lines = [line for line in told["requests"] if line["request"] == number]
    if not lines or lines[0]["kind"] not in ("question", "planned") or lines[0]["outcome"] != "answered":
        raise Problem("not_found", "There is no answer of that number here that could be shared.")
    await run_in_threadpool(service.share, found, number, person_of(request))
    return replies.Done(done=True)


@router.post("/seats/{id}/wishes", summary="Ask the owner for more")
@roles("analyst", limited=True)
def wish(request: Request, id: Number, body: bodies.WishBody) -> replies.Wish:
    """A word to the owner; so many in a minute, and so many about one seat that wait for an answer."""
    found, person = working_seat(request, id), person_of(request)
    count(service_of(request), f"wishes {person.id}", _WISHES, _TOO_MANY_WISHES)
    return replies.Wish(wish=service_of(request).catalogue.wish(found.id, body.words, by=person))
