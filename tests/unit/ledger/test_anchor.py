"""The anchor notices copies and files that went back; a killed writer leaves it readable, and it never goes back."""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from pathlib import Path

import pytest

from optcomp import InvalidInput
from optcomp.ledger.anchor import Anchor, Doubt, Seen, _record, file_identity, judge
from optcomp.ledger.chain import canonical, first_head

SLOT = 512
FORK = get_context("fork")
ENOUGH = 10**8
"""Writes of a process that will be killed: more than it can make before that."""


def seen(sequence: int, incarnation: int = 1) -> Seen:
    return Seen("0f3b", incarnation, sequence, first_head(str(sequence)), "65024:12345")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "anchor"


def test_what_is_written_is_read(path: Path) -> None:
    anchor = Anchor(path)
    assert anchor.read() is None
    assert not path.exists()
    for sequence in range(5):
        assert anchor.write(seen(sequence))
        assert anchor.read() == Anchor(path).read() == seen(sequence)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.stat().st_size == 2 * SLOT


def test_the_file_is_two_lines_of_json_with_a_checksum(path: Path) -> None:
    anchor = Anchor(path)
    for sequence in (7, 8):
        anchor.write(seen(sequence))
    views = [json.loads(line[65:]) for line in path.read_text().splitlines()]
    assert sorted(view["sequence"] for view in views) == [7, 8]
    assert set(views[0]) == {"ledger", "incarnation", "sequence", "head", "file", "turn"}


def test_no_write_goes_back(path: Path) -> None:
    anchor = Anchor(path)
    assert anchor.write(seen(7))
    for stale in (seen(6), seen(7), replace(seen(7), head="0" * 64), seen(0)):
        assert not anchor.write(stale)
        assert not Anchor(path).write(stale)
    assert anchor.read() == seen(7)


def test_a_later_incarnation_begins_anywhere_and_ends_the_one_before(path: Path) -> None:
    anchor = Anchor(path)
    anchor.write(seen(7))
    later = replace(seen(3, incarnation=2), file="1:1")
    assert anchor.write(later)
    assert not anchor.write(seen(8))
    assert anchor.read() == later


@pytest.mark.parametrize("other", [replace(seen(9), ledger="another"), replace(seen(9), file="1:1"), seen(9, 0)])
def test_what_is_not_of_this_ledger_is_written_by_replace_only(path: Path, other: Seen) -> None:
    anchor = Anchor(path)
    anchor.write(seen(7))
    assert not anchor.write(other)
    assert anchor.read() == seen(7)
    anchor.replace(other)
    assert anchor.read() == Anchor(path).read() == other


def test_replace_may_go_back(path: Path) -> None:
    Anchor(path).write(seen(7))
    Anchor(path).replace(seen(2))
    assert Anchor(path).read() == seen(2)


@pytest.mark.parametrize("turns", [1, 2, 3, 4])
def test_a_write_that_stops_at_any_byte_leaves_a_record(path: Path, turns: int) -> None:
    anchor = Anchor(path)
    for sequence in range(1, turns + 1):
        anchor.write(seen(sequence))
    before = path.read_bytes()
    anchor.write(seen(turns + 1))
    after = path.read_bytes()
    place = next(place for place in (0, SLOT) if before[place : place + SLOT] != after[place : place + SLOT])
    for cut in range(SLOT + 1):
        path.write_bytes(before[:place] + after[place : place + cut] + before[place + cut :])
        whole = path.read_bytes() == after
        assert Anchor(path).read() == seen(turns + 1 if whole else turns), cut
        assert Anchor(path).write(seen(turns + 2))
        assert Anchor(path).read() == seen(turns + 2)


@pytest.mark.parametrize("text", [b"", b"\0" * 1024, b"no record", b" " * 2000, bytes(range(256)) * 4])
def test_a_file_without_a_record_is_no_anchor(path: Path, text: bytes) -> None:
    path.write_bytes(text)
    assert Anchor(path).read() is None
    assert Anchor(path).write(seen(1))
    assert Anchor(path).read() == seen(1)


def test_a_changed_record_does_not_count(path: Path) -> None:
    anchor = Anchor(path)
    anchor.write(seen(41))
    path.write_bytes(path.read_bytes().replace(b'"sequence":41', b'"sequence":11'))
    assert anchor.read() is None


def test_a_file_put_in_its_place_is_noticed(path: Path) -> None:
    anchor = Anchor(path)
    anchor.write(seen(1))
    other = path.with_name("other")
    Anchor(other).write(seen(5))
    other.replace(path)
    assert anchor.read() == seen(5)
    path.unlink()
    assert anchor.read() is None
    assert anchor.write(seen(3))
    assert Anchor(path).read() == seen(3)


def test_what_does_not_fit_is_refused(path: Path) -> None:
    with pytest.raises(InvalidInput, match="must fit in 446"):
        Anchor(path).write(replace(seen(1), ledger="x" * 400))
    with pytest.raises(ValueError, match="float"):
        Anchor(path).write(replace(seen(1), sequence=1.5))  # type: ignore[arg-type]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    anchor = Anchor(tmp_path / "no" / "anchor")
    assert anchor.read() is None
    with pytest.raises(InvalidInput, match="cannot be written"):
        anchor.write(seen(1))
    with pytest.raises(InvalidInput, match="cannot be read"):
        Anchor(tmp_path).read()


def test_it_is_known_by_its_path(path: Path) -> None:
    anchor = Anchor(path)
    anchor.write(seen(1))
    other = pickle.loads(pickle.dumps(anchor))
    assert other.read() == seen(1)
    assert repr(other) == f"Anchor({str(path)!r})"


def test_closing_gives_the_file_back(path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    anchors = [Anchor(path) for _ in range(20)]
    for sequence, anchor in enumerate(anchors):
        anchor.write(seen(sequence))
    for anchor in anchors[:10]:
        anchor.close()
    assert anchors[0].read() == seen(19)
    del anchors, anchor
    assert len(os.listdir("/proc/self/fd")) == before


def _write_all(anchor: Anchor, numbers: range) -> None:
    for sequence in numbers:
        anchor.write(seen(sequence))


@contextmanager
def _started(*processes: ForkProcess) -> Iterator[None]:
    """Start processes, which do not outlive this block."""
    try:
        for process in processes:
            process.start()
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()


def _watched(anchor: Anchor, going: Callable[[], bool]) -> int:
    """Read all the time; every value is valid and none is below the one before."""
    last = 0
    while going():
        now = anchor.read()
        assert now is not None
        assert now == seen(now.sequence)
        assert now.sequence >= last
        last = now.sequence
    return last


@pytest.mark.parametrize("shared", [False, True], ids=["each its own", "forked with the parent's"])
def test_four_processes_never_lower_it(path: Path, shared: bool) -> None:
    anchor = Anchor(path)
    anchor.write(seen(0))
    ranges = [range(k, 12_001, 4) for k in range(1, 5)]
    writers = [FORK.Process(target=_write_all, args=(anchor if shared else Anchor(path), part)) for part in ranges]
    with _started(*writers):
        _watched(anchor, lambda: any(writer.is_alive() for writer in writers))
    assert [writer.exitcode for writer in writers] == [0] * 4
    assert anchor.read() == seen(12_000)


def test_threads_never_lower_it(path: Path) -> None:
    anchor = Anchor(path)
    anchor.write(seen(0))
    with ThreadPoolExecutor(3) as pool:
        writing = [pool.submit(_write_all, anchor, range(k, 2001, 3)) for k in range(1, 4)]
        _watched(anchor, lambda: not all(each.done() for each in writing))
    assert [each.exception() for each in writing] == [None] * 3
    assert anchor.read() == seen(2000)


@pytest.mark.slow
def test_a_killed_writer_leaves_a_readable_anchor(path: Path) -> None:
    """kill −9 in a loop of writes, 40 times; each writer goes on from where the one before it was."""
    anchor, rng, last = Anchor(path), random.Random(7), 0
    anchor.write(seen(0))
    for _ in range(40):
        writer = FORK.Process(target=_write_all, args=(anchor, range(last, last + ENOUGH)))
        with _started(writer):
            while writer.is_alive() and anchor.read() == seen(last):
                time.sleep(0.0005)
            time.sleep(rng.random() * 0.01)  # the kill comes somewhere in a write; every place is as good
        assert writer.exitcode == -signal.SIGKILL
        found = Anchor(path).read()
        assert found is not None
        assert found == seen(found.sequence)
        assert found.sequence > last
        last = found.sequence


def _die_with_the_lock(anchor: Anchor, alive: Connection, held: Connection) -> None:
    """Fork a child that lives until nobody holds the other end of its pipe, and be killed while holding the lock."""
    held.close()
    anchor.read()
    with anchor._opened(create=True), anchor._turns(exclusive=True):
        if os.fork() == 0:
            alive.poll(None)
            os._exit(0)
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_child_does_not_keep_the_lock_of_a_killed_parent(path: Path) -> None:
    anchor = Anchor(path)
    anchor.write(seen(0))
    alive, held = FORK.Pipe(duplex=False)
    with alive, held, ThreadPoolExecutor(1) as pool:
        writer = FORK.Process(target=_die_with_the_lock, args=(Anchor(path), alive, held))
        writer.start()
        os.waitid(os.P_PID, writer.pid or 0, os.WEXITED | os.WNOWAIT)
        other = pool.submit(_write_all, anchor, range(1, 3))
        done, _ = wait([other], timeout=60)
        held.close()  # the child ends, and with it any lock that it kept
        writer.join()
    assert done, "the lock of a process that was killed was not free within 60 seconds"
    assert anchor.read() == seen(2)


def test_a_file_is_known_by_its_inode(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("x")
    identity = file_identity(one)
    assert identity == f"{one.stat().st_dev}:{one.stat().st_ino}"
    shutil.copy2(one, two)
    assert file_identity(two) != identity
    assert file_identity(one.rename(tmp_path / "three")) == identity


HEADS = {n: first_head(str(n)) for n in range(11)}


def verdict(known: Seen | None, **changes: object) -> Doubt | None:
    ledger = {"ledger": "0f3b", "incarnation": 1, "sequence": 10, "head_at": HEADS.get, "file": "65024:12345"}
    return judge(known, **(ledger | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("sequence", [0, 4, 10])
def test_a_ledger_that_its_anchor_knows(sequence: int) -> None:
    assert verdict(seen(sequence)) is None


@pytest.mark.parametrize(
    ("known", "changes", "reason", "lost"),
    [
        (None, {}, "there is no anchor beside it", False),
        (None, {"name": "witness"}, "the witness does not know it", False),
        (seen(10), {"ledger": "x"}, "the anchor beside it is that of another ledger", False),
        (seen(10), {"file": "1:2"}, "it is another file than the one that the anchor knows", False),
        (seen(4, 3), {}, "the anchor knows its incarnation 3, and this is incarnation 1", True),
        (seen(11), {}, "the anchor knows entry 11, and this ledger ends at entry 10", True),
        (seen(11), {"name": "witness"}, "the witness knows entry 11, and this ledger ends at entry 10", True),
        (seen(11), {"incarnation": 2}, "the anchor knows entry 11, and this ledger ends at entry 10", False),
        (replace(seen(10), head="0" * 64), {}, "the anchor knows another head at entry 10", True),
        (replace(seen(4), head="0" * 64), {}, "the anchor knows another head at entry 4", True),
        (replace(seen(4), head="0" * 64), {"incarnation": 2}, "the anchor knows another head at entry 4", False),
        (seen(4), {"head_at": lambda n: None}, "the anchor knows another head at entry 4", True),
    ],
)
def test_why_a_ledger_is_taken_as_a_copy(
    known: Seen | None, changes: dict[str, object], reason: str, lost: bool
) -> None:
    assert verdict(known, **changes) == Doubt(reason, lost)


@pytest.mark.parametrize("changes", [{}, {"file": "1:2"}], ids=["here", "moved"])
def test_another_server_adopted_the_ledger(changes: dict[str, object]) -> None:
    """Nothing is missing that this anchor knows, and the ledger lies where it was adopted."""
    assert verdict(seen(10), incarnation=2, **changes) is None


def test_only_the_head_that_the_anchor_knows_is_asked_for() -> None:
    asked: list[int] = []
    verdict(seen(4), head_at=lambda n: asked.append(n))
    assert asked == [4]


def test_a_record_is_canonical_json() -> None:
    known = Seen("an id", 3, 10**12, "a head", 'a "file" of Zoë')
    record = _record(7, known).decode("ascii")
    assert record[65:].rstrip() == canonical(asdict(known) | {"turn": 7})
