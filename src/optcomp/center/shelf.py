"""Releases of a centre: which plans were released about which data set, and their records, which never change.

First what is meant is noted here; then the ledger debits and keeps the release; then its record is written, and what
has happened is noted.  Whatever is interrupted in between is finished later, if it was debited.  A plan is released
once about a version of a data set: whoever asks for it again gets the same record, and nothing is paid.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from optcomp.center.changes import Acting
from optcomp.center.datasets import Dataset, at_version
from optcomp.center.persons import By
from optcomp.center.plan_forms import plan_about
from optcomp.center.refusals import Conflict, NeedsSecond, NotFound, Suspended
from optcomp.center.store import now
from optcomp.center.tables import DATASETS, PROPOSALS, RELEASES, VERSIONS
from optcomp.center.wishes import Wishes
from optcomp.errors import InvalidInput
from optcomp.release import plan_digest, replace_file, stored_release, text_of
from optcomp.statistics import declaration_document

_LONGEST_KEY = 200
"""Characters of a key."""
_KIND = "release"
"""How a release that waits for a second owner is called."""
_FORGOTTEN = 86_400.0
"""Seconds after which a release that was meant and never debited is forgotten."""


@dataclass(frozen=True)
class Release:
    """A plan that was released about a data set, or is on its way."""

    id: int
    dataset: str
    version: int
    plan: str
    """The digest of the plan."""
    source: dict[str, Any]
    """The plan."""
    key: str | None
    at: float
    who: str
    second: str | None
    """The owner who confirmed it, where two are wanted."""
    proposal: int | None
    published: bool
    """Whether everybody who may see the data set may read it."""
    state: str
    """`waiting` until the record is there, then `done`."""
    data: str | None
    """By what the account knows the snapshot; None until it is done."""
    sha256: str | None
    """Of the record."""

    @property
    def done(self) -> bool:
        """Whether there is a record."""
        return self.state == "done"

    def document(self) -> dict[str, Any]:
        """Ready for JSON; without the plan, which is in the record."""
        names = ("id", "dataset", "version", "plan", "at", "who", "second", "published", "state", "sha256")
        return {name: getattr(self, name) for name in names}


class Shelf(Wishes):
    """Knows the releases of all data sets, and keeps their records."""

    def mean_release(
        self, name: str, plan: object, *, key: str | None = None, publish: bool = False, by: By
    ) -> Release:
        """Note that a plan is to be released, before anything is debited; one that is known already is returned.

        Where two owners are wanted, it waits for the second one (`NeedsSecond`).
        """
        acts = self._acts(by, name)
        dataset = self.dataset(name)
        document = plan_about(plan, dataset.declared, dataset.account)
        detail = {"name": name, "version": dataset.version, "plan": plan_digest(document.source)}
        detail |= {"document": _written_plan(document.source), "key": _checked_key(key), "publish": _truth(publish)}
        with self._store.read() as connection:
            found = self._found(connection, detail)
        if found is not None:
            return found
        _check_open(dataset)
        self._second_release(detail, by)
        return self.mean_confirmed(detail, acts)

    def mean_confirmed(self, detail: Mapping[str, Any], acts: Acting) -> Release:
        """The same when everybody has agreed who must."""
        dataset = self.dataset(detail["name"])
        _check_open(dataset)
        with self._store.write() as connection:
            found = self._found(connection, detail)
            if found is not None:
                if found.done and acts.proposal is not None:
                    mine = update(PROPOSALS).where(PROPOSALS.c.id == acts.proposal)
                    connection.execute(mine.values(state="done"))
                return found
            if dataset.version != detail["version"]:
                raise Conflict(f"data set {dataset.name!r}", "has another version since this release was asked for")
            values = {"dataset": dataset.id, "version": dataset.version, "plan": detail["plan"]}
            values |= {"document": detail["document"], "key": detail["key"], "at": now(connection)}
            values |= {"who": acts.by, "second": acts.second, "proposal": acts.proposal}
            values |= {"published": detail["publish"], "state": "waiting"}
            connection.execute(insert(RELEASES).values(**values))
            made = self._found(connection, detail)
        assert made is not None
        return made

    def place_of_release(self, release: Release) -> dict[str, Any]:
        """The data set of a release as jobs know it, in the version that it is about."""
        dataset = self.dataset(release.dataset)
        mine = VERSIONS.c.dataset == dataset.id, VERSIONS.c.version == release.version
        with self._store.read() as connection:
            snapshot = connection.execute(select(VERSIONS.c.snapshot).where(*mine)).scalar_one()
        return place_of_dataset(at_version(dataset, release.version, self._store.settings.home / snapshot))

    def keep_release(self, release: Release, record: Mapping[str, Any]) -> Release:
        """Write the record that the ledger keeps, and note what has happened; again, it changes nothing."""
        text = text_of(record)
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        same = {"name": release.dataset, "version": release.version, "plan": release.plan, "key": None}
        known = {"state": "done", "data": record["record"]["data_hmac_sha256"], "sha256": sha256}
        with self._store.write() as connection:
            found = self._found(connection, same) or self._put_again(connection, release)
            if found.done:
                return found
            self._write(found, text)  # before it is noted: what is noted is there
            connection.execute(update(RELEASES).where(RELEASES.c.id == found.id).values(**known))
            acts = Acting(found.who, found.second, found.proposal)
            told = {"name": found.dataset, "release": found.id, "version": found.version, "plan": found.plan}
            told |= {"key": found.key, "published": found.published, "sha256": sha256}
            told |= {"total": record["guarantee"]["total"], "paid": record["ledger"]["paid"]}
            self._changes.note(connection, acts, "released", {**told, "receipt": record["ledger"]["receipt"]})
            done = self._found(connection, same)
        assert done is not None
        return done

    def drop_release(self, release: Release) -> None:
        """Forget a release that was refused; one that was debited stays."""
        if not self.account(self.dataset(release.dataset)).has_released(release.plan):
            with self._store.write() as connection:
                mine = RELEASES.c.id == release.id, RELEASES.c.state == "waiting"
                connection.execute(delete(RELEASES).where(*mine))

    def interrupted_releases(self) -> list[Release]:
        """Those without a record, the oldest first; what was never debited is forgotten after a day."""
        with self._store.read() as connection:
            rows = connection.execute(_releases().where(RELEASES.c.state == "waiting").order_by(RELEASES.c.id)).all()
            until = now(connection) - _FORGOTTEN
        for row in rows:
            if row.at < until:
                self.drop_release(_release(row))
        return [_release(row) for row in rows if row.at >= until]

    def releases(self, name: str) -> list[Release]:
        """All releases about a data set, the oldest first."""
        wanted = _releases().where(DATASETS.c.name == name).order_by(RELEASES.c.id)
        with self._store.read() as connection:
            return [_release(row) for row in connection.execute(wanted)]

    def release(self, name: str, number: int) -> Release:
        """One of them."""
        wanted = _releases().where(DATASETS.c.name == name, RELEASES.c.id == number)
        with self._store.read() as connection:
            row = connection.execute(wanted).one_or_none()
        if row is None:
            raise NotFound("release", number)
        return _release(row)

    def known_release(self, name: str, plan: str) -> Release | None:
        """The release of a plan, by its digest, about the newest version of a data set."""
        version = self.dataset(name).version
        with self._store.read() as connection:
            return self._found(connection, {"name": name, "version": version, "plan": plan, "key": None})

    def record_text(self, release: Release) -> str:
        """The record, byte for byte as it was made; a file that is lost or changed is made again from the ledger."""
        if not release.done:
            raise Conflict(f"release {release.id}", "has no record yet")
        try:
            text = self._path(release).read_bytes().decode()
        except (OSError, ValueError):
            text = ""
        if _digest(text) == release.sha256:
            return text
        account = self.account(self.dataset(release.dataset))
        found = stored_release(account, release.plan, str(release.data))
        text = "" if found is None else text_of(found)
        if _digest(text) != release.sha256:
            raise Conflict(f"release {release.id}", "is not in the ledger as it was written; the auditor can say more")
        self._write(release, text)
        return text

    def publish_release(self, name: str, number: int, published: bool, *, by: By) -> Release:
        """Let everybody who may see the data set read a release, or end that; nothing is paid."""
        acts = self._acts(by, name)
        found = self.release(name, number)
        if found.published != _truth(published):
            with self._store.write() as connection:
                change = update(RELEASES).where(RELEASES.c.id == found.id)
                connection.execute(change.values(published=published))
                what = "release published" if published else "release not published any more"
                self._changes.note(connection, acts, what, {"name": name, "release": number})
        return self.release(name, number)

    def _release_here(self, detail: Mapping[str, Any], acts: Acting) -> Release:
        """Release a plan in this process: for an owner who confirms on the machine itself."""
        from optcomp.center.release_jobs import release as carry_out

        meant = self.mean_confirmed(detail, acts)
        if meant.done:
            return meant
        try:
            place = self.place_of_release(meant)
            found = carry_out(self._ledger, self._store.settings, dataset=place, plan=meant.source)
        except Exception:
            self.drop_release(meant)
            raise
        return self.keep_release(meant, found["record"])

    def _second_release(self, detail: Mapping[str, Any], by: By) -> None:
        """Where two persons are wanted; the same release asked for again waits under the same number."""
        if self._store.settings.two_persons:
            for each in self._changes.waiting():
                if each.kind == _KIND and each.detail == detail:
                    raise NeedsSecond(each.id, _KIND)
        self._second(_KIND, detail, by)

    def _found(self, connection: Connection, detail: Mapping[str, Any]) -> Release | None:
        """The release of this key, or else of this plan and version; a key that names another plan is refused."""
        here = DATASETS.c.name == detail["name"]
        if detail["key"] is not None:
            row = connection.execute(_releases().where(here, RELEASES.c.key == detail["key"])).one_or_none()
            if row is not None and row.plan != detail["plan"]:
                raise InvalidInput("key", detail["key"], "was used for another plan")
            if row is not None:
                return _release(row)
        same = RELEASES.c.version == detail["version"], RELEASES.c.plan == detail["plan"]
        row = connection.execute(_releases().where(here, *same)).one_or_none()
        return None if row is None else _release(row)

    def _put_again(self, connection: Connection, release: Release) -> Release:
        """A row that somebody dropped whose own try was refused, while this one was debited."""
        number = connection.execute(select(DATASETS.c.id).where(DATASETS.c.name == release.dataset)).scalar_one()
        same = ("version", "plan", "key", "at", "who", "second", "proposal", "published")
        values = {name: getattr(release, name) for name in same} | {"dataset": number, "state": "waiting"}
        connection.execute(insert(RELEASES).values(**values, document=_written_plan(release.source)))
        mine = RELEASES.c.dataset == number, RELEASES.c.version == release.version, RELEASES.c.plan == release.plan
        return _release(connection.execute(_releases().where(*mine)).one())

    def _path(self, release: Release) -> Path:
        return self._store.settings.releases / release.dataset / f"{release.id}.json"

    def _write(self, release: Release, text: str) -> None:
        path = self._path(release)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.chmod(self._store.settings.releases, 0o700)  # whatever the mask of the process says
        replace_file(path, text)


def place_of_dataset(dataset: Dataset) -> dict[str, Any]:
    """A data set as jobs about plans know it."""
    about = {"account": dataset.account, "snapshot": str(dataset.snapshot)}
    return about | {"declaration": declaration_document(dataset.declared)}


def _releases() -> Any:
    """Releases with the names of their data sets."""
    joined = RELEASES.join(DATASETS, DATASETS.c.id == RELEASES.c.dataset)
    return select(RELEASES, DATASETS.c.name.label("dataset_name")).select_from(joined)


def _release(row: Row[Any]) -> Release:
    about = row.id, row.dataset_name, row.version, row.plan, json.loads(row.document), row.key, row.at, row.who
    return Release(*about, row.second, row.proposal, bool(row.published), row.state, row.data, row.sha256)


def _written_plan(plan: Mapping[str, Any]) -> str:
    """A plan as text: its statistics stay in their order."""
    return json.dumps(plan, ensure_ascii=False, allow_nan=False)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _check_open(dataset: Dataset) -> None:
    if dataset.state != "open":
        raise Suspended(f"data set {dataset.name!r}")


def _checked_key(key: object) -> str | None:
    if key is None or (isinstance(key, str) and 0 < len(key) <= _LONGEST_KEY and key.isprintable() and key.strip()):
        return key
    raise InvalidInput("key", key, f"must be text that can be printed, up to {_LONGEST_KEY} characters")


def _truth(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise InvalidInput("publish", value, "must be true or false")
