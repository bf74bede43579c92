"""The tests that dp-accounting ships for every accountant, run on ours."""

from __future__ import annotations

import unittest

from dp_accounting import privacy_accountant_test
from dp_accounting.privacy_accountant import NeighboringRelation

from optcomp.interop import OptcompAccountant


class TestContract(privacy_accountant_test.PrivacyAccountantTest):  # type: ignore[misc]  # dp-accounting is not typed
    def _make_test_accountants(self) -> list[OptcompAccountant]:
        return [OptcompAccountant(), *map(OptcompAccountant, NeighboringRelation)]


def test_the_contract_really_runs() -> None:
    """It skips itself unless it is derived from: make sure that it was."""
    found = unittest.defaultTestLoader.loadTestsFromTestCase(TestContract)
    result = unittest.TestResult()
    found.run(result)
    assert result.testsRun == found.countTestCases() >= 13
    assert (result.skipped, result.failures, result.errors) == ([], [], [])
