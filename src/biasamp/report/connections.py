"""Connections of the explorer's server: one request each, within a time, and the same headers on every answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# A request must have come whole within this many seconds, and its answer must have been read within the other.
REQUEST_LIMIT = 10.0
ANSWER_LIMIT = 120.0


def with_headers(app: Any, headers: Iterable[tuple[str, str]]) -> Any:
    """An ASGI application whose every answer has these headers, those that its framework gives of itself included."""
    added = [(name.lower().encode(), value.encode()) for name, value in headers]

    async def wrapped(scope: Any, receive: Any, send: Any) -> None:
        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                held = list(message.get("headers", ()))
                known = {name.lower() for name, _ in held}
                message = {**message, "headers": [*held, *(pair for pair in added if pair[0] not in known)]}
            await send(message)

        await app(scope, receive, sending)

    return wrapped


def timed_protocol(headers: Iterable[tuple[str, str]], request: float, answer: float) -> Any:
    """How uvicorn speaks to a client: one that is silent, or stops reading, is hung up on."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    added = [(name.lower().encode(), value.encode()) for name, value in headers]

    class TimedProtocol(H11Protocol):  # type: ignore[misc]
        _begun = False
        _due: Any = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._due = self.loop.call_later(request, transport.abort)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if not self._begun and self.cycle is not None:
                self._begun = True
                self._due.cancel()
                self._due = self.loop.call_later(answer, self.transport.abort)

        def connection_lost(self, exc: Exception | None) -> None:
            self._due.cancel()
            super().connection_lost(exc)

        def send_400_response(self, msg: str) -> None:
            """What is no HTTP is refused before the application sees it."""
            plain = (b"content-type", b"text/plain; charset=utf-8")
            for event in (
                h11.Response(status_code=400, headers=[plain, *added], reason=b"Bad Request"),
                h11.Data(data=msg.encode("ascii")),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
            self.transport.close()

    return TimedProtocol
