"""The pictures of the pages about metrics, drawn when the site is built from the figures that the software gives.

Each function draws one picture; a page shows it as ``_static/pictures/NAME.svg``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("agg")
import matplotlib.pyplot as plt

import biasamp

TRUTH, MODEL, LINE = "#5b7fb5", "#e08a3c", "#808080"
# The painting example of the 2021 paper: 30 of 40 women and 10 of 40 men paint.
GROUP = np.repeat(["woman", "man"], 40)
PAINTS = np.r_[np.ones(30), np.zeros(10), np.ones(10), np.zeros(30)].astype(int)
SAID = np.r_[np.ones(36), np.zeros(4), np.ones(6), np.zeros(34)].astype(int)


def _axes(width: float = 5.2, height: float = 2.6) -> tuple[Any, Any]:
    figure, axes = plt.subplots(figsize=(width, height))
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _bars(axes: Any, labels: list[str], before: list[float], after: list[float], names: tuple[str, str]) -> None:
    places = np.arange(len(labels))
    axes.bar(places - 0.19, before, 0.36, color=TRUTH, label=names[0])
    axes.bar(places + 0.19, after, 0.36, color=MODEL, label=names[1])
    for place, low, high in zip(places, before, after, strict=True):
        if low != high:
            arrow = {"arrowstyle": "->", "color": "black"}
            axes.annotate("", (place + 0.4, high), (place + 0.4, low), arrowprops=arrow)
    axes.set_xticks(places, labels)
    axes.legend(frameon=False)


def directional() -> Any:
    """Rates of painting in both groups, before and after."""
    figure, axes = _axes()
    pairs = [row for row in biasamp.directional(GROUP, PAINTS, SAID).pairs.rows() if str(row["outcome"]).endswith("1")]
    before, after = [row["truth_rate"] for row in pairs], [row["predicted_rate"] for row in pairs]
    _bars(axes, [str(row["given"]) for row in pairs], before, after, ("P(paints | group)", "P(said to paint | group)"))
    return figure


def mals() -> Any:
    """Shares of groups among those who paint, before and after."""
    figure, axes = _axes()
    before = [PAINTS[name == GROUP].sum() / PAINTS.sum() for name in ("woman", "man")]
    after = [SAID[name == GROUP].sum() / SAID.sum() for name in ("woman", "man")]
    _bars(axes, ["woman", "man"], before, after, ("share of those who paint", "share of those said to"))
    axes.axhline(0.5, color=LINE, linestyle="--", linewidth=1)
    return figure


def multi() -> Any:
    """Signed changes cancel, their sizes do not."""
    figure, axes = _axes()
    n = 400
    group = np.repeat(["woman", "man"], n)
    truth = np.tile(np.r_[np.ones(n // 2), np.zeros(n // 2)], 2).astype(int)
    model = np.r_[np.ones(260), np.zeros(140), np.ones(140), np.zeros(260)].astype(int)
    rows = [row for row in biasamp.multi(group, truth, model).pairs.rows() if str(row["outcome"]).endswith("1")]
    axes.barh([str(row["given"]) for row in rows], [row["delta"] for row in rows], color=[TRUTH, MODEL])
    axes.axvline(0, color="black", linewidth=1)
    axes.set_xlabel("change of P(paints | group): the mean is 0, the mean size is 0.15")
    return figure


def predictability() -> Any:
    """What an attacker gets from truth made as inaccurate as the model, and from predictions."""
    figure, axes = _axes()
    rng = np.random.default_rng(0)
    n = 2000
    group = rng.choice(["woman", "man"], n)
    truth = (rng.random(n) < np.where(group == "woman", 0.55, 0.45)).astype(int)
    model = np.where(rng.random(n) < 0.25, (group == "woman").astype(int), truth)
    found = biasamp.leakage(group, truth, model)
    names = ["true labels,\nmade as inaccurate", "the model's labels"]
    axes.bar(names, [found.dataset, found.model], 0.5, color=[TRUTH, MODEL])
    axes.axhline(max(np.mean(group == "woman"), np.mean(group == "man")), color=LINE, linestyle="--", linewidth=1)
    axes.set_ylim(0.4, 0.7)
    axes.set_ylabel("attacker's accuracy")
    return figure


def rates() -> Any:
    """The rates of both groups, with intervals."""
    figure, axes = _axes()
    # Of 30 women who paint 28 are found, and 2 others; of 10 men 6, and 3 others.
    said = np.repeat([1, 0, 1, 0, 1, 0, 1, 0], [28, 2, 2, 8, 6, 4, 3, 27])
    kinds = ("selection_rate", "true_positive_rate", "false_positive_rate", "accuracy", "precision")
    for place, (row, color) in enumerate(
        zip(biasamp.parity(GROUP, PAINTS, said).groups.rows(), (TRUTH, MODEL), strict=True)
    ):
        values = np.array([row[kind] for kind in kinds])
        ends = np.array([[row[f"{kind}_low"], row[f"{kind}_high"]] for kind in kinds]).T
        reach = np.abs(ends - values)
        places = np.arange(len(kinds)) + 0.38 * place - 0.19
        axes.bar(places, values, 0.36, yerr=reach, color=color, ecolor="black", capsize=2, label=str(row["given"]))
    axes.set_xticks(np.arange(len(kinds)), ["selected", "TPR", "FPR", "accuracy", "precision"])
    axes.legend(frameon=False)
    return figure


def association() -> Any:
    """How four metrics move with the share of one identity among the records of a label."""
    figure, axes = _axes(height=3)
    shares = np.linspace(0.05, 0.95, 37)
    curves: dict[str, list[float]] = {name: [] for name in ("dp", "npmi_xy", "ji", "tau_b")}
    for share in shares:
        with_label = round(400 * share)
        records = (
            [["woman", "cup"]] * with_label
            + [["man", "cup"]] * (400 - with_label)
            + [["woman"]] * (2000 - with_label)
            + [["man"]] * (1600 + with_label)
        )
        rows = biasamp.associate(records, ["woman", "man"]).to_dict()["labels"]
        gap = next(row for row in rows if row["label"] == "cup")["gaps"][0]
        for name, values in curves.items():
            values.append(gap[name])
    for name, values in curves.items():
        axes.plot(shares, values, label=name)
    axes.axhline(0, color=LINE, linewidth=1)
    axes.axvline(0.5, color=LINE, linewidth=1)
    axes.set_xlabel("share of women among the records with the label")
    axes.set_ylabel("gap, woman - man")
    axes.legend(frameon=False)
    return figure


def why() -> Any:
    """The parts of the change of the applicants."""
    import pyarrow.csv as pc

    data = pc.read_csv(Path(__file__).parent.parent / "_static" / "data" / "applicants.csv")
    parts = biasamp.decompose(data["gender"], data["invited"], data["score"])
    figure, axes = _axes(height=2.2)
    axes.barh(
        ["whole", "of the scores", "of the threshold"][::-1], [parts.threshold, parts.score, parts.value], color=MODEL
    )
    axes.axvline(0, color="black", linewidth=1)
    axes.set_xlabel("directional amplification")
    return figure


def bound() -> Any:
    """A gate: intervals below, over and beyond a limit."""
    figure, axes = _axes(height=2.2)
    for place, (low, high, words) in enumerate(
        [(0.03, 0.05, "fail"), (0.012, 0.034, "not enough evidence"), (-0.004, 0.014, "pass")]
    ):
        axes.plot([low, high], [place, place], linewidth=6, solid_capstyle="butt", color=MODEL if place == 0 else TRUTH)
        axes.text(high + 0.001, place, words, va="center")
    axes.axvline(0.02, color="black", linestyle="--", linewidth=1)
    axes.set_yticks([])
    axes.set_xlim(-0.01, 0.07)
    axes.set_xlabel("amplification, and the limit 0.02")
    return figure


def questions() -> Any:
    """The questions that lead to a metric, as a tree."""
    figure, axes = plt.subplots(figsize=(8.2, 4.4))
    axes.set_axis_off()
    boxes = {
        "truth": (0.5, 0.95, "Are there true labels?"),
        "association": (0.12, 0.70, "no:\nassociate"),
        "kind": (0.62, 0.70, "yes: what is asked?"),
        "rates": (0.30, 0.40, "who is missed\nor accused?\nrates of groups"),
        "change": (0.55, 0.40, "does the model\nadd to the bias?"),
        "scores": (0.84, 0.40, "score or threshold?\nlike cases?\nwhy"),
        "directional": (0.40, 0.08, "groups differ in truth:\ndirectional"),
        "balanced": (0.68, 0.08, "balanced, or only size:\nDPA, Multi"),
        "leaks": (0.90, 0.08, "from many labels\nat once: leakage"),
    }
    edges = [("truth", "association"), ("truth", "kind"), ("kind", "rates"), ("kind", "change"), ("kind", "scores")]
    edges += [("change", name) for name in ("directional", "balanced", "leaks")]
    for start, end in edges:
        axes.plot(*zip(boxes[start][:2], boxes[end][:2], strict=True), color=LINE, linewidth=1, zorder=1)
    for x, y, words in boxes.values():
        box = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": TRUTH}
        axes.text(x, y, words, ha="center", va="center", bbox=box, zorder=2)
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.05, 1.05)
    return figure


PICTURES: list[Callable[[], Any]] = [
    directional,
    rates,
    mals,
    multi,
    predictability,
    association,
    why,
    bound,
    questions,
]


def _draw(app: Any) -> None:
    folder = Path(app.srcdir) / "_static" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    with plt.rc_context({"svg.hashsalt": "biasamp", "font.size": 9, "figure.autolayout": True}):
        for draw in PICTURES:
            figure = draw()
            if not any(axes.has_data() or axes.texts for axes in figure.axes):
                raise RuntimeError(f"the picture {draw.__name__} is empty")
            figure.savefig(folder / f"{draw.__name__}.svg", metadata={"Date": None})
            plt.close(figure)


def setup(app: Any) -> dict[str, bool]:
    """Draw before sources are read."""
    app.connect("builder-inited", _draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
