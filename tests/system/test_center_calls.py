"""A thousand calls made up from the published description of a centre; the campaign makes ten times as many."""

from __future__ import annotations

import re

import pytest

from tests.system.campaigns import campaign

pytestmark = pytest.mark.slow


def test_a_thousand_calls() -> None:
    code, printed = campaign("center_calls", "--calls", "1000")
    assert code == 0, printed
    found = re.search(r"^(\d+) calls in .*; 0 findings", printed, re.MULTILINE)
    assert found is not None, printed
    assert int(found.group(1)) >= 1000
    counts = {int(status): int(count) for count, status in re.findall(r"(\d+) × (\d+)", printed)}
    assert min(counts.get(status, 0) for status in (200, 401, 403, 404, 422)) > 20, counts


@pytest.mark.parametrize(("broken", "words"), [("tells", "tells a word of the table"), ("fails", "500 to")])
def test_a_broken_centre_is_found(broken: str, words: str) -> None:
    code, printed = campaign("center_calls", "--calls", "60", "--broken", broken)
    assert code == 1, printed
    assert words in printed
