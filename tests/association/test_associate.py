"""``associate`` from data to result: hand counts, policies, ranks and JSON."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import false_discovery_control, fisher_exact

import biasamp
from biasamp.association.gaps import association_gap
from biasamp.association.metrics import METRICS

BIKES = (
    [["man", "bike"]] * 30
    + [["man"]] * 70
    + [["woman", "bike"]] * 10
    + [["woman", "hat"]] * 40
    + [["woman"]] * 50
    + [["hat", "sky"]] * 100
    + [["rare", "man"]]
)


@pytest.fixture(scope="module")
def result():
    return biasamp.associate(BIKES, ["man", "woman"])


def row_of(result, label):
    return next(row for row in result.table.rows() if row["label"] == label)


def test_values_are_those_of_hand_counts(result):
    assert result.n == 301
    row = row_of(result, "bike")
    assert (row["count"], row["count[man]"], row["count[woman]"]) == (40, 30, 10)
    assert row["dp[man]"] == pytest.approx(30 / 101)
    assert row["pmi[woman]"] == pytest.approx(math.log(10 * 301 / (40 * 100)))
    for metric in METRICS:
        expected = association_gap(metric, 301, 101, 100, 40, 30, 10)
        assert row[f"{metric}_gap"] == pytest.approx(float(expected))
        assert row[f"{metric}_low"] < row[f"{metric}_gap"] < row[f"{metric}_high"]
    assert row["llr_null"] == pytest.approx(math.log(101 / 100))
    assert row["p"] == pytest.approx(fisher_exact([[30, 71], [10, 90]])[1], rel=1e-6)


def test_q_values_cover_all_tests_and_leave_identities_out(result):
    p, q = result.table["p"], result.table["q"]
    tested = ~np.isnan(p)
    assert not tested[list(result.labels).index("man")]
    assert not tested[list(result.labels).index("sky")], "a label that meets neither identity has no test"
    assert q[tested] == pytest.approx(false_discovery_control(p[tested]))
    cautious = biasamp.associate(BIKES, ["man", "woman"], correction="by").table["q"]
    assert cautious[tested] == pytest.approx(false_discovery_control(p[tested], method="by"))


def test_labels_that_are_not_ranked_say_why(result):
    why = {row["label"]: row["why"] for row in result.excluded}
    assert set(why) == {"man", "woman", "rare", "sky"}
    assert "identity" in why["man"]
    assert "min_expected" in why["rare"]
    assert "never occurs with the identities" in why["sky"]
    assert not math.isnan(row_of(result, "rare")["dp_gap"]), "they keep their values"
    ranked = {m: set(np.flatnonzero(~np.isnan(result.table[f"{m}_rank"]))) for m in METRICS}
    assert len({frozenset(labels) for labels in ranked.values()}) == 1, "in or out for every metric"


def test_zero_policies():
    limit = biasamp.associate(BIKES, ["man", "woman"])
    hat = row_of(limit, "hat")
    assert hat["pmi_gap"] == -math.inf
    assert hat["pmi_rank"] == 2
    assert hat["npmi_xy[man]"] == -1
    drop = biasamp.associate(BIKES, ["man", "woman"], zero="drop", min_expected=0)
    assert math.isnan(drop.table["pmi_rank"][list(drop.labels).index("hat")])
    assert list(drop.top("pmi", 5)["label"]) == ["bike"]
    smooth = biasamp.associate(BIKES, ["man", "woman"], zero="smooth")
    expected = association_gap("pmi", 303, 102, 101, 141, 0.5, 40.5)
    assert row_of(smooth, "hat")["pmi_gap"] == pytest.approx(float(expected))
    more = biasamp.associate(BIKES, ["man", "woman"], zero=("smooth", 2.0))
    assert row_of(more, "hat")["dp[man]"] == pytest.approx(2 / 105)
    counted = biasamp.associate(BIKES, ["man", "woman"], min_count=50)
    assert list(counted.top("dp", 5)["label"]) == ["hat"]


def test_top_toward_either_identity(result):
    man, woman = result.top("dp", 2, toward="man"), result.top("dp", 2, toward="woman")
    assert list(man["label"]) == ["bike", "hat"]
    assert list(woman["label"]) == ["hat", "bike"]
    assert woman["gap"].tolist() == (-man["gap"][::-1]).tolist()
    assert woman["low"][0] == -man["high"][1]
    assert len(result.top("dp", 0)) == 0
    everything = result.top("dp", 9, toward="man", include_identities=True)
    assert everything["label"][0] == "man"


def test_the_same_gap_leans_the_same_way_as_printed():
    printed = biasamp.associate(BIKES, ["man", "woman"], paper_literal=True)
    for metric in METRICS:
        assert printed.top(metric, 1, toward="man")["label"][0] == "bike", metric
    assert row_of(printed, "bike")["npmi_xy_gap"] < 0


def test_pmi_pmi2_and_llr_rank_identically():
    rng = np.random.default_rng(1)
    sets = [[x, *np.flatnonzero(rng.random(300) < 0.1).astype(str)] for x in ("m", "w", "o") for _ in range(200)]
    result = biasamp.associate(sets, ["m", "w", "o"], min_expected=0)
    for contrast in result.contrasts:
        ranks = [result.ranks(metric, contrast) for metric in ("pmi", "pmi2", "llr")]
        assert np.array_equal(ranks[0], ranks[1], equal_nan=True)
        assert np.array_equal(ranks[0], ranks[2], equal_nan=True)


def test_three_identities_have_pairs_and_one_against_the_rest():
    rng = np.random.default_rng(2)
    sets = [
        [x for x, p in (("a", 0.4), ("b", 0.3), ("c", 0.5)) if rng.random() < p] + (["y"] if rng.random() < 0.3 else [])
        for _ in range(500)
    ]
    result = biasamp.associate(sets, ["a", "b", "c"])
    assert result.contrasts == ((0, 1), (0, 2), (1, 2), (0, None), (1, None), (2, None))
    row = row_of(result, "y")
    rate = [row[f"dp[{x}]"] for x in "abc"]
    assert row["dp_gap[b,c]"] == pytest.approx(rate[1] - rate[2])
    assert row["dp_gap[b,rest]"] == pytest.approx(rate[1] - (rate[0] + rate[2]) / 2)
    p = [row["p[a,b]"], row["p[a,c]"], row["p[b,c]"]]
    assert [row["q[a,b]"], row["q[a,c]"], row["q[b,c]"]] == pytest.approx(false_discovery_control(p))
    assert result.top("dp", 1, toward="b")["gap"][0] == pytest.approx(row["dp_gap[b,rest]"])
    assert result.top("dp", 1, toward="c", against="a")["gap"][0] == pytest.approx(-row["dp_gap[a,c]"])


def test_an_identity_may_unite_labels():
    sets = [["Man", "bike"], ["Boy", "bike"], ["Man", "Boy"], ["Woman"], ["sky"]] * 10
    result = biasamp.associate(sets, {"man": ["Man", "Boy", "Male"], "woman": "Woman"})
    assert result.identity_count.tolist() == [30, 10]
    assert row_of(result, "bike")["count[man]"] == 20
    assert any("'Male'" in note for note in result.notes)
    assert {r["label"] for r in result.excluded if "identity" in r["why"]} == {"Man", "Boy", "Woman"}


def test_identities_that_overlap_are_tested_with_their_covariance():
    rng = np.random.default_rng(4)
    pattern = rng.choice(3, 3000, p=[0.35, 0.35, 0.3])
    y = rng.random(3000) < np.array([0.2, 0.2, 0.6])[pattern]
    sets = [[*([["m"], ["w"], ["m", "w"]][p]), *(["y"] if has else [])] for p, has in zip(pattern, y, strict=True)]
    row = row_of(biasamp.associate(sets, ["m", "w"]), "y")
    m, w = pattern != 1, pattern != 0
    part = m / m.sum() - w / w.sum()
    pooled = (y * (m.astype(int) + w)).sum() / (m.sum() + w.sum())
    deviation = np.sqrt(((part * (y - pooled)) ** 2).sum())
    z = (y * part).sum() / deviation
    assert row["p"] == pytest.approx(math.erfc(abs(z) / math.sqrt(2)), rel=0.05)


def test_json_has_no_nan_and_the_agreed_shape(result):
    text = json.dumps(result.to_dict(), allow_nan=False)
    back = json.loads(text)
    assert back["schema"] == 1
    bike = next(label for label in back["labels"] if label["label"] == "bike")
    assert {"label", "name", "count", "identities", "gaps"} <= set(bike)
    assert bike["identities"][0]["identity"] == "man"
    assert bike["identities"][0]["joint"] == 30
    assert bike["gaps"][0]["x1"] == "man"
    assert bike["gaps"][0]["dp"] == pytest.approx(30 / 101 - 0.1)
    hat = next(label for label in back["labels"] if label["label"] == "hat")
    assert hat["gaps"][0]["pmi"] == "-inf"
    sky = next(label for label in back["labels"] if label["label"] == "sky")
    assert sky["gaps"][0]["pmi"] is None
    assert sky["gaps"][0]["p"] is None


def test_rankings_of_metrics_are_compared():
    rng = np.random.default_rng(5)
    sets = [
        [x, *(f"y{j}" for j in range(40) if rng.random() < (j + 1) / 60 * (1.4 if x == "m" else 1.0))]
        for x in ("m", "w")
        for _ in range(150)
    ]
    result = biasamp.associate(sets, ["m", "w"])
    table = {(row["metric_a"], row["metric_b"]): row for row in result.agreement(10).rows()}
    tops = {metric: set(result.top(metric, 10)["label"]) for metric in METRICS}
    assert table["dp", "npmi_xy"]["shared"] == len(tops["dp"] & tops["npmi_xy"])
    assert table["pmi", "llr"]["order"] == 1
    ranked = ~np.isnan(result.ranks("dp"))
    a, b = (result.values.gaps(metric, (0, 1))[ranked] for metric in ("dp", "npmi_xy"))
    kept = [np.sign(a[i] - a[j]) == np.sign(b[i] - b[j]) for i in range(len(a)) for j in range(i)]
    assert table["dp", "npmi_xy"]["order"] == pytest.approx(np.mean(kept))
    changes = result.rank_changes("dp", "pmi")
    assert changes["change"].sum() == pytest.approx(changes["rank_b"].sum() - changes["rank_a"].sum())
    counts = {(row["metric"], row["count"]): row for row in result.top_counts(10).rows()}
    top = result.top("dp", 10)
    assert counts["dp", "C(y)"]["min"] == top["count"].min()
    assert counts["dp", "C(w,y)"]["mean"] == pytest.approx(top["count[w]"].mean())
    assert counts["dp", "C(m,y)"]["std"] == pytest.approx(np.std(top["count[m]"]))


def test_counts_made_before_can_be_measured(result):
    counts = result.values.counts
    with pytest.raises(ValueError, match="hold the same counts of 301 records"):
        counts + counts
    again = biasamp.associate(counts + replace(counts, sources=()), ["man", "woman"])
    assert again.n == 602
    assert row_of(again, "bike")["dp_gap"] == pytest.approx(row_of(result, "bike")["dp_gap"])
    with pytest.raises(ValueError, match="counts were made for"):
        biasamp.associate(counts, ["woman", "man"])


def test_one_identity_has_values_and_no_gap():
    result = biasamp.associate(BIKES, ["man"])
    assert row_of(result, "bike")["dp[man]"] == pytest.approx(30 / 101)
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["labels"][0]["gaps"] == []
    with pytest.raises(ValueError, match="two or more identities"):
        result.top("dp")


def test_results_travel(result):
    again = pickle.loads(pickle.dumps(result))
    assert again.top("dp", 1)["gap"][0] == result.top("dp", 1)["gap"][0]
    assert "bike" in result._repr_html_()
    assert "<script>" not in biasamp.associate([["<script>", "man"], ["woman"]] * 20, ["man", "woman"])._repr_html_()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": "pmi3"}, "pmi3"),
        ({"zero": "skip"}, "'skip'"),
        ({"zero": ("smooth", 0)}, "above 0"),
        ({"min_count": -1}, "min_count"),
        ({"engine": "abacus"}, "abacus"),
        ({"correction": "none"}, "none"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        _ = biasamp.associate(BIKES, ["man", "woman"], **options).table


def test_bad_names_are_named(result):
    for call in (
        lambda: result.top("dp", 3, toward="men"),
        lambda: result.top("dp", 3, toward="man", against="man"),
        lambda: result.top("dq", 3),
        lambda: result.top("dp", -1),
    ):
        with pytest.raises(ValueError, match=r"men|man|dq|-1"):
            call()


def test_labels_that_three_gaps_leave_out_count_once():
    sets = [["man", "bike"], ["woman", "bike"], ["child"]] * 20
    assert repr(biasamp.associate(sets, ["man", "woman", "child"])).endswith("; 3 labels not ranked in some gap)")
    assert repr(biasamp.associate(sets, ["man", "woman"])).endswith("; 3 labels not ranked)")


@pytest.mark.parametrize("paper_literal", [False, True])
@pytest.mark.parametrize("records", [2, 7, 50])
def test_a_label_of_every_record_or_of_one_identity_alone_costs_no_warning(records, paper_literal):
    sets = [["all", "man", "his"], ["all", "woman", "hers"]] * records + [["all"], ["all", "one"]]
    found = biasamp.associate(sets, ["man", "woman"], paper_literal=paper_literal, min_expected=0)
    assert row_of(found, "all")["why_not"] == "every record has it"


def test_united_labels_and_thresholds_that_no_record_has_are_said():
    rows = {"id": [1, 1, 2, 2], "tag": ["Man", "bike", "Woman", "bike"], "p": [0.9, 0.8, 0.9, 0.1]}
    columns = {"record": "id", "label": "tag", "score": "p"}
    found = biasamp.associate(
        rows, {"man": ["Man", "Boy"], "woman": ["Womn", "Woman"]}, threshold={"bike": 0.5, "byke": 0.5}, **columns
    )
    assert "identity 'man': no record has the label 'Boy'" in found.notes
    assert "identity 'woman': no record has the label 'Womn'; did you mean 'Woman'?" in found.notes
    assert "threshold: no record has 'byke', or none with so high a score (1 of the 2 labels it names)" in found.notes
    with pytest.raises(ValueError, match="no record has the label 'Man' with a score that reaches the threshold"):
        biasamp.associate(rows, ["Man", "Woman"], threshold={"Man": 0.95}, **columns)


@pytest.mark.parametrize("zero", [("drop", 1.0), ("smooth",), ("smooth", 1.0, 2.0), ["smooth", 1.0], "none", 3])
def test_ways_to_treat_zeros_that_there_are_not(zero):
    with pytest.raises(ValueError, match=r"zero is .*'limit', 'drop', 'smooth' or \('smooth', alpha\) are accepted"):
        biasamp.associate([["man"], ["woman"]] * 9, ["man", "woman"], zero=zero)


def test_a_label_of_one_record_has_all_its_figures() -> None:
    """Its only record is a man's: P(man | y) = 1, of which the logarithm is 0."""
    found = biasamp.associate(
        [["man", "y"], *[["man"], ["woman"]] * 5, ["woman", "z"], ["woman", "z"]], ["man", "woman"], metrics="llr"
    )
    place = found.labels.index("y")
    assert found.values.values("llr")[place].tolist() == [0.0, -np.inf]


def test_both_identities_of_a_contrast_are_checked() -> None:
    found = biasamp.associate([["man", "y"], ["woman"], ["woman", "y"]] * 5, ["man", "woman"], metrics="dp")
    for wrong in ("1", 1.5, True):
        with pytest.raises(TypeError, match="contrast is"):
            found.ranks("dp", (0, wrong))


def test_three_labels_that_may_have_been_meant_are_named() -> None:
    held = [["wolf", *names] for names in (["manna", "manny"], ["manor", "mango"], ["mane"])] * 3
    with pytest.raises(ValueError, match=r"no record has the label 'man'; did you mean '\w+' or '\w+' or '\w+'\?"):
        biasamp.associate(held, ["man", "wolf"])
