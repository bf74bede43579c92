"""Which data sets a person may see; what is somebody else's is not there."""

from __future__ import annotations

from optcomp.center.catalogue import Catalogue, Dataset
from optcomp.center.persons import Person
from optcomp.center.problems import Problem

_NO_DATASET = "There is no such dataset."
"""The same words for what is not there and for what is somebody else's."""


def all_seen_by(catalogue: Catalogue, person: Person) -> list[Dataset]:
    """All datasets that a person may see: an analyst those with a seat of theirs."""
    found = [each for each in catalogue.datasets() if person.sees(each.account)]
    if person.role != "analyst":
        return found
    seated = {seat.dataset.name for seat in catalogue.seats(person)}
    return [each for each in found if each.name in seated]


def seen_by(catalogue: Catalogue, person: Person, name: str) -> Dataset:
    """A dataset that a person may see."""
    found = next((each for each in all_seen_by(catalogue, person) if each.name == name), None)
    if found is None:
        raise Problem("not_found", _NO_DATASET)
    return found
