"""The command `ask`: one question to a data centre, with its cost before and what is left after."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from optcomp.cli import options
from optcomp.cli.ask.words import statistic_in
from optcomp.cli.failures import Complaint
from optcomp.cli.reading.file_text import text_of
from optcomp.cli.writing.printing import print_json, say
from optcomp.reading import plain, real_number, whole_number

if TYPE_CHECKING:
    from optcomp.client import RemoteSession
    from optcomp.interactive import Answer
    from optcomp.statistics import Question

TOKEN, SERVER = "OPTCOMP_TOKEN", "OPTCOMP_SERVER"
"""Where the token is looked for, and the server: a token on the command line would be seen by everybody there."""
_MOST_REPEATS = 1_000_000
"""More fresh answers to one question than anybody pays for."""

_Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="The data set that you have a slot for.")]
_Asked = Annotated[
    str,
    typer.Argument(
        metavar="QUESTION",
        help="What you want to know: a word of plans, its columns, and a condition after `where`; or as in a plan, "
        "such as '{quantiles: income, probabilities: [0.5]}'.",
    ),
]
_Server = Annotated[
    str | None,
    typer.Option(metavar="URL", help=f"The address of the centre; by default what {SERVER} says.", show_default=False),
]
_TokenFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help=f"A file with your token, - is standard input; by default the token is in {TOKEN}.",
        show_default=False,
    ),
]
_Slot = Annotated[str | None, typer.Option(metavar="NAME", help="Which slot, if you have several.", show_default=False)]
_Epsilon = Annotated[str | None, typer.Option(metavar="ε", help="What may be spent, e.g. 0.1.", show_default=False)]
_Delta = Annotated[
    str | None, typer.Option(metavar="δ", help="With --epsilon: Gaussian noise at this δ.", show_default=False)
]
_Noise = Annotated[
    str | None, typer.Option(metavar="NAME", help="How noise is added, such as laplace.", show_default=False)
]
_Key = Annotated[
    str | None,
    typer.Option(metavar="KEY", help="A name of the request: with the same one it is paid once.", show_default=False),
]
_Repeat = Annotated[str, typer.Option(metavar="N", help="Another number buys fresh noise for the same question.")]
_Confidence = Annotated[str, typer.Option(metavar="C", help="With which the interval holds, over the noise.")]
_Dry = Annotated[
    bool, typer.Option("--dry-run", help="Show the cost, and an answer about invented data; nothing is spent.")
]


def ask(
    dataset: _Dataset,
    question: _Asked,
    server: _Server = None,
    token_file: _TokenFile = None,
    slot: _Slot = None,
    epsilon: _Epsilon = None,
    delta: _Delta = None,
    noise: _Noise = None,
    key: _Key = None,
    repeat: _Repeat = "0",
    confidence: _Confidence = "0.95",
    dry_run: _Dry = False,
    as_json: options.PlainJson = False,
) -> None:
    """Ask a data centre one question within your slot: its cost, the answer with its interval, and what is left.

    The same question again has the same answer and costs nothing; --repeat 1 buys fresh noise.

    Exit code 0 if it was answered; 2 and one line if not: what does not fit is refused and costs nothing.

    optcomp ask survey 'count where age >= 65' --epsilon 0.1 --server https://center.example.org

    optcomp ask survey 'mean income' --epsilon 0.2 --dry-run

    optcomp ask survey 'histogram region' --epsilon 0.1 --delta 1e-9 --token-file token.txt --json
    """
    sure, times = real_number(confidence, "--confidence"), whole_number(repeat, "--repeat", 0, _MOST_REPEATS)
    url = server or os.environ.get(SERVER)
    if not url:
        raise Complaint(f"--server: give the address of a centre, or set {SERVER}")
    if epsilon is None:
        raise Complaint("--epsilon: say what may be spent, such as 0.1")
    statistic, token = statistic_in(question), _token(token_file)
    from optcomp.client import Client
    from optcomp.statistics import Question

    spent = {"epsilon": plain(epsilon, "--epsilon"), "delta": None if delta is None else plain(delta, "--delta")}
    asked = Question(statistic, **spent, mechanism=noise)
    with Client(url, token) as client:
        session = client.open(dataset, slot=slot)
        before = session.preview(asked, confidence=sure)
        if not as_json:
            _show_cost(before)
        answer = session.dry_run(asked) if dry_run else session.ask(asked, key=key, repeat=times)
        told = _told(session, asked, answer, sure)
    if as_json:
        print_json({"dataset": dataset, **told, "cost": before["cost"], "error": before["error"]})
    else:
        _show_answer(told)


def _token(file: str | None) -> str:
    """The token, which no message shows."""
    if file is not None:
        return text_of(file, f"--token-file {file}").strip()
    found = os.environ.get(TOKEN, "").strip()
    if not found:
        raise Complaint(f"there is no token: set {TOKEN}, or give --token-file")
    return found


def _told(session: RemoteSession, asked: Question, answer: Answer, confidence: float) -> dict[str, Any]:
    """An answer, ready for JSON."""
    left = session.remaining()
    return {
        "slot": session.name,
        "question": asked.document(),
        "words": str(asked),
        "invented": answer.invented,
        "confidence": confidence,
        "unit": asked.statistic.value_unit,
        "answers": _rows(answer, confidence),
        "left": {name: {"left": str(rest), "whole": str(whole)} for name, (rest, whole) in left.amounts.items()},
        "left_in_words": str(left),
        "receipt": answer.receipt,
    }


def _rows(answer: Answer, confidence: float) -> list[dict[str, Any]]:
    """Every number of an answer, with its interval where one follows from the noise."""
    return [
        {
            "cell": " × ".join(map(str, row.cell)) if row.cell else None,
            "value": row.value,
            "low": _finite(row.low),
            "high": _finite(row.high),
            "rows_off": row.rows_off,
        }
        for row in answer.rows(confidence)
    ]


def _finite(end: float | None) -> float | None:
    return end if end is not None and math.isfinite(end) else None


def _show_cost(before: Mapping[str, Any]) -> None:
    say(f"{before['words']}: costs {before['whole'] or before['cost'][0]['words']}; {before['error']['words']}")
    say(f"before: {before['left']}")


def _show_answer(told: Mapping[str, Any]) -> None:
    if told["invented"]:
        say("these data are invented, and say nothing about anybody; nothing was spent")
    for row in told["answers"]:
        name = "answer" if row["cell"] is None else row["cell"]
        ends = (
            "" if row["low"] is None else f", {told['confidence']:.0%} interval {row['low']:.10g} to {row['high']:.10g}"
        )
        value = row["value"] if isinstance(row["value"], str) else f"{row['value']:.10g}"
        if row["rows_off"] is None:
            say(f"{name}: {value} ({told['unit']}){ends}")
        else:
            rank = f"its rank is off by at most {row['rows_off']:.4g} rows"
            say(f"{name}: {value}, {rank} with {told['confidence']:.0%} confidence")
    say(f"after: {told['left_in_words']}")
