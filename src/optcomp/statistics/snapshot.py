"""A snapshot on disk: a folder with what is declared, the rows as integers, and the owner's keys.

    declaration.json   what was declared, and where the rows are; may be shown to everybody
    rows.parquet       the rows, unless a database keeps them; private
    texts.json         the texts of columns of text that nobody declared, where there are such columns; private
    keys.json          the key of the lot, the key of the digest, and the digest; private
    ledger.json        the ledger and account that are debited for questions about it, once there is one

The digest is made under a key that is drawn for this snapshot alone: one key for two versions would tell whether
anybody changed.  How many rows there are, and how large the files are, is private too.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from optcomp.errors import InvalidInput, OptcompError, UnreadableData
from optcomp.statistics.declaration import read_declaration, written_declaration
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import Text
from optcomp.statistics.encoding import PERSON, cell_name
from optcomp.statistics.engines import ParquetRows, Rows, TableRows, kind_of_rows
from optcomp.statistics.preparing import ROWS, group_name, new_key, within_name
from optcomp.statistics.row_files import literal_path
from optcomp.statistics.sources import Dialect

FORMAT, KEYS, VERSION = "optcomp-snapshot", "optcomp-snapshot-keys", 1
"""How the two files begin."""
DECLARATION, KEY_FILE = "declaration.json", "keys.json"
"""Their names."""
LEDGER, LEDGER_FILE = "optcomp-snapshot-ledger", "ledger.json"
"""How the file begins that names the ledger of a snapshot, and its name."""
TEXTS, TEXT_FILE = "optcomp-snapshot-texts", "texts.json"
"""How the file of texts begins, and its name."""
_MOST_ID = 2**60
"""Ids of people have 60 bits."""


def columns_of_rows(declared: Declared) -> dict[str, int]:
    """The columns of the rows, each with its largest integer."""
    found = {PERSON: _MOST_ID - 1} if declared.person is not None else {}
    found |= {cell_name(place): domain.top for place, domain in enumerate(declared.columns.values())}
    for rank in range(len(declared.grouped_by)):
        found |= dict.fromkeys((group_name(rank), within_name(rank)), declared.contribution.rows - 1)
    return found or {"c": 0}


@dataclass(frozen=True)
class Frozen:
    """Rows that are prepared."""

    rows: Rows
    lot: bytes
    """The key of the lot."""
    how: Mapping[str, Any]
    """How the source was read: what became of bad cells, and what a record was."""
    digest: str | None = None
    """If it was saved or opened."""
    path: Path | None = None
    """Its folder, if it was saved or opened."""
    texts: Sequence[str] = ()
    """Those of columns of text, each at the place that its cells name."""


def check_new(path: Path) -> None:
    """Refuses a path that no new snapshot can have."""
    if "\0" in str(path) or not path.name or path.name == "..":
        raise InvalidInput("path", str(path), "is not the name of a folder")
    try:
        taken = path.exists() or path.is_symlink()
    except OSError as error:
        raise InvalidInput("path", str(path), f"cannot be written ({error.strerror or error})") from None
    if taken:
        problem = "is there already, and a snapshot is never overwritten: name a new folder"
        raise InvalidInput("path", str(path), problem)
    literal_path(path)


def save(path: Path, declared: Declared, frozen: Frozen, connection: Any) -> str:
    """Write a snapshot, whole or not at all; its digest."""
    check_new(path)
    try:
        return _save(path, declared, frozen, connection)
    except OSError as error:
        raise InvalidInput("path", str(path), f"cannot be written ({error.strerror or error})") from None


def _save(path: Path, declared: Declared, frozen: Frozen, connection: Any) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    draft.mkdir(mode=0o700)
    made = None
    try:
        if connection is None:
            _export(frozen.rows, draft / ROWS, columns_of_rows(declared))
            kept: Rows = ParquetRows(draft / ROWS)
        else:
            made = kept = _kept_there(frozen.rows, connection, draft / ROWS, columns_of_rows(declared))
        key, about = new_key(), written_declaration(declared)
        document = {"format": FORMAT, "version": VERSION, "declaration": about, "preparation": dict(frozen.how)}
        document |= {"rows": kept.about()}
        digest = _digest(kept, declared, key, frozen.lot, document, frozen.texts)
        _write(draft / DECLARATION, document)
        if has_texts(declared):
            _write(draft / TEXT_FILE, {"format": TEXTS, "version": VERSION, "texts": list(frozen.texts)})
        keys = {"lot": frozen.lot.hex(), "digest_key": key.hex(), "digest": digest}
        _write(draft / KEY_FILE, {"format": KEYS, "version": VERSION, **keys})
        for file in draft.iterdir():
            file.chmod(0o600)
        os.rename(draft, path)
        return digest
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        if made is not None:
            made.drop()
        raise


def _kept_there(rows: Rows, connection: Any, path: Path, columns: dict[str, int]) -> TableRows:
    """The rows in a new table; what the engine says if it refuses may quote its settings, and is not shown."""
    kind_of_rows(connection)
    try:
        return _table(rows, connection, path, columns)
    except (OptcompError, OSError):
        raise
    except Exception as error:
        problem = f"cannot keep the rows ({type(error).__name__}): may it create tables?"
        raise InvalidInput("connection", connection.name, problem) from None


def _table(rows: Rows, connection: Any, path: Path, columns: dict[str, int]) -> TableRows:
    """The rows in a new table on the connection; by a file, unless they are there already."""
    kind, name = kind_of_rows(connection), f"optcomp_{secrets.token_hex(8)}"
    if isinstance(rows, TableRows) and rows.backend is connection:
        return rows.copied(name, columns)
    _export(rows, path, columns)
    try:
        return kind.written(connection, name, path, columns)
    finally:
        path.unlink()


def _export(rows: Rows, path: Path, columns: dict[str, int]) -> None:
    if isinstance(rows, ParquetRows):
        shutil.copyfile(rows.path, path)
    else:
        assert isinstance(rows, TableRows)
        rows.export(path, columns)


def has_texts(declared: Declared) -> bool:
    """Whether there is a column of text that nobody declared."""
    return any(isinstance(domain, Text) for domain in declared.columns.values())


def _digest(
    rows: Rows, declared: Declared, key: bytes, lot: bytes, document: dict[str, Any], texts: Sequence[str]
) -> str:
    """Of the rows, of the key of their lot, of what is declared about them, and of texts that nobody declared."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    found = rows.digest(key, list(columns_of_rows(declared)))
    more = f"\n{json.dumps(list(texts))}" if has_texts(declared) else ""
    return hmac.new(key, f"{found}\n{lot.hex()}\n{text}{more}".encode(), "sha256").hexdigest()


def _write(path: Path, document: dict[str, Any]) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")


def is_snapshot(path: Path) -> bool:
    """Whether a path is that of a snapshot."""
    return (path / DECLARATION).is_file()


def open_snapshot(path: Path, connection: Any, memory: str | None) -> tuple[Declared, Frozen]:
    """Read and verify a snapshot."""
    if not is_snapshot(path):
        raise InvalidInput("path", str(path), "is not a snapshot")
    literal_path(path)
    document, keys = _read(path / DECLARATION, FORMAT), _read(path / KEY_FILE, KEYS)
    try:
        declared, kept, how = read_declaration(document["declaration"]), document["rows"], document["preparation"]
        lot, key, digest = bytes.fromhex(keys["lot"]), bytes.fromhex(keys["digest_key"]), str(keys["digest"])
        rows = _rows(path, kept, connection, memory)
        texts = _texts(path) if has_texts(declared) else ()
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        if isinstance(error, InvalidInput) and error.argument in ("connection", "memory"):
            raise
        raise InvalidInput("path", str(path), "is a snapshot that was changed by hand") from None
    try:
        found = _digest(rows, declared, key, lot, document, texts)
    except Exception as error:
        asked = (
            "" if isinstance(rows, ParquetRows) else "; is this the database that keeps them, and may you read them?"
        )
        raise UnreadableData(str(path), f"its rows cannot be read ({type(error).__name__}){asked}") from None
    if not hmac.compare_digest(found.encode(), digest.encode("utf8", "replace")):
        raise UnreadableData(str(path), "is not as it was prepared: its digest is another one")
    return declared, Frozen(rows, lot, how, digest, path, texts)


def _texts(path: Path) -> tuple[str, ...]:
    return tuple(map(str, _read(path / TEXT_FILE, TEXTS)["texts"]))


def reading_of(path: Path) -> dict[str, Any]:
    """How the source of a snapshot was read, where that is said: `dialect` of a file of lines, and `rename`."""
    how = _read(path / DECLARATION, FORMAT).get("preparation")
    if not isinstance(how, dict):
        return {}
    known = [each.name for each in fields(Dialect)]
    dialect = {"dialect": {name: how[name] for name in known}} if all(name in how for name in known) else {}
    return dialect | ({"rename": how["rename"]} if "rename" in how else {})


def named_ledger(path: Path) -> tuple[str, str] | None:
    """The ledger and the account that a snapshot names, if it names any."""
    if not (path / LEDGER_FILE).exists():
        return None
    found = _read(path / LEDGER_FILE, LEDGER)
    names = found.get("ledger"), found.get("account")
    if not isinstance(names[0], str) or not isinstance(names[1], str):
        raise InvalidInput("path", str(path / LEDGER_FILE), "is missing, or was changed by hand")
    return names[0], names[1]


def name_ledger(path: Path, ledger: str, account: str) -> None:
    """Let a snapshot name the ledger and account that are debited for it; another one is refused from then on."""
    known = named_ledger(path)
    if known is None:
        draft = path / f".{LEDGER_FILE}.{secrets.token_hex(4)}"
        _write(draft, {"format": LEDGER, "version": VERSION, "ledger": ledger, "account": account})
        try:
            os.link(draft, path / LEDGER_FILE)  # fails if another process was first
        except FileExistsError:
            known = named_ledger(path)
        finally:
            draft.unlink()
    _check_named(path, known, (ledger, account))


def check_ledger(path: Path, ledger: str, account: str) -> None:
    """Refuses a snapshot that names another ledger or account; nothing is written."""
    _check_named(path, named_ledger(path), (ledger, account))


def _check_named(path: Path, known: tuple[str, str] | None, wanted: tuple[str, str]) -> None:
    if known is not None and known != wanted:
        problem = f"is debited from account {known[1]!r} of ledger {known[0]}, not from {wanted[1]!r} of {wanted[0]}"
        raise InvalidInput("table", str(path), problem)


def _rows(path: Path, kept: dict[str, str], connection: Any, memory: str | None) -> Rows:
    engine = kept["engine"]
    if engine == "parquet":
        if not (path / ROWS).is_file():
            raise KeyError(ROWS)
        return ParquetRows(path / ROWS, memory)
    if connection is None or getattr(connection, "name", None) != engine:
        raise InvalidInput("connection", connection, f"must be the connection to {engine} that keeps the rows")
    name = kept["table"]
    if not name.replace("_", "").isalnum() or not name.isascii():
        raise ValueError(name)
    return kind_of_rows(connection)(connection, name)


def _read(path: Path, form: str) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf8"))
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("format") != form:
        raise InvalidInput("path", str(path), "is missing, or was changed by hand")
    if found.get("version") != VERSION:
        raise InvalidInput("path", str(path), f"has version {found.get('version')!r}, and this program knows {VERSION}")
    return found
