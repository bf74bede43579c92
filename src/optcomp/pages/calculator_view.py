"""What the calculator's page is about, read from its address, and the pictures that it shows.

The whole state is in the address, so a link shows the same page to everybody.  What was typed is public, and nothing of
it is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from markupsafe import Markup
from starlette.datastructures import QueryParams

from optcomp.center import ROWS
from optcomp.pages.charts import Curve, line_chart
from optcomp.pages.words import Words

MOST_TEXT = 6000
"""Letters of the text: an address with more is refused by browsers and proxies; a file may be longer."""
MOST_ROWS = 40
"""Of the table: more is better pasted."""
_CELLS = ("kind", "first", "second", "count")
_LONGEST = 200
"""Letters of any other field."""
_USUAL = {"epsilon": "1e-6", "delta": "1"}
"""What is given at first: δ where ε is sought, and ε where δ is."""
_FIELDS = 1000
"""Of a state: four for each row, and a few others."""
_FEWEST = 3
"""Points of a curve that is not finished: fewer would look like a straight line."""
EXAMPLES = (
    ("counts", "mechanisms=0.1x50+0.2%2C1e-9x50&sought=epsilon&at=1e-6"),
    ("mixed", "mechanisms=0.1x50+0.2%2C1e-9x50+gaussian%28sigma%3D4%29x100&sought=epsilon&at=1e-6"),
    ("training", "sought=epsilon&at=1e-6&rate=0.01&noise=1&steps=1000"),
)
"""What to try first: its sentence, and its address."""


@dataclass(frozen=True)
class State:
    """Everything that somebody entered."""

    mechanisms: str = ""
    rows: tuple[Mapping[str, str], ...] = ()
    training: tuple[str, str, str] = ("", "", "")
    sought: str = "epsilon"
    at: str = _USUAL["epsilon"]
    adaptive: bool = False
    more: bool = False

    @property
    def empty(self) -> bool:
        """Whether there is nothing to calculate."""
        return not (self.mechanisms.strip() or any(map(_filled, self.rows)) or any(self.training))

    @property
    def given(self) -> dict[str, Any]:
        """The same for the process that calculates."""
        rate, noise, steps = self.training
        return {
            "mechanisms": self.mechanisms,
            "rows": [dict(row) for row in self.rows],
            "training": {"rate": rate, "noise": noise, "steps": steps},
            "sought": self.sought,
            "at": self.at,
            "adaptive": self.adaptive,
        }

    @property
    def query(self) -> str:
        """The state as the end of an address; rows without an entry are left out."""
        pairs = [("mechanisms", self.mechanisms)] if self.mechanisms.strip() else []
        pairs += [(cell, row[cell]) for row in self.rows if _filled(row) for cell in _CELLS]
        pairs += [(name, value) for name, value in zip(("rate", "noise", "steps"), self.training, strict=True) if value]
        pairs += [("sought", self.sought), ("at", self.at)]
        pairs += [(name, "yes") for name in ("adaptive", "more") if getattr(self, name)]
        return urlencode(pairs)

    def with_more(self) -> State:
        """The same, with more time for the curves."""
        return replace(self, more=True)


def _filled(row: Mapping[str, str]) -> bool:
    return any(row[cell].strip() for cell in _CELLS[1:])


def state_of(query: QueryParams) -> State:
    """The state that an address says; what it does not say is as usual."""
    sought = "delta" if query.get("sought") == "delta" else "epsilon"
    rows = _rows(query)
    number = query.get("drop", "")
    if number.isdecimal() and 0 < int(number[:4]) <= len(rows):
        del rows[int(number[:4]) - 1]
    if "add" in query and len(rows) < MOST_ROWS:
        rows.append(_row())
    return State(
        mechanisms=query.get("mechanisms", ""),
        rows=tuple(rows),
        training=(_short(query.get("rate", "")), _short(query.get("noise", "")), _short(query.get("steps", ""))),
        sought=sought,
        at=_short(query.get("at", _USUAL[sought])),
        adaptive="adaptive" in query,
        more="more" in query,
    )


def state_in(text: str) -> State:
    """The state that a hidden field says; of one that our pages did not make, the beginning."""
    with suppress(ValueError):
        return state_of(QueryParams(parse_qsl(text, keep_blank_values=True, max_num_fields=_FIELDS)))
    return State()


def _rows(query: QueryParams) -> list[Mapping[str, str]]:
    columns = [query.getlist(cell)[:MOST_ROWS] for cell in _CELLS]
    longest = max(map(len, columns))
    filled = [[*(_short(each) for each in column), *[""] * (longest - len(column))] for column in columns]
    return [_row(*cells) for cells in zip(*filled, strict=True)]


def _row(kind: str = "", first: str = "", second: str = "", count: str = "") -> Mapping[str, str]:
    return {"kind": kind if kind in ROWS else "pair", "first": first, "second": second, "count": count}


def _short(text: str) -> str:
    return text[:_LONGEST].strip()


def parameters_of(kind: str) -> Sequence[str]:
    """The parameters of a row, one or two."""
    return ROWS[kind][1]


def pictures(found: Mapping[str, Any], t: Words) -> dict[str, Markup]:
    """A picture for every curve that has enough points to be one."""
    enough = {
        name: curve for name, curve in found.items() if len(curve["points"]) >= (2 if curve["whole"] else _FEWEST)
    }
    return {name: _picture(name, curve, t) for name, curve in enough.items()}


def _picture(name: str, curve: Mapping[str, Any], t: Words) -> Markup:
    lines = [Curve(str(each["theorem"]), _points(curve, each["method"])) for each in curve["curves"]]
    return line_chart(
        lines,
        title=t(f"calculator.over_{name}.title"),
        across=t(f"calculator.over_{name}.across"),
        up=t(f"calculator.symbol.{curve['quantity']}"),
        log_across=name == "delta",
        log_up=curve["quantity"] == "delta",
        whole_across=name == "k",
    )


def _points(curve: Mapping[str, Any], method: str) -> list[tuple[float, float]]:
    pairs = ((point["x"], point["y"].get(method)) for point in curve["points"])
    return [(x, y) for x, y in pairs if y is not None]
