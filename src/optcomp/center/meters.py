"""Counts and times of requests, in the text form that monitoring reads; no names of people, no values.

Each worker process counts for itself: a label says which one.
"""

from __future__ import annotations

import os
import threading
from collections import defaultdict

_BOUNDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)
"""Seconds: the steps in which times are counted."""


class Meters:
    """How many requests there were for each route and status, and how long they took."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self._steps = [0] * len(_BOUNDS)
        self._seconds, self._count = 0.0, 0

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        with self._lock:
            self._requests[method, route, status] += 1
            self._seconds += seconds
            self._count += 1
            for place, bound in enumerate(_BOUNDS):
                self._steps[place] += seconds <= bound

    def text(self, gauges: dict[str, float]) -> str:
        """All of it, in the format of Prometheus."""
        worker = f'worker="{os.getpid()}"'
        with self._lock:
            requests, steps = dict(self._requests), list(self._steps)
            total, count = self._seconds, self._count
        lines = ["# HELP optcomp_requests_total Requests answered.", "# TYPE optcomp_requests_total counter"]
        for (method, route, status), number in sorted(requests.items()):
            labels = f'{worker},method="{method}",route="{route}",status="{status}"'
            lines.append(f"optcomp_requests_total{{{labels}}} {number}")
        lines += [
            "# HELP optcomp_request_seconds Time to the end of a response.",
            "# TYPE optcomp_request_seconds histogram",
        ]
        for bound, number in zip((*map(str, _BOUNDS), "+Inf"), (*steps, count), strict=True):
            lines.append(f'optcomp_request_seconds_bucket{{{worker},le="{bound}"}} {number}')
        lines += [
            f"optcomp_request_seconds_sum{{{worker}}} {total:.6f}",
            f"optcomp_request_seconds_count{{{worker}}} {count}",
        ]
        for name, value in sorted(gauges.items()):
            lines += [f"# TYPE optcomp_{name} gauge", f"optcomp_{name}{{{worker}}} {value:g}"]
        return "\n".join(lines) + "\n"
