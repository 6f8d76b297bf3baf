"""Which pairs changed between models: paired differences, from audits and counts alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.resampling.pair_bags import PairBags
from extras import data_folder

TASKS = ("a", "b", "c")
RECORDS = 900


def columns(seed: int = 0, moved: float = 0.0) -> dict[str, Any]:
    fixed, rng = np.random.default_rng(5), np.random.default_rng([seed, 3])
    group = fixed.integers(0, 2, RECORDS)
    truth = fixed.random((RECORDS, 3)) < 0.3 + 0.2 * group[:, None]
    said = np.where(rng.random(truth.shape) < 0.04, ~truth, truth)
    said[:, 0] |= (group == 1) & (rng.random(RECORDS) < moved)
    out: dict[str, Any] = {
        "id": np.arange(RECORDS),
        "person": np.arange(RECORDS) // 3,
        "g": np.array(["m", "w"])[group],
    }
    out |= {name: truth[:, k].astype(int) for k, name in enumerate(TASKS)}
    return out | {f"said_{name}": said[:, k].astype(int) for k, name in enumerate(TASKS)}


ROLES: dict[str, Any] = {
    "attributes": "g",
    "tasks": list(TASKS),
    "task_predictions": [f"said_{name}" for name in TASKS],
}


def audited(data: Any, **more: Any) -> biasamp.Audit:
    return biasamp.audit(data, **ROLES, **{"record": "id", "metrics": ["directional"], "resamples": 50, **more})


def test_a_change_is_the_paired_difference_of_the_records() -> None:
    old, new = columns(1), columns(2, moved=0.3)
    result = biasamp.compare({"old": audited(old), "new": audited(new)})
    assert len(result.pairs) == 6
    for row in result.pairs.rows():
        mine = old["g"] == row["given"].split("=")[1]
        moved = (new[f"said_{row['outcome']}"] - old[f"said_{row['outcome']}"])[mine].astype(float)
        assert row["difference"] == pytest.approx(moved.mean())
        assert row["support"] == mine.sum()
        # The error of the records themselves, with one record more either way as Bonett and Price have it.
        error = np.sqrt(moved.var() / mine.sum() + 2 / mine.sum() ** 2)
        assert (row["high"] - row["low"]) / 2 == pytest.approx(1.969 * error, rel=0.2)
        assert row["paired"]
    changed = [(row["given"], row["outcome"]) for row in result.changed]
    assert changed == [("g=w", "a")]
    assert result.changed[0]["q"] < 0.001


def test_it_is_the_same_from_files_and_counts(tmp_path: Path) -> None:
    audits = {name: audited(columns(*how)) for name, how in {"old": (1,), "new": (2, 0.3)}.items()}
    expected = biasamp.compare(audits).document["pairs"]
    paths = {name: tmp_path / f"{name}.json.gz" for name in audits}
    for name, path in paths.items():
        audits[name].save(path)
    assert biasamp.compare(paths).document["pairs"] == expected
    counts = {
        name: biasamp.audit(biasamp.count(columns(*how), **ROLES, record="id"), metrics=["directional"], resamples=50)
        for name, how in {"old": (1,), "new": (2, 0.3)}.items()
    }
    assert biasamp.compare(counts).document["pairs"] == expected


def test_what_was_saved_without_bags_gives_totals_and_says_so(tmp_path: Path) -> None:
    old, new = audited(columns(1)), audited(columns(2, 0.3))
    old.to_json(tmp_path / "old.json")
    result = biasamp.compare({"old": tmp_path / "old.json", "new": new})
    assert len(result.pairs) == 0
    assert result.document["differences"]
    assert "has totals only" in result.document["pairs_note"]
    assert "has totals only" in result.to_markdown()


def test_clusters_widen_the_intervals() -> None:
    # All three records of a person change together.
    old, new = columns(1), columns(1)
    flipped = np.random.default_rng(0).random(RECORDS // 3) < 0.1
    new["said_b"] = np.where(flipped[new["person"]], 1, old["said_b"])
    apart = biasamp.compare({name: audited(data) for name, data in (("old", old), ("new", new))})
    together = biasamp.compare({name: audited(data, cluster="person") for name, data in (("old", old), ("new", new))})
    width = [
        [row["high"] - row["low"] for row in result.pairs.rows() if row["outcome"] == "b"]
        for result in (apart, together)
    ]
    assert all(b > 0.98 * a for a, b in zip(*width, strict=True))
    assert all(row["paired"] for row in together.pairs.rows())


def test_models_that_are_the_same_name_none() -> None:
    result = biasamp.compare({"one": audited(columns(1)), "two": audited(columns(1))})
    assert result.changed == []
    assert all(row["difference"] == 0.0 and row["low"] < 0.0 < row["high"] for row in result.pairs.rows())


def test_q_values_count_all_models() -> None:
    from scipy.stats import false_discovery_control

    audits = {"old": audited(columns(1)), "new": audited(columns(2, 0.3)), "third": audited(columns(3))}
    result = biasamp.compare(audits)
    assert len(result.pairs) == 12
    assert result.pairs["q"] == pytest.approx(false_discovery_control(result.pairs["p"]))
    assert set(result.pairs["other"]) == {"new", "third"}


def test_other_records_are_unpaired() -> None:
    # Both models make the same errors, which drop out where the records are known to be the same.
    other = columns(1, 0.3)
    other["id"] = other["id"] + 10_000
    result = biasamp.compare({"old": audited(columns(1)), "new": audited(other)})
    assert not result.pairs["paired"].any()
    paired = biasamp.compare({"old": audited(columns(1)), "new": audited(columns(1, 0.3))})
    assert (result.pairs["high"] - result.pairs["low"] > paired.pairs["high"] - paired.pairs["low"]).all()


def test_bags_read_back_are_the_same() -> None:
    held = audited(columns(1)).resamples["pairs"]["directional/A->T/g"]
    bags = PairBags.from_dict(held)
    assert bags.to_dict() == held
    assert bags.only(("g=w",), ("c", "a")).delta == pytest.approx(bags.delta[[bags.given.index("g=w")]][:, [2, 0]])
    assert bags.influence().sum(axis=0) == pytest.approx(0.0, abs=1e-12)


def test_too_many_pairs_are_left_out() -> None:
    from biasamp.resampling import pair_bags

    many = pair_bags.MOST_NUMBERS
    try:
        pair_bags.MOST_NUMBERS = 100
        result = biasamp.compare({"old": audited(columns(1)), "new": audited(columns(2))})
    finally:
        pair_bags.MOST_NUMBERS = many
    assert len(result.pairs) == 0
    assert "too many to be kept by bag" in result.document["pairs_note"]


@pytest.mark.slow
def test_a_model_against_itself_names_no_pair() -> None:
    named = 0
    for trial in range(60):
        two = [audited(columns(1000 + 2 * trial + i)) for i in range(2)]
        named += bool(biasamp.compare(dict(zip(("one", "two"), two, strict=True))).changed)
    # 7% of 60 is 4.2; the chance of more than 8 is below 3% at that rate.
    assert named <= 8


@pytest.mark.slow
@pytest.mark.skipif(data_folder() is None, reason="BIASAMP_DATA is not set")
def test_objects_that_the_equalizer_names_otherwise() -> None:
    """Captions of six models on the same images; the changes are counted image by image beside it."""
    from benchmarks.captions import caption_labels, captions, null_names

    folder = data_folder()
    assert folder is not None
    data = caption_labels(folder)
    result = captions(data)
    assert len(result.models) == 6
    found = {(row["given"], row["outcome"]): row for row in result.changed if row["models"][1] == "equalizer"}
    assert ("gender=man", "objects=surfboard") in found
    for (given, outcome), row in found.items():
        name = outcome.split("=")[1]
        moved = [
            (name in new) - (name in old)
            for new, old, gender in zip(data["equalizer"], data["baseline_ft"], data["gender"], strict=True)
            if f"gender={gender}" == given
        ]
        assert row["difference"] == pytest.approx(np.mean(moved))
        # McNemar's exact test of the same images.
        from scipy.stats import binomtest

        up, down = moved.count(1), moved.count(-1)
        assert binomtest(up, up + down).pvalue < 0.001
    # Names none in at least 93% of trials: of 10, more than 3 are named with a chance of less than 1 in 200.
    assert null_names(data, 10) <= 3


def test_a_pair_of_unknown_direction_is_called_neither_more_nor_less() -> None:
    rng = np.random.default_rng(3)
    n = 2000
    group, truth = rng.choice(["a", "b"], n), rng.integers(0, 2, n)
    more = (group == "a") & (rng.random(n) < 0.3)
    audits = {
        name: biasamp.audit(
            {"id": np.arange(n), "g": group, "t": truth, "p": said},
            attributes="g",
            tasks="t",
            task_predictions="p",
            record="id",
            metrics=["directional"],
        )
        for name, said in (("old", np.where(rng.random(n) < 0.1, 1 - truth, truth)), ("new", np.where(more, 1, truth)))
    }
    assert not any(pair["known"] for pair in audits["old"].document["metrics"][0]["pairs"])
    changed = [row for row in biasamp.compare(audits).to_dict()["pairs"] if row["q"] < 0.001]
    assert changed
    assert {row["sign"] for row in changed} == {0}
