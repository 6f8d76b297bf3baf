"""The parts of a directional value: identities against a slow reference, facts of real data, verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
import why_reference as reference
from biasamp.amplification.why_parts import AMPLIFIES, UNKNOWN, UNTOLD
from biasamp.datasets import berkeley

CASES = 1000
CLOSE = 1e-12


def random_case(seed: int) -> tuple[tuple[Any, Any, Any], dict[str, Any], reference.Case]:
    """Arguments of decompose and the same records by hand: labels of all kinds, weights, ties at the threshold."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 40))
    kind = ("zero_one", "yes_no", "classes")[seed % 3]
    options: dict[str, Any] = {}
    groups = int(rng.integers(2, 4))
    if rng.random() < 0.7:
        codes = rng.integers(groups, size=n)
        codes[:groups] = np.arange(groups)
        given: Any = np.array(["a", "b", "c"])[codes]
        member = [(codes == g).astype(int).tolist() for g in range(groups)]
    else:
        given = (rng.random((n, groups)) < 0.5).astype(int)
        given[0] = 1
        codes, member = None, given.T.tolist()
    weights = [1] * n
    if seed % 4 == 1:
        options["weights"] = rng.integers(1, 5, size=n)
    elif seed % 4 == 2:
        options["weights"] = rng.random(n) + 0.1
    if "weights" in options:
        weights = options["weights"].tolist()
    if kind == "classes":
        many = int(rng.integers(3, 5))
        names = ["w", "x", "y", "z"][:many]
        truth = rng.integers(many, size=n)
        truth[:many] = np.arange(many)
        # Quarters: rows are often tied, and add up to 1 exactly.
        scores = rng.multinomial(4, np.ones(many) / many, size=n) / 4.0
        if np.isin(scores, (0.0, 1.0)).all():
            scores[0] = [0.5, 0.5, *[0.0] * (many - 2)]
        decided = [[int(scores[i].tolist().index(max(scores[i]))) == o for i in range(n)] for o in range(many)]
        args = given, np.array(names)[truth], biasamp.categorical(scores, categories=names)
        columns = [(truth == o).astype(int).tolist() for o in range(many)], scores.T.tolist(), decided
    else:
        tasks = 1 if kind == "zero_one" else int(rng.integers(1, 4))
        truth = (rng.random((n, tasks)) < 0.5).astype(int)
        truth[:2] = [[0] * tasks, [1] * tasks]
        scores = rng.integers(0, 11, size=(n, tasks)) / 10.0
        scores[2] = 0.3
        limits = np.full((groups, tasks), 0.5)
        how = rng.integers(4)
        if how == 1:
            options["threshold"] = 0.7
            limits[:] = 0.7
        elif how == 2:
            limits[:] = rng.integers(1, 10, size=tasks) / 10.0
            options["threshold"] = limits[0].tolist()
        elif how == 3 and codes is not None:
            limits = np.repeat(rng.integers(1, 10, size=(groups, 1)) / 10.0, tasks, axis=1)
            options["threshold"] = {name: float(limits[g, 0]) for g, name in enumerate("abc"[:groups])}
        place = np.zeros(n, dtype=int) if codes is None else codes
        decided = [[bool(scores[i, o] >= limits[place[i], o]) for i in range(n)] for o in range(tasks)]
        positive = truth.T.tolist(), scores.T.tolist(), decided
        if kind == "yes_no":
            args, columns = (given, truth, scores), positive
        else:
            args = given, truth[:, 0], scores[:, 0]
            rest = [[1 - value for value in side[0]] for side in (positive[0], positive[2])]
            columns = (
                [rest[0], positive[0][0]],
                [[1.0 - value for value in positive[1][0]], positive[1][0]],
                [rest[1], positive[2][0]],
            )
    strata = np.array(["p", "q", "r"])[rng.integers(3, size=n)]
    options["strata"] = strata
    one, soft, held = ([[*column] for column in side] for side in columns)
    return args, options, reference.Case(member, one, soft, held, weights, strata.tolist())


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("lot", range(10))
def test_parts_are_those_of_a_slow_reference(lot: int) -> None:
    for seed in range(lot * CASES // 10, (lot + 1) * CASES // 10):
        args, options, case = random_case(seed)
        strata = options.pop("strata")
        found = biasamp.decompose(*args, **options)
        value, score, threshold = map(float, reference.parts(case))
        assert abs(found.value - value) < CLOSE, seed
        assert abs(found.score - score) < CLOSE, seed
        assert abs(found.threshold - threshold) < CLOSE, seed
        assert abs(found.value - (found.score + found.threshold)) < CLOSE, seed
        turned, changed = reference.signs(case), reference.changes(case)
        named = [(sign, change) for row in zip(turned, changed, strict=True) for sign, change in zip(*row, strict=True)]
        for row, (sign, change) in zip(found.pairs.rows(), named, strict=True):
            assert row["sign"] == sign, seed
            for name, part in zip(("amplification", "score", "threshold"), change, strict=True):
                assert abs(row[name] - sign * float(part)) < CLOSE, seed
            assert abs(row["delta"] - (row["score_delta"] + row["threshold_delta"])) < CLOSE, seed
        if seed % 5 == 0:
            inside = biasamp.decompose(*args, **options, strata=strata).inside
            assert inside is not None
            assert abs(inside - float(reference.inside(case))) < CLOSE, seed


@pytest.mark.slow
def test_parts_inside_strata_are_those_of_a_slow_reference() -> None:
    for seed in range(60):
        args, options, case = random_case(seed)
        found = biasamp.decompose(*args, **options)
        assert found.strata is not None
        assert found.strata_pairs is not None
        for row in found.strata.rows():
            few = case.only(row["stratum"])
            value, score, threshold = map(float, reference.parts(few))
            assert abs(row["value"] - value) < CLOSE
            assert abs(row["score"] - score) < CLOSE
            assert abs(row["threshold"] - threshold) < CLOSE
            assert abs(row["by_sign_of_whole"] - float(reference.parts(few, reference.signs(case))[0])) < CLOSE
            assert row["n"] == pytest.approx(float(sum(few.weights)))
        # The change of a pair is the mean of its changes inside strata.
        pairs = {(row["given"], row["outcome"]): row["delta"] for row in found.pairs.rows()}
        sums = dict.fromkeys(pairs, 0.0)
        for row in found.strata_pairs.rows():
            sums[row["given"], row["outcome"]] += row["share"] * row["delta"]
        assert all(abs(sums[pair] - change) < CLOSE for pair, change in pairs.items())


def test_kitagawa_in_both_orders_is_that_of_a_slow_reference() -> None:
    compared = 0
    for seed in range(0, 120, 3):
        args, options, case = random_case(seed)
        options.pop("threshold", None)
        options.pop("weights", None)
        other_args, other_options, other = random_case(seed + 3000)
        if len(other.given) != len(case.given) or np.ndim(other_args[0]) != np.ndim(args[0]):
            continue
        case.decided[1] = [bool(score >= 0.5) for score in case.scores[1]]
        case.decided[0] = [not held for held in case.decided[1]]
        case.weights, other.weights = [1] * len(case.weights), [1] * len(other.weights)
        here, there = options["strata"].copy(), other_options["strata"].copy()
        here[here == "r"] = "q"  # only the base has r
        there[there == "p"] = "r"  # only these records have p
        case.strata, other.strata = here.tolist(), there.tolist()
        found = biasamp.decompose(*args, strata=here, base=(other_args[0], other_args[1], there))
        assert found.orders is not None
        for row, (rates, mix) in zip(found.orders.rows(), reference.kitagawa(case, other), strict=True):
            assert abs(row["within"] - float(rates)) < CLOSE
            assert abs(row["mix"] - float(mix)) < CLOSE
            assert abs(row["within"] + row["mix"] - found.value) < CLOSE
        assert found.within == found.orders["within"][0]
        compared += 1
    assert compared >= 5


def admissions() -> tuple[dict[str, Any], Any]:
    data = berkeley.with_predictions()
    return data, data["admitted_score"]


def test_berkeley_is_all_threshold_and_negative_inside_departments() -> None:
    data, scores = admissions()
    assert ((scores >= 0.5) == data["admitted_pred"]).all()
    found = biasamp.decompose(data["gender"], data["admitted"], scores, strata=data["department"])
    assert [round(part, 4) for part in (found.value, found.score, found.threshold)] == [0.1503, 0.0, 0.1502]
    assert found.strata is not None
    inside = found.strata["value"].round(3).tolist()
    assert inside == [-0.102, -0.025, -0.014, -0.009, -0.019, -0.006]
    assert int((found.strata["by_sign_of_whole"] > 0).sum()) == 4
    assert found.verdicts == {"value": AMPLIFIES, "score": UNTOLD, "threshold": AMPLIFIES, "inside": UNKNOWN}
    assert any("Simpson" in words for words in found.cautions)
    assert any("fewer than 30 records" in words for words in found.cautions)


@pytest.mark.data
def test_compas_by_race_is_the_threshold(data: Path) -> None:
    import pandas as pd

    held = pd.read_csv(data / "compas_two_years.csv")
    # Logistic regression on the decile as a category fits the rate of each decile.
    chance = held.groupby("decile_score")["two_year_recid"].transform("mean")
    two = held["race"].isin(["African-American", "Caucasian"])
    few = held[two]
    found = biasamp.decompose(
        few["race"].to_numpy(),
        few["two_year_recid"].to_numpy(),
        chance[two].to_numpy(),
        predicted=(few["decile_score"] >= 5).astype(int).to_numpy(),
    )
    assert [round(part, 4) for part in (found.value, found.score, found.threshold)] == [0.0598, -0.0098, 0.0696]


def test_rates_inside_strata_are_those_of_fairlearn() -> None:
    fairlearn = pytest.importorskip("fairlearn.metrics")
    rng = np.random.default_rng(3)
    group, stratum = rng.choice(["a", "b", "c"], 600), rng.choice(["x", "y"], 600)
    truth = (rng.random(600) < 0.4).astype(int)
    scores = np.clip(0.5 * truth + 0.6 * rng.random(600), 0.0, 1.0)
    found = biasamp.decompose(group, truth, scores, strata=stratum)
    frame = fairlearn.MetricFrame(
        metrics={"predicted_rate": fairlearn.selection_rate, "truth_rate": lambda true, said: np.mean(true)},
        y_true=truth,
        y_pred=(scores >= 0.5).astype(int),
        sensitive_features=group,
        control_features=stratum,
    )
    assert found.strata_pairs is not None
    compared = 0
    for row in found.strata_pairs.rows():
        if row["outcome"] == "1":
            theirs = frame.by_group.loc[row["stratum"], row["given"]]
            assert row["predicted_rate"] == pytest.approx(theirs["predicted_rate"], abs=1e-12)
            assert row["truth_rate"] == pytest.approx(theirs["truth_rate"], abs=1e-12)
            compared += 1
    assert compared == 6


def made(n: int = 2000, seed: int = 0, apart: float = 0.2) -> tuple[Any, Any, Any]:
    """A group, a truth and a score that is calibrated."""
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n)
    chance = np.clip(0.4 + apart * group + 0.15 * rng.standard_normal(n), 0.01, 0.99)
    return group, (rng.random(n) < chance).astype(int), chance


def test_a_calibrated_score_whose_threshold_amplifies() -> None:
    found = biasamp.decompose(*made())
    assert found.verdicts["threshold"] == AMPLIFIES
    assert found.verdicts["score"] == UNTOLD
    assert "cannot be told from 0" in found.verdict


def test_signs_that_are_not_clear_get_no_verdict() -> None:
    group, truth, chance = made(300, 7, apart=0.0)
    found = biasamp.decompose(group, truth, chance)
    assert found.verdicts == dict.fromkeys(("value", "score", "threshold"), UNKNOWN)
    assert "do not tell the direction of 4 of 4 pairs" in found.verdict
    # Train labels tell them.
    train = made(20_000, 6, apart=0.2)[:2]
    assert UNKNOWN not in biasamp.decompose(group, truth, chance, train=train).verdicts.values()


def test_no_causal_word() -> None:
    data, scores = admissions()
    found = biasamp.decompose(data["gender"], data["admitted"], scores, strata=data["department"])
    said = " ".join((found.verdict, *found.cautions)).lower()
    assert not any(word in said for word in ("cause", "because", "due to", "effect", "explain", "reason", "driv"))


def test_intervals_of_the_parts_are_of_the_same_resamples() -> None:
    found = biasamp.decompose(*made(500, 1), strata=np.arange(500) % 3)
    drawn = [found.interval_maker(of).statistic.replicates(200, 3) for of in ("value", "score", "threshold")]
    np.testing.assert_allclose(drawn[0], drawn[1] + drawn[2], atol=1e-12)
    for of in ("value", "score", "threshold", "within"):
        held = found.quiet_interval(of=of)
        assert held.low < getattr(found, of) < held.high
    assert found.mix == 0.0


@pytest.mark.slow
def test_intervals_match_directional_and_a_bootstrap_of_records() -> None:
    group, truth, chance = made(600, 2)
    found = biasamp.decompose(group, truth, chance)
    decided = biasamp.directional(group, truth, (chance >= 0.5).astype(int))
    assert found.value == decided.value
    assert tuple(found.quiet_interval()) == tuple(decided.quiet_interval())
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(400):
        rows = rng.integers(len(group), size=len(group))
        again = biasamp.decompose(group[rows], truth[rows], chance[rows])
        drawn.append((again.score, again.threshold))
    for error, of in zip(np.std(drawn, axis=0), ("score", "threshold"), strict=True):
        assert found.quiet_interval(of=of).standard_error == pytest.approx(error, rel=0.15)


def test_sums_of_scores_give_what_records_give(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(9)
    group, layer = rng.integers(3, size=400), rng.integers(4, size=400)
    scores = rng.random((400, 2))
    arguments = group, (rng.random((400, 2)) < scores).astype(int), scores
    counted = biasamp.decompose(*arguments, strata=layer)
    monkeypatch.setattr("biasamp.amplification.why.count_parts", lambda *_: None)
    records = biasamp.decompose(*arguments, strata=layer)
    for of in ("value", "score", "threshold", "inside"):
        assert getattr(counted, of) == getattr(records, of)
        assert list(counted.quiet_interval(of=of)) == pytest.approx(list(records.quiet_interval(of=of)), rel=CLOSE)
    for name in ("pairs", "strata", "reliability"):
        one, two = getattr(counted, name), getattr(records, name)
        for column in one.columns:
            if one[column].dtype.kind == "f":
                np.testing.assert_allclose(one[column], two[column], rtol=CLOSE, atol=1e-15)


def test_clusters_widen_the_parts() -> None:
    group, truth, chance = (np.repeat(values, 5) for values in made(300, 4))
    alone = biasamp.decompose(group, truth, chance)
    held = biasamp.decompose(group, truth, chance, cluster=np.repeat(np.arange(300), 5))
    for of in ("value", "score", "threshold"):
        one, other = (result.quiet_interval(of=of).standard_error for result in (alone, held))
        assert other == pytest.approx(one * np.sqrt(5), rel=0.15)


def test_invented_classes_decide_but_make_no_pair() -> None:
    scores = np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.2, 0.1, 0.6], [0.1, 0.1, 0.6, 0.2], [0.2, 0.6, 0.1, 0.1]] * 3)
    truth = ["a", "b", "c", "b"] * 3
    found = biasamp.decompose(
        ["g", "h", "g", "h"] * 3, truth, biasamp.categorical(scores, categories=["a", "b", "c", "other"])
    )
    assert set(found.pairs["outcome"]) == {"a", "b", "c"}
    # Every second record of h is decided 'other', which is no b.
    row = next(row for row in found.pairs.rows() if (row["given"], row["outcome"]) == ("h", "b"))
    assert row["predicted_rate"] == 0.5
    assert set(found.invented["label"]) == {"other"}


def test_plain_values_and_pictures() -> None:
    data, scores = admissions()
    found = biasamp.decompose(data["gender"], data["admitted"], scores, strata=data["department"])
    held = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert held["parts"]["score"]["interval"][0] < 0 < held["parts"]["score"]["interval"][1]
    assert [row["stratum"] for row in held["strata"]] == list("ABCDEF")
    assert "<table>" in found._repr_html_()
    pytest.importorskip("matplotlib")
    assert len(found.plot().axes[0].patches) == 4 + 6


def test_empty_and_single_record_strata_are_listed() -> None:
    group, truth, chance = made(200, 8)
    strata = np.array(["x"] * 199 + ["y"])
    found = biasamp.decompose(group, truth, chance, strata=strata)
    assert found.strata is not None
    assert np.isnan(found.strata["low"][1])
    assert found.strata["smallest_group"].tolist()[1] == 0
    assert found.strata["q"][0] == found.strata["q"][0]
    assert any("without any record of some group" in words for words in found.cautions)


@pytest.mark.parametrize("score", [0.1, 0.25, 0.3, 0.5])
def test_scores_that_are_all_alike_decide_all_alike(score: float) -> None:
    """What deciding adds is then the same in all groups, 0 in every resample, and its interval that of errors not seen alone."""
    group, truth, _ = made(200, 11)
    found = biasamp.decompose(group, truth, np.full(200, score), strata=np.arange(200) % 2)
    held = found.quiet_interval(of="threshold")
    assert found.threshold == pytest.approx(0.0, abs=1e-15)
    assert -0.05 < held.low < 0.0 < held.high < 0.05
    assert held.high == pytest.approx(-held.low)


def test_intervals_of_parts_end_where_the_parts_do() -> None:
    found = biasamp.decompose(["a", "b"], [1, 0], [0.4, 0.6], strata=["x", "x"])
    assert found.value == -1.0
    assert found.strata["low"].tolist() == [-1.0]
    for of in ("value", "score", "threshold", "inside"):
        assert found.bounds(of=of).low >= -1.0
        assert found.bounds(of=of).high <= 1.0
    for of in ("value", "inside"):
        held = found.quiet_interval(of=of)
        assert held.low == -1.0
        assert any("is cut there" in words for words in held.cautions)


def test_a_stratum_close_to_the_group_is_said() -> None:
    group, truth, chance = made(400, 9)
    strata = np.where(group == 1, "south", "north")
    strata[:4] = "north"
    found = biasamp.decompose(group, truth, chance, strata=strata)
    assert any("is close to the group" in words for words in found.cautions)


def test_scores_of_0_and_1_are_said_to_be_decisions() -> None:
    group, truth, chance = made(200, 10)
    found = biasamp.decompose(group, truth, (chance >= 0.5).astype(int))
    assert found.threshold == 0.0
    assert any("decisions already" in words for words in found.cautions)


def test_thresholds_are_named_as_the_tasks_are() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(8)
    data = pd.DataFrame(rng.random((60, 2)), columns=["x_score", "y_score"])
    truth = pd.DataFrame((rng.random((60, 2)) < data.to_numpy()).astype(int), columns=["x", "y"])
    group = rng.choice(["a", "b"], 60)
    wanted = biasamp.decompose(group, truth, data, threshold=[0.3, 0.6]).value
    for named in ({"x": 0.3, "y": 0.6}, {"y_score": 0.6, "x_score": 0.3}):
        assert biasamp.decompose(group, truth, data, threshold=named).value == wanted
    each = {"a": {"x": 0.3, "y": 0.6}, "b": [0.3, 0.6]}
    assert biasamp.decompose(group, truth, data, threshold=each).value == wanted
    with pytest.raises(ValueError, match="'x_score', 'y_score'"):
        biasamp.decompose(group, truth, data, threshold={"x": 0.3, "z": 0.6})


def test_parts_add_up_where_the_base_lacks_a_group_of_a_stratum() -> None:
    """The pairs of the threshold's part are those of the value, though decisions and scores have more."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(20, 60)), int(rng.integers(8, 30))
        evaluated = [rng.choice(["a", "b", "c"], n), rng.integers(0, 2, n), np.round(rng.random(n), 2)]
        base = (rng.choice(["a", "b", "c"], m), rng.integers(0, 2, m), rng.choice(["x", "y", "z"], m))
        found = biasamp.decompose(*evaluated, strata=rng.choice(["x", "y", "z"], n), base=base)
        for row in found.strata.rows():
            parts = [row[part] for part in ("value", "score", "threshold")]
            assert parts == [None] * 3 or parts[1] + parts[2] == pytest.approx(parts[0], abs=1e-12)
        for row in found.strata_pairs.rows():
            assert row["score_delta"] + row["threshold_delta"] == pytest.approx(row["delta"], abs=1e-12)
