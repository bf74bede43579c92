"""The planner's page: how long somebody waits for new errors after an edit of a plan of a hundred statistics.

A real server on loopback; the form of the page is sent as a browser sends it while somebody types.  The first edit
comes to a process that has seen nothing of the plan but what its draft keeps.  Each edit is answered with errors and
the certified total; comparisons with other ways to add up are asked for when the typing stops, here after every fifth
edit.
"""

from __future__ import annotations

import re
import time
from html import unescape
from statistics import median
from typing import Any

import httpx
from rich.console import Console

from bench.planning import document
from bench.report import Section
from bench.rows import duration
from optcomp.center import demo_server
from optcomp.planner import dumped

STATISTICS, EDITS, STOPS = 100, 40, 5
"""Of the plan, how often one of its errors is changed, and after how many edits somebody stops typing."""
ALLOWED = 0.200
"""Seconds within which new errors must be there."""


def section(quick: bool, console: Console) -> Section:
    """Cold, after the first edit, and after others."""
    with console.status(f"a plan of {STATISTICS} statistics in the browser's form"):
        cold, edits, stops = _measured(10 if quick else EDITS)
    made = Section("The planner's page", f"{STATISTICS} statistics; new errors are wanted within {duration(ALLOWED)}.")
    ranked = sorted(edits)
    times = (cold, edits[0], median(edits), ranked[int(0.95 * len(ranked))], median(stops))
    header = ("plan from a file", "first edit", "edits, median", "edits, 95th percentile", "comparisons, median")
    made.add(
        f"Seconds from sending the form until all of the answer is there, {len(edits)} edits",
        header,
        [tuple(map(duration, times))],
    )
    return made


def _measured(edits: int) -> tuple[float, list[float], list[float]]:
    with demo_server() as told, httpx.Client(base_url=told["url"], timeout=60) as client:
        client.post("/sign-in", data={"token": told["owner"], "next": "/planner"})
        proof = _fields(client.get("/planner").text)["proof"]
        started = time.perf_counter()
        found = client.post("/planner", data={"begin": "text", "text": dumped(document(STATISTICS)), "proof": proof})
        cold = time.perf_counter() - started
        path = found.headers["location"]
        fields = _fields(client.get(path).text)
        first, taken, stops = float(fields["error-3"]), list[float](), list[float]()
        for turn in range(edits):
            fields["error-3"] = f"{first * (1.2 + turn / 50):.6g}"
            started = time.perf_counter()
            page = client.post(path, data=fields, headers={"X-Live": "1"})
            taken.append(time.perf_counter() - started)
            if page.status_code != 200:
                raise RuntimeError(f"the page was refused with {page.status_code}")
            if turn % STOPS == STOPS - 1:
                stops.append(_compared(client, page.text))
            fields = _fields(page.text)
        return cold, taken, stops


def _compared(client: httpx.Client, text: str) -> float:
    """Seconds until the comparisons are there that a page leaves for later."""
    found = re.search(r'data-follow="([^"]*)"', text)
    if found is None:
        raise RuntimeError("the page left nothing for later")
    started = time.perf_counter()
    page = client.get(unescape(found.group(1)), headers={"X-Live": "1"})
    if page.status_code != 200 or "data-late" in page.text:
        raise RuntimeError(f"the comparisons were refused with {page.status_code}")
    return time.perf_counter() - started


def _fields(text: str) -> dict[str, Any]:
    """All fields of a page as a browser would send them."""
    found: dict[str, Any] = {}
    for mark in re.findall(r"<input[^>]*>", text):
        given = dict(re.findall(r'([\w-]+)="([^"]*)"', mark))
        if given.get("type") != "checkbox" or " checked" in mark:
            found[given.get("name", "")] = unescape(given.get("value", "on"))
    for name, options in re.findall(r'<select[^>]*name="([\w-]+)"[^>]*>(.*?)</select>', text, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', options) or re.search(
            '<option value="([^"]*)"', options
        )
        found[name] = chosen.group(1) if chosen else ""
    return found
