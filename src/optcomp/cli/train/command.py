"""The command `train`: what a training run with noisy gradients costs, proved, or the noise that meets a target."""

from __future__ import annotations

from optcomp.cli import options as shared
from optcomp.cli.failures import Complaint
from optcomp.cli.progress import working
from optcomp.cli.train import options
from optcomp.cli.writing.printing import console, print_json

_MOST_POINTS = 1000
"""Rows of a table beyond which nobody reads on."""


def train(
    examples: options.Examples = None,
    batch: options.Batch = None,
    epochs: options.Epochs = None,
    rate: options.Rate = None,
    steps: options.Steps = None,
    sigma: options.Sigma = None,
    delta: options.Delta = None,
    epsilon: options.Epsilon = None,
    schedule: options.ScheduleFile = None,
    batches: options.BatchKind = "poisson",
    neighbours: options.Neighbouring = None,
    algorithm: options.AlgorithmName = "dp-sgd",
    group: options.Group = "1",
    accumulate: options.Accumulate = "1",
    clip_sigma: options.CountSigma = None,
    over_steps: options.Over = None,
    plot: options.Plot = None,
    alone: options.Alone = False,
    certificate: shared.Certificate = None,
    as_json: shared.Json = False,
) -> None:
    """What a training run with noisy gradients costs: a proved ε, or the σ, batch or epochs that meet a target.

    optcomp train --examples 60000 --batch 256 --epochs 20 --sigma 1.1 --delta 1e-5

    optcomp train --rate 0.01 --steps 10000 --sigma 1 --delta 1e-6 --over-steps 10 --plot run.png

    optcomp train --examples 60000 --batch 256 --epochs 20 --epsilon 3 --delta 1e-5

    optcomp train --examples 60000 --schedule phases.csv --delta 1e-5 --certificate run.json
    """
    from optcomp.cli.drawing import check_target
    from optcomp.cli.train import steps_plot
    from optcomp.cli.train.answering import answered
    from optcomp.cli.train.given import delta_of, in_words, train_given
    from optcomp.cli.writing.files import write_json
    from optcomp.reading import whole_number
    from optcomp.training import over_steps as curve

    if delta is None and epsilon is None:
        raise Complaint("give --delta, --epsilon, or both for a target")
    if plot is not None:
        check_target(plot)
    points = 0 if over_steps is None else whole_number(over_steps, "--over-steps", 1, _MOST_POINTS)
    numbers = {"sigma": sigma, "rate": rate, "batch": batch, "steps": steps, "epochs": epochs}
    with working("training"), in_words():
        given = train_given(numbers, examples, schedule, batches, neighbours, algorithm, group, accumulate, clip_sigma)
        answer = answered(given, delta, epsilon, points, alone)
    if certificate is not None:
        write_json(certificate, answer.total.single.certificate(), "--certificate")
    if plot is not None:
        drawn = list(curve(answer.run, steps_plot.POINTS, delta=delta, epsilon=None if delta else epsilon))
        steps_plot.draw(answer.run, drawn, delta_of(delta), plot, not alone)
    if as_json:
        print_json(answer.as_dict())
        return
    answer.show()
    for what, path in (("certificate", certificate), ("plot", plot)):
        if path is not None:
            console().print(f"The {what} is in {path}", markup=False, soft_wrap=True)
