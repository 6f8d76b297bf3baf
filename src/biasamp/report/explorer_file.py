"""The explorer as one HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .explorer_document import explorer_document
from .page import page


def explorer_html(runs: Mapping[str, Any], title: str | None = None) -> str:
    """The explorer page of association results as text. See :func:`write_explorer`."""
    document = explorer_document(runs, title)
    many = f"{len(document['labels']):,} labels of {', '.join(document_name['name'] for document_name in document['runs'])}"
    return page(f"biasamp: {document['title']}", document, words=[many])


def write_explorer(runs: Mapping[str, Any], path: str | Path, title: str | None = None) -> None:
    """Write the explorer of association results as one file with everything inside it.

    Parameters
    ----------
    runs : mapping of a name to an Association or to its ``to_dict()``
        Results to look at side by side, with the same identities.
    path : str or Path
    title : str, optional
        What the page is called; by default the names of the runs.
    """
    Path(path).write_text(explorer_html(runs, title), encoding="utf-8")
