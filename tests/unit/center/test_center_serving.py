"""The socket that the server listens on."""

from __future__ import annotations

import asyncio
import socket

import pytest

from optcomp.center.serving import Listening, _bound
from optcomp.errors import InvalidInput


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_responses_are_sent_without_delay(host: str) -> None:
    """Else a response in two pieces waits for 40 ms, until the client has acknowledged the first."""
    assert asyncio.run(_delay_is_off(Listening(host, 0)))


async def _delay_is_off(listening: Listening) -> bool:
    found = asyncio.get_running_loop().create_future()

    async def accepted(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken = writer.get_extra_info("socket")
        found.set_result(bool(taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
        writer.close()

    with _bound(listening) as bound:
        async with await asyncio.start_server(accepted, sock=bound):
            _, writer = await asyncio.open_connection(*bound.getsockname()[:2])
            off = await asyncio.wait_for(found, 60)
            writer.close()
            await writer.wait_closed()
    return bool(off)


def test_two_servers_that_start_at_once_do_not_share_a_port() -> None:
    """The second is refused at once, and does not take the answers of the first for its own."""
    with _bound(Listening("127.0.0.1", 0)) as first:
        port = first.getsockname()[1]
        with pytest.raises(InvalidInput, match="cannot be listened on"):
            _bound(Listening("127.0.0.1", port))
