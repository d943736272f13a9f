"""How long the server waits: for a request to be complete, and for an answer to be taken."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 10.0  # for the head of a request
TAKE_S = 20.0  # for a client that has stopped reading
MOST_CONNECTIONS = 300


class PatientProtocol(H11Protocol):
    """HTTP/1.1 that hangs up on who is too slow, and on who comes when there are too many."""

    _head: asyncio.TimerHandle | None = None
    _taking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request, not for ever."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._arm()

    def data_received(self, data: bytes) -> None:
        """Part of a request; the clock runs from its first byte."""
        super().data_received(data)
        self._arm()

    def pause_writing(self) -> None:
        """The client does not take what it asked for."""
        super().pause_writing()
        self._taking = self.loop.call_later(TAKE_S, self.transport.abort)

    def resume_writing(self) -> None:
        """It does again."""
        super().resume_writing()
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for."""
        for timer in (self._head, self._taking):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def _arm(self) -> None:
        if self._head is None:
            self._head = self.loop.call_later(HEAD_S, self._check)

    def _check(self) -> None:
        """Hang up if the head of a request is still not there."""
        self._head = None
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return  # it is a WebSocket by now
        idle = self.cycle is None or self.cycle.response_complete
        if idle and self.conn.their_state is h11.IDLE:
            self.transport.close()
