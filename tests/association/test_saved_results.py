"""Results that are saved come back to the bit, and compare takes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.association.association_result import Association

IMAGES = [["man", "bike", "out"]] * 30 + [["man"]] * 70 + [["woman", "bike"]] * 10 + [["woman", "out"]] * 90
YOUNG = [["man", "young", "bike"]] * 30 + [["man", "old"]] * 70 + [["woman", "young"]] * 10 + [["woman", "old"]] * 90


@pytest.mark.parametrize(
    ("images", "identities", "options"),
    [
        (IMAGES, ["man", "woman"], {}),
        (IMAGES, ["man", "woman"], {"zero": ("smooth", 0.25), "metrics": ["dp", "llr"], "correction": "by"}),
        (IMAGES, ["man", "woman"], {"strata": ["out"], "paper_literal": True}),
        (IMAGES, {"x": "man", "y": "woman", "z": ["out"]}, {"contrasts": "reference", "reference": "y"}),
        (YOUNG, ["man", "woman", "young", "old"], {"crossings": True, "min_expected": 0}),
    ],
)
def test_a_saved_result_is_the_result(tmp_path: Path, images: Any, identities: Any, options: dict[str, Any]) -> None:
    result = biasamp.associate(images, identities, **options)
    result.save(tmp_path / "run.parquet")
    back = Association.load(tmp_path / "run.parquet")
    assert back.to_dict() == result.to_dict()
    for name, column in result.table.columns.items():
        np.testing.assert_array_equal(back.table[name], column)


def test_counts_alone_and_damaged_files_are_refused(tmp_path: Path) -> None:
    biasamp.count(IMAGES, identities=["man", "woman"]).save(tmp_path / "counts.parquet")
    with pytest.raises(ValueError, match="holds counts alone"):
        Association.load(tmp_path / "counts.parquet")
    result = biasamp.associate(IMAGES, ["man", "woman"])
    result.values.counts.save(tmp_path / "bad.parquet", {"metrics": ["none"], "settings": dict(result.settings)})
    with pytest.raises(ValueError, match="is damaged"):
        Association.load(tmp_path / "bad.parquet")


def test_a_saved_result_is_counts_too(tmp_path: Path) -> None:
    result = biasamp.associate(IMAGES, ["man", "woman"])
    result.save(tmp_path / "run.parquet")
    assert biasamp.associate(tmp_path / "run.parquet").to_dict()["labels"] == result.to_dict()["labels"]


def test_compare_takes_associations() -> None:
    old = biasamp.associate(IMAGES, ["man", "woman"])
    new = biasamp.associate(IMAGES + [["woman", "bike"]] * 20, ["man", "woman"])
    change = biasamp.compare({"old": old, "new": new})
    assert change.to_dict() == biasamp.association_change(old, new).to_dict()
    turned = biasamp.compare({"old": old, "new": new}, against="new")
    assert turned.to_dict() == biasamp.association_change(new, old).to_dict()
    with pytest.raises(TypeError, match="is no result of associate"):
        biasamp.compare({"old": old, "new": "audit.json"})
    with pytest.raises(ValueError, match="two associations"):
        biasamp.compare({"a": old, "b": new, "c": old})
