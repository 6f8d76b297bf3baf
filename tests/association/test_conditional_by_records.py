"""Everything that gaps within strata say, against loops over the records of each stratum."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import false_discovery_control, norm

import biasamp
from biasamp.association.conditional import (
    ConditionalGaps,
    mantel_haenszel,
    mantel_haenszel_p,
    some_identities,
    strata_of,
    with_crossings,
)
from biasamp.association.gaps import association_gap, slope
from biasamp.association.metrics import METRICS

PEOPLE, STRATA, REST = ["a", "b", "c"], ["in", "out"], "none of them"
PAIRS = list(combinations(PEOPLE, 2))
Z = norm.ppf(0.975)


def records(seed: int, n: int = 260) -> list[list[str]]:
    """Records of one person or none, at one place or none; nobody of 'c' is 'in', nobody of 'b' says 'never' while 'out'."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n):
        where = rng.choice([*STRATA, ""], p=[0.3, 0.4, 0.3])
        who = rng.choice(["a", "b", "", "" if where == "in" else "c"], p=[0.35, 0.3, 0.1, 0.25])
        said = ["y"] * (rng.random() < (0.6 if where == "in" else 0.3)) + ["z"] * (rng.random() < 0.25)
        if not (who == "b" and where != "in") and rng.random() < 0.2:
            said.append("never")
        out.append([*filter(None, [who, where]), *said])
    return out


def by_stratum(held: list[list[str]]) -> dict[str, list[list[str]]]:
    out: dict[str, list[list[str]]] = {name: [] for name in (*STRATA, REST)}
    for record in held:
        out[next((name for name in STRATA if name in record), REST)].append(record)
    return out


def cells(few: list[list[str]], label: str, pair: tuple[str, str]) -> tuple[int, int, int, int, int, int]:
    """n, C(x1), C(x2), C(y), C(x1,y), C(x2,y)."""
    one, two = pair
    return (
        len(few),
        *(sum(who in record for record in few) for who in pair),
        sum(label in record for record in few),
        *(sum({who, label} <= set(record) for record in few) for who in (one, two)),
    )


def inside(metric: str, counts: tuple[int, ...], literal: bool = False) -> tuple[float, float]:
    """A gap in a stratum, and its error from the frequencies of its records, with half a record for none."""
    n, x1, x2, y, a, b = counts
    if min(x1, x2) == 0:
        return math.nan, math.nan
    gap = float(association_gap(metric, n, x1, x2, y, a, b, paper_literal=literal))
    if not math.isfinite(gap):
        return gap, math.nan
    a, b = (max(held, min(0.5, y)) for held in (a, b))
    at = slope(metric, n, np.array([x1, x2]) / n, y / n, np.array([a, b]) / n, paper_literal=literal)
    by_y = at.y[0] - at.y[1]
    parts = [at.x[0] + by_y + at.xy[0], by_y - at.x[1] - at.xy[1], by_y, at.x[0], -at.x[1]]
    share = np.array([a, b, y - a - b, x1 - a, x2 - b]) / n
    return gap, math.sqrt(max((share * np.square(parts)).sum() - (share * parts).sum() ** 2, 0) / n)


@pytest.fixture(scope="module")
def held() -> list[list[str]]:
    return records(0)


@pytest.fixture(scope="module")
def found(held: list[list[str]]) -> ConditionalGaps:
    result = biasamp.associate(held, PEOPLE, strata=STRATA, min_expected=0)
    assert result.conditional is not None
    return result.conditional


def test_strata_have_the_counts_of_their_records(held: list[list[str]], found: ConditionalGaps) -> None:
    assert [stratum.name for stratum in found.strata] == [*STRATA, REST]
    for stratum, few in zip(found.strata, by_stratum(held).values(), strict=True):
        assert stratum.n == len(few)
        assert stratum.size.tolist() == [sum(who in record for record in few) for who in PEOPLE]
        said = Counter(label for record in few for label in record)
        assert stratum.count.tolist() == [said[label] for label in found.labels]
        both = Counter((who, label) for record in few for who in PEOPLE if who in record for label in record)
        assert stratum.joint.tolist() == [[both[who, label] for who in PEOPLE] for label in found.labels]
        moments = stratum.moments
        assert moments.overlap.tolist() == np.diag(stratum.size).tolist()
        assert moments.both(1, 1).tolist() == stratum.joint[:, 1].tolist()
        assert not moments.both(0, 1).any()
        assert len(moments.both(0, 1)) == len(found.labels)


def test_strata_that_hold_all_records_have_no_rest() -> None:
    result = biasamp.associate([["a", "in", "y"], ["b", "out"], ["b", "in"]] * 5, ["a", "b"], strata=STRATA)
    assert result.conditional is not None
    assert [stratum.name for stratum in result.conditional.strata] == STRATA
    assert repr(result.conditional) == "<conditional gaps of 5 labels in 2 strata>"
    assert result.conditional.pairs == [(0, 1)]


@pytest.mark.parametrize("literal", [False, True])
def test_gaps_and_errors_inside_strata(held: list[list[str]], literal: bool) -> None:
    result = biasamp.associate(held, PEOPLE, strata=STRATA, paper_literal=literal)
    assert result.conditional is not None
    for metric in METRICS:
        for place, pair in enumerate(PAIRS):
            gaps, errors = result.conditional.inside(metric, result.conditional.pairs[place])
            assert gaps.shape == errors.shape == (3, len(result.labels))
            for s, few in enumerate(by_stratum(held).values()):
                for label in ("y", "z", "never"):
                    wanted = inside(metric, cells(few, label, pair), literal)
                    at = result.labels.index(label)
                    assert gaps[s, at] == pytest.approx(wanted[0], rel=1e-9, abs=1e-13, nan_ok=True)
                    assert errors[s, at] == pytest.approx(wanted[1], rel=1e-7, nan_ok=True)


@pytest.mark.parametrize("metric", [name for name in METRICS if name != "dp"])
def test_gaps_are_means_of_the_strata_in_which_they_are_defined(
    held: list[list[str]], found: ConditionalGaps, metric: str
) -> None:
    for place, pair in enumerate(PAIRS):
        for level, z in ((0.95, Z), (0.8, norm.ppf(0.9))):
            gap, low, high, used = found.gaps(metric, found.pairs[place], level)
            for label in ("y", "z", "never"):
                total = mean = square = many = 0.0
                for few in by_stratum(held).values():
                    counts = cells(few, label, pair)
                    own, error = inside(metric, counts)
                    if math.isfinite(own):
                        weight = counts[1] * counts[2] / (counts[1] + counts[2])
                        total, many = total + weight, many + 1
                        mean, square = mean + weight * own, square + (weight * error) ** 2
                at = found.labels.index(label)
                assert used[at] == many
                if not many:
                    assert np.isnan([gap[at], low[at], high[at]]).all()
                    continue
                assert gap[at] == pytest.approx(mean / total, rel=1e-9, abs=1e-13)
                assert high[at] - gap[at] == pytest.approx(z * math.sqrt(square) / total, rel=1e-7)
                assert gap[at] - low[at] == pytest.approx(z * math.sqrt(square) / total, rel=1e-7)


def sato(rows: list[tuple[float, ...]]) -> tuple[float, float]:
    """The risk difference and its error from (a, n1, b, n2) of each stratum that has both groups."""
    moved = weight = p = q = 0.0
    for a, n1, b, n2 in rows:
        if n1 and n2:
            n = n1 + n2
            moved += (a * n2 - b * n1) / n
            weight += n1 * n2 / n
            p += (n1**2 * b - n2**2 * a + n1 * n2 * (n2 - n1) / 2) / n**2
            q += (a * (n2 - b) + b * (n1 - a)) / (2 * n)
    gap = moved / weight
    return gap, math.sqrt(max(gap * p + q, 0)) / weight


def rows_of(held: list[list[str]], label: str, pair: tuple[str, str]) -> list[tuple[int, ...]]:
    found = [cells(few, label, pair) for few in by_stratum(held).values()]
    return [(a, x1, b, x2) for _, x1, x2, _, a, b in found]


def test_rates_have_the_difference_of_mantel_and_haenszel(held: list[list[str]], found: ConditionalGaps) -> None:
    for place, pair in enumerate(PAIRS):
        for level, z in ((0.95, Z), (0.6, norm.ppf(0.8))):
            gap, low, high, used = found.gaps("dp", found.pairs[place], level)
            for label in ("y", "z"):
                at, rows = found.labels.index(label), rows_of(held, label, pair)
                wanted, error = sato(rows)
                assert gap[at] == pytest.approx(wanted, rel=1e-12)
                assert low[at] == pytest.approx(wanted - z * error, rel=1e-9)
                assert high[at] == pytest.approx(wanted + z * error, rel=1e-9)
                assert used[at] == (2 if "c" in pair else 3)


def test_a_label_that_an_identity_never_has_is_half_a_record_shared_by_size() -> None:
    strata = {"in": ((3, 10), (0, 20)), "out": ((1, 30), (0, 20)), REST: ((0, 6), (0, 0))}
    held = [
        [who, *([where] if where != REST else []), *(["y"] if place < said else [])]
        for where, groups in strata.items()
        for who, (said, size) in zip("ab", groups, strict=True)
        for place in range(size)
    ]
    for people in (["a", "b"], ["b", "a"]):
        result = biasamp.associate(held, people, strata=STRATA, metrics="dp")
        assert result.conditional is not None
        (row,) = result.conditional.table.rows()
        turn = 1 if people == ["a", "b"] else -1
        gap, _ = sato([(3, 10, 0, 20), (1, 30, 0, 20)])
        # Twenty of forty records of 'b' are in each stratum.
        filled = [(3, 10, 0.25, 20), (1, 30, 0.25, 20)]
        _, error = sato(filled if turn > 0 else [(b, n2, a, n1) for a, n1, b, n2 in filled])
        assert row["dp"] == pytest.approx(turn * gap)
        assert row["dp_low"] == pytest.approx(turn * gap - Z * error)
        assert row["dp_high"] == pytest.approx(turn * gap + Z * error)
        assert row["dp_strata"] == 2


def test_limits_of_a_difference_of_rates_are_rates() -> None:
    held = [["a", "in", "y"]] * 3 + [["a", "in"], ["b", "in", "y"]] + [["b", "in"]] * 3
    result = biasamp.associate(held, ["a", "b"], strata=["in"], metrics="dp", min_expected=0)
    assert result.conditional is not None
    low, high = (float(part[result.labels.index("y")]) for part in result.conditional.gaps("dp", (0, 1))[1:3])
    assert high == 1.0
    assert low > -1.0
    assert (
        float(biasamp.associate(held, ["b", "a"], strata=["in"], metrics="dp").conditional.gaps("dp", (0, 1))[1][3])
        == -1
    )


def columns(rows: Any) -> tuple[Any, ...]:
    return tuple(np.array(rows, dtype=float)[:, [k]] for k in range(4))


def test_strata_that_compare_nothing_change_nothing() -> None:
    rows = [(4, 20, 1, 10), (9, 15, 11, 30)]
    for more in ([], [(0, 0, 0, 0)], [(3, 5, 0, 0)], [(0, 0, 3, 5)], [(0, 1, 0, 0)], [(1, 1, 0, 0)], [(0, 0, 1, 1)]):
        gap, error = mantel_haenszel(*columns(rows + more))
        assert (float(gap[0]), float(error[0])) == pytest.approx(
            sato([tuple(map(float, row)) for row in rows]), rel=1e-12
        )
        wanted = float(mantel_haenszel_p(*columns(rows))[0])
        assert float(mantel_haenszel_p(*columns(rows + more))[0]) == pytest.approx(wanted, rel=1e-12)
    for rows in ([(3, 5, 0, 0)], [(0, 0, 0, 0)]):
        assert np.isnan(mantel_haenszel(*columns(rows))[0])


def test_the_error_of_a_difference_is_0_where_rounding_would_make_it_less() -> None:
    gap, error = mantel_haenszel(*columns([(5, 5, 5, 5), (3, 3, 3, 3)]))
    assert (float(gap[0]), float(error[0])) == (0, 0)
    gap, error = mantel_haenszel(*columns([(0, 5, 5, 5)]))
    assert float(gap[0]) == -1
    assert float(error[0]) == pytest.approx(sato([(0, 5, 5, 5)])[1])


def test_the_p_value_of_mantel_and_haenszel_by_hand() -> None:
    rows = [(4, 20, 1, 10), (9, 15, 11, 30), (1, 1, 0, 1), (0, 1, 0, 0)]
    moved = spread = 0.0
    for a, n1, b, n2 in rows[:3]:
        n, m = n1 + n2, a + b
        moved += a - n1 * m / n
        spread += n1 * n2 * m * (n - m) / (n**2 * (n - 1))
    wanted = 2 * norm.sf(abs(moved) / math.sqrt(spread))
    assert float(mantel_haenszel_p(*columns(rows))[0]) == pytest.approx(wanted, rel=1e-10)
    turned = [(b, n2, a, n1) for a, n1, b, n2 in rows]
    assert float(mantel_haenszel_p(*columns(turned))[0]) == pytest.approx(wanted, rel=1e-10)
    # No label, a label of all, one record in each stratum: nothing speaks against the null.
    for nothing in ([(0, 5, 0, 4)], [(5, 5, 4, 4)], [(1, 1, 0, 0), (0, 0, 0, 1)]):
        assert float(mantel_haenszel_p(*columns(nothing))[0]) == 1.0
    assert 0 < float(mantel_haenszel_p(*columns([(1, 1, 0, 1)]))[0]) < 1


def test_the_table_has_a_row_for_each_label_and_pair(held: list[list[str]], found: ConditionalGaps) -> None:
    rows = list(found.table.rows())
    labels = [label for label in found.labels if label in ("y", "z", "never")]
    assert [(row["label"], row["name"], row["x1"], row["x2"]) for row in rows] == [
        (label, label, *pair) for pair in PAIRS for label in labels
    ]
    p = [float(mantel_haenszel_p(*columns(rows_of(held, row["label"], (row["x1"], row["x2"]))))[0]) for row in rows]
    assert [row["p"] for row in rows] == pytest.approx(p, rel=1e-9)
    assert [row["q"] for row in rows] == pytest.approx(false_discovery_control(p), rel=1e-9)
    assert list(rows[0])[:8] == ["label", "name", "x1", "x2", "dp", "dp_low", "dp_high", "dp_strata"]
    assert list(rows[0])[-2:] == ["p", "q"]
    for row in rows:
        pair, at = (PEOPLE.index(row["x1"]), PEOPLE.index(row["x2"])), found.labels.index(row["label"])
        for metric in METRICS:
            figures = [part[at] for part in found.gaps(metric, pair)]
            told = [row[name] for name in (metric, f"{metric}_low", f"{metric}_high", f"{metric}_strata")]
            assert [math.nan if one is None else one for one in told] == pytest.approx(figures, nan_ok=True)


def test_counts_inside_strata_are_listed(held: list[list[str]], found: ConditionalGaps) -> None:
    rows = list(found.within.rows())
    labels = [label for label in found.labels if label in ("y", "z", "never")]
    order = [(label, where, *pair) for pair in PAIRS for where in (*STRATA, REST) for label in labels]
    assert [(row["label"], row["stratum"], row["x1"], row["x2"]) for row in rows] == order
    for row in rows:
        counts = cells(by_stratum(held)[row["stratum"]], row["label"], (row["x1"], row["x2"]))
        assert (row["size_1"], row["size_2"], row["joint_1"], row["joint_2"]) == (*counts[1:3], *counts[4:])
        for metric in METRICS:
            wanted = inside(metric, counts)[0]
            if math.isnan(wanted):
                assert row[metric] is None
            else:
                assert row[metric] == pytest.approx(wanted, rel=1e-9, abs=1e-13)


def test_what_is_undefined_is_listed_once(held: list[list[str]], found: ConditionalGaps) -> None:
    wanted: list[tuple[Any, ...]] = []
    for pair in PAIRS:
        if "c" in pair:
            wanted.append((*pair, "in", None, "no record of 'c' in it"))
        for metric in METRICS:
            if metric == "dp":
                continue
            for where, few in by_stratum(held).items():
                for label in [label for label in found.labels if label in ("y", "z", "never")]:
                    counts = cells(few, label, pair)
                    if min(counts[1:3]) and not math.isfinite(inside(metric, counts)[0]):
                        why = f"{metric} has no finite gap: the label never meets an identity, or all records have it"
                        wanted.append((*pair, where, label, why))
    told = [tuple(row[name] for name in ("x1", "x2", "stratum", "label", "why")) for row in found.undefined]
    assert told == wanted
    assert {row[3] for row in wanted} == {None, "never"}


def test_the_document_has_strata_gaps_and_what_is_undefined(held: list[list[str]], found: ConditionalGaps) -> None:
    document = found.to_dict()
    assert list(document) == ["strata", "gaps", "undefined"]
    assert document["strata"] == [
        {"stratum": name, "records": len(few), "identities": {who: sum(who in r for r in few) for who in PEOPLE}}
        for name, few in by_stratum(held).items()
    ]
    assert document["undefined"] == list(found.undefined)
    assert document["gaps"] == list(found.table.plain_rows())
    assert len(document["gaps"]) == 9
    json.dumps(document, allow_nan=False)


def test_no_identity_meets_another_and_no_stratum_another() -> None:
    held = [["a", "in"], ["b", "out"], ["a", "b"], ["a", "in", "out"], ["in", "out"]]
    counts = biasamp.count(held, identities=["a", "b", *STRATA])
    with pytest.raises(ValueError, match="strata 'in' and 'out' meet in 2 records: with strata"):
        strata_of(counts, [0, 1], [2, 3])
    with pytest.raises(ValueError, match="identities 'a' and 'b' meet in 1 record: with strata"):
        strata_of(counts, [0, 1], [2])
    apart = strata_of(counts, [1], [2])
    assert [(stratum.name, stratum.n, stratum.size.tolist()) for stratum in apart] == [("in", 3, [0]), (REST, 2, [2])]


def test_counts_of_some_identities_hold_no_others() -> None:
    rng = np.random.default_rng(1)
    held = [[name for name in "abcdyz" if rng.random() < 0.5] for _ in range(150)]
    whole = biasamp.count(
        {"id": range(150), "says": held}, identities=list("abcd"), record="id", label="says", pairable=True
    )
    assert whole.bags is not None
    for places in ([3, 1], [0, 2, 3], [2], [0, 1, 2, 3]):
        names = ["abcd"[place] for place in places]
        some, own = some_identities(whole, places), biasamp.count(held, identities=names).take([*range(6)])
        assert some.bags is None
        assert some.n == 150
        assert some.identities == tuple(names)
        assert some.members == tuple((name,) for name in names)
        assert some.labels == own.labels
        assert (some.count == own.count).all()
        assert (some.overlap == own.overlap).all()
        assert (some.identity_joint == own.identity_joint).all()
        assert (some.joint == own.joint).all()
        assert (some.shared.keys == own.shared.keys).all()
        assert (some.shared.values == own.shared.values).all()


def test_crossed_identities_are_counted_as_one_label_would_be() -> None:
    rng = np.random.default_rng(2)
    held = [
        [
            rng.choice(["m", "w"]),
            *filter(None, [rng.choice(["old", "young", ""])]),
            *(y for y in "yz" if rng.random() < 0.4),
        ]
        for _ in range(120)
    ]
    counts = biasamp.count(held, identities={"man": "m", "woman": "w", "young": ["young"], "old": ["old"]})
    crossed = with_crossings(counts)
    names = ["man & young", "man & old", "woman & young", "woman & old"]
    assert crossed.identities == tuple(names)
    assert with_crossings(counts, " + ").identities[0] == "man + young"
    assert crossed.members == (("m", "young"), ("m", "old"), ("w", "young"), ("w", "old"))
    sets = [set(record) for record in held]
    size = [sum(set(group) <= record for record in sets) for group in crossed.members]
    assert crossed.overlap.tolist() == np.diag(size).tolist()
    for label, row in zip(crossed.labels, crossed.identity_joint.tolist(), strict=True):
        assert row == [sum({*group, label} <= record for record in sets) for group in crossed.members]
    assert not crossed.joint[:, 0, 1].any()
    assert crossed.bags is None
    assert len(crossed.shared.values) == 0


def test_identities_that_cannot_be_crossed_are_named() -> None:
    with pytest.raises(ValueError, match="'a', 'b', 'c' a single pair is found together"):
        with_crossings(biasamp.count([["a", "b"], ["c"]], identities=["a", "b", "c"]))
    six = [f"x{k}" for k in range(6)]
    with pytest.raises(ValueError, match="of 'x0', 'x1', 'x2', 'x3', 'x4' no pair is found together"):
        with_crossings(biasamp.count([[name] for name in six], identities=six))
    with pytest.raises(ValueError, match="records may have all of 'a', 'b', 'c' at once"):
        with_crossings(biasamp.count([["a", "b"], ["b", "c"], ["a", "c"], ["d"]], identities=list("abcd")))
    # 'a' and 'c' never meet, nor 'b' and 'd': two pairs are enough.
    two = with_crossings(biasamp.count([["a", "b"], ["c", "d"], ["y", "a", "b"]], identities=list("abcd")))
    assert two.identities == ("a & b", "c & d")
    assert two.overlap.tolist() == [[2, 0], [0, 1]]


def test_one_record_of_an_identity_is_enough() -> None:
    """In a stratum, and in all: half a record is then half of it."""
    held = [["a", "in"], ["b", "in", "y"], ["b", "in"], ["b", "in"], ["b", "y"]]
    for people in (["a", "b"], ["b", "a"]):
        result = biasamp.associate(held, people, strata=["in"], metrics=["dp", "sdc", "pmi"], min_expected=0)
        assert result.conditional is not None
        turn, at = (1 if people == ["a", "b"] else -1), result.labels.index("y")
        gap, low, high, used = (float(part[at]) for part in result.conditional.gaps("dp", (0, 1)))
        rows = [(0.5, 1, 1, 3)] if turn > 0 else [(1, 3, 0.5, 1)]
        assert gap == pytest.approx(-turn / 3)
        assert (low, high) == pytest.approx((max(gap - Z * sato(rows)[1], -1), min(gap + Z * sato(rows)[1], 1)))
        assert used == 1
        assert float(result.conditional.gaps("sdc", (0, 1))[0][at]) == pytest.approx(-turn * 2 / 4)
        why = "pmi has no finite gap: the label never meets an identity, or all records have it"
        entry = {"x1": people[0], "x2": people[1]}
        assert list(result.conditional.undefined) == [
            {**entry, "stratum": REST, "label": None, "why": "no record of 'a' in it"},
            {**entry, "stratum": "in", "label": "y", "why": why},
        ]


def test_no_stratum_compares_what_never_meets() -> None:
    held = [["a", "in", "y"], ["a", "in"], ["b", "y"], ["b"]] * 3
    result = biasamp.associate(held, ["a", "b"], strata=["in"], metrics=["dp", "sdc"], min_expected=0)
    assert result.conditional is not None
    for metric in ("dp", "sdc"):
        gap, _, _, used = result.conditional.gaps(metric, (0, 1))
        assert np.isnan(gap).all()
        assert not used.any()
    assert result.conditional.table["p"].tolist() == [1.0]
