"""Every column of a change between runs, by loops over labels, records and bags."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import false_discovery_control, norm

import biasamp
from associations import association, covariance
from biasamp.association import change as change_module
from biasamp.association.gaps import slope
from biasamp.association.metrics import METRICS
from biasamp.counts.label_bags import BAGS, label_bags_of
from biasamp.counts.long_columns import keys_of

PEOPLE = ["a", "b", "c"]
LABELS = ["often", "rare", "some", "often too"]


def run_of(seed: int, n: int, own: str, rate: float = 0.3) -> list[set[str]]:
    """Records of identities that overlap, but for 'c' and 'b'; ``own`` is a label that this run alone has."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n):
        held = {who for who in PEOPLE if rng.random() < 0.4}
        held -= {"c"} if "b" in held else set()
        chances = {"often": 0.5 + 0.2 * ("a" in held), "rare": 0.04, "some": rate, "often too": 0.45, own: 0.3}
        out.append(held | {label for label, chance in chances.items() if rng.random() < chance})
    return out


def result_of(records: list[set[str]], ids: Any = None, **options: Any) -> biasamp.Association:
    options = {"min_expected": 0, **options}
    if ids is None:
        return biasamp.associate([sorted(record) for record in records], PEOPLE, **options)
    rows = [(number, label) for number, record in zip(ids, records, strict=True) for label in [*sorted(record), None]]
    table = pa.table({"id": [row[0] for row in rows], "says": pa.array([row[1] for row in rows], pa.string())})
    return biasamp.associate(table, PEOPLE, record="id", label="says", pairable=True, **options)


def cells_of(records: list[set[str]], label: str, more: float = 0.5) -> tuple[Any, ...]:
    """n, C(x), C(x1, x2), C(y), C(x,y) and C(x1,x2,y) with half a record more in each cell of every table."""
    x = np.array([[who in record for who in PEOPLE] for record in records])
    y = np.array([label in record for record in records])
    both = np.einsum("ik,im,i->km", x, x, y.astype(int)).astype(float)
    overlap = (x.T.astype(int) @ x).astype(float)
    return (
        len(records) + 4 * more, np.diag(overlap) + 2 * more, overlap, y.sum() + 2 * more, np.diag(both) + more, both,
    )  # fmt: skip


def variance(cells: tuple[Any, ...], weights: Any, metric: str, literal: bool = False) -> float:
    n, sizes, overlap, count, joint, both = cells
    return max(covariance(n, sizes, overlap.tolist(), count, joint, both.tolist(), weights, metric, literal), 0.0)


def error_of(old: Any, new: Any, weights: Any, metric: str, independent: bool, literal: bool = False) -> float:
    pooled = tuple(one + two for one, two in zip(old, new, strict=True))
    own = [math.sqrt(variance(run, weights, metric, literal)) for run in (old, new)]
    same = [math.sqrt(variance(pooled, weights, metric, literal) * pooled[0] / run[0]) for run in (old, new)]
    return max((math.hypot(*pair) if independent else sum(pair)) for pair in (own, same))


def gap_of(cells: tuple[Any, ...], weights: Any, metric: str, literal: bool = False) -> float:
    n, sizes, _, count, joint, _ = cells
    with np.errstate(invalid="ignore"):
        values = association(metric, n, sizes, count, joint, paper_literal=literal)
    return float(sum(w * value for w, value in zip(weights, values, strict=True) if w))


WAYS: list[tuple[dict[str, str], list[float]]] = [
    ({"toward": "a", "against": "b"}, [1, -1, 0]),
    ({"toward": "c", "against": "a"}, [-1, 0, 1]),
    ({}, [1, -0.5, -0.5]),
    ({"toward": "b"}, [-0.5, 1, -0.5]),
]


def check(
    found: Any, runs: Any, error: Any, how: dict[str, Any], weights: Any, metric: str, literal: bool = False
) -> None:
    """Hold every figure against the gap of each run, and that with half a record more with its error."""
    level, method = how.get("level", 0.95), how.get("correction", "bh")
    z = norm.ppf((1 + level) / 2)
    rows = {row["label"]: row for row in found.rows()}
    held = [{label for record in run for label in record} for run in runs]
    assert set(rows) == held[0] | held[1]
    p = {}
    for label, row in rows.items():
        assert (row["count_old"], row["count_new"]) == tuple(sum(label in r for r in run) for run in runs)
        gaps = [
            gap_of(cells_of(run, label, 0.0), weights, metric, literal) if label in own else math.nan
            for run, own in zip(runs, held, strict=True)
        ]
        told = [
            math.nan if row[name] is None else row[name] for name in ("gap_old", "gap_new", "change", "low", "high")
        ]
        assert told[:2] == pytest.approx(gaps, rel=1e-9, abs=1e-13, nan_ok=True)
        if label not in LABELS:
            assert row["p"] is row["q"] is None
            if label not in PEOPLE:
                assert np.isnan(told[2:]).all()
                assert not row["ranked"]
            continue
        old, new = (cells_of(run, label) for run in runs)
        centre = gap_of(new, weights, metric, literal) - gap_of(old, weights, metric, literal)
        wide = error(old, new, label)
        assert told[2] == pytest.approx(gaps[1] - gaps[0], rel=1e-8, abs=1e-12)
        assert told[3] == pytest.approx(min(centre - z * wide, told[2]), rel=1e-6, abs=1e-9)
        assert told[4] == pytest.approx(max(centre + z * wide, told[2]), rel=1e-6, abs=1e-9)
        p[label] = 2 * norm.sf(abs(centre) / wide)
        assert row["p"] == pytest.approx(p[label], rel=1e-5)
        assert row["ranked"]
    q = dict(zip(p, false_discovery_control(list(p.values()), method=method), strict=True))
    for label in p:
        assert rows[label]["q"] == pytest.approx(q[label], rel=1e-5)
    size = [-1.0 if math.isnan(change) else abs(change) for change in found["change"].tolist()]
    order = list(zip((~found["ranked"]).tolist(), [-change for change in size], strict=True))
    assert order == sorted(order)


@pytest.fixture(scope="module")
def runs() -> tuple[list[set[str]], list[set[str]]]:
    return run_of(0, 150, "old"), run_of(1, 220, "new", 0.45)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("way", "weights"), WAYS)
def test_changes_of_samples_of_which_nothing_is_known(runs: Any, metric: str, way: Any, weights: Any) -> None:
    old, new = (result_of(run) for run in runs)
    for more, independent in (({}, False), ({"records": "independent"}, True)):
        found = biasamp.association_change(old, new, metric, **way, **more)
        assert found.sharing == ("independent" if independent else "unknown")
        assert not found["paired"].any()
        check(found, runs, lambda *at, i=independent: error_of(*at[:2], weights, metric, i), {}, weights, metric)


@pytest.mark.parametrize("metric", ["npmi_xy", "sdc", "tau_b"])
def test_changes_of_metrics_as_printed(runs: Any, metric: str) -> None:
    how = {"level": 0.8, "correction": "by"}
    old, new = (result_of(run, paper_literal=True) for run in runs)
    found = biasamp.association_change(old, new, metric, toward="a", against="c", records="independent", **how)
    weights = [1, 0, -1]
    check(found, runs, lambda one, two, _: error_of(one, two, weights, metric, True, True), how, weights, metric, True)


def paired_error(runs: Any, ids: Any, label: str, weights: Any, metric: str, literal: bool) -> float:
    """The difference of what each record adds to the gaps, summed in each bag of ids."""
    cells = [cells_of(run, label) for run in runs]
    pooled = tuple(one + two for one, two in zip(*cells, strict=True))
    out = []
    for at in (cells, (pooled, pooled)):
        sums, half = np.zeros(BAGS), 0.0
        for sign, run, numbers, (n, sizes, _, count, joint, _), own in zip((-1, 1), runs, ids, at, cells, strict=True):
            by = slope(metric, n, sizes / n, count / n, joint / n, paper_literal=literal)
            bags = label_bags_of(keys_of(pa.array(numbers)))
            x = np.array([[who in record for who in PEOPLE] for record in run])
            y = np.array([[label in record] for record in run])
            added = (by.x * x + by.y * y + by.xy * x * y) @ np.array(weights) / own[0]
            sums += sign * np.bincount(bags, weights=added - added.mean(), minlength=BAGS)
            half += 0.5 * np.square(by.xy * weights / own[0]).sum()
        out.append((sums**2).sum() * BAGS / (BAGS - 1) + half)
    return math.sqrt(max(out))


@pytest.mark.parametrize(("way", "weights"), WAYS)
@pytest.mark.parametrize("metric", ["dp", "npmi_xy", "pmi2", "tau_b"])
def test_changes_of_runs_on_the_same_records(
    metric: str, way: Any, weights: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = run_of(2, 320, "old"), run_of(3, 400, "new", 0.4)
    second[:200] = [record - {"old"} if k % 3 else second[k] for k, record in enumerate(first[:200])]
    ids = list(range(320)), [*range(200), *range(900, 1100)]
    old, new = (result_of(run, numbers) for run, numbers in zip((first, second), ids, strict=True))
    error = lambda *at: paired_error((first, second), ids, at[2], weights, metric, False)
    found = biasamp.association_change(old, new, metric, **way)
    assert found.sharing == "paired"
    assert found["paired"].all()
    check(found, (first, second), error, {}, weights, metric)
    monkeypatch.setattr(change_module, "_AT_ONCE", 3)
    assert biasamp.association_change(old, new, metric, **way).to_dict() == found.to_dict()


def test_runs_of_other_records_are_independent_by_their_ids(runs: Any) -> None:
    old, new = result_of(runs[0], range(150)), result_of(runs[1], range(500, 720))
    found = biasamp.association_change(old, new, "dp", toward="a", against="b")
    assert found.sharing == "independent"
    check(found, runs, lambda one, two, _: error_of(one, two, [1, -1, 0], "dp", True), {}, [1, -1, 0], "dp")
    said = biasamp.association_change(old, new, "dp", toward="a", against="b", records="independent")
    assert said.to_dict() == found.to_dict()
    # Ids of one run alone say nothing.
    for pair in ((old, result_of(runs[1])), (result_of(runs[0]), new)):
        assert biasamp.association_change(*pair).sharing == "unknown"
        assert biasamp.association_change(*pair, records="independent").sharing == "independent"


def test_what_intervals_rest_on_is_said_in_words(runs: Any) -> None:
    same = result_of(runs[0], range(150))
    plain = [result_of(run) for run in runs]
    found = {
        "paired": biasamp.association_change(same, same),
        "independent": biasamp.association_change(*plain, records="independent"),
        "unknown": biasamp.association_change(*plain),
    }
    starts = {"paired": "Both runs were counted by the ids", "independent": "The runs are of different records",
              "unknown": "Which records the runs share is not known"}  # fmt: skip
    for sharing, change in found.items():
        assert change.sharing == sharing
        assert change.note.startswith(starts[sharing])
        document = change.to_dict()
        assert list(document) == ["sharing", "note", "labels"]
        assert (document["sharing"], document["note"]) == (sharing, change.note)
        assert document["labels"] == change.table.plain_rows()
    assert list(found["unknown"].table.columns) == [
        "label", "name", "count_old", "count_new", "gap_old", "gap_new", "change", "low", "high", "p", "q", "paired", "ranked",
    ]  # fmt: skip


def test_names_are_those_of_the_new_run(runs: Any) -> None:
    old, new = (result_of(run).values.counts for run in runs)
    old = replace(old, names=tuple(f"old {label}" for label in old.labels))
    new = replace(new, names=tuple(f"new {label}" for label in new.labels))
    found = biasamp.association_change(old, new)
    for row in found.rows():
        assert row["name"] == ("old old" if row["label"] == "old" else f"new {row['label']}")


def test_limits_of_a_change_are_twice_those_of_a_gap() -> None:
    """Of three records a run, intervals are wider than any change of DP can be."""
    runs = [[["a", "y"], ["b"], ["b", "y"]], [["a"], ["b", "y"], ["a"]]]
    old, new = (biasamp.associate(run, ["a", "b"], min_expected=0) for run in runs)
    for metric, bound in (("dp", 2), ("ji", 2), ("npmi_xy", 4)):
        found = biasamp.association_change(old, new, metric, level=0.9999999)
        at = found["label"].tolist().index("y")
        assert (found["low"][at], found["high"][at]) == (-bound, bound), metric
    free = biasamp.association_change(old, new, "sdc", level=0.5)
    assert -2 < free["low"][at] < free["high"][at] < 2


def test_tests_are_of_labels_that_both_runs_rank() -> None:
    runs = [
        [["a", "y", "z"], ["b", "w"], ["a", "z"], ["b", "z", "all"]] * 9,
        [["a", "y"], ["b", "z"], ["b", "w", "y"], ["a", "all"]] * 9,
    ]
    old = biasamp.associate(runs[0], ["a", "b"], min_expected=0, min_count=10)
    new = biasamp.associate(runs[1], ["a", "b"], min_expected=0)
    for pair in ((old, new), (new, old)):
        rows = {row["label"]: row for row in biasamp.association_change(*pair, "dp").rows()}
        assert {label for label, row in rows.items() if row["ranked"]} == {"z"}
        assert {label for label, row in rows.items() if row["p"] is not None} == {"z"}
        # They keep their figures.
        assert rows["y"]["low"] < rows["y"]["change"] < rows["y"]["high"]


def test_the_largest_changes_come_first_and_unknown_ones_last(runs: Any) -> None:
    found = biasamp.association_change(*(result_of(run) for run in runs), "dp", toward="a", against="b")
    there = found["ranked"]
    assert there.tolist() == sorted(there.tolist(), reverse=True)
    sizes = np.abs(found["change"])
    assert sizes[there].tolist() == sorted(sizes[there].tolist(), reverse=True)
    assert np.isnan(sizes[-2:]).all()
    assert not np.isnan(sizes[:-2]).any()


def test_runs_that_cannot_be_compared(runs: Any, tmp_path: Path) -> None:
    usual = result_of(runs[0])
    for options, said in (
        ({"zero": "drop"}, "old was made with zero='limit', new with 'drop'; values differ in kind"),
        ({"zero": ("smooth", 2.0)}, "zero='limit', new with 'smooth'"),
        ({"paper_literal": True}, "paper_literal=False, new with True"),
    ):
        with pytest.raises(ValueError, match=said):
            biasamp.association_change(usual, result_of(runs[1], **options))
    one, two = (result_of(runs[0], zero=("smooth", alpha)) for alpha in (0.5, 1.0))
    with pytest.raises(ValueError, match=r"old was made with alpha=0.5, new with 1.0"):
        biasamp.association_change(one, two)
    # Smoothing of less than half a record is as good as none here; of more it is what is added.
    assert np.isfinite(biasamp.association_change(two, two, "llr", toward="a", against="b")["low"][:4]).all()
    few = result_of(runs[1], metrics=["dp"])
    for pair in ((usual, few), (few, usual)):
        with pytest.raises(ValueError, match="metric is 'npmi_xy'; this result holds dp"):
            biasamp.association_change(*pair)
    with pytest.raises(ValueError, match="old compares a, b, c and new b, a; the same identities"):
        biasamp.association_change(usual, biasamp.associate([["a"], ["b"]], ["b", "a"]))
    for level in (0, 1, 1.5):
        with pytest.raises(ValueError, match=r"level is .*; it must lie strictly between 0 and 1"):
            biasamp.association_change(usual, usual, level=level)
    with pytest.raises(ValueError, match="records is 'same'; use one of 'auto', 'independent'"):
        biasamp.association_change(usual, usual, records="same")
    with pytest.raises(ValueError, match="correction is 'none'"):
        biasamp.association_change(usual, usual, correction="none")
    with pytest.raises(TypeError, match=r"new is a int; what biasamp.associate gives is needed"):
        biasamp.association_change(usual, 5)  # type: ignore[arg-type]
    usual.values.counts.save(tmp_path / "counts.parquet")
    for held in (str(tmp_path / "counts.parquet"), tmp_path / "counts.parquet", usual.values.counts):
        assert biasamp.association_change(usual, held).sharing == "unknown"
