"""The parts of directional values in an audit: the same wherever records are counted, and those of decompose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.counts.audit_counts import AuditCounts
from biasamp.datasets import berkeley

ROLES: dict[str, Any] = {
    "attributes": "group",
    "tasks": ["x", "y"],
    "task_scores": ["x_score", "y_score"],
    "strata": "region",
    "record": "id",
}


def table(n: int = 1500, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b"], n)
    region = rng.choice(["north", "south", "west"], n, p=[0.6, 0.3, 0.1])
    lean = np.where(group == "a", 0.15, -0.15) + np.where(region == "north", 0.1, 0.0)
    out: dict[str, Any] = {"id": np.arange(n), "group": group, "region": region}
    for place, name in enumerate(("x", "y")):
        score = np.clip(0.45 + (1 - 2 * place) * lean + 0.2 * rng.standard_normal(n), 0.01, 0.99)
        out[name] = (rng.random(n) < score).astype(int)
        out[f"{name}_score"] = score
        out[f"{name}_pred"] = (score >= 0.5).astype(int)
    return out


def why(audit: Any) -> list[dict[str, Any]]:
    return json.loads(json.dumps(audit.document["why"], allow_nan=False))


@pytest.fixture(scope="module")
def held() -> Any:
    return biasamp.audit(table(), **ROLES, metrics="directional")


def test_parts_are_those_of_the_function(held: Any) -> None:
    data = table()
    truth, scores = (np.column_stack([data[f"{k}{end}"] for k in ("x", "y")]) for end in ("", "_score"))
    alone = biasamp.decompose(data["group"], truth, scores, strata=data["region"])
    (entry,) = held.document["why"]
    for of in ("value", "score", "threshold", "inside"):
        assert entry["parts"][of]["value"] == getattr(alone, of)
        assert entry["parts"][of]["verdict"] == alone.verdicts[of]
        # Other ids, other bags: the intervals are those of other resamples.
        assert entry["parts"][of]["interval"] == pytest.approx(list(alone.quiet_interval(of=of)), abs=0.005)
    assert alone.strata is not None
    assert [row["value"] for row in entry["strata"]] == alone.strata["value"].tolist()
    assert alone.reliability is not None
    assert [row["error"] for row in entry["reliability"]] == alone.reliability["error"].tolist()
    value = next(row["value"] for row in held.metrics.rows())
    assert value == entry["parts"]["value"]["value"]


def test_decisions_are_made_at_one_half_or_given(held: Any) -> None:
    given = biasamp.audit(table(), **ROLES, task_predictions=["x_pred", "y_pred"], metrics="directional")
    assert why(given)[0]["parts"] == why(held)[0]["parts"]
    assert why(held)[0]["rule"] == "a score of 0.5 or more"
    assert why(given)[0]["rule"] == "the decisions given as predictions"


def test_counted_in_parts_merged_and_saved_it_is_the_same(held: Any, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(table())
    frame.to_csv(tmp_path / "all.csv", index=False)
    streamed = biasamp.audit(tmp_path / "all.csv", **ROLES, metrics="directional", engine="local", threads=2)
    assert why(streamed) == why(held)
    whole = biasamp.count(frame, **ROLES)
    halves = [biasamp.count(part, **ROLES, labels=whole) for part in (frame[:400], frame[400:])]
    both = halves[0] + halves[1]
    assert why(biasamp.audit(both, metrics="directional")) == why(held)
    both.save(tmp_path / "counts.parquet")
    again = AuditCounts.load(tmp_path / "counts.parquet")
    assert why(biasamp.audit(again, metrics="directional")) == why(held)


def test_counts_of_other_strata_do_not_add_up() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(table())
    one = biasamp.count(frame[:500], **ROLES)
    other = biasamp.count(frame[500:].replace({"region": {"west": "south"}}), **ROLES)
    with pytest.raises(ValueError, match="different strata"):
        _ = one + other
    with pytest.raises(ValueError, match="labels= does not know the strata 'west'"):
        biasamp.count(frame, **ROLES, labels=other)


def test_strata_without_scores_and_scores_without_strata() -> None:
    data = table()
    roles = {name: value for name, value in ROLES.items() if name not in ("task_scores", "strata")}
    predictions = {"task_predictions": ["x_pred", "y_pred"], "metrics": "directional"}
    (inside,) = why(biasamp.audit(data, **roles, **predictions, strata="region"))
    assert list(inside["parts"]) == ["value", "inside"]
    assert "reliability" not in inside
    (scored,) = why(biasamp.audit(data, **roles, metrics="directional", task_scores=ROLES["task_scores"]))
    assert list(scored["parts"]) == ["value", "score", "threshold"]
    assert "strata" not in scored
    assert "why" not in biasamp.audit(data, **roles, **predictions).document


def test_classes_and_attributes_have_scores() -> None:
    rng = np.random.default_rng(4)
    n = 600
    chances = rng.dirichlet([1.0, 1.0, 1.0], n)
    truth = np.array(["l", "m", "r"])[(rng.random(n)[:, None] > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)]
    group = rng.choice([0, 1], n)
    data = {"vote": truth, "g": group, "g_score": np.clip(0.3 + 0.4 * group + 0.2 * rng.random(n), 0, 1)}
    data |= {f"p{k}": chances[:, i] for i, k in enumerate("lmr")}
    held = biasamp.audit(
        data,
        attributes="g",
        tasks="vote",
        task_scores=biasamp.categorical(["pl", "pm", "pr"], categories=["l", "m", "r"]),
        attribute_scores="g_score",
        metrics="directional",
    )
    forward, back = held.document["why"]
    alone = biasamp.decompose(group, truth, biasamp.categorical(chances, categories=["l", "m", "r"]))
    assert forward["parts"]["score"]["value"] == pytest.approx(alone.score, abs=1e-12)
    assert forward["rule"] == "the class with the highest score"
    assert back["direction"] == "T->A"
    assert back["parts"]["threshold"]["value"] == biasamp.decompose(truth, group, data["g_score"]).threshold


def test_findings_and_cautions_of_the_demo() -> None:
    data = berkeley.with_predictions()
    roles = {"attributes": "gender", "tasks": "admitted", "task_predictions": "admitted_pred"}
    held = biasamp.audit(data, **roles, task_scores="admitted_score", strata="department", metrics="directional")
    codes = {finding.code: finding for finding in held.findings}
    assert "+0.150" in codes["why"].text
    assert "of the scores" in codes["why"].text
    # Six scores are tied, and none keeps the rate of 0.388.
    assert "at the threshold that comes nearest to the base rate (0.378 against 0.388)" in codes["why"].text
    assert "above 0 in none of them" in codes["why"].text
    assert {"reversed-signs", "small-strata"} <= set(codes)
    assert "Simpson" in codes["reversed-signs"].text
    assert held.document["sweep"][0]["usual"]["amplification"] == pytest.approx(0.1503, abs=5e-5)
    said = " ".join(
        finding.text for code, finding in codes.items() if code in ("why", "reversed-signs", "small-strata")
    )
    assert not any(word in said.lower() for word in ("cause", "because", "due to", "effect", "explain"))
    assert held.why["part"].tolist() == ["value", "score", "threshold", "inside"]


def test_scores_that_do_not_come_true_are_said() -> None:
    data = table(3000)
    data["x_score"] = np.where(data["group"] == "a", data["x_score"] ** 2, data["x_score"])
    held = biasamp.audit(data, **ROLES, metrics="directional")
    (words,) = [finding.text for finding in held.findings if finding.code == "uncalibrated"]
    assert "'x' in 'group=a'" in words
    calibrated = biasamp.audit(table(3000), **ROLES, metrics="directional")
    assert not [finding for finding in calibrated.findings if finding.code == "uncalibrated"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"strata": "group"}, "strata and attributes both name the column 'group'"),
        ({"strata": "x"}, "strata and tasks both name"),
        ({"strata": ["region", "group"]}, "strata names 2 columns"),
        ({"strata": "nowhere"}, "nowhere"),
        ({"strata": "id", "record": None}, "looks like an identifier"),
        ({"task_scores": ["x", "y"]}, "the truth would be its own score"),
        ({"task_predictions": ["x_score", "y_score"]}, "what it was decided from"),
    ],
)
def test_wrong_roles_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, KeyError), match=message):
        biasamp.audit(table(200), **{**ROLES, **changed}, metrics="directional")


def _with_holes(n: int = 600) -> dict[str, Any]:
    """Records of which some lack a score, some a stratum and some a label."""
    rng = np.random.default_rng(4)
    data = {name: values.astype(object) for name, values in table(n).items()}
    for name in ("x_score", "y_score", "region", "group", "x"):
        data[name][rng.choice(n, 20, replace=False)] = None
    return data


@pytest.mark.parametrize("missing", ["error", "negative"])
@pytest.mark.parametrize("engine", ["auto", "local"])
def test_missing_scores_and_strata_are_refused_with_a_way_out_that_works(missing: str, engine: str) -> None:
    holes, whole = _with_holes(), table(600)
    for column, role in (("x_score", "task_scores"), ("region", "strata")):
        data = {**whole, column: holes[column]}
        rows = [i + 1 for i, value in enumerate(holes[column]) if value is None][:5]
        what = role.removeprefix("task_")
        expected = rf"{role} has 20 records with missing {what} in {column} \((id|rows) .*missing=\"drop\""
        with pytest.raises(ValueError, match=expected) as refused:
            biasamp.audit(data, **ROLES, missing=missing, metrics="directional", engine=engine)
        named = ", ".join(str(row - 1) for row in rows) if "(id " in str(refused.value) else ", ".join(map(str, rows))
        assert f" {named}, …" in str(refused.value)
        biasamp.audit(data, **ROLES, missing="drop", metrics="directional", engine=engine)


@pytest.mark.parametrize("predicted", [None, "x_pred"])
def test_records_without_a_score_or_a_stratum_are_in_no_pair(predicted: str | None) -> None:
    roles: dict[str, Any] = {"attributes": "group", "tasks": "x", "task_scores": "x_score", "strata": "region"}
    roles |= {"record": "id", "task_predictions": predicted}
    holes = _with_holes()
    needed = ("group", "x", "x_score", "region")
    keep = [i for i in range(len(holes["id"])) if all(holes[name][i] is not None for name in needed)]
    whole = {name: [values[i] for i in keep] for name, values in holes.items()}
    left = biasamp.audit(whole, **roles, metrics=["directional", "parity", "dpa"]).document
    for engine in ("auto", "local"):
        found = biasamp.audit(holes, **roles, missing="drop", metrics=["directional", "parity", "dpa"], engine=engine)
        assert [row["value"] for row in found.document["metrics"]] == [row["value"] for row in left["metrics"]]
        mine, theirs = found.document["why"][0], left["why"][0]
        assert {name: part["value"] for name, part in mine["parts"].items()} == {
            name: part["value"] for name, part in theirs["parts"].items()
        }
        for one, two in zip(mine["strata"], theirs["strata"], strict=True):
            assert (one["stratum"], one["n"], one["value"]) == (two["stratum"], two["n"], two["value"])
        # Some lack two of them, and the values that are missing are counted one by one.
        assert found.document["data"]["missing_values"] == 80
    counts = biasamp.count(holes, **roles, missing="drop")
    assert biasamp.audit(counts, metrics="directional").document["why"][0]["parts"] == found.document["why"][0]["parts"]


def test_a_score_that_is_missing_leaves_the_other_tasks_their_record() -> None:
    data = {**table(300), "x_score": _with_holes(300)["x_score"]}
    found = biasamp.audit(data, **{**ROLES, "strata": None}, missing="drop", metrics="directional").document
    support = {row["outcome"]: row["support"] for row in found["metrics"][0]["pairs"] if row["given"].endswith("a")}
    assert support["y"] - support["x"] == sum(
        group == "a" for group, score in zip(data["group"], data["x_score"], strict=True) if score is None
    )


def test_soft_predictions_have_no_parts() -> None:
    data = table(200)
    roles = {**ROLES, "task_scores": None, "task_predictions": ["x_score", "y_score"]}
    held = biasamp.audit(data, **roles, metrics="directional")
    assert "why" not in held.document
    assert any(row["metric"] == "why" and "need decisions" in row["reason"] for row in held.not_run)


def test_parts_add_up_where_labels_are_missing() -> None:
    rng = np.random.default_rng(2)
    n = 600
    score = np.round(rng.random(n), 3)
    truth = np.where(rng.random(n) < 0.1, None, (rng.random(n) < score).astype(int)).tolist()
    group = np.where(rng.random(n) < 0.1, None, rng.choice(["a", "b"], n)).tolist()
    data = {"g": group, "t": truth, "s": score, "part": rng.choice(["x", "y"], n)}
    roles = {"attributes": "g", "tasks": "t", "task_scores": "s", "strata": "part", "metrics": ["directional"]}
    found = biasamp.audit(data, **roles, missing="drop").document
    kept = [i for i in range(n) if truth[i] is not None and group[i] is not None]
    whole = biasamp.audit({name: [values[i] for i in kept] for name, values in data.items()}, **roles).document
    for document in (found, whole):
        parts = document["why"][0]["parts"]
        assert parts["score"]["value"] + parts["threshold"]["value"] == pytest.approx(
            parts["value"]["value"], abs=1e-12
        )
    assert found["why"][0]["parts"]["threshold"]["value"] == whole["why"][0]["parts"]["threshold"]["value"]


@pytest.mark.parametrize("predicted", [False, True])
def test_what_one_task_lacks_leaves_the_record_to_the_others(predicted: bool) -> None:
    rng = np.random.default_rng(4)
    n, names = 400, ("x", "y", "z")
    group = rng.choice(["a", "b"], n)
    lean = 0.3 * (group == "a")[:, None]
    score = np.round(np.clip(rng.random((n, 3)) * 0.7 + lean, 0.0, 1.0), 2)
    truth = (rng.random((n, 3)) < score).astype(float)
    # The last records lack nothing, so that parts with and without holes are added up.
    for values in (truth, score):
        values[:300][rng.random((300, 3)) < 0.1] = np.nan
    said = np.where(rng.random((n, 3)) < 0.1, rng.random((n, 3)) < 0.5, score >= 0.5).astype(float)
    held = said if predicted else np.where(np.isnan(score), np.nan, score >= 0.5)
    data: dict[str, Any] = {"id": np.arange(n), "group": group, "part": rng.choice(["p", "q"], n)}
    for k, name in enumerate(names):
        data |= {name: truth[:, k], f"{name}_score": score[:, k], f"{name}_said": said[:, k]}
    roles: dict[str, Any] = {"attributes": "group", "tasks": list(names), "record": "id", "strata": "part"}
    roles |= {"task_scores": [f"{name}_score" for name in names], "missing": "drop"}
    if predicted:
        roles["task_predictions"] = [f"{name}_said" for name in names]
    parts: list[list[float]] = []
    for k in range(3):
        known = ~(np.isnan(truth[:, k]) | np.isnan(score[:, k]))
        for name in ("a", "b"):
            mine = known & (group == name)
            rates = [float(side[mine, k].mean()) for side in (truth, score, held)]
            sign = np.sign(rates[0] - truth[known, k].mean())
            parts.append([sign * part for part in (rates[2] - rates[0], rates[1] - rates[0], rates[2] - rates[1])])
    wanted = dict(zip(("value", "score", "threshold"), np.mean(parts, axis=0), strict=True))
    found = biasamp.audit(data, **roles, metrics=["directional"]).document
    halves = [{name: values[rows] for name, values in data.items()} for rows in (slice(300), slice(300, None))]
    counts = biasamp.count(halves[0], **roles) + biasamp.count(halves[1], **roles)
    added = biasamp.audit(counts, metrics=["directional"]).document
    for document in (found, added):
        mine = {name: part["value"] for name, part in document["why"][0]["parts"].items()}
        assert {name: mine[name] for name in wanted} == pytest.approx(wanted, abs=1e-12)
        if not predicted:
            assert mine["value"] == document["metrics"][0]["value"]
            assert document["sweep"][0]["usual"]["amplification"] == pytest.approx(mine["value"], abs=1e-12)
    assert found["why"] == added["why"]
    assert found["sweep"] == added["sweep"]
