"""Audit counts: what is told of them, sums and what these refuse, word by word, and files that lack something."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import biasamp
from biasamp.counts.audit_counts import AuditCounts, _few, _plan_columns, _plans_apart, _shown
from biasamp.counts.storage import read_arrays, write_arrays

N = 40
DATA: dict[str, Any] = {
    "g": ["w", "m"] * (N // 2),
    "t": [0, 1, 1, 1] * (N // 4),
    "p": [0, 0, 1, 1] * (N // 4),
    "h": ["w", "w", "m", "m"] * (N // 4),
    "id": list(range(N)),
}
ROLES: dict[str, Any] = {"attributes": "g", "tasks": "t", "task_predictions": "p"}


def part(start: int = 0, stop: int = N, **more: Any) -> AuditCounts:
    data = {name: values[start:stop] for name, values in DATA.items()}
    made: AuditCounts = biasamp.count(data, **{**ROLES, "record": "id", **more})
    return made


def test_what_is_told() -> None:
    counts = part()
    assert counts.records == N
    assert counts.fingerprint == f"{counts.content:016x}"
    held = counts.to_dict()
    assert set(held) == {"schema", "kind", "records", "fingerprint", "missing_values", "plan", "sources", "attributes"}
    assert (held["kind"], held["records"], held["fingerprint"], held["missing_values"]) == (
        "audit",
        N,
        counts.fingerprint,
        0,
    )
    (subject,) = held["attributes"]
    assert subject["attribute"] == "g"
    assert [group["records"] for group in subject["groups"]] == [20, 20]
    assert subject["tasks"] == len(counts.subjects[0].sizes["T"])
    (direction,) = subject["directions"].values()
    assert direction == {
        "pairs": 2 * subject["tasks"],
        "bags": 4096,
        "combinations": len(counts.subjects[0].cells["A->T"].cells),
    }  # type: ignore[union-attr]
    (source,) = held["sources"]
    assert source == {"name": counts.sources[0].name, "records": N, "keys": str(counts.keys)}
    withheld = replace(counts, withheld={"below": 5, "groups": {}}).to_dict()
    assert withheld["withheld"] == {"below": 5, "groups": {}}
    bare = replace(counts.subjects[0], cells={"A->T": None})
    assert replace(counts, subjects=(bare,)).to_dict()["attributes"][0]["directions"]["A->T"]["combinations"] is None
    assert repr(counts).startswith(f"<AuditCounts of {N} records from ")
    assert (
        repr(replace(counts, sources=()))
        == f"<AuditCounts of {N} records from no source: g: 2 groups x {subject['tasks']} tasks>"
    )
    two = biasamp.count(DATA, **{**ROLES, "attributes": ["g", "h"]})
    assert repr(two).endswith(f"g: 2 groups x {subject['tasks']} tasks; h: 2 groups x {subject['tasks']} tasks>")


def test_resamples_are_paired_where_records_are_the_same() -> None:
    keyed, unkeyed = part(), part(record=None)
    assert keyed.resampled_as == f"{keyed.units} in 4096 bags"
    assert unkeyed.resampled_as == f"{unkeyed.units} in 4096 bags of {unkeyed.truths:016x}"
    clustered = part(record=None, cluster="id")
    assert clustered.resampled_as == f"{clustered.units} in 4096 bags"
    assert replace(keyed, subjects=()).resampled_as.endswith("in 0 bags")


def test_sums() -> None:
    one, two = part(0, 16), part(16, N)
    both = one + two
    whole = part()
    assert (both.units, both.keys, both.content, both.truths) == (whole.units, whole.keys, whole.content, whole.truths)
    assert both.sampled == whole.sampled
    assert both.sources == (*one.sources, *two.sources)
    assert replace(one, missing_values=2).joined(replace(two, missing_values=3)).missing_values == 5
    assert one.joined(two).sources == ()
    wrapped = replace(one, content=(1 << 64) - 1, truths=(1 << 64) - 2)
    assert wrapped.joined(replace(two, content=3, truths=4)).content == 2
    assert wrapped.joined(replace(two, content=3, truths=4)).truths == 2
    assert sum([one, two]).records == N
    assert one.__radd__(1) is NotImplemented
    assert one.__add__(3) is NotImplemented  # type: ignore[operator]


def test_sources_without_ids_have_their_bags_in_an_order_of_their_own() -> None:
    keyed, unkeyed, clustered = part(), part(record=None), part(record=None, cluster="id")

    def numbers(counts: AuditCounts) -> list[int]:
        return counts.subjects[0].pairs["A->T"].numbers.tolist()

    assert numbers(keyed.of_source("x")) == numbers(keyed)
    assert numbers(clustered.of_source("x")) == numbers(clustered)
    assert (
        numbers(unkeyed.of_source("x")) == unkeyed.subjects[0].shuffled(unkeyed.truths).pairs["A->T"].numbers.tolist()
    )
    assert numbers(unkeyed.of_source("x")) != numbers(unkeyed)
    (source,) = keyed.of_source("x").sources
    assert (source.name, source.records, source.keys, source.content) == ("x", N, keyed.keys, keyed.content)


def test_sums_that_are_refused() -> None:
    one, two = part(0, 16), part(16, N)
    with pytest.raises(
        ValueError,
        match="counts made in different ways do not add up: record is id in the first, nothing in the second",
    ):
        _ = one + part(16, N, record=None)
    with pytest.raises(ValueError, match="hold the same 16 records: counted twice they would weigh twice"):
        _ = one + part(0, 16)
    with pytest.raises(ValueError, match="record column 'id' has repeated ids"):
        _ = one + part(10, N)
    with pytest.raises(ValueError, match="the counts withhold different groups, or below different numbers"):
        _ = one + replace(two, withheld={"below": 5, "groups": {}})
    train = {"g": ["w", "m", "w", "m"], "t": [0, 1, 1, 0]}
    with pytest.raises(ValueError, match="the counts were made with different train labels"):
        _ = part(0, 16, train=train) + part(16, N, train={"g": ["w", "m", "w", "m"], "t": [0, 1, 1, 1]})
    assert (part(0, 16, train=train) + part(16, N, train=train)).records == N
    first = part(0, 16, train=train)
    without = replace(first.subjects[0], train=None)
    for left, right in (
        (first, replace(two, plan=first.plan)),
        (replace(two, plan=first.plan), first),
        (replace(first, subjects=(without,)), part(16, N, train=train)),
    ):
        with pytest.raises(ValueError, match="different train labels"):
            _ = left + right
    groups = {**DATA, "g": ["w", "x"] * (N // 2), "id": [100 + i for i in range(N)]}
    with pytest.raises(
        ValueError,
        match=r"counts of different attribute labels do not add up: only the first have g=m; only the second have g=x\.",
    ):
        _ = one + biasamp.count(groups, **ROLES, record="id")
    turned = replace(two.subjects[0], A=(two.subjects[0].A[0]._replace(categories=("w", "m")),))
    with pytest.raises(
        ValueError,
        match="attribute labels do not add up: they have the same labels in another order or of another kind",
    ):
        _ = one + replace(two, subjects=(turned,))
    turned = replace(two.subjects[0], T=(two.subjects[0].T[0]._replace(name="u"),))
    with pytest.raises(ValueError, match="counts of different tasks labels do not add up"):
        _ = one + replace(two, subjects=(turned,))
    # Rows without ids are the same where they say the same.
    plain = part(0, 16, record=None)
    with pytest.raises(ValueError, match="hold the same 16 records"):
        _ = plain + part(0, 16, record=None)
    other = {name: values[:16] for name, values in {**DATA, "p": [1, 0] * 20}.items()}
    assert (plain + biasamp.count(other, **ROLES)).records == 32


def test_names_and_plans_in_words() -> None:
    assert _few(["a"]) == "a"
    assert _few(list("abcde")) == "a, b, c, d, e"
    assert _few(list("abcdefg")) == "a, b, c, d, e and 2 more"
    assert _shown({"x": "one", "y": ["two"]}) == "one, two"
    assert _shown([["a", "b"], None, None]) == "a, b"
    assert _shown([["a"], "categorical", None]) == "categorical(a)"
    assert _shown([["a"], "categorical", ["x", "y"]]) == "categorical(a, categories=['x', 'y'])"
    assert _shown([]) == "nothing"
    assert _shown(None) == "nothing"
    assert _shown(0.5) == "0.5"
    assert _shown(["a", "b", "c"]) == "a, b, c"
    plan = {
        "groups": {"g": [["g"], "categorical", ["x"]]},
        "task": [[["t"], "binary", None]],
        "unseen": "x",
        "cut": 0.5,
    }
    assert _plan_columns(plan) == {"groups": {"g": [["g"], None, None]}, "task": [[["t"], None, None]], "cut": 0.5}
    apart = _plans_apart(
        {"groups": [["g"], None, None], "same": 1}, {"groups": [["h"], None, None], "same": 1, "weights": "w"}
    )
    assert apart == "attributes is g in the first, h in the second; weights is nothing in the first, w in the second"


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    two = biasamp.count(DATA, **{**ROLES, "attributes": ["h", "g"]}, record="id")
    counts = replace(two, withheld={"below": 3, "groups": {"g": ["w"]}}, missing_values=4)
    counts.save(path)
    back = AuditCounts.load(path)
    for name in ("units", "keys", "content", "truths", "missing_values", "sampled", "sources", "withheld"):
        assert getattr(back, name) == getattr(counts, name), name
    assert list(back.plan["groups"]) == ["h", "g"]
    assert [subject.attribute for subject in back.subjects] == ["h", "g"]
    assert back.to_dict() == counts.to_dict()
    header, arrays = read_arrays(path)
    plain = {name: held for name, held in header.items() if name != "schema"}
    for name in ("plan", "subjects", "units", "keys", "content", "truths", "missing_values", "sampled", "sources"):
        write_arrays(path, {key: held for key, held in plain.items() if key != name}, arrays)
        with pytest.raises(ValueError, match=r"c\.parquet is damaged: it does not hold what counts consist of"):
            AuditCounts.load(path)
    write_arrays(path, {**plain, "kind": "association"}, arrays)
    with pytest.raises(ValueError, match=r"c\.parquet holds counts of the kind 'association', not those of an audit"):
        AuditCounts.load(path)
    del plain["withheld"]
    write_arrays(path, plain, arrays)
    assert AuditCounts.load(path).withheld is None
