"""Exchanges carried out over HTTP, by waiting or by an event loop."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from optcomp.client.exchange import Call, Flow, Reply, Wait, reply_of
from optcomp.errors import InvalidInput

T = TypeVar("T")
_MOST_RETRIES = 100
"""More would only hide that nobody answers."""


def checked(url: str, token: str, timeout: float, retries: int) -> dict[str, Any]:
    """What a client of httpx is made with."""
    if not isinstance(url, str) or urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
        raise InvalidInput("url", url, "must be an address such as https://center.example.org")
    if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token:
        raise InvalidInput("token", "(not shown)", "must be a token such as the owner gave you")
    if not isinstance(timeout, int | float) or not 0 < timeout < 1e6:
        raise InvalidInput("timeout", timeout, "must be a number of seconds above 0")
    if not isinstance(retries, int) or not 0 <= retries <= _MOST_RETRIES:
        raise InvalidInput("retries", retries, f"must be a whole number from 0 to {_MOST_RETRIES}")
    return {"base_url": url.rstrip("/"), "headers": {"Authorization": f"Bearer {token}"}, "timeout": timeout}


def carry_out(http: httpx.Client, flow: Flow[T]) -> T:
    """What an exchange finds out."""
    answer: Reply | None = None
    try:
        while True:
            step = flow.send(answer)
            answer = None
            if isinstance(step, Wait):
                time.sleep(step.seconds)
                continue
            with suppress(httpx.TransportError):  # nobody answered: the exchange decides whether to try again
                answer = _read(http.request(**_request(step)))
    except StopIteration as done:
        result: T = done.value
        return result


async def carry_out_async(http: httpx.AsyncClient, flow: Flow[T]) -> T:
    """The same, while others may go on."""
    answer: Reply | None = None
    try:
        while True:
            step = flow.send(answer)
            answer = None
            if isinstance(step, Wait):
                await asyncio.sleep(step.seconds)
                continue
            with suppress(httpx.TransportError):  # as there
                answer = _read(await http.request(**_request(step)))
    except StopIteration as done:
        result: T = done.value
        return result


def _request(call: Call) -> dict[str, Any]:
    return {"method": call.method, "url": call.path, "json": None if call.body is None else dict(call.body)}


def _read(response: httpx.Response) -> Reply:
    return reply_of(response.status_code, response.content, response.headers)
