"""The bodies of responses, as the published description of the interface has them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from optcomp.center import catalogue
from optcomp.center.problems import STATUS
from optcomp.statistics import declaration_document


class Reply(BaseModel):
    """What every reply has: the fields that are listed, and in places more."""

    model_config = ConfigDict(extra="allow")


class Error(Reply):
    """Every error has this form."""

    error: str = Field(description="A code: " + ", ".join(STATUS) + ".", examples=["invalid"])
    message: str = Field(description="In words; never a value of the data.")
    argument: str | None = Field(None, description="What is wrong with the request, where it is one thing.")


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": Error, "description": ", ".join(code for code, each in STATUS.items() if each == status)}
    for status in sorted({*STATUS.values()} - {500})
}
"""What any request may be told instead of its answer."""


class Me(Reply):
    """Who asks."""

    name: str = Field(description="Of the person.")
    role: str = Field(description="owner, analyst or auditor.")
    scope: list[str] | None = Field(description="Accounts that the token is good for; null for all.")


class Dataset(Reply):
    """A dataset in short."""

    name: str = Field(description="Unique.")
    title: str = Field(description="For people.")
    version: int = Field(description="How often it was renewed.")
    free: bool = Field(description="Whether analysts may share their answers.")
    state: str = Field(description="open or closed.")

    @classmethod
    def of(cls, found: catalogue.Dataset) -> Dataset:
        """As the catalogue knows it; nothing of its data, not even how many rows it has."""
        return Dataset(**_short(found))


class DatasetInFull(Dataset):
    """A dataset with its declaration."""

    account: str = Field(description="Of the ledger.")
    declaration: dict[str, Any] = Field(description="All that sensitivities and errors follow from.")

    @classmethod
    def of_full(cls, found: catalogue.Dataset) -> DatasetInFull:
        """As the catalogue knows it."""
        return DatasetInFull(**_short(found), account=found.account, declaration=declaration_of(found))


class Datasets(Reply):
    """Several."""

    datasets: list[Dataset] = Field(description="By name.")


class Seat(Reply):
    """Where an analyst may ask."""

    id: int = Field(description="By which requests name it.")
    dataset: str = Field(description="What it is about.")
    version: int = Field(description="Of the dataset.")
    batch: str = Field(description="In which its slot was cut.")
    slot: str = Field(description="Of the ledger.")
    analyst: str = Field(description="Whose it is.")
    suspended: bool = Field(description="Whether nothing may be asked for now.")


class Seats(Reply):
    """Several."""

    seats: list[Seat] = Field(description="By number.")


class SeatInFull(Seat):
    """A seat with what is left."""

    left: dict[str, Any] = Field(description="Exact amounts, and in words.")
    notice: str | None = Field(description="A word when little is left.")


class Transcript(Reply):
    """What was asked."""

    requests: list[dict[str, Any]] = Field(description="What was asked, paid and answered, the oldest first.")
    more: bool = Field(description="Whether there are more: ask again with `after`.")


class Preview(Reply):
    """What a question would cost; from declarations and the transcript only."""


class Answer(Reply):
    """An answer with its receipt."""

    answer: dict[str, Any] = Field(description="The question and the noisy amounts, exact.")
    receipt: dict[str, Any] | None = Field(None, description="Where the ledger entered it.")
    request: int | None = Field(None, description="Its number, for `why`.")


class DryRun(Reply):
    """An answer about invented data."""

    answer: dict[str, Any] = Field(description="As a real one.")
    dry_run: bool = Field(description="True: it says nothing about anybody.")


class FreeAnswers(Reply):
    """Answers that were shared."""

    answers: list[dict[str, Any]] = Field(description="answer and receipt of each.")


class Mechanisms(Reply):
    """Interactive mechanisms as they stand."""

    mechanisms: list[dict[str, Any]] = Field(description="Each with its answers and what it has left.")


class Opened(Reply):
    """An interactive mechanism that was paid for."""

    mechanism: int = Field(description="Its number.")


class MechanismAnswer(Reply):
    """What a mechanism told."""

    answer: Any = Field(description="As the mechanism tells it.")


class Plan(Reply):
    """Questions that were paid for together."""

    plan: int = Field(description="Its number.")


class WorkedOut(Reply):
    """A plan about any table, worked out."""

    facts: dict[str, Any] = Field(description="Statistics with budgets and errors, the total, and all of it in words.")
    units: list[str] = Field(description="What the error of each statistic is counted in.")
    totals: dict[str, float | None] = Field(description="The total: optimal, by sums of ε, and by sums of ρ.")
    start: dict[str, Any] = Field(description="Send it with the next plan, if that is nearly the same.")


class PlanLook(Reply):
    """What a plan would cost; from declarations and the account only."""

    plan: str = Field(description="The digest of the plan.")
    document: dict[str, Any] = Field(description="The plan, with what is declared about the table.")
    facts: dict[str, Any] = Field(description="Statistics with budgets and errors, the total, and all of it in words.")
    fits: bool = Field(description="Whether it can be released now.")
    reason: str | None = Field(description="Why not.")
    paid: dict[str, Any] | None = Field(description="What would be debited, exactly and in words.")
    left: dict[str, Any] | None = Field(description="What is left in the account now.")
    after: dict[str, Any] | None = Field(description="What would be left.")
    committed: bool = Field(description="Whether a slot was committed for it, which pays instead of the account.")
    released: int | None = Field(description="The number of the same plan's release, which costs nothing again.")


class ReleaseInShort(Reply):
    """A release without its record."""

    id: int = Field(description="Its number.")
    dataset: str = Field(description="What it is about.")
    version: int = Field(description="Of the dataset.")
    plan: str = Field(description="The digest of the plan.")
    at: float = Field(description="When it was asked for: seconds since 1970.")
    who: str = Field(description="The owner who released it.")
    second: str | None = Field(description="The owner who confirmed it, where two are wanted.")
    published: bool = Field(description="Whether everybody who may see the dataset may read it.")
    state: str = Field(description="done; or waiting, until the record is there.")
    sha256: str | None = Field(description="Of the record.")


class Releases(Reply):
    """Several."""

    releases: list[ReleaseInShort] = Field(description="The oldest first.")


class Released(ReleaseInShort):
    """A release with its record."""

    record: dict[str, Any] = Field(description="What `optcomp verify` proves again; it never changes.")


class Cancelled(Reply):
    """Whether something was stopped."""

    cancelled: bool = Field(description="False if no worker of any server was at work on such a request.")


class Why(Reply):
    """Why an answer is private."""


class Wish(Reply):
    """A word to the owner."""

    wish: int = Field(description="Its number.")


class Done(Reply):
    """It was done."""

    done: bool = Field(True, description="True.")


class Budget(Reply):
    """What an account may spend in all."""

    dataset: str = Field(description="Whose account it is.")
    account: str = Field(description="Of the ledger.")
    budget: str = Field(description="In words.")


class Columns(Reply):
    """The columns of a source."""

    columns: dict[str, str] = Field(description="integers, reals or categories, as their types say; or nothing.")
    files: list[str] = Field(description="Names of the files that are the table, as they are read; none of a database.")


class Proposed(Reply):
    """How a file of lines looks written."""

    dialect: dict[str, str] | None = Field(description="As a new dataset takes it; null of what is not one of lines.")


class Checked(Reply):
    """Exact counts, for owners alone: what preparation would find, change and leave out."""

    notice: str = Field(description="That they are not private.")
    advice: list[str] = Field(description="One line for each thing that is probably wrong.")


class OwnerJob(Reply):
    """Work on a source, which goes on in the background."""

    id: int = Field(description="By which requests name it.")
    kind: str = Field(description="sources, columns, dialect, check, register, renew or confirm.")
    who: str = Field(description="The owner who asked.")
    about: str = Field(description="Dataset, source and table, as they were sent.")
    account: str | None = Field(description="Of the ledger, if it is about one.")
    state: str = Field(description="waiting or running; then done, failed, cancelled or interrupted.")
    step: str | None = Field(description="What is done now, in words.")
    share: float | None = Field(description="Of the step, between 0 and 1; null where nobody can tell.")
    asked: float = Field(description="When it was asked for: seconds since 1970.")
    began: float | None = Field(description="When a process began.")
    ended: float | None = Field(description="When it ended; a week later it is forgotten.")
    result: dict[str, Any] | None = Field(
        description="The reply that the request would have had; null in lists, and of checks that others asked for."
    )
    error: dict[str, Any] | None = Field(description="The error that it would have had, if there is no result.")


class OwnerJobs(Reply):
    """Several."""

    jobs: list[OwnerJob] = Field(description="The newest first, up to a hundred.")


class Waits(Reply):
    """Nothing is changed yet: another owner must confirm it."""

    confirmation: int = Field(description="Its number.")
    message: str = Field(description="In words.")


class Confirmed(Reply):
    """What two owners changed."""

    kind: str = Field(description="What was asked for.")
    who: str = Field(description="Who asked.")
    second: str | None = Field(description="Who confirmed.")
    made: Any = Field(None, description="What came of it; of a token the token itself, which is shown here alone.")


class Token(Reply):
    """A new token: shown here, and never again."""

    token: str = Field(description="Keep it; only its hash is stored.")


class Proposal(Reply):
    """How slots could be cut, and what that gains."""


class Gain(Reply):
    """Of so many equal slots."""

    slots: int = Field(description="How many.")
    optimal: str = Field(description="ε of each by optimal composition.")
    split: str = Field(description="ε of each by splitting.")


class Gains(Reply):
    """What optimal composition gains over splitting."""

    gains: list[Gain] = Field(description="By the number of slots.")


class Certificate(Reply):
    """Of a batch: what its slots compose to, and by which theorem."""


class Listed(Reply):
    """A list."""

    entries: list[dict[str, Any]] = Field(description="The oldest first.")


class Verified(Reply):
    """What a verification of the ledger found."""


class Presented(Reply):
    """Whether the ledger has what a receipt proves."""

    found: bool = Field(description="Whether the head of the receipt lies on the chain.")
    problem: str | None = Field(description="What is missing; null if nothing is.")
    closed: bool = Field(description="Whether nothing is debited from now on, until the ledger is adopted.")


class History(Reply):
    """Entries of the chain, in words."""

    entries: list[dict[str, Any]] = Field(description="The oldest first.")
    last: int = Field(description="The number of the newest entry: ask again with `after`.")


class BatchCertificate(Reply):
    """What a batch comes to, proved again."""

    certificate: dict[str, Any] = Field(description="For `optcomp verify`, which proves it without trusting us.")


class Exported(Reply):
    """A signed export of the ledger: all entries and questions, and no answer."""

    sequence: int = Field(description="Of the last entry in it.")
    head: str = Field(description="The end of the chain.")
    sha256: str = Field(description="Of all lines but the last.")
    text: str = Field(description="The export: JSON lines.")


class Health(Reply):
    """Whether the server answers."""

    ok: bool = Field(description="True.")
    name: str = Field(description="Of the centre.")
    version: str = Field(description="Of optcomp.")


class Ready(Reply):
    """Whether questions can be answered."""

    ok: bool = Field(description="Whether they can.")
    state: str = Field(
        description="`ready`; `doubt`: the ledger may be a copy; `unreachable`: the ledger cannot be read; `database`: "
        "no token can be looked up in the centre's database; `processes`: a process does not answer, or does not start."
    )


def declaration_of(found: catalogue.Dataset) -> dict[str, Any]:
    """What is declared about a dataset, ready for JSON."""
    return declaration_document(found.declared)


def _short(found: catalogue.Dataset) -> dict[str, Any]:
    names = ("name", "title", "version", "free", "state")
    return {name: getattr(found, name) for name in names}


OF_OWNERS: dict[int | str, dict[str, Any]] = {
    **ERRORS,
    202: {
        "model": OwnerJob | Waits,
        "description": "The job, which goes on; or the number under which another owner must confirm it.",
    },
}
"""What requests of owners may be told instead of their replies."""
