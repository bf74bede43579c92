"""The settings of a centre: one file `center.yaml` in its home, read strictly.

A home is a folder that only its owner may enter.  Addresses of databases may hold passwords: they are in no error and
in no `repr`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from optcomp.errors import InvalidInput
from optcomp.planner import dumped, parsed

FILE = "center.yaml"
"""The settings, in the home."""
SNAPSHOTS = "snapshots"
"""The folder of the snapshots, in the home."""
RELEASES = "releases"
"""The folder of the records of releases, in the home."""
_LEDGER = "center.ledger"
"""The ledger, unless it is elsewhere."""
_DATABASE = "center.db"
"""The centre's own database, unless it is elsewhere."""
_HOSTS = ("localhost", "127.0.0.1", "[::1]")
"""Who asks this machine from itself."""
_PUBLIC = re.compile(r"https://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?")
"""A public address."""
_MOST = 10**9
"""Of any number here: beyond, it is a mistake."""


@dataclass(frozen=True)
class Settings:
    """What a centre is told by whoever runs it."""

    home: Path
    name: str
    """The name that pages show."""
    ledger: str = field(repr=False)
    """A file, or a postgresql:// address."""
    private: Path
    """The folder with the ledger's keys."""
    database: str = field(repr=False)
    """The centre's own database: a file, or a postgresql:// address."""
    witness: str | None = field(default=None, repr=False)
    """A folder on other storage, or a second postgresql:// database, that learns of every debit before its answer."""
    folders: tuple[Path, ...] = ()
    """Owners register files below these, and nowhere else."""
    databases: tuple[str, ...] = field(default=(), repr=False)
    """Addresses of databases whose tables owners may register."""
    address: str | None = None
    """Where browsers find the centre, such as https://center.example.org; its name is one of the hosts."""
    hosts: tuple[str, ...] = _HOSTS
    """By which names the centre may be called."""
    rate: int = 600
    """Requests of a person in a minute, refused ones too, and one more for each 16 kB of a body; and sign-ins from one
    address."""
    logins: int = 30
    """Tokens that are not known, from one address in a minute; and sign-ins of one person."""
    most_bytes: int = 1 << 20
    """Of the body of a request, once its token was looked up and let in; until then 16 kB."""
    seconds: float = 60.0
    """For one question."""
    runners: int = 2
    """Processes that answer questions."""
    readers: int = 2
    """Processes beside them for free work: reading the ledger, previews, plans, synthetic rows.  0 counts as 1."""
    waiting: int = 32
    """Questions of one person that may wait for a process at a time, and as many free requests."""
    memory: int = 4096
    """Megabytes that a runner may take beyond what it has when it starts, by the operating system; 0 is no limit."""
    preparers: int = 1
    """Processes that read sources for owners, and as many for looks such as at columns."""
    prepare_seconds: float = 3600.0
    """For registering or checking one table; a look takes as long as a question."""
    preparer_memory: int = 4096
    """Megabytes that such a process may take beyond what it has when it starts; 0 is no limit."""
    free_seconds: float = 10.0
    """Of a processor, for one free request; verifying and exporting the ledger may take `seconds`."""
    free_memory: int = 1024
    """Megabytes, as `memory`, for a process that does free work."""
    free_processor_seconds: float = 20.0
    """Of a processor, for the free requests of a person in a minute; more are refused until the next one."""
    header_seconds: float = 15.0
    """Within which the headers of a request must have come, and what is left of a body after its response."""
    connections: int = 256
    """That one address may hold at a time, with each worker; 0 is no limit."""
    calculators: int = 1
    """Processes that calculate for visitors of the public page; 0: there is no calculator."""
    calculator_seconds: float = 10.0
    """For one calculation."""
    calculator_memory: int = 1024
    """Megabytes that such a process may take beyond what it has when it starts; 0 is no limit."""
    calculations: int = 300
    """Calculations from one address in a minute, and one more for each 16 kB of a file."""
    bucket: float = 0.0
    """Responses after a debit leave at whole multiples of so many seconds; 0 is off."""
    two_persons: bool = False
    """Whether another owner must confirm what changes a budget."""
    notice: str = "0.1"
    """The share of a slot below which it is told that little is left."""

    @property
    def snapshots(self) -> Path:
        """Where snapshots are kept."""
        return self.home / SNAPSHOTS

    @property
    def releases(self) -> Path:
        """Where the records of releases are kept."""
        return self.home / RELEASES

    @property
    def beside_ledger(self) -> dict[str, Any]:
        """What `Ledger` is opened with, apart from its address."""
        return {"private": self.private, "witness": self.witness}

    @property
    def public_host(self) -> str | None:
        """The name, and the port if it is no usual one, by which browsers ask for the centre over TLS."""
        return None if self.address is None else urlsplit(self.address).netloc

    @property
    def names(self) -> tuple[str, ...]:
        """All names by which the centre may be called: the hosts, and that of the public address."""
        return self.hosts if self.address is None else (*self.hosts, str(urlsplit(self.address).hostname))

    @property
    def shown_ledger(self) -> str:
        """Where the ledger is, without a password."""
        return shown_address(self.ledger) if "://" in self.ledger else self.ledger

    @classmethod
    def read(cls, home: str | Path) -> Settings:
        """The settings of a home that is there."""
        path = Path(home) / FILE
        try:
            text = path.read_text(encoding="utf8")
        except (OSError, ValueError):
            raise InvalidInput("home", str(home), f"is not the home of a centre: it has no {FILE} to read") from None
        found = _parsed(text)
        if not isinstance(found, dict):
            raise InvalidInput(FILE, type(found).__name__, "must hold names with values")
        return _settings(Path(home), found)

    @classmethod
    def write(cls, home: str | Path, **given: Any) -> Settings:
        """Make a new home with these settings; one that is there is left alone."""
        made = _settings(Path(home), given)
        try:
            os.mkdir(home, 0o700)
        except FileExistsError:
            raise InvalidInput("home", str(home), "is there already: name a new folder") from None
        except OSError as error:
            raise InvalidInput("home", str(home), f"cannot be made ({error.strerror})") from None
        os.chmod(home, 0o700)  # whatever the mask of the process says
        made.snapshots.mkdir(mode=0o700)
        made.rewrite(**given)
        return made

    def rewrite(self, **given: Any) -> Settings:
        """The same home with these settings, which take the place of those in its file."""
        made = _settings(self.home, given)
        draft = self.home / f".{FILE}"
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf8") as file:
            file.write(dumped({key: _plain(value) for key, value in given.items()} or {"name": made.name}))
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, self.home / FILE)
        return made


def shown_address(address: str) -> str:
    """An address without its user, its password and its options."""
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"
    except ValueError:
        return "an address"


def _parsed(text: str) -> Any:
    """What the file says; a line that cannot be read is not shown, for it may hold a password."""
    try:
        return parsed(text, FILE)
    except InvalidInput as error:
        argument, problem = error.argument, error.problem
    raise InvalidInput(argument, "text that is not shown here", problem)  # out here, so that no __context__ has it


def _settings(home: Path, given: Mapping[str, Any]) -> Settings:
    known = {entry.name for entry in fields(Settings)} - {"home"}
    for key in given:
        if key not in known:
            raise InvalidInput(FILE, key, f"is no setting; there are {', '.join(sorted(known))}")
    home = Path(os.path.abspath(home))
    read = {key: _READERS[key](key, value) for key, value in given.items() if value is not None}
    ledger = _placed(home, read.pop("ledger", _LEDGER))
    beside = Path(f"{ledger}.private") if "://" not in ledger else home / f"{_LEDGER}.private"
    private, witness = read.pop("private", None), read.pop("witness", None)
    return Settings(
        home=home,
        name=read.pop("name", "data centre"),
        ledger=ledger,
        private=beside if private is None else home / private,
        database=_placed(home, read.pop("database", _DATABASE)),
        witness=None if witness is None else _placed(home, witness),
        **read,
    )


def _placed(home: Path, address: str) -> str:
    """A file is below the home, unless its path is absolute."""
    return address if "://" in address else str(home / address)


def _plain(value: object) -> Any:
    """As YAML writes it."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, bool | int) else str(value)


def _text(key: str, value: object) -> str:
    words = str(value) if isinstance(value, Path) else value
    if not isinstance(words, str) or not words.strip() or len(words) > 1000 or not words.isprintable():
        raise InvalidInput(key, type(value).__name__, "must be text that can be printed, up to 1000 characters")
    return words


def _address(key: str, value: object) -> str:
    found = _text(key, value).lower().removesuffix("/").removesuffix(":443")
    if _PUBLIC.fullmatch(found) is None:
        raise InvalidInput(key, shown_address(found), "must be https:// and a name, such as https://center.example.org")
    return found


def _texts(key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise InvalidInput(key, type(value).__name__, "must be a list")
    return tuple(_text(key, each) for each in value)


def _folder(key: str, value: object) -> Path:
    return Path(_text(key, value))


def _folders(key: str, value: object) -> tuple[Path, ...]:
    found = tuple(map(Path, _texts(key, value)))
    for each in found:
        if not each.is_absolute():
            raise InvalidInput(key, str(each), "must be the whole path of a folder, from / on")
    return found


def _whole(key: str, value: object) -> int:
    number = _number(key, value)
    if number.denominator != 1 or number < 1:
        raise InvalidInput(key, value, "must be a whole number above 0")
    return int(number)


def _whole_or_none(key: str, value: object) -> int:
    return 0 if _number(key, value) == 0 else _whole(key, value)


def _seconds(key: str, value: object) -> float:
    number = _number(key, value)
    if number < 0 or (key != "bucket" and not number):
        raise InvalidInput(key, value, "must be a number of seconds above 0" if key != "bucket" else "must not be < 0")
    return float(number)


def _number(key: str, value: object) -> Fraction:
    try:
        number = Fraction(str(value)) if not isinstance(value, bool) else None
    except (ValueError, ZeroDivisionError):
        number = None
    if number is None or abs(number) > _MOST:
        raise InvalidInput(key, value, "must be a number")
    return number


def _share(key: str, value: object) -> str:
    if not 0 <= _number(key, value) <= 1:
        raise InvalidInput(key, value, "must be a share between 0 and 1")
    return str(value)


def _flag(key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(key, value, "must be true or false")
    return value


_READERS: dict[str, Callable[[str, object], Any]] = {
    **dict.fromkeys(("name", "ledger", "database", "witness"), _text),
    "address": _address,
    "private": _folder,
    "folders": _folders,
    **dict.fromkeys(("databases", "hosts"), _texts),
    **dict.fromkeys(("rate", "logins", "most_bytes", "runners", "preparers", "waiting", "calculations"), _whole),
    **dict.fromkeys(("readers", "memory", "free_memory", "preparer_memory", "connections"), _whole_or_none),
    **dict.fromkeys(("calculators", "calculator_memory"), _whole_or_none),
    **dict.fromkeys(("seconds", "free_seconds", "free_processor_seconds", "bucket"), _seconds),
    **dict.fromkeys(("prepare_seconds", "header_seconds", "calculator_seconds"), _seconds),
    "two_persons": _flag,
    "notice": _share,
}
"""How each setting is read."""
