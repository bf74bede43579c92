"""The accountant counts every event, answers like `compose`, and is never below the truth."""

from __future__ import annotations

import copy
import math
import pickle
import threading
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import dp_accounting
import pytest
from dp_accounting import dp_event as ev
from dp_accounting.pld import PLDAccountant
from dp_accounting.privacy_accountant import NeighboringRelation, UnsupportedEventError
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

import optcomp as oc
from optcomp.interop import OptcompAccountant, from_event
from optcomp.interop.steps import RTOL
from tests.oracles.replaced_losses import glued_gaussian_hockey, replaced_gaussian_hockey
from tests.unit.interop import later

REPLACE = NeighboringRelation.REPLACE_ONE
SPECIAL = NeighboringRelation.REPLACE_SPECIAL
ADD = NeighboringRelation.ADD_OR_REMOVE_ONE
G, L = ev.GaussianDpEvent(2.0), ev.LaplaceDpEvent(3.0)

Masses = list[tuple[Fraction, Fraction]]
"""The probabilities of each answer under the two data sets."""


def repeated(masses: Masses, count: int) -> Masses:
    """`count` runs: answers with the same likelihood ratio are one, which changes no privacy."""
    total: dict[Fraction, Fraction] = {Fraction(1): Fraction(1)}
    for _ in range(count):
        after: dict[Fraction, Fraction] = {}
        for ratio, q in total.items():
            for p_one, q_one in masses:
                key = ratio * p_one / q_one
                after[key] = after.get(key, Fraction(0)) + q * q_one
        total = after
    return [(ratio * q, q) for ratio, q in total.items()]


def true_delta(masses: Masses, odds: Fraction) -> Fraction:
    """The least δ at e^ε = odds: the sum of what P has beyond e^ε Q."""
    return sum((max(p - odds * q, Fraction(0)) for p, q in masses), Fraction(0))


def exp_down(eps: float) -> Fraction:
    """Slightly less than e^ε."""
    with localcontext() as context:
        context.prec = 60
        return Fraction(Decimal(eps).exp() * (1 - Decimal("1e-55")))


# two counts that other accountants lost


@pytest.mark.parametrize(("noise", "answers"), [(2 / 3, 2), (0.75, 3)])
@pytest.mark.parametrize("count", [1, 57])
def test_self_composed_randomized_response(noise: float, answers: int, count: int) -> None:
    """e^ε = 2 each.  An accountant that ignores the count says ε = 0.69 for 57 of them."""
    response = ev.RandomizedResponseDpEvent(noise, answers)
    accountant = OptcompAccountant(REPLACE).compose(ev.SelfComposedDpEvent(response, count))
    eps = accountant.get_epsilon(1e-9)

    rare = Fraction(noise) / answers
    often = 1 - Fraction(noise) + rare
    masses = repeated([(often, rare), (rare, often), *[(rare, rare)] * (answers - 2)], count)
    assert true_delta(masses, exp_down(eps)) <= Fraction(1e-9)
    assert true_delta(masses, exp_down(eps * (1 - 1e-6))) > Fraction(1e-9)
    assert accountant.get_delta(eps / 2) >= true_delta(masses, exp_down(eps / 2) * (1 + Fraction(1, 10**50)))
    if count == 57:
        assert true_delta(masses, exp_down(0.7)) > Fraction(9, 10)
        assert eps > 30

    ((part, _),) = from_event(response).items()
    assert eps == oc.compose([part] * count, delta=1e-9).upper
    assert accountant.counts == OptcompAccountant(REPLACE).compose(ev.ComposedDpEvent([response] * count)).counts
    assert accountant.counts == OptcompAccountant(REPLACE).compose(response, count).counts


def chosen(base: Fraction, scores: Sequence[tuple[int, int]]) -> Masses:
    """The exponential mechanism: weights base^score, for the scores of each candidate under the two data sets."""
    here, there = ([base ** pair[side] for pair in scores] for side in (0, 1))
    return [(p / sum(here), q / sum(there)) for p, q in zip(here, there, strict=True)]


@pytest.mark.parametrize("scores", [[(1, 0), (0, 1)], [(1, 0), (0, 1), (0, 1)], [(1, 0), (1, 1), (0, 1)]], ids=str)
@pytest.mark.parametrize(("eps", "count"), [(0.5, 1), (0.5, 100), (2.0, 12)])
def test_self_composed_exponential_mechanism(
    eps: float, count: int, scores: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An accountant that ignores the count says ε = 0.51 for 100 of ε = 0.5."""
    event = later.install(monkeypatch).ExponentialMechanismDpEvent(eps)
    accountant = OptcompAccountant().compose(ev.SelfComposedDpEvent(event, count))
    total = accountant.get_epsilon(1e-6)

    base = Fraction(math.floor(exp_down(eps / 2) * 1000), 1000)  # scores that change by 1 at most: Δ = 1
    masses = repeated(chosen(base, scores), count if len(scores) == 2 else min(count, 30))
    assert true_delta(masses, exp_down(total)) <= Fraction(1e-6)
    if count == 100 and len(scores) == 2:
        assert true_delta(masses, exp_down(0.51)) > Fraction(7, 10)
        assert true_delta(masses, exp_down(13.9)) > Fraction(1e-6)
        assert total < 15.4

    assert total == oc.compose([oc.Exponential(eps)] * count, delta=1e-6).upper
    assert accountant.counts == OptcompAccountant().compose(ev.ComposedDpEvent([event] * count)).counts
    assert accountant.counts == OptcompAccountant().compose(event, count).counts


# self-composition is repetition, and everything is what `compose` says

leaf = st.sampled_from(
    [G, L, ev.GaussianDpEvent(0.7), ev.DiscreteLaplaceDpEvent(0.25, 2), ev.ZCDpEvent(0.125), ev.NoOpDpEvent()]
)
events: Any = st.recursive(
    leaf,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(ev.ComposedDpEvent),
        st.builds(ev.SelfComposedDpEvent, inner, st.integers(1, 3)),
    ),
    max_leaves=4,
)


def spelled_out(event: Any) -> list[Any]:
    """All leaves, one by one."""
    if isinstance(event, ev.SelfComposedDpEvent):
        return [leaf for _ in range(event.count) for leaf in spelled_out(event.event)]
    if isinstance(event, ev.ComposedDpEvent):
        return [leaf for inner in event.events for leaf in spelled_out(inner)]
    return [event]


@given(events, st.integers(1, 3))
def test_counts_are_repetitions(event: Any, count: int) -> None:
    at_once = OptcompAccountant().compose(event, count)
    one_by_one = OptcompAccountant()
    for part in spelled_out(event) * count:
        one_by_one.compose(part)
    assert at_once.counts == one_by_one.counts
    assert sum(at_once.counts.values()) == count * sum(part != ev.NoOpDpEvent() for part in spelled_out(event))
    assert from_event(at_once.ledger) == at_once.counts


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_answers_are_those_of_compose(relation: Any) -> None:
    accountant = OptcompAccountant(relation).compose(G, 3).compose(ev.ComposedDpEvent([L, G]))
    far = 2.0 if relation is REPLACE else 1.0
    parts = {oc.Gaussian(2.0, far): 4, oc.Laplace(3.0, far): 1}
    assert accountant.counts == parts
    assert accountant.neighboring_relation is relation
    assert accountant.get_epsilon(1e-6) == oc.compose(parts, delta=1e-6).upper
    assert accountant.get_delta(1.5) == oc.compose(parts, epsilon=1.5).upper
    assert accountant.get_epsilon(1) == 0
    assert accountant.get_delta(math.inf) == 0


@pytest.mark.parametrize(
    ("event", "relation"),
    [
        (G, ADD),
        (G, SPECIAL),
        (G, REPLACE),
        (L, ADD),
        (ev.DiscreteLaplaceDpEvent(0.4, 2), ADD),
        (ev.PoissonSampledDpEvent(0.1, ev.GaussianDpEvent(1.0)), ADD),
        (ev.PoissonSampledDpEvent(0.1, ev.LaplaceDpEvent(1.0)), ADD),
        (ev.RandomizedResponseDpEvent(0.3, 4), REPLACE),
    ],
    ids=str,
)
def test_parameters_mean_the_same_to_the_other_side(event: Any, relation: Any) -> None:
    """Once, so that no count can be lost."""
    ours = OptcompAccountant(relation).compose(event)
    theirs = PLDAccountant(relation, value_discretization_interval=1e-3).compose(event)
    for delta in (1e-3, 1e-6):
        assert ours.get_epsilon(delta) == pytest.approx(theirs.get_epsilon(delta), rel=1e-2)
    assert ours.get_delta(0.1) == pytest.approx(theirs.get_delta(0.1), rel=1e-2)


def test_calibration_by_the_other_side() -> None:
    noise = dp_accounting.calibrate_dp_mechanism(
        OptcompAccountant,
        lambda noise: ev.SelfComposedDpEvent(ev.GaussianDpEvent(noise), 100),
        target_epsilon=1.0,
        target_delta=1e-6,
        bracket_interval=dp_accounting.LowerEndpointAndGuess(0, 10),
        tol=1e-3,
    )
    assert oc.compose({oc.Gaussian(noise): 100}, delta=1e-6).upper <= 1
    assert oc.compose({oc.Gaussian(noise * 0.999): 100}, delta=1e-6).lower > 1


# the ends of the range


def test_leaks_remain_at_infinite_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    newer = later.install(monkeypatch)
    accountant = OptcompAccountant().compose(newer.EpsilonDeltaDpEvent(0.1, 0.25), 2).compose(G)
    accountant.compose(newer.EpsilonDeltaDpEvent(0.3, 0.25)).compose(newer.EpsilonDeltaDpEvent(0.3, 0))
    truth = 1 - Fraction(3, 4) ** 3
    assert truth <= accountant.get_delta(math.inf) <= float(truth) * (1 + 1e-15)
    assert accountant.get_epsilon(0.5) == math.inf
    assert accountant.get_epsilon(0.99) < math.inf


def test_nothing_promised_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As dp-accounting's own tests ask since release 0.6.0."""
    accountant = OptcompAccountant().compose(later.install(monkeypatch).EpsilonDeltaDpEvent(0, 0.0))
    assert [accountant.get_epsilon(delta) for delta in (1e-12, 0, 1)] == [0, 0, 0]


@pytest.mark.parametrize(
    ("event", "relation"),
    [
        (ev.NonPrivateDpEvent(), ADD),
        (ev.GaussianDpEvent(0), ADD),
        (ev.LaplaceDpEvent(0), REPLACE),
        (ev.PoissonSampledDpEvent(0.5, ev.GaussianDpEvent(0)), ADD),
        (ev.RandomizedResponseDpEvent(0, 2), REPLACE),
    ],
    ids=str,
)
def test_no_noise_is_no_privacy(event: Any, relation: Any) -> None:
    accountant = OptcompAccountant(relation).compose(G).compose(event).compose(L)
    assert accountant.get_epsilon(0.5) == accountant.get_epsilon(1) == math.inf
    assert accountant.get_delta(10) == accountant.get_delta(math.inf) == 1
    assert sum(accountant.counts.values()) == 2


# refusals change nothing


@pytest.mark.parametrize(
    ("event", "relation", "why"),
    [
        (ev.MixtureOfGaussiansDpEvent(1.0, [1], [1.0]), ADD, "MixtureOfGaussiansDpEvent: "),
        (ev.PoissonSampledDpEvent(0.1, ev.SelfComposedDpEvent(G, 2)), ADD, "several mechanisms on one sample"),
        (
            ev.PoissonSampledDpEvent(0.1, ev.ZCDpEvent(0.1)),
            REPLACE,
            "only Gaussian, Laplace and discrete Gaussian noise",
        ),
        (ev.SampledWithoutReplacementDpEvent(100, 10, G), ADD, "not for ADD_OR_REMOVE_ONE"),
        (ev.RandomizedResponseDpEvent(0.5, 2), ADD, "not for ADD_OR_REMOVE_ONE"),
        (ev.RandomizedResponseDpEvent(0.5, 2), SPECIAL, "not for REPLACE_SPECIAL"),
        (ev.GaussianDpEvent(-1.0), ADD, "sigma: must be positive"),
        (ev.SelfComposedDpEvent(G, 10**16), ADD, "at most 1000000000000000"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_unsupported_event_is_not_counted(event: Any, relation: Any, why: str) -> None:
    accountant = OptcompAccountant(relation).compose(G)
    before = accountant.counts, accountant.ledger
    for asked in (event, ev.ComposedDpEvent([ev.GaussianDpEvent(0), G, event])):
        details = accountant._maybe_compose(asked, 0, False)
        assert details.invalid_event == event
        assert why in details.error_message
        assert not accountant.supports(asked)
        with pytest.raises(UnsupportedEventError, match="caused by subevent"):
            accountant.compose(asked)
    assert (accountant.counts, accountant.ledger) == before
    assert accountant.get_epsilon(0.01) < math.inf


def test_too_many_in_all() -> None:
    accountant = OptcompAccountant().compose(G, 6 * 10**14)
    for count in (6 * 10**14, 10**15 + 1):
        with pytest.raises(UnsupportedEventError, match="count: must be at least 0 and at most"):
            accountant.compose(G, count)
    assert accountant.counts == from_event(accountant.ledger) == {oc.Gaussian(2.0): 6 * 10**14}


@pytest.mark.parametrize(("count", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), ("2", TypeError)])
def test_wrong_counts(count: Any, error: type[Exception]) -> None:
    accountant = OptcompAccountant().compose(G)
    with pytest.raises(error):
        accountant.compose(L, count)
    assert accountant.counts == {oc.Gaussian(2.0): 1}


@pytest.mark.parametrize("event", [ev.NoOpDpEvent(), G, ev.NonPrivateDpEvent()], ids=str)
def test_wrong_targets(event: Any) -> None:
    accountant = OptcompAccountant().compose(event)
    for delta in (-1e-9, 1.1, math.nan, math.inf, True, None, "x"):
        with pytest.raises(oc.InvalidInput, match="target_delta: "):
            accountant.get_epsilon(delta)
    for eps in (-1e-9, math.nan, -math.inf, True, None, "x"):
        with pytest.raises(oc.InvalidInput, match="target_epsilon: "):
            accountant.get_delta(eps)


def test_wrong_relation_or_event() -> None:
    with pytest.raises(oc.InvalidInput, match="neighboring_relation: must be"):
        OptcompAccountant("REPLACE_ONE")
    with pytest.raises(TypeError, match="DpEvent"):
        OptcompAccountant().compose(oc.Gaussian(1.0))


def test_counts_cannot_be_changed_from_outside_and_copies_are_apart() -> None:
    accountant = OptcompAccountant().compose(G)
    accountant.counts.clear()
    other = copy.deepcopy(accountant).compose(G)
    assert (accountant.counts, other.counts) == ({oc.Gaussian(2.0): 1}, {oc.Gaussian(2.0): 2})


def test_a_run_that_grows_is_told_what_compose_says() -> None:
    """The accountant keeps what it computed; every answer is that of a fresh `compose`, within its bracket."""
    accountant = OptcompAccountant()
    sampled = ev.PoissonSampledDpEvent(0.01, ev.GaussianDpEvent(1.0))
    for number in range(1, 4):
        accountant.compose(sampled, 200)
        if number == 2:
            accountant.compose(ev.LaplaceDpEvent(30.0), 2)
        eps, fresh = accountant.get_epsilon(1e-6), oc.compose(accountant.counts, delta=1e-6)
        assert fresh.lower <= eps <= fresh.upper * (1 + RTOL)
        delta, there = accountant.get_delta(2.0), oc.compose(accountant.counts, epsilon=2.0)
        assert there.lower <= delta <= there.upper * (1 + 1e-9)
    assert copy.deepcopy(accountant).get_epsilon(1e-6) == pytest.approx(eps, rel=RTOL)


def test_threads_compose_and_ask() -> None:
    """No event is lost and no answer is below what was there when it was asked for."""
    accountant, step, found = (
        OptcompAccountant(),
        ev.PoissonSampledDpEvent(0.04, ev.GaussianDpEvent(1.5)),
        list[float](),
    )

    def work() -> None:
        for _ in range(15):
            accountant.compose(step, 5)
            found.append(accountant.get_epsilon(1e-5))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    bound = oc.compose({oc.PoissonSubsampled(oc.Gaussian(1.5), 0.04): 300}, delta=1e-5)
    assert sum(accountant.counts.values()) == 300
    assert bound.lower <= accountant.get_epsilon(1e-5) <= bound.upper * (1 + RTOL)
    assert len(found) == 60
    assert max(found) <= accountant.get_epsilon(1e-5)
    other = pickle.loads(pickle.dumps(copy.deepcopy(accountant)))
    other.compose(step, 10)
    assert sum(accountant.counts.values()) == 300
    assert other.get_epsilon(1e-5) > accountant.get_epsilon(1e-5)


# records that are replaced


def test_replaced_records_against_their_curve() -> None:
    """One sample has the curve of two shifted mixtures, from first principles; a batch that of one, at ε >= 0."""
    sample = OptcompAccountant(REPLACE).compose(ev.PoissonSampledDpEvent(0.25, ev.GaussianDpEvent(2.0)))
    batch = OptcompAccountant(REPLACE).compose(ev.SampledWithoutReplacementDpEvent(8, 2, ev.GaussianDpEvent(2.0)))
    for accountant, hockey in (
        (sample, replaced_gaussian_hockey(0.5, 0.25)),
        (batch, glued_gaussian_hockey(1.0, 0.25)),
    ):
        truth = hockey(arb("0.125"))
        assert not accountant.get_delta(0.125) < truth
        assert accountant.get_delta(0.125) == pytest.approx(float(truth.mid()), rel=1e-12)


def test_replaced_records_cost_more_than_added_ones() -> None:
    event = ev.SelfComposedDpEvent(ev.PoissonSampledDpEvent(0.01, ev.GaussianDpEvent(1.0)), 500)
    added, replaced = (OptcompAccountant(relation).compose(event).get_epsilon(1e-6) for relation in (ADD, REPLACE))
    assert added < replaced < 3 * added
