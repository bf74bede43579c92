"""Backups of a home: the centre's database, the ledger, the settings, the snapshots and the records of releases.

The centre's database is copied first.  The ledger may then know a batch that the copy of the centre does not, and
cutting it again completes that; the other way round a seat would have no slot.  The ledger's keys are not in a backup.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from optcomp.center.settings import FILE, RELEASES, SNAPSHOTS, Settings
from optcomp.center.store import Store
from optcomp.errors import InvalidInput
from optcomp.ledger import Ledger
from optcomp.planner import parsed

_DATABASE, _LEDGER = "center.db", "center.ledger"
"""The databases in a backup, wherever they are in the home."""


def back_up(home: str | Path, to: str | Path, *, snapshots: bool = True) -> dict[str, Any]:
    """Copy a home into a new folder while it is in use; how far its ledger goes.

    What is in PostgreSQL is not copied here, but by pg_dump.
    """
    settings, target = Settings.read(home), Path(to)
    _new_folder(target, "to")
    try:
        return _copied(settings, target, snapshots)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise


def _copied(settings: Settings, target: Path, snapshots: bool) -> dict[str, Any]:
    elsewhere: list[str] = []
    with Store(settings, create=False) as store:
        if store.database.sqlite:
            _copy_database(store, target / _DATABASE)
        else:
            elsewhere.append("database")
    with Ledger(settings.ledger, **settings.beside_ledger, create=False) as ledger:
        head = ledger.head
        if "://" in settings.ledger:
            elsewhere.append("ledger")
        else:
            head = ledger.backup(target / _LEDGER)
    if snapshots:
        shutil.copytree(settings.snapshots, target / SNAPSHOTS, ignore=shutil.ignore_patterns(".*"))
    if settings.releases.is_dir():
        shutil.copytree(settings.releases, target / RELEASES, ignore=shutil.ignore_patterns(".*"))
    shutil.copy2(settings.home / FILE, target / FILE)
    os.chmod(target / FILE, 0o600)
    return {"path": str(target), "snapshots": snapshots, "not_copied": elsewhere, **head.document()}


def _copy_database(store: Store, path: Path) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with store.database.borrowed() as connection, closing(sqlite3.connect(path)) as copy:
        connection.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a -wal that could be left behind


def restore(backup: str | Path, home: str | Path) -> dict[str, Any]:
    """A new home from a backup; its ledger debits nothing until it is adopted with the newest head that is known."""
    source, target = Path(backup), Path(home)
    Settings.read(source)  # refuses what is no backup
    given = parsed((source / FILE).read_text(encoding="utf8"), FILE)
    for key, name in (("database", _DATABASE), ("ledger", _LEDGER)):
        if (source / name).exists():
            given[key] = name  # the copy, and not what it is a copy of
    if (source / _LEDGER).exists():
        given["private"] = f"{_LEDGER}.private"
    _new_folder(target, "home")
    try:
        for name in (_DATABASE, _LEDGER):
            if (source / name).exists():
                shutil.copy2(source / name, target / name)
                os.chmod(target / name, 0o600)
        if (source / SNAPSHOTS).is_dir():
            shutil.copytree(source / SNAPSHOTS, target / SNAPSHOTS)
        else:
            (target / SNAPSHOTS).mkdir(mode=0o700)
        if (source / RELEASES).is_dir():
            shutil.copytree(source / RELEASES, target / RELEASES)
        shutil.copy2(source / FILE, target / FILE)
        made = Settings.read(target).rewrite(**given)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return {"home": str(made.home), "ledger": _shown(made.ledger), "private": str(made.private), "adopt": True}


def _shown(address: str) -> str:
    return address if "://" not in address else address.partition("://")[0] + "://…"


def _new_folder(path: Path, argument: str) -> None:
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        raise InvalidInput(argument, str(path), "is there already: name a new folder") from None
    except OSError as error:
        raise InvalidInput(argument, str(path), f"cannot be made ({error.strerror})") from None
    with suppress(OSError):
        os.chmod(path, 0o700)  # whatever the mask of the process says
