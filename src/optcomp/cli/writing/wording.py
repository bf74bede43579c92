"""What the library says, in the words of the command line: `--bits` and not `bits=`."""

from __future__ import annotations

import re

import optcomp as oc

_OPTIONS = ("delta", "epsilon", "eta", "bits", "rtol", "method", "trials", "confidence")
"""Arguments of the library that are options by the same name."""

_PHRASES = (
    (r"(?<!got )(?:method[= ])?'({methods})'", r"--method \1"),
    (r"\bask for no bits\b", "leave out --bits"),
    (r"\bbits=", "--bits"),
    (r"\band bits$", "and --bits"),
    (r"\ba larger eta\b", "a larger --eta"),
    (r"\bchosen adaptively\b", "chosen adaptively (--adaptive)"),
    (r"\(or basic composition\)", "(or --method basic)"),
    (r"\bknown_mechanisms\(\) names all\b", "--list names all"),
    (r"\bsay bad_cells='missing'", "say bad_cells: missing in the plan (or --bad-cells missing to data prepare)"),
)
"""Words of the library, and what they are on the command line."""


def explained(error: oc.OptcompError) -> str:
    """The text of an error with options called by their names on the command line."""
    if isinstance(error, oc.PrecisionNotReached) and isinstance(error.bound, oc.Bound):
        return _imprecise(error.bound, error.rtol)
    text = str(error)
    if isinstance(error, oc.InvalidInput) and error.argument in _OPTIONS:
        text = f"--{text}"
    if isinstance(error, oc.InvalidInput) and isinstance(error.value, oc.Bound):
        text = text.removesuffix(f", got {error.value!r}").replace("bound: ", "--certificate: the answer ", 1)
    for pattern, words in _PHRASES:
        text = re.sub(pattern.replace("{methods}", "|".join(oc.METHODS)), words, text)
    return text


def _imprecise(bound: oc.Bound, rtol: float) -> str:
    symbol = "ε" if bound.quantity == "epsilon" else "δ"
    return (
        f"--rtol: the proved bracket {bound.lower!r} ≤ {symbol} ≤ {bound.upper!r} has relative width "
        f"{bound.width:.3g}, more than the {rtol:.3g} asked for"
    )


def with_given(text: str, **given: object) -> str:
    """The text followed by those options that were given, with their values."""
    shown = " ".join(f"--{name} {value}" for name, value in given.items() if value is not None)
    return f"{text} (given {shown})" if shown else text
