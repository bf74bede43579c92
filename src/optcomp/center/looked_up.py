"""Datasets and seats as one person may see them; what is somebody else's is not there."""

from __future__ import annotations

from fastapi import Request

from optcomp.center.access import person_of, service_of
from optcomp.center.catalogue import Dataset, Seat
from optcomp.center.problems import Problem
from optcomp.center.refusals import NotFound
from optcomp.center.seen import all_seen_by, seen_by

_NO_SEAT = "There is no such seat."
"""The same words for one that is not there and for one that is somebody else's."""


def seats_of(request: Request) -> list[Seat]:
    """Those of an analyst; all for owners."""
    person, catalogue = person_of(request), service_of(request).catalogue
    found = catalogue.seats(person.name) if person.role == "analyst" else catalogue.seats()
    return [seat for seat in found if person.sees(seat.dataset.account)]


def seat_of(request: Request, id: int) -> Seat:
    """A seat of whoever asks, suspended or not."""
    person = person_of(request)
    try:
        found = service_of(request).catalogue.seat(id)
    except NotFound:
        raise Problem("not_found", _NO_SEAT) from None
    if found.analyst != person.name or not person.sees(found.dataset.account):
        raise Problem("not_found", _NO_SEAT)
    return found


def working_seat(request: Request, id: int) -> Seat:
    """A seat where something may be asked now."""
    found = seat_of(request, id)
    found.check()
    return found


def datasets_of(request: Request) -> list[Dataset]:
    """Those that a person may see."""
    return all_seen_by(service_of(request).catalogue, person_of(request))


def seen_dataset(request: Request, name: str) -> Dataset:
    """A dataset that a person may see."""
    return seen_by(service_of(request).catalogue, person_of(request), name)
