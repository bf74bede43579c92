"""The options of `train`, with what help says about them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def _text(name: str, metavar: str, words: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(name, metavar=metavar, help=words, show_default=False)
    return option


Examples = Annotated[str | None, _text("--examples", "N", "Training examples.")]
Batch = Annotated[
    str | None, _text("--batch", "N", "Expected size of a batch; the rate is batch/examples. Left out: it is sought.")
]
Epochs = Annotated[str | None, _text("--epochs", "N", "Passes over the data. Left out: as many as fit are sought.")]
Rate = Annotated[str | None, _text("--rate", "q", "The chance of an example to be in a batch, in place of --batch.")]
Steps = Annotated[str | None, _text("--steps", "N", "Noisy steps, in place of --epochs.")]
Sigma = Annotated[
    str | None, _text("--sigma", "σ", "Noise over the clip norm (noise multiplier). Left out: the least is sought.")
]
Delta = Annotated[str | None, _text("--delta", "δ", "Total δ, e.g. 1e-5: asks for the least ε.")]
Epsilon = Annotated[
    str | None, _text("--epsilon", "ε", "Total ε: asks for the least δ; with --delta, the target to be met.")
]
ScheduleFile = Annotated[
    str | None,
    _text(
        "--schedule",
        "FILE",
        "Phases one after another: CSV, JSON or YAML with sigma, rate or batch, steps or epochs; what is missing "
        "comes from the options.",
    ),
]
BatchKind = Annotated[
    str,
    typer.Option(
        "--batches",
        metavar="KIND",
        help="How batches are drawn: poisson, without-replacement (of fixed size, anew in each step), shuffled or "
        "fixed. Others are refused with the reason.",
    ),
]
Neighbouring = Annotated[
    str | None,
    _text("--neighbours", "KIND", "add-remove, zero-out or replace; by default the first that the batches allow."),
]
AlgorithmName = Annotated[
    str,
    typer.Option("--algorithm", metavar="NAME", help="dp-sgd, dp-adam, dp-fedavg; dp-ftrl, dp-mf, banded are refused."),
]
Group = Annotated[str, typer.Option("--group", metavar="K", help="Examples that one person may have.")]
Accumulate = Annotated[
    str,
    typer.Option("--accumulate", metavar="N", help="Physical batches (of --batch) for each noisy step."),
]
CountSigma = Annotated[
    str | None,
    _text(
        "--clip-sigma",
        "σ",
        "Adaptive clipping: noise of the count of clipped gradients over how far one example moves it, a second "
        "query in every step.",
    ),
]
Over = Annotated[
    str | None, _text("--over-steps", "POINTS", "Also what the run has cost after so many evenly spaced steps.")
]
Plot = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Draw the cost over the steps, beside other accountants: .png, .svg or .pdf."),
]
Alone = Annotated[bool, typer.Option("--alone", help="Leave out what RDP, PRV and GDP accountants would say.")]
