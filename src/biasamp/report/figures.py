"""Figures as matplotlib draws them: pairs, heatmap, sweep, rank comparison and counts of top labels.

Every function returns a ``matplotlib.figure.Figure`` that belongs to nobody else: no window opens and no global
state changes. Labels are text: a dollar sign in one is no mathematics.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from biasamp.auditing.label_names import short_names
from biasamp.data import printable
from biasamp.data.saving import saving
from biasamp.results.metric_registry import METRICS, direction_symbol

from .written import LESS, MORE, UNSURE, largest_pairs

INK = "#1a1d21"
# How many pairs are drawn as bars, and how many lines of a map.
_ROWS, _LINES = 30, 60
_LABEL = 64
# How many figures of a trajectory are drawn.
_PANELS = 12
_DPI = 150
_SCREEN_DPI = 96
# Maps of more cells than this carry no numbers.
_NUMBERED = 60


def _figure(width: float, height: float) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("figures need the extra 'plot': pip install 'biasamp[plot]'") from None

    class ShownFigure(Figure):
        """A figure that a notebook shows, though no window or global state knows of it."""

        def _repr_png_(self) -> bytes:
            return _png(self)

    figure = ShownFigure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _png(figure: Any) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=_SCREEN_DPI)
    return stream.getvalue()


class Figures(dict[str, Any]):
    """Figures by name, which a notebook shows one under the other."""

    def _repr_html_(self) -> str:
        shown = (
            f'<p>{escape(name)}</p><img alt="{escape(name)}" src="data:image/png;base64,{base64.b64encode(_png(held)).decode()}">'
            for name, held in self.items()
        )
        return f"<div>{''.join(shown)}</div>"


def _plain(*texts: Any) -> None:
    for text in texts:
        text.set_parse_math(False)


def _names(axis: Any, names: Sequence[str], **options: Any) -> None:
    """Tick labels that are text."""
    axis.set_ticks(range(len(names)), [printable(name, _LABEL) for name in names], **options)
    _plain(*axis.get_ticklabels())


def _inches(names: Sequence[str]) -> float:
    """The room that the longest of some names needs at eight points."""
    return 0.075 * max((min(len(printable(name, _LABEL)), _LABEL) for name in names), default=0)


def _title(axes: Any, text: str) -> None:
    _plain(axes.set_title(printable(text, 120), loc="left", fontsize=10))


def _heading(entry: Mapping[str, Any]) -> str:
    parts = (entry.get("attribute"), entry["metric"], direction_symbol(entry.get("direction")))
    return " ".join(str(part) for part in parts if part)


def pairs_figure(entry: Mapping[str, Any]) -> Any:
    """The pairs that change most, as bars with their intervals.

    ``entry`` is one metric of an audit's document, or ``result.to_dict()``.
    """
    pairs = largest_pairs((pair for pair in entry["pairs"] if pair["amplification"] is not None), _ROWS)[::-1]
    short = short_names(pair[side] for side in ("given", "outcome") for pair in pairs)
    names = [f"{short[pair['given']]} → {short[pair['outcome']]}" for pair in pairs]
    figure, axes = _figure(4.5 + _inches(names), 1.1 + 0.28 * max(len(pairs), 1))
    for place, pair in enumerate(pairs):
        low, high, value = pair["low"], pair["high"], pair["amplification"]
        known = low is not None and high is not None
        unsure = known and low <= 0 <= high
        axes.barh(place, value, color=UNSURE if unsure else MORE if value > 0 else LESS, height=0.7)
        if known:
            axes.plot([low, high], [place, place], color=INK, linewidth=1.2, marker="|", markersize=5)
    _names(axes.yaxis, names, fontsize=8)
    axes.axvline(0.0, color=INK, linewidth=0.8)
    axes.set_xlabel("amplification")
    _title(axes, f"{_heading(entry)}: {len(pairs)} of {len(entry['pairs'])} pairs")
    return figure


def heatmap_figure(entry: Mapping[str, Any]) -> Any:
    """Every pair's amplification as a map; a dot marks an interval over 0."""
    across, down = (list(dict.fromkeys(pair[side] for pair in entry["pairs"])) for side in ("given", "outcome"))
    column, line = ({name: i for i, name in enumerate(side)} for side in (across, down))
    values = np.full((len(down), len(across)), np.nan)
    unsure = np.zeros(values.shape, dtype=bool)
    for pair in entry["pairs"]:
        place = line[pair["outcome"]], column[pair["given"]]
        values[place] = np.nan if pair["amplification"] is None else pair["amplification"]
        unsure[place] = pair["low"] is not None and pair["low"] <= 0 <= pair["high"]
    if len(across) > len(down):
        across, down, values, unsure = down, across, values.T, unsure.T
    order = np.argsort(-np.nan_to_num(np.abs(values)).max(axis=1), kind="stable")[:_LINES]
    values, unsure = values[order], unsure[order]
    largest = float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 1.0
    width = 1.8 + _inches(down) + max(0.9 * len(across), 0.7 * _inches(across))
    figure, axes = _figure(width, 1.2 + 0.5 * _inches(across) + 0.28 * len(order))
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("biasamp", [LESS, "#ffffff", MORE])
    image = axes.imshow(values, cmap=colours, vmin=-largest or -1.0, vmax=largest or 1.0, aspect="auto")
    if values.size <= _NUMBERED:
        for (i, j), value in np.ndenumerate(values):
            axes.text(j, i, "" if np.isnan(value) else f"{value:+.3f}", ha="center", va="center", fontsize=8)
    dots = np.argwhere(unsure)
    axes.plot(dots[:, 1] + 0.4, dots[:, 0] - 0.3, ".", color=INK, markersize=4)
    _names(axes.xaxis, across, fontsize=8, rotation=30, ha="right", rotation_mode="anchor")
    _names(axes.yaxis, [down[i] for i in order], fontsize=8)
    figure.colorbar(image, ax=axes, label="amplification")
    _title(axes, _heading(entry))
    return figure


def sweep_figure(sweep: Mapping[str, Any]) -> Any:
    """Amplification over thresholds with its band, the marked thresholds, and below it the rates of groups."""
    rows = [row for row in sweep["curve"] if row["amplification"] is not None]
    figure, axes = _figure(7.0, 3.6)
    axes.plot([row["threshold"] for row in rows], [row["amplification"] for row in rows], color="#005a9c")
    axes.axhline(0.0, color=INK, linewidth=0.8)
    if "band" in sweep:
        held = [[row[part] for row in sweep["band"]] for part in ("threshold", "low", "high")]
        axes.fill_between(*held, color="#005a9c", alpha=0.2, linewidth=0)
    marks = dict(sweep.get("marks", {}))
    nearest = min(rows, key=lambda row: abs(row["rate"] - sweep["base_rate"]), default=None)
    marks["base_rate"] = sweep.get("calibrated") or marks.get("base_rate") or nearest
    for name, row in marks.items():
        if row is not None and row["threshold"] is not None:
            at = row["threshold"], row["amplification"]
            axes.plot(*at, "o", color=MORE, markeredgecolor=INK)
            axes.annotate(_MARKS[name], at, xytext=(8, 8), textcoords="offset points")
    axes.set_xlabel("threshold")
    axes.set_ylabel("amplification")
    parts = (sweep.get("attribute"), sweep.get("outcome"), direction_symbol(sweep.get("direction")))
    _title(axes, ", ".join(str(part) for part in parts if part) or "thresholds")
    if "groups" in sweep:
        _group_curves(figure, sweep["groups"])
    return figure


# What the marked thresholds are called.
_MARKS = {"used": "used", "base_rate": "calibrated", "zero": "nearest to 0"}


def _group_curves(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Positive rate, TPR and FPR of each group beside the curve, of the first label."""
    first = [row for row in rows if row["outcome"] == rows[0]["outcome"]]
    names = list(dict.fromkeys(row["given"] for row in first))
    figure.set_size_inches(13.0, 3.6)
    figure.axes[0].set_subplotspec(figure.add_gridspec(1, 4, width_ratios=(2, 1, 1, 1))[0])
    for place, (figure_name, title) in enumerate((("rate", "positive rate"), ("tpr", "TPR"), ("fpr", "FPR")), start=1):
        axes = figure.add_subplot(figure.axes[0].get_gridspec()[place])
        for name in names:
            mine = [row for row in first if row["given"] == name and row[figure_name] is not None]
            at = [row["threshold"] for row in mine]
            (line,) = axes.plot(at, [row[figure_name] for row in mine], linewidth=1.2, label=printable(name, 24))
            bounds = ([row[f"{figure_name}_{end}"] for row in mine] for end in ("low", "high"))
            axes.fill_between(at, *bounds, color=line.get_color(), alpha=0.2, linewidth=0)
        _title(axes, title)
        axes.set_ylim(0.0, 1.0)
        axes.set_xlabel("threshold")
    _plain(*axes.legend(fontsize=8).get_texts())


def frontier_figure(choice: Mapping[str, Any]) -> Any:
    """What each amplification costs in accuracy, with the limit, the choice and what it does to held-out records."""
    name, rows = choice["objective"], choice["frontier"]
    figure, axes = _figure(6.4, 4.0)
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    for task in tasks:
        mine = [row for row in rows if row["task"] == task]
        points = [row["amplification"] for row in mine], [row[name] for row in mine]
        (line,) = axes.plot(*points, marker=".", markersize=3, linewidth=1.2)
        line.set_label(printable(task, 24) if len(tasks) > 1 else "best for each amplification")
    if len(set(choice["limit"])) == 1:
        limit = choice["limit"][0]
        axes.axvline(limit, color=INK, linewidth=0.8, linestyle="--", label=f"limit {limit:g}")
    validation, held = choice["validation"], choice["held_out"]
    if len(tasks) == 1:
        axes.plot(validation["amplification"], validation[name], "o", color=MORE, markeredgecolor=INK, label="chosen")
    if len(tasks) == 1 and held is not None:
        at = held["amplification"], held[name]
        if held["bound"] is not None:
            axes.plot([at[0], held["bound"]], [at[1], at[1]], color=LESS, linewidth=1.2)
        axes.plot(*at, "s", color=LESS, markeredgecolor=INK, label="held-out data, up to the 95% bound")
    axes.set_xlabel("amplification")
    axes.set_ylabel("accuracy" if name == "accuracy" else "cost of a decision")
    _plain(*axes.legend(fontsize=8).get_texts())
    _title(axes, "thresholds: " + ("each task" if len(tasks) > 1 else "amplification against " + name))
    return figure


def trajectory_figure(document: Mapping[str, Any]) -> Any:
    """Every figure along the steps: values with intervals, the line of the trend, control limits, and steps outside them."""
    shown = document["figures"][:_PANELS]
    figure, first = _figure(6.4, 2.4 * len(shown))
    first.remove()
    for place, held in enumerate(shown, start=1):
        axes = figure.add_subplot(len(shown), 1, place)
        points, trend = held["points"], held["trend"]
        at, values = ([point[key] for point in points] for key in ("at", "value"))
        limits = [point for point in points if point["control_low"] is not None]
        edges = ([point[key] for point in limits] for key in ("at", "control_low", "control_high"))
        axes.fill_between(*edges, color=UNSURE, alpha=0.25, linewidth=0, label="control limits")
        for point in points:
            axes.plot([point["at"]] * 2, [point["low"], point["high"]], color=INK, linewidth=1.0)
        axes.plot(at, values, "o-", color="#005a9c", markersize=4, linewidth=1.0, label="value")
        middle = np.mean(at), np.mean(values)
        line = [middle[1] + trend["slope"] * (x - middle[0]) for x in at]
        axes.plot(at, line, "--", color=INK, linewidth=0.8, label=f"slope {trend['slope']:+.4f}")
        left = [point for point in points if point["left"]]
        axes.plot([point["at"] for point in left], [point["value"] for point in left], "o", color=MORE, label="outside")
        axes.set_xticks(at, [printable(point["step"], 16) for point in points], fontsize=8)
        _plain(*axes.get_xticklabels())
        if limits:
            seen = [point[key] for point in points for key in ("low", "high")]
            room = 0.5 * (max(seen) - min(seen)) or 0.1
            axes.set_ylim(min(seen) - room, max(seen) + room)
        what = f"{held['metric']} of {held['label']} among {held['attribute']}" if held["label"] else _heading(held)
        _title(axes, what)
    _plain(*axes.legend(fontsize=7).get_texts())
    return figure


def ranks_figure(association: Any, metrics: Sequence[str]) -> Any:
    """Rank of every label under two metrics."""
    if len(metrics) != 2:
        raise ValueError(f"metrics holds {len(metrics)} names; ranks are compared between two")
    table = association.rank_changes(*metrics)
    figure, axes = _figure(5.2, 5.0)
    axes.plot(table["rank_a"], table["rank_b"], ".", color="#0072b2", markersize=3, alpha=0.6)
    axes.set_xlabel(f"rank by {metrics[0]}")
    axes.set_ylabel(f"rank by {metrics[1]}")
    axes.invert_yaxis()
    _title(axes, f"{len(table):,} labels toward {association.identities[0]}")
    return figure


def top_counts_figure(association: Any, k: int) -> Any:
    """How common the k top labels of each metric are: the paper's Figure 2, for every metric."""
    counts = [association.top(metric, k)["count"] for metric in association.metrics]
    figure, axes = _figure(7.0, 1.0 + 0.42 * len(counts))
    for place, values in enumerate(counts):
        if not len(values):
            continue
        # Points lie apart by their order, so that a figure is the same every time.
        spread = 0.3 * np.sin(2.399963 * np.arange(len(values)))
        axes.plot(values, place + spread, ".", color="#0072b2", markersize=3, alpha=0.5)
        axes.plot(np.median(values), place, "|", color=INK, markersize=16, markeredgewidth=2)
    axes.set_xscale("log")
    _names(axes.yaxis, association.metrics, fontsize=9)
    axes.invert_yaxis()
    axes.set_xlabel("C(y), records with the label; a bar marks the median")
    _title(axes, f"Counts of the top {k} labels toward {association.identities[0]}")
    return figure


def amplification_plot(result: Any, kind: str = "bars") -> Any:
    """``result.plot()`` of an amplification metric: ``"bars"`` or ``"heatmap"``."""
    drawn = {"bars": pairs_figure, "heatmap": heatmap_figure}
    return drawn[kind]({"metric": result.metric, "direction": result.direction, "pairs": list(result.pairs.rows())})


def decomposition_figure(result: Any) -> Any:
    """The parts of a value, and below them the value inside each stratum, as bars with their intervals."""
    parts = result.to_dict()["parts"]
    rows = [(of, held["value"], *held["interval"]) for of, held in parts.items()]
    if result.strata is not None:
        strata = sorted(result.strata.rows(), key=lambda row: -row["n"])[:_ROWS]
        rows += [(f"in {row['stratum']}", row["value"], row["low"], row["high"]) for row in strata]
    rows = [row for row in rows if row[1] is not None][::-1]
    names = [printable(str(name), 40) for name, *_ in rows]
    figure, axes = _figure(4.5 + _inches(names), 1.1 + 0.28 * len(rows))
    for place, (_, value, low, high) in enumerate(rows):
        known = low is not None and high is not None
        unsure = known and low <= 0 <= high
        axes.barh(place, value, color=UNSURE if unsure else MORE if value > 0 else LESS, height=0.7)
        if known:
            axes.plot([low, high], [place, place], color=INK, linewidth=1.2, marker="|", markersize=5)
    _names(axes.yaxis, names, fontsize=8)
    axes.axvline(0.0, color=INK, linewidth=0.8)
    axes.set_xlabel("amplification")
    _title(axes, f"parts of directional amplification, decided by {result.rule}")
    return figure


def association_plot(result: Any, kind: str = "ranks", *, metrics: Sequence[str] | None = None, k: int = 100) -> Any:
    """``result.plot()`` of associations: ``"ranks"`` of two metrics, or ``"counts"`` of the top k labels."""
    if kind == "counts":
        return top_counts_figure(result, k)
    return ranks_figure(result, list(metrics or _two_metrics(result.metrics)))


def _two_metrics(metrics: Sequence[str]) -> tuple[str, str]:
    """NPMI against DP, as far as they are there: they disagree most about common labels."""
    names = list(dict.fromkeys(name for name in ("npmi_xy", "dp", *metrics) if name in metrics))
    return names[0], names[min(1, len(names) - 1)]


def audit_figures(document: Mapping[str, Any]) -> dict[str, Any]:
    """Every figure of an audit by a name that is safe in a file system."""
    out = Figures()
    for i, entry in enumerate(document["metrics"]):
        if entry["metric"] in METRICS and METRICS[entry["metric"]].pairs_shown and entry.get("pairs"):
            name = f"{i:02d}_{_safe(_heading(entry))}"
            out[f"{name}_pairs"], out[f"{name}_heatmap"] = pairs_figure(entry), heatmap_figure(entry)
    for i, sweep in enumerate(document.get("sweep", ())):
        out[f"sweep_{i:02d}"] = sweep_figure(sweep)
    return out


def association_figures(result: Any) -> dict[str, Any]:
    """Every figure of an association result by name."""
    if not result.contrasts:
        return {}
    return {"ranks": association_plot(result, "ranks"), "top_counts": association_plot(result, "counts")}


def write_figures(figures: Mapping[str, Any], folder: str | Path) -> list[Path]:
    """Write figures as PNG files, and say which."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    written = {Path(folder) / f"{name}.png": figure for name, figure in figures.items()}
    for path, figure in written.items():
        with saving(path) as stream:
            figure.savefig(stream, format="png", dpi=_DPI)
    return list(written)


def _safe(text: str) -> str:
    """Text from a stranger as part of a file's name: letters, digits and dashes of ASCII."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text.replace("→", " to "))[:40].strip("-").lower() or "figure"
