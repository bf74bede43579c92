"""Measure how strong the tests are: test mutants of the product, and report which test kills each of them.

A test suite that lost strength lets mutants survive that died before.  `mutation_draw` says which mutants there are and
how they are drawn.  They are tested in a clone of the repository in which `make setup` was run, because its files
change meanwhile; a clone of an older commit tells what older tests kill:

    python -m tests.campaign.mutations --seed 33 --count 40 --draw             # only print the mutants
    python -m tests.campaign.mutations --seed 33 --count 40 --tree ../clone --tier full --json found.json

Tests run in an order that kills quickly: test files that mention the changed code, its folder, its package, the
theorems, documentation and system tests, all others; first those of the fast tier, then, with `--tier full`, the slow
ones.  The first failure ends it.  A failure counts if the failed tests fail again with the mutant and pass without it;
others are printed and left out for this mutant.  A mutant that finishes no test for `SILENCE` seconds is killed by the
time limit.

`tests/mutants.py` is something else: tests use it to show that one chosen term of a formula matters.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path

from tests.campaign.mutation_draw import SOURCES, Mutant, draw, sources

ROOT = Path(__file__).parents[2]
SILENCE = 600.0
"""Seconds without a finished test after which a mutant counts as hanging; the slowest test takes a fourth of this."""
TIERS = {"fast": "not slow", "slow": "slow"}
"""Marker expressions of the tests of the fast tier, and of those that only the full tier has."""


@dataclass(frozen=True)
class Result:
    """What became of a mutant: `tier` names the tests that killed it, and is empty when it is not known to be dead."""

    name: str
    line: int
    tier: str
    killed_by: str
    seconds: float

    @property
    def outcome(self) -> str:
        """The same in words."""
        return f"killed by {self.killed_by}" if self.tier else self.killed_by or "survived"


def stages(tree: Path, mutant: Mutant) -> Iterator[tuple[list[str], list[str]]]:
    """Arguments of pytest for each stage: the paths to run, and options that leave out those of earlier stages."""
    module = ".".join(["optcomp", *mutant.path.removesuffix(".py").removesuffix("/__init__").split("/")])
    stem, top, own = module.rpartition(".")[2], mutant.scope.partition(".")[0], f"tests/unit/{mutant.package}"
    near = list[str]()
    for path in sorted([*(tree / "tests/unit").rglob("test_*.py"), *(tree / "tests/theorems").rglob("test_*.py")]):
        name, text = str(path.relative_to(tree)), path.read_text()
        within = top and name.startswith((own, "tests/theorems")) and re.search(rf"\b{re.escape(top)}\b", text)
        if stem in path.stem or module in text or within:
            near.append(name)
    done: list[str] = []
    beside = f"tests/unit/{Path(mutant.path).parent.as_posix()}"
    for paths in (near, [beside], [own], ["tests/theorems"], ["tests/docs", "tests/system"], ["tests"]):
        if chosen := [path for path in paths if path not in done and (tree / path).exists()]:
            yield chosen, [f"--ignore={path}" for path in done]
            done += chosen


class Clone:
    """A checkout with an environment of its own, in which mutants are tested one after the other."""

    def __init__(self, tree: Path, workers: int, seconds: float) -> None:
        self.tree, self.workers, self.seconds = tree, workers, seconds
        self._python, self._home = tree / ".venv/bin/python", tempfile.TemporaryDirectory(prefix="optcomp-mutations-")
        self._output, self._failures = (Path(self._home.name) / name for name in ("output", "v/cache/lastfailed"))
        dropped = {"PYTHONPATH", "PYTEST_ADDOPTS", "PYTHONDONTWRITEBYTECODE"}
        self._environment = {name: value for name, value in os.environ.items() if name not in dropped}
        status = subprocess.run(["git", "status", "--porcelain", "src"], cwd=tree, capture_output=True, check=True)
        if status.stdout:
            sys.exit(f"{tree / 'src'} has changes that are not committed: name a clean clone with --tree")
        command = [str(self._python), "-c", "import optcomp; print(optcomp.__file__)"]
        with suppress(OSError, subprocess.CalledProcessError):
            found = subprocess.run(command, env=self._environment, capture_output=True, text=True, check=True).stdout
            if Path(found.strip()).resolve() == (tree / SOURCES / "__init__.py").resolve():
                marked = self.pytest(None, math.inf, "--markers") and self._output.read_text()
                self.tiers = TIERS if "@pytest.mark.slow:" in marked else {"all": ""}  # commits before there were tiers
                return
        sys.exit(f"{tree / '.venv'} does not import this clone: run make setup there")

    def failed(self) -> list[str]:
        """Ids of the tests that failed last, or of files that could not be imported."""
        return list(json.loads(self._failures.read_text())) if self._failures.exists() else []

    @contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """Have the mutant in the place of the original; afterwards the file has its old time, as bytecode needs it."""
        path = self.tree / SOURCES / mutant.path
        original, times = path.read_bytes(), path.stat()
        try:
            path.write_bytes(mutant.apply(original))
            yield
        finally:
            path.write_bytes(original)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def pytest(self, mutant: Mutant | None, until: float, *arguments: str) -> str:
        """Run tests, of the mutant if there is one; return "passed", "failed", "hung" or "late"."""
        options = ["-m", "pytest", "-v", "-x", "--tb=line", "-o", f"cache_dir={self._home.name}", *arguments]
        since, size = time.monotonic(), 0
        with self.changed(mutant) if mutant else nullcontext(), self._output.open("wb") as file:
            process = subprocess.Popen(
                [self._python, *options],
                cwd=self.tree,
                env=self._environment,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                while process.poll() is None:
                    now, grown = time.monotonic(), self._output.stat().st_size
                    since, size = (now, grown) if grown > size else (since, size)
                    if now > min(since + SILENCE, until):
                        return "hung" if now > since + SILENCE else "late"
                    time.sleep(0.1)
            finally:
                _stop(process)
        return "passed" if process.returncode in (0, 5) else "failed"  # 5: all tests were deselected

    def kill(self, mutant: Mutant, *, full: bool) -> Result:
        """Run tests until one of them fails because of the mutant."""
        start, chance = time.monotonic(), list[str]()
        until = start + self.seconds

        def result(tier: str, killed_by: str) -> Result:
            return Result(mutant.name, mutant.line, tier, killed_by, round(time.monotonic() - start, 1))

        for tier, marked in self.tiers.items() if full else list(self.tiers.items())[:1]:
            for paths, ignored in stages(self.tree, mutant):
                while True:
                    left_out = [f"--deselect={name}" for name in chance]
                    chosen = [*paths, *ignored, *left_out, "-m", marked]
                    self._failures.unlink(missing_ok=True)
                    outcome = self.pytest(mutant, until, *chosen, "-n", str(self.workers))
                    if outcome == "passed":
                        break
                    if outcome == "late":
                        return result("", f"undecided after {self.seconds:.0f} s")
                    if outcome == "hung":
                        return result(tier, "the time limit")
                    failed = self.failed()
                    if killers := self.killers(mutant, until, failed, chosen):
                        return result(tier, killers[0])
                    if not failed or set(failed) & set(chance):
                        raise RuntimeError(f"tests fail without a mutant: {self._output.read_text()[-2000:]}")
                    print(f"  not counted, fails by chance or without the mutant: {', '.join(failed)}", flush=True)
                    chance += failed
        return result("", "")

    def killers(self, mutant: Mutant, until: float, failed: Sequence[str], chosen: Sequence[str]) -> list[str]:
        """Return which of the failed tests fail again with the mutant, if all of these pass without it."""
        if not failed:  # pytest itself did not start, for example because a conftest cannot be imported
            again = [*chosen, "--collect-only", "-n0"]
            ours = self.pytest(mutant, until, *again) == "failed" and self.pytest(None, until, *again) == "passed"
            return ["an error before any test"] if ours else []
        again = ["--lf", "--maxfail=1000", "-n0", "-m", "", *{name.partition("::")[0] for name in failed}]
        if self.pytest(mutant, until, *again) == "passed":
            return []
        found = self.failed()
        return found if self.pytest(None, until, *again) == "passed" else []


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End pytest and its children: first as Ctrl-C does, so that servers of tests are stopped."""
    for number in (signal.SIGINT, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(30)


def main(arguments: Sequence[str]) -> int:
    """Run what the command line asks for; exit code 1 if a mutant is alive."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.mutations", description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=33, help="of the draw (%(default)s)")
    parser.add_argument("--count", type=int, default=40, help="how many mutants are drawn (%(default)s)")
    parser.add_argument("--draw", action="store_true", help="only print the mutants")
    parser.add_argument("--only", type=int, nargs="+", help="test the mutants with these numbers of the draw")
    parser.add_argument("--tree", type=Path, default=ROOT, help="a clone in which make setup was run (this one)")
    parser.add_argument("--tier", choices=("fast", "full"), default="full", help="(%(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="of pytest (%(default)s)")
    parser.add_argument("--seconds", type=float, default=14400.0, help="for each mutant, at most (%(default)s)")
    parser.add_argument("--json", type=Path, help="results so far: what is in this file is not tested again")
    options = parser.parse_args(arguments)
    tree = options.tree.resolve()
    if not (tree / SOURCES).is_dir():
        parser.error(f"{tree} has no {SOURCES}")
    drawn = dict(zip(count(1), draw(files := sources(tree), options.seed, options.count), strict=False))
    if options.draw:
        for number, mutant in drawn.items():
            print(described(number, mutant, files[mutant.path]))
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # not without the original in its place
    clone = Clone(tree, options.workers, options.seconds)
    known = json.loads(options.json.read_text()) if options.json and options.json.exists() else []
    results = {each["name"]: Result(**each) for each in known}
    chosen = {number: drawn[number] for number in options.only or drawn}
    for number, mutant in chosen.items():
        if mutant.name not in results:
            print(f"{number}. {mutant.name}", flush=True)
            results[mutant.name] = clone.kill(mutant, full=options.tier == "full")
            print(f"  {results[mutant.name].outcome}", flush=True)
            if options.json:
                options.json.write_text(json.dumps([asdict(each) for each in results.values()], indent=1) + "\n")
    print(table(chosen, results))
    return int(any(not results[mutant.name].tier for mutant in chosen.values()))


def described(number: int, mutant: Mutant, source: bytes) -> str:
    """Return a mutant with the lines that it changes, as in a diff."""
    first, last = source.rfind(b"\n", 0, mutant.start) + 1, source.find(b"\n", mutant.end)
    before = source[first:last].decode().splitlines()
    after = mutant.apply(source)[first : last + len(mutant.text.encode()) - mutant.end + mutant.start].decode()
    diff = [f"    -{line}" for line in before] + [f"    +{line}" for line in after.splitlines()]
    return "\n".join([f"{number}. {SOURCES / mutant.path}:{mutant.line} in {mutant.scope or 'module'}", *diff])


def table(chosen: dict[int, Mutant], results: dict[str, Result]) -> str:
    """Return one row for each mutant, and the counts."""
    rows = [
        f"{number:4} {result.tier or 'ALIVE':5} {result.seconds:7.1f} s  {mutant.path}:{mutant.line}  {mutant.change}"
        f"  {result.outcome}"
        for number, mutant in chosen.items()
        for result in [results[mutant.name]]
    ]
    tiers = Counter(results[mutant.name].tier for mutant in chosen.values())
    counts = [f"{tiers[tier]} {f'killed by {tier} tests' if tier else 'alive'}" for tier in sorted(tiers, reverse=True)]
    return "\n".join([*rows, f"{len(rows)} mutants: {', '.join(counts)}"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
