"""The Python snippets of the README and the docs run, in order, as one reader would run them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from extras import needs

ROOT = Path(__file__).parent.parent
PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if page.is_file()]
# A block may say which optional package it needs: ```python needs=torchmetrics
_BLOCK = re.compile(r"^```python(?: needs=(\w+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Packages that "make test EXTRAS=all" promises; the others are tested where they happen to be installed.
PROMISED = ("torchmetrics", "fairlearn", "distributed")


def snippets(page: Path, package: str | None = None) -> list[tuple[int, str]]:
    """Line number and text of every Python block of a page that needs no optional package, or this one."""
    text = page.read_text(encoding="utf-8")
    return [
        (text.count("\n", 0, block.start(2)), block[2])
        for block in _BLOCK.finditer(text)
        if block[1] in (None, package)
    ]


def optional(page: Path) -> list[str]:
    """The optional packages of a page."""
    return sorted({block[1] for block in _BLOCK.finditer(page.read_text(encoding="utf-8")) if block[1]})


def run(page: Path, package: str | None = None) -> None:
    namespace: dict[str, object] = {"__name__": "__main__"}
    for line, code in snippets(page, package):
        # Blank lines before it, so that an error names the line of the page.
        exec(compile("\n" * line + code, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_snippets_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(page)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("page", "package"),
    [(page, package) for page in PAGES for package in optional(page)],
    ids=lambda value: value if isinstance(value, str) else str(value.relative_to(ROOT)),
)
def test_snippets_of_optional_packages_run(
    page: Path, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs(package) if package in PROMISED else pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    run(page, package)


def test_every_python_block_is_run() -> None:
    """A block with a mistyped heading would run nowhere."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert len(re.findall("^```python", text, re.MULTILINE)) == len(_BLOCK.findall(text)), page


def test_a_broken_snippet_would_be_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Title\n\n```python\nx = 1\n```\n\ntext\n\n```python\nassert x == 2\n```\n\n```console\n$ x\n```\n"
    )
    found = snippets(page)
    assert [line for line, _ in found] == [3, 9]
    assert found[1][1] == "assert x == 2\n"


def messages() -> list[str]:
    """The words of messages that the page of troubleshooting quotes: the first cell of each row."""
    lines = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8").splitlines()
    return [found[1] for line in lines if (found := re.match(r"\| `([^`]+)` \|", line))]


def test_messages_of_troubleshooting_are_those_of_the_software() -> None:
    texts = {
        node.value
        for file in (ROOT / "src" / "biasamp").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert len(messages()) > 30
    assert [words for words in messages() if not any(words in text for text in texts)] == []
