"""The audit in the browser reads files as the package does, and refuses what it refuses, with the same reason."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from browser import ROOT, lacking
from try_files import SAMPLE, judged
from try_tables import files

WEB = ROOT / "web"


def test_files(tmp_path: Path) -> None:
    program = shutil.which("npx")
    if program is None or not (WEB / "node_modules" / "hyparquet").is_dir():
        lacking("the page's build tools are not installed; run npm ci in web/")
    (tmp_path / "files").mkdir()
    cases = judged(tmp_path / "files", files())
    ends = Counter("refused" if "refused" in case["audit"] else "read" for case in cases)
    assert min(ends["refused"], ends["read"]) > 300
    (tmp_path / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    environment = {**os.environ, "BIASAMP_TRY_FILES": str(tmp_path)}
    done = subprocess.run(
        [program, "vitest", "run", "tests/try/files.test.ts"],
        cwd=WEB,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-20000:]


def _unnumbered(case: dict[str, Any]) -> Any:
    """A case without the numbers of rows that Arrow says where it reads with one thread alone."""
    return json.loads(re.sub(r"CSV parse error: Row #\d+: ", "CSV parse error: ", json.dumps(case)))


def test_sample_is_current(tmp_path: Path) -> None:
    """What the page's own tests hold is what the package says today."""
    sample = {case["name"]: case for case in json.loads(SAMPLE.read_text(encoding="utf-8"))}
    mine = [made for made in files() if made.name in sample and made.name.endswith(".csv")]
    assert len(mine) > 50
    for case in judged(tmp_path, mine):
        assert _unnumbered(case) == _unnumbered(sample[case["name"]]), (
            f"run python tests/try_files.py --sample ({case['name']})"
        )
