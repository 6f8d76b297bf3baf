"""The page of an audit in the browser as a part of the site: ``try.html``, the same file that ``biasamp try --html`` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from biasamp.report.try_page import try_page

NAME = "try.html"


def _write(app: Any, failed: Exception | None) -> None:
    if failed is None and app.builder.format == "html":
        (Path(app.outdir) / NAME).write_text(try_page(), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Write the page once the others are there."""
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
