"""Pages about work on a source that takes its time: how far it has come, a button that cancels, and where it leads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from optcomp.center import Settings, invented
from optcomp.pages import make_app, office_jobs
from tests.unit.center.served import Served, served
from tests.unit.center.steps_held import go_on, hold, until_held, with_processes_held
from tests.unit.pages.test_office_pages import filled
from tests.unit.pages.visitors import Visitor, hidden_fields, words_of

pytestmark = pytest.mark.slow


@pytest.fixture
def centre(tmp_path: Path) -> Iterator[Served]:
    def make(settings: Settings) -> object:
        return with_processes_held(settings, make_app)

    with served(tmp_path / "home", make, processes=False) as found:  # type: ignore[arg-type]
        (found.settings.folders[0] / invented.VISITS).write_text(invented.invented_visits(), encoding="utf8")
        hold(found.settings.home, "frozen")
        yield found


def test_registering_shows_how_far_it_is_and_can_be_cancelled(centre: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = Visitor(centre, "olga")
    draft = filled(owner, name="clinic")
    hidden = hidden_fields(owner.get(f"{draft}/confirmation").text)
    with monkeypatch.context() as patched:
        patched.setattr(office_jobs, "PATIENCE", 0.0)
        begun = owner.post(f"{draft}/confirmation", hidden)
        centre.wait(until_held(centre.settings.home))
        again = owner.post(f"{draft}/confirmation", hidden)
    job = begun.headers["location"]
    assert job.startswith("/owner/jobs/")
    assert again.headers["location"] == job  # the same form is the same job
    assert owner.get(f"{draft}/confirmation").headers["location"] == job
    shown = owner.get(job)
    assert shown.status_code == 200
    assert "Register a table clinic, visits.csv It is being done. Now: entering it." in words_of(shown.text)
    assert 'data-again="2" data-follow' in shown.text  # for scripts
    assert '<a href="">Refresh</a>' in shown.text  # without
    assert owner.post(f"{job}/cancel", {}, page=job).headers["location"] == job
    assert Visitor(centre, "omar").get(job).status_code == 200
    ended = owner.get(job)
    while "cancelled" not in ended.text:
        ended = owner.get(job)
    assert f'href="{draft}/confirmation"' in ended.text
    assert "data-again" not in ended.text.partition("<main")[2]
    assert [each.name for each in centre.service.catalogue.datasets()] == ["survey"]
    go_on(centre.settings.home)
    assert owner.post(f"{draft}/confirmation", hidden).headers["location"] == "/owner/datasets/clinic"
    assert owner.get(f"{draft}/columns").status_code == 404  # the draft has gone with it
    assert owner.post(f"{draft}/confirmation", hidden).headers["location"] == "/owner/datasets/clinic"


def test_a_registration_that_is_done_leads_to_its_data_set(centre: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = Visitor(centre, "olga")
    draft = filled(owner, name="clinic")
    with monkeypatch.context() as patched:
        patched.setattr(office_jobs, "PATIENCE", 0.0)
        job = owner.post(f"{draft}/confirmation", {}, page=f"{draft}/confirmation").headers["location"]
    centre.wait(until_held(centre.settings.home))
    go_on(centre.settings.home)
    while (shown := owner.get(job)).status_code == 200:
        assert "It is" in shown.text
    assert shown.headers["location"] == "/owner/datasets/clinic"
    address = "/owner/datasets/clinic/version"
    form = {"source": f'["{invented.VISITS}", null]'}
    assert owner.post(address, form, page=address).headers["location"] == "/owner/datasets/clinic"
    assert centre.service.catalogue.dataset("clinic").version == 2


def test_what_a_check_found_is_shown_until_the_declaration_changes(centre: Served) -> None:
    owner, other = Visitor(centre, "olga"), Visitor(centre, "omar")
    draft = filled(owner, name="clinic")
    assert "What was found" in owner.get(f"{draft}/check").text
    assert other.get(f"{draft}/check").status_code == 404
    people = {"person": "patient", "rows_per_person": "2", "neighbours": "add-remove", "bad_cells": "missing"}
    assert owner.post(f"{draft}/people", people, page=f"{draft}/people").status_code == 303
    assert "What was found" not in owner.get(f"{draft}/check").text
    assert "Nobody looked at the data" in owner.get(f"{draft}/confirmation").text
