"""What processes do that read sources for owners: they alone open files and tables before these are registered.

Each has a store and a ledger of its own, stands back behind the processes that answer questions, and is bounded in
memory by the operating system.  It ends with the worker that started it.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from logging import getLogger
from multiprocessing.connection import Connection
from typing import Any

from optcomp.center.catalogue import Catalogue
from optcomp.center.choices import Choices
from optcomp.center.owner_jobs import OwnerJobs
from optcomp.center.persons import Person
from optcomp.center.processes import NICE, do_jobs, leave_no_core, limit_memory
from optcomp.center.refusals import NeedsSecond
from optcomp.center.settings import Settings
from optcomp.center.store import Store
from optcomp.errors import OptcompError
from optcomp.ledger import Ledger
from optcomp.numerics import listening
from optcomp.statistics import Declared, Integers, Preparation, remove_own_folders

_EVERY = 0.5
"""Seconds between two notes of how far a job has come; the first of each step is written at once."""
Told = dict[str, Any]
"""Plain JSON."""


class Workshop:
    """Store and ledger of one process that reads sources."""

    def __init__(self, settings: Settings) -> None:
        self.store = Store(settings, create=False)
        self.ledger = Ledger(settings.ledger, **settings.beside_ledger, create=False)
        self.jobs = OwnerJobs(self.store)
        half = settings.preparer_memory // 2
        self.memory = f"{half}MB" if half else None
        """What the engine takes before it goes to disk: half of what the process may take."""

    def choices(self) -> Choices:
        """What an owner may register."""
        return Choices(self.store, memory=self.memory)

    def catalogue(self, job: int | None) -> Catalogue:
        """The catalogue; what it registers is noted together with the end of a job."""
        return Catalogue(self.store, self.ledger, job=job, memory=self.memory)

    def close(self) -> None:
        """Give back all connections."""
        self.store.close()
        self.ledger.close()


def serve(connection: Connection, settings: Settings) -> None:
    """The main loop of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a service that is interrupted ends its processes itself
    from optcomp.center.logs import log_as_json

    log_as_json()
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # others reserve a gigabyte, which no limit would notice
    os.nice(NICE)
    threading.Thread(target=_end_with_parent, daemon=True, name="optcomp-parent").start()
    warm_up()
    workshop = Workshop(settings)
    leave_no_core()
    limit_memory(settings.preparer_memory)
    do_jobs(connection, partial(perform, workshop), before_exit=remove_own_folders)


def warm_up() -> None:
    """Fetch what preparation needs, so that the limit on memory is for what is read."""
    Preparation({"who": ["a"], "x": [1]}, Declared({"x": Integers(0, 1)}, person="who"))


def _end_with_parent() -> None:
    """Nobody waits for a job whose worker was killed: it is interrupted."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    remove_own_folders()
    os._exit(1)


def perform(workshop: Workshop, job: str, arguments: Mapping[str, Any]) -> Told:
    """The result of a job, why it was refused, or the number under which it waits for a second owner."""
    from optcomp.center.problems import of_library
    from optcomp.center.protection import described

    number, by = arguments["number"], _person(arguments["person"])
    try:
        with listening(_Noted(workshop.jobs, number)):
            return {"result": _JOBS[job](workshop, number, by, **json.loads(arguments["arguments"]))}
    except MemoryError:
        raise
    except NeedsSecond as found:
        return {"waits": {"confirmation": found.confirmation, "kind": found.kind}}
    except OptcompError as error:
        problem = of_library(error)
        return {"refused": {"code": problem.code, "message": problem.message, "more": problem.more}}
    except Exception as error:
        getLogger("optcomp.center").error("%s: %s", job, described(error))
        return {"defect": type(error).__name__}


class Defect(Exception):
    """An error in a process that nobody foresaw."""


def outcome_of(found: Told) -> tuple[Told | None, Exception | None]:
    """The result of a job that `perform` told, and the error that its request is told; what waits has both."""
    from optcomp.center.problems import Problem

    if "result" in found:
        return found["result"], None
    if "waits" in found:
        return {"confirmation": found["waits"]["confirmation"]}, NeedsSecond(**found["waits"])
    if "refused" in found:
        refused = found["refused"]
        return None, Problem(refused["code"], refused["message"], **refused["more"])
    return None, Defect(found["defect"])


class _Noted:
    """Writes down how far a job has come."""

    def __init__(self, jobs: OwnerJobs, number: int | None) -> None:
        self._jobs, self._number = jobs, number
        self._step, self._next = "", 0.0

    def __call__(self, step: str, share: float) -> None:
        at = time.monotonic()
        if self._number is None or (step == self._step and at < self._next):
            return
        self._step, self._next = step, at + _EVERY
        with suppress(OptcompError):  # the job goes on without
            self._jobs.report(self._number, step, share or None)


def _person(given: Mapping[str, Any]) -> Person:
    scope = given["scope"]
    return Person(**{**given, "scope": None if scope is None else tuple(scope)})


def _sources(workshop: Workshop, number: int | None, by: Person) -> Told:
    return {"entries": workshop.choices().sources(by)}


def _columns(workshop: Workshop, number: int | None, by: Person, *, source: str, **given: Any) -> Told:
    choices = workshop.choices()
    return {"columns": choices.columns(source, **given, viewer=by), "files": choices.files(source, by)}


def _dialect(workshop: Workshop, number: int | None, by: Person, *, source: str) -> Told:
    found = workshop.choices().dialect(source, by)
    return {"dialect": None if found is None else found.written}


def _check(workshop: Workshop, number: int | None, by: Person, *, draft: int | None = None, **given: Any) -> Told:
    return workshop.choices().check(**given, by=by)


def _register(
    workshop: Workshop, number: int | None, by: Person, *, draft: int | None = None, snapshot: bool, **given: Any
) -> Told:
    """Registers a table or a snapshot; the draft in which it was written is dropped then, or when it waits."""
    from optcomp.center.drafts import Drafts

    catalogue = workshop.catalogue(number)
    try:
        made = catalogue.register_snapshot(path=given.pop("source"), **given, by=by) if snapshot else None
        told = registered(made or catalogue.register(**given, by=by))
    except NeedsSecond:
        if draft is not None:
            Drafts(workshop.store).drop(by, draft)
        raise
    if draft is not None:
        with suppress(OptcompError):  # the data set is registered all the same
            Drafts(workshop.store).drop(by, draft)
    return told


def _renew(workshop: Workshop, number: int | None, by: Person, **given: Any) -> Told:
    return registered(workshop.catalogue(number).renew(**given, by=by))


def _confirm(workshop: Workshop, number: int | None, by: Person, *, confirmation: int) -> Told:
    return workshop.catalogue(number).confirm(confirmation, by=by)


def registered(found: Any) -> Told:
    """A data set, as it is told to whoever registered it."""
    from optcomp.center.replies import DatasetInFull

    return DatasetInFull.of_full(found).model_dump()


_JOBS: dict[str, Callable[..., Told]] = {
    "sources": _sources,
    "columns": _columns,
    "dialect": _dialect,
    "check": _check,
    "register": _register,
    "renew": _renew,
    "confirm": _confirm,
}
"""All of them."""
