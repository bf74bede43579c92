"""The data centre: snapshots that many analysts ask, each within a slot, under one proof.

Optional: `pip install 'optcomp[center]'`.  A name fetches its module when it is first used: whoever needs the settings
or the store needs no web server.
"""

from typing import TYPE_CHECKING

from optcomp.late import late, names_of

if TYPE_CHECKING:
    from optcomp.center.app import from_environment, make_app
    from optcomp.center.backups import back_up, restore
    from optcomp.center.catalogue import Catalogue
    from optcomp.center.changes import Change, Changes, Waiting
    from optcomp.center.datasets import Dataset
    from optcomp.center.demo import Demo, make_demo
    from optcomp.center.demo_process import DidNotStart, demo_server
    from optcomp.center.invented import invented_people
    from optcomp.center.people import People, TokenView
    from optcomp.center.refusals import Conflict, Forbidden, NeedsSecond, NotFound, NotKnown, Suspended, TooMany
    from optcomp.center.roles import ALLOWED, Person
    from optcomp.center.seats import Seat
    from optcomp.center.serving import Listening, serve
    from optcomp.center.settings import Settings
    from optcomp.center.shares import Proposal
    from optcomp.center.store import Store
    from optcomp.center.wishes import Wish

_MODULE_OF = {
    "ALLOWED": "roles",
    "Catalogue": "catalogue",
    "Change": "changes",
    "Changes": "changes",
    "Conflict": "refusals",
    "Dataset": "datasets",
    "Demo": "demo",
    "DidNotStart": "demo_process",
    "Forbidden": "refusals",
    "Listening": "serving",
    "NeedsSecond": "refusals",
    "NotFound": "refusals",
    "NotKnown": "refusals",
    "People": "people",
    "Person": "roles",
    "Proposal": "shares",
    "Seat": "seats",
    "Settings": "settings",
    "Store": "store",
    "Suspended": "refusals",
    "TokenView": "people",
    "TooMany": "refusals",
    "Waiting": "changes",
    "Wish": "wishes",
    "back_up": "backups",
    "demo_server": "demo_process",
    "from_environment": "app",
    "invented_people": "invented",
    "make_app": "app",
    "make_demo": "demo",
    "restore": "backups",
    "serve": "serving",
}
"""Every name of the surface, and where it comes from."""

__all__ = [
    "ALLOWED",
    "Catalogue",
    "Change",
    "Changes",
    "Conflict",
    "Dataset",
    "Demo",
    "DidNotStart",
    "Forbidden",
    "Listening",
    "NeedsSecond",
    "NotFound",
    "NotKnown",
    "People",
    "Person",
    "Proposal",
    "Seat",
    "Settings",
    "Store",
    "Suspended",
    "TokenView",
    "TooMany",
    "Waiting",
    "Wish",
    "back_up",
    "demo_server",
    "from_environment",
    "invented_people",
    "make_app",
    "make_demo",
    "restore",
    "serve",
]

if not TYPE_CHECKING:  # a type checker reads the imports above
    __getattr__, __dir__ = late(__name__, _MODULE_OF), names_of(__name__, _MODULE_OF)
