"""Published training runs with the ε they claim beside the certified one, and public reports about other accountants.

`python -m bench.training.claims` prints both tables; with `--write` it puts them into docs/training.md.  No peer is
asked: what others said is taken from where they said it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from bench.report import line
from bench.rows import duration
from optcomp.composition import shown_down, shown_up
from optcomp.numerics import Number, exact
from optcomp.training import Phase, TrainingRun, found_noise, schedule_of, total_of

PAGE = Path(__file__).parents[2] / "docs" / "training.md"
_DIGITS = 6
"""Significant digits of an ε."""


class Setting(NamedTuple):
    """What a run is counted as."""

    rate: Fraction
    sigma: str
    steps: int
    delta: str

    @property
    def run(self) -> TrainingRun:
        """The run itself."""
        return TrainingRun((Phase(Fraction(self.sigma), schedule_of(rate=self.rate, steps=self.steps)),))

    def cells(self) -> tuple[str, str, str, str]:
        """Rate, σ, steps, δ."""
        rate = self.rate
        short = f"{float(rate):g}" if Fraction(f"{float(rate):g}") == rate else f"{rate.numerator}/{rate.denominator}"
        return short, self.sigma, f"{self.steps:,}", self.delta


class Claim(NamedTuple):
    """Who published a setting, by which accountant, and the ε that was claimed."""

    source: str
    by: str
    setting: Setting
    epsilon: str


def _mnist(sigma: str, epochs: int) -> Setting:
    """Batches of 256 out of 60,000 examples, at δ = 1e-5."""
    made = schedule_of(examples=60_000, batch=256, epochs=epochs)
    return Setting(made.rate, sigma, made.steps, "1e-5")


def _at_rate(rate: str, sigma: str, epochs: int, delta: str = "1e-5") -> Setting:
    return Setting(Fraction(rate), sigma, schedule_of(rate=rate, epochs=epochs).steps, delta)


_TF18, _TF19 = "TensorFlow Privacy, tutorials at 047e1ee", "TensorFlow Privacy, tutorials, later"
_OPACUS, _BU = "Opacus, MNIST example", "Bu, Dong, Long, Su 2020, figure 4"
CLAIMS = (
    Claim(_TF18, "RDP", _mnist("1.12", 1), "1.00"),
    Claim(_TF18, "RDP", _mnist("1.12", 2), "1.04"),
    Claim(_TF18, "RDP", _mnist("1.12", 60), "2.92"),
    Claim(_TF18, "RDP", _mnist("0.6", 30), "9.74"),
    Claim(_TF18, "RDP", _mnist("1.2", 10), "1.20"),
    Claim(_TF19, "RDP", _mnist("1.1", 1), "1.03"),
    Claim(_TF19, "RDP", _mnist("1.1", 2), "1.11"),
    Claim(_TF19, "RDP", _mnist("1.1", 60), "3.01"),
    Claim(_TF19, "RDP", _mnist("1.3", 15), "1.19"),
    Claim(_TF19, "RDP", _mnist("0.7", 45), "7.10"),
    Claim(_OPACUS, "RDP", _at_rate("0.004", "1.3", 1), "0.71"),
    Claim(_OPACUS, "RDP", _at_rate("0.004", "1.3", 15), "1.19"),
    Claim(_OPACUS, "RDP", _at_rate("0.004", "1.1", 60), "3.01"),
    Claim(_OPACUS, "RDP", _at_rate("0.004", "0.7", 45), "7.10"),
    Claim("Opacus, character LSTM example", "RDP", _at_rate("0.05", "1.0", 50, "8e-5"), "11.83"),
    Claim(_BU, "moments", _mnist("1.3", 20), "1.34"),
    Claim(_BU, "moments", _mnist("0.7", 70), "8.68"),
    Claim(_BU, "central limit", _mnist("1.06", 20), "1.34"),
    Claim(_BU, "central limit", _mnist("0.638", 70), "8.68"),
    Claim("Opacus, tests of accountants", "PRV", Setting(Fraction("0.04"), "1.5", 2250, "1e-5"), "6.7774"),
    Claim("Opacus, tests of accountants", "central limit", Setting(Fraction("0.04"), "1.5", 2250, "1e-5"), "6.60"),
)
"""Each was read where it is published; an epoch has 1/q steps, rounded up for all epochs together."""

CLAIM_HEADER = ("published by", "accountant", "q", "σ", "steps", "δ", "claimed ε", "certified ε", "claimed is")


def claim_rows() -> Iterator[tuple[str, ...]]:
    """One line for each claim."""
    for claim in CLAIMS:
        bound = total_of(claim.setting.run, delta=claim.setting.delta).bound
        claimed = float(claim.epsilon)
        beyond = f"{100 * (claimed / bound.upper - 1):+.1f} %"
        verdict = f"**below the truth**, {beyond}" if claimed < bound.lower else beyond
        shown = shown_up(bound.upper, _DIGITS)
        yield claim.source, claim.by, *claim.setting.cells(), claim.epsilon, shown, verdict


class Report(NamedTuple):
    """A public report about an accountant: what it said, and the setting; a target where noise was sought."""

    where: str
    said: str
    setting: Setting
    target: str | None = None


def _setting(rate: str, sigma: str, steps: int, delta: str) -> Setting:
    return Setting(Fraction(rate), sigma, steps, delta)


REPORTS = (
    Report("prv_accountant#17", "−.044 to .156", _setting("0.00033", "4", 10_000, "1.1e-18")),
    Report("prv_accountant#17", "3.7 to 3.9", _setting("0.00033", "4", 10_000, "1.13e-18")),
    Report("prv_accountant#17, its q not rounded", "3.7 to 3.9", _setting("1/3000", "4", 10_000, "1.13e-18")),
    Report("prv_accountant#17, its q not rounded", "3.83 to 4.03", _setting("1/2600", "4", 10_000, "1.13e-18")),
    Report("prv_accountant#42", "an error about means", _setting("0.2", "1", 10, "1e-5")),
    Report("opacus#585", "a negative ε", _setting("0.2", "1.2", 1, "0.08")),
    Report("tensorflow/privacy#166", "0, thought to be wrong", _setting("0.00105", "1", 1, "1e-3")),
    Report("opacus#604, #601, prv_accountant#36", "an error about means", _setting("0.01", "", 500, "1e-5"), "50"),
    Report("Safe-Synthesizer#351", "overflows or hangs", _setting("0.01", "", 500, "1e-5"), "1000"),
)
"""The last two reports name targets and no whole setting; q and steps are ours; that of #585 is Opacus' test."""

REPORT_HEADER = ("report", "what they got", "q", "σ", "steps", "δ", "our ε", "width", "processor time")


def report_rows() -> Iterator[tuple[str, ...]]:
    """One line for each report."""
    for report in REPORTS:
        setting, began = report.setting, time.process_time()
        if report.target is None:
            bound, sigma = total_of(setting.run, delta=setting.delta).bound, setting.sigma
        else:
            found = found_noise(_with_noise(setting), report.target, setting.delta)
            bound, sigma = found.bound, f"{float(found.value):g} found for ε = {report.target}"
        taken = duration(time.process_time() - began)
        rate, _, steps, delta = setting.cells() if setting.sigma else setting._replace(sigma="1").cells()
        sides = f"{shown_down(bound.lower, _DIGITS)} to {shown_up(bound.upper, _DIGITS)}"
        yield report.where, report.said, rate, sigma, steps, delta, sides, f"{bound.width:.0e}", taken


def _with_noise(setting: Setting) -> Callable[[Number], TrainingRun]:
    schedule = schedule_of(rate=setting.rate, steps=setting.steps)
    return lambda sigma: TrainingRun((Phase(exact(sigma, "sigma"), schedule),))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """As Markdown."""
    return "\n".join(line(row) for row in (header, ["---"] * len(header), *rows))


def main() -> None:
    """Print, and write if asked."""
    parser = argparse.ArgumentParser(prog="python -m bench.training.claims", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/training.md")
    options = parser.parse_args()
    tables = {
        "claims": table(CLAIM_HEADER, claim_rows()),
        "reports": table(REPORT_HEADER, report_rows()),
    }
    print("\n\n".join(tables.values()))
    if options.write:
        text = PAGE.read_text(encoding="utf-8")
        for name, made in tables.items():
            (head, rest), end = text.split(start := f"<!-- {name} -->\n"), f"<!-- end of {name} -->"
            _, tail = rest.split(end)
            text = f"{head}{start}{made}\n{end}{tail}"
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
