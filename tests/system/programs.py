"""Programs that run each in a process of its own, forked from one that has imported what they import."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

ROOT = Path(__file__).resolve().parents[2]
_FORK = """
import atexit, gc, importlib, json, os, sys, traceback
exec(sys.argv[1])
for name in sys.argv[2:]:
    importlib.import_module(name)
gc.collect()
gc.freeze()
for line in sys.stdin:
    asked, code, names = json.loads(line), 0, {"__name__": "__main__"}
    child = os.fork()
    if child == 0:
        for number, path in enumerate(asked["printed"], 1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.argv[1:] = asked["arguments"]
        try:
            exec(compile(asked["program"], "<program>", "exec"), names)
        except SystemExit as end:
            code = end.code or 0
            if isinstance(code, str):
                print(code, file=sys.stderr)
                code = 1
        except BaseException:
            traceback.print_exc()
            code = 1
        atexit._run_exitfuncs()
        names.clear()
        gc.collect()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Forks for each line that it reads, and prints the exit code.

A program ends as any other does: what it has registered for the end is run, and all of its objects are collected.  The
modules are not: that would take longer than most programs.
"""


@dataclass(frozen=True)
class Ended:
    """A program that has ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


class Programs:
    """Runs programs, one after the other."""

    def __init__(
        self,
        imports: str,
        modules: Sequence[str] = (),
        *,
        python: str | Path = sys.executable,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`imports` is how the programs begin, `modules` are what they import later."""
        self._stack = ExitStack()
        self._folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="optcomp-")))
        command, pipe = [str(python), "-c", _FORK, imports, *modules], subprocess.PIPE
        started = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, encoding="utf-8")
        self._process = self._stack.enter_context(started)

    def run(self, program: str, *arguments: str) -> str:
        """What a program printed; AssertionError if it failed."""
        ended = self.ended(program, *arguments)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def ended(self, program: str, *arguments: str) -> Ended:
        """A program with its arguments, when it has ended."""
        printed = [str(self._folder / name) for name in ("stdout", "stderr")]
        asked = {"program": program, "arguments": arguments, "printed": printed}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        code = self._process.stdout.readline()
        assert code, "the process from which programs are forked has ended"
        return Ended(int(code), *(Path(path).read_text(encoding="utf-8") for path in printed))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()  # the process ends when nothing more can come
