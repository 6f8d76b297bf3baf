"""Take the pictures of the report and the explorer that the site shows: ``python docs/make_screenshots.py``.

It needs the extra ``browser``, Chromium and Pillow, and BIASAMP_DATA for the captions that the explorer shows.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from PIL import Image
from playwright.sync_api import sync_playwright

import biasamp
from biasamp.datasets import berkeley
from biasamp.report.explorer_document import write_explorer

HERE = Path(__file__).parent
MODELS = ("baseline_ft", "equalizer")
IDENTITIES = {"man": ["man", "men", "boy", "boys", "male"], "woman": ["woman", "women", "girl", "girls", "female"]}
_STOP = {
    "a",
    "an",
    "the",
    "of",
    "on",
    "in",
    "with",
    "and",
    "to",
    "at",
    "is",
    "are",
    "it",
    "his",
    "her",
    "their",
    "its",
    "up",
    "by",
    "for",
    "from",
    "that",
    "this",
    "there",
}


def words(caption: str) -> list[str]:
    """The words of a caption, each once."""
    return sorted(set(re.findall(r"[a-z]+", caption.lower())) - _STOP)


def taken(page: Any, name: str) -> None:
    """Save the window as a small picture."""
    path = HERE / name
    page.screenshot(path=path)
    Image.open(path).convert("RGB").quantize(96).save(path, optimize=True)


with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
    work = Path(folder)
    audit = biasamp.audit(
        berkeley.with_predictions(),
        **berkeley.ROLES,
        **berkeley.PARTS,
    )
    audit.named(berkeley.TITLE).to_html(work / "report.html")
    captions = pq.read_table(Path(os.environ["BIASAMP_DATA"]) / "coco_val2014_captions_6models.parquet")
    runs = {
        name: biasamp.associate([words(text) for text in captions[name].to_pylist()], IDENTITIES) for name in MODELS
    }
    write_explorer(runs, work / "explorer.html", "Words in captions of 40,504 COCO images")
    browser = playwright.chromium.launch_persistent_context(
        work / "profile",
        executable_path=shutil.which("chromium"),
        args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        viewport={"width": 1360, "height": 900},
    )
    page = browser.new_page()
    page.goto((work / "report.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    page.wait_for_timeout(400)
    taken(page, "report.png")
    page.goto((work / "explorer.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    for place in range(7):
        page.locator(".labels tbody input[type=checkbox]").nth(place).check()
    page.evaluate("() => document.activeElement.blur()")
    page.wait_for_timeout(300)
    taken(page, "explorer.png")
    browser.close()
