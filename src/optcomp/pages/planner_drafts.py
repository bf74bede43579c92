"""A plan that somebody is writing: kept in the database with its last allocation, and with steps back and forth.

A draft is worked out before it is saved, so what is saved can always be shown.  It keeps what the search found: any
process of the server begins the next search there.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from optcomp.center import (
    Draft,
    Drafts,
    NotFound,
    person_of,
    releases,
    service_of,
)

KIND = "plan"
"""What such drafts are called among others."""
MOST_STEPS = 50
"""Steps back that are kept."""
_MOST_LETTERS = 300_000
"""Of all steps back together, so that a draft of a large plan stays a small one."""
_SAME_EDIT = 5.0
"""Seconds within which typing on in one field is one step back."""
Plain = dict[str, Any]
"""A plan as it is written."""


@dataclass(frozen=True)
class PlanDraft:
    """A plan that is being written."""

    id: int
    version: int
    changed: float
    title: str
    dataset: str | None
    """The registered data set that it is about, if it is about one."""
    plan: Plain
    worked: Plain | None = None
    """What the plan comes to; None as long as it has no statistics."""
    columns: tuple[dict[str, str], ...] | None = None
    """Columns as they were typed, where they were declared by hand."""
    undo: tuple[Plain, ...] = ()
    redo: tuple[Plain, ...] = ()
    last: tuple[str, ...] = ()
    """The fields that were changed last."""

    @property
    def statistics(self) -> dict[str, Any]:
        """The entries of its statistics, by name."""
        found: dict[str, Any] = self.plan.get("statistics") or {}
        return found

    @property
    def later(self) -> bool:
        """Whether comparisons are still to be worked out."""
        return self.worked is not None and bool(self.worked.get("later"))

    def document(self) -> Plain:
        """Ready for JSON."""
        names = ("title", "dataset", "plan", "worked", "columns", "undo", "redo", "last")
        return {name: getattr(self, name) for name in names}

    def stepped(self, plan: Plain, changed: Sequence[str] = ()) -> PlanDraft:
        """With another plan, and a step back to this one."""
        if plan == self.plan:
            return self
        typing = bool(changed) and tuple(changed) == self.last and time.time() - self.changed < _SAME_EDIT
        undo = self.undo if typing and self.undo else bounded((*self.undo, self.plan))
        return replace(self, plan=plan, undo=undo, redo=(), last=tuple(changed))

    def back(self) -> PlanDraft:
        """One step back, if there is one."""
        if not self.undo:
            return self
        return replace(self, plan=self.undo[-1], undo=self.undo[:-1], redo=bounded((*self.redo, self.plan)), last=())

    def forth(self) -> PlanDraft:
        """One step forth again, if there is one."""
        if not self.redo:
            return self
        return replace(self, plan=self.redo[-1], redo=self.redo[:-1], undo=bounded((*self.undo, self.plan)), last=())


def bounded(steps: tuple[Plain, ...]) -> tuple[Plain, ...]:
    """The newest of these steps, as many as are kept."""
    kept: list[Plain] = []
    letters = 0
    for each in reversed(steps[-MOST_STEPS:]):
        letters += len(json.dumps(each))
        if kept and letters > _MOST_LETTERS:
            break
        kept.append(each)
    return tuple(reversed(kept))


def read_draft(draft: Draft) -> PlanDraft:
    """A draft of the database as a plan."""
    found = draft.document
    columns = found["columns"]
    return PlanDraft(
        draft.id,
        draft.version,
        draft.changed,
        title=found["title"],
        dataset=found["dataset"],
        plan=found["plan"],
        worked=found["worked"],
        columns=None if columns is None else tuple(columns),
        undo=tuple(found["undo"]),
        redo=tuple(found["redo"]),
        last=tuple(found["last"]),
    )


async def my_drafts(request: Request) -> list[PlanDraft]:
    """The plans that somebody is writing, the last one first."""
    found = await run_in_threadpool(_drafts(request).all, person_of(request), KIND)
    return [read_draft(each) for each in found]


async def my_draft(request: Request, id: int) -> PlanDraft:
    """One of them."""
    found = await run_in_threadpool(_drafts(request).draft, person_of(request), id)
    if found.kind != KIND:
        raise NotFound("draft", id)
    return read_draft(found)


async def add_draft(request: Request, title: str, plan: Mapping[str, Any], **more: Any) -> PlanDraft:
    """A new one, worked out if it has statistics."""
    made = await _worked(request, PlanDraft(0, 0, 0.0, title=title, plan=dict(plan), **{"dataset": None, **more}))
    return read_draft(await run_in_threadpool(_drafts(request).add, person_of(request), KIND, made.document()))


async def save_draft(request: Request, draft: PlanDraft, version: int, *, first: bool = False) -> PlanDraft:
    """Work a changed draft out, and keep it; `Conflict` if it was changed elsewhere since this version.

    `first` leaves for later what a page shows when the typing stops: see `compared`.
    """
    made = await _worked(request, draft, first=first)
    kept = await run_in_threadpool(
        lambda: _drafts(request).save(person_of(request), draft.id, made.document(), version=version)
    )
    return read_draft(kept)


async def drop_draft(request: Request, id: int) -> None:
    """Delete one."""
    await my_draft(request, id)
    await run_in_threadpool(_drafts(request).drop, person_of(request), id)


async def _worked(request: Request, draft: PlanDraft, *, first: bool = False) -> PlanDraft:
    if not draft.statistics:
        return replace(draft, worked=None)
    start = None if draft.worked is None else draft.worked["start"]
    work_out = releases.work_out_first if first else releases.work_out
    return replace(draft, worked=await work_out(service_of(request), draft.plan, start))


async def compared(request: Request, draft: PlanDraft) -> PlanDraft:
    """With all that there is to tell about the plan; what was left for later is worked out, and not kept."""
    if draft.worked is None or not draft.later:
        return draft
    return replace(draft, worked=await releases.compare(service_of(request), draft.plan, draft.worked))


def _drafts(request: Request) -> Drafts:
    return Drafts(service_of(request).store)
