"""The file that a release is kept in: one file, one release, never two.

    (no file)  ->  started  ->  done
                           ->  failed  ->  started

A release begins by creating its file, before any question is asked, and ends by replacing it in one step.  What it
costs, and what it told, is in a ledger, which the file names.  A file that still says started, or failed, belongs to a
release that is running, or was interrupted; the same command again finishes it from the ledger, without paying again.
A file that names no ledger was begun without one: how far it came is not known, so its budget must be taken as spent.

The file is meant to be published, and nothing in it depends on the data but through noise.  A plain digest of the data
would tell whoever guesses all rows whether the guess is right, which no (ε, δ) allows; so the file has one under a
secret key.  The key, and the plain digest, are in a second file, to be kept with the data.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from optcomp.checker import from_json
from optcomp.errors import InvalidInput, OptcompError

FORMAT, PRIVATE = "optcomp-release", "optcomp-release-private"
_CHUNK = 1 << 20
"""Bytes read at a time."""
_SHORT = 12
"""Digits of a digest that tell two apart for a reader."""
View = dict[str, Any]
_PARTS = {"facts": dict, "growth": list, "statistics": list, "guarantee": dict, "certificate": dict, "finished": str}


class NotReleased(OptcompError):
    """A file stands in the way of a release: of something else, or of a release that was interrupted."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


class Taken(Exception):
    """Another process has finished this release meanwhile, or another one in the same file."""


class Unpaid(Exception):
    """A release was refused before anything was debited; `.error` says why."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        super().__init__(str(error))


@dataclass(frozen=True)
class Identity:
    """What a release is about: a plan and data, by their digests."""

    plan: str
    data: str

    def keyed(self, key: bytes) -> str:
        """The digest of the data under a key."""
        return hmac.new(key, self.data.encode(), "sha256").hexdigest()


def plan_digest(document: Mapping[str, Any]) -> str:
    """SHA-256 of what a plan says, whatever its comments and its layout."""
    text = json.dumps(_plain(document), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: object) -> Any:
    """Floats as text, which decimals of a file are anyway."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value if value is None or isinstance(value, bool | int) else str(value)


def file_digest(path: Path, tell: Callable[[str, float], None] = lambda what, share: None) -> str:
    """SHA-256 of a file."""
    digest, done, size = hashlib.sha256(), 0, max(path.stat().st_size, 1)
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            done += len(chunk)
            tell("reading the data", min(done / size, 1.0))
    return digest.hexdigest()


class Store:
    """A release in its file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.private = path.with_name(f"{path.stem}.private{path.suffix}")

    def found(self, identity: Identity) -> View | None:
        """The release that is stored, if it is of this plan and these data; None if it is to be begun, or finished."""
        try:
            text = self.path.read_text(encoding="utf8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError):
            raise NotReleased(self.path, "cannot be read; choose another file, nothing was spent now") from None
        view = self._view(text)
        status = view.get("status")
        if status != "done":
            self._check_resumable(view, identity)
            return None
        plan, keyed = self._known(view)
        if plan != identity.plan:
            raise NotReleased(self.path, _other("plan", plan, identity.plan))
        key, data = self._secret()
        if not hmac.compare_digest(keyed, identity.keyed(key)):
            raise NotReleased(self.path, _other("data", data, identity.data))
        return view

    def _check_resumable(self, view: View, identity: Identity) -> None:
        """An interrupted release can be finished if a ledger knows about it, and if it is this one."""
        record, status = view.get("record"), view.get("status")
        if status not in ("started", "failed") or not isinstance(view.get("ledger"), dict):
            raise NotReleased(self.path, _interrupted(status, view.get("started")))
        plan = record.get("plan_sha256") if isinstance(record, dict) else None
        if plan != identity.plan:
            raise NotReleased(self.path, _other("plan", plan, identity.plan, "an unfinished release"))
        known = self._own_secret()
        if known is not None and known[1] != identity.data:
            raise NotReleased(self.path, _other("data", known[1], identity.data, "an unfinished release"))

    def _view(self, text: str) -> View:
        if not text.strip():
            return {"status": "started"}
        try:
            view = from_json(text)
        except InvalidInput as twice:
            reason = f"is no release as it was written: {twice.argument!r} is given twice; nothing was spent"
            raise NotReleased(self.path, reason) from None
        except (ValueError, RecursionError):
            view = None
        if not isinstance(view, dict) or view.get("format") != FORMAT:
            raise NotReleased(self.path, "is not a release, and will not be overwritten; nothing was spent")
        return view

    def _known(self, view: View) -> tuple[str, str]:
        """The digests of a release, which must hold all that is shown of it."""
        record = view.get("record")
        if not isinstance(record, dict) or not all(isinstance(view.get(name), kind) for name, kind in _PARTS.items()):
            raise NotReleased(self.path, "is a release that was changed by hand; nothing was spent")
        return str(record.get("plan_sha256")), str(record.get("data_hmac_sha256"))

    def _own_secret(self) -> tuple[bytes, str] | None:
        """Key and plain digest of the private file, if it is as it was written."""
        try:
            return self._secret()
        except NotReleased:
            return None

    def _secret(self) -> tuple[bytes, str]:
        try:
            view: Any = from_json(self.private.read_text(encoding="utf8"))
            return bytes.fromhex(view["key"]), str(view["data_sha256"])
        except InvalidInput as twice:
            reason = f"{self.private.name} gives {twice.argument!r} twice; nothing was spent"
            raise NotReleased(self.path, reason) from None
        except (OSError, ValueError, KeyError, TypeError):
            reason = f"without {self.private.name} it cannot be told whether it is of the same data; nothing was spent"
            raise NotReleased(self.path, reason) from None

    def _key(self, identity: Identity) -> bytes:
        """The key of the private file, for the owner's eyes; a new one if there is none for these data."""
        known = self._own_secret()
        if known is not None and known[1] == identity.data:
            return known[0]
        key = secrets.token_bytes(32)
        with suppress(FileNotFoundError):  # of a release whose file was taken away
            self.private.unlink()
        _create(self.private, {"format": PRIVATE, "key": key.hex(), "data_sha256": identity.data}, 0o600)
        return key

    @contextmanager
    def releasing(self, identity: Identity, ledger: Mapping[str, str]) -> Iterator[Callable[[View], View]]:
        """Begin a release, or go on with one; the block is given what finishes it.

        `ledger` says where it is debited.  That it happens once is the ledger's part: of several processes in this
        block all get the same answer.  `Unpaid` inside it means that nothing was debited: the file is taken away.
        """
        record = {"plan_sha256": identity.plan}
        started: View = {"format": FORMAT, "version": 1, "status": "started", "started": now()}
        started |= {"record": record, "ledger": dict(ledger)}
        before = self._claimed(started, identity)
        try:
            self._key(identity)
        except OSError as error:
            self._put_back(before)
            reason = f"cannot be written ({error.strerror or error}); nothing was spent"
            raise NotReleased(self.private, reason) from None
        finished = False

        def finish(view: View) -> View:
            nonlocal finished
            known = record | {"data_hmac_sha256": identity.keyed(self._key(identity))} | view.get("record", {})
            whole = started | {"finished": now()} | view | {"status": "done", "record": known}
            replace_file(self.path, text_of(whole))
            finished = True
            return whole

        try:
            yield finish
        except Unpaid as refused:
            finished = True
            self._put_back(before)
            if before is None:
                self.private.unlink(missing_ok=True)
            raise refused.error from None
        finally:
            if not finished and not self._is_done():
                with suppress(OSError):  # a file that says started is as good
                    replace_file(self.path, text_of(started | {"status": "failed"}))

    def _claimed(self, started: View, identity: Identity) -> str | None:
        """Create the file, or take over an unfinished one, whose text is returned; `Taken` if it is done."""
        try:
            _create(self.path, started)
        except FileExistsError:
            text = self.path.read_text(encoding="utf8")
            if self.found(identity) is not None:
                raise Taken from None
            replace_file(self.path, text_of(started))
            return text
        return None

    def _put_back(self, before: str | None) -> None:
        if before is None:
            self.path.unlink(missing_ok=True)
        else:
            replace_file(self.path, before)

    def _is_done(self) -> bool:
        """Whether another process has finished the same release."""
        try:
            return bool(self._view(self.path.read_text(encoding="utf8")).get("status") == "done")
        except (OSError, ValueError, NotReleased):
            return False


def _interrupted(status: object, when: object) -> str:
    """Of a release that was begun without a ledger."""
    begun = f" on {when}" if when else ""
    if status == "failed":
        return f"a release was begun{begun} and failed; its budget must be taken as spent"
    return f"a release was begun{begun} and is running, or was interrupted; its budget must be taken as spent"


def _other(what: str, stored: object, asked: str, held: str = "a release") -> str:
    holds = f"holds {held} of {'another plan' if what == 'plan' else 'other data'}"
    return f"{holds} ({str(stored)[:_SHORT]}, not {asked[:_SHORT]}); choose another file, nothing was spent"


def text_of(view: Mapping[str, Any]) -> str:
    """JSON for people and programs."""
    return json.dumps(view, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _create(path: Path, view: View, mode: int = 0o644) -> None:
    """A new file, on the disk before anything else happens; FileExistsError if there is one."""
    draft = path.with_name(f".{secrets.token_hex(6)}.draft")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "w", encoding="utf8") as file:
            file.write(text_of(view))
            file.flush()
            os.fsync(file.fileno())
        _link(draft, path)
    finally:
        draft.unlink()
    _settle(path.parent)


def _link(draft: Path, path: Path) -> None:
    """The whole text under its name, and nothing if the name is taken."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links, or a name that it does not take: then by hand
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, draft.stat().st_mode & 0o777)
        with os.fdopen(handle, "wb") as file:
            file.write(draft.read_bytes())
            file.flush()
            os.fsync(file.fileno())


def replace_file(path: Path, text: str) -> None:
    """The whole new text or the whole old one, whatever happens meanwhile."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        with temporary.open("x", encoding="utf8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _settle(path.parent)


def _settle(directory: Path) -> None:
    """The directory's own entries on the disk, where the system can do that."""
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def now() -> str:
    """The time, in UTC and whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")
