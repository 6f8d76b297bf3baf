"""The whole audit in the browser, in Node: files of every kind give the page that Python's report of them has, or its refusal."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import biasamp
from biasamp.data.ways_out import PAGE, speaking_to
from biasamp.report.audit_page import report_document
from browser import ROOT, lacking
from try_files import labels_read
from try_tables import Made, files
from try_tools import written_by_tools

WEB = ROOT / "web"
FILES, TOOLS, SEED = 300, 120, 21
_REFUSED = (ValueError, TypeError, OverflowError, OSError)


def expected(made: Made, folder: Path) -> dict[str, Any]:
    """A file, what is chosen of it, and what Python says: a page, a refusal, or that it is beyond the browser."""
    path = folder / made.name
    path.write_bytes(made.content)
    roles = {name: [held] if isinstance(held, str) else list(held) for name, held in made.roles.items()}
    case: dict[str, Any] = {
        "name": made.name,
        "bytes": base64.b64encode(made.content).decode(),
        "choice": {**roles, "positive": None, "confidence": 0.95, "min_group": 30},
    }
    with warnings.catch_warnings(), speaking_to(PAGE):
        warnings.simplefilter("ignore")
        if "beyond" in labels_read(path, made.roles):
            return {**case, "beyond": True}
        try:
            audit = biasamp.audit(
                str(path), **made.roles, metrics=["directional", "parity"], intervals="closed_form"
            ).named(made.name)
        except _REFUSED as error:
            return {**case, "refused": str(error)}
    return {**case, "page": report_document(audit)}


def test_files_give_the_pages_of_python(tmp_path: Path) -> None:
    program = shutil.which("npx")
    if program is None or not (WEB / "node_modules" / "hyparquet").is_dir():
        lacking("the page's build tools are not installed; run npm ci in web/")
    made = [one for one in files() if not one.name.startswith("damaged-")]
    chosen = np.random.default_rng(SEED).permutation(len(made))[:FILES]
    (tmp_path / "files").mkdir()
    picked = [*(made[int(i)] for i in sorted(chosen)), *written_by_tools(SEED, TOOLS)]
    cases = [expected(one, tmp_path / "files") for one in picked]
    assert len(cases) == FILES + TOOLS
    assert sum("page" in case for case in cases[FILES:]) > TOOLS / 3
    assert min(sum(key in case for case in cases) for key in ("page", "refused")) > 60
    (tmp_path / "chain.json").write_text(json.dumps(cases), encoding="utf-8")
    done = subprocess.run(
        [program, "vitest", "run", "tests/try/chain.test.ts"],
        cwd=WEB,
        env={**os.environ, "BIASAMP_TRY_CHAIN": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-20000:]
