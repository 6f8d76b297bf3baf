"""The payload matrix of docs/threat_model.md: every payload on every surface that the page lists."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import tomllib
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import biasamp
from biasamp.policy import Policy
from biasamp.policy.template import policy_text
from biasamp.report.spreadsheet import write_csv
from biasamp.report.terminal import show_audit

PAGE = Path(__file__).parents[1] / "docs" / "threat_model.md"
# A name without any payload, by which it is known what a surface looks like.
PLAIN = "plain"


def rows_of(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows[2:]]


def text_of(written: str) -> str:
    """A payload as the page writes it: a Python text, which may be repeated."""
    tree = ast.parse(written.strip("`"), mode="eval").body
    if isinstance(tree, ast.BinOp):
        return ast.literal_eval(tree.left) * ast.literal_eval(tree.right)  # type: ignore[no-any-return]
    return str(ast.literal_eval(tree))


PAYLOADS = {name: text_of(written) for name, written, _ in rows_of("Payloads")}
SURFACES = [name for name, _ in rows_of("Surfaces")]


@cache
def audit_of(text: str) -> Any:
    """An audit in which a text is a group, a column and the name of the data."""
    data = {"g": [text, "other"] * 20, text: [0, 1, 1, 1] * 10, "p": [1, 1, 0, 1] * 10}
    roles: dict[str, Any] = {"attributes": "g", "tasks": text, "task_predictions": "p"}
    return biasamp.audit(data, **roles, resamples=50, metrics=["directional", "parity"], min_group=5).named(text)


def harmful(text: str) -> list[str]:
    """Characters that steer what shows them."""
    return [
        sign
        for sign in text
        if sign != "\n"
        and (
            ord(sign) < 32
            or 0x7F <= ord(sign) < 0xA0
            or sign in "\u202e\u200f\u2028\u2066"
            or "\ud800" <= sign <= "\udfff"
        )
    ]


def terminal(text: str, folder: Path) -> None:
    from biasamp.cli.plain_console import PlainConsole

    stream = io.StringIO()
    console = PlainConsole(file=stream, markup=False, highlight=False, emoji=False, width=140, soft_wrap=False)
    show_audit(audit_of(text), console)
    assert harmful(stream.getvalue()) == []
    assert max(map(len, stream.getvalue().splitlines())) <= 140


def as_json(text: str, folder: Path) -> None:
    audit_of(text).save(folder / "a.json")
    document = json.loads((folder / "a.json").read_text(encoding="utf-8"))
    assert {row["group"] for row in document["data"]["groups"]} == {f"g={text}", "g=other"}
    assert biasamp.Audit.load(folder / "a.json").document == json.loads(json.dumps(audit_of(text).document))


def as_csv(text: str, folder: Path) -> None:
    if text == PAYLOADS["half"]:
        return  # associations are counted in UTF-8, and refuse it in words
    records = [["man", text], ["woman"], ["man"], ["woman", text, "x"]] * 20
    table = biasamp.associate(records, ["man", "woman"]).table
    stream = io.StringIO(newline="")
    write_csv(table.rows(), list(table.columns), stream)
    cells = [cell for row in csv.reader(io.StringIO(stream.getvalue(), newline="")) for cell in row]
    assert {text, "'" + text} & set(cells) or "\0" in text
    words = [cell for cell in cells if not _is_number(cell)]
    assert not [cell for cell in words if cell.lstrip().startswith(("=", "+", "-", "@"))]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def markdown(text: str, folder: Path) -> None:
    assert _shape(audit_of(text).to_markdown()) == _shape(audit_of(PLAIN).to_markdown())
    assert harmful(audit_of(text).to_markdown()) == []


def _shape(written: str) -> dict[str, int]:
    """What Markdown makes of a text: tags, links, headings, rows of tables and their cells."""
    bare = re.sub(r"\\[^\w\s]", "", written)
    lines = bare.splitlines()
    return {
        "tags": len(re.findall(r"<[a-z/!]", bare, re.IGNORECASE)),
        "links": len(re.findall(r"\]\(|\]:|https?://|javascript:", bare)) - len(re.findall(r"javascript:", bare)),
        "headings": sum(line.startswith("#") for line in lines),
        "cells": sum(line.count("|") for line in lines if line.startswith("|")),
    }


def junit(text: str, folder: Path) -> None:
    def cases(name: str) -> list[str]:
        limit = {"metric": "directional", "direction": "A->T", "max": 0.1}
        verdict = Policy(limits=[limit], min_group=0).check(audit_of(name))
        return [element.tag for element in ElementTree.fromstring(verdict.to_junit().encode()).iter()]

    assert cases(text) == cases(PLAIN)


def sarif(text: str, folder: Path) -> None:
    def messages(name: str) -> list[str]:
        limit = {"metric": "directional", "direction": "A->T", "max": 0.1}
        records = {name: ["a", "b"] * 20, "t": [0, 1, 1, 1] * 10, "p": [1, 1, 0, 1] * 10}
        roles: dict[str, Any] = {"attributes": name, "tasks": "t", "task_predictions": "p"}
        audit = biasamp.audit(records, **roles, resamples=20, metrics=["directional"], min_group=5)
        (run,) = json.loads(Policy(limits=[limit], min_group=0).check(audit).to_sarif())["runs"]
        notes = run["invocations"][0]["toolExecutionNotifications"]
        return [held["message"]["text"] for held in (*run["results"], *notes)]

    written = messages(text)
    assert len(written) == len(messages(PLAIN))
    assert [harmful(line) for line in written] == [[]] * len(written)
    assert not any(re.search(r"(?<!\\)\]\(", line) for line in written)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found[tag] += 1
        self.found.update(f"{tag} {name}" for name, _ in attributes)


def notebook(text: str, folder: Path) -> None:
    def tags(markup: str) -> Counter[str]:
        parser = _Tags()
        parser.feed(markup)
        return parser.found

    assert tags(audit_of(text)._repr_html_()) == tags(audit_of(PLAIN)._repr_html_())
    assert harmful(audit_of(text)._repr_html_()) == []


def page(text: str, folder: Path) -> None:
    audit_of(text).to_html(folder / "a.html")
    written = (folder / "a.html").read_text(encoding="utf-8")
    parser = _Tags()
    parser.feed(written)
    assert parser.found["script"] == 2
    assert not {tag for tag in parser.found if tag.partition(" ")[2].startswith("on")}
    assert harmful(written) == []
    audit_of(PLAIN).to_html(folder / "plain.html")
    plain = _Tags()
    plain.feed((folder / "plain.html").read_text(encoding="utf-8"))
    assert parser.found == plain.found


def policy(text: str, folder: Path) -> None:
    def limits(name: str) -> list[list[str]]:
        arguments = {"attributes": "g", "tasks": name, "task_predictions": "p"}
        read = tomllib.loads(policy_text(audit_of(name), arguments))
        assert read["data"]["tasks"] in (name, [name])
        return [sorted(limit) for limit in read["limit"]]

    if text == PAYLOADS["half"]:
        return  # TOML is UTF-8, which has no half of a pair
    assert limits(text) == limits(PLAIN)


def message(text: str, folder: Path) -> None:
    data = {"g": ["a", text] * 20, "t": [0, 1] * 20, "p": [text, "b"] * 20}
    calls: list[Callable[[], Any]] = [
        lambda: biasamp.audit(data, attributes=text, tasks="t", task_predictions="p"),
        lambda: biasamp.audit(data, attributes="g", tasks="t", task_predictions="p"),
        lambda: biasamp.directional(["a", text] * 20, [0, 1] * 20, [text, "b"] * 20),
        lambda: biasamp.Audit.load(folder / "none" / text.replace("\0", "")),
    ]
    for call in calls:
        with pytest.raises((ValueError, OSError, TypeError)) as error:
            call()
        if not isinstance(error.value, OSError):
            assert harmful(str(error.value)) == []
        assert len(str(error.value)) < 2_000 or isinstance(error.value, OSError)


CHECKS: dict[str, Callable[[str, Path], None]] = {
    "terminal": terminal,
    "JSON": as_json,
    "CSV": as_csv,
    "Markdown": markdown,
    "JUnit": junit,
    "SARIF": sarif,
    "notebook": notebook,
    "page": page,
    "policy": policy,
    "message": message,
}


def test_the_page_lists_what_is_tried() -> None:
    assert list(CHECKS) == SURFACES
    assert len(PAYLOADS) >= 20
    assert PAYLOADS["lines"] == "a\nb\r\nc\u2028d"
    assert len(PAYLOADS["long"]) == 10_000


def runs_code(source: str) -> list[str]:
    """What a module's text has that would run code from a file: readers of pickles, and what evaluates text."""
    found = []
    for node in ast.walk(ast.parse(source)):
        names = [alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        found += [name for name in names if name.partition(".")[0] in UNPICKLING]
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            loose = [word.arg for word in node.keywords if word.arg in ("allow_pickle", "trust_remote_code")]
            found += [called] if called in EVALUATING or loose else []
    return found


UNPICKLING = {"pickle", "_pickle", "cloudpickle", "dill", "marshal", "shelve", "yaml", "code", "runpy"}
EVALUATING = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "np.load",
    "numpy.load",
    "torch.load",
    "joblib.load",
    "pd.read_pickle",
}


def test_no_module_runs_code_from_a_file() -> None:
    folder = PAGE.parents[1] / "src" / "biasamp"
    found = {path.relative_to(folder).as_posix(): runs_code(path.read_text()) for path in folder.rglob("*.py")}
    # Spark's workers exchange pickles, and are trusted.
    assert {name: held for name, held in found.items() if held} == {"engines/spark.py": ["pickle"]}
    for line in ("import pickle", "from yaml import load", "eval(x)", "np.load(p)", "f(p, allow_pickle=True)"):
        assert len(runs_code(line)) == 1


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("payload", PAYLOADS)
def test_payload(payload: str, surface: str, tmp_path: Path) -> None:
    CHECKS[surface](PAYLOADS[payload], tmp_path)
