"""The committed page is what its source builds, and its own tests pass."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from browser import ROOT, lacking

WEB = ROOT / "web"
STATIC = ROOT / "src" / "biasamp" / "report" / "static"


@pytest.fixture
def npx() -> str:
    program = shutil.which("npx")
    if program is None or not (WEB / "node_modules" / "vite").is_dir():
        lacking("the page's build tools are not installed; run npm ci in web/")
    return program


def _run(*command: str) -> None:
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_bundle_is_current(npx: str, tmp_path: Path) -> None:
    _run(npx, "tsc", "--noEmit")
    _run(npx, "vite", "build", "--outDir", str(tmp_path / "built"), "--emptyOutDir")
    _run(npx, "vite", "build", "--config", "vite.try.config.ts", "--outDir", str(tmp_path / "built"))
    built = {path.name: path.read_bytes() for path in (tmp_path / "built").iterdir()}
    assert sorted(built) == ["page.css", "page.js", "try.css", "try.js"]
    for name, content in built.items():
        assert (STATIC / name).read_bytes() == content, f"{name} is not current: run make web"


def test_types_are_current(npx: str, tmp_path: Path) -> None:
    """The page's types of an audit are those of its schema, which are those of the Python side."""
    generate = json.loads((WEB / "package.json").read_text(encoding="utf-8"))["scripts"]["types"]
    _run(npx, *shlex.split(generate.replace("src/audit.ts", shlex.quote(str(tmp_path / "audit.ts")))))
    written = (tmp_path / "audit.ts").read_text(encoding="utf-8")
    assert (WEB / "src" / "audit.ts").read_text(encoding="utf-8") == written, "run make schema"


def test_page_units(npx: str) -> None:
    _run(npx, "vitest", "run")


@pytest.mark.parametrize("name", ["page.js", "try.js"])
def test_bundle_asks_for_nothing(name: str) -> None:
    script = (STATIC / name).read_text(encoding="utf-8")
    assert "</script" not in script
    assert "eval(" not in script
    addresses = [part.split('"')[0].split("'")[0].split("`")[0] for part in script.split("http")[1:]]
    # The only addresses are names of XML vocabularies, which nobody fetches.
    assert all(part.startswith("://www.w3.org/") for part in addresses), addresses
