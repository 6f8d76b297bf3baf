from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import biasamp
from biasamp import movement
from biasamp.association.gaps import association_gap


@pytest.fixture(scope="module")
def result():
    drawn = biasamp.open_images_shape(5_000, 300, seed=1)
    return biasamp.associate(drawn.to_arrow(), ["man", "woman"])


def test_the_rank_of_a_made_up_label_is_where_it_would_stand(result):
    moved = movement(result, counts=[200], steps=[0.5, 1.0, 2.0], shares=(0.5, 0.2))
    ranked = result.why_not() == ""
    for row in moved.rows():
        gap = association_gap(
            row["metric"], result.n, *result.identity_count, row["count"], 0.5 * row["count"], 0.2 * row["count"]
        )
        assert row["gap"] == pytest.approx(float(gap))
        others = result.values.gaps(row["metric"], (0, 1))[ranked]
        assert row["rank"] == 1 + (others > gap).sum()
        assert row["of"] == ranked.sum() + 1


def test_gaps_with_no_derivative_by_p_y_stay_where_they_are(result):
    moved = movement(result, counts=[50], shares=(0.4, 0.2))
    for metric in ("pmi", "pmi2", "llr"):
        gaps = [row["gap"] for row in moved.rows() if row["metric"] == metric]
        assert np.ptp(gaps) < 1e-12
    gaps = [row["gap"] for row in moved.rows() if row["metric"] == "tau_b"]
    assert np.ptp(gaps) > 1e-3


def test_toward_the_other_identity_turns_the_gap(result):
    one = movement(result, counts=[100], steps=[1.0], shares=(0.5, 0.2))
    other = movement(result, counts=[100], steps=[1.0], shares=(0.2, 0.5), toward="woman")
    assert other["gap"] == pytest.approx(-one["gap"])
    for row in other.rows():
        leaning = -result.values.gaps(row["metric"], (0, 1))[result.why_not() == ""]
        assert row["rank"] == 1 + (leaning > row["gap"]).sum()


def test_counts_that_do_not_fit_are_left_out(result):
    assert len(movement(result, counts=[10**9])) == 0
    with pytest.raises(ValueError, match="shares"):
        movement(result, shares=(0.0, 0.5))


def test_change_between_two_results():
    def sets(rates):
        return [[x, *(y for y, rate in rates[x].items() if i < rate)] for x in ("m", "w") for i in range(1000)]

    old = biasamp.associate(sets({"m": {"bike": 300, "hat": 50}, "w": {"bike": 100, "hat": 52}}), ["m", "w"])
    new = biasamp.associate(sets({"m": {"bike": 200, "hat": 50, "new": 90}, "w": {"bike": 200, "hat": 50}}), ["m", "w"])
    table = biasamp.association_change(old, new, "dp", records="independent")
    rows = {row["label"]: row for row in table.rows()}
    assert table["label"][0] == "bike"
    assert rows["bike"]["change"] == pytest.approx(-0.2)
    # By hand: half a record of 1001 in each cell, and the larger of the errors of each run's rates and of all rates pooled.
    rates = np.array([[300.5, 100.5], [200.5, 200.5]]) / 1001
    own, pooled = (rates * (1 - rates)).sum(), 2 * (rates.mean(axis=0) * (1 - rates.mean(axis=0))).sum()
    reach = 1.959964 * np.sqrt(max(own, pooled) / 1001)
    assert pooled > own
    assert rows["bike"]["low"] == pytest.approx(-200 / 1001 - reach, rel=1e-6)
    assert rows["bike"]["high"] == pytest.approx(-200 / 1001 + reach, rel=1e-6)
    # Whatever the runs share, the error of a difference is no more than the sum of the errors.
    unknown = {row["label"]: row for row in biasamp.association_change(old, new, "dp").rows()}
    wider = 1.959964 * 2 * np.sqrt((rates.mean(axis=0) * (1 - rates.mean(axis=0))).sum() / 1001)
    assert unknown["bike"]["low"] == pytest.approx(-200 / 1001 - wider, rel=1e-6)
    assert not unknown["bike"]["paired"]
    assert rows["bike"]["q"] < 1e-6 < 0.5 < rows["hat"]["q"]
    assert rows["new"]["gap_old"] is None
    assert rows["new"]["p"] is None
    turned = biasamp.association_change(old, new, "dp", toward="w", records="independent")
    turned = {row["label"]: row for row in turned.rows()}
    assert turned["bike"]["change"] == pytest.approx(0.2)
    assert turned["bike"]["low"] == pytest.approx(-rows["bike"]["high"])
    assert turned["bike"]["p"] == pytest.approx(rows["bike"]["p"])


def test_results_of_different_kinds_are_not_compared():
    sets = [["m", "y"], ["w"], ["m"], ["w", "y"]] * 10
    old = biasamp.associate(sets, ["m", "w"])
    with pytest.raises(ValueError, match="same identities"):
        biasamp.association_change(old, biasamp.associate(sets, ["w", "m"]))
    with pytest.raises(ValueError, match="paper_literal"):
        biasamp.association_change(old, biasamp.associate(sets, ["m", "w"], paper_literal=True))


def test_a_change_refuses_what_it_cannot_compare(result):
    with pytest.raises(ValueError, match="level is 95; it must lie strictly between 0 and 1"):
        biasamp.association_change(result, result, level=95)
    with pytest.raises(TypeError, match=r"new is a list; what biasamp.associate gives"):
        biasamp.association_change(result, [["man"]])
    with pytest.raises(ValueError, match="records is 'same'; use one of 'auto', 'independent'"):
        biasamp.association_change(result, result, records="same")


def long_table(said, who, first=0):
    """Records of (identity, labels) rows; who is 0 for a man, 1 for a woman, 2 for neither."""
    rows = [
        (first + i, label)
        for i, (person, labels) in enumerate(zip(who, said, strict=True))
        for label in [
            *(["man"] if person == 0 else ["woman"] if person == 1 else []),
            *(f"y{j}" for j in np.flatnonzero(labels)),
            None,
        ]
    ]
    return pa.table(
        {"record": [record for record, _ in rows], "label": pa.array([label for _, label in rows], pa.string())}
    )


def associated(said, who, first=0, **options):
    options = {"record": "record", "label": "label", "pairable": True, "min_expected": 0, **options}
    return biasamp.associate(long_table(said, who, first), ["man", "woman"], **options)


def two_runs(rng, who, rates, kept):
    """Two runs that each find most of the same latent labels."""
    latent = rng.random((len(who), rates.shape[1])) < rates[who]
    return [latent & (rng.random(latent.shape) < kept) for _ in range(2)]


@pytest.mark.parametrize("metric", ["dp", "npmi_xy", "pmi", "tau_b", "t_test", "sdc", "ji", "llr", "pmi2", "npmi_y"])
def test_a_handful_of_records_is_no_evidence(metric):
    who = np.repeat([0, 1, 2], [600, 400, 1000])
    old, new = (np.zeros((2000, 1), dtype=bool) for _ in range(2))
    old[[600, *range(1000, 1300)]] = True
    new[[*range(4), *range(1000, 1300)]] = True
    for first, options in ((0, {}), (2000, {}), (0, {"pairable": False})):
        runs = associated(old, who, **options), associated(new, who, first, **options)
        row = next(row for row in biasamp.association_change(*runs, metric).rows() if row["label"] == "y0")
        assert row["low"] < 0 < row["high"]
        assert row["low"] <= row["change"] <= row["high"]
        assert row["p"] == row["q"] > 0.03


def test_a_paired_error_is_that_of_resampled_records():
    """The reference draws records with replacement, both runs' labels of a record together, and counts anew."""
    rng = np.random.default_rng(3)
    who = rng.choice(3, 1500, p=[0.3, 0.3, 0.4])
    rates = rng.uniform(0.05, 0.5, (3, 12))
    old, new = two_runs(rng, who, rates, 0.8)

    def gaps(said, people):
        sizes, count = np.bincount(people, minlength=3), said.sum(axis=0)
        return {
            metric: association_gap(
                metric,
                len(people),
                sizes[0],
                sizes[1],
                count,
                said[people == 0].sum(axis=0),
                said[people == 1].sum(axis=0),
            )
            for metric in ("dp", "npmi_xy", "tau_b")
        }

    drawn = {metric: [] for metric in ("dp", "npmi_xy", "tau_b")}
    for _ in range(1000):
        at = rng.integers(0, len(who), len(who))
        one, two = gaps(old[at], who[at]), gaps(new[at], who[at])
        for metric, values in drawn.items():
            values.append(two[metric] - one[metric])
    runs = associated(old, who), associated(new, who)
    for metric, values in drawn.items():
        change = biasamp.association_change(*runs, metric)
        assert change.sharing == "paired"
        assert change["paired"].all()
        rows = {row["label"]: row for row in change.rows()}
        error = np.array([(rows[f"y{j}"]["high"] - rows[f"y{j}"]["low"]) / 2 / 1.959964 for j in range(12)])
        wanted = np.std(values, axis=0)
        # Bags make a single error uncertain by 4 percent; all together they agree.
        assert error == pytest.approx(wanted, rel=0.15)
        assert np.mean(error / wanted) == pytest.approx(1, abs=0.04)
        wider = biasamp.association_change(*(associated(said, who, pairable=False) for said in (old, new)), metric)
        assert wider.sharing == "unknown"
        by_label = {row["label"]: row["high"] - row["low"] for row in wider.rows()}
        assert all(by_label[f"y{j}"] > 2 * 1.959964 * wanted[j] for j in range(12))


def test_ids_say_which_records_runs_share(tmp_path):
    rng = np.random.default_rng(4)
    who = rng.choice(3, 600, p=[0.3, 0.3, 0.4])
    rates = rng.uniform(0.1, 0.4, (3, 5))
    old, new = two_runs(rng, who, rates, 0.9)
    run = associated(old, who)
    assert biasamp.association_change(run, associated(new, who)).sharing == "paired"
    assert biasamp.association_change(run, associated(new, who, 300)).sharing == "paired"
    assert biasamp.association_change(run, associated(new, who, 600)).sharing == "independent"
    assert biasamp.association_change(run, associated(new, who, 600, pairable=False)).sharing == "unknown"
    with pytest.raises(ValueError, match="by their ids some are"):
        biasamp.association_change(run, associated(new, who), records="independent")
    for name, said in (("old", old), ("new", new)):
        counts = biasamp.count(
            long_table(said, who), identities=["man", "woman"], record="record", label="label", pairable=True
        )
        counts.save(tmp_path / name)
    saved = [biasamp.associate(tmp_path / name, min_expected=0) for name in ("old", "new")]
    table, direct = biasamp.association_change(*saved), biasamp.association_change(run, associated(new, who))
    assert table.to_dict() == direct.to_dict()
    assert "ids" in table.note


def test_a_run_against_itself_changed_nothing():
    rng = np.random.default_rng(5)
    who = rng.choice(3, 300)
    said = rng.random((300, 4)) < 0.3
    change = biasamp.association_change(associated(said, who), associated(said, who))
    assert (change["change"][change["ranked"]] == 0).all()
    assert (change["p"][change["ranked"]] == 1).all()


@pytest.mark.slow
@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("counts", ["0 to 5", "5 to 30", "hundreds"])
def test_intervals_hold_and_nulls_name_no_label(counts, same, ids):
    """A short form of ``benchmarks/association_change.py``."""
    from benchmarks.association_change import Setting, study

    for metric, tally in study(Setting(counts, same, ids, records=1000, labels=40), 15, seed=100).items():
        assert tally.held / tally.intervals > 0.92, metric
        # Labels of a trial share their identities: rates vary more than 600 tests would.
        assert tally.rejected / max(tally.tests, 1) < 0.11, metric
        assert tally.named <= 3, metric


def test_counts_and_their_files_are_taken_as_results_are(tmp_path):
    runs, counts = [], []
    for shift in (0, 3):
        data = {
            "id": range(200),
            "says": [["m" if i % 2 else "w", f"y{(i + shift * (i % 3)) % 5}"] for i in range(200)],
        }
        how = {"label": "says", "record": "id", "pairable": True}
        counts.append(biasamp.count(data, identities=["m", "w"], **how))
        runs.append(biasamp.associate(data, ["m", "w"], **how))
    counts[1].save(tmp_path / "new.parquet")
    expected = biasamp.association_change(*runs, "dp")
    found = biasamp.association_change(counts[0], tmp_path / "new.parquet", "dp")
    assert found.sharing == expected.sharing == "paired"
    assert found.to_dict() == expected.to_dict()
    with pytest.raises(TypeError, match=r"old is a list; what biasamp\.associate gives is needed, or counts"):
        biasamp.association_change([1], runs[1])


def test_a_run_without_any_label_changes_nothing_that_is_known() -> None:
    """A day on which nothing was tagged: labels of the other run are listed, and no change of theirs is made up."""
    rows = [["woman", "cup"], ["man"], ["woman"], ["man", "cup"]]
    with pytest.warns(UserWarning, match="no record has the label"):
        some, none, empty = (
            biasamp.count({"tags": tags}, identities=["woman", "man"], label="tags")
            for tags in (rows, [["else"], ["else"]], [[], []])
        )
    for old, new in ((some, empty), (empty, some), (some, none)):
        change = biasamp.association_change(old, new)
        found = {row["label"]: (row["count_old"], row["count_new"]) for row in change.rows()}
        assert found["cup"] == ((2, 0) if old is some else (0, 2))
        assert np.isnan(change["change"]).all()
        assert np.isnan(change["p"]).all()
    assert not len(list(biasamp.association_change(empty, empty).rows()))
