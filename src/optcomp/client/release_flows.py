"""What an owner does with plans and releases of a centre, as exchanges."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from optcomp.client.exchange import Call, Flow, exchange
from optcomp.errors import InvalidInput
from optcomp.planner import Document, Plan, load

_API = "/api/v1"
"""Where the centre's interface begins."""
_FORMATS = ("json", "csv", "html")
"""In which a record may be had."""
PlanLike = Plan | Document | Mapping[str, Any] | str | Path
"""A plan: worked out, read, as a mapping, or the path of its file."""


def look(dataset: str, plan: PlanLike, retries: int) -> Flow[dict[str, Any]]:
    """What a plan would cost, how far off its numbers would be, what would be left; nothing is spent."""
    path = f"{_API}/owner/datasets/{quote(dataset, safe='')}/plans/look"
    found: dict[str, Any] = yield from exchange(Call("POST", path, {"plan": plan_document(plan)}), retries)
    return found


def release(dataset: str, plan: PlanLike, key: str | None, publish: bool, retries: int) -> Flow[dict[str, Any]]:
    """The release of a plan, paid once however often it is asked for: without a key the plan is the key."""
    body = {"plan": plan_document(plan), "key": key, "publish": publish}
    path = f"{_API}/owner/datasets/{quote(dataset, safe='')}/releases"
    found: dict[str, Any] = yield from exchange(Call("POST", path, body), retries)
    return found


def releases(dataset: str, retries: int) -> Flow[list[dict[str, Any]]]:
    """What was released about a dataset, and may be read."""
    found = yield from exchange(Call("GET", f"{_API}/datasets/{quote(dataset, safe='')}/releases"), retries)
    listed: list[dict[str, Any]] = found["releases"]
    return listed


def release_record(dataset: str, number: int, retries: int) -> Flow[dict[str, Any]]:
    """The record of a release."""
    found: dict[str, Any] = yield from exchange(Call("GET", _one(dataset, number)), retries)
    return found


def release_file(dataset: str, number: int, form: str, retries: int) -> Flow[str]:
    """A release as the text of a file."""
    if form not in _FORMATS:
        raise InvalidInput("form", form, f"must be one of {', '.join(_FORMATS)}")
    found: str = yield from exchange(Call("GET", f"{_one(dataset, number)}?format={form}", text=True), retries)
    return found


def publish(dataset: str, number: int, published: bool, retries: int) -> Flow[dict[str, Any]]:
    """Let everybody who may see the dataset read a release, or end that."""
    path = f"{_API}/owner/datasets/{quote(dataset, safe='')}/releases/{number}/publication"
    found: dict[str, Any] = yield from exchange(Call("POST", path, {"published": published}), retries)
    return found


def plan_document(plan: object) -> dict[str, Any]:
    """What a plan says, as JSON.  It may leave out what is declared about the table, so it is not read here."""
    if isinstance(plan, Plan):
        return plan.document.source
    if isinstance(plan, Document):
        return plan.source
    if isinstance(plan, Mapping):
        return dict(plan)
    if isinstance(plan, str | Path):
        found = load(Path(plan))
        if isinstance(found, Mapping):
            return dict(found)
    raise InvalidInput("plan", type(plan).__name__, "must be a plan, its document, a mapping or the path of its file")


def _one(dataset: str, number: int) -> str:
    return f"{_API}/datasets/{quote(dataset, safe='')}/releases/{number}"
