"""What the explorer is given: runs lined up by label, and refusals that say why."""

from __future__ import annotations

import json

import pytest

import biasamp
from biasamp.report.explorer_document import explorer_document
from report.explorer.results import result


def test_runs_line_up_by_label() -> None:
    old = biasamp.associate([["man", "bike"]] * 30 + [["woman", "car"]] * 30, ["man", "woman"])
    new = biasamp.associate([["man", "car"]] * 20 + [["woman", "boat"]] * 40, ["man", "woman"])
    document = explorer_document({"old": old, "new": new})
    at = {label: i for i, label in enumerate(document["labels"])}
    assert set(at) == {"man", "woman", "bike", "car", "boat"}
    counts = [{label: run["count"][i] for label, i in at.items()} for run in document["runs"]]
    assert counts[0] == {"man": 30, "woman": 30, "bike": 30, "car": 30, "boat": None}
    assert counts[1] == {"man": 20, "woman": 40, "bike": None, "car": 20, "boat": 40}
    run = document["runs"][1]
    assert run["reasons"][run["contrasts"][0]["why"][at["bike"]] - 1] == "is not in this run"


def test_other_identities_are_refused() -> None:
    one = biasamp.associate([["man", "bike"], ["woman"]] * 20, ["man", "woman"])
    other = biasamp.associate([["man", "bike"], ["woman"]] * 20, ["woman", "man"])
    with pytest.raises(ValueError, match="different identities"):
        explorer_document({"a": one, "b": other})
    with pytest.raises(ValueError, match="no association result"):
        explorer_document({"a": {"schema": 1, "metrics": []}})
    with pytest.raises(ValueError, match="empty"):
        explorer_document({})


def test_printed_and_defined_metrics_do_not_mix() -> None:
    with pytest.raises(ValueError, match="paper_literal"):
        explorer_document({"a": result(1), "b": result(1, paper_literal=True)})


def test_old_files_without_overlap_counts_show_no_intervals() -> None:
    saved = result(3).to_dict()
    for row in saved["labels"]:
        for gap in row["gaps"]:
            del gap["both"]
    assert explorer_document({"run": saved})["runs"][0]["both"] is None


def test_a_saved_result_shows_the_same() -> None:
    held = result(3, 3)
    saved = json.loads(json.dumps(held.to_dict()))
    assert explorer_document({"run": saved}) == explorer_document({"run": held})
