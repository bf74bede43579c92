"""One way from ε and δ to the filter of an account, for opening it and for lowering it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from optcomp.errors import InvalidInput
from optcomp.interactive import BestFilter, Filter, SumFilter
from optcomp.ledger import Ledger, usual_filter

HALF = Fraction(1, 2 * 10**6)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (("3", "1e-6"), BestFilter(3, "1e-6", HALF)),
        (("3",), SumFilter(3)),
        (("3", None), SumFilter(3)),
        (("1/3", 0), SumFilter(Fraction(1, 3))),
    ],
)
def test_the_usual_filter(given: Any, wanted: Filter) -> None:
    assert usual_filter(*given).document_text() == wanted.document_text()


def test_a_cap_is_lowered_by_numbers_as_it_is_opened(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger") as ledger:
        account = ledger.open("people", epsilon="3", delta="1e-6")
        account.lower(epsilon="2", delta="1e-6")
        assert account.budget.document_text() == BestFilter(2, "1e-6", HALF).document_text()
        ledger.open("people", epsilon="2", delta="1e-6")
        ledger.open("people", BestFilter(2, "1e-6", HALF))
        for wrong in ({}, {"delta": "1e-6"}, {"budget": SumFilter(1), "epsilon": "1"}, {"budget": "1"}):
            with pytest.raises(InvalidInput):
                account.lower(**wrong)
        assert account.budget.document_text() == BestFilter(2, "1e-6", HALF).document_text()
        assert ledger.verify().findings == ()
