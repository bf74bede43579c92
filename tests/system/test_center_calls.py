"""A thousand calls made up from the published description of a centre; the campaign makes ten times as many."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow


def test_a_thousand_calls() -> None:
    from tests.campaign.center_calls import run  # here, because its libraries take long to import

    counts, wrong = run(1000, 1, processes=False)
    assert wrong == []
    assert counts.total() >= 1000
    assert min(counts[status] for status in (200, 401, 403, 404, 422)) > 20, counts


@pytest.mark.parametrize(("broken", "words"), [("tells", "tells a word of the table"), ("fails", "500 to")])
def test_a_broken_centre_is_found(broken: str, words: str) -> None:
    from tests.campaign.center_calls import run

    _, wrong = run(60, 1, broken, only=("/questions", "/preview"), processes=False)
    assert [line for line in wrong if words in line]
