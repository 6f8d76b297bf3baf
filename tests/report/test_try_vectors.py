"""The audit in the browser gives what Python gives: on some hundred tables, field by field (``web/tests/try_vectors.test.ts``)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from browser import ROOT, lacking
from try_facts import FACTS_FILE, facts_text
from try_vectors import SAMPLE, sample, write

WEB = ROOT / "web"


def test_facts_are_current() -> None:
    assert FACTS_FILE.read_text(encoding="utf-8") == facts_text(), "run make schema"


def _rounded(value: Any) -> Any:
    """The same, floats to ten digits: scipy differs in the last ones between versions."""
    if isinstance(value, float):
        return float(f"{value:.9e}")
    if isinstance(value, dict):
        return {name: _rounded(held) for name, held in value.items()}
    return [_rounded(held) for held in value] if isinstance(value, list) else value


def test_sample_is_current() -> None:
    committed = json.loads(SAMPLE.read_text(encoding="utf-8"))
    assert _rounded(committed) == _rounded(json.loads(sample())), "run python tests/try_vectors.py --sample"


def test_browser_gives_what_python_gives(tmp_path: Path) -> None:
    npx = shutil.which("npx")
    if npx is None or not (WEB / "node_modules" / "vite").is_dir():
        lacking("the page's build tools are not installed; run npm ci in web/")
    assert write(tmp_path, 320) > 300
    command = [npx, "vitest", "run", "tests/try_vectors.test.ts"]
    environment = {**os.environ, "TRY_VECTORS": str(tmp_path)}
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, timeout=600, check=False, env=environment)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
