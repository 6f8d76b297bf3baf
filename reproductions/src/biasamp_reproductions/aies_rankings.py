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
from .rows import Row, claimed, measured, placed, printed

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
# Claims that several rows test.
SHARED = "PMI, PMI², LLR: top 100 in common"
LOWER_END = "DP and SDC: C(man,y) is 1 for all 100, the lower end of the ranking"
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


def _beside(what: str, ours: float, published: str, note: str, real: bool) -> Row:
    """A figure that is printed of Open Images: held against ours on its files, beside ours on generated labels."""
    if real:
        return printed(what, published, ours, note=note)
    return measured(what, ours, published=published, note=note)


def _agreement(result: Any, note: str) -> Iterator[Row]:
    pairs = {frozenset((row["metric_a"], row["metric_b"])): row for row in result.agreement(TOP, toward="woman").rows()}
    edge = "; ".join(part for part in ("'about' states no threshold", note) if part)
    for a, b in combinations(("pmi", "pmi2", "llr"), 2):
        row = pairs[frozenset((a, b))]
        yield claimed(
            f"Sec. 4.1, {a} and {b}: top {TOP} in common",
            "all",
            float(row["shared"]),
            row["shared"] == TOP,
            test="all hundred, in all three pairs",
            note=note,
            claim=SHARED,
        )
        yield claimed(
            f"Sec. 4.1, {a} and {b}: share of pairs of labels in the same order",
            "above 99%",
            float(row["order"]),
            row["order"] > 0.99,
            test="above the printed 99%, in all three pairs",
            note=note,
            claim="PMI, PMI², LLR: pairs of labels in the same order",
        )
    shared = float(pairs[frozenset(("pmi2", "sdc"))]["shared"])
    yield _beside("Sec. 4.1, PMI² and SDC: top 100 in common", shared, "7", note, not note)
    for a, b in combinations(("dp", "ji", "sdc"), 2):
        row = pairs[frozenset((a, b))]
        what = f"Sec. 4.1, {a} and {b}: top {TOP} in common"
        name = "DP, JI, SDC: top 100 in common"
        yield measured(what, float(row["shared"]), published="about 70", note=edge, name=name)
        what = f"Sec. 4.1, {a} and {b}: share of pairs of the common labels in the same order"
        name = "DP, JI, SDC: pairs of the common labels in the same order"
        yield measured(what, float(row["order_shared"]), published="about 95%", note=edge, name=name)


def _counts(result: Any, note: str) -> Iterator[Row]:
    rows = {(row["metric"], row["count"]): row for row in result.top_counts(TOP, toward="woman").rows()}
    shown = ("C(y)", *(f"C({identity},y)" for identity in IDENTITIES))
    for table, figures, ends in (
        ("Tables 1 and 7", TABLE_7, (("min", "least"), ("max", "largest"))),
        ("Table 6", TABLE_6, (("mean", "mean"), ("std", "sd of"))),
    ):
        for metric, by_count in figures.items():
            for count, pair in zip(shown, by_count, strict=True):
                for (end, word), figure in zip(ends, pair, strict=True):
                    what = f"{table}, {metric}: {word} {count} of the top {TOP}"
                    row = _beside(what, float(rows[metric, count][end]), figure, note, not note)
                    yield replace(row, item=table)
    words = "; ".join(part for part in ("words that state no threshold", note) if part)
    for metric, end, word, said in (
        ("pmi", "max", "largest", "PMI low"),
        ("tau_b", "min", "least", "tau_b high"),
        ("npmi_xy", "min", "least", "nPMI_xy both"),
        ("npmi_xy", "max", "largest", "nPMI_xy both"),
    ):
        what = f"Fig. 2, {metric}: {word} C(y) of the top {TOP}"
        value = float(rows[metric, "C(y)"][end])
        yield measured(what, value, published=said, note=words, item="Fig. 2", name=f"counts of the top {TOP}: {said}")


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
    for metric, by_count in TABLE_5.items():
        ends = by_association(result, metric, "man")
        for count, of, pair in zip(("C(y)", "C(man,y)"), (result.count, result.joint[:, place]), by_count, strict=True):
            low, high = (of[labels] for labels in ends)
            for word, figure, ours, upper in (
                ("mean", pair[0], low.mean(), high.mean()),
                ("sd of", pair[1], low.std(), high.std()),
            ):
                what = f"Table 5, {metric}: {word} {count} of the {TOP} labels least associated with man"
                other = f"of the {TOP} most associated: {upper:.2f}" + (f"; {note}" if note else "")
                yield _beside(what, float(ours), figure, other, not note)
    for metric in ("dp", "sdc"):
        low, high = (result.joint[labels, place] for labels in by_association(result, metric, "man"))
        yield claimed(
            f"Table 5, {metric}: largest C(man,y) of the {TOP} labels least associated with man",
            "1.00 ± 0.00, which fits the lower end of the ranking alone",
            float(low.max()),
            low.max() == 1 < high.min(),
            test="C(man,y) is 1 at the lower end and above 1 at the upper",
            note=f"least at the upper end: {high.min():,}; labels that tie in DP are in no order, so their C(y) may be any"
            + (f"; {note}" if note else ""),
            claim=LOWER_END,
        )


def _figures(result: Any, toward: str = "woman") -> tuple[Chart, Chart]:
    """Fig. 1: ranks by other metrics along the ranks by DP. Fig. 2: how common the top 100 labels are."""
    ranks: dict[str, list[tuple[float, float]]] = {}
    for metric in ("pmi", "npmi_xy", "tau_b", "sdc"):
        changes = result.rank_changes("dp", metric, toward=toward)
        order = np.argsort(changes["rank_a"], kind="stable")
        ranks[metric] = [
            (float(np.mean(changes["rank_a"][part])), float(np.median(changes["rank_b"][part])))
            for part in np.array_split(order, min(BINS, max(len(order), 1)))
            if len(part)
        ]
    edges = np.arange(0.0, np.log10(max(result.count.max(), 10)) + 0.5, 0.5)
    lines: dict[str, list[tuple[float, float]]] = {}
    for metric in ("pmi", "npmi_xy", "tau_b"):
        counts = result.top(metric, TOP, toward=toward)["count"]
        many, _ = np.histogram(np.log10(counts), edges)
        lines[metric] = list(zip((edges[:-1] + 0.25).tolist(), many.astype(float).tolist(), strict=True))
    return (
        Chart("Fig. 1: median rank by other metrics", "rank by DP", "rank", ranks),
        Chart(f"Fig. 2: C(y) of the top {TOP} labels toward {toward}", "log10 C(y), by half decades", "labels", lines),
    )


def _rank_changes(result: Any, note: str) -> Iterator[Row]:
    """Fig. 1 and E.1: how far ranks change between metrics, for the pairs that the paper draws."""
    for table, (metrics, words) in E_1.items():
        for a, b in combinations(metrics, 2):
            changes = result.rank_changes(a, b, toward="woman")
            moved = np.abs(changes["change"]) > 0.1 * len(changes)
            yield measured(
                f"Figs. 1 and E.1, {table}: share of labels whose rank moves by more than a tenth of all from {a} to {b}",
                float(np.mean(moved)),
                published=words,
                note="; ".join(part for part in (f"of {len(changes):,}; words that state no threshold", note) if part),
                name=f"{table}: {', '.join(metrics)}",
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
        what = f"E.2, {metric}: change of the gap of a made-up label as its count grows at fixed shares"
        change = float(gaps[-1] - gaps[0])
        about = f"the gap goes from {gaps[0]:.4f} to {gaps[-1]:.4f}, its rank from {ranks[0]:.0f} to {ranks[-1]:.0f} of {table['of'][here][0]:.0f}"
        told = "; ".join(part for part in (about, note) if part)
        if still or metric.startswith("npmi"):
            words = "stays" if still else "moves"
            test = f"the gaps at the least and the largest count are {'equal' if still else 'not equal'}"
            holds = (abs(change) < 1e-9) == still
            rows.append(claimed(what, words, change, holds, test=test, note=told, claim=f"{words} with the count"))
        else:
            rows.append(measured(what, change, note=told))
    return rows, Chart("E.2: rank of a made-up label", "log10 of its count", "rank", lines)


def _tops(result: Any, kind: str) -> Iterator[Row]:
    """Table 3, 14: the labels that lean most to women."""
    counts = {str(name).casefold(): float(count) for name, count in zip(result.labels, result.count, strict=True)}
    for metric, labels in TABLE_3.items():
        top = list(result.top(metric, FIRST, toward="woman").rows())
        places = {row["name"].casefold(): place for place, row in enumerate(top, start=1)}
        for place, (label, count) in enumerate(labels.items()):
            what = f"Tables 3 and 14, {metric}: C(y) of {label}"
            if kind == STAND_IN:
                row = top[min(place, len(top) - 1)]
                note = f"printed of Open Images; ours is the generated label in that place, {row['name']}"
                yield measured(what, float(row["count"]), published=str(count), note=note)
            elif label.casefold() in counts:
                at = places.get(label.casefold())
                note = f"not among the first {FIRST}" if at is None else f"in place {at}"
                yield printed(what, str(count), counts[label.casefold()], note=note)
            else:
                yield measured(what, "no such label", published=str(count))
    twice = "; ".join(f"{label}: {', '.join(map(str, counts))}" for label, counts in counted_twice().items())
    yield claimed(
        "Tables 3 and 14: labels printed with more than one count",
        "each label has one C(y)",
        float(len(counted_twice())),
        not twice,
        test="no label is printed with two counts",
        note=twice,
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


# Records and labels of other generated sets, from as rich as the one shown to a few hundred labels.
SWEEP = ((60_000, 2_000), (20_000, 6_000), (20_000, 1_000), (4_000, 300), (2_000, 200))
# What follows from the formulas of the metrics, whatever the labels.
BY_ALGEBRA = 4


def _trial(seed: int) -> Trial:
    """All claims on other generated sets: which fail in which."""
    told = []
    for records, labels in SWEEP:
        drawn = biasamp.open_images_shape(records, labels, seed=seed)
        result = biasamp.associate(
            drawn.to_arrow(), list(IDENTITIES), record="record", label="label", zero="drop", min_expected=0
        )
        rows = (*_rows_of_paper(result, STAND_IN, "generated"), *_movement(result, "generated")[0])
        failed = [row for row in counted_once(rows) if row.agrees is False and row.basis != ARITHMETIC]
        if failed:
            which = "; ".join(f"{row.claim or row.what} ({row.what}: {float(row.ours):g})" for row in failed)
            told.append(f"with {records:,} records and {labels:,} labels: {which}")
    fails = (
        f"A claim fails in {len(told)} of {len(SWEEP)} other generated sets: {'. '.join(told)}."
        if told
        else f"No setting was found, among {len(SWEEP)} other generated sets, in which a claim fails."
    )
    return Trial(
        "That PMI, PMI² and LLR rank alike, and what moves with a label's count at fixed shares, follows from the formulas and cannot fail on any "
        "data: it shows that the metrics are the paper's. That only the lower end of a ranking looks like Table 5 can fail, where few labels are "
        "rare.",
        fails,
    )


def run(setting: Setting) -> Outcome:
    """Run it."""
    result, kind, source = association(setting)
    if kind == OWN:
        first, rows_of_own = result.identities[0], tuple(_own_rows(result))
        agreed = [
            row for row in rows_of_own if row.what.startswith("npmi_xy and dp") or row.what.startswith("dp and npmi_xy")
        ]
        says = (
            f"{len(result.labels):,} labels of {result.n:,} records were ranked by ten metrics toward {first}.",
            f"Of the labels first by DP and by nPMI_xy {agreed[0].ours:.0f} are the same."
            if agreed
            else "Metrics rank them each in its own way.",
            "The paper says nothing of these labels: no figure of its own is held against them.",
        )
        return Outcome(OWN, source, rows_of_own, _figures(result, first), says=says)
    note = "" if kind == REAL else "on generated labels: a trend, not the paper's number"
    moved, chart = _movement(result, note)
    rows = (*_rows_of_paper(result, kind, note), *placed(moved, "E.2"))
    left = () if kind == REAL else (f"Open Images itself, which needs its label files in {FOLDER}/ of BIASAMP_DATA",)
    claims = [row for row in counted_once(rows) if row.agrees is not None and row.basis != ARITHMETIC]
    held, wanted = sum(row.agrees is True for row in claims), len(claims)
    told = (
        f"{held} of {wanted} claims on how ten metrics rank labels show on {'Open Images' if kind == REAL else 'generated labels'}.",
        f"{BY_ALGEBRA} of them follow from the formulas of the metrics whatever the labels; that Table 5 is the lower end of its ranking does not.",
        "None of the printed counts was tried on Open Images."
        if kind == STAND_IN
        else "Counts are of the release that is in the folder, which need not be the paper's.",
    )
    trial = _trial(setting.seed) if kind == STAND_IN else None
    choices = ("Labels that one identity never has are dropped and none is left out for being rare, as in the paper.",)
    charts = (*_figures(result), chart)
    return Outcome(kind, source, rows, charts, left, told, choices, trial)


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
