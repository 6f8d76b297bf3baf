"""What a policy refuses in Python and in a file, which arguments it audits with, and what it checks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import biasamp
from amplified import audited, columns
from biasamp.policy import Limit, Policy, PolicyError
from hand_audits import entry, hand_audit

LIMIT = {"metric": "directional", "max": 0.1}
LEVEL = "a level strictly between 0 and 1 is needed, found"
WHOLE = "a whole number of at least 0 is needed, found"
COMPANIONS = "; there are tpr_difference"


def refused(**arguments: Any) -> tuple[str, str]:
    with pytest.raises(PolicyError) as caught:
        Policy(**{"limits": [LIMIT], **arguments})
    assert caught.value.line is None
    return caught.value.key, caught.value.problem


@pytest.mark.parametrize("key", ["limits", "groups", "associated", "ignore_groups"])
def test_lists_are_lists(key: str) -> None:
    for value, said in (("g=w", "'g=w'"), (3, "3"), (None, "None"), ({"a": 1}, "a dict")):
        assert refused(**{key: value}) == (key, f"a list is needed, found {said}")
    kinds: Any = (list, tuple) if key == "limits" else (list, tuple, set, frozenset)
    for kind in kinds:
        held = kind([LIMIT]) if key == "limits" else kind(["g"])
        assert list(getattr(Policy(**{"limits": [LIMIT], key: held}), key))


@pytest.mark.parametrize(
    ("arguments", "key", "problem"),
    [
        ({"companions": ["x"]}, "companions", "a mapping is needed, found a list"),
        ({"data": "x"}, "data", "a mapping is needed, found 'x'"),
        ({"limits": [LIMIT, "x"]}, "limits", "each is a Limit or a mapping"),
        ({"limits": [{"max": 0.1}]}, "metric", "a limit needs the metric that it is about"),
        ({"min_records": -1}, "min_records", f"{WHOLE} -1"),
        ({"min_records": 1.0}, "min_records", f"{WHOLE} 1.0"),
        ({"min_records": True}, "min_records", f"{WHOLE} True"),
        ({"min_group": -1}, "min_group", f"{WHOLE} -1"),
        ({"min_group": 2**53 + 1}, "min_group", f"{WHOLE} 9007199254740993"),
        ({"min_group": None}, "min_group", f"{WHOLE} None"),
        ({"groups": [1]}, "groups", "names of groups are needed, found 1"),
        ({"ignore_groups": ["x", None]}, "ignore_groups", "names of groups are needed, found None"),
        ({"associated": [1]}, "associated", "names of attributes are needed, found 1"),
        ({"paired": 1}, "paired", "true or false is needed, found 1"),
        ({"confidence": 0.0}, "confidence", f"{LEVEL} 0.0"),
        ({"confidence": 1.0}, "confidence", f"{LEVEL} 1.0"),
        ({"confidence": 95}, "confidence", f"{LEVEL} 95"),
        ({"confidence": 1.5}, "confidence", f"{LEVEL} 1.5"),
        ({"data": {"confidence": -0.5}}, "confidence", f"{LEVEL} -0.5"),
        ({"data": {"confidence": "x"}}, "confidence", f"{LEVEL} 'x'"),
        (
            {"confidence": 0.05},
            "confidence",
            "0.05 is the level of an interval, not the chance of an error: write 0.95",
        ),
        (
            {"data": {"confidence": 0.49}},
            "confidence",
            "0.49 is the level of an interval, not the chance of an error: write 0.51",
        ),
        ({"data": {"task": "t"}}, "task", "unknown key; did you mean 'tasks'?"),
        ({"companions": {"tpr_differenc": True}}, "tpr_differenc", "unknown companion; did you mean 'tpr_difference'?"),
        ({"companions": {"tpr_difference": False}}, "tpr_difference", "false requires nothing: leave the key out"),
        (
            {"companions": {"tpr_difference": 1.0}},
            "tpr_difference",
            "everything passes 1: tpr_difference lies between 0 and 1",
        ),
        ({"companions": {"tpr_difference": "x"}}, "tpr_difference", "a number is needed, found 'x'"),
        ({"limits": []}, "limit", "the policy has no limit: it would pass everything"),
    ],
)
def test_what_a_policy_refuses(arguments: dict[str, Any], key: str, problem: str) -> None:
    assert refused(**arguments) == (key, problem)


@pytest.mark.parametrize("metric", ["directional", "multi", "dpa", "mals"])
def test_companions_are_error_rates(metric: str) -> None:
    key, problem = refused(companions={metric: True})
    assert key == metric
    assert problem.startswith("unknown companion")


def test_what_a_policy_takes() -> None:
    made = Policy(limits=(Limit(**LIMIT), LIMIT), min_records=2**53, min_group=0, confidence=0.5)
    assert made.limits == (Limit(metric="directional", max=0.1),) * 2
    assert (made.min_records, made.min_group, made.confidence, made.paired, made.source) == (
        2**53,
        0,
        0.5,
        True,
        "policy",
    )
    assert Policy(limits=[LIMIT]).min_group == 30
    assert Policy(limits=[LIMIT]).min_records == 0
    assert Policy(companions={"mean_per_class_accuracy": 0.5, "fpr_difference": True}).limits == ()
    assert Policy(limits=[LIMIT], data={"confidence": 0.5}).level == 0.5


def test_a_policy_is_shown_without_its_lines() -> None:
    assert "lines" not in repr(Policy(limits=[LIMIT], lines={("limit", 0): 3}))


def test_the_level_that_is_needed() -> None:
    assert Policy(limits=[LIMIT]).level == 0.95
    assert Policy(limits=[LIMIT], data={"confidence": 0.8}).level == 0.8
    assert Policy(limits=[LIMIT], confidence=0.9).level == 0.9
    assert Policy(limits=[LIMIT], confidence=0.9, data={"confidence": 0.8}).level == 0.9


def test_a_policy_about_data_that_are_read_otherwise() -> None:
    made = Policy(limits=[LIMIT], min_group=7, data={"tasks": "t", "seed": 1}).reading(
        tasks="u", seed=None, record="id"
    )
    assert made.data == {"tasks": "u", "seed": 1, "record": "id"}
    assert made.min_group == 7


ROLES = {"attributes": "g", "tasks": "t", "task_predictions": "p"}
QUICK = {"metrics": ["directional"], "resamples": 50}


def test_an_audit_has_what_the_policy_says() -> None:
    policy = Policy(limits=[LIMIT], data={**ROLES, **QUICK, "seed": 3}, min_group=7, ignore_groups=["gone"])
    held = policy.audit(columns()).document
    assert (held["data"]["min_group"], held["data"]["confidence"], held["seed"]) == (7, 0.95, 3)
    assert held["data"]["resamples"] == 50
    held = policy.audit(columns(), seed=4, min_group=9, confidence=0.9, resamples=None).document
    assert (held["data"]["min_group"], held["data"]["confidence"], held["seed"]) == (9, 0.9, 4)
    assert held["data"]["resamples"] == 50
    with pytest.raises(ValueError, match="no group"):  # a name that the call gives is of a group that is there
        policy.audit(columns(), ignore_groups=["gone"])
    ignoring = Policy(limits=[LIMIT], data={**ROLES, **QUICK}, ignore_groups=["x"], confidence=0.9)
    three = columns()
    three["g"][:40] = "x"
    made = ignoring.audit(three).document["data"]
    assert (made["ignored_groups"], made["confidence"]) == (["g=x"], 0.9)
    level = Policy(limits=[LIMIT], data={**ROLES, **QUICK, "confidence": 0.8}, confidence=0.9)
    assert level.audit(columns()).document["data"]["confidence"] == 0.8


def test_counts_say_by_themselves_how_they_were_read() -> None:
    counts = biasamp.count(columns(), **ROLES)
    policy = Policy(limits=[LIMIT], data={"attributes": "x", "tasks": "y", **QUICK, "seed": 3}, min_group=7)
    held = policy.audit(counts).document
    assert (held["data"]["min_group"], held["seed"], held["data"]["roles"]["tasks"]) == (7, 3, ["t"])
    with pytest.raises(ValueError, match="leave tasks out"):
        policy.audit(counts, tasks="t")  # what the call says is not passed over


@pytest.mark.parametrize(
    ("roles", "key"), [({}, "attributes"), ({"attributes": "g"}, "tasks"), ({"tasks": "t"}, "attributes")]
)
def test_data_without_roles(roles: dict[str, Any], key: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy(limits=[LIMIT], data=roles, source="p.toml").audit(columns())
    assert (caught.value.key, caught.value.source) == (f"data.{key}", "p.toml")
    assert caught.value.problem == "neither the policy nor the call says which columns"


# What is checked.

AGAINST = {**LIMIT, "against": "baseline"}
LINES: dict[tuple[str | int, ...], int] = {("baseline",): 5, ("baseline", "audit"): 6, ("limit", 0): 8}


def test_a_baseline_that_is_what_is_judged(tmp_path: Path) -> None:
    audit = audited(columns(), metrics=["directional"])
    saved = tmp_path / "old.json.gz"
    audit.save(saved)
    policy = Policy(limits=[AGAINST], source="p.toml", lines=LINES)
    ending = "is both what is judged and its baseline: name the audit of the model that it is to be no worse than"
    for now, before, name in (
        (audit, audit, "the same audit"),
        ([audit], audit, "the same audit"),
        (audit, [hand_audit(entry()), audit], "the same audit"),
        (str(saved), saved, f"the file {os.fspath(saved)!r}"),
        (saved, (str(saved),), f"the file {os.fspath(saved)!r}"),
    ):
        with pytest.raises(PolicyError) as caught:
            policy.check(now, before)
        assert caught.value.problem == f"{name} {ending}"
        assert (caught.value.key, caught.value.line, caught.value.source) == ("baseline", None, "p.toml")
    with pytest.raises(PolicyError) as caught:
        Policy(limits=[AGAINST], baseline=saved, lines=LINES).check(saved)
    assert caught.value.line == 6


def test_a_baseline_that_cannot_be_read(tmp_path: Path) -> None:
    gone = tmp_path / "gone.json"
    with pytest.raises(PolicyError) as caught:
        Policy(limits=[AGAINST], baseline=gone, source="p.toml", lines=LINES).check(hand_audit(entry()))
    assert (caught.value.key, caught.value.line, caught.value.source) == ("baseline", 6, "p.toml")
    with pytest.raises(PolicyError) as caught:
        Policy(limits=[AGAINST], lines=LINES).check(hand_audit(entry()), gone)
    assert caught.value.line is None
    with pytest.raises(PolicyError, match="baseline is an empty list: give an audit, or those of several runs"):
        Policy(limits=[AGAINST]).check(hand_audit(entry()), [])


def test_the_baseline_that_is_given_takes_the_place_of_the_policys_own(tmp_path: Path) -> None:
    before = audited(columns(said=0.1), metrics=["directional"])
    policy = Policy(limits=[{**AGAINST, "max": 0.5}], baseline=tmp_path / "gone.json", min_group=0)
    verdict = policy.check(audited(columns(), metrics=["directional"]), before)
    assert [check.outcome for check in verdict.checks if check.against] == ["pass"]


def test_what_is_no_audit() -> None:
    policy = Policy(limits=[LIMIT])
    forms = r"Records are audited first: policy.check\(policy.audit\(data\)\)"
    with pytest.raises(TypeError, match=rf"^audit is a float; .*{forms}"):
        policy.check(0.5)
    with pytest.raises(TypeError, match=r"^audit\[1\] is a float"):
        policy.check((hand_audit(entry()), 0.5))
    with pytest.raises(TypeError, match=r"^earlier is a dict"):
        policy.check(hand_audit(entry()), earlier=[{}])
    with pytest.raises(ValueError, match="audit is an empty list"):
        policy.check(())
    with pytest.raises(ValueError, match="audit holds the same audit as run 0 and run 1"):
        policy.check([hand_audit(entry())] * 2)


# Files.

TOML = """\
[data]
attributes = "g"
tasks = ["t", "u"]
train = "sub/train.csv"
base = "base.csv"

[evidence]
min_records = 3
groups = ["g=w"]
associated = ["g"]
ignore_groups = ["x"]
confidence = 0.9

[companions]
tpr_difference = true

[baseline]
audit = "sub/old.json"
paired = false

[[limit]]
metric = "directional"
max = 0.1
"""


def load(folder: Path, text: str) -> Policy:
    (folder / "p.toml").write_text(text, encoding="utf-8")
    return Policy.load(folder / "p.toml")


def test_everything_that_a_file_may_say(tmp_path: Path) -> None:
    made = load(tmp_path, TOML)
    assert made.data == {
        "attributes": "g",
        "tasks": ["t", "u"],
        "train": str(tmp_path / "sub" / "train.csv"),
        "base": str(tmp_path / "base.csv"),
    }
    assert (made.min_records, made.min_group, made.confidence, made.paired) == (3, 30, 0.9, False)
    assert (made.groups, made.associated, made.ignore_groups) == (["g=w"], ["g"], ["x"])
    assert (made.companions, made.baseline) == ({"tpr_difference": True}, tmp_path / "sub" / "old.json")
    assert made.limits == (Limit(metric="directional", max=0.1),)
    assert made.source == "p.toml"
    assert (made.line("limit", 0, "max"), made.line("baseline", "paired"), made.line("evidence", "x")) == (23, 19, 7)
    bare = load(tmp_path, '[[limit]]\nmetric = "directional"\nmax = 0.1\n')
    assert (bare.paired, bare.baseline, bare.data, bare.companions) == (True, None, {}, {})


COLUMNS = "the names of columns are needed, found"
SOME = "some of ['attributes', 'tasks'] are needed, found"
VALUES = "lists of values for some of ['attributes', 'tasks'] are needed, found"
EDGES = "edges by column are needed, such as { age = [25, 45] }, found"


@pytest.mark.parametrize(
    ("text", "line", "key", "problem"),
    [
        ("[limits]\n", 1, "limits", "unknown key; did you mean 'limit'?"),
        ("schema = 2\n", 1, "schema", "schema 2; this version reads schema 1"),
        ("evidence = 3\n", 1, "evidence", "a table is needed: write [evidence] above its keys"),
        ("data = 3\n", 1, "data", "a table is needed: write [data] above its keys"),
        ("companions = 3\n", 1, "companions", "a table is needed: write [companions] above its keys"),
        ("[baseline]\nfile = 'x'\n", 2, "baseline.file", "unknown key; there are audit, paired"),
        ("[baseline]\naudit = 3\n", 2, "baseline.audit", "the path of a saved audit is needed, found 3"),
        ("[baseline]\npaired = 3\n", 2, "baseline.paired", "true or false is needed, found 3"),
        (
            "[evidence]\nconfidence = 1\n",
            2,
            "evidence.confidence",
            "a level strictly between 0 and 1 is needed, such as 0.95",
        ),
        ("[evidence]\n\ngroups = 'w'\n", 3, "evidence.groups", "a list of groups is needed, found 'w'"),
        ("[evidence]\nassociated = 'g'\n", 2, "evidence.associated", "a list of attributes is needed, found 'g'"),
        ("[evidence]\nignore_groups = 3\n", 2, "evidence.ignore_groups", "a list of groups is needed, found 3"),
        ("[evidence]\nmin_group = -1\n", 2, "evidence.min_group", f"{WHOLE} -1"),
        (
            "[companions]\ntpr_difference = false\n",
            2,
            "companions.tpr_difference",
            "false requires nothing: leave the key out",
        ),
        ("limit = 3\n", 1, "limit", "limits are a list of tables: write [[limit]] above each"),
        ("limit = [3]\n", 1, "limit", "limits are a list of tables: write [[limit]] above each"),
        ("[data]\ntasks = 3\n", 2, "data.tasks", f"{COLUMNS} 3"),
        ("[data]\nattributes = [3]\n", 2, "data.attributes", f"{COLUMNS} [3]"),
        ("[data]\nbinary = 'tasks'\n", 2, "data.binary", f"{SOME} 'tasks'"),
        ("[data]\ncategorical = ['x']\n", 2, "data.categorical", f"{SOME} ['x']"),
        ("[data]\ncategories = ['x']\n", 2, "data.categories", f"{VALUES} ['x']"),
        ("[data]\ncategories = { x = ['a'] }\n", 2, "data.categories", f"{VALUES} {{'x': ['a']}}"),
        ("[data]\ncategories = { tasks = 'a' }\n", 2, "data.categories", f"{VALUES} {{'tasks': 'a'}}"),
        ("[data]\nbins = 3\n", 2, "data.bins", f"{EDGES} 3"),
        ("[data]\nbins = { age = 'x' }\n", 2, "data.bins", f"{EDGES} {{'age': 'x'}}"),
        (
            "[data]\nattributes = 'g'\nbins = { age = [3] }\n",
            3,
            "data.bins",
            "'age' is no column of attributes or tasks",
        ),
        ("[data]\ntasks = ['t']\nbins = { b = 3, a = 3 }\n", 3, "data.bins", "'a' is no column of attributes or tasks"),
        ("[data]\nconfidence = 2.0\n", 2, "data.confidence", f"{LEVEL} 2.0"),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path: Path, text: str, line: int, key: str, problem: str) -> None:
    end = "" if text.startswith("limit =") else '[[limit]]\nmetric = "directional"\nmax = 0.1\n'
    with pytest.raises(PolicyError) as caught:
        load(tmp_path, text + end)
    assert (caught.value.line, caught.value.key, caught.value.problem) == (line, key, problem)
    assert caught.value.source == "p.toml"


@pytest.mark.parametrize(
    "data",
    [
        "attributes = { a = 'g' }\ntasks = 't'",
        "binary = ['tasks']\ncategorical = ['attributes']",
        "binary = ['tasks', 'attributes']",
        "attributes = 'age'\nbins = { age = [3] }",
        "categories = { tasks = ['a'] }",
        "categories = { tasks = ['a'], attributes = [] }",
        "bins = { age = [3], size = 4 }",  # the call may name the columns
        "attributes = ['age', 'g']\nbins = { age = [3] }",
        "attributes = 'g'\ntasks = 'age'\nbins = { age = 4 }",
        "train = { g = ['w'] }",
    ],
)
def test_data_of_a_file_that_are_right(tmp_path: Path, data: str) -> None:
    assert load(tmp_path, f'[data]\n{data}\n[[limit]]\nmetric = "directional"\nmax = 0.1\n').data


def test_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.load(tmp_path)
    assert (caught.value.key, caught.value.problem) == ("file", "it is a folder, and the file of a policy is needed")
    assert caught.value.source == str(tmp_path)
    with pytest.raises(FileNotFoundError, match="biasamp check --init writes one"):
        Policy.load(tmp_path / "none.toml")
