"""Certificates are read exactly or refused with the name of the field."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import Any

import pytest

from optcomp.checker import check, digest, from_json
from optcomp.checker.balls import Group
from optcomp.checker.document import MOST_INLINE, Mismatch, read
from optcomp.errors import InvalidInput
from tests.oracles.truth import Mechanism
from tests.unit.checker.certificates import by_digest, claim

COINS: list[Mechanism] = [(0.5, 0.0, 2), (Fraction(1, 3), 1e-9, 3)]
GOOD = claim(COINS, "epsilon", "1/1000", 0.0, 2.5)

MALFORMED: dict[str, tuple[str, Any]] = {
    "no format": ("format", None),
    "another format": ("format", "certificate"),
    "another version": ("version", 2),
    "a true version": ("version", True),
    "unknown quantity": ("quantity", "rho"),
    "no given": ("given", None),
    "negative given": ("given", "-1/2"),
    "δ of 1": ("given", "1"),
    "decimal text": ("given", "0.1"),
    "zero denominator": ("given", "1/0"),
    "lower is text": ("lower", "small"),
    "lower is true": ("lower", True),
    "lower is nan": ("lower", float("nan")),
    "upper is infinite": ("upper", float("inf")),
    "ends exchanged": ("lower", 3.0),
    "enclosure too long": ("enclosure", ["0", "1", "2"]),
    "enclosure exchanged": ("enclosure", ["2", "1"]),
    "enclosure outside": ("enclosure", ["1", "3"]),
    "enclosure of text": ("enclosure", ["1", "x"]),
    "count of text": ("count", "5"),
    "true count": ("count", True),
    "mechanisms of text": ("mechanisms", "0.5x2"),
    "no mechanisms": ("mechanisms", None),
    "a pair": ("mechanisms", [[0.5, 0.0]]),
    "negative ε": ("mechanisms", [[-0.5, 0.0, 5]]),
    "δ out of range": ("mechanisms", [[0.5, 1.0, 5]]),
    "half a copy": ("mechanisms", [[0.5, 0.0, 2.5]]),
    "negative copies": ("mechanisms", [[0.5, 0.0, -5]]),
    "bad digest": ("mechanisms", {"digest": "md5:00", "groups": 2}),
    "digest alone": ("mechanisms", {"digest": "sha256:" + 64 * "0", "groups": 2}),
    "too long a list": ("mechanisms", [[0.001 * n, 0.0, 1] for n in range(1, MOST_INLINE + 2)]),
}


@pytest.mark.parametrize(("field", "value"), MALFORMED.values(), ids=MALFORMED)
def test_malformed(field: str, value: object) -> None:
    verdict = check(GOOD | {field: value})
    assert not verdict.proved
    assert verdict.status == "malformed"
    assert verdict.reason.startswith(field)


@pytest.mark.parametrize("field", ["format", "version", "quantity", "given", "lower", "upper", "count", "mechanisms"])
def test_missing(field: str) -> None:
    document = {key: value for key, value in GOOD.items() if key != field}
    assert check(document).reason.startswith(field)


def test_numbers_are_exact() -> None:
    read_back = read(claim([(Fraction(1, 3), 0.1, 1)], "delta", "1/7", 0.1, None) | {"enclosure": None})
    assert read_back.groups == ((Fraction(1, 3), 0.1, 1),)
    assert read_back.given == Fraction(1, 7)
    assert (read_back.lower, read_back.upper) == (0.1, None)


def test_parameters_are_never_needed() -> None:
    hints: list[object] = [None, [], {"tilt": "x"}, {"tilt": 10**400, "step": 0.1, "smoothing": True}]
    assert all(check(GOOD | {"parameters": parameters}).proved for parameters in hints)


def test_digest() -> None:
    lines = "1/2 0 2\n1/3 1/1000000000 3\n"
    half, none = Fraction(1, 2), Fraction(0)
    groups: list[Group] = [(Fraction(1, 3), Fraction(1, 10**9), 3), (0.5, 0.0, 1), (half, none, 1), (9.0, 0.0, 0)]
    assert digest(groups) == f"sha256:{hashlib.sha256(lines.encode()).hexdigest()}"


def test_mechanisms_by_digest() -> None:
    document = by_digest(GOOD, COINS)
    assert check(document, COINS).proved
    assert check(document, COINS[::-1]).proved
    other = check(document, [(0.5, 0.0, 2), (Fraction(1, 3), 1e-9, 4)])
    assert (other.proved, other.status) == (False, "mismatch")
    with pytest.raises(InvalidInput, match="mechanisms"):
        read(document)


def test_supplied_mechanisms_must_be_the_listed_ones() -> None:
    assert check(GOOD, COINS).proved
    with pytest.raises(Mismatch, match="mechanisms"):
        read(GOOD, COINS[:1])


def test_count_must_agree() -> None:
    verdict = check(GOOD | {"count": 6})
    assert (verdict.status, verdict.reason) == ("mismatch", "count: 6 is not the number of mechanisms, 5")


def test_a_text_says_nothing_twice() -> None:
    """Others may believe the first of two; Python believes the last."""
    text = json.dumps(GOOD)
    assert from_json(text) == json.loads(text)
    for twice, key in ((f'{{"lower": 2.4, {text[1:]}', "lower"), (text[:-1] + ', "x": [{"a": 1, "a": 1}]}', "a")):
        json.loads(twice)
        with pytest.raises(InvalidInput, match=f"^{key}: is given twice, first as"):
            from_json(twice)
    with pytest.raises(json.JSONDecodeError):
        from_json(text[:-1])
