"""Figures that ``.plot()`` returns, for the gallery: no window knows of them, so that sphinx-gallery's own scraper does not find them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst, matplotlib_scraper

# What a block ends with is kept under this name, and stays there until another block ends with something.
_LAST = "___"
_drawn: list[Figure] = []


def returned_figures(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any], **options: Any) -> str:
    """The figures of pyplot, and those that the block returned last, as the text that shows them."""
    shown = matplotlib_scraper(block, block_vars, gallery_conf, **options)
    last = block_vars["example_globals"].get(_LAST)
    found = list(last.values()) if isinstance(last, Mapping) else [last]
    paths = []
    for figure in found:
        if isinstance(figure, Figure) and not any(figure is one for one in _drawn):
            _drawn.append(figure)
            path = next(block_vars["image_path_iterator"])
            figure.savefig(path)
            paths.append(path)
    return str(shown + (figure_rst(paths, gallery_conf["src_dir"]) if paths else ""))
