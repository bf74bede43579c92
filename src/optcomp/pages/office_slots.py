"""The owner's office: slots.  Proposed in the address, confirmed on a page that fixes them, cut by a form.

The name of a batch is its key: the same batch again costs nothing, and another one of that name is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from optcomp.center import (
    Dataset,
    Person,
    Problem,
    api_owner,
    bodies,
    roles,
    seen_dataset,
    service_of,
)
from optcomp.pages.access import PageRoute, form_of
from optcomp.pages.office_forms import made, query_numbers, text, tried, wrong
from optcomp.pages.office_jobs import to_dataset
from optcomp.pages.office_view import gain_picture
from optcomp.pages.rendering import page, words_for

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_SHARE = "share-"
"""With which the fields of shares begin; the name of the analyst follows."""


@dataclass(frozen=True)
class Wanted:
    """What somebody typed."""

    batch: str
    epsilon: str
    delta: str
    chosen: tuple[int, ...]
    weights: Mapping[int, str]

    def weight(self, person: int) -> str:
        """That of a person; 1 unless told otherwise."""
        return self.weights.get(person, "1")


@router.get("/owner/datasets/{name}/slots")
@roles("owner", limited=True)
async def slots(request: Request, name: str) -> Response:
    """Choose analysts and a budget, and see what slots they would have."""
    return await _slots(request, name, "owner_slots.html")


@router.get("/owner/datasets/{name}/slots/confirmation")
@roles("owner", limited=True)
async def confirmation(request: Request, name: str) -> Response:
    """The slots as they will be cut."""
    return await _slots(request, name, "owner_slots_confirm.html")


async def _slots(request: Request, name: str, template: str) -> Response:
    found = await run_in_threadpool(seen_dataset, request, name)
    everybody = await run_in_threadpool(service_of(request).people.all)
    analysts = [each for each in everybody if each.role == "analyst" and not each.suspended]
    left, taken = await run_in_threadpool(_account, request, found)
    wanted = _wanted(request, analysts, next(each for each in _names() if each not in taken))
    proposal, problem = await _proposal(request, name, wanted, analysts)
    if proposal is None:
        template = "owner_slots.html"
    told, _ = await tried(api_owner.gains, request, wanted.epsilon, wanted.delta) if proposal else (None, None)
    gains = [] if told is None else told.gains
    t = words_for(request)
    names = {key: str(t(f"owner.gain.{key}")) for key in ("optimal", "split", "title", "across", "up")}
    return page(
        request,
        template,
        dataset=found,
        left=left,
        analysts=analysts,
        wanted=wanted,
        proposal=proposal,
        gains=gains,
        picture=gain_picture(gains, names) if gains else "",
        query=request.url.query,
        problem=problem,
    )


def _account(request: Request, dataset: Dataset) -> tuple[str, set[str]]:
    """What is left of the account, in words; and the names of its batches."""
    catalogue = service_of(request).catalogue
    names = {seat.batch for seat in catalogue.seats() if seat.dataset.account == dataset.account}
    return str(catalogue.account(dataset).remaining()), names


def _names() -> Iterator[str]:
    """Names for a batch, until somebody gives it another one."""
    return (f"round {number}" for number in count(1))


def _wanted(request: Request, analysts: list[Person], batch: str) -> Wanted:
    given = request.query_params
    chosen = query_numbers(request, "analyst") if "epsilon" in given else [each.id for each in analysts]
    weights = {each.id: given[f"weight-{each.id}"].strip()[:20] for each in analysts if f"weight-{each.id}" in given}
    texts = {key: given.get(key, default).strip()[:80] for key, default in _USUAL.items()}
    return Wanted(given.get("batch", batch).strip()[:100], texts["epsilon"], texts["delta"], tuple(chosen), weights)


_USUAL = {"epsilon": "1", "delta": "1e-7"}
"""What a batch costs, until somebody says otherwise."""


async def _proposal(
    request: Request, name: str, wanted: Wanted, analysts: list[Person]
) -> tuple[dict[str, Any] | None, Problem | None]:
    """What optimal composition allows; or what is wrong with the wish."""
    chosen = [each for each in analysts if each.id in wanted.chosen]
    if not analysts:
        return None, None
    if not chosen:
        return None, wrong("nobody", "analyst")
    try:
        weights = {each.name: _weight(wanted.weight(each.id), each.id) for each in chosen}
        body = made(bodies.ProposalBody, analysts=weights, epsilon=wanted.epsilon, delta=wanted.delta)
    except Problem as found:
        return None, found
    told, problem = await tried(api_owner.propose, request, name, body)
    return (None if told is None else told.model_dump()), problem


def _weight(given: str, person: int) -> float:
    try:
        return float(given)
    except ValueError:
        raise wrong("weight", f"weight-{person}") from None


@router.post("/owner/datasets/{name}/slots")
@roles("owner", limited=True)
async def cut(request: Request, name: str) -> Response:
    """Cut the batch that was confirmed."""
    form = await form_of(request)
    shares = {key.removeprefix(_SHARE): text(form, key) for key in form if key.startswith(_SHARE)}
    body = made(
        bodies.BatchBody,
        batch=text(form, "batch"),
        slots={analyst: made(bodies.Share, epsilon=share, delta="0") for analyst, share in shares.items()},
        delta=text(form, "delta"),
    )
    await run_in_threadpool(api_owner.cut, request, name, body)
    return to_dataset(name)
