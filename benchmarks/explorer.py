"""The explorer with 20k labels x 10 metrics x 3 identities x 2 runs: size of the file, and how fast it answers.

Times are medians in the browser, from the event to the frame that shows its result. Machines differ, so they stand
beside a fixed computation in the same page: sorting a million numbers.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import biasamp
from biasamp.report.explorer_document import write_explorer

LABELS, RECORDS, PER_RECORD = 20_000, 150_000, 8
IDENTITIES = ("man", "woman", "child")
SIZE_LIMIT, TIME_LIMIT = 12.0, 100.0
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
_REPEATS = 9

# An event, then the time until the frame after it has been drawn.
_TIMED = """async ({repeats, body}) => {
  const act = new Function("i", body);
  const times = [];
  for (let i = 0; i < repeats; i++) {
    await new Promise(r => requestAnimationFrame(() => setTimeout(r, 30)));
    const start = performance.now();
    await act(i);
    await new Promise(r => requestAnimationFrame(() => setTimeout(r, 0)));
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[repeats >> 1];
}"""
_REFERENCE = """
  const values = new Float64Array(1e6);
  let state = 12345;
  for (let k = 0; k < values.length; k++) { state = (1103515245 * state + 12345) % 2147483648; values[k] = state; }
  values.sort();
"""
_SORT = "document.querySelectorAll('.labels thead .sort')[1 + i % 4].click();"
_SEARCH = """
  const box = document.querySelector('#search');
  const before = document.querySelector('.status').textContent;
  box.value = ['tennis', '^label 0[1-4].*k', 'drill$', '00[13579] '][i % 4];
  box.dispatchEvent(new Event('input'));
  return new Promise(r => { const look = () => document.querySelector('.status').textContent !== before ? r() : setTimeout(look, 1); look(); });
"""
_BRUSH = """
  const canvas = document.querySelectorAll('.histogram canvas')[0];
  const box = canvas.getBoundingClientRect();
  const at = (type, share) => canvas.dispatchEvent(new PointerEvent(type, {pointerId: 1, bubbles: true, clientX: box.left + share * box.width, clientY: box.top + 20}));
  canvas.setPointerCapture = () => {};
  at('pointerdown', 0.2 + 0.01 * i);
  at('pointermove', 0.8 - 0.02 * i);
  at('pointerup', 0.8 - 0.02 * i);
"""


def run(seed: int) -> Any:
    """Labels of Zipf's shape, some of which shun an identity."""
    rng = np.random.default_rng(seed)
    held = rng.random((RECORDS, len(IDENTITIES))) < [0.25, 0.2, 0.1]
    shares = 1.0 / np.arange(1, LABELS + 1) ** 0.9
    label = rng.choice(LABELS, size=RECORDS * PER_RECORD, p=shares / shares.sum())
    record = np.repeat(np.arange(RECORDS), PER_RECORD)
    shuns = rng.random((LABELS, len(IDENTITIES))) < 0.15
    kept = ~(held[record] & shuns[label] & (rng.random((len(record), 1)) < 0.5)).any(axis=1)
    record, label = np.divmod(np.unique(record[kept] * np.int64(LABELS) + label[kept]), LABELS)
    words = np.resize(["tennis", "necktie", "drill", "handbag", "kitchen"], LABELS)
    names = [*(f"label {i:05d} {word}" for i, word in enumerate(words)), *IDENTITIES]
    people = [np.flatnonzero(held[:, k]) for k in range(len(IDENTITIES))]
    record = np.concatenate([record, *people])
    label = np.concatenate([label, *(np.full(len(part), LABELS + k) for k, part in enumerate(people))])
    order = np.lexsort((label, record))

    import pyarrow as pa

    codes = pa.array(label[order].astype(np.int32))
    table = pa.table({"record": record[order], "label": pa.DictionaryArray.from_arrays(codes, pa.array(names))})
    return biasamp.associate(table, list(IDENTITIES), record="record", label="label")


def main() -> None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sys.exit("this benchmark needs the extra 'browser'")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("this benchmark needs Chromium")
    runs = {"old": run(1), "new": run(2)}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "explorer.html"
        start = time.perf_counter()
        write_explorer(runs, path)
        wrote = time.perf_counter() - start
        size = path.stat().st_size / 1e6
        print(f"{LABELS:,} labels x 10 metrics x {len(IDENTITIES)} identities x 2 runs")
        print(f"{'file':<34} {size:>8.2f} MB   limit {SIZE_LIMIT:g} MB, written in {wrote:.1f} s")
        browser = playwright.chromium.launch_persistent_context(
            Path(folder) / "profile", executable_path=program, args=_ARGUMENTS, viewport={"width": 1440, "height": 900}
        )
        page = browser.new_page()
        start = time.perf_counter()
        page.goto(path.as_uri() + "#ranked=0")
        page.wait_for_selector("html[data-ready]")
        print(f"{'opened and drawn':<34} {1e3 * (time.perf_counter() - start):>8.0f} ms")

        def timed(body: str, repeats: int = _REPEATS) -> float:
            return float(page.evaluate(_TIMED, {"repeats": repeats, "body": body}))

        reference = timed(_REFERENCE, 3)
        for name, body in (("sort", _SORT), ("search by regular expression", _SEARCH), ("brush", _BRUSH)):
            took = timed(body)
            print(
                f"{name:<34} {took:>8.1f} ms   {took / reference:.2f} of the reference; wanted below {TIME_LIMIT:g} ms"
            )
        print(f"{'reference: a million numbers sorted':<34} {reference:>7.1f} ms")
        browser.close()
