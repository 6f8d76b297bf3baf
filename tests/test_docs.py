"""The Python snippets of the README and the docs run, in order, as one reader would run them."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

import biasamp
from biasamp.policy import PolicyError
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


# Pages of concepts that are of no metric.
_NO_METRIC = {"index", "evidence"}


@pytest.mark.parametrize(
    "page",
    [page for page in sorted((ROOT / "docs" / "concepts").glob("*.md")) if page.stem not in _NO_METRIC],
    ids=lambda page: page.stem,
)
def test_every_metric_has_a_formula_a_picture_a_case_by_hand_and_what_it_cannot_see(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.search(r"\$[^$]*(\\frac|-|\\mid)[^$]*\$", text)
    assert re.search(r"!\[[^]]{20,}\]\(\.\./_static/pictures/\w+\.svg\)", text)
    assert re.search("^## .*[Bb]y hand", text, re.MULTILINE)
    assert re.search("^## What (it|they) cannot see", text, re.MULTILINE)
    assert "assert " in "".join(code for _, code in snippets(page)), "the case by hand is held by a snippet"


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


def _listed() -> list[str]:
    """What the page of every message lists."""
    sys.path.insert(0, str(ROOT / "docs" / "_extensions"))
    try:
        import message_list
    finally:
        sys.path.pop(0)
    return [text for held in message_list.messages().values() for text in held]


MISTAKES = {
    "a column that is not there": {"attributes": "gnder"},
    "the truth as the prediction": {"task_predictions": "t"},
    "scores in percent": {"task_scores": "percent"},
    "another spelling": {"task_predictions": "words"},
    "a metric that is none": {"metrics": ["dirctional"]},
    "a level beyond 1": {"confidence": 95},
    "a word for a gap": {"tasks": "gaps"},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("wrong", list(MISTAKES))
def test_what_a_mistake_says_is_in_the_list_of_every_message(wrong: str) -> None:
    data = {
        "g": ["a", "b"] * 20,
        "t": [1, 0] * 20,
        "p": [1, 1] * 20,
        "percent": [70, 20] * 20,
        "words": ["Yes", "no"] * 20,
        "gaps": ["1", "n/a"] * 20,
    }
    with pytest.raises((ValueError, TypeError)) as caught:
        biasamp.audit(data, **{"attributes": "g", "tasks": "t", "task_predictions": "p", **MISTAKES[wrong]})
    assert _is_listed(str(caught.value))


POLICIES = (
    "",
    "[[limit]]\nmetrc = 'directional'\n",
    "[[limit]]\nmetric = 'mals'\nmax = 'x'\n",
    "[data]\nattributes = 1\n",
)


@pytest.mark.parametrize("text", POLICIES)
def test_what_is_wrong_with_a_policy_is_in_the_list_of_every_message(text: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PolicyError) as caught:
        biasamp.Policy.load(path)
    assert _is_listed(caught.value.problem)


def _is_listed(said: str) -> bool:
    """Whether a listed message that has words of its own, not gaps alone, is what was said."""
    said = " ".join(said.split())
    return any(re.fullmatch(".*".join(map(re.escape, text.split("…"))), said, re.DOTALL) for text in _listed())


def test_every_message_is_listed() -> None:
    assert len(_listed()) > 900
    assert not _is_listed("a message that nothing in the package says")


def command_lines() -> list[tuple[str, str]]:
    """Every ``$ biasamp ...`` of README and docs, with the page it stands on; lines that end in a backslash go on."""
    found = []
    for page in PAGES:
        if "_build" in page.parts:
            continue
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        found += [
            (str(page.relative_to(ROOT)), line)
            for line in re.findall(r"^\s*\$ (?:.*\| )?(biasamp .*)$", text, re.MULTILINE)
        ]
    return found


def test_command_lines_of_the_docs_have_the_commands_and_options_of_the_program() -> None:
    import shlex

    import click

    from biasamp.cli import group

    context = click.Context(group, info_name="biasamp")
    assert len(command_lines()) > 45
    wrong = []
    for page, line in command_lines():
        words = shlex.split(line, comments=True)[1:]
        command = group.get_command(context, words[0]) if words and not words[0].startswith("-") else group
        if command is None:
            wrong.append((page, line, "no such command"))
            continue
        known = {name for held in command.params for name in (*held.opts, *held.secondary_opts)} | {
            "--help",
            "--version",
        }
        wrong += [(page, line, word) for word in words if word.startswith("--") and word.partition("=")[0] not in known]
    assert wrong == []
