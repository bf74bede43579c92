"""Datasets and seats as one person may see them; what is somebody else's is not there."""

from __future__ import annotations

from fastapi import Request

from optcomp.center.access import person_of, service_of
from optcomp.center.catalogue import Dataset, Seat
from optcomp.center.problems import Problem
from optcomp.center.refusals import NotFound

_NO_DATASET = "There is no such dataset."
_NO_SEAT = "There is no such seat."
"""The same words for what is not there and for what is somebody else's."""


def seats_of(request: Request) -> list[Seat]:
    """Those of an analyst; all for owners."""
    person, catalogue = person_of(request), service_of(request).catalogue
    found = catalogue.seats(person.name) if person.role == "analyst" else catalogue.seats()
    return [seat for seat in found if person.sees(seat.dataset.name)]


def seat_of(request: Request, id: int) -> Seat:
    """A seat of whoever asks, suspended or not."""
    person = person_of(request)
    try:
        found = service_of(request).catalogue.seat(id)
    except NotFound:
        raise Problem("not_found", _NO_SEAT) from None
    if found.analyst != person.name or not person.sees(found.dataset.name):
        raise Problem("not_found", _NO_SEAT)
    return found


def working_seat(request: Request, id: int) -> Seat:
    """A seat where something may be asked now."""
    found = seat_of(request, id)
    found.check()
    return found


def datasets_of(request: Request) -> list[Dataset]:
    """Those that a person may see."""
    person, catalogue = person_of(request), service_of(request).catalogue
    found = [each for each in catalogue.datasets() if person.sees(each.name)]
    if person.role != "analyst":
        return found
    seated = {seat.dataset.name for seat in seats_of(request)}
    return [each for each in found if each.name in seated]


def seen_dataset(request: Request, name: str) -> Dataset:
    """A dataset that a person may see."""
    found = next((each for each in datasets_of(request) if each.name == name), None)
    if found is None:
        raise Problem("not_found", _NO_DATASET)
    return found
