"""The Python snippets of the README and the docs run, in order, as one reader would run them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if page.is_file()]
_BLOCK = re.compile(r"^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def snippets(page: Path) -> list[tuple[int, str]]:
    """Line number and text of every Python block of a page."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, block.start(1)), block.group(1)) for block in _BLOCK.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_snippets_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for line, code in snippets(page):
        # Blank lines before it, so that an error names the line of the page.
        exec(compile("\n" * line + code, str(page), "exec"), namespace)


def test_a_broken_snippet_would_be_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Title\n\n```python\nx = 1\n```\n\ntext\n\n```python\nassert x == 2\n```\n\n```console\n$ x\n```\n"
    )
    found = snippets(page)
    assert [line for line, _ in found] == [3, 9]
    assert found[1][1] == "assert x == 2\n"
