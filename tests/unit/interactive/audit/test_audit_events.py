"""Which events are chosen: the most telling one, of the simplest kind, and never one that chance alone made up."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from optcomp.interactive.audit.events import Aim, AtLeast, AtMost, Event, OneOf, Tally, choose

AIM = Aim(delta=0.0, error=0.025)


def tally(counts: Mapping[Any, int]) -> Tally:
    return Counter(counts)


def chosen(first: Mapping[Any, int], second: Mapping[Any, int], aim: Aim = AIM) -> Event:
    """The event for samples that are alike."""
    sample = tally(first), tally(second)
    return choose(sample, sample, aim)


def test_the_feature_that_only_one_input_shows() -> None:
    event = chosen({"a": 500, "b": 300, "c": 200}, {"a": 500, "b": 500})
    assert event == Event(OneOf(frozenset({"c"})), 0)
    assert event.count(tally({"a": 3, "c": 4, "d": 1})) == 4
    assert str(event) == "output in {c}, likelier on the first input"


def test_either_direction() -> None:
    assert chosen({"a": 500, "b": 500}, {"a": 500, "b": 300, "c": 200}) == Event(OneOf(frozenset({"c"})), 1)


def test_sets_grow_while_that_helps() -> None:
    """Twenty rare features with the same ratio tell more together than each alone."""
    first: dict[Any, int] = {f"rare {i}": 10 for i in range(20)} | {"common": 800}
    event = chosen(first, {"common": 1000})
    assert event == Event(OneOf(frozenset(first) - {"common"}), 0)
    assert str(event).startswith("output in {rare 0, rare 1, rare 10, rare 11, rare 12, rare 13 and 14 more}")


def test_numbers_are_cut_at_a_threshold() -> None:
    """No value comes twice, so that only their order can tell: on the second input all are larger by a quarter."""

    def sample(start: float) -> tuple[Tally, Tally]:
        first, second = ({place + i / 1000: 1 for i in range(1000)} for place in (start, start + 0.25))
        return tally(first), tally(second)

    event = choose(sample(0.0001), sample(0.0002), AIM)
    assert isinstance(event.outputs, AtMost)
    assert event.outputs.most == pytest.approx(0.25, abs=0.01)
    assert event.likelier == 0
    assert event.count(tally({-100: 7, 100: 5})) == 7
    assert str(event) == f"output ≤ {event.outputs.most}, likelier on the first input"
    down = choose([*sample(0.0001)][::-1], [*sample(0.0002)][::-1], AIM)
    assert isinstance(down.outputs, AtLeast)
    assert down.likelier == 0


def test_infinite_numbers_have_their_place() -> None:
    assert chosen({0.5: 300, math.inf: 700}, {math.inf: 1000}) == Event(AtMost(0.5), 0)


def test_a_threshold_holds_for_numbers_only() -> None:
    assert 3 in AtLeast(2)
    assert "3" not in AtLeast(2)
    assert None not in AtMost(2)
    assert math.nan not in AtMost(2)


def test_mixed_features_and_nan_are_no_obstacle() -> None:
    """A feature that is no number, or none that can be ordered, leaves likelihood ratios only."""
    for stranger in (math.nan, None, (1, 2), "x"):
        event = chosen({1: 500, 2: 300, stranger: 200}, {1: 500, 2: 500})
        assert event == Event(OneOf(frozenset({stranger})), 0)


def test_delta_asks_for_likelier_events() -> None:
    """With δ to spare, what only one input shows once in a hundred runs tells nothing."""
    first: dict[Any, int] = {"never": 100, "seldom": 3900, "often": 6000}
    second: dict[Any, int] = {"seldom": 400, "often": 9600}
    assert chosen(first, second).outputs == OneOf(frozenset({"never"}))
    assert chosen(first, second, Aim(delta=0.02, error=0.025)).outputs == OneOf(frozenset({"never", "seldom"}))


def test_chance_is_not_taken_for_leakage() -> None:
    """Every feature is new: on the sample that ordered them they would seem to tell the inputs apart perfectly."""
    ordering = tally({f"a{i}": 1 for i in range(500)}), tally({f"b{i}": 1 for i in range(500)})
    cutting = tally({f"c{i}": 1 for i in range(500)}), tally({f"d{i}": 1 for i in range(500)})
    event = choose(ordering, cutting, AIM)
    assert event.count(cutting[0]) == event.count(cutting[1]) == 0


def test_simple_events_come_first() -> None:
    """A few outputs more that were likelier by chance are not worth a set that only lists what was seen."""
    first = {-3: 20, -2: 300, -1: 400, 0: 279, 5: 1}
    assert chosen(first, {0: 500, 1: 500}) == Event(AtMost(-1), 0)


def test_one_feature_only() -> None:
    event = chosen({"same": 100}, {"same": 100})
    assert "same" in event


def test_no_run_no_event() -> None:
    with pytest.raises(ValueError, match="no run, no event"):
        chosen({}, {})


def test_scores_are_about_the_proved_bounds() -> None:
    from optcomp.interactive.audit.run import epsilon_down

    likely, rare = np.array([700, 400, 90]), np.array([300, 20, 0])
    for scores in AIM.scores(likely, rare, 1000), Aim(0.0, 1e-5).scores(likely, rare, 1000):
        assert np.all(np.isfinite(scores))
    for pair, score in zip(
        zip(likely.tolist(), rare.tolist(), strict=True), AIM.scores(likely, rare, 1000), strict=True
    ):
        assert score == pytest.approx(epsilon_down(pair, 1000, 0.0, 0.025), abs=0.15)
