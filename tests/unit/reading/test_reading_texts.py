"""Texts with several mechanisms are taken apart, and files cannot stand for more than they are."""

from __future__ import annotations

import time

import pytest

import optcomp as oc
from optcomp.reading import Complaint, Format, entries_of, entry_from, items_in, tally


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("", []),
        (" ;\n; ", []),
        ("0.1x50", ["0.1x50"]),
        ("0.1x50 0.2,1e-9x50\ngaussian(sigma=4)x100", ["0.1x50", "0.2,1e-9x50", "gaussian(sigma=4)x100"]),
        ("0.1 x 50;0.2 , 1e-9 ×3", ["0.1x50", "0.2,1e-9×3"]),
        (
            "subsampled( gaussian( sigma = 1 ), rate=0.01 ) x1000 1",
            ["subsampled( gaussian( sigma=1 ),rate=0.01 )x1000", "1"],
        ),
        ("laplace (10) 2", ["laplace(10)", "2"]),
        ("gaussian(4)) 2", ["gaussian(4))", "2"]),
        ("gaussian((4 2", ["gaussian((4 2"]),
    ],
)
def test_a_text_is_taken_apart(text: str, items: list[str]) -> None:
    assert items_in(text) == items


def test_what_is_taken_apart_means_the_same() -> None:
    text = "0.1x50\n0.2, 1e-9 x50 ; subsampled(gaussian(sigma=1), rate=0.01) x 1000"
    sampled = oc.PoissonSubsampled(oc.Gaussian(1), "0.01")
    found = tally(entry_from(item, item) for item in items_in(text))
    assert found == {oc.PureDP("0.1"): 50, oc.ApproxDP("0.2", "1e-9"): 50, sampled: 1000}


def test_a_long_text_is_taken_apart_quickly() -> None:
    begun = time.process_time()
    assert len(items_in(" " * 300_000 + "(" * 300_000 + " 1")) == 1
    assert items_in("0.1 " * 100_000) == ["0.1"] * 100_000
    assert time.process_time() - begun < 5


def _bomb(size: int) -> str:
    return "\n".join(["- &a {epsilon: 1, x: &b [" + ", ".join(["n"] * size) + "]}"] + ["- *a"] * size)


def test_aliases_cannot_stand_for_more_than_the_file() -> None:
    begun = time.process_time()
    with pytest.raises(Complaint, match=r"^bomb: its aliases stand for too much"):
        list(entries_of(_bomb(10_000), Format.YAML, "bomb"))
    assert time.process_time() - begun < 10


def test_honest_aliases_are_read() -> None:
    text = "- &a {epsilon: 0.1, delta: 1e-9, count: 2}\n" + "- *a\n" * 1000
    assert tally(entries_of(text, Format.YAML, "file")) == {oc.ApproxDP("0.1", "1e-9"): 2002}


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 50_000 + "1", "{a: " * 50_000])
def test_deep_nesting_is_refused_and_ends_no_process(text: str) -> None:
    with pytest.raises(Complaint, match="nested too deeply"):
        list(entries_of(text, Format.YAML, "file"))
