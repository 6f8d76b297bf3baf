"""The generator of label sets, and the paper's findings on it."""

from __future__ import annotations

import numpy as np
import pytest

import biasamp
from biasamp.datasets.generated import open_images_shape


@pytest.fixture(scope="module")
def drawn():
    return open_images_shape(200_000, 20_000, seed=3)


def test_shape_and_planted_rates(drawn):
    counts = np.bincount(drawn.label, minlength=20_000)
    assert len(drawn.record) / 200_000 == pytest.approx(8.0, rel=0.2)
    assert counts[0] > 100 * counts[5_000] > 0
    man = drawn.identity[:, 0] & ~drawn.identity[:, 1]
    in_man = np.bincount(drawn.label[man[drawn.record]], minlength=20_000)
    expected = drawn.rate[:, 1] * man.sum()
    assert (np.abs(in_man - expected) < 6 * np.sqrt(expected + 1)).all()
    assert drawn.skew[drawn.skewed].min() < -1 < 1 < drawn.skew.max()
    assert (drawn.rate[~drawn.skewed].max(axis=1) == drawn.rate[~drawn.skewed].min(axis=1)).all()


def test_a_seed_gives_the_same_labels():
    one, two = (open_images_shape(500, 50, both=0.1, seed=9) for _ in range(2))
    assert (one.record == two.record).all()
    assert (one.label == two.label).all()
    assert (one.identity.all(axis=1)).any()
    assert one.to_arrow()["record"].to_pylist() == sorted(one.to_arrow()["record"].to_pylist())


def test_pmi_surfaces_rare_labels_tau_b_common_ones_npmi_both(drawn):
    result = biasamp.associate(drawn.to_arrow(), ["man", "woman"])
    for toward in ("man", "woman"):
        top = {m: result.top(m, 100, toward=toward)["count"] for m in ("pmi", "tau_b", "npmi_xy")}
        rare, common = np.quantile(result.count[result.why_not() == ""], [0.6, 0.9])
        assert (top["pmi"] <= common).all()
        assert (top["pmi"] <= rare).mean() > 0.5
        assert (top["tau_b"] >= rare).all()
        assert (top["tau_b"] >= common).mean() > 0.9
        assert (top["npmi_xy"] <= rare).sum() >= 10
        assert (top["npmi_xy"] >= common).sum() >= 10


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("both", [0.0, 0.3])
def test_false_discoveries_stay_below_their_rate(both):
    rates = (0.2, 0.15) if both == 0 else (0.6, 0.5)
    shares = []
    for seed in range(6):
        drawn = open_images_shape(8_000, 2_000, identity_rates=rates, both=both, seed=[17, seed])
        result = biasamp.associate(drawn.to_arrow(), ["man", "woman"], metrics="dp")
        found = {result.labels[i] for i in np.flatnonzero(result.table["q"] < 0.05)}
        null = {name for name, skewed in zip(drawn.label_names, drawn.skewed, strict=True) if not skewed}
        shares.append(len(found & null) / max(len(found), 1))
        assert found - null, "skews of this size are found"
    assert np.mean(shares) <= 0.05 + 2 * np.std(shares) / np.sqrt(len(shares))


def test_impossible_shapes_are_refused():
    with pytest.raises(ValueError, match="impossible"):
        open_images_shape(10, 10, both=0.5)
    with pytest.raises(ValueError, match="impossible"):
        open_images_shape(10, 10, labels_per_record=20)
    with pytest.raises(ValueError, match="together at most 1"):
        open_images_shape(10, 10, labels_per_record=2, common=0.5, rare=0.6)
