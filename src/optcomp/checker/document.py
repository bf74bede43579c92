"""A certificate as a checked value: what is claimed, about which mechanisms.

Everything is read exactly: a JSON number is the double it denotes, a string such as "1/3" its rational value, null an
infinite end.  What is not understood is refused with the name of the field; nothing is guessed.  A key that is given
twice is refused: readers differ in which of the two they believe.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from flint import fmpz

from optcomp.checker.balls import Exact, Group, Noise
from optcomp.checker.claimed import Listed, check_hints, check_neighbours, laws_of
from optcomp.checker.effort import looked
from optcomp.errors import InvalidInput, shown

FORMAT, VERSION, WITH_NOISE, WITH_LAWS = "optcomp-certificate", 1, 2, 3
MOST_INLINE = 1000
"""The most groups that a certificate lists itself; of longer lists it holds the digest."""

_RATIONAL = re.compile(r"[+-]?\d+(/\d+)?")
_LONGEST = 200_000  # digits of a number: more than any precision that is worked with
_SHOWN = 60  # characters of a value in a message
_LARGEST = 1e300  # hints beyond are no finite numbers worth keeping


@dataclass(frozen=True)
class Claim:
    """lower <= the optimal total <= upper, where None is infinity; `given` is the other one of ε and δ."""

    quantity: Literal["epsilon", "delta"]
    given: Exact
    lower: Exact | None
    upper: Exact | None
    groups: tuple[Group, ...]
    count: int
    gaussians: tuple[Noise, ...] = ()
    laws: tuple[Listed, ...] = ()
    parameters: Mapping[str, float] = field(default_factory=dict)
    """Free choices of whoever found the claim: hints, never believed."""


class Mismatch(Exception):
    """The mechanisms supplied are not the ones that the certificate is about."""


def from_json(text: str) -> object:
    """What a JSON text says; json.JSONDecodeError if it is none, InvalidInput if an object in it has a key twice."""
    return json.loads(text, object_pairs_hook=_each_once)


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise InvalidInput(key, value, f"is given twice, first as {shown(found[key])[:_SHOWN]}")
        found[key] = value
    return found


def digest(groups: Iterable[Group]) -> str:
    """SHA-256 of the groups in canonical order: one line "ε δ copies" each, exact, largest (ε, δ) first."""
    total = hashlib.sha256()
    for eps, delta, copies in canonical(groups):
        total.update(f"{Fraction(eps)} {Fraction(delta)} {copies}\n".encode())
    return f"sha256:{total.hexdigest()}"


def canonical(groups: Iterable[Group]) -> tuple[Group, ...]:
    """Distinct groups, the largest (ε, δ) first; groups without a copy vanish."""
    counts: dict[tuple[Exact, Exact], int] = {}
    for eps, delta, copies in groups:
        counts[eps, delta] = counts.get((eps, delta), 0) + copies
    kept = ((eps, delta, copies) for (eps, delta), copies in counts.items() if copies)
    return tuple(sorted(kept, reverse=True))


def read(
    document: Mapping[str, object],
    supplied: Sequence[Group] | None = None,
    noise: Sequence[object] | None = None,
    others: Sequence[Mapping[str, object]] | None = None,
) -> Claim:
    """The claim of a certificate; `supplied` are its pairs where it holds only their digest.

    `noise`, if given, must be its Gaussian mechanisms, and `others`, if given, its other laws.
    """
    if not isinstance(document, Mapping):
        raise InvalidInput("certificate", document, "must be an object")
    noisy = "gaussians" in document
    _require(document, "format", FORMAT, f"must be {FORMAT!r}")
    _require(document, "version", _version(document), f"must be {VERSION}, {WITH_NOISE} with gaussians, 3 with laws")
    quantity = document.get("quantity")
    if quantity not in ("epsilon", "delta"):
        raise InvalidInput("quantity", quantity, "must be 'epsilon' or 'delta'")
    given = _number(document.get("given"), "given")
    if given < 0 or (quantity == "epsilon" and given >= 1):
        raise InvalidInput("given", document["given"], "must not be negative, and below 1 if it is a δ")
    lower, upper = _ends(document)
    groups = _groups(document.get("mechanisms"), supplied)
    gaussians = _gaussians(document["gaussians"]) if noisy else ()
    if noise is not None and gaussians != _counted(_listed(noise, "gaussians")):
        raise Mismatch("gaussians: the ones supplied are not those of the certificate")
    laws = _laws(document, others)
    count = document.get("count")
    if isinstance(count, bool) or not isinstance(count, int):
        raise InvalidInput("count", count, "must be a whole number")
    found = sum(group[2] for group in groups) + sum(copies for _, copies in gaussians)
    found += sum(law.copies for law in laws)
    if count != found:
        raise Mismatch(f"count: {shown(count)} is not the number of mechanisms, {shown(found)}")
    known: Literal["epsilon", "delta"] = "epsilon" if quantity == "epsilon" else "delta"
    return Claim(known, given, lower, upper, groups, count, gaussians, laws, _hints(document.get("parameters")))


def _version(document: Mapping[str, object]) -> int:
    """What the version must be, by what is listed."""
    return WITH_LAWS if "laws" in document else WITH_NOISE if "gaussians" in document else VERSION


def _laws(document: Mapping[str, object], others: Sequence[Mapping[str, object]] | None) -> tuple[Listed, ...]:
    """The laws of version 3, with the neighbours they are about."""
    if "laws" not in document:
        for name in ("neighbours", "hints"):
            if name in document:
                raise InvalidInput(name, document[name], f"belongs to version {WITH_LAWS}")
        if others:
            raise Mismatch("laws: there are none in the certificate")
        return ()
    found = laws_of(document["laws"], "laws", _number, MOST_INLINE)
    check_neighbours(document, found)
    if "hints" in document:
        check_hints(document["hints"], _number)
    if others is not None and (not others or found != laws_of(others, "laws", _number, MOST_INLINE)):
        raise Mismatch("laws: the ones supplied are not those of the certificate")
    return found


def _require(document: Mapping[str, object], name: str, wanted: object, reason: str) -> None:
    value = document.get(name)
    if type(value) is not type(wanted) or value != wanted:
        raise InvalidInput(name, value, reason)


def _ends(document: Mapping[str, object]) -> tuple[Exact | None, Exact | None]:
    """The claim's ends; with an `enclosure`, its ends, which the doubles must contain."""
    lower, upper = _end(document, "lower"), _end(document, "upper")
    if _above(lower, upper):
        raise InvalidInput("lower", document["lower"], "must not be above upper")
    enclosure = document.get("enclosure")
    if enclosure is None:
        return lower, upper
    if not isinstance(enclosure, Sequence) or isinstance(enclosure, str) or len(enclosure) != 2:
        raise InvalidInput("enclosure", enclosure, "must be a pair of numbers")
    low, high = (_number(end, f"enclosure[{place}]") for place, end in enumerate(enclosure))
    if low > high:
        raise InvalidInput("enclosure", enclosure, "its first end must not be above the second")
    if _above(lower, low) or _above(high, upper):
        raise InvalidInput("enclosure", enclosure, "must lie between lower and upper")
    return low, high


def _above(left: Exact | None, right: Exact | None) -> bool:
    return right is not None and (left is None or left > right)


def _end(document: Mapping[str, object], name: str) -> Exact | None:
    if name not in document:
        raise InvalidInput(name, None, "is missing")
    value = document[name]
    return None if value is None else _number(value, name)


def _number(value: object, name: str) -> Exact:
    """The exact value of a number or of a string "p/q"."""
    if isinstance(value, str) and value.isascii() and len(value) <= _LONGEST and _RATIONAL.fullmatch(value):
        top, _, bottom = value.partition("/")
        under = int(fmpz(bottom or "1"))  # flint reads any number of digits
        if under:
            return Fraction(int(fmpz(top.removeprefix("+"))), under)
    if isinstance(value, Fraction) or (isinstance(value, int) and not isinstance(value, bool)):
        return Fraction(value)
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise InvalidInput(name, value, 'must be a finite number or a string such as "1/3"')


def _groups(value: object, supplied: Sequence[Group] | None) -> tuple[Group, ...]:
    given = None if supplied is None else _checked(_listed(supplied, "groups"), "groups")
    if isinstance(value, Mapping):
        return _by_digest(value, given)
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise InvalidInput("mechanisms", value, "must be a list of [epsilon, delta, copies] or an object with a digest")
    if len(value) > MOST_INLINE:
        raise InvalidInput("mechanisms", len(value), f"must hold at most {MOST_INLINE} groups, or their digest")
    listed = _checked(value, "mechanisms")
    if given is not None and given != listed:
        raise Mismatch("mechanisms: the ones supplied are not those of the certificate")
    return listed


def _by_digest(value: Mapping[str, object], given: tuple[Group, ...] | None) -> tuple[Group, ...]:
    wanted = value.get("digest")
    if not isinstance(wanted, str) or not re.fullmatch(r"sha256:[0-9a-f]{64}", wanted):
        raise InvalidInput("mechanisms.digest", wanted, "must be 'sha256:' and 64 hexadecimal digits")
    if given is None:
        raise InvalidInput("mechanisms", wanted, "the certificate holds only their digest; supply them (--from FILE)")
    if digest(given) != wanted:
        raise Mismatch("mechanisms: the ones supplied do not have the digest of the certificate")
    return given


def _listed(value: object, name: str) -> Sequence[object]:
    """What was supplied beside the document."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise InvalidInput(name, value, "must be a list")
    return value


def _checked(groups: Sequence[object], name: str) -> tuple[Group, ...]:
    return canonical(_group(group, f"{name}[{place}]") for place, group in enumerate(looked(groups)))


def _group(group: object, name: str) -> Group:
    if not isinstance(group, Sequence) or isinstance(group, str) or len(group) != 3:
        raise InvalidInput(name, group, "must be [epsilon, delta, copies]")
    eps, delta, copies = _number(group[0], name), _number(group[1], name), group[2]
    if eps < 0 or not 0 <= delta < 1:
        raise InvalidInput(name, group, "must have epsilon at least 0 and delta in [0, 1)")
    if isinstance(copies, bool) or not isinstance(copies, int) or copies < 0:
        raise InvalidInput(name, group, "copies must be a whole number at least 0")
    return eps, delta, copies


def _gaussians(value: object) -> tuple[Noise, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise InvalidInput("gaussians", value, "must be a list of [mu, copies]")
    if not 1 <= len(value) <= MOST_INLINE:
        raise InvalidInput("gaussians", len(value), f"must hold at least one and at most {MOST_INLINE} [mu, copies]")
    return _counted(value)


def _counted(noise: Sequence[object]) -> tuple[Noise, ...]:
    """Distinct μ with their counts, the largest first."""
    counts: dict[Exact, int] = {}
    for place, each in enumerate(noise):
        mu, copies = _noise(each, f"gaussians[{place}]")
        counts[mu] = counts.get(mu, 0) + copies
    return tuple(sorted(counts.items(), reverse=True))


def _noise(value: object, name: str) -> Noise:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise InvalidInput(name, value, "must be [mu, copies]")
    mu, copies = _number(value[0], name), value[1]
    if not mu > 0:
        raise InvalidInput(name, value, "must have mu above 0")
    if isinstance(copies, bool) or not isinstance(copies, int) or copies < 1:
        raise InvalidInput(name, value, "copies must be a whole number at least 1")
    return mu, copies


def _hints(value: object) -> dict[str, float]:
    """The finite numbers among the parameters."""
    if not isinstance(value, Mapping):
        return {}
    return {
        str(key): float(number)
        for key, number in value.items()
        if isinstance(number, int | float) and not isinstance(number, bool) and abs(number) < _LARGEST
    }
