"""Addresses of databases: a password in one is read from a file, and never from the command line.

Everybody on a machine can list the command lines of its processes.
"""

from __future__ import annotations

import re
from typing import TypeVar

import typer

from optcomp.cli.failures import Complaint
from optcomp.cli.reading.file_text import text_of

Given = TypeVar("Given", str, str | None, list[str] | None)
_PASSWORD = re.compile(r"://[^/?#@:]*:[^@]*@|[?&](ssl)?password=", re.IGNORECASE)
"""An address with a password: before the name of the host, or among the options."""
_ADVICE = (
    "an address with a password is not taken from the command line, which others on this machine can read: "
    "write it into a file that only you may read, and give @FILE; or leave the password out, and to ~/.pgpass"
)


def given_address(param: typer.CallbackParam, value: Given) -> Given:
    """The address that somebody gave, or the one in the file that they named by @FILE."""
    name = param.opts[0] if param.opts[0].startswith("-") else str(param.metavar)
    if isinstance(value, list):
        return [_address(name, each) for each in value]
    return value and _address(name, value)


def _address(name: str, given: str) -> str:
    if given.startswith("@"):
        found = text_of(given[1:], f"{name}: {given}").strip()
        if not found or len(found.splitlines()) > 1:
            raise Complaint(f"{name}: {given}: must hold one address, and nothing else")
        return found
    if _PASSWORD.search(given):
        raise Complaint(f"{name}: {_ADVICE}")
    return given
