"""Charts: every curve has a colour of the style sheet, a dash pattern of its own, and a name in the legend."""

from __future__ import annotations

import re
from pathlib import Path

from optcomp.pages import charts
from optcomp.pages.charts import Curve, line_chart

STYLES = (Path(charts.__file__).parent / "assets" / "site.css").read_text(encoding="utf8")


def test_every_curve_has_a_colour_of_the_style_sheet() -> None:
    curves = [Curve(f"curve {number}", ((0.0, 1.0), (1.0, 2.0 + number))) for number in range(1, 9)]
    drawn = str(line_chart(curves, title="totals", across="k", up="ε"))
    found = [int(each) for each in re.findall(r'<polyline class="line series-(\d+) ', drawn)]
    assert found == [1, 2, 3, 4, 5, 6, 1, 2]
    assert all(f".chart .series-{number} {{" in STYLES for number in found)
    legend = re.findall(r'<line class="line series-(\d+) dash-(\d+)"', drawn)
    assert legend == [(str(colour), str(number)) for number, colour in enumerate(found, 1)]
    assert all(f">{curve.name}<" in drawn for curve in curves)


def test_nothing_to_draw_is_no_chart() -> None:
    assert line_chart([Curve("none", ())], title="totals", across="k", up="ε") == ""
