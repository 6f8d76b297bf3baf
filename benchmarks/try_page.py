"""The audit in the browser: seconds from a file of a million records to the first screen, in Chromium.

The clock starts as the file is given to the page, stops while the columns that were guessed are looked at, and goes on until the report is
drawn. Beside it stand the longest wait of the page's own thread, which answers clicks, and Python's audit of the same file with the same intervals.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import biasamp
from biasamp.report.try_page import try_page

RECORDS = 1_000_000
# Seconds from file to first screen.
LIMIT = 8.0
_ROUNDS = 3
_ROLES: dict[str, Any] = {"attributes": ["gender", "race"], "tasks": "hired", "task_predictions": "hired_pred"}
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]

# The longest time in which the page's thread could not have answered, until a step is reached.
_WAIT = """(step) => new Promise((resolve) => {
  const begun = performance.now();
  let last = begun, longest = 0;
  const beat = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    const at = document.documentElement.getAttribute('data-step');
    if (at === step || document.querySelector('.refusal')) requestAnimationFrame(() => setTimeout(() => resolve([at, performance.now() - begun, longest])));
    else setTimeout(beat);
  };
  if (step === 'report') [...document.querySelectorAll('button')].find((one) => one.textContent === 'Audit').click();
  setTimeout(beat);
})"""


def table(records: int) -> Any:
    """Records with two attributes, a truth, a prediction, and columns that are not asked about."""
    import pyarrow as pa

    rng = np.random.default_rng(0)
    gender = rng.choice(["woman", "man"], records, p=[0.45, 0.55])
    lean = np.where(gender == "man", 0.08, -0.08)
    hired = rng.random(records) < 0.4 + lean
    said = np.where(rng.random(records) < 0.8, hired, rng.random(records) < 0.4 + 2 * lean)
    return pa.table(
        {
            "id": np.arange(records),
            "gender": gender,
            "race": rng.choice(["a", "b", "c", "d", "e"], records, p=[0.5, 0.2, 0.15, 0.1, 0.05]),
            "city": rng.choice([f"city {i}" for i in range(500)], records),
            "score": rng.random(records).round(6),
            "hired": hired.astype(int),
            "hired_pred": said.astype(int),
        }
    )


def _seconds(page: Any, address: str, path: Path) -> tuple[float, float]:
    """Seconds from the file to the first screen, and milliseconds of the longest wait."""
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    with page.expect_file_chooser() as asked:
        page.get_by_role("button", name="Choose a file").click()
    start = time.perf_counter()
    asked.value.set_files(path)
    step, _, first = page.evaluate(_WAIT, "choose")
    opened = time.perf_counter() - start
    if step == "choose":
        step, took, second = page.evaluate(_WAIT, "report")
    if step != "report":
        sys.exit(f"refused: {page.inner_text('.refusal')}")
    return opened + took / 1e3, max(first, second)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="try_page")
    parser.add_argument("--records", type=int, default=RECORDS)
    records = parser.parse_args(arguments or []).records
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sys.exit("this benchmark needs the extra 'browser'")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("this benchmark needs Chromium")
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    held = table(records)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        files = [Path(folder) / "data.csv", Path(folder) / "data.parquet"]
        pc.write_csv(held, files[0])
        pq.write_table(held, files[1])
        (Path(folder) / "try.html").write_text(try_page(), encoding="utf-8")
        address = (Path(folder) / "try.html").as_uri()
        browser = playwright.chromium.launch_persistent_context(
            Path(folder) / "profile", executable_path=program, args=_ARGUMENTS, viewport={"width": 1440, "height": 900}
        )
        page = browser.new_page()
        page.set_default_timeout(120_000)
        print(f"{records:,} records x {held.num_columns} columns, from file to first screen")
        for path in files:
            taken = [_seconds(page, address, path) for _ in range(_ROUNDS)]
            least, longest = min(taken)
            start = time.perf_counter()
            biasamp.audit(path, **_ROLES, metrics=["directional", "parity"], intervals="closed_form")
            python = time.perf_counter() - start
            limit = f"limit {LIMIT:g} s" if records <= RECORDS else ""
            print(
                f"{path.suffix[1:]:<10} {path.stat().st_size / 1e6:>7.1f} MB {least:>7.2f} s   {limit}; longest wait of the page "
                f"{longest:.0f} ms; Python's audit {python:.2f} s"
            )
        browser.close()
