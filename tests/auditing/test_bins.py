"""Audits of columns that are cut into bins: the same as of bins made beforehand, and how values move with other bins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasamp
from biasamp.auditing.bin_edges import other_edges

QUICK: dict[str, Any] = {"metrics": ["directional", "parity"], "resamples": 50}
ROLES: dict[str, Any] = {"tasks": "t", "task_predictions": "p"}
NAMES = ["under 30", "30 to under 50", "50 or more"]


def people(n: int = 2000, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    truth = (rng.random(n) < 0.2 + 0.004 * (age - 18)).astype(int)
    pay = np.round(rng.lognormal(10, 0.5, n), 2)
    return {
        "age": age,
        "sex": rng.choice(["f", "m"], n),
        "t": truth,
        "p": np.where(rng.random(n) < 0.15, (age > 50).astype(int), truth),
        "pay": pay,
        "said": np.round(pay * rng.lognormal(0, 0.2, n), 2),
        "age_said": np.clip(age + rng.integers(-9, 10, n), 18, 90),
    }


def banded(ages: Any) -> list[str]:
    return [NAMES[int(age >= 30) + int(age >= 50)] for age in ages]


def figures(audit: Any, *left_out: str) -> dict[str, Any]:
    return {name: held for name, held in audit.document.items() if name not in ("provenance", "findings", *left_out)}


def test_cut_columns_are_what_bins_made_beforehand_are() -> None:
    data = people()
    data["id"] = np.arange(len(data["t"]))  # else bags go by the values of the truth
    roles = {**ROLES, **QUICK, "record": "id"}
    cut = biasamp.audit(data, attributes=biasamp.binned("age", edges=[30, 50]), **roles)
    data["age"] = banded(data["age"])
    made = biasamp.audit(data, attributes=biasamp.categorical("age", categories=NAMES), **roles)
    one, two = figures(cut, "bins"), figures(made)
    assert one["data"].pop("fingerprint") != two["data"].pop("fingerprint")
    assert one == two
    assert [row["group"] for row in cut.document["data"]["groups"]] == [f"age={name}" for name in NAMES]


def test_predictions_are_cut_at_the_same_edges() -> None:
    """Both directions: a task that is cut, and an attribute whose predictions are numbers too."""
    data = people()
    cut = biasamp.audit(
        data,
        attributes=biasamp.binned("age", edges=[30, 50]),
        attribute_predictions="age_said",
        tasks=biasamp.binned("pay", edges=[20_000, 30_000]),
        task_predictions="said",
        metrics=["directional"],
    )
    names = ["under 20000", "20000 to under 30000", "30000 or more"]
    held = {name: [names[int(v >= 20_000) + int(v >= 30_000)] for v in data[name]] for name in ("pay", "said")}
    for entry in cut.document["metrics"]:
        given, truth, said = (banded(data["age"]), held["pay"], held["said"])
        if entry["direction"] == "T->A":
            given, truth, said = held["pay"], given, banded(data["age_said"])
        assert entry["value"] == pytest.approx(biasamp.directional(given, truth, said).value, abs=1e-15)


def test_other_bins_are_those_that_are_audited_so() -> None:
    data = people()
    audit = biasamp.audit(data, attributes=[biasamp.binned("age", edges=[30, 50]), "sex"], **ROLES, **QUICK)
    (entry,) = audit.document["bins"]
    assert (entry["column"], entry["role"], entry["attribute"]) == ("age", "attribute", "age")
    assert len(entry["others"]) >= 6
    for other in entry["others"]:
        again = biasamp.audit(data, attributes=biasamp.binned("age", edges=other["edges"]), **ROLES, **QUICK)
        assert again.document["metrics"][0]["value"] == other["value"]
    values = [entry["value"], *(other["value"] for other in entry["others"])]
    assert (entry["least"], entry["largest"]) == (min(values), max(values))
    (text,) = [row["text"] for row in audit.document["findings"] if row["code"] == "bins"]
    assert f"{entry['least']:+.3f} to {entry['largest']:+.3f}" in text
    assert text in audit.to_markdown().replace("\\", "")


def test_a_sign_that_rests_on_the_bins_is_said() -> None:
    """The true rate is .5 under 40, .1 under 60 and .4 above, and predictions raise the last: cut at 60 that is further above the others, cut
    at 50 it is nearer to them.
    """
    rng = np.random.default_rng(3)
    age = np.repeat(np.arange(20, 80), 200)
    truth = (rng.random(len(age)) < np.where(age < 40, 0.5, np.where(age < 60, 0.1, 0.4))).astype(int)
    said = np.where((rng.random(len(age)) < 0.2) & (age >= 60), 1 - truth, truth)
    data = {"age": age, "t": truth, "p": said}
    audit = biasamp.audit(data, attributes=biasamp.binned("age", edges=[60]), **ROLES, **QUICK)
    (entry,) = audit.document["bins"]
    assert entry["least"] < 0 < entry["largest"]
    assert any("its sign rests on where age is cut" in row["text"] for row in audit.document["findings"])


def test_files_streams_and_counts_are_the_same_and_say_what_they_cannot(tmp_path: Path) -> None:
    data = people()
    pd.DataFrame(data).to_csv(tmp_path / "a.csv", index=False)
    roles = {"attributes": [biasamp.binned("age", edges=[30, 50]), "sex"], **ROLES}
    whole = biasamp.audit(data, **roles, **QUICK, intersections=True)
    part = biasamp.audit(tmp_path / "a.csv", **roles, **QUICK, intersections=True, engine="local")
    assert figures(whole) == figures(part)
    assert [row["group"] for row in whole.document["data"]["groups"]][5:7] == [
        "age x sex=under 30 & f",
        "age x sex=under 30 & m",
    ]
    counts = biasamp.count(tmp_path / "a.csv", **roles)
    counts.save(tmp_path / "a.parquet")
    of_counts = biasamp.audit(tmp_path / "a.parquet", **QUICK)
    assert "bins" not in of_counts.document
    assert any("counts hold no numbers" in row["reason"] for row in of_counts.document["not_run"])
    with pytest.raises(ValueError, match=r"quantiles, which need all records in memory.*edges=\[\.\.\.\]"):
        biasamp.count(tmp_path / "a.csv", attributes=biasamp.binned("age", bins=3), **ROLES)


def test_an_audit_at_quantiles_is_verified_at_its_edges() -> None:
    data = people()
    audit = biasamp.audit(data, attributes=biasamp.binned("age", bins=4), **ROLES, **QUICK)
    assert biasamp.verify(audit, data)
    data["age"][3] += 1  # in the same bin, and no figure moves
    found = biasamp.verify(audit, data)
    assert not found.same_data
    assert not found.same


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"attributes": biasamp.binned("sex", edges=[1])}, "bins are of numbers"),
        ({"attributes": biasamp.binned(["age", "pay"], edges=[1])}, "cuts 2 columns into bins at once"),
        ({"tasks": ["t", biasamp.binned("pay", edges=[1])]}, "declared among others"),
        ({"tasks": biasamp.binned("pay", edges=[1]), "task_scores": "p", "task_predictions": None}, "is a score of it"),
        (
            {"task_predictions": biasamp.binned("said", edges=[2]), "tasks": biasamp.binned("pay", edges=[1])},
            "same edges",
        ),
    ],
)
def test_what_cannot_be_cut_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        biasamp.audit(people(200), **{"attributes": "sex", **ROLES, **QUICK, **options})


def test_other_edges_are_plausible_and_never_those_given() -> None:
    rng = np.random.default_rng(4)
    for values in (
        rng.integers(0, 5, 300).astype(float),
        rng.lognormal(9, 1, 500),
        np.r_[np.zeros(90), np.arange(10.0)],
    ):
        for edges in ((1.0,), (1.0, 3.0), (2.0, 8000.0)):
            found = dict(other_edges(values, edges))
            assert edges not in found.values()
            assert len(set(found.values())) == len(found)
            for other in found.values():
                assert list(other) == sorted(set(other))
                counts = np.bincount(np.searchsorted(other, values, side="right"), minlength=len(other) + 1)
                assert counts[0] > 0
                assert counts[-1] > 0
