"""Certificates and releases, proved again or rejected, and what is said about them."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping
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
from optcomp.guarantees import Gaussian, GaussianDP
from optcomp.instances import Mixture, Parts
from optcomp.numerics import float_above, float_below
from optcomp.reading import MechanismCounts, written

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
        verdict = check(document, supplied.groups, supplied.noise, tell=tell)
        if verdict.status == "mismatch":
            again = check(document, supplied.double_groups, supplied.double_noise, tell=tell)
            verdict = verdict if again.status == "mismatch" else again
    return verdict


@dataclass(frozen=True)
class _Supplied:
    """The mechanisms of a file: (ε, δ) pairs, and Gaussian ones, which are compared only where it has any."""

    pairs: Parts
    gaussians: tuple[tuple[Gaussian | GaussianDP, int], ...] = ()

    @property
    def groups(self) -> list[tuple[Exact, Exact, int]]:
        """ε, δ and copies as written."""
        return [(eps, delta, copies) for eps, delta, copies in self.pairs.groups]

    @property
    def double_groups(self) -> list[tuple[Exact, Exact, int]]:
        """ε, δ and copies as doubles."""
        return [(float(eps), float(delta), copies) for eps, delta, copies in self.pairs.groups]

    @property
    def noise(self) -> list[tuple[Exact, int]] | None:
        """μ and copies as written."""
        return [(value.mu, copies) for value, copies in self.gaussians] or None

    @property
    def double_noise(self) -> list[tuple[Exact, int]] | None:
        """μ and copies where the parameters are doubles."""
        return [(_rounded(value).mu, copies) for value, copies in self.gaussians] or None


def _rounded(value: Gaussian | GaussianDP) -> Gaussian | GaussianDP:
    if isinstance(value, Gaussian):
        return Gaussian(float(value.sigma), float(value.sensitivity))
    return GaussianDP(float(value.mu))


def _supplied(counts: MechanismCounts) -> _Supplied:
    """Certificates are about (ε, δ) pairs and Gaussian noise only."""
    read = read_any(counts)
    if not isinstance(read, Mixture):
        return _Supplied(read)
    gaussians = tuple((value, copies) for value, copies in read.others if isinstance(value, Gaussian | GaussianDP))
    if len(gaussians) < len(read.others):
        other = next(value for value, _ in read.others if not isinstance(value, Gaussian | GaussianDP))
        raise Complaint(f"--from: a certificate is about (ε, δ) pairs and Gaussian noise only, got {written(other)!r}")
    return _Supplied(read.pairs, gaussians)


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
