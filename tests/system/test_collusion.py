"""A tenth of the trials of colluding analysts, against a centre in this process.

Chances, by exact sums over two binomial distributions of n = trials / 2, at certified ε = 1.49999:

- The honest centre.  Ada has ε = 1, the others together can move the score by 0.55 at most: the bit is whether ada's
  answer is above the count of the first table.  With noise of ε = 1 its probabilities are 1 / (1 + 1/e) = 0.731 and
  0.269.  A bound at confidence 0.9999 from n = 70 exceeds the certified ε with probability 1.2e-11.
- The same bound does not find a centre that is as broken as the next one with probability 2.2e-10.
- The broken centre.  Free answers are asked for until the score is 12 or -12: a score of 12 - 0.3, without what the
  sparse vector said, is wrong with probability exp(-11.7) = 8.3e-6, and eight equal answers on the wrong side, after
  which there are no others, have probability 0.17**8 = 7e-7.  With errors of 1e-5 a bound at confidence 0.99 from
  n = 44 does not exceed the certified ε with probability 5.5e-11.
- From n = 10 no bits at all give a bound above the certified ε.
"""

from __future__ import annotations

import pytest

from tests.campaign.collusion import HONEST, judged, play


@pytest.mark.parametrize(
    ("kind", "trials", "confidence"),
    [
        pytest.param(HONEST, 20, "0.9999", marks=pytest.mark.smoke("collusion of analysts")),
        pytest.param(HONEST, 140, "0.9999", marks=pytest.mark.slow),
        pytest.param("redrawn", 88, "0.99", marks=pytest.mark.slow),
    ],
)
def test_what_analysts_learn_together_is_certified(kind: str, trials: int, confidence: str) -> None:
    """The bound stays below what is certified, and lies above it where a stored answer is drawn again."""
    played = play(kind, trials, seed=1, processes=False)
    assert sum(map(len, played.scores)) == trials, played.wrong
    assert judged(kind, played, confidence) == []
