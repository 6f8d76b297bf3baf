"""The policy that is written for an audit, line by line, in audits that are written by hand."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from biasamp.data import printable
from biasamp.policy import Policy
from biasamp.policy.template import policy_text, toml
from hand_audits import entry, group, hand_audit, pair


def text(*entries: Any, arguments: Any = None, **more: Any) -> str:
    return policy_text(hand_audit(*(entries or (entry(),)), **more), arguments or {})


def lines(*entries: Any, **more: Any) -> list[str]:
    return text(*entries, **more).splitlines()


def test_every_policy_that_is_written_can_be_read(tmp_path: Path) -> None:
    for entries in (
        (entry(),),
        (entry(), entry("tpr_difference")),
        (entry("dpa"),),
        (entry("mean_per_class_accuracy", 0.8),),
    ):
        (tmp_path / "p.toml").write_text(text(*entries), encoding="utf-8")
        assert Policy.load(tmp_path / "p.toml").limits


def test_how_the_data_are_read() -> None:
    arguments = {
        "attributes": ["g"],
        "seed": 0,
        "intersections": False,
        "weights": None,
        "binary": (),
        "train": "a.csv",
    }
    made = tomllib.loads(text(arguments=arguments))
    assert made["data"] == {"attributes": ["g"], "seed": 0, "train": "a.csv"}
    assert made["schema"] == 1
    assert "# How the data are read; options of the command line take the place of these." in lines()
    assert "The comments show what data.csv gave when this file was written." in text()
    assert f"what {printable('n' * 100, 60)} gave when" in text(source="n" * 100)


@pytest.mark.parametrize(
    ("data", "arguments", "named"),
    [
        ({}, {}, []),
        ({"train": True, "base": True, "weighted": True}, {}, ["train", "base", "weights"]),
        ({"train": True, "weighted": True}, {"train": "a.csv"}, ["weights"]),
    ],
)
def test_what_a_saved_audit_was_made_with(data: Any, arguments: Any, named: list[str]) -> None:
    found = [line for line in lines(data=data, arguments=arguments) if "the audit was made with it" in line]
    assert found == [f"# {key} = ...  # the audit was made with it: name it here" for key in named]


def test_the_groups_that_have_to_be_there() -> None:
    rows = [group("w", 12_345), group("m", 7), group("x", 0), group("y", 9)]
    data = {"groups": rows, "ignored_groups": ["g=y"], "confidence": 0.9}
    held = tomllib.loads(text(data=data))["evidence"]
    assert held == {
        "min_records": 60,
        "min_group": 30,
        "groups": ["g=w", "g=m"],
        "ignore_groups": ["g=y"],
        "confidence": 0.9,
    }
    assert '  "g=w",  # 12,345 records' in lines(data=data)
    bare = text(data={"groups": []})
    assert tomllib.loads(bare)["evidence"] == {"min_records": 30, "min_group": 30, "groups": [], "confidence": 0.95}
    assert "# ignore_groups = []  # groups that may be small or gone" in bare


@pytest.mark.parametrize(
    ("ps", "data", "change", "said"),
    [
        ((1e-10, 0.5), {}, {}, True),
        ((1e-8, 0.5), {}, {}, False),
        ((None, 1e-10), {}, {}, True),
        ((None, None), {}, {}, False),
        ((), {}, {}, False),
        ((1e-10,), {"train": True}, {}, False),
        ((1e-10,), {"base": True}, {}, False),
        ((1e-10,), {}, {"direction": "T->A"}, False),
        ((1e-10,), {}, {"metric": "multi"}, False),
    ],
)
def test_attributes_that_go_together_with_tasks(ps: Any, data: Any, change: Any, said: bool) -> None:
    one = entry(pairs=[pair("g=w", f"t={k}", sign_p=p) for k, p in enumerate(ps)], **change)
    made = text(one, entry(attribute="h", pairs=[pair("h=w", "t=1", sign_p=0.5)]), data=data)
    assert tomllib.loads(made)["evidence"].get("associated") == (["g"] if said else None)
    assert ("These go together with tasks here" in made) == said


def test_companions() -> None:
    held = [
        entry("tpr_difference", 0.1),
        entry("tpr_difference", 0.2, attribute="h"),
        entry("accuracy_difference", 0.3),
    ]
    found = lines(entry(), *held, entry("mean_per_class_accuracy", 0.9))
    assert "tpr_difference = 0.1  # g +0.1000 [+0.0800, +0.1200]; h +0.2000 [+0.1800, +0.2200]" in found
    assert "accuracy_difference = 0.1  # g +0.3000 [+0.2800, +0.3200]" in found
    assert not any(line.startswith("fpr_difference") for line in found)
    assert not any(line.startswith("mean_per_class_accuracy") for line in found)
    assert "[companions]" in found
    assert "[companions]" not in lines(entry(), entry("mean_per_class_accuracy", 0.9))


def limits(made: str) -> list[dict[str, Any]]:
    return tomllib.loads(made)["limit"]


def test_limits_of_directional_values_and_their_pairs() -> None:
    rows = [
        pair("g=w", "t=0", 0.3, mirror=True),
        pair("g=w", "t=1", 0.2),
        pair("g=m", "t=1", -0.4),
        pair("g=m", "t=2", None),
    ]
    made = text(
        entry("multi"), entry(value=0.05, pairs=rows), entry(value=0.07, direction="T->A", pairs=[], attribute="h")
    )
    one = {"metric": "directional", "attribute": "g", "direction": "A->T"}
    assert limits(made) == [
        {**one, "on": "bound", "max": 0.02},
        {**one, "pairs": True, "max": 0.1},
        {"metric": "directional", "attribute": "h", "direction": "T->A", "on": "bound", "max": 0.02},
    ]
    found = made.splitlines()
    assert "max = 0.02  # +0.0500 [+0.0300, +0.0700]" in found
    assert "max = 0.1  # largest: g=w → t=1 +0.2000 [+0.1800, +0.2200]" in found
    assert "max = 0.02  # +0.0700 [+0.0500, +0.0900]" in found


def test_the_largest_of_pairs_that_fall() -> None:
    made = text(entry(pairs=[pair("g=w", "t=1", -0.2), pair("g=m", "t=1", -0.1)]))
    assert "max = 0.1  # largest: g=m → t=1 -0.1000 [-0.1200, -0.0800]" in made.splitlines()
    near = text(entry(pairs=[pair("g=w", "t=1", 0.5), pair("g=m", "t=1", 0.0)]))
    assert "max = 0.1  # largest: g=w → t=1 +0.5000 [+0.4800, +0.5200]" in near.splitlines()


def test_bounds_say_how_many_directions_are_unknown() -> None:
    rows = [pair("g=w", "t=1", known=False), pair("g=m", "t=1"), pair("g=m", "t=0", mirror=True, known=False)]
    found = lines(entry(value=0.05, pairs=rows, unknown=2, bounds=[-0.1, 0.2]))
    assert "max = 0.02  # +0.0500, bounds [-0.1000, +0.2000], 1 of 2 directions unknown" in found
    old = lines(entry(value=0.05, interval=[0.01, 0.09], bounds=...))
    assert "max = 0.02  # +0.0500 [+0.0100, +0.0900]" in old
    none = lines(entry(value=None, pairs=rows, unknown=2, bounds=[None, None]))
    assert "max = 0.02  # undefined, bounds , 1 of 2 directions unknown" in none


@pytest.mark.parametrize(
    ("metric", "line"),
    [
        ("dpa", "max = 0.1  # +0.4000 [+0.3800, +0.4200]"),
        ("mean_per_class_accuracy", "min = 0.1  # +0.4000 [+0.3800, +0.4200]"),
    ],
)
def test_without_directional_amplification_the_first_metric_has_a_limit(metric: str, line: str) -> None:
    made = text(entry(metric, 0.4), entry("leakage", 0.5))
    assert [limit["metric"] for limit in limits(made)] == [metric]
    assert line in made.splitlines()


def test_the_baseline_is_there_to_be_taken() -> None:
    found = lines(entry("dpa", 0.4))
    place = found.index("# [baseline]")
    assert found[place + 1] == '# audit = "released.json.gz"'
    assert found[place + 4 : place + 7] == ['# metric = "dpa"', '# against = "baseline"', "# max = 0.01"]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (True, "true"),
        (False, "false"),
        (3, "3"),
        (0.5, "0.5"),
        ('a\x7f"ä', '"a\\u007f\\"ä"'),
        ({"a b": [1, "x"]}, '{ "a b" = [1, "x"] }'),
        (("a", True), '["a", true]'),
        ([], "[]"),
    ],
)
def test_plain_values_in_toml(value: Any, written: str) -> None:
    assert toml(value) == written
    assert tomllib.loads(f"x = {written}")["x"] == (list(value) if isinstance(value, tuple) else value)
