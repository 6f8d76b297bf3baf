"""AIES paper: how ten association metrics rank labels. Tables 1, 3, 6, 7, 14 and Figs. 1, 2, E.1, E.2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .experiment import REAL, STAND_IN, Chart, Experiment, Outcome, Row, Setting, claimed, measured

# The label files of Open Images with machine-generated labels, and the class descriptions, in this folder.
FOLDER = "open_images"
CLASSES = "class-descriptions.csv"
TOP = 100
# Tables 1 and 7: least and largest C(y) of the 100 labels with the largest gaps.
TABLE_1 = {
    "pmi": "15 / 10,551",
    "pmi2": "15 / 10,551",
    "llr": "15 / 10,551",
    "dp": "6,104 / 785,045",
    "ji": "4,158 / 562,445",
    "sdc": "2,906 / 562,445",
    "npmi_y": "35 / 562,445",
    "npmi_xy": "34 / 270,748",
    "tau_b": "6,104 / 785,045",
    "t_test": "960 / 562,445",
}
# Table 6: mean C(y).
TABLE_6 = {
    "dp": "154960.81",
    "ji": "70403.46",
    "llr": "1020.60",
    "npmi_xy": "13869.42",
    "npmi_y": "23156.11",
    "pmi": "1020.60",
    "pmi2": "1020.60",
    "sdc": "67648.20",
    "tau_b": "134076.65",
}


def association(setting: Setting) -> tuple[Any, str, str]:
    """The result with the paper's choices, the kind of data and what they are."""
    import biasamp

    options: dict[str, Any] = {"zero": "drop", "min_expected": 0}
    folder = None if setting.folder is None else setting.folder / FOLDER
    if folder is not None and folder.is_dir():
        classes = folder / CLASSES
        source = biasamp.read_open_images(folder, classes=classes if classes.is_file() else None, sources="machine")
        names = ["Woman", "Man"] if classes.is_file() else ["/m/03bt1vf", "/m/04yx4"]
        return biasamp.associate(source, dict(zip(("woman", "man"), names, strict=True)), **options), REAL, f"{FOLDER}/"
    drawn = biasamp.open_images_shape(60_000, 6_000, seed=setting.seed)
    kind = "60,000 generated label sets of the shape of Open Images, 6,000 labels, skews planted"
    return (
        biasamp.associate(drawn.to_arrow(), ["woman", "man"], record="record", label="label", **options),
        STAND_IN,
        kind,
    )


def _agreement(result: Any, note: str) -> Iterator[Row]:
    pairs = {frozenset((row["metric_a"], row["metric_b"])): row for row in result.agreement(TOP, toward="woman").rows()}

    def pair(a: str, b: str) -> Any:
        return pairs[frozenset((a, b))]

    cluster = [pair("pmi", "pmi2"), pair("pmi", "llr"), pair("pmi2", "llr")]
    yield claimed(
        "Sec. 4.1, PMI, PMI², LLR: top 100 in common",
        "all",
        ", ".join(str(row["shared"]) for row in cluster),
        all(row["shared"] == TOP for row in cluster),
        note=note,
    )
    yield claimed(
        "Sec. 4.1, PMI, PMI², LLR: pairs of labels in the same order",
        "above 99%",
        ", ".join(f"{row['order']:.2%}" for row in cluster),
        all(row["order"] > 0.99 for row in cluster),
        note=note,
    )
    yield measured(
        "Sec. 4.1, PMI² and SDC: top 100 in common", float(pair("pmi2", "sdc")["shared"]), published="7", note=note
    )
    rates = [pair("dp", "ji"), pair("dp", "sdc"), pair("ji", "sdc")]
    yield measured(
        "Sec. 4.1, DP, JI, SDC: top 100 in common",
        ", ".join(str(row["shared"]) for row in rates),
        published="about 70",
        note=note,
    )
    yield measured(
        "Sec. 4.1, DP, JI, SDC: pairs of the common labels in the same order",
        ", ".join(f"{row['order_shared']:.1%}" for row in rates),
        published="about 95%",
        note=note,
    )


def _counts(result: Any, note: str) -> Iterator[Row]:
    tops = {row["metric"]: row for row in result.top_counts(TOP, toward="woman").rows() if row["count"] == "C(y)"}
    for metric, published in TABLE_1.items():
        row = tops[metric]
        shown = f"{row['min']:,.0f} / {row['max']:,.0f}"
        yield measured(
            f"Tables 1 and 7, {metric}: least and largest C(y) of the top {TOP}", shown, published=published, note=note
        )
    for metric, published in TABLE_6.items():
        row = tops[metric]
        shown = f"{row['mean']:,.1f} ± {row['std']:,.1f}"
        yield measured(f"Table 6, {metric}: mean C(y) of the top {TOP}", shown, published=published, note=note)
    yield claimed(
        "Fig. 2, counts of the top 100",
        "PMI low, tau_b high, nPMI_xy both",
        f"largest of PMI {tops['pmi']['max']:,.0f}; least of tau_b {tops['tau_b']['min']:,.0f}; nPMI_xy "
        f"{tops['npmi_xy']['min']:,.0f} to {tops['npmi_xy']['max']:,.0f}",
        tops["npmi_xy"]["min"] < tops["tau_b"]["min"] and tops["npmi_xy"]["max"] > tops["pmi"]["max"],
        note="nPMI_xy reaches below the least of tau_b and above the largest of PMI; " + note,
    )


def _movement(result: Any, note: str) -> tuple[list[Row], Chart]:
    """E.2: a made-up label of fixed shares moves through counts; PMI's gap does not follow, nPMI's does."""
    from biasamp.measures.movement import movement

    metrics = ("pmi", "pmi2", "llr", "dp", "npmi_xy", "npmi_y")
    table = movement(result, counts=(100, 300, 1_000, 3_000), steps=(1.0,), toward="woman", against="man")
    rows, lines = [], {}
    for metric in metrics:
        here = table["metric"] == metric
        gaps, ranks, counts = (table[name][here] for name in ("gap", "rank", "count"))
        lines[metric] = list(zip(np.log10(counts).tolist(), ranks.astype(float).tolist(), strict=True))
        if metric == "dp":
            continue
        still = metric in ("pmi", "pmi2", "llr")
        rows.append(
            claimed(
                f"E.2, {metric}: gap of a made-up label as its count grows at fixed shares",
                "stays" if still else "moves",
                f"{gaps[0]:.4f} to {gaps[-1]:.4f}, rank {ranks[0]:.0f} to {ranks[-1]:.0f} of {table['of'][here][0]:.0f}",
                (abs(gaps[-1] - gaps[0]) < 1e-9) == still,
                note=note,
            )
        )
    return rows, Chart("E.2: rank of a made-up label", "log10 of its count", "rank", lines)


def _tops(result: Any) -> Iterator[Row]:
    """Table 3, 14: the labels that lean most to women."""
    for metric in ("dp", "pmi", "npmi_xy"):
        top = list(result.top(metric, 5, toward="woman").rows())
        shown = "; ".join(f"{row['name']} ({row['count']:,})" for row in top)
        yield measured(f"Tables 3 and 14, {metric}: the first five toward woman, with C(y)", shown)


def run(setting: Setting) -> Outcome:
    """Run it."""
    result, kind, source = association(setting)
    note = "" if kind == REAL else "on generated labels: a trend, not the paper's number"
    moved, chart = _movement(result, note)
    changes = result.rank_changes("dp", "pmi", toward="woman")
    e_1 = measured(
        "Fig. 1 and E.1: labels whose rank moves by more than a tenth of all from DP to PMI",
        f"{np.mean(np.abs(changes['change']) > 0.1 * len(changes)):.0%} of {len(changes):,}",
        published="quite different ranks",
        note=note,
    )
    rows = (*_agreement(result, note), *_counts(result, note), e_1, *moved, *_tops(result))
    left = () if kind == REAL else (f"Open Images itself, which needs its label files in {FOLDER}/ of BIASAMP_DATA",)
    return Outcome(kind, source, rows, (chart,), left)


EXPERIMENT = Experiment(
    "aies-rankings",
    "How association metrics rank labels: agreement, counts of the top 100, movement",
    "Aka et al. (2021), Tables 1, 3, 6, 7, 14, Figs. 1, 2, E.1, E.2",
    run,
)
