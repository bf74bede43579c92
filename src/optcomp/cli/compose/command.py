"""The commands `compose` and `compare`: the total of mechanisms by the best theorem, and by every one."""

from __future__ import annotations

import time

from optcomp.cli import options
from optcomp.cli.progress import working
from optcomp.cli.writing.printing import console, print_json


def compose(
    items: options.Items = None,
    files: options.From = None,
    format: options.FileFormat = None,
    delta: options.Delta = None,
    epsilon: options.Epsilon = None,
    method: options.Method = "auto",
    eta: options.Eta = None,
    rtol: options.Rtol = None,
    bits: options.Bits = None,
    adaptive: options.Adaptive = False,
    certificate: options.Certificate = None,
    as_json: options.Json = False,
) -> None:
    """The total ε (or δ) of mechanisms run on the same data, proved, and what to publish.

    optcomp compose 0.1x50 0.2,1e-9x50 --delta 1e-6

    optcomp compose 'gaussian(sigma=4)x100' 'laplace(scale=10)x20' --delta 1e-6

    optcomp compose --from release.csv --epsilon 3 --json

    optcomp compose 0.01x1000000 --delta 1e-9 --bits 200

    optcomp compose 0.1x50 0.2x50 --delta 1e-6 --certificate cert.json
    """
    from optcomp.cli.given import asked, gathered, wished
    from optcomp.cli.writing.answer_tables import AskedList, show_bound
    from optcomp.cli.writing.files import write_json

    question = asked(delta, epsilon, adaptive)
    wish = wished(method, eta, rtol, bits)
    counts = gathered(items, files, format)
    with working("composing"):
        bound = question.compose(counts, wish.method, wish.rtol, wish.eta, wish.bits)
    if certificate is not None:
        write_json(certificate, bound.certificate(), "--certificate")
    if as_json:
        print_json(bound.as_dict())
        return
    show_bound(bound, question.basic(counts), AskedList(question, counts), wish.bits)
    if certificate is not None:
        console().print(f"The certificate is in {certificate}", markup=False, soft_wrap=True)


def compare(
    items: options.Items = None,
    files: options.From = None,
    format: options.FileFormat = None,
    delta: options.Delta = None,
    epsilon: options.Epsilon = None,
    adaptive: options.Adaptive = False,
    plot: options.Plot = None,
    as_json: options.Json = False,
) -> None:
    """What every theorem says about the same mechanisms, best first.

    optcomp compare 0.01x1000 --delta 1e-9 --plot out.png

    optcomp compare 'subsampled(gaussian(sigma=1), rate=0.01)x1000' --delta 1e-6
    """
    from optcomp.cli.compose import growth_plot
    from optcomp.cli.drawing import affordable_points, check_target
    from optcomp.cli.given import asked, gathered
    from optcomp.cli.writing.answer_tables import AskedList, show_comparison
    from optcomp.composition import omitted

    question = asked(delta, epsilon, adaptive)
    counts = gathered(items, files, format)
    if plot is not None:
        check_target(plot)
    started = time.monotonic()
    with working("comparing"):
        bounds = question.compare(counts)
    if plot is not None:
        points = affordable_points(time.monotonic() - started, growth_plot.MOST_POINTS)
        with working("plot", follow=False) as tell:
            growth_plot.draw(counts, question, bounds[0], points, plot, tell)
    left_out = omitted(counts, bounds, parameters=question.parameters)
    if as_json:
        views = [bound.as_dict() for bound in bounds]
        print_json({"bounds": views, "count": bounds[0].count, "omitted": left_out})
        return
    show_comparison(bounds, AskedList(question, counts), left_out)
    if plot is not None:
        console().print(f"The plot is in {plot}", markup=False, soft_wrap=True)
