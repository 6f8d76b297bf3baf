"""Counts for others: they follow from one table alone, from which nobody computes a small count, and give the same figures."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import biasamp
from biasamp.counts.audit_counts import AuditCounts

ROLES: dict[str, Any] = {"attributes": "race", "tasks": "t", "task_predictions": "p"}


def records(sizes: dict[str, int], seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    race = np.repeat(list(sizes), list(sizes.values()))
    t = (rng.random(len(race)) < 0.4).astype(int)
    sex = rng.choice(["f", "m"], len(race))
    return {
        "race": race,
        "t": t,
        "p": np.where(rng.random(len(race)) < 0.25, 1 - t, t),
        "sex": sex,
        "sex_said": np.where(rng.random(len(race)) < 0.2, "f", sex),
        "id": np.arange(len(race)) * 3,
    }


SIZES = {"tiny": 20, "small": 300, "large": 900, "huge": 2000}


def test_figures_are_those_of_the_audit_with_the_same_groups_withheld(tmp_path: Path) -> None:
    data = records(SIZES)
    biasamp.count(data, **ROLES, record="id", suppress=10).save(tmp_path / "a.parquet")
    shared = biasamp.audit(tmp_path / "a.parquet")
    own = biasamp.audit(data, **ROLES, suppress=10)
    assert (
        shared.document["data"]["withheld_groups"]
        == own.document["data"]["withheld_groups"]
        == ["race=small", "race=tiny"]
    )
    one, two = shared.document["metrics"], own.document["metrics"]
    assert [(row["metric"], row["value"]) for row in one] == [(row["metric"], row["value"]) for row in two]
    assert shared.document["rates"] == own.document["rates"]
    for mine, theirs in zip(one, two, strict=True):
        # Bags are drawn anew: resampled intervals differ as with another seed.
        widths = [row["interval"][1] - row["interval"][0] for row in (mine, theirs)]
        assert widths[0] == pytest.approx(widths[1], rel=0.15, abs=1e-12)
    assert "tiny" not in shared.to_markdown().split("How this was made")[0].replace("race=tiny", "")


def test_the_file_follows_from_the_published_table_alone(tmp_path: Path) -> None:
    """Other records with the same table, in another order, with other ids and other sizes of the withheld groups: the same bytes."""
    data = records(SIZES)
    biasamp.count(data, **ROLES, record="id", suppress=10).save(tmp_path / "a.parquet")
    rng = np.random.default_rng(9)
    other = {name: values.copy() for name, values in data.items()}
    moved = np.flatnonzero(other["race"] == "small")[:5]
    other["race"][moved] = "tiny"
    order = rng.permutation(len(other["race"]))
    other = {name: values[order] for name, values in other.items()} | {"id": rng.permutation(10**6)[: len(order)]}
    biasamp.count(other, **ROLES, record="id", suppress=10).save(tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def table_of(path: Path) -> dict[str, dict[tuple[str, str, str], int]]:
    """All that a file says: how many records have each group, truth and prediction, by attribute."""
    out = {}
    for subject in AuditCounts.load(path).subjects:
        table = subject.cells["A->T"]
        assert table is not None
        names = [[label.category or "" for label in side.labels] for side in table.sides.values()]
        held: dict[tuple[str, str, str], int] = {}
        for cell, count in zip(table.cells, table.counts, strict=True):
            rows = [side.combinations[i] for side, i in zip(table.sides.values(), cell, strict=True)]
            key = tuple(names[i][int(row.argmax())] for i, row in enumerate(rows))
            held[key] = held.get(key, 0) + int(count)  # type: ignore[index,arg-type]
        out[subject.attribute] = held
    return out


@pytest.mark.slow(keep=6)
@pytest.mark.parametrize("seed", range(30))
def test_nobody_can_compute_a_withheld_count(seed: int, tmp_path: Path) -> None:
    """Two attributes of the same people: sums of one attribute may not give away groups of the other."""
    rng = np.random.default_rng(seed)
    data = records(SIZES, seed)
    people = len(data["t"])
    levels = [f"age{i}" for i in range(int(rng.integers(3, 6)))]
    data["age"] = rng.choice(levels, people, p=rng.dirichlet(np.full(len(levels), 0.6)))
    attributes = ["race", "age"]
    try:
        counts = biasamp.count(data, **{**ROLES, "attributes": attributes}, suppress=10)
    except ValueError as error:
        if not re.search("to show, and two are needed|nothing can be published", str(error)):
            raise
        return
    counts.save(tmp_path / "a.parquet")
    shown = table_of(tmp_path / "a.parquet")
    assert counts.withheld is not None
    groups = {name: sorted(set(data[name])) for name in attributes}
    cells = list(product(groups["race"], groups["age"]))
    for kind in {key[1:] for key in shown["race"]}:
        sums, right = [], []
        for place, name in enumerate(attributes):
            gone = counts.withheld["groups"][name]
            for group in [*(g for g in groups[name] if g not in gone), *(["(withheld)"] if gone else [])]:
                members = gone if group == "(withheld)" else [group]
                sums.append([float(cell[place] in members) for cell in cells])
                right.append(shown[name].get((group, *kind), 0))
                assert right[-1] == 0 or right[-1] >= 10
        for place, name in enumerate(attributes):
            for group in counts.withheld["groups"][name]:
                goal = np.array([float(cell[place] == group) for cell in cells])
                low, high = (sign * linprog(sign * goal, A_eq=sums, b_eq=right).fun for sign in (1, -1))
                assert high - low >= 10 - 1e-6, (name, group, kind)


def test_both_directions_and_sums_of_sites() -> None:
    data = records(SIZES)
    roles = {"attributes": "sex", "tasks": "t", "task_predictions": "p", "attribute_predictions": "sex_said"}
    counts = biasamp.count(data, **roles, suppress=10)
    audit, own = biasamp.audit(counts), biasamp.audit(data, **roles, suppress=10)
    for way in ("A->T", "T->A"):
        values = [
            [
                row["value"]
                for row in held.document["metrics"]
                if row["metric"] == "directional" and row["direction"] == way
            ]
            for held in (audit, own)
        ]
        assert values[0] == values[1]
    assert any("made to be shared do not hold" in row["reason"] for row in audit.document["not_run"])
    other = biasamp.count(records(SIZES, seed=5), **roles, suppress=10)
    both = biasamp.audit(counts + other)
    assert both.document["data"]["records"] == 2 * sum(SIZES.values())
    assert any(row["code"] == "unknown-overlap" for row in both.document["findings"])


def test_sums_of_what_is_withheld_differently_are_refused() -> None:
    one = biasamp.count(records(SIZES), **ROLES, suppress=10)
    two = biasamp.count(records({"tiny": 900, "small": 900, "large": 900, "huge": 900}), **ROLES, suppress=10)
    with pytest.raises(ValueError, match=r"do not add up|withhold different groups"):
        one + two
    same = biasamp.count(records(SIZES, seed=1), **ROLES) + biasamp.count(records(SIZES, seed=2), **ROLES)
    whole = biasamp.count(same, suppress=10)
    assert whole.records == 2 * sum(SIZES.values())


def test_published_counts_of_two_models_are_not_paired() -> None:
    """They have no ids, and bags of their own: that rows have the same numbers says nothing."""
    data = records({"large": 900, "huge": 2000})
    one = biasamp.audit(biasamp.count(data, **ROLES, record="id", suppress=10))
    data["p"] = np.where(np.random.default_rng(3).random(len(data["p"])) < 0.2, 1 - data["t"], data["t"])
    two = biasamp.audit(biasamp.count(data, **ROLES, record="id", suppress=10))
    assert not any(row["paired"] for row in biasamp.compare({"a": one, "b": two}).table.rows())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cluster": "id"}, "counts with cluster are not shared"),
        ({"weights": "id"}, "counts with weights are not shared"),
        (
            {"train": records({"large": 200, "huge": 200, "tiny": 100, "small": 100}, 8)},
            "train labels are counts of other records",
        ),
        ({"strata": "sex"}, "scores and strata are not shared"),
        ({"attributes": ["race", "sex"], "intersections": True}, "crossings of attributes"),
        ({"suppress": 1}, "suppress is 1"),
        ({"suppress": 3000}, "to show, and two are needed|nothing can be published"),
    ],
)
def test_what_cannot_be_shared_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        biasamp.count(records(SIZES), **{**ROLES, "suppress": 10, **options})


def test_counts_that_were_published_say_so(tmp_path: Path) -> None:
    counts = biasamp.count(records(SIZES), **ROLES, suppress=10)
    counts.save(tmp_path / "a.parquet")
    for again in (lambda: biasamp.count(tmp_path / "a.parquet", suppress=5), lambda: biasamp.audit(counts, suppress=5)):
        with pytest.raises(ValueError, match="withheld"):
            again()
    with pytest.raises(TypeError, match="say with suppress="):
        biasamp.count(counts)
    with pytest.raises(ValueError, match="leave attributes out"):
        biasamp.count(tmp_path / "a.parquet", attributes="race", suppress=10)


def test_a_group_with_the_name_of_the_withheld_is_refused() -> None:
    data = records(SIZES)
    data["race"] = np.where(data["race"] == "huge", "(withheld)", data["race"])
    with pytest.raises(ValueError, match="rename it"):
        biasamp.count(data, **ROLES, suppress=10)


def test_a_model_without_errors_can_be_published() -> None:
    """That nobody is predicted wrongly is said by the totals, and is no small count."""
    data = records(SIZES)
    data["p"] = data["t"].copy()
    assert biasamp.audit(data, **ROLES, suppress=10).document["data"]["withheld_groups"]
