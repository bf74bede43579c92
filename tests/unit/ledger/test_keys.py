"""Keys in a private folder: nobody else reads them, nothing shows them, and rotation loses no text."""

from __future__ import annotations

import base64
import copy
import json
import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from optcomp import CannotBeShared, InvalidInput
from optcomp.ledger.keys import Keys, WrongKey, verify_signature

SECRET = "threshold 17.25 é"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "survey.ledger.private"


@pytest.fixture
def keys(folder: Path) -> Keys:
    return Keys.create(folder)


def stored(folder: Path) -> dict[str, Any]:
    view = json.loads((folder / "keys.json").read_text())
    assert isinstance(view, dict)
    return view


def test_folder_and_file_are_the_owners_alone(folder: Path) -> None:
    before = os.umask(0)
    try:
        Keys.create(folder)
        Keys.open(folder).rotate()
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o600, 0o600]
    assert sorted(path.name for path in folder.iterdir()) == ["keys.json", "keys.json.lock"]


def test_nothing_is_overwritten(keys: Keys, folder: Path) -> None:
    before = (folder / "keys.json").read_bytes()
    with pytest.raises(InvalidInput, match="not overwritten"):
        Keys.create(folder)
    assert (folder / "keys.json").read_bytes() == before
    assert os.listdir(folder) == ["keys.json"]


def test_a_folder_that_is_there_must_be_private(folder: Path) -> None:
    folder.mkdir(mode=0o755)
    with pytest.raises(InvalidInput, match="chmod 700"):
        Keys.create(folder)
    assert os.listdir(folder) == []
    folder.chmod(0o700)
    assert Keys.create(folder).count == 1


def test_a_file_in_the_folders_place(folder: Path) -> None:
    folder.write_text("x")
    with pytest.raises(InvalidInput, match="must be a folder"):
        Keys.create(folder)
    with pytest.raises(InvalidInput, match=r"no keys\.json"):
        Keys.open(folder)


def test_missing_keys(folder: Path) -> None:
    assert Keys.find(folder) is None
    with pytest.raises(InvalidInput, match=r"no keys\.json that can be read \(No such file"):
        Keys.open(folder)
    folder.mkdir(mode=0o700)
    assert Keys.find(folder) is None
    with pytest.raises(InvalidInput, match=r"no keys\.json that can be read \(No such file"):
        Keys.open(folder)
    Keys.create(folder)
    assert isinstance(Keys.find(folder), Keys)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601, 0o644])
def test_a_file_that_others_could_read_or_change(keys: Keys, folder: Path, mode: int) -> None:
    (folder / "keys.json").chmod(mode)
    for opening in (Keys.open, Keys.find):
        with pytest.raises(InvalidInput, match="chmod 600"):
            opening(folder)


def test_a_folder_that_others_could_change(keys: Keys, folder: Path) -> None:
    folder.chmod(0o720)
    with pytest.raises(InvalidInput, match="chmod 700"):
        Keys.open(folder)


DAMAGES: dict[str, Callable[[dict[str, Any]], str]] = {
    "empty": lambda view: "",
    "cut": lambda view: json.dumps(view)[:-9],
    "no mapping": lambda view: "[]",
    "another format": lambda view: json.dumps(view | {"format": "x"}),
    "no signing key": lambda view: json.dumps({name: view[name] for name in view if name != "signing"}),
    "short signing key": lambda view: json.dumps(view | {"signing": view["signing"][:-2]}),
    "signing key not hex": lambda view: json.dumps(view | {"signing": "zz"}),
    "no fernet keys": lambda view: json.dumps(view | {"fernet": []}),
    "short fernet key": lambda view: json.dumps(view | {"fernet": [view["fernet"][0][4:]]}),
    "a number": lambda view: json.dumps(view | {"fernet": 7}),
    "a list of numbers": lambda view: json.dumps(view | {"fernet": [7]}),
    "one text": lambda view: json.dumps(view | {"fernet": view["fernet"][0]}),
    "not ASCII": lambda view: json.dumps(view | {"fernet": ["é" * 44]}),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_told_and_not_shown(keys: Keys, folder: Path, damage: str) -> None:
    view = stored(folder)
    (folder / "keys.json").write_text(DAMAGES[damage](view))
    with pytest.raises(InvalidInput, match="is damaged") as caught:
        Keys.open(folder)
    shown = "".join(traceback.format_exception(caught.value))
    assert view["fernet"][0][4:-4] not in shown
    assert view["signing"][:-2] not in shown


def test_a_file_of_another_version(keys: Keys, folder: Path) -> None:
    (folder / "keys.json").write_text(json.dumps(stored(folder) | {"version": 2}))
    with pytest.raises(InvalidInput, match="another version"):
        Keys.open(folder)


def test_texts_come_back(keys: Keys, folder: Path) -> None:
    token = keys.encrypt(SECRET)
    assert keys.decrypt(token) == Keys.open(folder).decrypt(token) == SECRET
    assert keys.encrypt(SECRET) != token
    assert Fernet(stored(folder)["fernet"][0]).decrypt(token).decode() == SECRET
    assert SECRET.encode() not in base64.urlsafe_b64decode(token)


@given(st.text(st.characters(codec="utf-8")))
def test_every_text_comes_back(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.getbasetemp() / "shared.private"
    keys = Keys.find(folder) or Keys.create(folder)
    assert keys.decrypt(keys.encrypt(text)) == text
    assert verify_signature(keys.public_key, text, keys.sign(text))


def test_tokens_that_do_not_fit(keys: Keys, tmp_path: Path) -> None:
    other = Keys.create(tmp_path / "other").encrypt(SECRET)
    token = keys.encrypt(SECRET)
    middle = len(token) // 2
    changed = token[:middle] + ("A" if token[middle] != "A" else "B") + token[middle + 1 :]
    for wrong in (other, changed, token[:-4], "", "é", "\ud800", "x" * 200, SECRET):
        for action in (keys.decrypt, keys.reencrypt):
            with pytest.raises(WrongKey) as caught:
                action(wrong)
            shown = "".join(traceback.format_exception(caught.value))
            assert not wrong or wrong not in shown
            assert caught.value.value == f"{len(wrong)} characters"
            assert caught.value.__suppress_context__


def test_a_text_that_cannot_be_written_is_not_shown(keys: Keys) -> None:
    for action in (keys.encrypt, keys.sign):
        with pytest.raises(InvalidInput, match="UTF-8") as caught:
            action("secret\ud800")
        assert "secret" not in str(caught.value)


def test_a_rotation(keys: Keys, folder: Path) -> None:
    old, public = keys.encrypt(SECRET), keys.public_key
    (first,) = stored(folder)["fernet"]
    keys.rotate()
    newest, second = stored(folder)["fernet"]
    assert second == first != newest
    assert keys.count == 2
    assert keys.decrypt(old) == SECRET
    assert Fernet(newest).decrypt(keys.encrypt(SECRET)).decode() == SECRET
    new = keys.reencrypt(old)
    assert Fernet(newest).decrypt(new).decode() == SECRET
    with pytest.raises(InvalidToken):
        Fernet(newest).decrypt(old)
    keys.retire()
    assert stored(folder)["fernet"] == [newest]
    for each in (keys, Keys.open(folder)):
        assert each.decrypt(new) == SECRET
        assert each.public_key == public
        with pytest.raises(WrongKey, match="none of the keys"):
            each.decrypt(old)


def test_a_rotation_elsewhere_is_noticed(keys: Keys, folder: Path) -> None:
    other = Keys.open(folder)
    for _ in range(3):
        keys.rotate()
        assert other.decrypt(keys.encrypt(SECRET)) == SECRET
        keys.retire()
        assert keys.decrypt(other.encrypt(SECRET)) == SECRET
    assert keys.count == other.count == 1


def _rotate(folder: Path) -> None:
    keys = Keys.open(folder)
    for _ in range(5):
        keys.rotate()


def test_rotations_at_the_same_time_lose_no_key(keys: Keys, folder: Path) -> None:
    token = keys.encrypt(SECRET)
    workers = [get_context("fork").Process(target=_rotate, args=(folder,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert len(set(stored(folder)["fernet"])) == keys.count == 21
    assert keys.decrypt(token) == SECRET


def test_keys_that_were_taken_away_or_opened_to_others(keys: Keys, folder: Path) -> None:
    (folder / "keys.json").rename(folder / "elsewhere")
    for action in (lambda: keys.encrypt(SECRET), keys.rotate, keys.retire, lambda: keys.count):
        with pytest.raises(InvalidInput, match=r"no keys\.json"):
            action()
    (folder / "elsewhere").rename(folder / "keys.json")
    assert keys.encrypt(SECRET)


def test_a_write_that_fails_leaves_the_keys(keys: Keys, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (folder / "keys.json").read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(InvalidInput, match=r"cannot be written \(No space"):
            keys.rotate()
        with pytest.raises(InvalidInput, match=r"cannot be written \(No space"):
            Keys.create(folder.with_name("other"))
    assert (folder / "keys.json").read_bytes() == before
    assert os.listdir(folder.with_name("other")) == []
    assert keys.count == 1


def test_signatures_are_those_of_the_stored_key(keys: Keys, folder: Path) -> None:
    private = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(stored(folder)["signing"]))
    assert keys.sign(SECRET) == private.sign(SECRET.encode()).hex()
    assert keys.public_key == private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()


def test_a_known_signature_is_verified() -> None:
    """RFC 8032, section 7.1, test 2: the text is the one byte 0x72."""
    public = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
    signature = (
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )
    assert verify_signature(public, "r", signature)
    assert not verify_signature(public, "s", signature)


def test_what_is_no_signature_does_not_verify(keys: Keys, tmp_path: Path) -> None:
    signature = keys.sign(SECRET)
    assert verify_signature(keys.public_key, SECRET, signature)
    assert not verify_signature(keys.public_key, SECRET + " ", signature)
    assert not verify_signature(Keys.create(tmp_path / "other").public_key, SECRET, signature)
    for wrong in ("", "zz", signature[:-2], signature + "00", "é"):
        assert not verify_signature(keys.public_key, SECRET, wrong)
        assert not verify_signature(wrong, SECRET, signature)
    assert not verify_signature(keys.public_key, "\ud800", signature)


def test_no_secret_is_shown(keys: Keys, folder: Path) -> None:
    view = stored(folder)
    for text in (repr(keys), str(keys), f"{keys}"):
        assert keys.public_key in text
        assert view["fernet"][0] not in text
        assert view["signing"] not in text
    assert not hasattr(keys, "__dict__")


def test_keys_are_not_copied(keys: Keys) -> None:
    for action in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(CannotBeShared, match="cannot be copied or pickled"):
            action(keys)


def test_the_room_can_be_imported_without_cryptography(folder: Path) -> None:
    program = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'cryptography': raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "import optcomp.ledger, optcomp.ledger.keys as k\n"
        "from optcomp import MissingExtra\n"
        "try: k.Keys.create(sys.argv[1])\n"
        "except MissingExtra as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=True)
    assert done.stdout == "cryptography is missing: install optcomp[ledger]\n"
    assert not folder.exists()
