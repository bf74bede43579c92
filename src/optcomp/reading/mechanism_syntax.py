"""The mechanisms that have a name on the command line: what each takes, and how it is written."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from operator import attrgetter
from typing import Any

from optcomp.composition import Item
from optcomp.errors import InvalidInput
from optcomp.guarantees import (
    TCDP,
    ZCDP,
    ApproxZCDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    GaussianDP,
    Laplace,
    NameAndShame,
    PoissonSubsampled,
    RandomizedResponse,
    RenyiDP,
    SparseVectorDP,
    WithoutReplacement,
)
from optcomp.numerics import exact
from optcomp.reading.complaints import Complaint
from optcomp.reading.expressions import Argument, Call, Malformed, uniform
from optcomp.reading.numbers import plain

_CLOSE = 0.6
"""How alike a name must be to be offered in place of an unknown one: difflib's own measure."""
_SURE = 0.8
"""How alike a word without parentheses must be to a name to be taken for it."""
_LONGEST_DECIMAL = 17
"""Digits that tell all floats apart; a longer decimal is better read as a fraction."""


@dataclass(frozen=True)
class Parameter:
    """One parameter: how its text is read, where the mechanism keeps it, and its value where none is given."""

    name: str
    read: Callable[[str | Call, str], object]
    kept: Callable[[Any], object]
    default: float | str | None = None


@dataclass(frozen=True)
class Kind:
    """A mechanism by its name."""

    name: str
    make: Callable[..., Item]
    parameters: tuple[Parameter, ...]
    aliases: tuple[str, ...] = ()


def _text(value: str | Call, what: str) -> str:
    """A number as it was written; the library reads it exactly."""
    if isinstance(value, Call):
        raise Malformed(f"{what}: must be a number, not {value.name}(…)")
    try:
        return plain(value, what)
    except Complaint as error:
        raise Malformed(str(error)) from None


def _whole(value: str | Call, what: str) -> object:
    """A whole number, also when it is written 2.0; anything else goes on to the library, which refuses it."""
    text = _text(value, what)
    number = Fraction(exact(text, what))
    return int(number) if number.denominator == 1 else text


def _word(value: str | Call, what: str) -> object:
    """A word as it was written; the library knows which there are."""
    if isinstance(value, Call):
        raise Malformed(f"{what}: must be a word, not {value.name}(…)")
    return value.strip().strip("\"'")


def _sampled(value: str | Call, what: str) -> object:
    """The mechanism that runs on a Poisson sample."""
    return _noise(value, what, (Gaussian, Laplace, DiscreteGaussian), "gaussian(…), laplace(…) or discrete-gaussian(…)")


def _batched(value: str | Call, what: str) -> object:
    """The mechanism that runs on a batch."""
    return _noise(value, what, (Gaussian, Laplace), "gaussian(…) or laplace(…)")


def _noise(value: str | Call, what: str, kinds: tuple[type, ...], names: str) -> object:
    made = make(value) if isinstance(value, Call) else None
    if not isinstance(made, kinds):
        got = repr(value) if isinstance(value, str) else f"{value.name}(…)"
        raise Malformed(f"{what}: must be {names}, got {got}")
    return made


def _number(name: str, default: float | None = None, kept: Callable[[Any], object] | None = None) -> Parameter:
    return Parameter(name, _text, kept or attrgetter(name), default)


def _kind(name: str, make: Callable[..., Item], *parameters: Parameter | str, aliases: Sequence[str] = ()) -> Kind:
    known = tuple(_number(entry) if isinstance(entry, str) else entry for entry in parameters)
    return Kind(name, make, known, tuple(aliases))


_SENSITIVITY = _number("sensitivity", 1.0)
_WHOLE_SENSITIVITY = Parameter("sensitivity", _whole, attrgetter("sensitivity"), 1)

KINDS = (
    _kind("laplace", Laplace, "scale", _SENSITIVITY),
    _kind("gaussian", Gaussian, "sigma", _SENSITIVITY),
    _kind("discrete-laplace", DiscreteLaplace, "scale", _WHOLE_SENSITIVITY, aliases=["geometric"]),
    _kind("discrete-gaussian", DiscreteGaussian, "sigma", _WHOLE_SENSITIVITY),
    _kind(
        "rr",
        RandomizedResponse,
        _number("eps", kept=attrgetter("epsilon")),
        Parameter("answers", _whole, attrgetter("answers"), 2),
        aliases=["randomized-response"],
    ),
    _kind("exponential", Exponential, "epsilon"),
    _kind("name-and-shame", NameAndShame, "delta"),
    _kind(
        "subsampled",
        PoissonSubsampled,
        Parameter("mechanism", _sampled, attrgetter("mechanism")),
        "rate",
        Parameter("neighbours", _word, attrgetter("neighbours"), "add-remove"),
        aliases=["poisson-subsampled"],
    ),
    _kind(
        "without-replacement",
        WithoutReplacement,
        Parameter("mechanism", _batched, attrgetter("mechanism")),
        Parameter("batch", _whole, attrgetter("batch")),
        Parameter("population", _whole, attrgetter("population")),
    ),
    _kind("sparse-vector", SparseVectorDP, "threshold_epsilon", "queries_epsilon"),
    _kind("zcdp", ZCDP, "rho"),
    _kind("approx-zcdp", ApproxZCDP, "rho", "delta"),
    _kind("tcdp", TCDP, "rho", "omega"),
    _kind("gdp", GaussianDP, "mu", aliases=["gaussian-dp"]),
    _kind(
        "rdp",
        RenyiDP,
        _number("order", kept=lambda value: value.orders[0][0]),
        _number("epsilon", kept=lambda value: value.orders[0][1]),
        aliases=["renyi-dp"],
    ),
)
"""In the order in which people meet them."""

_SHUFFLED = (
    "a shuffled list cut into batches is no sample: each person is in exactly one batch. Write a plain round for each "
    "epoch, gaussian(sigma=1, sensitivity=2)x10, or draw anew: subsampled(…), without-replacement(…)"
)
"""Rounds are not independent, so neither kind of sample covers them."""
_REFUSED = {
    **dict.fromkeys(("shuffled", "shuffle", "shuffled_batches", "fixed_batches", "batches", "epochs"), _SHUFFLED),
    **dict.fromkeys(
        ("with_replacement", "sampled_with_replacement"),
        "a sample in which a person may be drawn several times has no law here; draw without-replacement(…)",
    ),
}
"""What people train with and no law here covers, with the reason."""

_NAMES = {uniform(name): kind for kind in KINDS for name in (kind.name, *kind.aliases)}
_TYPES: dict[object, Kind] = {kind.make: kind for kind in KINDS}


def make(call: Call) -> Item:
    """The mechanism that a call stands for; anything wrong with it is said in an error."""
    kind = _NAMES.get(call.name)
    if kind is None and call.name in _REFUSED:
        raise Malformed(f"{call.name.replace('_', '-')}: {_REFUSED[call.name]}")
    if kind is None:
        raise Malformed(f"no mechanism is called {call.name.replace('_', '-')!r}{_advice(call.name)}")
    try:
        return kind.make(*_values(kind, call.arguments))
    except InvalidInput as error:
        raise Malformed(str(error)) from None
    except OverflowError:
        raise Malformed(f"{kind.name}: a number is too large or too small") from None


def _advice(name: str) -> str:
    near = difflib.get_close_matches(name, _NAMES, 1, _CLOSE)
    if near:
        return f"; did you mean {near[0].replace('_', '-')}?"
    return f"; there are {', '.join(kind.name for kind in KINDS)}"


def _values(kind: Kind, arguments: Sequence[Argument]) -> list[object]:
    """A value for every parameter, in their order."""
    values = dict(_bound(kind, arguments))
    for entry in kind.parameters:
        if entry.default is None and entry.name not in values:
            raise Malformed(f"{kind.name}: {entry.name} is missing; write {_shape(kind)}")
    return [values.get(entry.name, entry.default) for entry in kind.parameters]


def _bound(kind: Kind, arguments: Sequence[Argument]) -> Iterator[tuple[str, object]]:
    """Every argument with the parameter it belongs to, read."""
    seen: set[str] = set()
    named = False
    for place, argument in enumerate(arguments):
        if named and not argument.name:
            raise Malformed(
                f"{kind.name}: parameters without a name come first, and decimals have a point; write {_shape(kind)}"
            )
        named = bool(argument.name)
        parameter = _by_name(kind, argument.name) if named else _by_place(kind, place)
        if parameter.name in seen:
            raise Malformed(f"{kind.name}: {parameter.name} is given twice")
        seen.add(parameter.name)
        yield parameter.name, parameter.read(argument.value, parameter.name)


def _by_name(kind: Kind, name: str) -> Parameter:
    same = {"eps": "epsilon", "epsilon": "eps"}.get(name, name)
    for parameter in kind.parameters:
        if parameter.name in (name, same):
            return parameter
    raise Malformed(f"{kind.name} has no parameter {name!r}; write {_shape(kind)}")


def _by_place(kind: Kind, place: int) -> Parameter:
    if place >= len(kind.parameters):
        raise Malformed(f"{kind.name}: too many parameters; write {_shape(kind)}")
    return kind.parameters[place]


def _shape(kind: Kind) -> str:
    """What a call looks like; what may be left out is in brackets."""
    needed = ", ".join(entry.name for entry in kind.parameters if entry.default is None)
    return f"{kind.name}({needed}{''.join(f'[, {entry.name}]' for entry in kind.parameters if entry.default)})"


def word_slip(text: str) -> str:
    """Advice for a text without parentheses that begins like the name of a mechanism; empty for any other text."""
    name = uniform(text.partition("=")[0].rstrip("0123456789 ").rstrip("xX×"))
    near = difflib.get_close_matches(name, _NAMES, 1, _SURE)
    return f"parameters go into parentheses: write {_shape(_NAMES[near[0]])}" if near else ""


def written(item: object) -> str:
    """A mechanism as the command line takes it."""
    kind = _TYPES.get(type(item))
    if kind is None:
        eps, delta = (number(getattr(item, name)) for name in ("epsilon", "delta"))
        return eps if delta == "0" else f"{eps},{delta}"
    texts = (value if name == "mechanism" else f"{name}={value}" for name, value in parameters(item).items())
    return f"{kind.name}({', '.join(texts)})"


def parameters(item: object) -> dict[str, str]:
    """The parameters of a mechanism as text; those that have their usual value are left out."""
    kind = _TYPES.get(type(item))
    if kind is None:
        return {name: number(getattr(item, name)) for name in ("epsilon", "delta")}
    values = ((entry, entry.kept(item)) for entry in kind.parameters)
    return {entry.name: number(value) for entry, value in values if entry.default is None or value != entry.default}


def name_of(item: object) -> str:
    """The name of its kind."""
    kind = _TYPES.get(type(item))
    return "(ε, δ)" if kind is None else kind.name


def number(value: Any) -> str:
    """A number as a person writes it, exactly: a short decimal, or else a fraction.  A mechanism as an expression."""
    if type(value) in _TYPES:
        return written(value)
    if isinstance(value, str):
        return value
    ratio = Fraction(value)
    context = Context(prec=_LONGEST_DECIMAL, traps=[Inexact])
    try:
        decimal = context.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)).normalize()
    except Inexact:
        return str(ratio)
    return format(decimal, "f") if -5 < decimal.adjusted() < _LONGEST_DECIMAL else format(decimal, "e")
