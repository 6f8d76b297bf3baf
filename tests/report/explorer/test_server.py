"""The server: this machine only, a token in the address, nothing of the file system, read only."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
import urllib.parse
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from biasamp.report.server import Served, documents, listening, serve
from browser import Watched
from extras import needs
from report.explorer.results import result

needs("starlette")


@pytest.fixture(scope="module")
def served() -> Served:
    document, title = documents({name: json.loads(result(seed).to_json()) for seed, name in ((1, "old"), (2, "new"))})
    return Served(document, title)


class Client:
    """Asks for paths exactly as they are written, under any name for the host."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(
        self, path: str, *, host: str | None = "127.0.0.1", method: str = "GET"
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.putrequest(method, path, skip_host=True)
            if host is not None:
                connection.putheader("Host", host)
            connection.endheaders()
            answer = connection.getresponse()
            return answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()


@pytest.fixture(scope="module")
def client(served: Served) -> Client:
    needs("uvicorn")
    sock = listening("127.0.0.1", 0)
    threading.Thread(target=serve, args=(served, sock), daemon=True).start()
    return Client(sock.getsockname()[1])


def test_page_and_data_come_with_the_token_alone(served: Served, client: Client) -> None:
    status, headers, body = client.ask(f"/{served.token}/")
    assert status == 200
    assert headers["content-type"].startswith("text/html")
    assert served.token.encode() not in body
    assert client.ask(f"/{served.token}/data")[0] == 200
    for path in ("/", "/x/", "/x/data", f"/{served.token[:-1]}/", f"/{served.token}x/data", "/favicon.ico"):
        status, _, body = client.ask(path)
        assert status == 404
        assert served.token.encode() not in body


def test_policy_forbids_everything_else(served: Served, client: Client) -> None:
    _, headers, _ = client.ask(f"/{served.token}/")
    policy = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers


SECURITY = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "x-frame-options": "DENY",
}


@pytest.mark.parametrize(
    ("method", "path", "host", "status"),
    [
        ("GET", "/{token}/", "127.0.0.1", 200),
        ("HEAD", "/{token}/", "127.0.0.1", 200),
        ("GET", "/{token}/data", "127.0.0.1", 200),
        ("GET", "/x/", "127.0.0.1", 404),
        ("GET", "/{token}/", "evil.example", 421),
        ("POST", "/{token}/data", "127.0.0.1", 405),
        ("GET", "/", None, 400),
        ("B\x01D", "/", "127.0.0.1", 400),
    ],
)
def test_every_answer_has_the_security_headers(
    served: Served, client: Client, method: str, path: str, host: str | None, status: int
) -> None:
    with socket.create_connection(("127.0.0.1", client.port), timeout=20) as connection:
        name = "" if host is None else f"Host: {host}\r\n"
        connection.sendall(f"{method} {path.format(token=served.token)} HTTP/1.1\r\n{name}\r\n".encode())
        text = b"".join(iter(lambda: connection.recv(65536), b"")).split(b"\r\n\r\n")[0].decode("latin-1")
    first, *lines = text.split("\r\n")
    assert int(first.split()[1]) == status
    headers = dict(line.lower().split(": ", 1) for line in lines)
    assert {name: headers.get(name) for name in SECURITY} == {name: value.lower() for name, value in SECURITY.items()}
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["connection"] == "close"
    assert "server" not in headers


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET /", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"GET /{token}/data HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"],
    ids=["silent", "half a line", "half the headers", "does not read"],
)
def test_connections_that_stay_half_open_are_ended(
    served: Served, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("uvicorn")
    sock = listening("127.0.0.1", 0)
    # More than the buffers of a connection hold.
    monkeypatch.setattr("biasamp.report.server.packed", lambda document: bytes(24_000_000))
    threading.Thread(target=serve, args=(served, sock), kwargs={"request": 0.4, "answer": 1.0}, daemon=True).start()
    with socket.create_connection(sock.getsockname(), timeout=20) as connection:
        connection.sendall(sent.replace(b"{token}", served.token.encode()))
        time.sleep(1.8)
        # What was not read is gone with the connection: it ends before the answer does.
        taken = 0
        with contextlib.suppress(ConnectionError):
            while part := connection.recv(1 << 20):
                taken += len(part)
        assert taken < 24_000_000
    # Others are served meanwhile and after.
    assert Client(sock.getsockname()[1]).ask(f"/{served.token}/")[0] == 200


def test_the_token_is_not_in_the_list_of_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from biasamp.cli import group

    saved = tmp_path / "labels.json"
    result(1).to_json(saved)
    opened: list[str] = []
    seen: dict[str, Any] = {}

    def look(served: Served, sock: Any) -> None:
        file = Path(urllib.parse.urlparse(opened[0]).path)
        seen.update(
            token=served.token,
            text=file.read_text(encoding="utf-8"),
            mode=file.parent.stat().st_mode & 0o777,
            file=file,
        )
        sock.close()

    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address))
    monkeypatch.setattr("biasamp.cli.cmd_explore.serve", look)
    done = CliRunner().invoke(group, ["explore", str(saved)])
    assert done.exit_code == 0, done.output
    assert seen["token"] not in opened[0]
    assert f"/{seen['token']}/" in seen["text"]
    assert seen["mode"] == 0o700
    assert not seen["file"].exists()


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:8000", "", "[::2]:80"])
def test_other_names_are_refused(served: Served, client: Client, host: str) -> None:
    assert client.ask(f"/{served.token}/", host=host)[0] == 421
    assert client.ask("/", host=host)[0] == 421


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost", "LOCALHOST:80", "[::1]:80"])
def test_own_names_are_served(served: Served, client: Client, host: str) -> None:
    assert client.ask(f"/{served.token}/", host=host)[0] == 200


@pytest.mark.parametrize(
    "path",
    ["../../etc/passwd", "..%2f..%2fetc%2fpasswd", "data/../../x", "%2e%2e/data", "data%00", "page.js", "/etc/passwd"],
)
def test_no_path_reaches_the_file_system(served: Served, client: Client, path: str) -> None:
    assert client.ask(f"/{served.token}/{path}")[0] == 404
    assert client.ask("/" + path)[0] == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_written(served: Served, client: Client, method: str) -> None:
    assert client.ask(f"/{served.token}/data", method=method)[0] == 405


def test_tokens_are_long_and_differ(served: Served) -> None:
    other = Served(served.document, "x")
    assert other.token != served.token
    assert len(served.token) >= 32
    assert served.token not in repr(served)


def test_served_page_in_the_browser(served: Served, client: Client, watched: Watched) -> None:
    own = f"http://127.0.0.1:{client.port}"
    page = watched.open(f"{own}/{served.token}/#view=runs")
    assert "old" in page.inner_text(".runs")
    page.fill("#search", "label 00")
    page.wait_for_function("() => document.querySelector('.status').textContent.includes('of 122')")
    assert watched.outside(own) == []


def test_an_audit_is_shown_alone() -> None:
    import biasamp
    from biasamp.datasets import berkeley

    audit = biasamp.audit(
        berkeley.with_predictions(),
        attributes="gender",
        tasks="admitted",
        task_predictions="admitted_pred",
        resamples=20,
    )
    document, title = documents({"demo": json.loads(audit.to_json())})
    assert (document["kind"], title) == ("report", "demo")
    with pytest.raises(ValueError, match="one audit is shown at a time"):
        documents({"demo": audit.document, "more": audit.document})


def test_command_writes_a_file(tmp_path: Any) -> None:
    from biasamp.cli import group

    saved = tmp_path / "labels.json"
    result(1).to_json(saved)
    target = tmp_path / "x.html"
    done = CliRunner().invoke(group, ["explore", f"model={saved}", "--html", str(target)])
    assert done.exit_code == 0, done.output
    assert "<script" in target.read_text(encoding="utf-8")
    twice = CliRunner().invoke(group, ["explore", str(saved), str(saved)])
    assert twice.exit_code == 2
    assert "NAME=FILE" in twice.output


def test_a_taken_port_is_a_message() -> None:
    sock = listening("127.0.0.1", 0)
    try:
        with pytest.raises(ValueError, match="cannot listen on 127"):
            listening("127.0.0.1", sock.getsockname()[1])
    finally:
        sock.close()


def test_saved_associations_are_held_against_their_checksums() -> None:
    saved = json.loads(result(1).to_json())
    assert documents({"a": saved})[1] == "a"
    for field, value in (("n", 1), ("labels", saved["labels"][1:]), ("notes", ["x"]), ("added", 1)):
        with pytest.raises(
            ValueError, match=rf"^a was changed since it was saved: the checksum of {field} does not agree"
        ):
            documents({"a": {**saved, field: value}})
    with pytest.raises(ValueError, match="the checksum of overlap does not agree"):
        documents({"a": {name: held for name, held in saved.items() if name != "overlap"}})
    bare = {name: held for name, held in saved.items() if name != "checksum"}
    with pytest.raises(ValueError, match=r"^a has no checksum, and files of version .* or measure again and save"):
        documents({"a": bare})
    (run,) = documents({"a": {**bare, "version": "0.1.0"}})[0]["runs"]
    assert run["notes"][-1].startswith("This result has no checksum")
