"""Releases: one mechanism, paid before it asks, within the budget; one file, one release, whatever happens."""

from __future__ import annotations

import copy
import json
import os
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from optcomp import ZCDP, ApproxDP, BudgetExceeded, InvalidInput, MechanismFailed
from optcomp.checker import check
from optcomp.interactive.answers import Answer, answer
from optcomp.interactive.session import Session
from optcomp.ledger import Ledger
from optcomp.planner import Document, Plan, make_plan, read
from optcomp.planner.edits import put
from optcomp.planner.source import dumped, parsed
from optcomp.release import proved_plan
from optcomp.release import released as module
from optcomp.release import store as stored
from optcomp.release.proved_plan import prepare
from optcomp.release.released import release_plan, table_of
from optcomp.release.store import Identity, NotReleased, Store, file_digest, plan_digest
from optcomp.theorems import bbg18
from tests.plans import ROWS, Plain, every_kind, small

PAIR: Plain = {"epsilon": 1, "delta": "1e-6"}
SAMPLE: Plain = {"rows": ROWS, "rows_public": True, "population": 10**5, "neighbours": "replace"}


def document(**changes: Any) -> Document:
    return read(small(**changes))


def plan(**changes: Any) -> Plan:
    return make_plan(document(**changes))


PLANS: dict[str, Plain] = {
    "sums": small(),
    "pairs": small(budget=PAIR),
    "laplace": small(budget=PAIR, statistics={f"s{i}": {"count": None, "mechanism": "laplace"} for i in range(30)}),
    "gaussian": small(budget=PAIR, statistics={f"s{i}": {"count": None, "mechanism": "gaussian"} for i in range(5)}),
    "noisy": small(budget=PAIR, statistics={f"s{i}": {"count": None} for i in range(20)} | {"m": {"median": "age"}}),
    "reserve": small(budget=PAIR, reserve="0.3"),
    "rho": small(budget={"rho": "0.1"}),
    "sample": small(budget=PAIR, data=SAMPLE),
    "every kind": every_kind() | {"budget": PAIR},
}


@pytest.mark.parametrize("name", PLANS)
def test_the_total_is_the_plan_and_never_more_than_the_budget(name: str, data: Path) -> None:
    """The session is debited what the plan is proved to cost, and holds exactly what may be spent."""
    worked = make_plan(read(PLANS[name]))
    prepared = prepare(worked, table_of(worked.document, data))
    found = prepared.run()
    spent, inside = found.session.budget.spent, worked.inside
    if isinstance(inside, ZCDP):
        assert found.session.quota.total == inside
        assert spent.rho is not None
        assert float(spent.rho) == pytest.approx(worked.total)
        assert spent.rho <= inside.rho
    else:
        assert found.session.quota.total == inside
        assert found.bound is not None
        assert worked.bound is not None
        assert spent.epsilon == Fraction(found.bound.upper)
        assert (found.bound.lower, found.bound.upper) == (worked.bound.lower, worked.bound.upper)
        assert spent.epsilon <= inside.epsilon
        assert spent.delta == inside.delta
    assert [entry.outcome for entry in found.session.transcript] == ["answered"]
    assert [each.question for each in found.answers] == [line.question for line in worked.lines]


def test_gaussian_noise_counts_by_its_own_loss(data: Path) -> None:
    """By its ρ, as a session counts it, the same plan would cost too much."""
    worked = make_plan(read(PLANS["gaussian"]))
    table = table_of(worked.document, data)
    assert prepare(worked, table).run().bound is not None
    assert isinstance(worked.inside, ApproxDP)
    session = Session(table, proved_plan._quota(worked))
    with pytest.raises(BudgetExceeded):
        session.commit([line.question for line in worked.lines], delta=worked.inside.delta)


def test_paid_before_anything_is_asked(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worked = plan()
    prepared = prepare(worked, table_of(worked.document, data))
    seen: list[Fraction | None] = []
    real = Session.pay

    def pay(self: Session, what: str, costs: Any, run: Any) -> Any:
        def watched() -> Any:
            seen.append(self.budget.spent.epsilon)
            return run()

        return real(self, what, costs, watched)

    monkeypatch.setattr(Session, "pay", pay)
    assert prepared.bound is not None
    prepared.run()
    assert seen == [Fraction(prepared.bound.upper)]


def test_a_plan_that_costs_too_much_is_refused_before_the_data(data: Path, out: Path) -> None:
    wanted = small(objective="wanted")
    for name, error in (("people", 1), ("mean_age", 1), ("regions", 1)):
        wanted = put(wanted, f"{name}.error", error)
    with pytest.raises(BudgetExceeded, match=r"the plan costs ε = .*, more than its budget of 1; nothing was spent"):
        release_plan(read(wanted), data, out)
    assert not out.exists()


def test_a_sample_must_be_as_large_as_it_says(data: Path, out: Path) -> None:
    """Fewer rows declared than there are would mean more amplification than is true."""
    for rows in (ROWS - 1, ROWS + 1):
        with pytest.raises(InvalidInput, match=r"data.rows: is not the number of rows of the table"):
            release_plan(read(small(budget=PAIR, data=SAMPLE | {"rows": rows})), data, out)
    assert not out.exists()
    view, _ = release_plan(read(PLANS["sample"]), data, out)
    total = view["guarantee"]["total"]
    promised = bbg18.outside(ApproxDP(total["epsilon"], total["delta"]), ROWS, 10**5)
    assert view["guarantee"]["sample"]["total"]["epsilon"] == float(promised.epsilon) <= 1
    assert total["epsilon"] > 5


@pytest.mark.parametrize("name", PLANS)
def test_what_is_written(name: str, data: Path, out: Path) -> None:
    view, fresh = release_plan(read(PLANS[name]), data, out)
    assert fresh
    assert json.loads(out.read_text(encoding="utf8")) == json.loads(json.dumps(view))
    assert (view["format"], view["version"], view["status"]) == ("optcomp-release", 1, "done")
    assert view["plan"] == PLANS[name]
    assert set(view["record"]) == {"plan_sha256", "data_hmac_sha256", "versions"}
    assert {"optcomp", "opendp", "duckdb", "ibis-framework", "python"} <= set(view["record"]["versions"])
    assert view["record"]["plan_sha256"] == plan_digest(PLANS[name])
    assert [entry["name"] for entry in view["statistics"]] == list(PLANS[name]["statistics"])
    for entry in view["statistics"]:
        assert all(part["scale"] > 0 for part in entry["noise"])
        for each in entry.get("cells", [entry]):
            if each["interval"] not in (None, [None, None]):
                low, high = each["interval"]
                assert low <= max(each["value"], 0) <= high or entry["statistic"].startswith("cdf")


@pytest.mark.parametrize("name", ["sums", "laplace", "reserve", "noisy"])
def test_certificates_are_proved_again(name: str, data: Path, out: Path) -> None:
    found = PLANS[name] if name == "noisy" else make_laplace(PLANS[name])
    view, _ = release_plan(read(found), data, out)
    assert ("gaussians" in view["certificate"]) == (name == "noisy")
    assert view["certificate"]["format"] == "optcomp-certificate"
    assert check(view["certificate"]).proved
    assert view["certificate"]["upper"] == view["guarantee"]["total"]["epsilon"]


def make_laplace(found: Plain) -> Plain:
    for name in found["statistics"]:
        found = put(found, f"{name}.mechanism", "laplace")
    return found


def test_a_certificate_of_little_gaussian_noise(data: Path, out: Path) -> None:
    """It counts by the loss of the discrete noise itself."""
    view, _ = release_plan(read(PLANS["gaussian"]), data, out)
    assert {law["kind"] for law in view["certificate"]["laws"]} == {"discrete_gaussian"}
    assert view["certificate"]["upper"] <= 1


def test_values_are_right_but_for_the_noise(data: Path, out: Path) -> None:
    """With a great budget the answers are nearly exact: noise of scale 0.055 is 3 or more with probability 1e-23."""
    view, _ = release_plan(document(budget={"epsilon": 5000}), data, out)
    people, age, regions = view["statistics"]
    assert abs(people["value"] - ROWS) <= 2
    assert age["value"] == pytest.approx(49.5, abs=0.2)
    assert {each["cell"]: each["value"] for each in regions["cells"]} == pytest.approx(
        {"north": 334, "south": 333, "(other)": 333}, abs=2
    )


def test_the_same_again_is_read_and_not_spent(data: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, fresh = release_plan(document(), data, out)
    assert fresh

    def never(*_: object) -> Any:
        raise AssertionError("asked again")

    monkeypatch.setattr(Session, "pay", never)
    monkeypatch.setattr(proved_plan, "answer", never)
    monkeypatch.setattr(module, "table_of", never)
    text = out.read_text(encoding="utf8")
    again, fresh = release_plan(document(), data, out)
    assert (again, fresh) == (json.loads(json.dumps(first)), False)
    assert out.read_text(encoding="utf8") == text


def test_comments_and_layout_do_not_make_another_plan() -> None:
    source = small(budget=PAIR)
    as_json = json.dumps(json.loads(json.dumps(source)) | {"budget": {"delta": 1e-6, "epsilon": 1}})
    written = [dumped(source), "# a comment\n" + dumped(source)]
    digests = {plan_digest(parsed(text, "p")) for text in written}
    assert digests == {plan_digest(source)}
    assert plan_digest(parsed(as_json.replace("1e-06", "1e-6"), "p", as_json=True)) in digests
    assert plan_digest(small(budget={"epsilon": 2})) not in digests
    years, texts = ({"year": {"categories": each}} for each in ([2023, 2024], ["2023", "2024"]))
    assert plan_digest(small(columns=years)) != plan_digest(small(columns=texts))


def test_another_plan_or_other_data_are_refused(data: Path, out: Path, tmp_path: Path) -> None:
    release_plan(document(), data, out)
    before = out.read_text(encoding="utf8")
    here, there = plan_digest(small()), plan_digest(small(budget={"epsilon": 2}))
    with pytest.raises(NotReleased) as refusal:
        release_plan(document(budget={"epsilon": 2}), data, out)
    assert str(refusal.value) == (
        f"{out}: holds a release of another plan ({here[:12]}, not {there[:12]}); "
        "choose another file, nothing was spent"
    )
    other = tmp_path / "other.parquet"
    pq.write_table(pq.read_table(data).slice(1), other)
    with pytest.raises(NotReleased) as refusal:
        release_plan(document(), other, out)
    assert str(refusal.value) == (
        f"{out}: holds a release of other data ({file_digest(data)[:12]}, not {file_digest(other)[:12]}); "
        "choose another file, nothing was spent"
    )
    assert out.read_text(encoding="utf8") == before


def test_nothing_exact_is_written(tmp_path: Path, out: Path) -> None:
    """Neither values of the data nor a digest of them, and nothing is left behind in the directory."""
    inside = tmp_path / "elsewhere"
    inside.mkdir()
    path = inside / "secret.parquet"
    ages = [(37 * i) % 100 for i in range(98_765)]
    pq.write_table(pa.table({"age": ages, "region": ["north"] * len(ages)}), path)
    release_plan(document(budget={"epsilon": "0.01"}, data={"rows": 10**5}), path, out)
    text = out.read_text(encoding="utf8")
    assert "98765" not in text
    assert str(sum(ages)) not in text
    assert file_digest(path) not in text
    assert "secret" not in text
    assert sorted(file.name for file in tmp_path.iterdir() if file.is_file()) == [
        "plan.release.json",
        "plan.release.private.json",
    ]


def test_the_private_file_is_private_and_needed(data: Path, out: Path) -> None:
    release_plan(document(), data, out)
    private = Store(out).private
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    view = json.loads(private.read_text(encoding="utf8"))
    assert view["data_sha256"] == file_digest(data)
    assert Identity("", view["data_sha256"]).keyed(bytes.fromhex(view["key"])) in out.read_text(encoding="utf8")
    for text in (None, "{}", '{"key": 3}', "\x00"):
        private.unlink(missing_ok=True)
        if text is not None:
            private.write_text(text, encoding="utf8")
        with pytest.raises(NotReleased, match=r"without plan\.release\.private\.json it cannot be told"):
            release_plan(document(), data, out)


def test_a_private_file_that_cannot_be_written_takes_everything_back(data: Path, tmp_path: Path) -> None:
    """Its name is longer than that of the release, and too long."""
    folder = tmp_path / "out"
    folder.mkdir()
    with pytest.raises(NotReleased, match=r"private\.json: cannot be written .*; nothing was spent"):
        release_plan(document(), data, folder / f"{'x' * 245}.json")
    assert list(folder.iterdir()) == []


def test_a_directory_where_the_private_file_belongs(data: Path, out: Path) -> None:
    """Nothing was asked, so nothing is spent, and the next try may succeed."""
    Store(out).private.mkdir()
    with pytest.raises(NotReleased, match="nothing was spent"):
        release_plan(document(), data, out)
    assert not out.exists()
    Store(out).private.rmdir()
    assert release_plan(document(), data, out)[1]


def test_a_release_that_another_process_has_finished_meanwhile(
    data: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both looked for the file before it was there; the second one finds it done."""
    real = proved_plan.prepare

    def slow(*arguments: Any) -> Any:
        monkeypatch.setattr(module, "prepare", real)
        found.append(release_plan(document(), data, out))
        return real(*arguments)

    found: list[tuple[dict[str, Any], bool]] = []
    monkeypatch.setattr(module, "prepare", slow)
    second, fresh = release_plan(document(), data, out)
    assert found[0][1]
    assert not fresh
    assert second == json.loads(json.dumps(found[0][0]))


def test_keys_differ(data: Path, tmp_path: Path) -> None:
    """Two releases of the same data do not show that the data are the same."""
    views = [release_plan(document(), data, tmp_path / f"{i}.json")[0] for i in range(2)]
    assert len({view["record"]["data_hmac_sha256"] for view in views}) == 2


SPENT = "its budget must be taken as spent"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", f"a release was begun and is running, or was interrupted; {SPENT}"),
        ('{"format": "optcomp-release", "status": "started", "started": "then"}', "begun on then and is running"),
        ('{"format": "optcomp-release", "status": "failed"}', f"a release was begun and failed; {SPENT}"),
        ('{"format": "optcomp-release", "status": 3}', SPENT),
        ("{}", "is not a release, and will not be overwritten; nothing was spent"),
        ("my notes", "is not a release, and will not be overwritten; nothing was spent"),
        ("[1]", "is not a release"),
        ('{"format": "optcomp-release", "status": "done"}', "is a release that was changed by hand"),
        ('{"format": "optcomp-release", "status": "done", "record": {}, "facts": 3}', "changed by hand"),
    ],
    ids=range(9),
)
def test_files_in_the_way(text: str, words: str, data: Path, out: Path) -> None:
    out.write_text(text, encoding="utf8")
    with pytest.raises(NotReleased) as refusal:
        release_plan(document(), data, out)
    assert words in str(refusal.value)
    assert out.read_text(encoding="utf8") == text


def test_a_directory_in_the_way(data: Path, out: Path) -> None:
    out.mkdir()
    with pytest.raises(NotReleased, match="cannot be read; choose another file"):
        release_plan(document(), data, out)


def test_a_failure_is_marked_and_tells_nothing(data: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [0]

    def failing(*arguments: Any) -> Answer:
        asked[0] += 1
        if asked[0] == 2:
            raise ValueError("the age of the youngest is 17")
        return answer(*arguments)

    monkeypatch.setattr(proved_plan, "answer", failing)
    with pytest.raises(MechanismFailed, match="what it cost stays spent") as failure:
        release_plan(document(), data, out)
    assert "17" not in str(failure.value)
    assert failure.value.__context__ is None
    assert json.loads(out.read_text(encoding="utf8"))["status"] == "failed"
    assert "statistics" not in out.read_text(encoding="utf8")
    assert str(failure.value).endswith("run the same command again: the release is finished without being paid again")
    assert release_plan(document(), data, out)[1]
    assert asked[0] == 5  # two of three, and all three again


def test_an_interruption_is_marked(data: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> Answer:
        raise KeyboardInterrupt

    monkeypatch.setattr(proved_plan, "answer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        release_plan(document(), data, out)
    assert json.loads(out.read_text(encoding="utf8"))["status"] == "failed"


def test_a_disk_that_is_full_at_the_end(data: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answers are lost, the file says so, and no half of it is there."""

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(stored, "replace_file", full)
    with pytest.raises(OSError, match="No space"):
        release_plan(document(), data, out)
    assert json.loads(out.read_text(encoding="utf8"))["status"] == "started"


def test_replacing_is_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    stored.replace_file(path, "old")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(5, "gone")))
    with pytest.raises(OSError, match="gone"):
        stored.replace_file(path, "new")
    assert path.read_text(encoding="utf8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_bad_data(data: Path, out: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(b"PAR1 no parquet at all")
    lacking = tmp_path / "lacking.csv"
    lacking.write_text("age;sex\n3;m\n", encoding="utf8")
    for path, words in (
        (tmp_path / "none.csv", r"source: cannot be read \(No such file or directory\), got"),
        (tmp_path, "^source: is a folder, but not a snapshot, got"),
        (bad, "^source: cannot be read as Parquet"),
        (lacking, "^source: does not fit the plan: column 'region' is not in the table, which has age, sex, got"),
        (tmp_path / "plan.yaml", "^source: must end in one of"),
    ):
        if path.suffix == ".yaml":
            path.write_text("x", encoding="utf8")
        with pytest.raises(InvalidInput, match=words):
            release_plan(document(), path, out)
    assert not out.exists()


def test_a_csv_file(data: Path, out: Path, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,region\n" + "".join(f"{i % 100},north\n" for i in range(ROWS)), encoding="utf8")
    view, _ = release_plan(document(budget={"epsilon": 5000}), path, out)
    assert abs(view["statistics"][0]["value"] - ROWS) <= 2  # noise of scale 0.055


# Real processes: races and sudden ends

_CHILD = """
import json, sys, time
from pathlib import Path
from optcomp.release import proved_plan, release_plan
from optcomp.release.store import NotReleased
from optcomp.planner import read_file

plan, data, out, ready, go, pause = map(Path, sys.argv[1:7])
real = proved_plan.answer


def answer(*arguments):
    (out.parent / f"asking.{ready.name}").touch()
    time.sleep(float(str(pause)))
    return real(*arguments)


proved_plan.answer = answer
document = read_file(plan)
ready.touch()
while not go.exists():
    time.sleep(0.001)
try:
    view, fresh = release_plan(document, data, out)
    print(json.dumps({"fresh": fresh, "statistics": view["statistics"]}))
except NotReleased as error:
    print(json.dumps({"refused": str(error)}))
"""


PATIENCE = 120.0  # seconds after which a test that waits for a process fails


class Child:
    """A process that waits for a sign and then releases."""

    def __init__(self, folder: Path, data: Path, out: Path, name: str, pause: str) -> None:
        self.ready, self.asking = folder / name, folder / f"asking.{name}"
        arguments = [folder / "plan.yaml", data, out, self.ready, folder / "go", pause]
        call = [sys.executable, "-c", _CHILD, *map(str, arguments)]
        left = {**os.environ, "TMPDIR": str(folder)}  # what a process leaves behind that is killed
        self.process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=left)

    def wait_for(self, path: Path) -> None:
        end = time.monotonic() + PATIENCE
        while not path.exists():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < end, f"{path.name} was not made within {PATIENCE} seconds"
            time.sleep(0.001)

    def said(self) -> dict[str, Any]:
        printed, complaint = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, complaint
        found: dict[str, Any] = json.loads(printed)
        return found

    def end(self) -> None:
        """Nothing of it is left, whatever happened in the test."""
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def begin(data: Path, out: Path, tmp_path: Path) -> Iterator[Callable[[str, str], Child]]:
    (tmp_path / "plan.yaml").write_text(dumped(small()), encoding="utf8")
    with ExitStack() as ends:

        def begun(name: str, pause: str) -> Child:
            child = Child(tmp_path, data, out, name, pause)
            ends.callback(child.end)
            return child

        yield begun


@pytest.mark.slow
def test_of_many_at_once_exactly_one_runs(
    begin: Callable[[str, str], Child], data: Path, out: Path, tmp_path: Path
) -> None:
    children = [begin(f"child{i}", "0.05") for i in range(4)]
    for child in children:
        child.wait_for(child.ready)
    (tmp_path / "go").touch()
    said = [child.said() for child in children]
    assert sum(each.get("fresh") is True for each in said) == 1
    assert len(list(tmp_path.glob("asking.*"))) == 1
    assert all("fresh" in each or SPENT in each["refused"] for each in said)
    view, fresh = release_plan(document(), data, out)
    assert not fresh
    told = {json.dumps(each["statistics"]) for each in said if "statistics" in each}
    assert told == {json.dumps(view["statistics"])}


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a signal that cannot be caught")
def test_a_sudden_end_leaves_a_file_that_says_so(
    begin: Callable[[str, str], Child], data: Path, out: Path, tmp_path: Path
) -> None:
    (tmp_path / "go").touch()
    child = begin("child", "3600")
    child.wait_for(child.asking)
    child.end()
    assert json.loads(out.read_text(encoding="utf8"))["status"] == "started"
    assert release_plan(document(), data, out)[1]
    assert json.loads(out.read_text(encoding="utf8"))["status"] == "done"


def test_a_ledger_that_somebody_is_making_is_not_taken_for_another_file(data: Path, out: Path) -> None:
    """SQLite turns its log on before there is a table; whoever looks then must not say that this is no ledger."""
    place = data.with_name(f"{data.name}.ledger")
    with closing(sqlite3.connect(place)) as database:
        database.execute("PRAGMA journal_mode = wal")
    assert place.stat().st_size
    with pytest.raises(InvalidInput, match="is an empty database"):
        Ledger(place, create=False)
    assert release_plan(document(), data, out)[1]
    with Ledger(place, create=False) as ledger:
        assert len(ledger.accounts()) == 1


def test_documents_are_not_changed(data: Path, out: Path) -> None:
    source = small()
    before = copy.deepcopy(source)
    release_plan(read(source), data, out)
    assert source == before


def test_a_stored_release_says_nothing_twice(data: Path, out: Path) -> None:
    release_plan(document(), data, out)
    whole, secret = out.read_text(encoding="utf8"), out.with_name("plan.release.private.json")
    out.write_text(whole.replace('"status"', '"status": "done", "status"', 1), encoding="utf8")
    with pytest.raises(NotReleased, match="'status' is given twice; nothing was spent"):
        release_plan(document(), data, out)
    out.write_text(whole, encoding="utf8")
    kept = secret.read_text(encoding="utf8")
    secret.write_text(kept.replace('"key"', '"key": "00", "key"', 1), encoding="utf8")
    with pytest.raises(NotReleased, match="gives 'key' twice; nothing was spent"):
        release_plan(document(), data, out)
    secret.write_text(kept, encoding="utf8")
    assert not release_plan(document(), data, out)[1]


def test_paths_may_be_text_and_nothing_else(data: Path, out: Path) -> None:
    frame = pd.DataFrame({"age": [1], "region": ["north"]})
    wrong: list[tuple[Any, Any, Any, str]] = [
        (document(), frame, out, "ledger: must be named, for there is no file beside which it could lie"),
        (document(), "postgresql://localhost/people", out, "data: may change while it is asked: prepare a snapshot"),
        (document(), None, out, "data: must be the path of a file.*'NoneType'"),
        (document(), data, 3, "out: must be the path of a file, got 'int'"),
        ("plan.yaml", data, out, "document: must be a plan as planner.read or read_file gives it, got 'str'"),
        (small(budget=PAIR), data, out, "document: must be a plan.*'dict'"),
    ]
    for plan, about, target, why in wrong:
        with pytest.raises(InvalidInput, match=why):
            release_plan(plan, about, target)
    assert not out.exists()
    view, fresh = release_plan(document(), str(data), str(out))
    assert fresh
    assert release_plan(document(), data, out) == (json.loads(json.dumps(view)), False)


def test_a_data_frame_is_released_once(data: Path, out: Path, tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [20, 30, None], "region": ["north", None, "south"], "other": [1, 2, 3]})
    ledger = tmp_path / "frame.ledger"
    view, fresh = release_plan(document(), frame, out, ledger=ledger)
    assert fresh
    again = pa.table({"region": ["north", None, "south"], "age": pa.array([20.0, 30.0, None])})
    for same in (frame.copy(), frame.assign(other=9)):
        assert release_plan(document(), same, out, ledger=ledger) == (json.loads(json.dumps(view)), False)
    with pytest.raises(NotReleased, match="other data"):
        release_plan(document(), frame.assign(age=[20, 30, 31]), out, ledger=ledger)
    with pytest.raises(InvalidInput, match="source: does not fit the plan: column 'age'"):
        release_plan(document(), frame[["region"]], tmp_path / "none.json", ledger=ledger)
    assert release_plan(document(), again, tmp_path / "arrow.json", ledger=ledger)[0]["statistics"]


def test_several_files_are_released_as_one(out: Path, tmp_path: Path) -> None:
    for place in range(3):
        (tmp_path / f"part-{place}.csv").write_text("age,region\n20,north\n40,south\n")
    with pytest.raises(InvalidInput, match="ledger: must be named"):
        release_plan(document(), tmp_path / "part-*.csv", out)
    ledger = tmp_path / "parts.ledger"
    assert release_plan(document(), tmp_path / "part-*.csv", out, ledger=ledger)[1]
    assert not release_plan(document(), tmp_path / "part-*.csv", out, ledger=ledger)[1]
    (tmp_path / "part-1.csv").write_text("age,region\n20,north\n41,south\n")
    with pytest.raises(NotReleased, match="other data"):
        release_plan(document(), tmp_path / "part-*.csv", out, ledger=ledger)
