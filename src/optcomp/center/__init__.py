"""The data centre: snapshots that many analysts ask, each within a slot, under one proof.

Optional: `pip install 'optcomp[center]'`.  A name fetches its module when it is first used: whoever needs the settings
or the store needs no web server.
"""

from typing import TYPE_CHECKING

from optcomp.late import late, names_of

if TYPE_CHECKING:
    from optcomp.center.access import (
        count_body,
        count_failed,
        count_sign_in,
        let_in,
        person_of,
        roles,
        service_of,
        spends,
    )
    from optcomp.center.app import from_environment, made_from_environment, make_app
    from optcomp.center.background import started
    from optcomp.center.backups import back_up, restore
    from optcomp.center.bodies import Number
    from optcomp.center.calculations import ROWS
    from optcomp.center.calculators import visitor
    from optcomp.center.catalogue import Catalogue
    from optcomp.center.changes import Change, Changes, Waiting
    from optcomp.center.datasets import Dataset
    from optcomp.center.demo import Demo, make_demo
    from optcomp.center.demo_process import DidNotStart, demo_server
    from optcomp.center.drafts import Draft, Drafts
    from optcomp.center.failures import Busy, CenterError, TookTooLong
    from optcomp.center.invented import invented_people
    from optcomp.center.looked_up import datasets_of, seat_of, seats_of, seen_dataset
    from optcomp.center.owner_jobs import OwnerJob
    from optcomp.center.parsing import read_form
    from optcomp.center.people import People, TokenView
    from optcomp.center.persons import ALLOWED, Person
    from optcomp.center.problems import DEFECT, Problem, not_answered, of_library
    from optcomp.center.protection import OPEN_BYTES, SPENDS, described, log, take_body
    from optcomp.center.refusals import Conflict, Forbidden, NeedsSecond, NotFound, NotKnown, Suspended, TooMany
    from optcomp.center.seats import Seat
    from optcomp.center.service import ASKING, Service
    from optcomp.center.serving import Listening, serve
    from optcomp.center.settings import Settings
    from optcomp.center.shares import Proposal
    from optcomp.center.sources import declared_of
    from optcomp.center.store import Store
    from optcomp.center.visits import Visit, Visits
    from optcomp.center.wishes import Wish

_MODULE_OF = {
    "ALLOWED": "persons",
    "ASKING": "service",
    "Busy": "failures",
    "Catalogue": "catalogue",
    "CenterError": "failures",
    "Change": "changes",
    "Changes": "changes",
    "Conflict": "refusals",
    "DEFECT": "problems",
    "Dataset": "datasets",
    "Demo": "demo",
    "DidNotStart": "demo_process",
    "Draft": "drafts",
    "Drafts": "drafts",
    "Forbidden": "refusals",
    "Listening": "serving",
    "NeedsSecond": "refusals",
    "NotFound": "refusals",
    "NotKnown": "refusals",
    "Number": "bodies",
    "OPEN_BYTES": "protection",
    "OwnerJob": "owner_jobs",
    "People": "people",
    "Person": "persons",
    "Problem": "problems",
    "Proposal": "shares",
    "ROWS": "calculations",
    "SPENDS": "protection",
    "Seat": "seats",
    "Service": "service",
    "Settings": "settings",
    "Store": "store",
    "Suspended": "refusals",
    "TokenView": "people",
    "TooMany": "refusals",
    "TookTooLong": "failures",
    "Visit": "visits",
    "Visits": "visits",
    "Waiting": "changes",
    "Wish": "wishes",
    "back_up": "backups",
    "count_body": "access",
    "count_failed": "access",
    "count_sign_in": "access",
    "datasets_of": "looked_up",
    "declared_of": "sources",
    "demo_server": "demo_process",
    "described": "protection",
    "from_environment": "app",
    "invented_people": "invented",
    "let_in": "access",
    "log": "protection",
    "made_from_environment": "app",
    "make_app": "app",
    "make_demo": "demo",
    "not_answered": "problems",
    "of_library": "problems",
    "person_of": "access",
    "read_form": "parsing",
    "restore": "backups",
    "roles": "access",
    "seat_of": "looked_up",
    "seats_of": "looked_up",
    "seen_dataset": "looked_up",
    "serve": "serving",
    "service_of": "access",
    "spends": "access",
    "started": "background",
    "take_body": "protection",
    "visitor": "calculators",
}
"""Every name of the surface, and where it comes from."""

__all__ = [
    "ALLOWED",
    "ASKING",
    "Busy",
    "Catalogue",
    "CenterError",
    "Change",
    "Changes",
    "Conflict",
    "DEFECT",
    "Dataset",
    "Demo",
    "DidNotStart",
    "Draft",
    "Drafts",
    "Forbidden",
    "Listening",
    "NeedsSecond",
    "NotFound",
    "NotKnown",
    "Number",
    "OPEN_BYTES",
    "OwnerJob",
    "People",
    "Person",
    "Problem",
    "Proposal",
    "ROWS",
    "SPENDS",
    "Seat",
    "Service",
    "Settings",
    "Store",
    "Suspended",
    "TokenView",
    "TooMany",
    "TookTooLong",
    "Visit",
    "Visits",
    "Waiting",
    "Wish",
    "back_up",
    "count_body",
    "count_failed",
    "count_sign_in",
    "datasets_of",
    "declared_of",
    "demo_server",
    "described",
    "from_environment",
    "invented_people",
    "let_in",
    "log",
    "made_from_environment",
    "make_app",
    "make_demo",
    "not_answered",
    "of_library",
    "person_of",
    "read_form",
    "restore",
    "roles",
    "seat_of",
    "seats_of",
    "seen_dataset",
    "serve",
    "service_of",
    "spends",
    "started",
    "take_body",
    "visitor",
]

if not TYPE_CHECKING:  # a type checker reads the imports above
    __getattr__, __dir__ = late(__name__, _MODULE_OF), names_of(__name__, _MODULE_OF)
