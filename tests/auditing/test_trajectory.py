"""Figures along steps: from audits, from counts of associations, and of a model trained on its own output."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp


def _records(seed: int, n: int = 400) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n)
    truth = (rng.random(n) < 0.3 + 0.3 * group).astype(int)
    return {"id": np.arange(n) + 10_000 * seed, "g": np.array(["m", "f"])[group], "t": truth, "noise": rng.random(n)}


def _audit(data: dict[str, Any], lean: float) -> Any:
    """Predictions that give the task to more women, the more they lean."""
    more = (data["g"] == "f") & (data["noise"] < lean)
    said = {**data, "p": np.where(more, 1, data["t"])}
    roles = {"attributes": "g", "tasks": "t", "task_predictions": "p", "record": "id"}
    return biasamp.audit(said, **roles, metrics=["directional"], resamples=300)


def test_audits_of_the_same_records_are_paired() -> None:
    data = _records(0)
    audits = {f"{2020 + i}": _audit(data, lean) for i, lean in enumerate((0.0, 0.1, 0.2, 0.3))}
    found = biasamp.trajectory(audits)
    row = next(found.trends.rows())
    values = [next(audit.metrics.rows())["value"] for audit in audits.values()]
    assert row["paired"]
    assert row["slope"] == pytest.approx(np.polyfit(range(4), values, 1)[0])
    assert row["verdict"] == "rises"
    assert found.document["unit"] == "unit"
    changes = biasamp.compare({"first": audits["2020"], "last": audits["2023"]}).document["differences"][0]
    last = list(found.table.rows())[-1]
    assert last["change_first"] == pytest.approx(changes["difference"])
    # Normal ends beside those of percentiles.
    assert (last["change_first_low"], last["change_first_high"]) == pytest.approx(
        (changes["low"], changes["high"]), abs=0.25 * (changes["high"] - changes["low"])
    )
    assert "rises by" in str(found)


def test_windows_of_other_records_are_weighted_and_a_jump_is_found(tmp_path: Path) -> None:
    leans = (0.02, 0.02, 0.02, 0.02, 0.6)
    windows: dict[str, Any] = {f"2026-0{i + 1}": _audit(_records(i + 1), lean) for i, lean in enumerate(leans)}
    windows["2026-02"].save(tmp_path / "february.json.gz")
    windows["2026-02"] = tmp_path / "february.json.gz"
    found = biasamp.trajectory(windows)
    row = next(found.trends.rows())
    assert not row["paired"]
    assert row["first_left"] == "2026-05"
    assert found.document["unit"] == "month"
    assert any("not paired" in note for note in found.notes)
    errors = [(p["high"] - p["low"]) / (2 * 1.959964) for p in found.document["figures"][0]["points"]]
    at, values = found.table["at"], found.table["value"]
    assert np.polyfit(at, values, 1, w=1 / np.array(errors))[0] == pytest.approx(row["slope"], rel=0.05)


def test_shares_are_those_of_the_counts() -> None:
    rng = np.random.default_rng(3)
    start = rng.random(300)
    steps, shares = {}, []
    own = np.empty((300, 4))
    for k in range(4):
        right = start + rng.normal(size=300) * 0.1 < 0.4 + 0.05 * k
        own[:, k] = right
        shares.append(right.mean())
        data = {"id": list(range(300)), "says": [["model", "right" if value else "left"] for value in right]}
        steps[f"generation {k}"] = biasamp.count(data, identities=["model"], label="says", record="id", pairable=True)
    found = biasamp.trajectory(steps, labels=["right"])
    row = next(found.trends.rows())
    assert found.table["value"].tolist() == pytest.approx(shares)
    slopes = own @ (np.arange(4) - 1.5) / 5.0
    assert row["slope"] == pytest.approx(slopes.mean())
    # Bags of records know the error to some 5%; half a record more at each step widens it.
    error = (row["high"] - row["low"]) / (2 * 1.959964)
    assert error == pytest.approx(slopes.std(ddof=1) / np.sqrt(300), rel=0.15)
    assert row["paired"]


def test_an_identity_is_followed_as_its_share_of_all_records() -> None:
    rng = np.random.default_rng(4)
    start = rng.random(300)
    labels = ["right", "left"]
    own = np.array([start + rng.normal(size=300) * 0.1 < 0.4 + 0.05 * k for k in range(4)])
    united = {"right": ["right"], "either": ["right", "left"]}

    def steps(pairable: bool, identities: Any) -> dict[str, Any]:
        says: dict[str, Any] = {
            str(k): {"id": range(300), "says": [[labels[int(not value)]] for value in own[k]]} for k in range(4)
        }
        options: dict[str, Any] = {"record": "id", "pairable": True} if pairable else {}
        return {
            name: biasamp.count(data, identities=identities, label="says", **options) for name, data in says.items()
        }

    for pairable in (True, False):
        found = biasamp.trajectory(steps(pairable, ["right"]), labels="right")
        row = next(found.trends.rows())
        assert (row["attribute"], row["label"], row["paired"]) == ("all records", "right", pairable)
        assert found.table["value"].tolist() == pytest.approx(own.mean(axis=1).tolist())
    slopes = own.T @ (np.arange(4) - 1.5) / 5.0
    row = next(biasamp.trajectory(steps(True, ["right"]), labels="right").trends.rows())
    error = slopes.std(ddof=1) / np.sqrt(300)
    assert (row["high"] - row["low"]) / (2 * 1.959964) == pytest.approx(error, rel=0.15)
    # One label per record: among the records of an identity nothing moves, and a note says what does.
    still = biasamp.trajectory(steps(True, ["right"]))
    assert any("labels='right' follows" in note for note in still.notes)
    both = biasamp.trajectory(steps(True, united), labels=["either", "left"])
    among = {(row["attribute"], row["label"]): row["value"] for row in both.table.rows() if row["step"] == "0"}
    assert among["all records", "either"] == 1.0
    assert among["either", "left"] == pytest.approx(1.0 - own[0].mean())


def test_generations_of_a_model_trained_on_its_own_output() -> None:
    folder = os.environ.get("BIASAMP_DATA")
    if folder is None:
        pytest.skip("BIASAMP_DATA names no folder")
    from benchmarks.trajectories import generations

    found = generations(Path(folder))
    trends = {row["attribute"]: row for row in found.trends.rows()}
    assert {name: round(row["slope"], 4) for name, row in trends.items()} == {
        "synthetic": 0.0086,
        "preservation": -0.0089,
        "accumulation": -0.0098,
    }
    assert trends["synthetic"]["low"] == pytest.approx(0.0059, abs=0.0002)
    assert trends["synthetic"]["high"] == pytest.approx(0.0115, abs=0.0002)
    assert all(row["paired"] for row in trends.values())


def test_what_is_wrong_is_named() -> None:
    audit = _audit(_records(0), 0.1)
    counts = biasamp.count([["man", "car"], ["woman", "bike"]] * 20, identities=["man", "woman"])
    with pytest.raises(TypeError, match="both audits and counts of associations"):
        biasamp.trajectory({"a": audit, "b": counts})
    with pytest.raises(ValueError, match="at has 1 numbers for 2 steps"):
        biasamp.trajectory({"a": audit, "b": audit}, at=[1])
    with pytest.raises(ValueError, match=r"labels= chooses labels of associations"):
        biasamp.trajectory({"a": audit, "b": audit}, labels="car")
    with pytest.raises(ValueError, match="labels has 'cat', which no step has"):
        biasamp.trajectory({"a": counts, "b": counts}, labels="cat")
    with pytest.raises(TypeError, match=r"steps\['b'\] is a list"):
        biasamp.trajectory({"a": audit, "b": [1]})
    with pytest.raises(ValueError, match="metrics has 'nothing', which is no metric"):
        biasamp.trajectory({"a": audit, "b": audit}, metrics="nothing")


def test_steps_are_taken_in_the_order_of_where_they_are() -> None:
    counted = {}
    for month, said in (("2026-03", 60), ("2026-01", 20), ("2026-02", 40)):
        data = {"id": range(100), "says": [["model", "right" if i < said else "left"] for i in range(100)]}
        counted[month] = biasamp.count(data, identities=["model"], label="says", record="id", pairable=True)
    found = biasamp.trajectory(counted, labels="right")
    assert found.steps == ("2026-01", "2026-02", "2026-03")
    assert [point["value"] for point in found.document["figures"][0]["points"]] == [0.2, 0.4, 0.6]
    assert [point["change_before"] for point in found.document["figures"][0]["points"]][1:] == pytest.approx([0.2, 0.2])
    assert found.notes[0].startswith("Steps were not given in order")
    # A share is no less than 0 and no more than 1, and so are its limits.
    ends = [(point["control_low"], point["control_high"]) for point in found.document["figures"][0]["points"][1:]]
    assert all(0.0 <= low <= high <= 1.0 for low, high in ends)
    # Bit widths go down: that is an order, too.
    down = biasamp.trajectory(dict(zip("abc", counted.values(), strict=True)), at=[32, 8, 4], labels="right")
    assert down.steps == ("a", "b", "c")
    assert not any("in order" in note for note in down.notes)


def test_a_step_given_twice_is_noted() -> None:
    data = {"id": range(200), "g": ["w", "m"] * 100, "t": [1, 0] * 100, "p": [1, 0] * 80 + [0, 1] * 20}
    other = {**data, "p": [1, 0] * 90 + [0, 1] * 10}
    roles = {"attributes": "g", "tasks": "t", "task_predictions": "p", "record": "id", "metrics": ["directional"]}
    one, two = (biasamp.audit(held, **roles, resamples=20) for held in (data, other))
    notes = biasamp.trajectory({"a": one, "b": two, "c": one}).notes
    assert any(note.startswith("a and c have the same predictions") for note in notes)
    assert not any(note.startswith(("a and b have", "b and c have")) for note in notes)
