"""A small server for the explorer and reports: this machine only, read only, behind a random token.

Every page is made before the server starts. A request chooses among them by name and reaches nothing else: no path
of a request is ever used to open a file.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from biasamp.auditing.audit_result import UNNAMED, Audit
from biasamp.results.checksums import is_checked

from .audit_page import report_document
from .connections import ANSWER_LIMIT, REQUEST_LIMIT, timed_protocol, with_headers
from .explorer_document import explorer_document
from .page import content_policy, packed, page

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_TOKEN_BYTES = 24
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "X-Frame-Options": "DENY",
    # One request for each connection: none is kept open for a next one.
    "Connection": "close",
}
# What is no page of the explorer runs and fetches nothing.
_NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


@dataclass(frozen=True)
class Served:
    """One document behind a token, which the address must hold.

    ``hosts`` are the names under which the server may be asked for: a page elsewhere that has this machine's address
    looked up under its own name is refused.
    """

    document: dict[str, Any] = field(repr=False)
    title: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(_TOKEN_BYTES), repr=False)
    hosts: tuple[str, ...] = LOOPBACK

    def app(self) -> Any:
        """The server as an ASGI application."""
        from starlette.applications import Starlette
        from starlette.requests import Request
        from starlette.responses import PlainTextResponse, Response
        from starlette.routing import Route

        shown = page(f"biasamp: {self.title}", data_from="data").encode()
        data = packed(self.document)
        policy = {"Content-Security-Policy": content_policy(served=True) + "; frame-ancestors 'none'"}

        def refused(status: int, words: str) -> Response:
            return PlainTextResponse(words, status_code=status)

        async def answer(request: Request) -> Response:
            if _host(request.headers.get("host", "")) not in self.hosts:
                return refused(421, "This server does not go by that name.")
            # Compared in constant time: how long a refusal takes says nothing of the token.
            token = str(request.path_params.get("token", "")).encode()
            if not secrets.compare_digest(token, self.token.encode()):
                return refused(404, "Not found.")
            what = request.path_params.get("what", "")
            if what == "":
                return Response(shown, media_type="text/html; charset=utf-8", headers=policy)
            if what == "data":
                return Response(data, media_type="application/octet-stream", headers=policy)
            return refused(404, "Not found.")

        # Routes answer GET and HEAD alone; anything else is "method not allowed".
        places = ("/{token}/", "/{token}/{what}", "/{rest:path}")
        return with_headers(
            Starlette(routes=[Route(place, answer, methods=["GET"]) for place in places]), _everywhere()
        )


def _everywhere() -> list[tuple[str, str]]:
    """The headers of every answer; a page has a policy of its own."""
    return [*_HEADERS.items(), ("Content-Security-Policy", _NOTHING)]


def _host(header: str) -> str:
    """The name in a Host header, without its port."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()


def serve(served: Served, sock: Any, *, request: float = REQUEST_LIMIT, answer: float = ANSWER_LIMIT) -> None:
    """Serve until interrupted, on a socket that listens already.

    A client has so many seconds for its request, and for reading the answer.
    """
    import uvicorn

    config = uvicorn.Config(
        served.app(),
        http=timed_protocol(_everywhere(), request, answer),
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
    )
    uvicorn.Server(config).run(sockets=[sock])


def listening(host: str, port: int) -> Any:
    """A socket that listens on an address; port 0 takes any that is free."""
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(64)
    except OSError as error:
        sock.close()
        raise ValueError(f"cannot listen on {host}, port {port}: {error.strerror or error}") from None
    return sock


def documents(results: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """What to show of saved results: the report of one audit, or the explorer of associations, with its title.

    ``results`` are documents by name, as ``audit --json``/``--save`` and ``associate --json`` write them.
    """
    audits = [name for name, held in results.items() if isinstance(held, Mapping) and "findings" in held]
    if audits and len(results) > 1:
        raise ValueError(
            f"{audits[0]!r} is an audit: one audit is shown at a time. Associations go side by side; two audits are "
            "compared with biasamp compare"
        )
    if audits:
        audit = Audit.from_document(results[audits[0]], audits[0])
        audit = audit if audit.source != UNNAMED else audit.named(audits[0])
        return report_document(audit), audit.source
    try:
        document = explorer_document({name: _vouched(held, name) for name, held in results.items()})
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(
            f"{', '.join(map(repr, results))}: a saved association with a part missing or of another form ({error!r})"
        ) from None
    return document, document["title"]


def _vouched(held: Any, name: str) -> Any:
    """A saved association, with a note where nothing tells whether it was changed; what is none is refused elsewhere."""
    if not isinstance(held, Mapping) or held.get("kind") != "association":
        return held
    again = "measure again and save the result with to_json() (associate --json)"
    if is_checked(held, name, again):
        return held
    note = (
        "This result has no checksum, as files of version 0.1: nothing tells whether it was changed since it was saved."
    )
    return {**held, "notes": [*held["notes"], note]}
