"""AIES paper: how ten association metrics rank labels. Tables 1, 3, 5-7, 14 and Figs. 1, 2, E.1, E.2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import biasamp

from .aies_tables import TABLE_3, TABLE_5, TABLE_6, TABLE_7, counted_twice
from .chart import Chart
from .experiment import Experiment, Setting, columns_of
from .outcome import ARITHMETIC, OWN, REAL, STAND_IN, Outcome, Trial, counted_once
from .papers import AIES
from .rows import Row, claimed, measured, placed

# The label files of Open Images with machine-generated labels, and the class descriptions, in this folder.
FOLDER = "open_images"
TOP = 100
FIRST = 15
BINS = 40
IDENTITIES = ("man", "woman")
# The metrics that the plots of E.1 set side by side, and what Sec. 4.1 says of them.
E_1 = {
    "Table 8": (("dp", "ji", "sdc"), "linear"),
    "Table 9": (("pmi", "pmi2", "llr"), "linear"),
    "Table 10": (("dp", "pmi", "npmi_xy", "tau_b"), "quite different ranks"),
}
# The MIDs of Woman and Man, for folders without class descriptions.
MIDS = {"woman": "/m/03bt1vf", "man": "/m/04yx4"}


def class_file(folder: Path) -> Path | None:
    """The class descriptions of a release, whatever it calls them; not those of the boxes, which are a few hundred."""
    found = [path for path in folder.rglob("*class-descriptions*") if "box" not in path.name and path.is_file()]
    return max(found, key=lambda path: (path.stat().st_size, path.name), default=None)


def association(setting: Setting) -> tuple[Any, str, str]:
    """The result with the paper's choices, the kind of data and what they are."""
    options: dict[str, Any] = {"zero": "drop", "min_expected": 0}
    if "labels" in setting.own:
        return _own(setting, options)
    folder = None if setting.folder is None else setting.folder / FOLDER
    if folder is not None and folder.is_dir():
        classes = class_file(folder)
        source = biasamp.read_open_images(folder, classes=classes, sources="machine")
        named = {"woman": "Woman", "man": "Man"} if classes is not None else MIDS
        result = biasamp.associate(source, named, **options)
        return result, REAL, f"{FOLDER}/, {result.n:,} images with {len(result.labels):,} labels"
    drawn = biasamp.open_images_shape(60_000, 6_000, seed=setting.seed)
    kind = "60,000 generated label sets of the shape of Open Images, 6,000 labels, skews planted"
    return (
        biasamp.associate(drawn.to_arrow(), ["woman", "man"], record="record", label="label", **options),
        STAND_IN,
        kind,
    )


def _own(setting: Setting, options: dict[str, Any]) -> tuple[Any, str, str]:
    """Labels of one's own: a table with a row for each record and label, or a folder or file in the format of Open Images."""
    path = Path(setting.own["labels"])
    named = [name.strip() for name in str(setting.own["identities"]).split(",") if name.strip()]
    if len(named) != 2:
        raise ValueError(f"two identities are compared, found {len(named)}: {', '.join(named)}")
    record, label = setting.own.get("record"), setting.own.get("label")
    if record and label:
        columns = columns_of(path, (record, label))
        result = biasamp.associate(columns, named, record=record, label=label, **options)
    else:
        classes = class_file(path) if path.is_dir() else None
        source = biasamp.read_open_images(path, classes=classes, sources=setting.own.get("sources", "machine"))
        result = biasamp.associate(source, named, **options)
    return (
        result,
        OWN,
        f"{path.name}, {result.n:,} records with {len(result.labels):,} labels; {' against '.join(named)}",
    )


def _beside(what: str, ours: str, published: str, note: str, real: bool) -> Row:
    """What is printed of Open Images: held against ours on its files, beside ours on generated labels."""
    if real:
        return claimed(what, published, ours, ours == published, test="the same figures", note=note)
    return measured(what, ours, published=published, note=note)


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
        test="all three pairs share all hundred",
        note=note,
        item="Sec. 4.1",
    )
    yield claimed(
        "Sec. 4.1, PMI, PMI², LLR: pairs of labels in the same order",
        "above 99%",
        ", ".join(f"{row['order']:.2%}" for row in cluster),
        all(row["order"] > 0.99 for row in cluster),
        test="above the printed 99% in all three pairs",
        note=note,
        item="Sec. 4.1",
    )
    shared = str(pair("pmi2", "sdc")["shared"])
    yield _beside("Sec. 4.1, PMI² and SDC: top 100 in common", shared, "7", note, not note)
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
    rows = {(row["metric"], row["count"]): row for row in result.top_counts(TOP, toward="woman").rows()}
    shown = ("C(y)", *(f"C({identity},y)" for identity in IDENTITIES))
    for metric, published in TABLE_7.items():
        ends = [f"{rows[metric, count]['min']:,.0f} / {rows[metric, count]['max']:,.0f}" for count in shown]
        what = f"Tables 1 and 7, {metric}: least and largest {', '.join(shown)} of the top {TOP}"
        yield _beside(what, "; ".join(ends), "; ".join(published), note, not note)
    for metric, published in TABLE_6.items():
        means = [f"{rows[metric, count]['mean']:.2f} ± {rows[metric, count]['std']:.2f}" for count in shown]
        what = f"Table 6, {metric}: mean {', '.join(shown)} of the top {TOP}"
        yield replace(_beside(what, "; ".join(means), "; ".join(published), note, not note), item="Table 6")
    tops = {metric: rows[metric, "C(y)"] for metric in TABLE_7}
    yield measured(
        "Fig. 2, counts of the top 100: largest of PMI, least of tau_b, least and largest of nPMI_xy",
        f"{tops['pmi']['max']:,.0f}; {tops['tau_b']['min']:,.0f}; {tops['npmi_xy']['min']:,.0f} and {tops['npmi_xy']['max']:,.0f}",
        published="PMI low, tau_b high, nPMI_xy both",
        note="; ".join(part for part in ("words without an edge", note) if part),
        item="Fig. 2",
    )


def by_association(result: Any, metric: str, identity: str, k: int = TOP) -> tuple[Any, Any]:
    """The k labels with the least, and with the largest, association with an identity, of those that meet it."""
    place = result.identities.index(identity)
    value = result.values.values(metric)[:, place]
    there = np.flatnonzero((result.joint[:, place] > 0) & ~result.is_identity & ~np.isnan(value))
    order = there[np.argsort(value[there], kind="stable")]
    return order[:k], order[::-1][:k]


def _table_5(result: Any, note: str) -> Iterator[Row]:
    """Table 5 ranks by A(man, y) itself. As printed it can only be the lower end of that ranking."""
    place = result.identities.index("man")

    def told(labels: Any) -> str:
        counts = result.count[labels], result.joint[labels, place]
        return "; ".join(f"{part.mean():.2f} ± {part.std():.2f}" for part in counts)

    for metric, published in TABLE_5.items():
        lowest, highest = by_association(result, metric, "man")
        what = f"Table 5, {metric}: mean C(y), C(man,y) of the {TOP} labels least associated with man"
        other = f"of the {TOP} most associated: {told(highest)}" + (f"; {note}" if note else "")
        yield _beside(what, told(lowest), "; ".join(published), other, not note)
    ends = {metric: by_association(result, metric, "man") for metric in ("dp", "sdc")}
    met = {metric: [result.joint[labels, place] for labels in pair] for metric, pair in ends.items()}
    yield claimed(
        f"Table 5, DP and SDC: C(man,y) is 1 for all {TOP}, which fits the lower end of the ranking alone",
        "1.00 ± 0.00",
        ", ".join(
            f"{m}: {low.min()} to {low.max()} lower end, {high.min():,} to {high.max():,} upper"
            for m, (low, high) in met.items()
        ),
        all(low.max() == 1 < high.min() for low, high in met.values()),
        test="C(man,y) is 1 at the lower end and above 1 at the upper",
        note="labels that tie in DP are in no order, so their C(y) may be any" + (f"; {note}" if note else ""),
    )


def _figures(result: Any) -> tuple[Chart, Chart]:
    """Fig. 1: ranks by other metrics along the ranks by DP. Fig. 2: how common the top 100 labels are."""
    ranks: dict[str, list[tuple[float, float]]] = {}
    for metric in ("pmi", "npmi_xy", "tau_b", "sdc"):
        changes = result.rank_changes("dp", metric, toward="woman")
        order = np.argsort(changes["rank_a"], kind="stable")
        ranks[metric] = [
            (float(np.mean(changes["rank_a"][part])), float(np.median(changes["rank_b"][part])))
            for part in np.array_split(order, min(BINS, max(len(order), 1)))
            if len(part)
        ]
    edges = np.arange(0.0, np.log10(max(result.count.max(), 10)) + 0.5, 0.5)
    lines: dict[str, list[tuple[float, float]]] = {}
    for metric in ("pmi", "npmi_xy", "tau_b"):
        counts = result.top(metric, TOP, toward="woman")["count"]
        many, _ = np.histogram(np.log10(counts), edges)
        lines[metric] = list(zip((edges[:-1] + 0.25).tolist(), many.astype(float).tolist(), strict=True))
    return (
        Chart("Fig. 1: median rank by other metrics", "rank by DP", "rank", ranks),
        Chart("Fig. 2: C(y) of the top 100 labels toward woman", "log10 C(y), by half decades", "labels", lines),
    )


def _rank_changes(result: Any, note: str) -> Iterator[Row]:
    """Fig. 1 and E.1: how far ranks change between metrics, for the pairs that the paper draws."""
    for table, (metrics, words) in E_1.items():
        for a, b in combinations(metrics, 2):
            changes = result.rank_changes(a, b, toward="woman")
            moved = np.abs(changes["change"]) > 0.1 * len(changes)
            yield measured(
                f"Fig. 1 and E.1, {table}: labels whose rank moves by more than a tenth of all from {a} to {b}",
                f"{np.mean(moved):.0%} of {len(changes):,}",
                published=words,
                note=note,
            )


def _movement(result: Any, note: str) -> tuple[list[Row], Chart]:
    """E.2: a made-up label of fixed shares moves through counts; PMI's gap does not follow, nPMI's does."""
    metrics = ("pmi", "pmi2", "llr", "npmi_xy", "npmi_y", "dp", "ji", "sdc", "tau_b")
    table = biasamp.movement(result, counts=(100, 300, 1_000, 3_000), steps=(1.0,), toward="woman", against="man")
    rows, lines = [], {}
    for metric in metrics:
        here = table["metric"] == metric
        gaps, ranks, counts = (table[name][here] for name in ("gap", "rank", "count"))
        lines[metric] = list(zip(np.log10(counts).tolist(), ranks.astype(float).tolist(), strict=True))
        still = metric in ("pmi", "pmi2", "llr")
        what = f"E.2, {metric}: gap of a made-up label as its count grows at fixed shares"
        found = f"{gaps[0]:.4f} to {gaps[-1]:.4f}, rank {ranks[0]:.0f} to {ranks[-1]:.0f} of {table['of'][here][0]:.0f}"
        if still or metric.startswith("npmi"):
            holds = (abs(gaps[-1] - gaps[0]) < 1e-9) == still
            words = "stays" if still else "moves"
            test = "the gaps at the least and the largest count are equal" + ("" if still else ", or not")
            rows.append(claimed(what, words, found, holds, test=test, note=note, claim=f"{words} with the count"))
        else:
            rows.append(measured(what, found, note=note))
    return rows, Chart("E.2: rank of a made-up label", "log10 of its count", "rank", lines)


def _tops(result: Any, kind: str) -> Iterator[Row]:
    """Table 3, 14: the labels that lean most to women."""
    for metric, published in TABLE_3.items():
        top = list(result.top(metric, FIRST, toward="woman").rows())
        shown = "; ".join(f"{row['name']} ({row['count']:,})" for row in top)
        names = {row["name"].casefold() for row in top}
        both = sum(name.casefold() in names for name in published)
        yield measured(
            f"Tables 3 and 14, {metric}: the first {FIRST} toward woman, with C(y)",
            shown,
            published="; ".join(f"{name} ({count:,})" for name, count in published.items()),
            note=f"{both} of the {len(published)} labels printed by name"
            if kind == REAL
            else "printed of Open Images; ours are generated",
        )
    twice = "; ".join(f"{label}: {', '.join(map(str, counts))}" for label, counts in counted_twice().items())
    yield claimed(
        "Tables 3 and 14: labels printed with more than one count",
        "each label has one C(y)",
        twice,
        not twice,
        test="no label is printed with two counts",
        basis=ARITHMETIC,
    )


def _own_rows(result: Any) -> Iterator[Row]:
    """The tables of the paper for labels of one's own: the top labels of each metric, their counts, and how metrics agree."""
    first, second = result.identities[:2]
    many = min(TOP, int((~result.is_identity).sum()))
    for row in result.agreement(many, toward=first).rows():
        what = f"{row['metric_a']} and {row['metric_b']}: of the first {many} toward {first}, in common"
        yield measured(what, float(row["shared"]))
    for row in result.top_counts(many, toward=first).rows():
        for end in ("min", "max", "mean"):
            yield measured(f"{row['metric']}: {end} {row['count']} of the first {many} toward {first}", float(row[end]))
    for metric in TABLE_3:
        top = result.top(metric, min(FIRST, many), toward=first)
        shown = "; ".join(f"{row['name']} ({row['count']:,})" for row in top.rows())
        yield measured(f"{metric}: the first {min(FIRST, many)} toward {first} against {second}, with C(y)", shown)


def _rows_of_paper(result: Any, kind: str, note: str) -> tuple[Row, ...]:
    return (
        *placed(_agreement(result, note), "Sec. 4.1"),
        *placed(_counts(result, note), "Tables 1 and 7"),
        *placed(_table_5(result, note), "Table 5"),
        *placed(_rank_changes(result, note), "Figs. 1 and E.1"),
        *placed(_tops(result, kind), "Tables 3 and 14"),
    )


def _trial(seed: int) -> Trial:
    """Generated labels without skew, where metrics have nothing to agree on."""
    drawn = biasamp.open_images_shape(4_000, 300, seed=seed)
    result = biasamp.associate(
        drawn.to_arrow(), list(IDENTITIES), record="record", label="label", zero="drop", min_expected=0
    )
    many = min(TOP, len(result.labels) - 2)
    pairs = {
        frozenset((row["metric_a"], row["metric_b"])): row for row in result.agreement(many, toward="woman").rows()
    }
    cluster = [pairs[frozenset(pair)]["shared"] for pair in (("pmi", "pmi2"), ("pmi", "llr"), ("pmi2", "llr"))]
    kept = all(shared == many for shared in cluster)
    return Trial(
        "PMI, PMI² and LLR rank alike because their gaps are the same function of the counts, so that claim cannot fail on any data; "
        "those on counts, on Table 5 and on what moves with a label's count could.",
        f"With 4,000 records and 300 labels the first {many} of PMI, PMI² and LLR share {', '.join(map(str, cluster))}: "
        + ("no setting was found in which that claim fails." if kept else "the claim fails there."),
    )


def run(setting: Setting) -> Outcome:
    """Run it."""
    result, kind, source = association(setting)
    if kind == OWN:
        first = result.identities[0]
        says = (f"{len(result.labels):,} labels of {result.n:,} records were ranked by ten metrics toward {first}.",)
        return Outcome(OWN, source, tuple(_own_rows(result)), says=says)
    note = "" if kind == REAL else "on generated labels: a trend, not the paper's number"
    moved, chart = _movement(result, note)
    rows = (*_rows_of_paper(result, kind, note), *placed(moved, "E.2"))
    left = () if kind == REAL else (f"Open Images itself, which needs its label files in {FOLDER}/ of BIASAMP_DATA",)
    claims = [row for row in counted_once(rows) if row.agrees is not None and row.basis != ARITHMETIC]
    held, wanted = sum(row.agrees is True for row in claims), len(claims)
    told = (
        f"{held} of {wanted} claims on how ten metrics rank labels show on {'Open Images' if kind == REAL else 'generated labels'}.",
        "PMI, PMI² and LLR rank alike; DP, JI and SDC prefer common labels; nPMI takes both."
        if kind == STAND_IN
        else "",
        "None of the printed counts was tried on Open Images." if kind == STAND_IN else "",
    )
    trial = _trial(setting.seed) if kind == STAND_IN else None
    choices = ("Labels that one identity never has are dropped and none is left out for being rare, as in the paper.",)
    charts = (*_figures(result), chart)
    return Outcome(kind, source, rows, charts, left, tuple(filter(None, told)), choices, trial)


EXPERIMENT = Experiment(
    "aies-rankings",
    "How association metrics rank labels: agreement, counts of the top 100, movement",
    "Aka et al. (2021), Tables 1, 3, 5, 6, 7, 14, Figs. 1, 2, E.1, E.2",
    run,
    files=(f"{FOLDER}/",),
    without="runs on generated label sets",
    options=("labels", "identities", "record", "label", "sources"),
    paper=AIES,
)
