"""Certificates and releases, proved again or rejected, and what is said about them."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from optcomp.cli.failures import Complaint, one_line
from optcomp.cli.given import gathered
from optcomp.cli.progress import working
from optcomp.cli.writing.digits import mechanisms
from optcomp.composition import read_any
from optcomp.errors import InvalidInput
from optcomp.guarantees import (
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    GaussianDP,
    KnownLoss,
    Laplace,
    PoissonSubsampled,
    RandomizedResponse,
    WithoutReplacement,
)
from optcomp.instances import Mixture, Parts
from optcomp.numerics import float_above, float_below
from optcomp.reading import MechanismCounts, written
from optcomp.theorems import described

if TYPE_CHECKING:
    from optcomp.checker import Exact, Verdict
    from optcomp.release import Verification


def document_of(text: str) -> Mapping[str, object] | str:
    """The JSON object in a text, or what is wrong with it."""
    from optcomp.checker import from_json

    try:
        document = from_json(text)
    except json.JSONDecodeError as error:
        return f"line {error.lineno}: is not JSON: {error.msg}"
    except InvalidInput as twice:
        return f"{twice.argument!r} is given twice"
    except (ValueError, RecursionError):
        return "is not JSON that can be read"
    return document if isinstance(document, dict) else "certificate: must be a JSON object"


def verified_release(release: Mapping[str, object], files: list[str] | None, name: str, as_json: bool) -> bool:
    """Whether a release fits together, and its total is proved."""
    from optcomp.release import verify_release

    if files:
        raise Complaint("--from: is for certificates; the mechanisms of a release follow from its plan")
    with working("verifying", follow=False) as tell:
        found = verify_release(release, tell)
    if as_json:
        print(json.dumps(_release_view(found), indent=2, ensure_ascii=True))
    else:
        _show_release(found, name)
    return found.proved


def checked(document: Mapping[str, object] | str, files: list[str] | None, format: str | None) -> Verdict:
    """The verdict; decimals of a file count as written or, if that is what the certificate is about, as doubles."""
    from optcomp.checker import Verdict, check

    if isinstance(document, str):
        return Verdict(False, "malformed", document)
    supplied = _supplied(gathered(None, files, format)) if files else None
    with working("verifying", follow=False) as tell:
        if supplied is None:
            return check(document, tell=tell)
        verdict = check(document, *supplied.as_written, tell=tell)
        if verdict.status == "mismatch":
            again = check(document, *supplied.as_doubles, tell=tell)
            verdict = verdict if again.status == "mismatch" else again
    return verdict


_Given = tuple["list[tuple[Exact, Exact, int]]", list[list[object]] | None, list[dict[str, object]] | None]
"""Pairs, Gaussian noise and other laws, as the checker takes them."""


@dataclass(frozen=True)
class _Supplied:
    """The mechanisms of a file: (ε, δ) pairs, and others, which are compared only where it has any."""

    pairs: Parts
    losses: tuple[tuple[KnownLoss, int], ...] = ()

    @property
    def as_written(self) -> _Given:
        """Numbers as they stand in the file."""
        return [(eps, delta, copies) for eps, delta, copies in self.pairs.groups], *_listed(self.losses)

    @property
    def as_doubles(self) -> _Given:
        """Every parameter as a double."""
        groups: list[tuple[Exact, Exact, int]] = [
            (float(eps), float(delta), copies) for eps, delta, copies in self.pairs.groups
        ]
        return groups, *_listed([(_rounded(value), copies) for value, copies in self.losses])


def _listed(
    losses: Sequence[tuple[KnownLoss, int]],
) -> tuple[list[list[object]] | None, list[dict[str, object]] | None]:
    gaussians, laws = described(Mixture(Parts.of({}), tuple(losses)))
    return gaussians or None, laws or None


def _rounded(value: KnownLoss) -> KnownLoss:
    """The same mechanism with doubles for parameters."""
    if isinstance(value, PoissonSubsampled):
        inner = _rounded(value.mechanism)
        if not isinstance(inner, Gaussian | Laplace | DiscreteGaussian):
            return value
        return PoissonSubsampled(inner, float(value.rate), value.neighbours)
    if isinstance(value, WithoutReplacement):
        inner = _rounded(value.mechanism)
        return (
            WithoutReplacement(inner, value.batch, value.population) if isinstance(inner, Gaussian | Laplace) else value
        )
    if isinstance(value, GaussianDP):
        return GaussianDP(float(value.mu))
    if isinstance(value, RandomizedResponse):
        return RandomizedResponse(float(value.epsilon), value.answers)
    if isinstance(value, Gaussian):
        return Gaussian(float(value.sigma), float(value.sensitivity))
    if isinstance(value, Laplace):
        return Laplace(float(value.scale), float(value.sensitivity))
    if isinstance(value, DiscreteLaplace):
        return DiscreteLaplace(float(value.scale), value.sensitivity)
    return DiscreteGaussian(float(value.sigma), value.sensitivity) if isinstance(value, DiscreteGaussian) else value


def _supplied(counts: MechanismCounts) -> _Supplied:
    """Certificates are about (ε, δ) pairs and mechanisms whose loss is known only."""
    read = read_any(counts)
    if not isinstance(read, Mixture):
        return _Supplied(read)
    if read.bounded:
        other = written(read.bounded[0][0])
        raise Complaint(f"--from: a certificate is about (ε, δ) pairs and known losses only, got {other!r}")
    return _Supplied(read.pairs, read.losses)


def show_verdict(verdict: Verdict, name: str, as_json: bool) -> None:
    """The verdict, as JSON or in a line or two."""
    if as_json:
        print(json.dumps(_view(verdict), indent=2, ensure_ascii=True))
    elif verdict.status == "malformed":
        print(f"optcomp: {one_line(f'{name}: {verdict.reason}')}", file=sys.stderr, flush=True)
    elif verdict.status == "mismatch":
        print(f"rejected: {verdict.reason}")
    else:
        words = {"proved": "proved", "false": "rejected", "undecided": "not decided"}
        print(f"{words[verdict.status]}: {_claim(verdict)}")
        print(verdict.reason)


_VALUES = "; the values themselves cannot be checked"
"""Nobody but the holder of the data knows whether noise was added to the true ones."""

_BY = {
    "checker": "the certificate is about the plan, the noise and the total of this release",
    "engine": "proved by the engine itself, not by the independent checker: no certificate covers this noise\n"
    "this total is about the plan and the noise of this release",
    "sum": "the sum of ρ, by exact arithmetic, is about the plan and the noise of this release",
}
"""What each way of proving a total says."""


def _show_release(found: Verification, name: str) -> None:
    if found.status in ("malformed", "unfinished"):
        for problem in found.problems:
            print(f"optcomp: {one_line(f'{name}: {problem}')}", file=sys.stderr, flush=True)
    elif found.by is None or not found.proved:
        word = "not decided" if found.status == "undecided" else "rejected"
        for problem in found.problems:
            print(f"{word}: {one_line(problem)}")
    else:
        print(f"proved: {_total(found)}")
        if found.verdict is not None:
            print(found.verdict.reason)
        print(f"{_BY[found.by]}{_VALUES}")


def _total(found: Verification) -> str:
    """The total as people read it."""
    if found.verdict is not None:
        return _claim(found.verdict)
    noun = "statistic" if found.by == "sum" else "mechanism"
    counted = f"{found.count} {noun}{'' if found.count == 1 else 's'}"
    if found.bound is None:
        return f"ρ ≤ {found.total!r}, {counted}"
    ends = f"{found.bound.lower!r} ≤ ε ≤ {found.total!r}"
    return f"{ends} at δ = {_short(found.bound.given, float_above)}, {counted}"


def _release_view(found: Verification) -> dict[str, object]:
    verdict = found.verdict
    return {
        "proved": found.proved,
        "status": found.status,
        "reason": "; ".join(found.problems) if verdict is None or found.problems else verdict.reason,
        "count": found.count,
        "steps": [] if verdict is None else list(verdict.steps),
        "by": found.by,
        "total": found.total,
        "problems": list(found.problems),
    }


def _claim(verdict: Verdict) -> str:
    """The claim as people read it."""
    symbol, other = ("ε", "δ") if verdict.quantity == "epsilon" else ("δ", "ε")
    ends = f"{_short(verdict.lower, float_below)} ≤ {symbol} ≤ {_short(verdict.upper, float_above)}"
    given = _short(verdict.given, float_above)
    return f"{ends} at {other} = {given}, {mechanisms(verdict.count)}"


def _short(end: Exact | None, double: Callable[[Exact], float]) -> str:
    """A number as a double shows it, rounded as it stays true; the claim itself is about its exact value."""
    if end is None:
        return "∞"
    near = double(end)
    with suppress(OverflowError):  # 1e-6 is no double, and yet what a double shows
        near = float(end) if Fraction(repr(float(end))) == end else near
    return repr(near).replace("e-0", "e-") if math.isfinite(near) else "a number beyond doubles"


def _view(verdict: Verdict) -> dict[str, object]:
    return {
        "proved": verdict.proved,
        "status": verdict.status,
        "reason": verdict.reason,
        "count": verdict.count,
        "steps": list(verdict.steps),
    }
