"""How the documentation site is built: ``make docs``."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

import biasamp  # noqa: E402

project = "biasamp"
author = "the biasamp developers"
copyright = "the biasamp developers"
version = release = biasamp.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "command_reference",
    "executed",
    "mathml",
    "messages",
    "pictures",
    "public_names",
    "try_in_browser",
]
exclude_patterns = ["_build", "_extensions", "gallery", "**/sg_execution_times.rst", "sg_execution_times.rst"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline"]
myst_heading_anchors = 4

autosummary_generate = False  # public_names writes one page for each name
autodoc_typehints = "none"  # numpydoc's own sections say the types in words
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# Pages are read from a disk as well as from a server: nothing is fetched.
html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "biasamp"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_favicon = "_static/favicon.svg"
html_copy_source = False
html_show_search_summary = False  # summaries are fetched, which pages on a disk may not
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_sidebars = {name: [] for name in ("index", "start", "reading", "which_metric", "in_the_browser")}
html_theme_options = {
    "navigation_with_keys": False,
    "navbar_persistent": ["search-button"],
    "collapse_navigation": True,
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": r"plot_.*\.py",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "notebook_extensions": {".py"},
    "capture_repr": ("_repr_html_", "__repr__"),
    "image_scrapers": ("gallery_figures.returned_figures",),
    "ignore_repr_types": r"ShownFigure|Figures",
    "doc_module": ("biasamp",),
    "backreferences_dir": "examples/backreferences",
    "inspect_global_variables": False,
}
warnings.filterwarnings("error", category=UserWarning, module="biasamp")

linkcheck_ignore = [r"https?://.*"]  # links out of the site are for people to follow; there may be no network here


def _no_empty_headers(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """The corner of a table that pandas shows heads nothing."""
    if "body" in context:
        context["body"] = context["body"].replace("<th></th>", "<td></td>")


def setup(app: Any) -> None:
    """What is done with every page."""
    app.connect("html-page-context", _no_empty_headers)
