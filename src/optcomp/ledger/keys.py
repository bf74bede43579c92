"""The keys of a ledger, in a private folder outside the database.

What a mechanism must remember and nobody may see, such as a sparse vector's noisy threshold, is stored encrypted; what
an auditor receives is signed.  `keys.json` in the private folder holds the Fernet keys, newest first, and the Ed25519
key for signatures.  Folder and file are their owner's alone.  Whoever has the database without this folder can read no
state, and whoever loses the folder loses the states with it.

The newest key encrypts, and every key decrypts.  To rotate: `rotate`, then `reencrypt` every stored token, then
`retire`, all while nobody else can write to the ledger.  Every process notices new keys by itself.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from optcomp.errors import CannotBeShared, InvalidInput
from optcomp.extras import needed

_NAME = "keys.json"
"""The file with the keys, in the private folder."""

_FORMAT = "optcomp-ledger-keys"
"""Says what the file is, to people and to us."""

_VERSION = 1
"""Of the file's format."""

_OTHERS = 0o077
"""Permissions of everybody but the owner."""

_OTHERS_WRITE = 0o022
"""Permissions by which somebody else could put other keys into a folder."""

_SEED_BYTES = 32
"""Of an Ed25519 key, by its definition."""

_Stamp = tuple[int, int, int]


class WrongKey(InvalidInput):
    """An encrypted text fits none of the keys, or was changed; neither the text nor its encryption is shown."""

    def __init__(self, token: str) -> None:
        super().__init__("token", f"{len(token)} characters", "fits none of the keys, or was changed")


class Keys:
    """The keys in a private folder; `Keys.create`, `Keys.open` or `Keys.find` makes one."""

    __slots__ = ("_all", "_fernet", "_signing", "_stamp", "folder")

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._load()

    @classmethod
    def create(cls, folder: str | os.PathLike[str]) -> Keys:
        """New keys in a folder, which is made if it is not there; keys that are there stay, and it is an error."""
        path = Path(folder)
        view = {"fernet": [_new_key()], "signing": secrets.token_hex(_SEED_BYTES)}
        try:
            _make_private(path)
            _write(path / _NAME, view, os.link)
        except FileExistsError:
            raise InvalidInput("folder", str(path), "holds keys already, and they are not overwritten") from None
        except OSError as error:
            raise _failed(path, "cannot be written", error) from None
        return cls(path)

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Keys:
        """The keys that are in a folder; an error if there are none, if they are damaged, or open to other users."""
        return cls(folder)

    @classmethod
    def find(cls, folder: str | os.PathLike[str]) -> Keys | None:
        """The same; None if there is no folder, or no keys in it."""
        return cls(folder) if os.path.lexists(Path(folder) / _NAME) else None

    def __repr__(self) -> str:
        return f"Keys({str(self.folder)!r}, public_key={self.public_key!r})"

    def __reduce__(self) -> NoReturn:
        raise CannotBeShared("the keys of a ledger", "cannot be copied or pickled; open their folder again")

    def encrypt(self, text: str) -> str:
        """The text for whoever has the keys; twice the same text gives two tokens."""
        return str(self._current().encrypt(_bytes(text)).decode("ascii"))

    def decrypt(self, token: str) -> str:
        """The text of a token; `WrongKey` if none of the keys made it."""
        return str(self._tried(self._current().decrypt, token).decode())

    def reencrypt(self, token: str) -> str:
        """The same text under the newest key; when it was encrypted first stays in it."""
        return str(self._tried(self._current().rotate, token).decode("ascii"))

    def rotate(self) -> None:
        """Put a new key in front: it encrypts from now on, in every process, and the others still decrypt."""
        self._change(lambda keys: [_new_key(), *keys])

    def reads(self, token: str) -> bool:
        """Whether one of the keys made a token."""
        return self._fits(self._current().decrypt, token)

    def is_newest(self, token: str) -> bool:
        """Whether the newest key made a token, so that the others are not needed for it."""
        self._current()
        return self._fits(needed("cryptography.fernet", "ledger").Fernet(self._all[0]).decrypt, token)

    def _fits(self, action: Callable[[bytes], bytes], token: str) -> bool:
        try:
            self._tried(action, token)
        except WrongKey:
            return False
        return True

    def retire(self) -> None:
        """Drop all keys but the newest.  What was not re-encrypted before cannot be read any more."""
        self._change(lambda keys: keys[:1])

    @property
    def count(self) -> int:
        """How many keys decrypt; more than one while a rotation is not finished."""
        self._current()
        return len(self._all)

    def sign(self, text: str) -> str:
        """The signature of a text, in hex."""
        return str(_ed25519().Ed25519PrivateKey.from_private_bytes(self._signing).sign(_bytes(text)).hex())

    @property
    def public_key(self) -> str:
        """What others need to verify signatures, in hex; it is no secret and stays when keys are rotated."""
        private = _ed25519().Ed25519PrivateKey.from_private_bytes(self._signing)
        return str(private.public_key().public_bytes_raw().hex())

    def _current(self) -> Any:
        """All keys as one; read again if the file is another one than last time."""
        try:
            stamp = _stamp(os.stat(self.folder / _NAME))
        except OSError as error:
            raise _failed(self.folder, "has no keys.json that can be read", error) from None
        if stamp != self._stamp:
            self._load()
        return self._fernet

    def _load(self) -> None:
        view, stamp = _read(self.folder)
        fernet = needed("cryptography.fernet", "ledger")
        try:
            keys, signing = view["fernet"], bytes.fromhex(view["signing"])
            together = fernet.MultiFernet([fernet.Fernet(key) for key in keys])
            _ed25519().Ed25519PrivateKey.from_private_bytes(signing)
        except (KeyError, TypeError, ValueError):  # their texts could show a key
            raise _damaged(self.folder) from None
        self._all, self._fernet, self._signing, self._stamp = list(keys), together, signing, stamp

    def _tried(self, action: Callable[[bytes], bytes], token: str) -> bytes:
        try:
            return action(token.encode("ascii"))
        except (needed("cryptography.fernet", "ledger").InvalidToken, ValueError):
            raise WrongKey(token) from None

    def _change(self, change: Callable[[list[str]], list[str]]) -> None:
        """Replace the file by one with other keys; two processes do that one after the other."""
        try:
            with _alone(self.folder):
                self._load()
                view = {"fernet": change(self._all), "signing": self._signing.hex()}
                _write(self.folder / _NAME, view, os.replace)
                self._load()
        except OSError as error:
            raise _failed(self.folder, "cannot be written", error) from None


def verify_signature(public_key: str, text: str, signature: str) -> bool:
    """Whether the owner of a public key signed this text; both are in hex, and what is not a signature is none."""
    invalid = needed("cryptography.exceptions", "ledger").InvalidSignature
    try:
        public = _ed25519().Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        public.verify(bytes.fromhex(signature), _bytes(text))
    except (invalid, ValueError):
        return False
    return True


def _ed25519() -> Any:
    return needed("cryptography.hazmat.primitives.asymmetric.ed25519", "ledger")


def _new_key() -> str:
    return str(needed("cryptography.fernet", "ledger").Fernet.generate_key().decode("ascii"))


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidInput("text", "half of a surrogate pair", "must be a text that UTF-8 can write") from None


def _make_private(folder: Path) -> None:
    """A folder for the owner alone; one that is there must be like that already."""
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700, parents=True)
    if not folder.is_dir():
        raise InvalidInput("folder", str(folder), "must be a folder")
    if folder.stat().st_mode & _OTHERS:
        raise InvalidInput("folder", str(folder), "must be closed to other users (chmod 700)")


def _read(folder: Path) -> tuple[dict[str, Any], _Stamp]:
    """What the file says, and which file it was."""
    try:
        with open(folder / _NAME, "rb") as file:
            found, writable = os.fstat(file.fileno()), folder.stat().st_mode & _OTHERS_WRITE
            if found.st_mode & _OTHERS:
                raise InvalidInput("folder", str(folder), f"{_NAME} must be closed to other users (chmod 600)")
            if writable:
                raise InvalidInput("folder", str(folder), "other users must not be able to write to it (chmod 700)")
            text = file.read()
    except OSError as error:
        raise _failed(folder, f"has no {_NAME} that can be read", error) from None
    try:
        view = json.loads(text)
    except ValueError:
        raise _damaged(folder) from None
    if not isinstance(view, dict) or view.get("format") != _FORMAT:
        raise _damaged(folder)
    if view.get("version") != _VERSION:
        raise InvalidInput("folder", str(folder), f"{_NAME} was written by another version of optcomp")
    return view, _stamp(found)


def _stamp(found: os.stat_result) -> _Stamp:
    """Changes whenever the file is replaced."""
    return found.st_ino, found.st_mtime_ns, found.st_size


def _write(path: Path, view: dict[str, Any], put: Callable[[Path, Path], object]) -> None:
    """The whole file or none, on the disk; `put` brings a finished file to its name."""
    text = json.dumps({"format": _FORMAT, "version": _VERSION} | view, indent=1) + "\n"
    draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        put(draft, path)
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process at a time, by a lock on a file of its own: the file with the keys is replaced meanwhile."""
    import fcntl  # here, so that other systems can import the room

    handle = os.open(folder / f"{_NAME}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _damaged(folder: Path) -> InvalidInput:
    return InvalidInput("folder", str(folder), f"{_NAME} is damaged; bring it back from a backup")


def _failed(folder: Path, what: str, error: OSError) -> InvalidInput:
    return InvalidInput("folder", str(folder), f"{what} ({error.strerror or error})")
