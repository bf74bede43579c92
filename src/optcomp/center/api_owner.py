"""What owners do: people, tokens, datasets, batches of slots, wishes, and confirming what another owner asked for.

Every change of a budget is logged by whoever makes it, in the same transaction.  Where two owners are wanted, the
response says what waits for the second one.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from optcomp.center import bodies, releases, replies, shares
from optcomp.center.access import GuardedRoute, person_of, roles, service_of, spends
from optcomp.center.bodies import Amount, Number, PathName
from optcomp.center.looked_up import seen_dataset
from optcomp.center.problems import Problem

_RESPONSES: dict[int | str, dict[str, Any]] = {
    **replies.ERRORS,
    202: {"model": replies.Waits, "description": "Another owner must confirm it."},
}
router = APIRouter(prefix="/api/v1/owner", route_class=GuardedRoute, tags=["owner"], responses=_RESPONSES)


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


@router.get("/sources", summary="What may be registered")
@roles("owner", limited=True)
def sources(request: Request) -> replies.Listed:
    """Files below the folders of the settings, and tables of the listed databases."""
    return replies.Listed(entries=service_of(request).choices.sources(person_of(request)))


@router.get("/columns", summary="The columns of a source")
@roles("owner", limited=True)
def columns(
    request: Request,
    source: Annotated[
        str, Query(min_length=1, max_length=1000, description="As listed, or a pattern such as 2025-*.csv.")
    ],
    table: Annotated[str | None, Query(max_length=200, description="Of a database.")] = None,
    multiline: Annotated[bool, Query(description="Whether quoted cells may hold line breaks.")] = False,
    delimiter: Annotated[str | None, Query(max_length=1, description="Of a CSV file.")] = None,
    quote: Annotated[str | None, Query(max_length=1, description="Of a CSV file.")] = None,
    encoding: Annotated[str | None, Query(max_length=20, description="Of a CSV file.")] = None,
) -> replies.Columns:
    """Names, and what their types say that they hold; no cell is read."""
    said = {"delimiter": delimiter, "quote": quote, "encoding": encoding}
    dialect = {name: value for name, value in said.items() if value is not None} or None
    choices, person = service_of(request).choices, person_of(request)
    found = choices.columns(source, table, multiline=multiline, dialect=dialect, viewer=person)
    return replies.Columns(columns=found, files=choices.files(source, person))


@router.get("/dialect", summary="How a file looks written")
@roles("owner", limited=True)
def dialect(
    request: Request,
    source: Annotated[
        str, Query(min_length=1, max_length=1000, description="As listed, or a pattern such as 2025-*.csv.")
    ],
) -> replies.Proposed:
    """A proposal from the beginning of a file, for its owner to confirm; null of what is not written in lines."""
    found = service_of(request).choices.dialect(source, person_of(request))
    return replies.Proposed(dialect=None if found is None else found.written)


@router.post("/checks", summary="Look at a table before it is registered")
@roles("owner", limited=True)
def check(request: Request, body: bodies.CheckBody) -> replies.Checked:
    """Exact counts of what preparation would find, for owners alone; nothing is spent, and the look is noted."""
    given = body.model_dump(exclude={"source", "declaration"})
    found = service_of(request).choices.check(body.source, body.declaration, **given, by=person_of(request))
    return replies.Checked.model_validate(found)


@router.post("/datasets", summary="Register a table", status_code=201)
@roles("owner", limited=True)
def register(request: Request, body: bodies.DatasetBody) -> replies.DatasetInFull:
    """Reads a table once, checks and freezes it, and opens its account in the ledger."""
    if body.snapshot == (body.declaration is not None):
        raise Problem("invalid", "declaration: give one, or a snapshot that has its own", argument="declaration")
    catalogue, same = service_of(request).catalogue, {"title", "account", "epsilon", "delta", "free", "disjoint"}
    given: dict[str, Any] = body.model_dump(include=same) | {"by": person_of(request)}
    if body.snapshot:
        return replies.DatasetInFull.of_full(catalogue.register_snapshot(body.name, body.source, **given))
    given |= body.model_dump(include={"declaration", "table", "bad_cells", "multiline", "dialect", "rename"})
    return replies.DatasetInFull.of_full(catalogue.register(body.name, body.source, **given))


@router.post("/datasets/{name}/versions", summary="Register a new version", status_code=201)
@roles("owner", limited=True)
def renew(request: Request, name: PathName, body: bodies.VersionBody) -> replies.DatasetInFull:
    """The same table at another time, under the same account; sessions that were opened go on with what they had."""
    given = body.model_dump(exclude={"source"})
    made = service_of(request).catalogue.renew(name, body.source, **given, by=person_of(request))
    return replies.DatasetInFull.of_full(made)


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


@router.post("/confirmations/{id}", summary="Confirm a change")
@roles("owner", limited=True)
@spends
async def confirm(request: Request, id: Number) -> replies.Confirmed:
    """Carries out what another owner asked for."""
    found = await releases.confirm(service_of(request), id, by=person_of(request))
    return replies.Confirmed.model_validate(found)
