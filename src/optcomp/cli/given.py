"""What `compose`, `compare`, `show` and `verify` were given: options and mechanisms, read."""

from __future__ import annotations

from dataclasses import dataclass

from optcomp.cli.failures import Complaint
from optcomp.cli.reading.files import entries_from
from optcomp.cli.reading.items import entry_of
from optcomp.cli.sought_total import SoughtTotal
from optcomp.composition import MOST_BITS
from optcomp.reading import Format, MechanismCounts, plain, real_number, tally, whole_number


@dataclass(frozen=True)
class ComposeOptions:
    """How the answer is to be computed, read from the options."""

    method: str = "auto"
    eta: str | None = None
    rtol: float | None = None
    bits: int | None = None


def wished(method: str, eta: str | None, rtol: str | None, bits: str | None) -> ComposeOptions:
    """The options of `compose`, as numbers."""
    return ComposeOptions(
        method,
        None if eta is None else plain(eta, "--eta"),
        None if rtol is None else real_number(rtol, "--rtol"),
        None if bits is None else whole_number(bits, "--bits", 1, MOST_BITS),
    )


def _format(text: str | None) -> Format | None:
    if text is not None and text.lower() not in list(Format):
        raise Complaint(f"--format: must be one of {', '.join(Format)}, got {text!r}")
    return None if text is None else Format(text.lower())


def gathered(
    items: list[str] | None,
    files: list[str] | None,
    format: str | None,
    nothing: str = "nothing to compose: give items such as 0.1x50, or --from FILE",
) -> MechanismCounts:
    """Every mechanism from the command line and from files."""
    if not items and not files:
        raise Complaint(nothing)
    if files and files.count("-") > 1:
        raise Complaint("--from: standard input can be read only once")
    chosen = _format(format)
    entries = [entry_of(item) for item in items or ()]
    return tally([*entries, *(entry for file in files or () for entry in entries_from(file, chosen))])


def asked(delta: str | None, epsilon: str | None, adaptive: bool) -> SoughtTotal:
    """The question behind the options."""
    return SoughtTotal(delta, epsilon, "adaptive" if adaptive else "fixed")
