"""Random histories and crowds of processes, on both databases; and ledgers that are wrong, which they must catch."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.campaign.broken_ledgers import FOR_CROWDS, FOR_HISTORIES
from tests.campaign.crowd import crowd
from tests.campaign.ledger_histories import machine
from tests.campaign.ledger_places import File, Place, Server
from tests.servers import postgres_address

Places = Callable[[], Place]
HISTORIES = settings(
    derandomize=True, deadline=None, database=None, stateful_step_count=30, suppress_health_check=list(HealthCheck)
)
CAUGHT = settings(HISTORIES, derandomize=False, max_examples=300, phases=[Phase.generate], report_multiple_bugs=False)
"""Enough for every broken ledger; nobody looks at the shortest history that shows it."""
SEEDS = {"refund_on_failure": 2, "answer_before_debit": 4, "no_anchor": 9, "any_question": 4}
SEEDS |= {"slots_for_everybody": 8, "forgetful_mechanisms": 28}
"""Seeds of the histories, with which a broken ledger is caught soon; 0 for those not listed."""


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def places(request: pytest.FixtureRequest) -> Iterator[Places]:
    if request.param == "sqlite":
        yield File
        return
    database: str = request.getfixturevalue("postgres_database")
    with postgres_address() as other:  # a database is copied by somebody who is connected to another one
        yield lambda: Server(other, database)


@pytest.fixture
def place(places: Places) -> Iterator[Place]:
    found = places()
    try:
        yield found
    finally:
        found.clear()


@pytest.mark.slow
def test_histories(places: Places) -> None:
    run_state_machine_as_test(machine(places), settings=settings(HISTORIES, max_examples=40 if places is File else 20))


@pytest.mark.parametrize("name", FOR_HISTORIES)
def test_a_broken_ledger_is_caught_by_histories(name: str) -> None:
    histories = seed(SEEDS.get(name, 0))(machine(File, FOR_HISTORIES[name]))
    with pytest.raises(AssertionError):
        run_state_machine_as_test(histories, settings=CAUGHT)


@pytest.mark.slow
def test_a_crowd(place: Place) -> None:
    """Eight processes want 320 grants of a budget for 250."""
    crowd(place, 8, 40, 250)


@pytest.mark.slow
@pytest.mark.parametrize("name", FOR_CROWDS)
def test_a_broken_ledger_is_caught_by_a_crowd(name: str, place: Place) -> None:
    with pytest.raises(AssertionError):
        crowd(place, 8, 10, 50, name)
