"""What `Bound.certificate` writes, the checker understands: two independent readings of one format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest

import optcomp as oc
from optcomp.checker import check, digest
from optcomp.checker.document import MOST_INLINE
from optcomp.composition.reading import read_parts
from optcomp.theorems import certificates as written
from tests.unit.checker.certificates import Document

PARTS: dict[str, Mapping[object, int]] = {
    "strings": {"0.1": 50, ("0.2", "1e-9"): 50},
    "floats and leaks": {(0.1, 1e-9): 3, (0.1, 1e-8): 2, 0.3: 4, (0.0, 1e-7): 5},
    "fractions": {Fraction(1, 3): 7, (Fraction(1, 7), Fraction(1, 10**9)): 3},
}


def through_json(bound: oc.Bound) -> Document:
    document: Document = json.loads(json.dumps(bound.certificate(), allow_nan=False))
    return document


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("question", [{"delta": "1e-5"}, {"delta": "1e-30"}, {"epsilon": "0.4"}], ids=str)
def test_both_directions(parts: dict[oc.PureDP, int], question: dict[str, str]) -> None:
    document = through_json(oc.compose(parts, **question))  # type: ignore[arg-type]
    assert check(document).proved
    assert check(document, list(read_parts(parts).groups)).proved


def test_bits() -> None:
    document = through_json(oc.compose({"0.1": 20, "0.21": 3}, delta="1e-6", bits=200))
    assert "enclosure" in document
    assert check(document).proved


def test_digests_agree() -> None:
    rng = np.random.default_rng(5)
    array = np.column_stack(
        (rng.uniform(0.01, 0.1, MOST_INLINE + 10), rng.choice([0.0, 1e-12, 1e-11], MOST_INLINE + 10))
    )
    parts = read_parts(array)
    assert digest(parts.groups) == written.digest(parts)
    assert digest(reversed(parts.groups)) == written.digest(parts)
    document = through_json(oc.compose(array, delta=1e-6, method="basic"))
    assert "digest" in document["mechanisms"]
    assert check(document).status == "malformed"
    assert check(document, parts.groups).proved
