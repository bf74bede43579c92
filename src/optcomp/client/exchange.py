"""How a request is made, tried again and read: without any network, so that both clients share it.

An exchange is a generator.  It yields a `Call` and is sent the `Reply`, or None if nobody answered; or it yields a
`Wait`.  Whoever drives it does nothing but that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from optcomp.client.failures import NotServed, error_of

_BUSY = frozenset({424, 429, 503})
"""Statuses after which a request may be tried again: no answer yet, too many, busy."""
_FIRST_WAIT, _LONGEST_WAIT = 0.2, 60.0
"""Seconds before the second try; it doubles, and the server may ask for more."""

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """A request."""

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    again: bool = True
    """Whether it may be sent twice: it reads, or it has a key."""
    text: bool = False
    """Whether the response is wanted as text, and not as what JSON says."""


@dataclass(frozen=True)
class Reply:
    """A response."""

    status: int
    body: Any
    wait: float | None = field(default=None)
    """Seconds, if the server asks to wait."""
    text: str = field(default="", repr=False, compare=False)
    """The body as it came."""


@dataclass(frozen=True)
class Wait:
    """Nothing is to be sent for so many seconds."""

    seconds: float


Flow = Generator[Call | Wait, Reply | None, T]
"""Something that takes requests to find out."""


def exchange(call: Call, retries: int) -> Flow[Any]:
    """The body of the response; the same request again, with its key, where that may help."""
    for tried in range(retries + 1):
        reply = yield call
        last = tried == retries or not call.again
        if reply is None:
            if last:
                raise NotServed("unreachable", 0, "nobody answered")
        elif reply.status < 400:
            return reply.text if call.text else reply.body
        elif last or reply.status not in _BUSY:
            raise error_of(reply.status, reply.body if isinstance(reply.body, Mapping) else {})
        asked = reply.wait if reply is not None and reply.wait is not None else 0.0
        yield Wait(min(_LONGEST_WAIT, max(asked, _FIRST_WAIT * 2**tried)))
    raise AssertionError("the last try returns or raises")


def key_of(kind: str, form: Mapping[str, Any]) -> str:
    """The key of a request that was given none: the same question again is the same request, and is paid once."""
    text = json.dumps({"kind": kind, **form}, sort_keys=True, separators=(",", ":"))
    return f"{kind} {hashlib.sha256(text.encode()).hexdigest()}"


def reply_of(status: int, content: bytes, headers: Mapping[str, str]) -> Reply:
    """A response as it came."""
    try:
        body = json.loads(content) if content else None
    except ValueError:
        body = None
    asked = headers.get("retry-after", "")
    return Reply(status, body, float(asked) if asked.isdigit() else None, content.decode("utf8", "replace"))
