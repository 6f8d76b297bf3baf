"""The explorer with 100k labels x 10 metrics x 2 identities x 2 runs: size of the file, and how fast it answers.

Times are CPU times of the page's main thread, from the event until the page is laid out anew, and until the frame after it and what follows soon
have been drawn. While it rests the page computes metrics that may be asked for; the rows without that are of a page that may not.
Machines differ, so each is held against a fixed computation in the same page: 100,000 numbers sorted by a comparison.
Where the system does not tell CPU times of threads, they are times of the clock.
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
from benchmarks.timing import keep_row
from biasamp.report.explorer_document import write_explorer

LABELS, RECORDS, PER_RECORD = 100_000, 400_000, 10
IDENTITIES = ("man", "woman")
# What a sort and a change of the metric may take, in sorts of 100,000 numbers by a comparison.
SORT_LIMIT, METRIC_LIMIT = 0.5, 1.0
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
_REPEATS, _ROUNDS = 8, 3

# Events one after the other; between them the page comes to rest.
_EVENTS = """async ({repeats, body, rest}) => {
  const act = new Function("i", body);
  for (let i = 0; i < repeats; i++) {
    await act(i);
    document.body.offsetHeight;
    if (rest) await new Promise(r => requestAnimationFrame(() => setTimeout(r, 120)));
  }
}"""
_REFERENCE = "Array.from({length: 1e5}, (_, k) => (k * 2654435761) % 4294967296 / 4294967296).sort((a, b) => a - b);"
_FIRST_SORT = "document.querySelectorAll('.labels thead .sort')[1 + (i >> 1)].click();"
_SORT = "document.querySelectorAll('.labels thead .sort')[1 + i % 4].click();"
_METRIC = """
  const box = document.querySelector('#metric');
  box.selectedIndex = (box.selectedIndex + 1) % box.options.length;
  box.dispatchEvent(new Event('change'));
"""
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


def run(seed: int, labels: int = LABELS) -> Any:
    """Labels of Zipf's shape, some of which shun an identity."""
    rng = np.random.default_rng(seed)
    held = rng.random((RECORDS, len(IDENTITIES))) < [0.25, 0.2]
    shares = 1.0 / np.arange(1, labels + 1) ** 0.9
    label = rng.choice(labels, size=RECORDS * PER_RECORD, p=shares / shares.sum())
    record = np.repeat(np.arange(RECORDS), PER_RECORD)
    shuns = rng.random((labels, len(IDENTITIES))) < 0.15
    kept = ~(held[record] & shuns[label] & (rng.random((len(record), 1)) < 0.5)).any(axis=1)
    record, label = np.divmod(np.unique(record[kept] * np.int64(labels) + label[kept]), labels)
    words = np.resize(["tennis", "necktie", "drill", "handbag", "kitchen"], labels)
    names = [*(f"label {i:05d} {word}" for i, word in enumerate(words)), *IDENTITIES]
    people = [np.flatnonzero(held[:, k]) for k in range(len(IDENTITIES))]
    record = np.concatenate([record, *people])
    label = np.concatenate([label, *(np.full(len(part), labels + k) for k, part in enumerate(people))])
    order = np.lexsort((label, record))

    import pyarrow as pa

    codes = pa.array(label[order].astype(np.int32))
    table = pa.table({"record": record[order], "label": pa.DictionaryArray.from_arrays(codes, pa.array(names))})
    return biasamp.associate(table, list(IDENTITIES), record="record", label="label")


def _renderers() -> set[int]:
    """The processes that pages run in."""
    out = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if b"--type=renderer" in (folder / "cmdline").read_bytes():
                out.add(int(folder.name))
        except OSError:
            continue
    return out


def _main_thread(process: int | None) -> float:
    """Milliseconds of CPU that the main thread of a process has taken; by the clock where that is not known."""
    if process is None:
        return 1e3 * time.perf_counter()
    return int(Path(f"/proc/{process}/task/{process}/schedstat").read_text().split()[0]) / 1e6


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="explorer")
    parser.add_argument("--labels", type=int, default=LABELS)
    labels = parser.parse_args(arguments or []).labels
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sys.exit("this benchmark needs the extra 'browser'")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("this benchmark needs Chromium")
    runs = {name: run(seed, labels) for seed, name in ((1, "old"), (2, "new"))}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "explorer.html"
        start = time.perf_counter()
        write_explorer(runs, path)
        wrote = time.perf_counter() - start
        print(f"{labels:,} labels x 10 metrics x {len(IDENTITIES)} identities x 2 runs")
        print(f"{'file':<44} {path.stat().st_size / 1e6:>8.2f} MB   written in {wrote:.1f} s")
        before = _renderers()
        browser = playwright.chromium.launch_persistent_context(
            Path(folder) / "profile", executable_path=program, args=_ARGUMENTS, viewport={"width": 1440, "height": 900}
        )
        page = browser.new_page()
        page.goto(path.as_uri() + "#ranked=0")
        page.wait_for_selector("html[data-ready]")
        page.wait_for_timeout(4000)
        process = max(_renderers() - before, key=_main_thread, default=None)

        def once(body: str, rest: bool, repeats: int) -> float:
            """The time of one event, the mean of a round of them."""
            begun = _main_thread(process)
            page.evaluate(_EVENTS, {"repeats": repeats, "body": body, "rest": rest})
            return (_main_thread(process) - begun) / repeats

        def spent(body: str, rest: bool, repeats: int = _REPEATS) -> float:
            """The least time of one event in a few rounds."""
            return min(once(body, rest, repeats) for _ in range(_ROUNDS))

        reference = spent(_REFERENCE, False)
        print(f"{'reference: 100,000 numbers compared':<44} {reference:>8.1f} ms")
        metrics = page.evaluate("() => document.querySelector('#metric').options.length")
        heads = page.evaluate("() => document.querySelectorAll('.labels thead .sort').length")
        idle = spent("", True)
        rows: list[tuple[str, float, float | None]] = [
            ("sort, each order for the first time", once(_FIRST_SORT, False, 2 * (heads - 1)), SORT_LIMIT),
            ("sort again", spent(_SORT, False), SORT_LIMIT),
            ("sort again, with its frame and the charts", spent(_SORT, True) - idle, None),
            ("metric, each for the first time", once(_METRIC, False, metrics - 1), METRIC_LIMIT),
            ("metric again, with its frame and the charts", spent(_METRIC, True) - idle, None),
            ("search by regular expression, page only", spent(_SEARCH, False, 4), None),
            ("brush", spent(_BRUSH, True) - idle, None),
        ]
        page.add_init_script("window.requestIdleCallback = () => 0")
        page.reload()
        page.wait_for_selector("html[data-ready]")
        page.wait_for_timeout(1000)
        rows.append(("metric for the first time, without rest", once(_METRIC, False, metrics - 1), None))
        for name, took, wanted in rows:
            if wanted is not None:
                limits, ratio = {"a comparator sort": reference / 1e3}, took / reference
                job, goal = f"explorer, {labels:,} labels: {name}", f"at most {wanted:g}"
                keep_row(job, took / 1e3, {}, limits, ratio, goal, ratio <= wanted)
            goal = "" if wanted is None else f"; wanted at most {wanted:g}"
            print(f"{name:<44} {took:>8.1f} ms   {took / reference:.2f} of the reference{goal}")
        browser.close()
