"""Arguments at the ends of what is taken, and beyond: there is an answer that holds, or an error that optcomp raises.

Rates next to 0 and 1, noise and counts of extreme sizes, every mechanism, and values that are no numbers, as arguments
of `compose` and as words of a command.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any, Literal

import numpy as np

import optcomp as oc
from tests.campaign.judge import Outcome
from tests.unit.cli.in_process import invoke

WRONG: tuple[Any, ...] = (
    *(math.nan, math.inf, -math.inf, None, "", "abc", "1/0", "nan", True, 1j, b"1", -1, 10**5000, "1e999999999"),
    *([], {}, (1,), (1, 2, 3), [1, 2], Decimal("NaN"), Decimal("1e400"), Fraction(1, 10**5000), object),
    *(np.float32(0.1), 5e-324, 1.7e308, "0.1", np.int64(3), np.array([1.0]), np.array([[0.1, 2.0]])),
)
"""What is no parameter, or hardly one."""
_ALLOWED = 0, 1, 2
"""Exit codes of a command that ended by itself."""

Make = Callable[[Random], Any]


def arguments(outcome: Outcome) -> None:
    """`compose` answers with a bracket, or refuses."""
    rng = Random(f"hostile arguments {outcome.seed}")
    bound = outcome.answer("compose", lambda: oc.compose(**_asked(rng)), refusable=(oc.OptcompError,))
    if bound is not None and not 0 <= bound.lower <= bound.upper:
        outcome.found("violation", str(bound))


def near_rates(outcome: Outcome) -> None:
    """A sample of nearly everybody costs at most what everybody costs, and no less than a smaller sample."""
    rng = Random(f"near rates {outcome.seed}")
    noise, way = _noise(rng, rng.choice((0.3, 1.0, 5.0))), rng.choice(("add-remove", "replace"))
    rest = rng.choice((Fraction(1, 10 ** rng.choice((3, 8, 14, 16, 17, 18, 25, 40, 400))), Fraction(1, 1 << 53)))
    copies, given = rng.choice((1, 2, 3, 10, 100)), rng.choice(({"delta": 1e-6}, {"epsilon": 1.0}))
    what = f"{noise}, {way}, rate 1 - {float(rest):g}, {copies} copies, {given}"

    def cost(rate: Fraction) -> oc.Bound | None:
        return outcome.answer(what, lambda: oc.compose({oc.PoissonSubsampled(noise, rate, way): copies}, **given))  # type: ignore[arg-type]

    least, found, most = cost(Fraction(99, 100)), cost(1 - rest), cost(Fraction(1))
    if least is None or found is None or most is None:
        return
    outcome.narrow(what, found)
    if not (least.lower <= found.upper and found.lower <= most.upper):
        outcome.found("violation", f"{what}: {found}, and not between {least} and {most}")
    if rest < Fraction(1, 10**40) and most.lower * (1 - 1e-12) > found.upper:
        outcome.found("violation", f"{what}: {found}, and {most} with everybody")


def command(outcome: Outcome) -> None:
    """A command ends with an exit code, whatever its words are."""
    rng = Random(f"hostile command {outcome.seed}")
    words = _words(rng)
    code = outcome.answer(shell(words), lambda: invoke(words).exit_code)
    if code is not None and code not in _ALLOWED:
        outcome.found("crashed", f"{shell(words)}: exit code {code}")


def shell(words: list[str]) -> str:
    """The words on a line, the long ones cut."""
    return " ".join(repr(word[:200]) for word in words)


def _asked(rng: Random) -> dict[str, Any]:
    parts: dict[Any, int] | list[Any] = {}
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        parts[_mechanism(rng)] = _copies(rng)
    found: dict[str, Any] = {"parts": parts}
    if rng.random() < 0.6:
        found["delta"] = rng.choice((1e-6, 0.1, 0, 5e-324, 1e-300, 1 - 2**-53, Fraction(1, 10**400), "1e-9", 1e-40))
    else:
        found["epsilon"] = rng.choice((0, 1, 5e-324, 1e-300, 1e9, 1.7e308, Fraction(10**400), Fraction(1, 10**400)))
    if rng.random() < 0.15:
        found["method"] = rng.choice(("certified", "exact", "basic", "advanced", "renyi", "kov", "x", None))
    if rng.random() < 0.15:
        name = rng.choice(("parts", "delta", "epsilon", "rtol", "eta", "bits", "parameters", "method"))
        found[name] = rng.choice(WRONG)
    if rng.random() < 0.1:
        found["parts"] = [rng.choice(WRONG) for _ in range(3)]
    return found


def _copies(rng: Random) -> int:
    return rng.choice((1, 1, 2, 3, 7, 50, 1000, 10**6, 10**12, 10**15))


def _number(rng: Random, least: float, most: float) -> Any:
    """A number between two, their ends included, or now and then something else."""
    if rng.random() < 0.02:
        return rng.choice(WRONG)
    value = math.exp(rng.uniform(math.log(least), math.log(most)))
    value = rng.choice((value, value, least, most))
    return rng.choice((value, Fraction(value), Fraction(value) + Fraction(1, 10**30)))


def _rate(rng: Random) -> Any:
    near = Fraction(1, 10 ** rng.choice((1, 3, 7, 12, 16, 17, 40, 400)))
    return rng.choice((near, 1 - near, 1 - near, math.nextafter(1, 0), 1.0, 1e-7, _number(rng, 1e-7, 1)))


def _noise(rng: Random, size: Any) -> Any:
    kind = rng.choice((oc.Gaussian, oc.Laplace, oc.DiscreteGaussian))
    return kind(max(size, 0.2) if kind is oc.DiscreteGaussian else size)


def _sampled(rng: Random) -> Any:
    neighbours: Literal["add-remove", "replace"] = rng.choice(("add-remove", "add-remove", "replace"))
    size = _number(rng, *rng.choice(((1e-3, 1e6), (0.05, 20.0), (0.3, 3.0))))
    kind = rng.choice((oc.Gaussian, oc.Laplace, oc.DiscreteGaussian))
    return oc.PoissonSubsampled(kind(size), _rate(rng), neighbours)


def _batch(rng: Random) -> Any:
    population = rng.choice((1, 2, 1000, 10**7, 10**15))
    noise = rng.choice((oc.Gaussian, oc.Laplace))(_number(rng, 0.05, 1e6))
    return oc.WithoutReplacement(noise, rng.choice((1, max(1, population // 2), max(1, population - 1))), population)


_MAKERS: tuple[Make, ...] = (
    _sampled,
    _sampled,
    _sampled,
    _batch,
    lambda rng: oc.Gaussian(_number(rng, 1e-3, 1e6), _number(rng, 0.1, 10)),
    lambda rng: oc.Laplace(_number(rng, 1e-3, 1e6)),
    lambda rng: oc.DiscreteGaussian(_number(rng, 0.1, 3e3), rng.choice((1, 2, 1000))),
    lambda rng: oc.DiscreteLaplace(_number(rng, 1e-3, 1e6), rng.choice((1, 2, 1000))),
    lambda rng: oc.RandomizedResponse(_number(rng, 1e-6, 1e3), rng.choice((2, 3, 10**9))),
    lambda rng: oc.PureDP(_number(rng, 1e-100, 1e6)),
    lambda rng: oc.ApproxDP(_number(rng, 1e-100, 1e6), rng.choice((0, 5e-324, 1e-9, 0.5, 1 - 2**-53))),
    lambda rng: oc.NameAndShame(rng.choice((0, 5e-324, 1e-9, 1 - 2**-53))),
    lambda rng: oc.GaussianDP(_number(rng, 1e-6, 1e3)),
    lambda rng: oc.ZCDP(_number(rng, 1e-12, 1e3)),
    lambda rng: oc.TCDP(_number(rng, 1e-9, 1e3), _number(rng, 1.01, 1e6)),
    lambda rng: oc.Exponential(_number(rng, 1e-9, 1e3)),
    lambda rng: oc.RenyiDP({rng.choice((1.01, 2, 1e3)): _number(rng, 1e-9, 1e3)}),
    lambda rng: rng.choice((0.1, "0.1", (0.1, 1e-9), Fraction(1, 3), 1e-100)),
)


def _mechanism(rng: Random) -> Any:
    return rng.choice(_MAKERS)(rng)


_GOOD = ("1", "0.3", "1/3", "2", "20", "1e-3", "1000")
_SIZES = ("1e-3", "1e6", "1e-400", "1e400", "1/0", "nan", "inf", "-1", "0", "", "9" * 5000, "½", "x")
_RATES = ("0.01", "1", "0.99999999999999999", "1e-7", f"{10**40 - 1}/{10**40}", "1.0000001", "0", "nan", "-0.5")
_COUNTS = ("", "", "x2", "x50", "x1000000", "x1000000000000000", "x0", "x-1", f"x{'9' * 5000}", "xx", "x1.5")
_TOTALS = ("1e-6", "0", "1", "0.999999", "5e-324", "1e-400", "nan", "-1", "", f"1/{'9' * 4000}", "abc", "1e309", "3")
_METHODS = ("auto", "certified", "exact", "basic", "renyi", "murtagh-vadhan", "x")


def _words(rng: Random) -> list[str]:
    verb = rng.choice(("compose", "compose", "compose", "compare", "show", "show", "theorems", "verify", "train"))
    if verb == "theorems":
        return [verb, rng.choice(("--json", "ZDW22", "\x00", "9" * 5000))]
    if verb == "verify":
        return [verb, rng.choice(("-", "/", "/dev/null", "no such file", "\x00", "a" * 5000))]
    if verb == "train":
        return [verb, *(word for name in _TRAIN for word in (name, _size(rng)) if rng.random() < 0.9)]
    words = [verb, *(_item(rng) for _ in range(rng.choice((1, 1, 2))))]
    if verb == "show":
        return words + rng.choice(([], ["--json"]))
    words += [rng.choice(("--delta", "--epsilon")), "1e-6" if rng.random() < 0.6 else rng.choice(_TOTALS)]
    if verb == "compare":
        return words
    return words + rng.choice(([], ["--json"], ["--bits", _size(rng)], ["--method", rng.choice(_METHODS)]))


_TRAIN = ("--sigma", "--rate", "--steps", "--delta")


def _size(rng: Random) -> str:
    return rng.choice(_GOOD if rng.random() < 0.8 else _SIZES)


def _item(rng: Random) -> str:
    size, rate = _size(rng), rng.choice(_RATES[:5] if rng.random() < 0.8 else _RATES)
    text = rng.choice(
        (
            f"subsampled({rng.choice(('gaussian', 'laplace', 'discrete-gaussian'))}({size}), rate={rate})",
            f"subsampled({rng.choice(('gaussian', 'laplace'))}({size}), rate={rate}, neighbours=replace)",
            f"{rng.choice(('gaussian', 'laplace', 'discrete-laplace', 'gdp', 'zcdp', 'exponential', 'rr'))}({size})",
            f"without-replacement(gaussian({size}), {_size(rng)}, {_size(rng)})",
            f"name-and-shame({rate})",
            f"{size},{rate}",
            size,
            f"gaussian({'(' * rng.choice((1, 2000))}",
        )
    )
    return text + rng.choice(_COUNTS[:5] if rng.random() < 0.8 else _COUNTS)
