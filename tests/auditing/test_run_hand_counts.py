"""The audit's figures against counts made by hand, for every way of giving columns."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import fisher_exact

import biasamp

QUICK: dict[str, Any] = {"resamples": 20, "metrics": ["directional"]}


def by_hand(
    given: Sequence[Any],
    truth: Sequence[Any],
    predicted: Sequence[Any],
    weights: Sequence[Any] | None = None,
    signs: tuple[Sequence[Any], Sequence[Any]] | None = None,
) -> dict[tuple[str, str], tuple[Fraction, Fraction, int]]:
    """Truth rate, predicted rate and sign of every pair, record by record; None is a missing label.

    A record without the labels that a pair is about is left out of that pair.
    """
    weights = [1] * len(given) if weights is None else weights
    out = {}
    for g in sorted({x for x in given if x is not None}):
        for o in sorted({x for x in (*truth, *predicted) if x is not None}):
            n = c_g = c_o = c_go = c_gp = Fraction(0)
            for x, y, z, w in zip(given, truth, predicted, weights, strict=True):
                if x is None or y is None or z is None:
                    continue
                w = Fraction(w)
                n += w
                c_g += w * (x == g)
                c_o += w * (y == o)
                c_go += w * (x == g and y == o)
                c_gp += w * (x == g and z == o)
            if signs is not None:
                n = Fraction(len(signs[0]))
                s_g, s_o = sum(x == g for x in signs[0]), sum(y == o for y in signs[1])
                s_go = sum(x == g and y == o for x, y in zip(*signs, strict=True))
                lead = n * s_go - s_g * s_o
            else:
                lead = n * c_go - c_g * c_o
            if c_g:
                out[g, o] = (c_go / c_g, c_gp / c_g, (lead > 0) - (lead < 0))
    return out


def told(audit: Any, attribute: str, direction: str = "A->T") -> dict[tuple[str, str], tuple[float, float, int]]:
    """The same from the audit, categories without their variable's name."""
    (entry,) = [
        m
        for m in audit.document["metrics"]
        if (m["metric"], m["attribute"], m["direction"]) == ("directional", attribute, direction)
    ]
    return {
        tuple(pair[side].split("=", 1)[-1] for side in ("given", "outcome")): (  # type: ignore[misc]
            pair["truth_rate"],
            pair["predicted_rate"],
            pair["sign"],
        )
        for pair in entry["pairs"]
    }


def agree(found: Any, hand: Any) -> None:
    assert set(found) == set(hand)
    for pair, (truth, predicted, sign) in hand.items():
        assert found[pair] == (pytest.approx(float(truth)), pytest.approx(float(predicted)), sign), pair


G = ["w", "w", "w", "w", "m", "m", "m", "m", "m", "w", "m", "w"]
R = ["x", "x", "y", "y", "x", "x", "y", "y", "x", "x", "y", "x"]
T = ["1", "1", "1", "0", "0", "0", "0", "1", "0", "1", "1", "0"]
P = ["1", "1", "0", "1", "0", "0", "1", "1", "0", "1", "0", "0"]
H = ["w", "m", "w", "w", "m", "m", "w", "m", "m", "w", "m", "m"]
DATA: dict[str, Any] = {"g": G, "r": R, "t": [int(x) for x in T], "p": [int(x) for x in P], "h": H}


def value(hand: Any) -> float:
    return float(sum(sign * (predicted - truth) for truth, predicted, sign in hand.values()) / len(hand))


def test_both_directions_and_the_aggregate() -> None:
    audited = biasamp.audit(DATA, attributes="g", tasks="t", task_predictions="p", attribute_predictions="h", **QUICK)
    forth, back = by_hand(G, T, P), by_hand(T, G, H)
    agree(told(audited, "g"), forth)
    agree(told(audited, "g", "T->A"), back)
    values = {row["direction"]: row["value"] for row in audited.metrics.rows()}
    assert values == {"A->T": pytest.approx(value(forth)), "T->A": pytest.approx(value(back))}


def test_several_attributes_one_by_one_and_crossed() -> None:
    audited = biasamp.audit(DATA, attributes=["g", "r"], tasks="t", task_predictions="p", intersections=True, **QUICK)
    agree(told(audited, "g"), by_hand(G, T, P))
    agree(told(audited, "r"), by_hand(R, T, P))
    crossed = [f"{g} & {r}" for g, r in zip(G, R, strict=True)]
    agree(told(audited, "g x r"), by_hand(crossed, T, P))
    sizes = {(row["attribute"], row["group"]): row["records"] for row in audited.document["data"]["groups"]}
    assert sizes["g x r", "g x r=w & x"] == 4
    assert sizes["g", "g=w"] == 6


def test_crossed_predictions_of_attributes() -> None:
    other = R[::-1]
    audited = biasamp.audit(
        {**DATA, "q": other},
        attributes=["g", "r"],
        tasks="t",
        attribute_predictions=["h", "q"],
        intersections=True,
        **QUICK,
    )
    crossed, said = ([f"{a} & {b}" for a, b in zip(*sides, strict=True)] for sides in ((G, R), (H, other)))
    agree(told(audited, "g x r", "T->A"), by_hand(T, crossed, said))


MISSING_G = [None if i in (0, 5) else x for i, x in enumerate(G)]
MISSING_T = [None if i in (1, 5, 7) else x for i, x in enumerate(T)]
MISSING_P = [None if i in (2,) else x for i, x in enumerate(P)]
HOLES = {"g": MISSING_G, "t": MISSING_T, "p": MISSING_P, "r": R}


@pytest.mark.parametrize("holes", [["g"], ["t"], ["p"], ["g", "t", "p"]])
def test_missing_is_an_error_that_says_where(holes: list[str]) -> None:
    data = {**DATA, **{name: HOLES[name] for name in holes}}
    where = {
        "g": r"attributes has 2 records .* in g \(rows 1, 6, counted from 1 without the header\)",
        "t": "tasks has 3",
        "p": "task_predictions has 1",
    }
    first = "t" if "t" in holes else "p" if "p" in holes else "g"
    with pytest.raises(ValueError, match=where[first] if len(holes) == 1 else "with missing labels"):
        biasamp.audit(data, attributes="g", tasks="t", task_predictions="p", **QUICK)


@pytest.mark.parametrize("holes", [["g"], ["t"], ["p"], ["g", "t", "p"]])
def test_drop_leaves_a_record_out_of_the_pair_alone(holes: list[str]) -> None:
    data = {**DATA, **{name: HOLES[name] for name in holes}}
    audited = biasamp.audit(data, attributes=["g", "r"], tasks="t", task_predictions="p", missing="drop", **QUICK)
    agree(told(audited, "g"), by_hand(data["g"], *(_text(data[x]) for x in "tp")))
    agree(told(audited, "r"), by_hand(R, *(_text(data[x]) for x in "tp")))  # where g is missing, r still counts
    gone = sum(x is None for name in holes for x in HOLES[name])
    assert audited.document["data"]["missing_values"] == gone
    values = "1 missing value was" if gone == 1 else f"{gone} missing values were"
    assert f"{values} left out" in _caution(audited, "missing")


def test_drop_in_one_of_several_tasks_keeps_the_others() -> None:
    data = {"g": G, "a": MISSING_T, "b": T, "ap": P, "bp": P}
    data = {name: [None if x is None else int(x) if x in "01" else x for x in column] for name, column in data.items()}
    audited = biasamp.audit(
        data, attributes="g", tasks=["a", "b"], task_predictions=["ap", "bp"], missing="drop", **QUICK
    )
    rates = {(p["given"], p["outcome"]): (p["truth_rate"], p["support"]) for p in audited.pairs.rows()}
    whole, part = by_hand(G, T, P), by_hand(G, MISSING_T, P)
    for g in "wm":
        assert rates[f"g={g}", "b"] == (pytest.approx(float(whole[g, "1"][0])), G.count(g))
        held = sum(x == g and y is not None for x, y in zip(G, MISSING_T, strict=True))
        assert rates[f"g={g}", "a"] == (pytest.approx(float(part[g, "1"][0])), held)


@pytest.mark.parametrize("holes", [["g"], ["t"], ["p"], ["g", "t", "p"]])
def test_negative_reads_a_missing_label_as_not_held(holes: list[str]) -> None:
    data = {**DATA, **{name: HOLES[name] for name in holes}}
    audited = biasamp.audit(data, attributes="g", tasks="t", task_predictions="p", missing="negative", **QUICK)
    never = "a value that is no label"
    sides = [["" if x is None else x for x in _text(data[name])] for name in "gtp"]
    hand = {
        pair: figures
        for pair, figures in by_hand(*[[x or never for x in side] for side in sides]).items()
        if never not in pair
    }
    agree(told(audited, "g"), hand)
    assert "read as not having the label" in _caution(audited, "missing")


def _text(values: Any) -> list[str | None]:
    return [None if x is None else str(x) for x in values]


def _caution(audited: Any, code: str) -> str:
    (text,) = [finding.text for finding in audited.findings if finding.code == code]
    return str(text)


def test_weights() -> None:
    weights = [1, 2, 3, 1, 1, 2, 5, 1, 1, 1, 2, 3]
    audited = biasamp.audit(
        {**DATA, "w": weights}, attributes="g", tasks="t", task_predictions="p", weights="w", **QUICK
    )
    agree(told(audited, "g"), by_hand(G, T, P, weights))
    given = biasamp.audit(DATA, attributes="g", tasks="t", task_predictions="p", weights=weights, **QUICK)
    assert given.document["metrics"] == audited.document["metrics"]
    repeated = {
        name: [x for x, w in zip(column, weights, strict=True) for _ in range(w)] for name, column in DATA.items()
    }
    agree(
        told(biasamp.audit(repeated, attributes="g", tasks="t", task_predictions="p", **QUICK), "g"),
        by_hand(G, T, P, weights),
    )


def test_train_labels_decide_the_signs(tmp_path: Path) -> None:
    train = (["w", "w", "m", "m", "m", "w"], ["0", "0", "1", "1", "0", "1"])  # the other way round
    path = tmp_path / "train.parquet"
    pq.write_table(pa.table({"g": train[0], "t": [int(x) for x in train[1]]}), path)
    audited = biasamp.audit(DATA, attributes="g", tasks="t", task_predictions="p", train=path, **QUICK)
    hand = by_hand(G, T, P, signs=train)
    agree(told(audited, "g"), hand)
    assert audited.document["data"]["train"] is True
    assert {sign for *_, sign in hand.values()} == {-1, 1}
    opposite = by_hand(G, T, P)
    assert all(hand[pair][2] == -opposite[pair][2] for pair in hand)


def test_several_tasks_are_yes_no_labels() -> None:
    other = [str(1 - int(x)) if i % 3 else x for i, x in enumerate(T)]
    data = {**DATA, "u": [int(x) for x in other], "up": [int(x) for x in H_AS_NUMBERS]}
    audited = biasamp.audit(data, attributes="g", tasks=["t", "u"], task_predictions=["p", "up"], **QUICK)
    found = told(audited, "g")
    first, second = by_hand(G, T, P), by_hand(G, other, H_AS_NUMBERS)
    hand = {(g, name): table[g, "1"] for g in "wm" for name, table in (("t", first), ("u", second))}
    agree(found, hand)
    mapped = biasamp.audit(data, attributes="g", tasks=["t", "u"], task_predictions={"u": "up", "t": "p"}, **QUICK)
    assert mapped.document["metrics"] == audited.document["metrics"]


H_AS_NUMBERS = ["1" if x == "w" else "0" for x in H]


def test_binary_and_categorical_say_what_a_column_is() -> None:
    one = biasamp.audit(DATA, attributes="g", tasks=biasamp.binary("t"), task_predictions=biasamp.binary("p"), **QUICK)
    hand = by_hand(G, T, P)
    agree(told(one, "g"), {(g, "t"): hand[g, "1"] for g in "wm"})
    both = biasamp.audit(
        {**DATA, "r_said": list(DATA["r"])},
        attributes="g",
        tasks=biasamp.categorical(["t", "r"]),
        task_predictions=biasamp.categorical(["p", "r_said"]),
        **QUICK,
    )
    outcomes = {pair["outcome"] for pair in both.pairs.rows()}
    assert outcomes == {"t=0", "t=1", "r=x", "r=y"}


def test_an_attribute_spread_over_columns() -> None:
    data = {**DATA, "woman": [int(x == "w") for x in G], "man": [int(x == "m") for x in G]}
    audited = biasamp.audit(data, attributes={"gender": ["woman", "man"]}, tasks="t", task_predictions="p", **QUICK)
    hand = by_hand(["woman" if x == "w" else "man" for x in G], T, P)
    agree(told(audited, "gender"), hand)


def test_lists_of_labels() -> None:
    held = [[name for name, x in (("cook", t), ("paint", r)) if x in "1x"] for t, r in zip(T, R, strict=True)]
    said = [[name for name, x in (("cook", p), ("paint", h)) if x in "1w"] for p, h in zip(P, H, strict=True)]
    audited = biasamp.audit({"g": G, "t": held, "p": said}, attributes="g", tasks="t", task_predictions="p", **QUICK)
    cook = by_hand(G, T, P)
    paint = by_hand(G, ["1" if x == "x" else "0" for x in R], H_AS_NUMBERS)
    hand = {(g, name): table[g, "1"] for g in "wm" for name, table in (("cook", cook), ("paint", paint))}
    agree(told(audited, "g"), hand)


def test_soft_predictions_count_as_fractions() -> None:
    soft = [0.75 if x == "1" else 0.25 for x in P]
    audited = biasamp.audit({**DATA, "p": soft}, attributes="g", tasks="t", task_predictions="p", **QUICK)
    found, hand = told(audited, "g"), by_hand(G, T, P)
    for pair, (truth, predicted, sign) in hand.items():
        expected = 0.25 + 0.5 * float(predicted)
        assert found[pair] == (pytest.approx(float(truth)), pytest.approx(expected), sign)


def test_class_probabilities() -> None:
    truth = ["cat", "dog", "emu", "cat", "dog", "dog", "emu", "cat", "cat", "emu", "dog", "cat"]
    rows = [(0.5, 0.25, 0.25), (0.25, 0.75, 0.0), (0.0, 0.5, 0.5)] * 4
    data = {"g": G, "t": truth, **{f"p{i}": [row[i] for row in rows] for i in range(3)}}
    audited = biasamp.audit(
        data,
        attributes="g",
        tasks="t",
        task_predictions=biasamp.categorical(["p0", "p1", "p2"], categories=["cat", "dog", "emu"]),
        **QUICK,
    )
    found = told(audited, "g")
    for g in "wm":
        for i, animal in enumerate(("cat", "dog", "emu")):
            mine = [row[i] for row, x in zip(rows, G, strict=True) if x == g]
            true = sum(x == g and t == animal for x, t in zip(G, truth, strict=True)) / G.count(g)
            assert found[g, animal][:2] == (pytest.approx(true), pytest.approx(sum(mine) / len(mine)))


@pytest.mark.parametrize("form", ["records", "file of records", "table", "file", "mapping"])
def test_base_rates_from_elsewhere(tmp_path: Path, form: str) -> None:
    """Base rates take the place of the truth's: P(t=1|w) = 3/4 and P(t=1|m) = 1/5 in the base."""
    counts = {("w", 1): 3, ("w", 0): 1, ("m", 1): 1, ("m", 0): 4}
    records = {
        "g": [g for (g, _), c in counts.items() for _ in range(c)],
        "t": [t for (_, t), c in counts.items() for _ in range(c)],
    }
    long = {
        "attribute": [g for g, _ in counts],
        "task": [t for _, t in counts],
        "count": list(counts.values()),
    }
    path = tmp_path / "base.parquet"
    base: Any = {
        "records": records,
        "table": long,
        "mapping": {g: {str(t): counts[g, t] for t in (0, 1)} for g in "wm"},
    }.get(form, path)
    if base is path:
        pq.write_table(pa.table(records if form == "file of records" else long), path)
    audited = biasamp.audit(
        DATA, attributes="g", tasks="t", task_predictions="p", attribute_predictions="h", base=base, **QUICK
    )
    found = told(audited, "g")
    hand = by_hand(G, T, P)
    rates = {("w", "1"): 3 / 4, ("w", "0"): 1 / 4, ("m", "1"): 1 / 5, ("m", "0"): 4 / 5}
    for pair, rate in rates.items():
        assert found[pair][:2] == (pytest.approx(rate), pytest.approx(float(hand[pair][1])))
    back = {("1", "w"): 3 / 4, ("1", "m"): 1 / 4, ("0", "w"): 1 / 5, ("0", "m"): 4 / 5}
    for pair, rate in back.items():
        assert told(audited, "g", "T->A")[pair][0] == pytest.approx(rate)
    assert "base-choice" in {finding.code for finding in audited.findings}


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ({"g": ["w"], "x": [1]}, r"base has the columns g, x; it needs either those of the audit \(g, t\)"),
        ({"attribute": ["w", "w"], "task": [1, 1], "count": [1, 2]}, "names the pair .* twice"),
        ({"attribute": ["w", None], "task": [1, 0], "count": [1, 2]}, "base column 'attribute' has 1 missing values"),
        (3, "base is a int; a path, a frame or a mapping is needed"),
    ],
)
def test_base_rates_that_cannot_be_read(base: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        biasamp.audit(DATA, attributes="g", tasks="t", task_predictions="p", base=base, **QUICK)


def test_a_category_only_the_model_knows_is_apart() -> None:
    """The label that a model gave to 40 of 50 women and no man halved the figure in silence."""
    truth = ["a"] * 30 + ["b"] * 10 + ["c"] * 10 + ["a"] * 10 + ["b"] * 20 + ["c"] * 20
    groups = ["w"] * 50 + ["m"] * 50
    said = ["new" if i < 40 else x for i, x in enumerate(truth)]
    names: dict[str, Any] = {"attributes": "g", "tasks": "t", "task_predictions": "p", "engine": "auto", **QUICK}
    data = {"g": groups, "t": truth, "p": said}
    for engine in ("auto", "local"):
        audited = biasamp.audit(data, **{**names, "engine": engine})
        agree(
            told(audited, "g"),
            {pair: rates for pair, rates in by_hand(groups, truth, said).items() if pair[1] != "new"},
        )
        (found,) = audited.document["invented"]
        assert [(row["group"], row["count"], row["records"]) for row in found["groups"]] == [
            ("g=m", 0, 50),
            ("g=w", 40, 50),
        ]
        assert found["difference"] == 0.8
        assert found["between"] == ["g=w", "g=m"]
        # Newcombe (1998), method 10, by the textbook's formula, and Fisher's exact test.
        assert (found["low"], found["high"]) == pytest.approx((0.6513827298, 0.8875624998))
        assert found["p"] == pytest.approx(float(fisher_exact([[40, 10], [0, 50]])[1]), rel=1e-9)
        assert any(finding.code == "invented" and "0.800" in finding.text for finding in audited.findings)
        with pytest.raises(ValueError, match="unseen='error'"):
            biasamp.audit(data, **{**names, "engine": engine}, unseen="error")
    parts = [{k: v[i::2] for k, v in {**data, "id": list(range(100))}.items()} for i in (0, 1)]
    roles = {"attributes": "g", "tasks": "t", "task_predictions": "p", "record": "id"}
    merged = biasamp.count(parts[0], **roles) + biasamp.count(parts[1], **roles)
    assert biasamp.audit(merged, **QUICK).document["invented"] == audited.document["invented"]
    with pytest.raises(ValueError, match="unseen='error'"):
        biasamp.audit(merged, unseen="error")


def test_clusters_widen_the_interval_but_not_the_value() -> None:
    """Every record twice, in clusters of two: the interval of the single records, which the doubled ones alone would narrow."""
    names: dict[str, Any] = {"attributes": "g", "tasks": "t", "task_predictions": "p", "resamples": 2000}
    names["metrics"] = ["directional"]
    twice = {name: column * 2 for name, column in DATA.items()}
    once = biasamp.audit(DATA, **names).document["metrics"][0]
    doubled = biasamp.audit(twice, **names).document["metrics"][0]
    grouped = biasamp.audit({**twice, "c": [*range(12), *range(12)]}, cluster="c", **names).document["metrics"][0]
    assert once["value"] == pytest.approx(doubled["value"]) == pytest.approx(grouped["value"])
    widths = [high - low for low, high in (entry["interval"] for entry in (once, doubled, grouped))]
    assert widths[1] < 0.85 * widths[0]
    assert widths[2] == pytest.approx(widths[0], rel=0.15)


@pytest.mark.parametrize("missing", ["drop", "negative"])
def test_attackers_leave_out_records_without_a_category(missing: str) -> None:
    """They need a value on every side, so both policies come to the complete records."""
    holes = {**HOLES, "g": [None if i in (0, 5) else x for i, x in enumerate(G)]}
    whole = [i for i in range(len(G)) if all(holes[name][i] is not None for name in "gtp")]
    kept = {name: [column[i] for i in whole] for name, column in holes.items()}
    names: dict[str, Any] = {"attributes": "g", "tasks": "t", "task_predictions": "p", "metrics": ["dpa", "leakage"]}
    found, expected = biasamp.audit(holes, missing=missing, **names), biasamp.audit(kept, **names)
    assert [row["value"] for row in found.metrics.rows()] == [row["value"] for row in expected.metrics.rows()]
    assert {row["n"] for row in found.metrics.rows()} == {len(whole)}


def test_no_record_with_all_labels() -> None:
    data = {"g": ["w", None] * 6, "t": [None, "1"] * 6, "p": P}
    with pytest.raises(ValueError, match="no record has all labels: each one misses its group, its truth"):
        biasamp.audit(data, attributes="g", tasks="t", task_predictions="p", missing="drop", **QUICK)


def test_confidence_and_resamples_reach_the_intervals() -> None:
    """An interval at 50% lies inside that at 99%; more resamples move its ends, not the value."""
    names: dict[str, Any] = {"attributes": "g", "tasks": "t", "task_predictions": "p"}
    data = {name: column * 10 for name, column in DATA.items()}
    narrow = biasamp.audit(data, confidence=0.5, **names).document["metrics"]
    wide = biasamp.audit(data, confidence=0.99, **names).document["metrics"]
    checked = 0
    for inner, outer in zip(narrow, wide, strict=True):
        assert inner["value"] == outer["value"]
        if inner["interval"][0] is not None and inner["interval"] != [inner["value"]] * 2:
            assert outer["interval"][0] <= inner["interval"][0] <= inner["interval"][1] <= outer["interval"][1]
            assert outer["interval"] != inner["interval"]
            checked += 1
        for a, b in zip(inner.get("pairs", ()), outer.get("pairs", ()), strict=True):
            assert a["low"] is None or b["low"] <= a["low"] <= a["high"] <= b["high"]
    assert checked >= 6
