"""The bodies of requests: every field described and bounded, and no field that is not listed here."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import Header, Path
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from optcomp.center.problems import Problem
from optcomp.statistics import Count, Question

_DEPTH = 24
"""Levels of a document: those of questions and declarations have five."""


def _document(value: dict[str, Any]) -> dict[str, Any]:
    """JSON that can be stored: no surrogates, no infinite numbers, not deep."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise ValueError("must be plain JSON with finite numbers and whole characters") from None
    if _is_deep(value):
        raise ValueError(f"must have at most {_DEPTH} levels")
    return value


def _is_deep(value: Any) -> bool:
    """Level by level, so that no depth is too much for it."""
    level = [value]
    for _ in range(_DEPTH):
        found = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)]
        level = [each for inner in found for each in inner]
    return bool(level)


def _printable(value: str) -> str:
    if not value.isprintable() or not value.strip():
        raise ValueError("must be text that can be printed")
    return value


Document = Annotated[dict[str, Any], AfterValidator(_document)]
"""JSON of ours, such as a question; what it may hold is checked where it is read."""
Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_printable)]
"""Of a person, a dataset, a batch."""
ColumnName = Annotated[str, Field(min_length=1, max_length=200)]
"""Of a column of a source, of any kind."""
Words = Annotated[str, Field(min_length=1, max_length=2000), AfterValidator(_printable)]
"""Written by a person for a person."""
Key = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_printable)]
"""Names a request that may be tried again."""
Amount = Annotated[
    str, Field(max_length=80, pattern=r"^([0-9]{1,20}(\.[0-9]{1,40})?([eE][-+]?[0-9]{1,2})?|[0-9]{1,30}/[0-9]{1,30})$")
]
"""An exact number in text: a decimal or a fraction."""
PathName = Annotated[str, Path(min_length=1, max_length=100, description="A name.", examples=["survey"])]
"""A name in an address."""
Number = Annotated[int, Path(ge=1, lt=2**62, description="A number that the server gave.", examples=[1])]
"""Of a seat, a request, a mechanism, a plan, in an address."""
KeyHeader = Annotated[
    str | None,
    Header(alias="Idempotency-Key", min_length=1, max_length=200, description="The same as `key` in the body."),
]
"""The key of a request, as a header."""
QUESTION = Question(Count(), epsilon="1/10").document()
"""The example of a question."""
_MECHANISM = {
    "mechanism": "sparse vector",
    "epsilon": "1/2",
    "threshold": "1000",
    "sensitivity": 2,
    "positives": 3,
    "monotone": False,
    "refresh": False,
    "share": "1/4",
}
"""The example of a mechanism."""


_PLAN = {
    "data": {"rows": 60000},
    "budget": {"epsilon": 1, "delta": "1e-6"},
    "statistics": {"people": {"count": None}, "mean_age": {"mean": "age"}},
}
"""The example of a plan: columns and people are those of the dataset."""
_WHOLE_PLAN = {"plan": 1, "columns": {"age": {"integers": [0, 99]}}, **_PLAN}
"""The same about a table that nobody registered."""


def one_key(body: str | None, header: str | None) -> str | None:
    """The key of a request, which may be in the body or in the header."""
    if body is not None and header is not None and body != header:
        raise Problem("invalid", "key: differs from the header Idempotency-Key", argument="key")
    key = header if body is None else body
    if key is not None and not key.isprintable():
        raise Problem("invalid", "key: must be text that can be printed", argument="key")
    return key


class Body(BaseModel):
    """What every body has."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Retried(Body):
    """A request that may be tried again under its key."""

    key: Key | None = Field(
        None,
        description="Names the request: the same key again gives the stored answer. Or the header Idempotency-Key.",
    )
    repeat: int = Field(0, ge=0, le=1_000_000, description="0 for the stored answer, 1, 2, … for fresh noise.")


class AskBody(Retried):
    """A question."""

    question: Document = Field(description="As `Question.document()` writes it.", examples=[QUESTION])
    share: bool = Field(False, description="Whether others may read question and answer, where the owner allows it.")


class ReceiptBody(Body):
    """A receipt, as it came with an answer."""

    ledger: str = Field(max_length=64, description="The id of the ledger.", examples=["0" * 32])
    account: str = Field(max_length=200, description="The name of the account.", examples=["survey"])
    sequence: int = Field(ge=0, lt=2**62, description="The number of the entry.", examples=[1])
    head: str = Field(pattern="^[0-9a-f]{64}$", description="The head after that entry.", examples=["0" * 64])
    commitment: str | None = Field(None, max_length=64, description="The commitment to the answer, if there is one.")


class PreviewBody(Body):
    """What a question would cost."""

    question: Document = Field(description="As `Question.document()` writes it.", examples=[QUESTION])
    confidence: float = Field(0.95, gt=0, lt=1, description="With which the error is told.")


class DryRunBody(Body):
    """A question to invented data."""

    question: Document = Field(description="As `Question.document()` writes it.", examples=[QUESTION])
    rows: int = Field(1000, ge=1, le=10_000, description="How many rows to invent.")


class MechanismPreviewBody(Body):
    """What a mechanism would cost."""

    mechanism: Document = Field(description="As `Mechanism.document()` writes it.", examples=[_MECHANISM])
    questions: int = Field(100, ge=1, le=1_000_000_000, description="For how many questions the error is told.")
    confidence: float = Field(0.95, gt=0, lt=1, description="With which the error is told.")


class MechanismBody(Retried):
    """An interactive mechanism."""

    mechanism: Document = Field(description="As `Mechanism.document()` writes it.", examples=[_MECHANISM])


class MechanismAskBody(Retried):
    """A question to a mechanism that was opened."""

    ask: Document = Field(description="The form of the question.", examples=[{"statistic": {"count": "rows"}}])


class PlanBody(Body):
    """Questions that are fixed before the first answer to any of them."""

    questions: list[Document] = Field(min_length=1, max_length=200, description="Questions.", examples=[[QUESTION]])
    delta: Amount = Field("0", description="δ of their optimal composition.", examples=["1e-7"])
    key: Key | None = Field(None, description="Names the plan.")


class PlannedBody(Body):
    """Which question of a plan."""

    index: int = Field(ge=0, lt=200, description="Its place in the plan, from 0.")


class LookBody(Body):
    """A plan to look at."""

    plan: Document = Field(
        description="As files of plans have it; what it does not say about the table is as declared.", examples=[_PLAN]
    )


class WorkOutBody(Body):
    """A plan to work out, and perhaps where to begin."""

    plan: Document = Field(description="As files of plans have it, with its columns.", examples=[_WHOLE_PLAN])
    start: Document | None = Field(None, description="The `start` of an earlier reply about nearly the same plan.")


class ReleaseBody(LookBody):
    """A plan to release: debited once, and never undone."""

    key: Key | None = Field(None, description="Names the release. By default the plan and the version do.")
    publish: bool = Field(False, description="Whether everybody who may see the dataset may read it.")


class PublicationBody(Body):
    """Publishes a release, or ends that."""

    published: bool = Field(description="Whether everybody who may see the dataset may read it.")


class CancelBody(Body):
    """Which request is to be stopped."""

    key: Key = Field(description="The key under which it was sent.")


class WishBody(Body):
    """Asks the owner for more."""

    words: Words = Field(description="What for.", examples=["Two more tables by region."])


class PersonBody(Body):
    """A new person."""

    name: Name = Field(description="Unique.", examples=["ada"])
    role: Literal["owner", "analyst", "auditor"] = Field(description="What the person may do.")


class TokenBody(Body):
    """A new token."""

    days: float = Field(90, gt=0, le=3660, description="Until it expires.")
    scope: list[Name] | None = Field(
        None, max_length=100, description="Accounts of the ledger that it is good for; null for all."
    )


class SuspensionBody(Body):
    """Suspends, or ends a suspension."""

    suspended: bool = Field(description="Whether nothing may be asked for now.")


class DialectBody(Body):
    """How a CSV file is written."""

    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = Field(
        None, description="What parts the cells of a line; null if the header decides."
    )
    quote: Literal['"', "'", ""] = Field('"', description="What stands around a cell.")
    decimal: Literal[".", ","] = Field(".", description="The decimal mark of numbers.")
    thousands: Annotated[str, Field(max_length=1)] = Field("", description="What parts the thousands of numbers.")
    encoding: Annotated[str, Field(max_length=20)] = Field("utf-8", description="How letters are written.")


class DatasetBody(Body):
    """A table to be registered: read once, checked and frozen."""

    name: Name = Field(description="Unique.", examples=["survey"])
    source: Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_printable)] = Field(
        description="A file below a folder that the settings list, several by a pattern such as 2025-*.csv, or the "
        "address of a database that they list."
    )
    declaration: Document | None = Field(
        None, description="What is declared about the table, as `optcomp data` writes it; null for a snapshot."
    )
    snapshot: bool = Field(False, description="Whether the source is a snapshot, which has its declaration in it.")
    title: Annotated[str, Field(max_length=200)] = Field("", description="For people.")
    table: Name | None = Field(
        None, description="The name of the table or sheet, if the source is a database or workbook."
    )
    account: Name = Field(description="Of the ledger: tables whose people may overlap share one.")
    epsilon: Amount | None = Field(None, description="ε of the account; null for one that is there.", examples=["3"])
    delta: Amount | None = Field(None, description="δ of the account.", examples=["1e-6"])
    free: bool = Field(False, description="Whether analysts may share their answers with others.")
    disjoint: bool | None = Field(
        None, description="Whether nobody of this account can be in another account: only the owner can know."
    )
    bad_cells: Literal["missing", "refuse"] = Field("missing", description="What happens to cells that cannot be read.")
    multiline: bool = Field(False, description="Whether quoted cells of a CSV file may hold line breaks.")
    dialect: DialectBody | None = Field(None, description="How a CSV file is written; null for the fixed defaults.")
    rename: dict[ColumnName, ColumnName] | None = Field(
        None, description="Names of columns in the source, each with the name that is declared."
    )


class CheckBody(Body):
    """A table to be looked at before it is registered."""

    source: Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_printable)] = Field(
        description="As for a new dataset."
    )
    declaration: Document = Field(description="As for a new dataset.")
    table: Name | None = Field(
        None, description="The name of the table or sheet, if the source is a database or workbook."
    )
    bad_cells: Literal["missing", "refuse"] = Field("missing", description="What happens to cells that cannot be read.")
    multiline: bool = Field(False, description="Whether quoted cells of a CSV file may hold line breaks.")
    dialect: DialectBody | None = Field(None, description="How a CSV file is written; null for the fixed defaults.")
    rename: dict[ColumnName, ColumnName] | None = Field(
        None, description="Names of columns in the source, each with the name that is declared."
    )


class VersionBody(Body):
    """A new version of a table, under the same account."""

    source: Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_printable)] = Field(
        description="As for a new dataset."
    )
    table: Name | None = Field(
        None, description="The name of the table or sheet, if the source is a database or workbook."
    )
    multiline: bool = Field(False, description="Whether quoted cells of a CSV file may hold line breaks.")
    dialect: DialectBody | None = Field(None, description="How a CSV file is written; null for the fixed defaults.")
    rename: dict[ColumnName, ColumnName] | None = Field(
        None, description="Names of columns in the source, each with the name that is declared."
    )


class BudgetBody(Body):
    """A smaller budget for the account of a dataset."""

    epsilon: Amount = Field(description="The new ε.", examples=["2"])
    delta: Amount | None = Field(None, description="The new δ; null for none.", examples=["1e-6"])


class ProposalBody(Body):
    """How slots could be cut."""

    analysts: dict[Name, Annotated[float, Field(gt=0, le=1e6)]] = Field(
        min_length=1, max_length=200, description="Names with weights.", examples=[{"ada": 1, "ben": 1}]
    )
    epsilon: Amount = Field(description="ε of the whole batch.", examples=["1"])
    delta: Amount = Field(description="δ of the whole batch.", examples=["1e-7"])


class Share(Body):
    """Of one analyst."""

    epsilon: Amount = Field(description="ε of the slot.", examples=["1/2"])
    delta: Amount = Field("0", description="δ of the slot.")


class BatchBody(Body):
    """A batch of slots: one debit of the account, certified."""

    batch: Name = Field(description="Unique in the account.", examples=["spring"])
    slots: dict[Name, Share] = Field(min_length=1, max_length=1000, description="A share for each analyst.")
    delta: Amount = Field(description="δ of the whole batch.", examples=["1e-7"])
    epsilon: Amount | None = Field(None, description="ε of the whole batch; by default what composition comes to.")


class HandOnBody(Body):
    """Whose seat it is from now on."""

    analyst: Name = Field(description="An analyst.")


class WishDecisionBody(Body):
    """The owner's answer to a wish."""

    granted: bool = Field(description="Whether it is granted; slots are cut by a request of their own.")
