"""Calls that schemathesis makes up from the published description of a centre, by everybody, on real objects and none.

No status from 500 on; every response is as it is described, and every error in its one form; no word of the table is in
any response or line of the log: the table has cells with a word that no declaration names.  Exit code 1 on any
finding.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from optcomp.center.problems import Problem
from optcomp.center.service import Service
from optcomp.interactive import SparseVector
from optcomp.statistics import Count, Histogram, Question, Sum
from tests.unit.center.served import SECRET, Served, served

CALLS = 10_000
_CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
_SPARE = "zoe"
"""Somebody whom nobody misses: people are suspended here."""
_QUESTIONS = [
    Question(Count(), epsilon="1/1000").document(),
    Question(Count("region == 'south'"), epsilon="1/1000").document(),
    Question(Histogram("region"), epsilon="1/1000").document(),
    Question(Sum("age"), epsilon="1/1000").document(),
    {"statistic": {"count": "rows", "where": f"region == '{SECRET[:4]}'"}, "noise": "laplace", "epsilon": "1/1000"},
    {"statistic": {"count": "rows"}, "noise": "laplace", "epsilon": "1000000"},
]
_MECHANISM = SparseVector(epsilon="1/1000", threshold=10, sensitivity=2, positives=1).document()
_REAL = 0.6
"""The share of calls whose numbers and names are made real."""
_QUICK = "/dev/shm" if os.path.isdir("/dev/shm") else None


class Caller:
    """Makes calls, and remembers what is wrong."""

    def __init__(self, center: Served, chance: random.Random) -> None:
        self._center, self._chance = center, chance
        self.wrong: list[str] = []
        self.statuses: Counter[int] = Counter()
        self._seats = [center.seat("ada", "10"), center.seat("ben", "10")]
        center.service.people.add(_SPARE, "analyst", by="olga")
        path = f"/api/v1/seats/{self._seats[0]}/mechanisms"
        opened = center.call("post", path, "ada", {"mechanism": _MECHANISM}).json()
        self._numbers = [opened["mechanism"], opened["mechanism"] + 1, 1]

    def call(self, case: Any) -> None:
        """One call, by somebody."""
        if self._chance.random() < _REAL:
            self._make_real(case)
        made = requests.Request(**_known(case)).prepare()
        who = self._chance.choice(["ada", "ben", "olga", "omar", "ruth", *self._fitting(case.operation.path) * 4, None])
        headers = {name: value for name, value in made.headers.items() if name.lower() not in ("host", "cookie")}
        content = made.body.encode() if isinstance(made.body, str) else made.body
        address = str(made.url).removeprefix("http://localhost")
        try:
            found = self._center.call(str(made.method), address, who, content=content, headers=headers)
        except (httpx.InvalidURL, httpx.LocalProtocolError, ValueError):
            return  # nobody can send this
        self.statuses[found.status_code] += 1
        self._judge(case, who, found)

    def _fitting(self, path: str) -> list[str]:
        return ["olga"] if "/owner/" in path else ["ruth"] if "/audit/" in path else ["ada"]

    def _make_real(self, case: Any) -> None:
        """Numbers and names of what is there, and questions that can be read."""
        about, path = case.path_parameters or {}, case.operation.path
        for name in about:
            if name == "id" and "/tokens/" not in path:
                about[name] = self._chance.choice(self._seats)
            if name == "number":
                about[name] = self._chance.choice(self._numbers)
            if name == "name":
                about[name] = _SPARE if "/people/" in path else "survey"
        if isinstance(case.body, dict):
            self._real_body(case.body, path)

    def _real_body(self, body: dict[str, Any], path: str) -> None:
        ask = self._chance.choice(_QUESTIONS)
        known: dict[str, Any] = {"question": ask, "mechanism": _MECHANISM, "analyst": _SPARE, "scope": ["survey"]}
        known |= {"questions": [ask] * 2, "ask": {"statistic": ask["statistic"]}, "source": "people.parquet"}
        for name in body.keys() & known.keys():
            if self._chance.random() < 0.8:
                body[name] = known[name]
        if "/people/" in path and "scope" in body:
            body["scope"] = None

    def _judge(self, case: Any, who: str | None, found: httpx.Response) -> None:
        where = f"{found.status_code} to {who}: {case.operation.label}"
        if found.status_code >= 500:
            self.wrong.append(f"{where}: {found.text[:300]} for {case.body!r:.300}")
        if found.status_code >= 400 and not {"error", "message"} <= found.json().keys():
            self.wrong.append(f"{where}: an error in another form: {found.text[:300]}")
        if SECRET in found.text:
            self.wrong.append(f"{where}: tells a word of the table")
        if found.status_code == 401 and who is not None:  # tokens are revoked here
            self._center.tokens[who] = self._center.service.people.token(who, by="olga")
        try:
            case.validate_response(found, checks=_CHECKS)
        except (Failure, FailureGroup) as failure:
            self.wrong.append(f"{where}: {str(failure)[:500]}")


def _known(case: Any) -> dict[str, Any]:
    made: dict[str, Any] = case.as_transport_kwargs(base_url="http://localhost")
    names = ("method", "url", "headers", "params", "data", "json", "cookies")
    return {name: made[name] for name in names if name in made}


def tells(service: Service) -> None:
    """A centre that is broken on purpose: a refusal quotes a cell."""

    async def call(job: str, **arguments: Any) -> dict[str, Any]:
        raise Problem("invalid", f"{job}: {SECRET} is not in the domain")

    service.call = call  # type: ignore[method-assign]


def fails(service: Service) -> None:
    """A centre that is broken on purpose: nothing works where a question is read."""

    async def call(job: str, **arguments: Any) -> dict[str, Any]:
        raise RuntimeError(job)

    service.call = call  # type: ignore[method-assign]


BROKEN: dict[str, Callable[[Service], None]] = {"tells": tells, "fails": fails}
"""By name."""


def run(
    calls: int, start: int, broken: str | None = None, *, only: tuple[str, ...] = ("",), processes: bool = True
) -> tuple[Counter[int], list[str]]:
    """So many calls, spread over all operations, right and wrong ones; statuses and findings.

    `only` is what the paths of operations end with, and `processes` says whether a process answers questions.
    """
    load_all_checks()
    with TemporaryDirectory(prefix="optcomp-", dir=_QUICK, ignore_cleanup_errors=True) as folder:
        log = Path(folder) / "log"
        with _logged(log), served(Path(folder) / "home", processes=processes) as center:
            caller = Caller(center, random.Random(start))
            if broken is not None:
                BROKEN[broken](center.service)
            schema = schemathesis.openapi.from_dict(center.app.openapi())
            operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
            operations = [each for each in operations if each.path.endswith(only)]
            modes = [GenerationMode.POSITIVE, GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
            turn = 0
            while (left := calls - sum(caller.statuses.values())) > 0:
                each = -(-left // (len(operations) * len(modes)))
                for operation in operations:
                    for mode in modes:
                        turn += 1
                        _make(caller, operation, mode, each, start + turn)
            if center.service.ledger.verify().findings:
                caller.wrong.append("the ledger does not verify")
        lines = log.read_text(errors="replace").splitlines()
    caller.wrong += [f"the log has a word of the table: {line[:300]}" for line in lines if SECRET in line]
    caller.wrong += [
        f"the log has a failure: {line[:300]}" for line in lines if "failure" in line or "Traceback" in line
    ]
    if len(lines) < sum(caller.statuses.values()):
        caller.wrong.append(f"the log has {len(lines)} lines only")
    return caller.statuses, caller.wrong


def _make(caller: Caller, operation: Any, mode: GenerationMode, count: int, start: int) -> None:
    """Some calls of one operation."""
    quick = settings(
        max_examples=count,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        derandomize=False,  # the seed decides, whatever the profile says
        suppress_health_check=list(HealthCheck),
    )

    @seed(start)
    @quick
    @given(case=operation.as_strategy(generation_mode=mode))
    def made(case: Any) -> None:
        caller.call(case)

    with suppress(Unsatisfiable):  # of an operation without any argument there are no wrong calls
        made()


@contextmanager
def _logged(path: Path) -> Iterator[None]:
    """Whatever this process and its children write on standard error goes into a file."""
    sys.stderr.flush()
    before = os.dup(2)
    with open(path, "wb") as file, open(2, "w", closefd=False) as plain:
        os.dup2(file.fileno(), 2)
        kept, sys.stderr = sys.stderr, plain
        try:
            yield
        finally:
            plain.flush()
            sys.stderr = kept
            os.dup2(before, 2)
            os.close(before)


def main(arguments: Sequence[str]) -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.center_calls", description=__doc__)
    parser.add_argument("--calls", type=int, default=CALLS, help="(%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(%(default)s)")
    parser.add_argument("--broken", choices=BROKEN, help="a centre that is broken on purpose")
    options = parser.parse_args(arguments)
    begun = time.monotonic()
    statuses, wrong = run(options.calls, options.seed, options.broken)
    told = ", ".join(f"{count} × {status}" for status, count in sorted(statuses.items()))
    print(
        f"{sum(statuses.values())} calls in {time.monotonic() - begun:.0f} s: {told}; {len(wrong)} findings", flush=True
    )
    for line in sorted(set(wrong))[:30]:
        print("FOUND", line)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
