"""Releases and the ledger: one debit whatever happens, the same numbers again, and what is told about all of them."""

from __future__ import annotations

import copy
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from optcomp import ApproxDP, BudgetExceeded, HypothesisNotMet, InvalidInput, PureDP
from optcomp.interactive import BestFilter, SumFilter, recorded_cost
from optcomp.ledger import Account, AccountState, Ledger, SlotState
from optcomp.ledger.schema import ENTRIES, REQUESTS
from optcomp.planner import Document, make_plan, read
from optcomp.planner.source import dumped
from optcomp.release import NotReleased, commit_plans, enter_release, page, prepare_data, release_plan, verify_release
from optcomp.release import proved_plan as module
from optcomp.release.proved_plan import prepare
from optcomp.release.released import table_of
from optcomp.release.store import file_digest
from optcomp.statistics import Count
from optcomp.theorems import bbg18
from tests.plans import ROWS, Plain, small
from tests.servers import postgres_address

PAIR: Plain = {"epsilon": 1, "delta": "1e-6"}
SAMPLE: Plain = {"rows": ROWS, "rows_public": True, "population": 10**5, "neighbours": "replace"}


def document(**changes: Any) -> Document:
    return read(small(**changes))


def account_of(path: Path) -> Account:
    (found,) = Ledger(path, create=False).accounts()
    return found


@pytest.fixture
def ledger(data: Path) -> Path:
    return data.with_name(f"{data.name}.ledger")


def spent(account: Account) -> Fraction:
    """Σε of everything recorded, added up from the rows of requests by hand."""
    with account._holder.books.database.read() as connection:
        paid = [json.loads(text) for text in connection.scalars(select(REQUESTS.c.paid))]
    return sum((rounded(Fraction(part["epsilon"])) for each in paid for part in each), Fraction(0))


def rounded(amount: Fraction) -> Fraction:
    """Up to a multiple of 1e-30, as amounts enter a ledger."""
    return Fraction(math.ceil(amount * 10**30), 10**30)


# What is debited


def test_a_release_is_debited_from_the_ledger_beside_the_data(data: Path, out: Path, ledger: Path) -> None:
    notices: list[str] = []
    view, _ = release_plan(document(), data, out, notice=notices.append)
    account = account_of(ledger)
    assert (account.name, account.capped, account.state) == ("people", False, AccountState.OPEN)
    assert spent(account) == rounded(Fraction(view["certificate"]["upper"])) <= 1
    entry = view["ledger"]
    assert entry["receipt"]["ledger"] == account.ledger_id
    assert (entry["releases"], entry["theorem"]) == (1, "BEST-FILTER")
    assert entry["before"]["sums"] == {"epsilon": "0", "rho": "0", "delta": "0"}
    assert Fraction(entry["after"]["sums"]["epsilon"]) == spent(account)
    assert entry["after"]["totals"][0]["theorem"] == "RRUV16"
    assert len(notices) == 1
    assert f"a new ledger was made, {ledger}: keep it with the data" in notices[0]
    (told,) = account.releases()
    assert (told.kind, told.state, told.what) == ("release", "answered", "a plan of 3 statistics about people")
    assert told.cost.startswith("ε = ")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"budget": PAIR},
        {"budget": PAIR, "reserve": "0.3"},
        {"budget": {"rho": "0.1"}},
        {"budget": PAIR, "statistics": {f"s{i}": {"count": None, "mechanism": "gaussian"} for i in range(5)}},
    ],
    ids=["sums", "pair", "reserve", "rho", "gaussian"],
)
def test_offers_are_the_total_and_the_parts(changes: Plain, data: Path) -> None:
    plan = make_plan(document(**changes))
    prepared = prepare(plan, table_of(plan.document, data))
    whole, parts = prepared.offers
    assert whole == (prepared.cost,)
    own = [cost for line in plan.lines for cost in line.question.costs(prepared.table)]
    assert list(parts) == own + ([] if plan.reserve is None else [plan.reserve])
    if plan.bound is None:  # the parts of ρ add up to the total, which is rounded up
        rho = sum((recorded_cost(cost).rho or Fraction(0) for cost in own), Fraction(0))
        assert 0 <= Fraction(prepared.cost.rho) - rho < Fraction(1, 10**12)  # type: ignore[union-attr]


def test_the_second_release_is_told_and_added(data: Path, tmp_path: Path, ledger: Path) -> None:
    notices: list[str] = []
    first, _ = release_plan(document(), data, tmp_path / "1.json", notice=notices.append)
    second, _ = release_plan(document(budget={"epsilon": 2}), data, tmp_path / "2.json", notice=notices.append)
    one, two = first["ledger"], second["ledger"]
    assert two["before"] == one["after"]
    assert two["releases"] == 2
    assert spent(account_of(ledger)) == Fraction(two["after"]["sums"]["epsilon"]) > 2
    assert notices[1].startswith("these people: 2 releases so far, together at most (ε, δ) = (")
    assert notices[1].endswith("by RRUV16")
    assert two["after"]["totals"][0]["epsilon"] >= spent(account_of(ledger))


def test_the_same_release_in_another_file_costs_nothing(data: Path, tmp_path: Path, ledger: Path) -> None:
    first, _ = release_plan(document(), data, tmp_path / "1.json")
    before = spent(account_of(ledger))
    second, fresh = release_plan(document(), data, tmp_path / "2.json")
    assert not fresh
    assert second["statistics"] == first["statistics"]
    assert second["ledger"] == first["ledger"]
    assert spent(account_of(ledger)) == before


def test_past_the_cap_nothing_happens(data: Path, out: Path, ledger: Path) -> None:
    account = Ledger(ledger).open("people", epsilon="0.5")
    files = sorted(file.name for file in data.parent.iterdir())
    with pytest.raises(BudgetExceeded, match=r"0\.5"):
        release_plan(document(), data, out)
    assert spent(account) == 0
    assert account.releases() == ()
    assert sorted(file.name for file in data.parent.iterdir()) == files
    release_plan(document(budget={"epsilon": "0.4"}), data, out)
    assert 0 < spent(account) <= Fraction("0.4")


def test_a_cap_may_be_set_later(data: Path, tmp_path: Path, ledger: Path) -> None:
    release_plan(document(), data, tmp_path / "1.json")
    account = account_of(ledger)
    account.lower(BestFilter(2, "1e-6", "5e-7"))
    assert account.capped
    release_plan(document(budget={"epsilon": "0.9"}), data, tmp_path / "2.json")
    with pytest.raises(BudgetExceeded):
        release_plan(document(budget={"epsilon": "0.8"}), data, tmp_path / "3.json")
    assert spent(account) < 2


def test_the_chain_and_its_requests_hold_no_digest_of_the_data(data: Path, out: Path, ledger: Path) -> None:
    release_plan(document(), data, out)
    with account_of(ledger)._holder.books.database.read() as connection:
        shown = [row._asdict() for row in connection.execute(select(ENTRIES))]
        shown += [{"key": row.key, "form": row.form, "what": row.what} for row in connection.execute(select(REQUESTS))]
    assert file_digest(data) not in str(shown)


def test_a_sample_is_counted_once_for_all(data: Path, tmp_path: Path, ledger: Path) -> None:
    for number, eps in enumerate((1, "1.5")):
        plan = document(budget=PAIR | {"epsilon": eps}, data=SAMPLE)
        view, _ = release_plan(plan, data, tmp_path / f"{number}.json")
    entry = view["ledger"]
    account = account_of(ledger)
    assert account.sample == (ROWS, 10**5)
    best, seen = entry["after"]["totals"][0], entry["sample"]["after"][0]
    total = next(each for each in account.totals() if each.theorem == best["theorem"])
    outside = bbg18.outside(ApproxDP(total.exactly, total.delta), ROWS, 10**5)
    assert seen["epsilon"] == pytest.approx(float(outside.epsilon))
    assert seen["epsilon"] < best["epsilon"]


def test_a_reserve_becomes_a_slot_that_a_session_can_use(data: Path, out: Path, ledger: Path) -> None:
    plan = document(budget=PAIR, reserve="0.3")
    view, _ = release_plan(plan, data, out)
    account = account_of(ledger)
    (slot,) = account.slots
    assert slot.name == view["ledger"]["reserve"]
    assert slot.name.startswith("reserve of people ")
    kept = make_plan(plan).reserve
    assert kept is not None
    assert slot.guarantee == ApproxDP(Fraction(kept.epsilon), 0)
    sums = view["ledger"]["after"]["sums"]
    with slot.session(table_of(plan, data)) as session:
        assert session.ask(Count(), epsilon=slot.epsilon).value is not None
        with pytest.raises(BudgetExceeded):
            session.ask(Count("age > 5"), epsilon="0.0001")
    assert slot.state == SlotState.TAKEN
    assert account.place(f"session {slot.name}").after == account.place(f"session {slot.name}").before
    assert {name: str(getattr(account.place(f"session {slot.name}").after, name)) for name in sums} == {
        name: str(value) for name, value in sums.items()
    }


def test_accounts_by_name(data: Path, tmp_path: Path) -> None:
    place = tmp_path / "all.ledger"
    named = document(data={"rows": ROWS, "account": "survey"})
    view, _ = release_plan(named, data, tmp_path / "1.json", ledger=place)
    assert view["ledger"]["receipt"]["account"] == "survey"
    view, _ = release_plan(document(), data, tmp_path / "2.json", ledger=str(place))  # the only one there is
    assert view["ledger"]["receipt"]["account"] == "survey"
    with pytest.raises(InvalidInput, match=r"account: must be one and the same: data\.account says 'survey', account"):
        release_plan(named, data, tmp_path / "3.json", ledger=place, account="other")
    with pytest.raises(InvalidInput, match=r"account: is no account of .*, which has 'survey'; name one of them"):
        release_plan(document(), data, tmp_path / "3.json", ledger=place, account="other")
    with pytest.raises(InvalidInput, match=r"data\.account: must be text that can be printed"):
        document(data={"account": " "})
    with Ledger(place) as books:
        view, _ = release_plan(document(budget={"epsilon": 2}), data, tmp_path / "3.json", ledger=books)
        assert view["ledger"]["releases"] == 3
        assert len(books.account("survey").releases()) == 3  # it is not closed


def test_other_units_are_refused(data: Path, tmp_path: Path) -> None:
    release_plan(document(), data, tmp_path / "1.json")
    with pytest.raises(HypothesisNotMet):
        release_plan(document(budget=PAIR, data=SAMPLE), data, tmp_path / "2.json")
    assert not (tmp_path / "2.json").exists()


def test_a_snapshot_is_debited_where_it_was_first(data: Path, tmp_path: Path) -> None:
    snapshot = Path(prepare_data(document(), data, tmp_path / "kept.snapshot").snapshot)
    elsewhere = tmp_path / "elsewhere.ledger"
    view, _ = release_plan(document(), snapshot, tmp_path / "1.json", ledger=elsewhere)
    named = view["ledger"]["receipt"]["ledger"]
    with pytest.raises(InvalidInput, match=rf"ledger: does not exist, and the snapshot .* of ledger {named}; name"):
        release_plan(document(budget={"epsilon": 2}), snapshot, tmp_path / "2.json")
    Ledger(tmp_path / "other.ledger").close()
    with pytest.raises(InvalidInput, match=rf"and the snapshot is debited from account 'people' of ledger {named}"):
        release_plan(document(budget={"epsilon": 2}), snapshot, tmp_path / "2.json", ledger=tmp_path / "other.ledger")
    assert not (tmp_path / "2.json").exists()
    again, _ = release_plan(document(budget={"epsilon": 2}), snapshot, tmp_path / "2.json", ledger=elsewhere)
    assert again["ledger"]["releases"] == 2


# Entered afterwards, and committed before


def test_entering_is_always_recorded(data: Path, out: Path, tmp_path: Path) -> None:
    view, _ = release_plan(document(), data, out, ledger=tmp_path / "a.ledger")
    account = Ledger(tmp_path / "b.ledger").open("people", epsilon="1.5")
    receipt = enter_release(out, account)
    assert enter_release(out, account) == receipt  # once
    first = spent(account)
    assert (account.state, len(account.releases())) == (AccountState.OPEN, 1)
    assert first <= Fraction(view["guarantee"]["total"]["epsilon"])
    other = tmp_path / "2.json"
    release_plan(document(budget={"epsilon": 2}), data, other, ledger=tmp_path / "a.ledger")
    enter_release(other, account)
    assert (account.state, len(account.releases())) == (AccountState.OVERDRAWN, 2)
    assert account.totals()[0].exactly == spent(account) > 2
    with pytest.raises(BudgetExceeded, match="is overdrawn"):
        release_plan(document(budget={"epsilon": "0.01"}), data, tmp_path / "3.json", ledger=tmp_path / "b.ledger")
    assert not (tmp_path / "3.json").exists()
    with pytest.raises(InvalidInput, match="was debited from account 'people' when it was made"):
        enter_release(out, account_of(tmp_path / "a.ledger"))


def test_only_what_is_proved_is_entered(data: Path, out: Path, tmp_path: Path) -> None:
    view, _ = release_plan(document(), data, out)
    account = Ledger(tmp_path / "b.ledger").open("people", epsilon="1.5")
    changed = copy.deepcopy(view)
    changed["guarantee"]["total"]["epsilon"] = 0.1
    out.write_text(json.dumps(changed), encoding="utf8")
    with pytest.raises(InvalidInput, match="cannot be entered, for it is not proved"):
        enter_release(out, account)
    for text in ("[]", "no"):
        out.write_text(text, encoding="utf8")
        with pytest.raises(InvalidInput, match="release: is not a release"):
            enter_release(out, account)
    del view["ledger"]  # as releases without a ledger are
    out.write_text(json.dumps(view), encoding="utf8")
    assert verify_release(view).proved
    enter_release(out, account)
    assert spent(account) > 0


def test_committed_plans_take_their_slots(data: Path, tmp_path: Path, ledger: Path) -> None:
    account = Ledger(ledger).open("people", epsilon="3", delta="0.1")
    plans = [document(budget=PAIR | {"epsilon": eps}) for eps in (1, "0.9", "0.8")]
    bound, slots = commit_plans(account, plans, delta="0.02")
    assert bound.upper < 2.7
    assert len(slots) == 3
    before = spent(account)
    assert before == rounded(Fraction(bound.upper))
    for number, plan in enumerate(plans[:2]):
        view, fresh = release_plan(plan, data, tmp_path / f"{number}.json")
        assert (fresh, view["ledger"]["paid"]) == (True, [])
        assert verify_release(view).proved
    assert spent(account) == before
    assert [slot.state for slot in account.slots] == ["taken", "taken", "free"]
    assert account.releases()[0].cost == "paid by a slot"
    with pytest.raises(InvalidInput, match="is committed in account 'people' already"):
        commit_plans(account, plans[2:])
    release_plan(document(budget={"epsilon": "0.1"}), data, tmp_path / "other.json")
    assert spent(account) > before
    with pytest.raises(InvalidInput, match="was released before"):
        commit_plans(account, [document(budget={"epsilon": "0.1"})])
    with pytest.raises(HypothesisNotMet, match="a plan in ρ has none"):
        commit_plans(account, [document(budget={"rho": "0.1"})])


# Verification and reports


def test_what_is_said_about_the_ledger_is_verified(data: Path, tmp_path: Path) -> None:
    release_plan(document(), data, tmp_path / "1.json")
    view, _ = release_plan(document(budget=PAIR, reserve="0.3"), data, tmp_path / "2.json")
    assert verify_release(view).proved
    assert "2 releases so far, together at most" in page(view["facts"], view["growth"], view)
    changes: list[tuple[tuple[str, ...], Any, str]] = [
        (("receipt",), None, "ledger.receipt: must have the entries"),
        (("receipt", "head"), "x", "ledger.receipt: is not as it was written"),
        (("receipt", "sequence"), -1, "ledger.receipt: is not as it was written"),
        (("paid",), [{"kind": "PureDP", "epsilon": "1/10"}], "ledger.paid: is not a guarantee that is proved"),
        (("before", "sums", "epsilon"), "0", "ledger.after.sums: are not those before and what was paid"),
        (("after", "sums", "epsilon"), "1e999999999", "ledger: is not as it was written"),
        (("after", "totals"), [], "ledger.after.totals: are not those of the sums"),
        (("unit", "whose"), "person", "ledger.unit.whose is 'person', but by the plan it is 'row'"),
        (("unit", "neighbours"), "replace", "ledger.paid: is not a guarantee that is proved"),
        (("releases",), 0, "ledger.releases: must be a whole number above 0"),
        (("reserve",), None, "ledger.reserve: is not the slot"),
        (("theorem",), "NONE", "ledger: is not as it was written"),
        (("sample",), {"rows": 3, "population": 9, "before": [], "after": []}, "ledger.sample: does not follow"),
    ]
    for way, value, words in changes:
        changed = inside = copy.deepcopy(view)
        for name in ("ledger", *way[:-1]):
            inside = inside[name]
        inside[way[-1]] = value
        found = verify_release(changed)
        assert found.status == "mismatch", way
        assert any(words in problem for problem in found.problems), (way, found.problems)


# Crashes: a real process ends itself at every step, and the same command goes on

_CHILDREN = """
import json, os, signal, sys, traceback
from pathlib import Path
import cryptography.fernet, ibis.backends.duckdb, opendp.prelude, pandas  # which a release imports when it needs them
from optcomp.ledger import account, books, holders
from optcomp.planner import read_file
from optcomp.release import payer, proved_plan, released, store

def ends(owner, name, after):
    real = getattr(owner, name)

    def ending(*arguments, **named):
        if after:
            real(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, name, ending)

def release(step, plan, data, out):
    owner, name, when = {
        "ledger made": (payer.Payer, "open", True),
        "file created": (store.Store, "_claimed", True),
        "private file written": (store.Store, "_key", True),
        "before the debit": (holders.Holder, "_insert", False),
        "reserved": (holders.Holder, "_found_or_reserved", True),
        "asking": (proved_plan, "answer", True),
        "before storing": (holders.Holder, "_store", False),
        "stored": (holders.Holder, "_store", True),
        "before the file": (store, "replace_file", False),
        "file written": (store, "replace_file", True),
    }[step]
    # the key for digests of data is made by the same steps: end at the release itself
    if step in ("reserved", "before the debit", "before storing", "stored"):
        real_release = account.Account.release

        def release(*arguments, **named):
            ends(owner, name, when)
            return real_release(*arguments, **named)

        account.Account.release = release
    else:
        ends(owner, name, when)
    released.release_plan(read_file(Path(plan)), Path(data), Path(out))

print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            release(*json.loads(line))
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    print(os.waitpid(child, 0)[1], flush=True)
"""
"""Releases by each line in a process of its own: to fork one takes a tenth of the time that an interpreter takes."""
STEPS = {
    "ledger made": 0,
    "file created": 0,
    "private file written": 0,
    "before the debit": 0,
    "reserved": 1,
    "asking": 1,
    "before storing": 1,
    "stored": 1,
    "before the file": 1,
    "file written": 1,
}
"""Where a process ends, and how many releases are debited then."""


@pytest.fixture(scope="module")
def children(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[str]]:
    """An interpreter that forks; what its children leave behind when they are killed is removed with a folder."""
    left = {**os.environ, "TMPDIR": str(tmp_path_factory.mktemp("left"))}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    with subprocess.Popen([sys.executable, "-c", _CHILDREN], env=left, **pipes) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def killed(children: subprocess.Popen[str], step: str, folder: Path, data: Path, out: Path) -> None:
    assert children.stdin is not None
    assert children.stdout is not None
    children.stdin.write(json.dumps([step, str(folder / "plan.yaml"), str(data), str(out)]) + "\n")
    assert int(children.stdout.readline()) == signal.SIGKILL


@pytest.mark.skipif(os.name != "posix", reason="needs a signal that cannot be caught")
@pytest.mark.parametrize("step", STEPS)
def test_after_a_sudden_end_the_same_command_goes_on(
    step: str, data: Path, out: Path, tmp_path: Path, ledger: Path, children: subprocess.Popen[str]
) -> None:
    source = small(budget=PAIR, reserve="0.3")
    (tmp_path / "plan.yaml").write_text(dumped(source), encoding="utf8")
    killed(children, step, tmp_path, data, out)
    account = account_of(ledger)
    assert len(account.releases()) == STEPS[step]
    before = spent(account)
    view, _ = release_plan(read(source), data, out)
    account = account_of(ledger)
    assert len(account.releases()) == 1
    assert spent(account) == (before or spent(account)) > 0
    assert len(account.slots) == 1
    assert verify_release(view).proved
    assert json.loads(out.read_text(encoding="utf8")) == view
    out.unlink()
    again, fresh = release_plan(read(source), data, out)
    assert (fresh, again) == (False, view)  # written again from the ledger: the same file
    out.with_name("plan.release.private.json").unlink()
    out.unlink()
    again, fresh = release_plan(read(source), data, out)
    assert (fresh, again["statistics"], again["ledger"]) == (False, view["statistics"], view["ledger"])
    assert spent(account) == (before or spent(account))


def test_a_failed_release_is_finished_and_other_plans_keep_away(
    data: Path, out: Path, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "answer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        release_plan(document(), data, out)
    text = out.read_text(encoding="utf8")
    assert json.loads(text)["status"] == "failed"
    monkeypatch.undo()
    with pytest.raises(NotReleased, match="holds an unfinished release of another plan"):
        release_plan(document(budget={"epsilon": 2}), data, out)
    before = spent(account_of(ledger))
    assert before > 0
    view, fresh = release_plan(document(), data, out)
    assert (fresh, view["status"], spent(account_of(ledger))) == (True, "done", before)


# PostgreSQL


@pytest.fixture
def server() -> Iterator[str]:
    with postgres_address() as address:
        yield address


def test_a_release_from_postgres(server: str, data: Path, tmp_path: Path) -> None:
    source = document(budget=PAIR, reserve="0.3")
    view, _ = release_plan(source, data, tmp_path / "1.json", ledger=server)
    again, fresh = release_plan(source, data, tmp_path / "2.json", ledger=server)
    assert (fresh, again["statistics"]) == (False, view["statistics"])
    assert verify_release(view).proved
    with Ledger(server) as books:
        (account,) = books.accounts()
        assert len(account.releases()) == 1
        first = spent(account)
        assert len(account.slots) == 1
        account.session(table_of(source, data), SumFilter("0.1"), name="ada").ask(Count(), epsilon="0.1")
        assert spent(account) == first + 2 * Fraction("0.1")  # the session, and its question inside
        assert PureDP(account.slots[0].epsilon).epsilon > 0
