"""Audits in every form that they come in, for runs, comparisons, gates and baselines; and copies of one run in all of them."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.auditing.same_predictions import copies, same_predictions
from biasamp.policy import Policy

N = 1500
ROLES = {"attributes": "g", "tasks": "t"}
QUICK = {"metrics": ["directional", "parity"], "resamples": 60}
LIMIT = {"metric": "directional", "max": 0.1}
FORMS = ("audit", "path", "name", "loaded", "document", "counts", "counts path", "counts name")


def columns() -> dict[str, Any]:
    rng = np.random.default_rng(2)
    group = rng.choice(["m", "w"], N)
    truth = (rng.random(N) < np.where(group == "w", 0.7, 0.3)).astype(int)
    said = {name: np.where(rng.random(N) < 0.03, 1 - truth, truth) for name in ("one", "two")}
    return {"g": group, "t": truth, **said, "copy": said["one"].copy()}


DATA = columns()


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder, out = tmp_path_factory.mktemp("forms"), {}
    for name in ("one", "two", "copy"):
        audit = biasamp.audit(DATA, **ROLES, task_predictions=name, **QUICK)
        counts = biasamp.count(DATA, **ROLES, task_predictions=name)
        saved, counted = folder / f"{name}.json.gz", folder / f"{name}.counts"
        audit.save(saved)
        counts.save(counted)
        held = (
            audit,
            saved,
            str(saved),
            biasamp.Audit.load(saved),
            json.loads(audit.to_json()),
            counts,
            counted,
            str(counted),
        )
        out[name] = dict(zip(FORMS, held, strict=True))
    return out


@pytest.mark.slow(keep=12)
@pytest.mark.parametrize(("first", "second"), list(product(FORMS, FORMS)))
def test_every_form_goes_with_every_other(forms: Any, first: str, second: str) -> None:
    one, two = forms["one"][first], forms["two"][second]
    values = [forms[name]["audit"].document["metrics"][0]["value"] for name in ("one", "two")]
    assert biasamp.over_runs([one, two], metric="directional").value == pytest.approx(np.mean(values))
    (row, *_) = biasamp.compare({"one": one, "two": two}).document["differences"]
    assert row["difference"] == pytest.approx(values[1] - values[0])
    assert Policy(limits=[LIMIT], data=QUICK).check([one, two]).outcome == "pass"
    # A document without its resamples cannot be paired, which a baseline has to be.
    against = Policy(limits=[{**LIMIT, "against": "baseline"}], data=QUICK).check(one, two)
    assert against.outcome == ("not enough evidence" if "document" in (first, second) else "pass")


@pytest.mark.parametrize(
    ("first", "second"),
    list(product(("audit", "name", "document", "counts", "counts path"), ("audit", "document", "counts"))),
)
def test_copies_are_known_in_every_form(forms: Any, first: str, second: str) -> None:
    """A column of the same predictions under another name."""
    one, two, other = forms["one"][first], forms["copy"][second], forms["two"]["audit"]
    policy = Policy(limits=[LIMIT], data=QUICK)
    verdict = policy.check([one, other, two])
    assert verdict.outcome == "not enough evidence"
    assert any(
        "1 of 3 runs have the predictions of another (runs 1 and 3" in check.reason for check in verdict.undecided
    )
    with pytest.warns(UserWarning, match="1 of 3 runs have the predictions of another"):
        assert biasamp.over_runs([one, other, two], metric="directional").copies == 1
    with pytest.raises(ValueError, match="the 2 results have the same predictions"):
        biasamp.over_runs([one, two], metric="directional")
    found = {row["code"] for row in biasamp.compare({"old": [one, two], "new": other}).document["cautions"]}
    assert "same-runs" in found
    found = {row["code"] for row in biasamp.compare({"old": one, "new": two}).document["cautions"]}
    assert "same-models" in found
    against = Policy(limits=[{**LIMIT, "against": "baseline"}], data=QUICK).check(one, two)
    assert against.outcome == "not enough evidence"
    assert any("the same predictions of the same records" in check.reason for check in against.undecided)


def test_as_many_errors_are_no_copy() -> None:
    """Other records err, as many of each kind in each group: all rates are the same, the resamples are not."""
    moved = DATA["one"].copy()
    for group, truth in product("mw", (0, 1)):
        here = np.flatnonzero((DATA["g"] == group) & (DATA["t"] == truth))
        moved[here] = DATA["one"][here][::-1]
    audits = [
        biasamp.audit({**DATA, "p": said}, **ROLES, task_predictions="p", **QUICK) for said in (DATA["one"], moved)
    ]
    rates = [[row["true_positive_rate"]["value"] for row in audit.document["rates"]] for audit in audits]
    assert rates[0] == rates[1]
    assert not same_predictions(*audits)
    assert copies([*audits, audits[0]]) == [(0, 2)]


def test_one_run_given_twice_is_an_error(forms: Any) -> None:
    for form in ("audit", "name", "counts"):
        twice = [forms["one"][form]] * 2
        with pytest.raises(ValueError, match="holds the same audit as run 0 and run 1"):
            biasamp.over_runs(twice, metric="directional")
        with pytest.raises(ValueError, match="holds the same audit as run 0 and run 1"):
            Policy(limits=[LIMIT]).check(twice)
    with pytest.raises(ValueError, match="holds the same audit"):
        biasamp.over_runs([forms["one"]["name"], Path(forms["one"]["name"])], metric="directional")
    assert biasamp.over_runs([0.1, 0.1]).seed_variance == 0.0


def test_a_window_that_is_there_twice_shows_no_trend(forms: Any) -> None:
    audit, other = forms["one"]["audit"], forms["two"]["audit"]
    for earlier, words in (
        ([other] * 4, "give each window once"),
        ([other, audit, other, other], "the predictions of this one"),
    ):
        verdict = Policy(limits=[LIMIT], data=QUICK).check(audit, earlier=earlier)
        assert verdict.outcome == "not enough evidence"
        assert any(words in check.reason for check in verdict.undecided)
