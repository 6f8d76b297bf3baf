"""Gaps within strata and crossed identities, against published figures, hand counts and counting the crossing outright."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.association.conditional import mantel_haenszel, mantel_haenszel_p, some_identities

# The thirteen BCG trials of Colditz et al. (1994): tuberculosis and not, vaccinated and not.
BCG = [
    (4, 119, 11, 128),
    (6, 300, 29, 274),
    (3, 228, 11, 209),
    (62, 13536, 248, 12619),
    (33, 5036, 47, 5761),
    (180, 1361, 372, 1079),
    (8, 2537, 10, 619),
    (505, 87886, 499, 87892),
    (29, 7470, 45, 7232),
    (17, 1699, 65, 1600),
    (186, 50448, 141, 27197),
    (5, 2493, 3, 2338),
    (27, 16886, 29, 17825),
]


def cells(rows: Any) -> tuple[Any, Any, Any, Any]:
    held = np.array(rows, dtype=np.float64)
    a, not_a, b, not_b = (held[:, [k]] for k in range(4))
    return a, a + not_a, b, b + not_b


def test_the_risk_difference_and_satos_variance_of_the_bcg_trials() -> None:
    """metafor's ``rma.mh(measure="RD", data=dat.bcg)`` gives -0.0033, se 0.0003, z -11.4708."""
    gap, error = mantel_haenszel(*cells(BCG))
    assert round(float(gap[0]), 4) == -0.0033
    assert round(float(error[0]), 4) == 0.0003
    assert round(float(gap[0] / error[0]), 4) == -11.4708


def test_the_test_of_berkeley_is_that_of_r() -> None:
    """R's ``mantelhaen.test(UCBAdmissions, correct = FALSE)`` gives X-squared 1.5246, df 1, p-value 0.2169."""
    rows = [
        (512, 313, 89, 19),
        (353, 207, 17, 8),
        (120, 205, 202, 391),
        (138, 279, 131, 244),
        (53, 138, 94, 299),
        (22, 351, 24, 317),
    ]
    assert float(mantel_haenszel_p(*cells(rows))[0]) == pytest.approx(0.2169, abs=1e-4)


def test_satos_interval_covers() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(600):
        n1, n2 = rng.integers(5, 40, size=(2, 12, 1)).astype(float)
        base = rng.uniform(0.1, 0.6, size=(12, 1))
        gap, error = mantel_haenszel(
            rng.binomial(n1.astype(int), base + 0.1), n1, rng.binomial(n2.astype(int), base), n2
        )
        covered += abs(gap[0] - 0.1) <= 1.96 * error[0]
    assert 0.92 <= covered / 600 <= 0.975


def records(seed: int = 0, n: int = 3000) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n):
        man = rng.random() < 0.5
        where = rng.choice(["outdoors", "indoors", ""], p=[0.6, 0.2, 0.2] if man else [0.2, 0.6, 0.2])
        held = ["man" if man else "woman", *([where] if where else [])]
        if rng.random() < (0.5 if where == "outdoors" else 0.05):
            held.append("snowboard")
        if rng.random() < (0.4 if man else 0.2):
            held.append("tie")
        out.append(held)
    return out


def test_snowboard_given_outdoors() -> None:
    """The snowboard leans to men over all records, and to nobody among those outdoors."""
    held = records()
    found = biasamp.associate(held, ["man", "woman"], strata=["outdoors", "indoors"], metrics=["dp", "npmi_xy", "llr"])
    alone = {row["label"]: row for row in found.top("dp", 5, toward="man").rows()}
    assert alone["snowboard"]["gap"] > 0.1
    assert found.conditional is not None
    rows = {row["label"]: row for row in found.conditional.table.rows()}
    assert set(rows) == {"snowboard", "tie"}
    assert rows["snowboard"]["dp_low"] < 0 < rows["snowboard"]["dp_high"]
    assert rows["snowboard"]["q"] > 0.05
    assert rows["tie"]["dp_low"] > 0.1
    assert rows["tie"]["q"] < 1e-6


def test_gaps_within_strata_are_those_of_their_records() -> None:
    held = records(1)
    strata = {"outdoors": [], "indoors": [], "none of them": []}
    for record in held:
        name = next((where for where in ("outdoors", "indoors") if where in record), "none of them")
        strata[name].append(record)
    found = biasamp.associate(held, ["man", "woman"], strata=["outdoors", "indoors"])
    assert found.conditional is not None
    weight, total = 0.0, dict.fromkeys(found.metrics, 0.0)
    for name, few in strata.items():
        alone = biasamp.associate(few, ["man", "woman"], min_expected=0)
        place = alone.labels.index("snowboard")
        row = next(
            row for row in found.conditional.within.rows() if (row["stratum"], row["label"]) == (name, "snowboard")
        )
        men, women = (sum(who in record for record in few) for who in ("man", "woman"))
        assert (row["size_1"], row["size_2"]) == (men, women)
        weight += men * women / (men + women)
        for metric in found.metrics:
            gap = float(alone.values.gaps(metric, (0, 1))[place])
            assert row[metric] == pytest.approx(gap, abs=1e-12)
            total[metric] += gap * men * women / (men + women)
    row = next(row for row in found.conditional.table.rows() if row["label"] == "snowboard")
    for metric in found.metrics:
        assert row[metric] == pytest.approx(total[metric] / weight, abs=1e-12)
        assert row[f"{metric}_low"] < row[metric] < row[f"{metric}_high"]


def test_the_rest_of_the_result_is_that_without_strata() -> None:
    held = records(2, 800)
    found = biasamp.associate(held, ["man", "woman"], strata=["outdoors"])
    plain = biasamp.associate(held, ["man", "woman"])
    shown = found.to_dict()
    conditional = shown.pop("conditional")
    assert shown == plain.to_dict()
    assert json.dumps(conditional, allow_nan=False)
    assert [row["records"] for row in conditional["strata"]] == [
        sum("outdoors" in r for r in held),
        sum("outdoors" not in r for r in held),
    ]


def test_counts_that_add_up_have_strata_too() -> None:
    held = records(3, 1000)
    roles = {"identities": ["man", "woman", "outdoors"]}
    counts = biasamp.count(held[:300], **roles) + biasamp.count(held[300:], **roles)
    found = biasamp.associate(counts, ["man", "woman"], strata=["outdoors"])
    whole = biasamp.associate(held, ["man", "woman"], strata=["outdoors"])
    assert found.conditional is not None
    assert whole.conditional is not None
    mine = {row["label"]: row for row in found.conditional.table.rows()}
    assert mine == {row["label"]: row for row in whole.conditional.table.rows()}
    without = biasamp.count(held, identities=["man", "woman"])
    with pytest.raises(ValueError, match=r"without the stratum 'outdoors'.*as one more identity"):
        biasamp.associate(without, strata=["outdoors"])


def test_undefined_strata_are_listed() -> None:
    held = (
        [["man", "in", "tie"]] * 10 + [["man", "in"]] * 10 + [["woman"]] * 15 + [["woman", "tie"]] * 5 + [["man"]] * 20
    )
    found = biasamp.associate(held, ["man", "woman"], strata=["in"], min_expected=0, metrics=["dp", "pmi"])
    assert found.conditional is not None
    whole = [row for row in found.conditional.undefined if row["label"] is None]
    assert [(row["stratum"], row["why"]) for row in whole] == [("in", "no record of 'woman' in it")]
    # Of the men who are not 'in' none has a tie.
    labels = [(row["stratum"], row["label"]) for row in found.conditional.undefined if row["label"] is not None]
    assert labels == [("none of them", "tie")]
    (row,) = found.conditional.table.rows()
    assert row["dp"] == pytest.approx(-0.25)
    assert row["dp_strata"] == 1
    assert row["dp_low"] < -0.25 < row["dp_high"]


def test_a_label_never_seen_has_an_interval_with_a_width() -> None:
    held = [["man", "out"]] * 40 + [["woman", "out"]] * 40 + [["dog"]]
    found = biasamp.associate(held, ["man", "woman"], strata=["out"], min_expected=0, metrics="dp")
    assert found.conditional is not None
    (row,) = found.conditional.table.rows()
    assert row["dp_low"] < 0 < row["dp_high"]


def test_strata_and_identities_exclude_each_other() -> None:
    held = [["man", "a", "b"], ["woman", "a"], ["man", "woman"], ["man"]] * 5
    with pytest.raises(ValueError, match="strata 'a' and 'b' meet in 5 records"):
        biasamp.associate(held, ["man", "woman"], strata=["a", "b"])
    with pytest.raises(ValueError, match="identities 'man' and 'woman' meet in 5 records"):
        biasamp.associate(held, ["man", "woman"], strata=["a"])
    with pytest.raises(ValueError, match="both name 'man'"):
        biasamp.associate(held, ["man", "woman"], strata=["man"])
    with pytest.raises(ValueError, match="strata is empty"):
        biasamp.associate(held, ["man", "woman"], strata=[])
    with pytest.raises(ValueError, match="do not go together"):
        biasamp.associate(held, ["man", "woman"], strata=["a"], crossings=True)


def test_crossings_are_those_of_labels_that_say_so() -> None:
    rng = np.random.default_rng(5)
    held, crossed = [], []
    for _ in range(2000):
        who, age = rng.choice(["man", "woman"]), rng.choice(["young", "old", ""])
        labels = ["bike"] * (rng.random() < (0.5 if (who, age) == ("woman", "young") else 0.2))
        held.append([who, *([age] if age else []), *labels])
        crossed.append([*([f"{who} & {age}"] if age else []), *labels])
    found = biasamp.associate(held, ["man", "woman", "young", "old"], crossings=True)
    names = ["man & young", "man & old", "woman & young", "woman & old"]
    outright = biasamp.associate(crossed, names)
    assert found.identities == tuple(names)
    mine, theirs = (result.labels.index("bike") for result in (found, outright))
    for contrast in outright.contrasts:
        for metric in outright.metrics:
            gaps = [float(r.values.gaps(metric, contrast)[i]) for r, i in ((found, mine), (outright, theirs))]
            assert gaps[0] == pytest.approx(gaps[1], abs=1e-12)
            bounds = [r.values.interval(metric, contrast) for r in (found, outright)]
            assert float(bounds[0].low[mine]) == pytest.approx(float(bounds[1].low[theirs]), abs=1e-12)
    top = next(found.top("dp", 1, toward="woman & young").rows())
    assert top["label"] == "bike"


def test_crossings_that_may_overlap_are_refused() -> None:
    held = [["a", "b", "c"], ["a", "b"], ["b", "c"], ["a", "c"]] * 5
    with pytest.raises(ValueError, match="at once, and counts do not say how many"):
        biasamp.associate(held, ["a", "b", "c"], crossings=True)
    with pytest.raises(ValueError, match="of 'a', 'b' no pair is found together"):
        biasamp.associate([["a"], ["b"]] * 5, ["a", "b"], crossings=True)


def test_strata_where_a_gap_is_undefined_are_left_out() -> None:
    """Where no record of one identity has the label its logarithm is infinite: the other stratum alone is in the mean."""
    counts = {"in": {"man": (2, 8), "woman": (1, 8)}, "out": {"man": (0, 8), "woman": (4, 8)}}
    held = [
        [who, where, *(["y"] if place < said else [])]
        for where, rows in counts.items()
        for who, (said, size) in rows.items()
        for place in range(size)
    ]
    found = biasamp.associate(held, ["man", "woman"], strata=["in", "out"], metrics=["pmi", "dp"], min_expected=0)
    assert found.conditional is not None
    (row,) = (row for row in found.conditional.table.rows() if row["label"] == "y")
    assert row["pmi"] == pytest.approx(np.log((2 / 8) / (1 / 8)), abs=1e-12)
    assert row["dp"] == pytest.approx((1 / 8 - 4 / 8) / 2, abs=1e-12)


def test_some_identities_are_those_that_would_have_been_counted() -> None:
    rng = np.random.default_rng(4)
    held = [[name for name in ("a", "b", "c", "y", "z") if rng.random() < 0.5] for _ in range(200)]
    whole = biasamp.count(held, identities=["a", "b", "c"])
    for places in ((0, 1), (1, 2), (0, 2), (2, 0)):
        names = ["abc"[place] for place in places]
        some, own = some_identities(whole, places), biasamp.count(held, identities=names)
        labels = [some.labels.index(label) for label in ("y", "z")]
        assert some.identities == own.identities
        np.testing.assert_array_equal(some.overlap, own.overlap)
        mine, theirs = some.both(0, 1), own.both(0, 1)
        assert [mine[place] for place in labels] == [theirs[own.labels.index(label)] for label in ("y", "z")]
        assert mine[labels[0]] == sum({*names, "y"} <= set(record) for record in held)
