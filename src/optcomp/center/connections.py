"""Connections that are closed when nothing comes: uvicorn has no limit on the time that headers may take.

Whoever sends a header line a minute would hold a connection for ever, and a few thousand of them all that a server may
have open.  So the headers of a request must have come within a time, from the beginning of the connection or from the
first byte after the response before.  The same holds for a body that goes on after its response was sent.  A connection
without a request is closed by uvicorn, after `timeout_keep_alive`.  One address may hold so many connections and no
more.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol


class LimitedConfig(uvicorn.Config):
    """The configuration of a server whose connections are limited."""

    def __init__(self, app: str, *, header_seconds: float, connections: int, **more: Any) -> None:
        self.header_seconds = header_seconds
        self.connections = connections
        """For one address; 0 is no limit."""
        super().__init__(app, http=LimitedConnection, **more)


class LimitedConnection(H11Protocol):
    """A connection that does not wait for ever."""

    config: LimitedConfig
    _until_headers: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for headers; refuse an address that has too many connections."""
        super().connection_made(transport)
        most = self.config.connections
        if most and self._held() > most:
            transport.abort()
        else:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._unwatch()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Go on waiting, unless the headers are there."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """A body that still comes is waited for no longer than headers are."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:
            self._watch()

    def _held(self) -> int:
        """Connections of this address, this one too; of those that have none by name."""
        address = self.client and self.client[0]
        return sum((each.client and each.client[0]) == address for each in self.connections)  # type: ignore[union-attr]

    def _watch(self) -> None:
        """Wait from now on for what a client has to send, if it does not do so already; or stop to wait."""
        if not self._owed() or self.transport.is_closing():
            self._unwatch()
        elif self._until_headers is None:
            self._until_headers = self.loop.call_later(self.config.header_seconds, self._end)

    def _owed(self) -> bool:
        """Whether the client has to send something that nobody else waits for: headers, or the rest of a body."""
        theirs = self.conn.their_state
        late = theirs is h11.SEND_BODY and self.cycle is not None and self.cycle.response_complete
        return theirs is h11.IDLE or late

    def _unwatch(self) -> None:
        if self._until_headers is not None:
            self._until_headers.cancel()
            self._until_headers = None

    def _end(self) -> None:
        """At once: to say good-bye would be to wait for the other side again."""
        self._until_headers = None
        self.transport.abort()
