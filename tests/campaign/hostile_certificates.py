"""Documents that somebody wrote to keep a checker busy, or to make it fail: any of them ends in time with a verdict.

Most are well formed, with parameters, counts and claims at the ends of what is read; some are broken on purpose.
"""

from __future__ import annotations

import math
import resource
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

from flint import fmpz

from optcomp.checker import check
from tests.campaign.judge import Outcome

Document = dict[str, Any]
SPARE = 2.0
"""Seconds of processor time beyond its effort within which a check ends."""
EFFORTS = (0.0, 0.05, 0.2, 0.5, 1.0)
SAMPLED = {"poisson_subsampled": "add/remove", "poisson_replaced": "replace", "batch": "replace"}
"""The neighbours that samples are about."""
NUMBERS: tuple[object, ...] = (
    *(math.nan, math.inf, -math.inf, -1.0, 0, True, None, "", "1/0", "abc", "1e5", [], {}, 10**4000, -(10**4000)),
    *(1e308, 5e-324, "9" * 5000, f"1/{'9' * 5000}", "٣", "1/3/5", "+1/2", "0x10", [1], {"a": 1}, 1e999),
)
"""What stands where a number should."""


def document(rng: Random) -> tuple[Document, dict[str, Any]]:
    """A certificate, and what is given beside it."""
    made = rng.choice((_laws, _laws, _laws, _pairs, _pairs, _noisy))(rng)
    made |= _claim(rng)
    if rng.random() < 0.15:
        _broken(rng, made)
    beside: dict[str, Any] = {}
    if rng.random() < 0.03:
        beside[rng.choice(("groups", "gaussians", "laws"))] = rng.choice((5, "text", [[1]], [None], {}, [{"kind": 1}]))
    return made, beside


def _size(rng: Random, least: float, most: float) -> float | str:
    """A number between two: as a double, as a short or as a long fraction."""
    ends = least, most, math.exp(rng.uniform(math.log(least), math.log(most)))
    value = rng.choice(ends) if rng.random() < 0.3 else ends[2]
    if rng.random() < 0.7:
        return value
    digits = rng.choice((3, 30, 300, 3000))
    more = Fraction(value) + Fraction(rng.randrange(10**digits), 10 ** (digits + 20))
    return str(min(max(more, Fraction(least)), Fraction(most)))


def _text(value: Fraction) -> str:
    """However long it is: Python writes no more than 4,300 digits."""
    return f"{fmpz(value.numerator)}/{fmpz(value.denominator)}"


def _rate(rng: Random) -> float | str:
    power = rng.choice((1, 2, 5, 9, 17, 40, 400))
    if rng.random() < 0.3:
        return f"{10**power - 1}/{10**power}"
    return _size(rng, 1e-9, 0.999999)


def _copies(rng: Random) -> int:
    return rng.choice((1, 1, 2, 3, 5, 20, 64, 65, 1000, 10**6, 10**15, 10**400, int(10 ** rng.uniform(0, 6))))


def _law(rng: Random, sample: str) -> Document:
    kind = rng.choice(("laplace", "randomized_response", "discrete_laplace", "discrete_gaussian", sample, sample))
    wide = rng.random() < 0.4
    low, high = (1e-9, 1e9) if wide else (0.05, 20.0)
    found: Document = {"kind": kind, "copies": _copies(rng)}
    if kind in ("laplace", "randomized_response"):
        found["epsilon"] = _size(rng, low, high)
    if kind == "randomized_response":
        found["answers"] = rng.choice((2, 3, 5, 10**9))
    if kind in ("discrete_laplace", "discrete_gaussian"):
        found["sensitivity"] = rng.choice((1, 1, 2, 1000))
        found["scale" if kind == "discrete_laplace" else "sigma"] = _size(rng, low, high)
    if kind in SAMPLED:
        noise = rng.choice(("gaussian", "laplace", *(("discrete_gaussian",) if kind != "batch" else ())))
        found |= {"kind": f"{kind}_{noise}", "rate": _rate(rng)}
        name = {"gaussian": "mu", "laplace": "epsilon", "discrete_gaussian": "sigma"}[noise]
        found[name] = _size(rng, low, high)
        if noise == "discrete_gaussian":
            found["sensitivity"] = rng.choice((1, 1, 3, 1000))
    return found


def _laws(rng: Random) -> Document:
    sample = rng.choice(list(SAMPLED))
    count = rng.choice((1, 1, 1, 2, 3, 10, 100, 1000))
    if count >= 100:  # many of a kind, each a little different
        first = _law(rng, sample) | {"copies": rng.choice((1, 1, 3))}
        name = next(key for key in ("mu", "epsilon", "sigma", "scale") if key in first)
        size = float(Fraction(str(first[name])))
        laws = [first | {name: min(max(size * (1 + place / 7919), 1e-9), 1e9)} for place in range(count)]
    else:
        laws = [_law(rng, sample) for _ in range(count)]
    found: Document = {"version": 3, "laws": laws, "mechanisms": [], "count": sum(law["copies"] for law in laws)}
    if any("rate" in law for law in laws):
        found["neighbours"] = SAMPLED[sample]
    if rng.random() < 0.3:
        _add_pairs(rng, found, rng.choice((1, 3, 50)))
    if rng.random() < 0.2:
        _add_noise(rng, found)
    return found


def _pairs(rng: Random) -> Document:
    found: Document = {"version": 1, "mechanisms": [], "count": 0}
    _add_pairs(rng, found, rng.choice((1, 1, 2, 5, 12, 30, 60, 100, 1000)))
    return found


def _noisy(rng: Random) -> Document:
    found = _pairs(rng) | {"version": 2}
    _add_noise(rng, found)
    return found


def _add_pairs(rng: Random, found: Document, count: int) -> None:
    low, high = rng.choice(((1e-9, 1e9), (0.01, 2.0), (0.1, 0.100001), (1e-100, 1e12)))
    copies = [_copies(rng) if rng.random() < 0.3 else 1 for _ in range(count)]
    leak = rng.choice((0.0, 0.0, 1e-9, "1/3", 5e-324, 0.999999))
    found["mechanisms"] = [[_size(rng, low, high), leak, each] for each in copies]
    found["count"] += sum(copies)


def _add_noise(rng: Random, found: Document) -> None:
    copies = [_copies(rng) for _ in range(rng.choice((1, 1, 2, 30)))]
    found["gaussians"] = [[_size(rng, *rng.choice(((0.01, 10.0), (1e-200, 1e200)))), each] for each in copies]
    found["count"] += sum(copies)


def _claim(rng: Random) -> Document:
    """A bracket that is hardly ever true, of any width, so that no step decides it soon."""
    epsilon = rng.random() < 0.7
    given: object = rng.choice(("1/1000000", 1e-6, 0.1, 0.999999, 5e-324, 0, "1/3", f"1/{10**400}"))
    if not epsilon:
        given = rng.choice((0, 0.5, 3.0, 1e9, 1e-300, 1e308, f"{10**400}/7"))
    middle = math.exp(rng.uniform(-12, rng.choice((3, 25)))) if epsilon else math.exp(rng.uniform(-40, 0))
    width = rng.choice((0.5, 1e-3, 1e-9, 1e-13, 0.0))
    ends: Document = {"lower": middle * (1 - width), "upper": middle * (1 + width)}
    if rng.random() < 0.1:
        bits = rng.choice((200, 3000, 60_000))
        place = Fraction(middle)
        ends["enclosure"] = [_text(place), _text(place + Fraction(1, 1 << bits))]
        ends |= {"lower": math.nextafter(middle, 0), "upper": math.nextafter(middle, math.inf)}
    if rng.random() < 0.1:
        ends[rng.choice(("lower", "upper"))] = None
    shape = {"format": "optcomp-certificate", "quantity": "epsilon" if epsilon else "delta", "given": given}
    return shape | ends


def _broken(rng: Random, made: Document) -> None:
    """Something stands where it does not belong."""
    change: Callable[[], object] = lambda: rng.choice(NUMBERS)  # noqa: E731
    place = rng.choice(("top", "top", "inner", "extra", "gone"))
    if place == "top":
        made[rng.choice(list(made))] = change()
    elif place == "extra":
        made[rng.choice(("hints", "neighbours", "gaussians", "laws", "parameters", "enclosure", "x"))] = change()
    elif place == "gone":
        del made[rng.choice(list(made))]
    else:
        lists = [made[name] for name in ("laws", "mechanisms", "gaussians") if made.get(name)]
        entry = rng.choice(rng.choice(lists))
        entry[rng.choice(list(entry) if isinstance(entry, dict) else range(len(entry)))] = change()


def certificate(outcome: Outcome) -> None:
    """A check ends within its effort and a little more, with a verdict."""
    rng = Random(f"hostile certificate {outcome.seed}")
    made, beside = document(rng)
    effort = rng.choice(EFFORTS)
    outcome.answer(f"check, effort={effort}", lambda: check(made, effort=effort, **beside), seconds=effort + SPARE)


def timed(seeds: range) -> list[str]:
    """The seed, the verdict, the effort and the processor time of each check, under a hard limit of processor time.

    The limit is set anew for each document; whoever exceeds it is killed by the system.
    """
    told = []
    for seed in seeds:
        rng = Random(f"hostile certificate {seed}")
        made, beside = document(rng)
        effort = rng.choice(EFFORTS)
        before = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(before + effort + SPARE), resource.RLIM_INFINITY))
        status = check(made, effort=effort, **beside).status
        told.append(f"{seed} {status} {effort} {time.process_time() - before}")
    return told


if __name__ == "__main__":
    print("\n".join(timed(range(*map(int, sys.argv[1:])))))
