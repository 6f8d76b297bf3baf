"""Pages in a real browser: the system's Chromium, driven by Playwright, allowed to reach nothing."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from extras import all_wanted, needs
from hostile_labels import STEERING

ROOT = Path(__file__).parent.parent
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]


def lacking(what: str) -> None:
    """Skip plainly, or fail where a run promises to leave nothing out."""
    if all_wanted():
        pytest.fail(f"BIASAMP_TEST_EXTRAS=all, but {what}")
    pytest.skip(what)


# One a module: while Playwright runs, no other test in the process could start an event loop.
@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser with a profile of its own."""
    api = needs("playwright.sync_api")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        lacking("there is no Chromium on this machine")
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"), executable_path=program, args=_ARGUMENTS, accept_downloads=True
        )
        opened.set_default_timeout(20_000)
        yield opened
        opened.close()


# Where a run of the tests puts which parts of the page's script ran (tests/page_coverage.py); nothing else reads it.
RUNS = "BIASAMP_PAGE_RUNS"


@contextmanager
def runs_seen(context: Any, page: Any) -> Iterator[None]:
    """Write what ran of the scripts of a page to a file, where somebody asks for it."""
    folder = os.environ.get(RUNS)
    if folder is None:
        yield
        return
    session = context.new_cdp_session(page)
    session.send("Profiler.enable")
    session.send("Profiler.startPreciseCoverage", {"callCount": True, "detailed": True})
    yield
    taken = session.send("Profiler.takePreciseCoverage")["result"]
    file = Path(folder) / f"{os.getpid()}-{len(list(Path(folder).iterdir()))}.json"
    file.write_text(json.dumps([script["functions"] for script in taken]), encoding="utf-8")


class Watched:
    """A page with a record of what it asked for and complained of."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (self.complaints.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on(
            "console",
            lambda message: self.complaints.append(message.text) if message.type in ("error", "warning") else None,
        )

    def open(self, address: str | Path) -> Any:
        """Open a file or an address, and wait until the page says it is ready."""
        self.page.goto(address.as_uri() if isinstance(address, Path) else address)
        self.page.wait_for_selector("html[data-ready]")
        return self.page

    def outside(self, own: str = "file:") -> list[str]:
        """Requests to anywhere but the page itself."""
        return [url for url in self.requests if not url.startswith((own, "data:", "blob:"))]


@pytest.fixture
def watched(context: Any) -> Iterator[Watched]:
    """A page that must neither complain nor ask anybody for anything."""
    page = context.new_page()
    page.set_viewport_size({"width": 1280, "height": 900})
    held = Watched(page)
    with runs_seen(context, page):
        yield held
    page.close()
    assert not held.complaints, held.complaints
    assert not held.outside(
        "http://127.0.0.1" if any(u.startswith("http://127.0.0.1") for u in held.requests) else "file:"
    ), held.requests


def violations(page: Any) -> list[str]:
    """What axe-core finds fault with: every rule, those of good practice and of the size of targets included."""
    script = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
    if not script.is_file():
        lacking("axe-core is not installed; run npm ci in web/")
    page.evaluate(script.read_text(encoding="utf-8"))
    found = page.evaluate(
        "async () => JSON.stringify((await axe.run({rules: {'target-size': {enabled: true}}})).violations)"
    )
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:200]} ({len(one['nodes'])}) {one['nodes'][0]['failureSummary'][:300]}"
        for one in json.loads(found)
    ]


# Names as attackers write them.
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "=cmd|'/c calc'!A1",
    "\u202egnp.exe\u200f",
    "x" * 10_000,
    "bell\x07 tab\t line\nend\x1b[31m",
    '"quoted", and, commas',
    "{{7*7}} ${7*7} &lt;b&gt;",
)


def looked_at(page: Any) -> None:
    """Nothing of a name became an element, an attribute that acts, or a state of the page."""
    assert page.evaluate("() => window.pwned") is None
    assert (
        page.locator(
            "img, iframe, object, embed, video, audio, form, base, marquee, math, link[rel=stylesheet]"
        ).count()
        == 0
    )
    assert (
        page.evaluate(
            "() => [...document.querySelectorAll('*')].flatMap(n => [...n.attributes]).filter(a => /^on|^srcdoc$|^ping$/i.test(a.name)"
            " || /^\\s*javascript:/i.test(a.value)).map(a => a.name)"
        )
        == []
    )
    assert not STEERING & set(page.inner_text("body"))
