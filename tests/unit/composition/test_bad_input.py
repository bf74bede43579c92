"""What a person reads when the input is wrong: the argument, what is wrong with it, and the value."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from optcomp import METHODS as KNOWN_METHODS
from optcomp import (
    ZCDP,
    ApproxDP,
    Bound,
    Gaussian,
    HypothesisNotMet,
    InvalidGuarantee,
    InvalidInput,
    Laplace,
    NotAffordable,
    OptcompError,
    PoissonSubsampled,
    PrecisionNotReached,
    PureDP,
    compare,
    compose,
    theorem,
)

NUMBER = "must be a float, int, Fraction, Decimal or decimal string"
WRITTEN = "must be a number such as 0.1, 1e-9 or 1/3"
SLIP = "must be at least 0 and less than 1"
PARTS = "must be a list of guarantees, a mapping to counts or an array"
METHODS = "must be one of auto, basic, advanced, strong, kov, exact, murtagh-vadhan, certified, renyi"
MOST = "must be at least 0 and at most 1000000000000000"

PARAMETERS: dict[str, tuple[Callable[[], object], str]] = {
    "nan": (lambda: PureDP(math.nan), "epsilon: must be finite, got nan"),
    "infinite": (lambda: PureDP(math.inf), "epsilon: must be finite, got inf"),
    "infinite string": (lambda: PureDP("-Infinity"), "epsilon: must be finite, got '-Infinity'"),
    "negative": (lambda: PureDP(-0.1), "epsilon: must not be negative, got -0.1"),
    "bool": (lambda: PureDP(True), "epsilon: must be a number, not a truth value, got True"),
    "none": (lambda: ApproxDP(None, 0), f"epsilon: {NUMBER}, got None"),  # type: ignore[arg-type]
    "word": (lambda: PureDP("abc"), f"epsilon: {WRITTEN}, got 'abc'"),
    "no denominator": (lambda: PureDP("1/0"), f"epsilon: {WRITTEN}, got '1/0'"),
    "empty string": (lambda: ApproxDP(0.1, ""), f"delta: {WRITTEN}, got ''"),
    "complex": (lambda: PureDP(1j), f"epsilon: {NUMBER}, got 1j"),  # type: ignore[arg-type]
    "list": (lambda: PureDP([0.1]), f"epsilon: {NUMBER}, got [0.1]"),  # type: ignore[arg-type]
    "δ = 1": (lambda: ApproxDP(0.1, 1), f"delta: {SLIP}, got 1"),
    "δ < 0": (lambda: ApproxDP(0.1, -1e-9), f"delta: {SLIP}, got -1e-09"),
    "δ nan": (lambda: ApproxDP(0.1, math.nan), "delta: must be finite, got nan"),
    "total δ = 1": (lambda: compose([0.1], delta=1.0), f"delta: {SLIP}, got 1.0"),
    "total δ < 0": (lambda: compose([0.1], delta="-1e-9"), f"delta: {SLIP}, got '-1e-9'"),
    "total δ bool": (lambda: compare([0.1], delta=False), "delta: must be a number, not a truth value, got False"),
    "total ε < 0": (lambda: compose([0.1], epsilon=-1), "epsilon: must not be negative, got -1"),
    "total ε infinite": (lambda: compare([0.1], epsilon=math.inf), "epsilon: must be finite, got inf"),
    "three in a pair": (
        lambda: compose([(0.1, 0, 0)], delta=0.1),  # type: ignore[list-item]
        "parts[0]: must be a pair (epsilon, delta), got (0.1, 0, 0)",
    ),
    "one in a pair": (
        lambda: compose([0.1, (0.1,)], delta=0.1),  # type: ignore[list-item]
        "parts[1]: must be a pair (epsilon, delta), got (0.1,)",
    ),
    "δ in a pair": (lambda: compose([0.1, (0.1, 1.5)], delta=0.1), f"parts[1][1]: {SLIP}, got 1.5"),
    "ε in a pair": (lambda: compose([0.1, (-0.1, 0)], delta=0.1), "parts[1][0]: must not be negative, got -0.1"),
    "none in the list": (lambda: compose([0.1, None], delta=0.1), f"parts[1]: {NUMBER}, got None"),  # type: ignore[list-item]
    "word in the list": (lambda: compose([0.1, "x"], delta=0.1), f"parts[1]: {WRITTEN}, got 'x'"),
    "row of an array": (
        lambda: compose(np.array([[0.1, 0.0], [0.1, 1.0]]), delta=0.1),
        f"parts[1][1]: {SLIP}, got 1.0",
    ),
}
ARGUMENTS: dict[str, tuple[Callable[[], object], str]] = {
    "neither": (lambda: compose([0.1]), "delta, epsilon: give exactly one of the two, got (None, None)"),
    "both": (lambda: compare([0.1], delta=0.1, epsilon=1), "delta, epsilon: give exactly one of the two, got (0.1, 1)"),
    "method": (lambda: compose([0.1], delta=0.1, method="magic"), f"method: {METHODS}, got 'magic'"),
    "parameters": (
        lambda: compose([0.1], delta=0.1, parameters="random"),  # type: ignore[arg-type]
        "parameters: must be 'fixed' or 'adaptive', got 'random'",
    ),
    "parameters of compare": (
        lambda: compare([0.1], delta=0.1, parameters="random"),  # type: ignore[arg-type]
        "parameters: must be 'fixed' or 'adaptive', got 'random'",
    ),
    "η = 0": (
        lambda: compose([0.1], delta=0.1, method="murtagh-vadhan", eta=0),
        "eta: must be more than 0 and less than 1, got 0",
    ),
    "η = 1": (
        lambda: compose([0.1], delta=0.1, method="murtagh-vadhan", eta=1.0),
        "eta: must be more than 0 and less than 1, got 1.0",
    ),
    "η nan": (
        lambda: compose([0.1], delta=0.1, method="murtagh-vadhan", eta=math.nan),
        "eta: must be finite, got nan",
    ),
    "η elsewhere": (
        lambda: compose([0.1], delta=0.1, eta=0.1),
        "eta: belongs to method 'murtagh-vadhan', not to 'auto', got 0.1",
    ),
    "bits = 0": (
        lambda: compose([0.1], delta=0.1, bits=0),
        "bits: must be at least 1 and at most 100000, got 0",
    ),
    "bits = 1.5": (lambda: compose([0.1], delta=0.1, bits=1.5), "bits: must be a whole number, got 1.5"),  # type: ignore[arg-type]
    "bits elsewhere": (
        lambda: compose([0.1], delta=0.1, bits=9, method="kov"),
        "bits: belongs to method 'exact', not to 'kov', got 9",
    ),
    "rtol < 0": (lambda: compose([0.1], delta=0.1, rtol=-1e-9), "rtol: must not be negative, got -1e-09"),
    "rtol nan": (lambda: compose([0.1], delta=0.1, rtol=math.nan), "rtol: must be finite, got nan"),
    "negative count": (lambda: compose({0.1: -1}, delta=0.1), f"count of 0.1: {MOST}, got -1"),
    "fractional count": (lambda: compose({0.1: 1.5}, delta=0.1), "count of 0.1: must be a whole number, got 1.5"),
    "truth as count": (
        lambda: compose({PureDP(0.5): True}, delta=0.1),
        "count of PureDP(epsilon=0.5): must be a whole number, got True",
    ),
    "string": (lambda: compose("0.1", delta=0.1), f"parts: {PARTS}, got '0.1'"),
    "number": (lambda: compose(0.1, delta=0.1), f"parts: {PARTS}, got 0.1"),  # type: ignore[arg-type]
    "one guarantee": (lambda: compose(PureDP(0.5), delta=0.1), f"parts: {PARTS}, got PureDP(epsilon=0.5)"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", list(PARAMETERS))
def test_wrong_privacy_parameter(case: str) -> None:
    attempt, text = PARAMETERS[case]
    with pytest.raises(InvalidGuarantee) as refusal:
        attempt()
    assert str(refusal.value) == text


@pytest.mark.parametrize("case", list(ARGUMENTS))
def test_wrong_argument(case: str) -> None:
    attempt, text = ARGUMENTS[case]
    with pytest.raises(InvalidInput) as refusal:
        attempt()
    assert str(refusal.value) == text
    assert text.startswith(refusal.value.argument + ": ")


@pytest.mark.parametrize(
    ("array", "value"),
    [
        (np.zeros((2, 2, 2)), (2, 2, 2)),
        (np.zeros((4, 3)), (4, 3)),
        (np.array(0.1), ()),
        (np.array([0.1, None]), "object"),
        (np.array(["a"]), "str32"),
        (np.array([1j]), "complex128"),
        (np.array([True]), "bool"),
    ],
)
def test_wrong_array(array: np.ndarray[tuple[int, ...], np.dtype[np.float64]], value: object) -> None:
    with pytest.raises(InvalidInput) as refusal:
        compose(array, delta=0.1)
    assert (refusal.value.argument, refusal.value.value) == ("parts", value)


@pytest.mark.parametrize(("bad", "row"), [(np.array([0.1, math.nan]), 1), (np.array([-0.1, 1]), 0)])
def test_wrong_row(bad: np.ndarray[tuple[int], np.dtype[np.float64]], row: int) -> None:
    with pytest.raises(InvalidGuarantee, match=rf"^parts\[{row}\]"):
        compose(bad, delta=0.1)


def test_theorem() -> None:
    with pytest.raises(InvalidInput, match=r"^theorem: must be one of DKMMN06, .* got 'X'$"):
        theorem("X")


def test_width_not_reached_carries_the_bound() -> None:
    with pytest.raises(PrecisionNotReached) as refusal:
        compose([0.1, 0.2, 0.4], delta=0.1, method="basic", rtol=1e-6)
    bound = refusal.value.bound
    assert isinstance(bound, Bound)
    assert bound.upper > bound.lower
    assert refusal.value.rtol == 1e-6
    assert str(refusal.value) == (
        f"rtol: the proved bracket has relative width {bound.width:.3g}, more than the 1e-06 asked for; "
        "it is in the error's .bound"
    )
    assert compose([0.1, 0.2, 0.4], delta=0.1, rtol=1e-6).width <= 1e-6


def test_not_affordable_says_what_would_work() -> None:
    sizes = np.linspace(0.1, 0.2, 60)
    with pytest.raises(NotAffordable) as refusal:
        compose(sizes, delta=1e-9, method="exact")
    assert str(refusal.value) == (
        "exact composition needs 2.15e+09 terms, more than the limit of 9e+06; "
        "method='auto' or 'certified' gives a proved bracket instead"
    )
    assert compose(sizes, delta=1e-9).theorem == "OPT"
    with pytest.raises(NotAffordable, match=r"; ask for no bits$"):
        compose(sizes, delta=1e-9, bits=50)


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: compose([1e200], delta=0.1, method="basic"),
        lambda: compare([1e200, 3.0], delta=0.1),
        lambda: compose({"1e-400": 100}, delta="1e-399"),
        lambda: compose({0.1: 10**15}, delta=0.1),
        lambda: compose([1e308, 1e308, 1.0], delta=0.1),
        lambda: compose(["1e400", "1"], epsilon=3),
        lambda: compose([1e305, 1.0, 2.0], epsilon=1),
    ],
)
def test_extreme_values_get_an_answer_or_an_error_of_ours(attempt: Callable[[], Bound | list[Bound]]) -> None:
    try:
        answer = attempt()
    except OptcompError:
        return
    for bound in answer if isinstance(answer, list) else [answer]:
        assert bound.lower <= bound.upper


LISTS: dict[str, Any] = {
    "many ε": [0.01 + 0.00137 * i for i in range(60)],
    "pairs": [(0.1, 1e-9), (0.2, 1e-8)],
    "Gaussian": [Gaussian(4)],
    "zCDP": [ZCDP("0.01"), PureDP("0.1")],
    "subsampled": [PoissonSubsampled(Gaussian(2), "0.1"), Laplace(3)],
}


@pytest.mark.parametrize("parameters", ["fixed", "adaptive"])
@pytest.mark.parametrize("bits", [None, 40])
@pytest.mark.parametrize("method", KNOWN_METHODS)
@pytest.mark.parametrize("parts", LISTS.values(), ids=LISTS)
def test_advice_is_never_what_was_done(parts: Any, method: str, bits: int | None, parameters: Any) -> None:
    """A refusal does not recommend the method in use, nor one that refuses as well."""
    options: dict[str, Any] = {"parameters": parameters, "delta": 1e-6}
    try:
        compose(parts, method=method, bits=bits, **options)
    except (HypothesisNotMet, NotAffordable) as refusal:
        for advised in re.findall(r"(?:use|or|method=)\s*'([a-z-]+)'", str(refusal)):
            assert advised != method
            compose(parts, method=advised, **options)
    except InvalidInput:
        assert bits is not None
