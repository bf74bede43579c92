"""Runs the command `optcomp` inside the test's own process.

A test that needs the process itself (pipes, signals, encodings, imports) is in `test_cli_process.py`.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

from optcomp.cli.main import app
from optcomp.interactive import quotas

_command = cache(get_command)
"""Build the command once: its forty subcommands take 20 ms, more than most of them need to run."""


@dataclass(frozen=True)
class Result:
    """What a command printed, and its exit code."""

    exit_code: int
    stdout: str
    stderr: str


def invoke(
    words: str | Sequence[str],
    text: str | bytes | None = None,
    *,
    env: Mapping[str, str | None] | None = None,
    charset: str = "utf-8",
) -> Result:
    """Run `optcomp` with these words, or with a line of a shell, and with this text on standard input.

    `env` sets variables of the environment for this call; None removes one.  An exception that the command does not
    handle passes through.
    """
    env = {"FORCE_COLOR": None, **(env or {})}
    arguments = shlex.split(words) if isinstance(words, str) else list(words)
    with CliRunner(charset=charset, env=env).isolation(input=text) as (stdout, stderr, _), _new_record():
        code = _exit_code(_command(app), arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        printed = [stream.getvalue().decode(charset) for stream in (stdout, stderr)]
    return Result(code, *printed)


def _exit_code(command: Any, arguments: list[str]) -> int:
    try:
        command.main(args=arguments, prog_name="optcomp")
    except SystemExit as end:
        return int(end.code or 0)
    raise AssertionError("the command returned, where the program ends with an exit code")


@contextmanager
def _new_record() -> Iterator[None]:
    """Forget, for the time of a command, which tables this process has answered about: a new process knows of none."""
    before, quotas.RECORD = quotas.RECORD, quotas.Record()
    try:
        yield
    finally:
        quotas.RECORD = before
