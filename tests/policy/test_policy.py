"""Policy files: what is wrong is said with its line and key."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasamp.policy import Policy, PolicyError
from biasamp.policy.template import toml
from biasamp.policy.toml_lines import key_lines, line_of

GOOD = """\
schema = 1
# a comment with [brackets] and max = 3
[data]
attributes = ["gender",
  "race",  # ]
]
tasks = '''hired'''

[evidence]
min_group = 10

[companions]
tpr_difference = 0.1

[[limit]]
metric = "directional"
max = 0.02

[[limit]]
metric = "multi"
max = 0.1
"""


def load(text: str, tmp_path: Path) -> Policy:
    path = tmp_path / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return Policy.load(path)


def test_a_good_file(tmp_path: Path) -> None:
    policy = load(GOOD, tmp_path)
    assert [limit.metric for limit in policy.limits] == ["directional", "multi"]  # type: ignore[union-attr]
    assert policy.data == {"attributes": ["gender", "race"], "tasks": "hired"}
    assert (policy.min_group, policy.source) == (10, "policy.toml")


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "words"),
    [
        ("max = 0.1", "maxx = 0.1", 21, "limit.maxx", "did you mean 'max'"),
        ("min_group = 10", "min_grup = 10", 10, "evidence.min_grup", "did you mean 'min_group'"),
        ("[evidence]", "[evidnce]", 9, "evidnce", "did you mean 'evidence'"),
        ("attributes =", "atributes =", 4, "data.atributes", "did you mean 'attributes'"),
        ("max = 0.02", "max = 2", 17, "limit.max", "everything passes 2"),
        ("max = 0.02", "max = -2.0", 17, "limit.max", "nothing can pass -2"),
        ("max = 0.1\n", "max = -0.1\n", 21, "limit.max", "multi lies between 0 and 1"),
        ("max = 0.02", "max = nan", 17, "limit.max", "finite"),
        ("max = 0.02", "max = '2%'", 17, "limit.max", "a number is needed"),
        ("max = 0.02", "max = true", 17, "limit.max", "a number is needed"),
        ("max = 0.02", "max = 0.02\nmin = 0.03", 18, "limit.min", "nothing can pass"),
        ("max = 0.02", "", 15, "limit.max", "neither max nor min"),
        ('metric = "multi"', 'metric = "mutli"', 20, "limit.metric", "did you mean 'multi'"),
        ('metric = "multi"', "", 19, "limit.metric", "needs the metric"),
        ('metric = "multi"', 'metric = "multi"\ndirection = "A→T"', 21, "limit.direction", "'A->T', 'T->A'"),
        ('metric = "multi"', 'metric = "leakage"\ndirection = "A->T"', 21, "limit.direction", "has no direction"),
        ('metric = "multi"', 'metric = "dpa"\npairs = true', 21, "limit.pairs", "no value for each pair"),
        ("tpr_difference = 0.1", "tpr_diff = 0.1", 13, "companions.tpr_diff", "tpr_difference"),
        ("tpr_difference = 0.1", "tpr_difference = 3", 13, "companions.tpr_difference", "everything passes"),
        ("min_group = 10", "min_group = 1.5", 10, "evidence.min_group", "whole number"),
        ("min_group = 10", f"min_group = {10**400}", 10, "evidence.min_group", "hundreds of digits"),
        ("schema = 1", "schema = 9", 1, "schema", "reads schema 1"),
        ("tasks = '''hired'''", "binary = ['x']", 7, "data.binary", "attributes"),
        ("tasks = '''hired'''", "binary = [['tasks']]", 7, "data.binary", "attributes"),
        ("tasks = '''hired'''", "tasks = 1\nbins = { age = [3] }", 7, "data.tasks", "names of columns"),
        ("tasks = '''hired'''", "tasks = ['x', [1]]\nbins = { age = [3] }", 7, "data.tasks", "names of columns"),
        ("tasks = '''hired'''", "confidence = [1]", 7, "data.confidence", "strictly between 0 and 1"),
        ("tasks = '''hired'''", "confidence = 0.05", 7, "data.confidence", "write 0.95"),
        ("max = 0.02", "max = ", 17, "syntax", "Invalid value"),
    ],
)
def test_mistakes_name_line_and_key(tmp_path: Path, old: str, new: str, line: int, key: str, words: str) -> None:
    assert old in GOOD
    with pytest.raises(PolicyError) as caught:
        load(GOOD.replace(old, new, 1), tmp_path)
    assert (caught.value.line, caught.value.key) == (line, key)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"policy.toml, line {line}: {key}: ")


def test_a_file_without_limits(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="would pass everything"):
        load("schema = 1\n", tmp_path)
    with pytest.raises(PolicyError, match=r"\[\[limit\]\]"):
        load('[limit]\nmetric = "multi"\n', tmp_path)
    with pytest.raises(FileNotFoundError, match="--init"):
        Policy.load(tmp_path / "none.toml")
    for text, words in {
        "x = " + "[" * 10_000 + "]" * 10_000: "nested too deeply",
        "x = " + "{a=" * 5_000 + "1" + "}" * 5_000: "nested too deeply",
        "x = " + "9" * 5_000: "too many digits",
    }.items():
        with pytest.raises(PolicyError, match=rf"policy\.toml: syntax: .*{words}"):
            load(f"{text}\n{GOOD}", tmp_path)
    # Some editors of Windows begin a file with a mark.
    assert load("\ufeff" + GOOD, tmp_path) == load(GOOD, tmp_path)
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(PolicyError, match="UTF-8"):
        Policy.load(tmp_path / "bytes.toml")


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    policy = load(GOOD + '[baseline]\naudit = "old.json"\n', tmp_path)
    assert policy.baseline == tmp_path / "old.json"


def test_limits_of_python_are_checked_alike() -> None:
    with pytest.raises(PolicyError, match="unknown key; did you mean 'max'"):
        Policy(limits=[{"metric": "multi", "maxx": 1}])
    with pytest.raises(PolicyError, match="groups: a list is needed"):
        Policy(limits=[{"metric": "multi", "max": 0.1}], groups="g=w")


names = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=8)


@given(
    st.dictionaries(
        names, st.one_of(st.integers(-9, 9), st.text(max_size=12), st.lists(st.text(max_size=4))), min_size=1
    )
)
def test_written_values_are_read_back(table: dict[str, Any]) -> None:
    text = "".join(f"{toml(key)} = {toml(value)}\n" for key, value in table.items())
    assert tomllib.loads(text) == table


@given(
    st.lists(
        st.sampled_from(
            ["", "# x = [", 'note = """\n[no]\nx = 1\n"""', "list = [\n  1, # ]\n  [2],\n]", "t = {a = '}'}"]
        ),
        max_size=5,
        unique=True,
    ),
    st.integers(1, 3),
)
def test_lines_of_keys(before: list[str], tables: int) -> None:
    """The key is on the line where its unique name stands, whatever comes before it."""
    text = "\n".join(before) + "\n" + "".join(f'[[limit]]\n"mark.{i}" = {i}\n' for i in range(tables))
    tomllib.loads(text)
    lines = key_lines(text)
    for i in range(tables):
        at = next(n for n, line in enumerate(text.split("\n"), start=1) if f"mark.{i}" in line)
        assert line_of(lines, ("limit", i, f"mark.{i}")) == at
        assert line_of(lines, ("limit", i, "other")) == at - 1
