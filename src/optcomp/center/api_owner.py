"""What owners do: people, tokens, budgets, batches of slots, wishes, and confirming what another owner asked for.

Every change of a budget is logged by whoever makes it, in the same transaction.  Where two owners are wanted, the
response says what waits for the second one.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from optcomp.center import bodies, releases, replies, shares
from optcomp.center.access import GuardedRoute, person_of, roles, service_of, spends
from optcomp.center.background import Background, answered
from optcomp.center.bodies import Amount, Number, PathName
from optcomp.center.looked_up import seen_dataset

_READING = ("register", "register snapshot", "renew")
"""Changes that read a table or a snapshot when they are confirmed."""
router = APIRouter(prefix="/api/v1/owner", route_class=GuardedRoute, tags=["owner"], responses=replies.OF_OWNERS)


@router.post("/people", summary="Add a person", status_code=201)
@roles("owner")
def add_person(request: Request, body: bodies.PersonBody) -> replies.Done:
    """Somebody new, without a token yet."""
    service_of(request).people.add(body.name, body.role, by=person_of(request))
    return replies.Done(done=True)


@router.get("/people", summary="Everybody")
@roles("owner", limited=True)
def people(request: Request) -> replies.Listed:
    """Names, roles, suspensions, and tokens without what opens anything."""
    service, person = service_of(request), person_of(request)
    entries = [
        {
            "name": each.name,
            "role": each.role,
            "suspended": each.suspended,
            "tokens": [token.document() for token in service.people.tokens(each.name) if person.covers(token.scope)],
        }
        for each in service.people.all()
    ]
    return replies.Listed(entries=entries)


@router.post("/people/{name}/tokens", summary="Make a token", status_code=201)
@roles("owner", limited=True)
def make_token(request: Request, name: PathName, body: bodies.TokenBody) -> replies.Token:
    """A new token for somebody; shown here, or to the owner who confirms it, and never again."""
    made = service_of(request).people.token(name, days=body.days, scope=body.scope, by=person_of(request))
    return replies.Token(token=made)


@router.delete("/tokens/{id}", summary="Revoke a token")
@roles("owner", limited=True)
def revoke(request: Request, id: Number) -> replies.Done:
    """It is good for nothing from now on."""
    service_of(request).people.revoke(id, by=person_of(request))
    return replies.Done(done=True)


@router.post("/people/{name}/suspension", summary="Suspend a person, or end that")
@roles("owner")
def suspend(request: Request, name: PathName, body: bodies.SuspensionBody) -> replies.Done:
    """Whoever is suspended may do nothing; what is left in their seats stays."""
    service_of(request).people.suspend(name, body.suspended, by=person_of(request))
    return replies.Done(done=True)


@router.post("/datasets/{name}/suspension", summary="Close a dataset, or open it again")
@roles("owner", limited=True)
def close(request: Request, name: PathName, body: bodies.SuspensionBody) -> replies.Done:
    """Nothing may be asked about it meanwhile; what is left in its seats stays."""
    service_of(request).catalogue.close(name, body.suspended, by=person_of(request))
    return replies.Done(done=True)


@router.post("/datasets/{name}/budget", summary="Lower the budget")
@roles("owner", limited=True)
def lower(request: Request, name: PathName, body: bodies.BudgetBody) -> replies.Budget:
    """A smaller budget for the account of a dataset, not below what is spent; before the first request any budget."""
    catalogue = service_of(request).catalogue
    catalogue.lower(name, epsilon=body.epsilon, delta=body.delta, by=person_of(request))
    account = catalogue.account(catalogue.dataset(name))
    return replies.Budget(dataset=name, account=account.name, budget=str(account.budget))


@router.post("/datasets/{name}/proposals", summary="Propose slots")
@roles("owner", limited=True)
def propose(request: Request, name: PathName, body: bodies.ProposalBody) -> replies.Proposal:
    """Equal or weighted slots, and what optimal composition gains over splitting; nothing is changed."""
    seen_dataset(request, name)
    found = service_of(request).catalogue.propose(name, body.analysts, epsilon=body.epsilon, delta=body.delta)
    return replies.Proposal.model_validate(found.document())


@router.get("/gains", summary="What optimal composition gains")
@roles("owner", limited=True)
def gains(
    request: Request,
    epsilon: Annotated[Amount, Query(description="ε of the whole batch.", examples=["1"])],
    delta: Annotated[Amount, Query(description="δ of the whole batch.", examples=["1e-7"])],
) -> replies.Gains:
    """For several numbers of equal slots: the ε of each by optimal composition, and by splitting."""
    found = shares.gains(epsilon, delta)
    return replies.Gains(gains=[replies.Gain(slots=count, optimal=best, split=split) for count, best, split in found])


@router.post("/datasets/{name}/batches", summary="Cut a batch of slots", status_code=201)
@roles("owner", limited=True)
def cut(request: Request, name: PathName, body: bodies.BatchBody) -> replies.Certificate:
    """One debit of the account; the slots compose to no more, and the certificate says by which theorem."""
    slots = {analyst: (share.epsilon, share.delta) for analyst, share in body.slots.items()}
    found = service_of(request).catalogue.cut(
        name, body.batch, slots, delta=body.delta, epsilon=body.epsilon, by=person_of(request)
    )
    return replies.Certificate.model_validate(found)


@router.post("/seats/{id}/hand-on", summary="Hand a seat on")
@roles("owner", limited=True)
def hand_on(request: Request, id: Number, body: bodies.HandOnBody) -> replies.Seat:
    """A seat in which nothing was asked yet becomes somebody else's."""
    moved = service_of(request).catalogue.hand_on(id, body.analyst, by=person_of(request))
    return replies.Seat.model_validate(moved.document())


@router.post("/seats/{id}/suspension", summary="Suspend a seat, or end that")
@roles("owner", limited=True)
def suspend_seat(request: Request, id: Number, body: bodies.SuspensionBody) -> replies.Done:
    """Nothing may be asked in it meanwhile; what is left stays."""
    service_of(request).catalogue.suspend_seat(id, body.suspended, by=person_of(request))
    return replies.Done(done=True)


@router.get("/wishes", summary="What analysts ask for")
@roles("owner", limited=True)
def wishes(request: Request) -> replies.Listed:
    """Words of analysts."""
    return replies.Listed(
        entries=[each.document() for each in service_of(request).catalogue.wishes(person_of(request))]
    )


@router.post("/wishes/{id}", summary="Decide on a wish")
@roles("owner", limited=True)
def decide(request: Request, id: Number, body: bodies.WishDecisionBody) -> replies.Done:
    """A granted wish changes no budget: slots are cut by a request of their own."""
    service_of(request).catalogue.decide(id, body.granted, by=person_of(request))
    return replies.Done(done=True)


@router.get("/changes", summary="What was changed")
@roles("owner", limited=True)
def changes(request: Request) -> replies.Listed:
    """Every change, with who made it and who confirmed it."""
    found = service_of(request).changes.all(viewer=person_of(request))
    return replies.Listed(entries=[each.document() for each in found])


@router.get("/confirmations", summary="What waits for a second owner")
@roles("owner", limited=True)
def confirmations(request: Request) -> replies.Listed:
    """Changes that one owner asked for."""
    found = service_of(request).changes.waiting(person_of(request))
    return replies.Listed(entries=[each.document() for each in found])


@router.post("/confirmations/{id}", summary="Confirm a change", response_model=replies.Confirmed)
@roles("owner", limited=True)
@spends
async def confirm(request: Request, id: Number, background: Background = False) -> Any:
    """Carries out what another owner asked for; `background` is for what reads a table."""
    if await reads_source(request, id):
        return await answered(request, "confirm", {"confirmation": id}, background)
    return await releases.confirm(service_of(request), id, by=person_of(request))


async def reads_source(request: Request, id: int) -> bool:
    """Whether what waits under a number reads a table or a snapshot when it is confirmed."""
    return await run_in_threadpool(service_of(request).changes.kind, id) in _READING
