"""Sentences held against made data and against each other: none says what another figure of the same audit denies."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import biasamp
from biasamp.report.audit_page import report_document
from biasamp.report.comparison_terminal import show_comparison
from biasamp.report.terminal import show_audit


def cells(*counts: tuple[Any, Any, Any, int]) -> dict[str, Any]:
    """Records of (group, truth, prediction, how many)."""
    rows = [row[:3] for row in counts for _ in range(row[3])]
    return {"g": [r[0] for r in rows], "t": [r[1] for r in rows], "p": [r[2] for r in rows]}


def audit(data: dict[str, Any], **options: Any) -> Any:
    named = {"attributes": "g", "tasks": "t", "task_predictions": "p", "resamples": 100}
    return biasamp.audit(data, **{**named, **options})


def text(audited: Any, code: str, attribute: str | None = None) -> str:
    (found,) = [f.text for f in audited.findings if f.code == code and attribute in (None, f.attribute)]
    return str(found)


def terminal(shown: Any, width: int = 200, show: Any = show_audit) -> str:
    out = io.StringIO()
    show(shown, Console(file=out, width=width, markup=False, highlight=False, emoji=False))
    return re.sub(r"\s+", " ", out.getvalue())


def everywhere(audited: Any) -> list[str]:
    """What a reader sees in the terminal, in Markdown and in a notebook."""
    plain = re.sub(r"\\([^\w\s])", r"\1", audited.to_markdown())
    return [terminal(audited), plain, audited._repr_html_()]


def many_groups(seed: int = 0) -> dict[str, Any]:
    """Twelve groups, two of them large and plainly changed, the others small: directions of most are not told."""
    rng = np.random.default_rng(seed)
    sizes = [900, 900, *[25] * 10]
    g = np.repeat([f"group {i}" for i in range(12)], sizes)
    rate = np.repeat([0.65, 0.35, *[0.5] * 10], sizes)
    t = (rng.random(len(g)) < rate).astype(int)
    flip = rng.random(len(g)) < 0.25
    p = np.where(flip, np.where(g == "group 0", 1, np.where(g == "group 1", 0, 1 - t)), t)
    return {"g": g, "t": t, "p": p}


# Where pairs are known, of how many they are, and where they are not


def test_a_direction_is_known_or_not_in_one_sense() -> None:
    audited = audit(many_groups(), metrics=["directional", "multi"])
    entry = audited.document["metrics"][0]
    once = [pair for pair in entry["pairs"] if not pair.get("mirror")]
    unknown = [pair for pair in once if not pair["known"]]
    assert len(once) == 12
    assert 0 < len(unknown) == entry["unknown"] / 2
    assert f"do not tell the direction of {len(unknown)} of 12. " in text(audited, "unclear-signs")
    lines = terminal(audited, 160).split("Pairs, g A→T")[1].split("Cautions")[0]
    largest = sorted(once, key=lambda pair: -abs(pair["amplification"]))[:10]
    assert len(re.findall(r"\?(?=\s)", lines)) == sum(not pair["known"] for pair in largest) + 1  # and the caption
    rows = [line for line in audited.to_markdown(pairs=12).splitlines() if "direction unknown" in line]
    assert {re.split(r"\s*\|\s*", row)[1] for row in rows} == {pair["given"] for pair in unknown}
    assert re.search(
        r"own sign test is below 5%, as one in twenty is by chance, the value is", text(audited, "unclear-signs")
    )


def test_pairs_that_are_hidden_are_of_known_direction() -> None:
    data = cells(("a", 1, 1, 200), ("a", 1, 0, 100), ("a", 0, 0, 100), ("b", 1, 0, 100), ("b", 0, 0, 300))
    assert "hides pairs of known direction that move in opposite ways" in text(audit(data), "opposite-pairs")


def test_one_pair_is_amplified() -> None:
    data = cells(("a", 1, 1, 300), ("a", 0, 1, 60), ("a", 0, 0, 40), ("b", 1, 1, 100), ("b", 0, 0, 300))
    assert "of 2 pairs, 1 is amplified and 0 weakened" in text(audit(data), "pairs")


# Multi beside the pairs


def test_multi_does_not_deny_the_pairs() -> None:
    """Two groups change plainly, ten small ones add noise to the average."""
    audited = audit(many_groups(), metrics=["directional", "multi"])
    ways = re.search(r"of 12 pairs, (\d) are amplified, (\d) weakened and (\d) changed", text(audited, "pairs"))
    assert ways
    changed = sum(map(int, ways.groups()))
    (found,) = [f for f in audited.findings if f.code == "multi"]
    assert found.figure["verdict"] == 0
    assert f"{changed} of 12 pairs change beyond chance, as said of the pairs" in found.text
    assert "The change cannot be told from noise" not in found.text


@pytest.mark.slow
def test_multi_whose_own_interval_lies_above_the_floor_says_what_is_counted() -> None:
    """The smallest change of one group whose interval is above the floor, with twenty figures counted."""
    rng = np.random.default_rng(5)
    n = 3000
    data: dict[str, Any] = {f"g{i}": rng.choice(["x", "y"], n) for i in range(6)}
    data["t"] = (rng.random(n) < 0.5).astype(int)
    said = []
    for extra in range(20, 130, 10):
        p = data["t"].copy()
        p[np.flatnonzero(p == 0)[:extra]] = 1
        p[np.flatnonzero(data["t"] == 1)[:25]] = 0
        made = biasamp.audit(
            {**data, "p": p}, attributes=[f"g{i}" for i in range(6)], tasks="t", task_predictions="p", resamples=200
        )
        said += [(f, made) for f in made.findings if f.code == "multi" and f.figure["verdict"] == 0]
    above = [f for f, _ in said if f.figure["interval"][0] > f.figure["floor"]]
    assert above
    assert all(re.search(r"with all \d+ figures counted", f.text) for f in above)
    rest = [f for f, _ in said if f.figure["interval"][0] <= f.figure["floor"]]
    assert rest
    assert not any("figures counted" in f.text for f in rest)


def test_multi_of_many_tasks_is_of_label_sets() -> None:
    rng = np.random.default_rng(7)
    names = [f"t{i}" for i in range(12)]
    truth = (rng.random((400, 12)) < 0.4).astype(int)
    said = np.where(rng.random(truth.shape) < 0.1, 1 - truth, truth)
    data = {"g": rng.choice(["w", "m"], 400)}
    data |= {name: truth[:, i] for i, name in enumerate(names)} | {
        f"p{name}": said[:, i] for i, name in enumerate(names)
    }
    audited = audit(
        data, tasks=names, task_predictions=[f"p{name}" for name in names], metrics=["directional", "multi"]
    )
    # By hand: the distinct rows with a label, each carried by the records that have all of its labels.
    distinct = np.unique(truth[truth.any(axis=1)], axis=0)
    support = ((truth[:, None, :] & distinct) == distinct).all(axis=2).sum(axis=0)
    (entry,) = [e for e in audited.document["metrics"] if e["metric"] == "multi"]
    assert entry["label_sets"] == len(distinct)
    assert entry["label_set_support"] == np.median(support)
    words = f"rates of {len(distinct):,} label sets (median support {np.median(support):,.0f} records) change by"
    assert words in text(audited, "multi")
    assert f"most of which fewer than 30 records carry (median {np.median(support):,.0f})" in text(audited, "rare-sets")
    assert "label sets" not in text(audit(many_groups(), metrics=["multi"]), "multi")


# Figures that nothing moves


def test_a_figure_that_no_resample_moves_has_no_interval() -> None:
    """Constant predictions tell nothing of the group, and truth with as many errors neither."""
    data = many_groups()
    audited = audit({**data, "p": np.zeros(len(data["t"]), dtype=int)}, metrics=["directional", "dpa", "leakage"])
    fixed = [e for e in audited.document["metrics"] if "no-width" in e.get("caution_kinds", ())]
    assert fixed
    for entry in fixed:
        assert entry["interval"] == [None, None]
        assert any("no resample moves the value" in words for words in entry["cautions"])
        assert "(no interval: no resample moves it): this concludes nothing" in text(audited, entry["metric"])
    for shown in everywhere(audited):
        assert not re.search(r"\[([+-]?0\.0+), \1\]", shown)
    result = biasamp.leakage(["a"] * 900 + ["b"] * 300, [0, 1] * 600, [0] * 1200, equalize="confusion", trials=10)
    assert np.isnan([*result.confidence_interval()]).all()
    assert result.confidence_interval().cautions


def test_advice_cites_no_figure_without_an_interval() -> None:
    rng = np.random.default_rng(1)
    data = {"g": ["a", "b"] * 200, "t": rng.permutation([0, 1] * 200), "p": [0] * 400}
    audited = audit(data, metrics=["directional", "dpa", "multi"])
    advice = text(audited, "balanced")
    (entry,) = [e for e in audited.document["metrics"] if e["metric"] == "dpa"]
    assert ("DPA" in advice) == (entry["interval"][0] is not None)
    assert "Multi 0." in advice


def test_a_model_beside_itself_is_no_certainty() -> None:
    """By hand: 25 records of the smallest group miss a difference in 1 - .025^(1/25) of them with a chance of 2.5%."""
    audited = audit(many_groups(), metrics=["directional", "multi", "parity"])
    made = biasamp.compare({"old": audited, "new": audited})
    for row in made.document["differences"]:
        assert row["verdict"] == "they are the same on every resample"
        assert row["high"] == -row["low"]
        assert row["high"] >= 1 - 0.025 ** (1 / 25) - 1e-12
    shown = terminal(made, show=show_comparison)
    assert re.search(r"direction old new difference 95% interval verdict", shown)


# What is above no input


def test_gain_has_one_meaning_in_every_report() -> None:
    audited = audit(many_groups(), metrics=["dpa", "leakage"])
    for entry in audited.document["metrics"]:
        model, truth = entry["model_gain"], entry["dataset_gain"]
        assert model == pytest.approx(entry["model_gain"])
        words = f"above no input: model {model:+.4f}, truth {truth:+.4f}"
        for shown in everywhere(audited)[:2]:
            assert words in shown
            both = entry["metric"] == "dpa" and min(model, truth) > 0
            assert (f"{words}; quotient of these" in shown) == both
    for shown in everywhere(audited):
        assert "gain" not in shown


# Fractions


def test_mean_scores_are_called_so() -> None:
    data = many_groups()
    scores = np.where(data["p"] == 1, 0.8, 0.3)
    soft, hard = audit({**data, "p": scores}, metrics=["parity"]), audit(data, metrics=["parity"])
    assert soft.document["data"]["soft_tasks"]
    assert "soft_tasks" not in hard.document["data"]
    assert "mean scores of those who truly have the outcome" in text(soft, "parity")
    assert "positive rates" not in text(soft, "parity")
    row = soft.document["rates"][0]
    (mean,) = {float(np.mean(scores[data["g"] == row["group"].removeprefix("g=")]))}
    assert row["selection_rate"]["value"] == pytest.approx(mean)
    for shown in everywhere(soft):
        assert "mean score" in shown
        assert "counted as fractions, and no decisions" in shown
        assert "selected" not in shown
    for shown in everywhere(hard):
        assert "mean score" not in shown
        assert "selected: predicted to have the outcome" in shown
    assert report_document(soft)["rate_titles"]["selection_rate"] == "mean score"
    caution = text(audit({**data, "p": scores}), "fractions")
    assert "So are the rates of groups: they are mean scores" in caution


# Cautions


def test_what_is_said_of_fairness_holds_of_any_model() -> None:
    """Four pairs amplified beside an undecided aggregate, and a constant model: neither 'repeats its data'."""
    data = many_groups()
    for said in (data["p"], np.zeros(len(data["t"]), dtype=int)):
        audited = audit({**data, "p": said}, metrics=["directional", "parity"])
        if "not-fairness" not in {f.code for f in audited.findings}:
            continue
        words = text(audited, "not-fairness")
        assert "amplification says nothing of fairness" in words
        assert "t=0" not in words
        named = re.findall(r"(\d\.\d{3}) of (g=group \d+)", words)
        assert len(named) == 4
        for (value, group), held in zip(named, (data["t"], data["t"], said, said), strict=True):
            rate = np.mean(np.asarray(held)[data["g"] == group.removeprefix("g=")])
            assert float(value) == pytest.approx(rate, abs=5.1e-4)
    audited = audit({**data, "p": np.zeros(len(data["t"]), dtype=int)}, metrics=["directional"])
    assert "not-fairness" in {f.code for f in audited.findings}


def test_thresholds_count_tasks_and_name_the_positive_value() -> None:
    data = many_groups()
    audited = audit({**data, "p": np.maximum(data["p"], np.arange(len(data["p"])) % 3 == 0)})
    words = text(audited, "threshold")
    assert words.startswith("t=1 is predicted at another rate than it occurs: ")
    two = {
        **data,
        "u": data["t"].copy(),
        "q": data["t"].copy(),
        "p": np.maximum(data["p"], np.arange(len(data["p"])) % 3 == 0),
    }
    both = audit(two, tasks=["t", "u"], task_predictions=["p", "q"], metrics=["directional"])
    assert text(both, "threshold").startswith("1 of 2 tasks is predicted at another rate than it occurs, t: ")


def test_of_which_figures_another_base_is_the_base() -> None:
    data = cells(("a", 1, 1, 300), ("a", 0, 1, 60), ("a", 0, 0, 40), ("b", 1, 1, 100), ("b", 0, 0, 300))
    audited = audit(data, base={"a": {"0": 3, "1": 5}, "b": {"0": 4, "1": 1}})
    words = text(audited, "base-choice")
    assert words.startswith("Of directional, amplification is measured against ")
    for entry in audited.document["metrics"]:
        assert bool(entry.get("base_source")) == (entry["metric"] == "directional")
    assert ". Multi, DPA, leakage and rates of groups go by the evaluated labels as ever" in words


def test_few_clusters_say_how_many_there_are() -> None:
    rng = np.random.default_rng(0)
    n = 1000
    cluster = np.minimum(rng.geometric(0.08, n), 40)
    data = {"g": rng.choice(["a", "b"], n), "t": rng.integers(0, 2, n), "c": cluster}
    data["p"] = np.where(rng.random(n) < 0.2, 1 - data["t"], data["t"])
    entry = audit(data, cluster="c", metrics=["directional"]).document["metrics"][0]
    (words,) = [w for w in entry["cautions"] if "degrees of freedom" in w]
    assert f"few of about {len(np.unique(cluster))} clusters" in words


# Tables


def test_shares_and_halves_are_those_of_the_page() -> None:
    """9 of 16 selected is 56.25%, which the page rounds to 56.3; 16 of 4,016 are 0.4%."""
    data = cells(("a", 1, 1, 9), ("a", 0, 0, 7), ("b", 1, 1, 2000), ("b", 0, 0, 1990), ("b", 0, 1, 10))
    audited = audit(data, metrics=["directional", "parity"], reference="b", min_group=5)
    for shown in everywhere(audited):
        assert "0.4%" in shown
        assert "ratios by MOVER-R, and differences by Newcombe" in shown
    _, *tables = everywhere(audited)  # the terminal has room for 56.25
    assert all("56.3 [33.2, 76.9]" in shown for shown in tables)
    assert all("mean over groups" in shown for shown in everywhere(audited)[:2])
    names = re.findall(r"seen is [^;]* between g=. \(\d[\d,]* records\) and g=. ", text(audited, "parity"))
    assert len(names) == text(audited, "parity").count(" seen is ") > 0
