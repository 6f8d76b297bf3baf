"""Figures as matplotlib draws them: pairs, heatmap, sweep, rank comparison and counts of top labels.

Every function returns a ``matplotlib.figure.Figure`` that belongs to nobody else: no window opens and no global
state changes. Labels are text: a dollar sign in one is no mathematics.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from biasamp.data import printable
from biasamp.results.metric_registry import METRICS, direction_symbol

from .written import LESS, MORE, UNSURE, largest_pairs

INK = "#1a1d21"
_ROWS = 30
_LABEL = 64
_DPI = 150
# Maps of more cells than this carry no numbers.
_NUMBERED = 60


def _figure(width: float, height: float) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("figures need the extra 'plot': pip install 'biasamp[plot]'") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


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


def pairs_figure(entry: Mapping[str, Any], *, rows: int = _ROWS) -> Any:
    """The pairs that change most, as bars with their intervals.

    Parameters
    ----------
    entry : mapping
        One metric of an audit's document, or ``result.to_dict()``.
    rows : int
        How many pairs.
    """
    pairs = [pair for pair in entry["pairs"] if pair["amplification"] is not None]
    pairs = largest_pairs(pairs, rows)[::-1]
    names = [f"{printable(pair['given'], 30)} → {printable(pair['outcome'], 30)}" for pair in pairs]
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


def heatmap_figure(entry: Mapping[str, Any], *, rows: int = 60) -> Any:
    """Every pair's amplification as a map; a dot marks an interval over 0."""
    given = list(dict.fromkeys(pair["given"] for pair in entry["pairs"]))
    outcome = list(dict.fromkeys(pair["outcome"] for pair in entry["pairs"]))
    across, down, swap = (given, outcome, False) if len(given) <= len(outcome) else (outcome, given, True)
    values = np.full((len(down), len(across)), np.nan)
    unsure = np.zeros(values.shape, dtype=bool)
    column, line = ({name: i for i, name in enumerate(side)} for side in (across, down))
    for pair in entry["pairs"]:
        at = (pair["given"], pair["outcome"]) if swap else (pair["outcome"], pair["given"])
        place = line[at[0]], column[at[1]]
        values[place] = np.nan if pair["amplification"] is None else pair["amplification"]
        unsure[place] = pair["low"] is not None and pair["low"] <= 0 <= pair["high"]
    order = np.argsort(-np.nan_to_num(np.abs(values)).max(axis=1), kind="stable")[:rows]
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
    """Amplification over thresholds, with the calibrated point marked."""
    rows = [row for row in sweep["curve"] if row["amplification"] is not None]
    figure, axes = _figure(7.0, 3.6)
    axes.plot([row["threshold"] for row in rows], [row["amplification"] for row in rows], color="#005a9c")
    axes.axhline(0.0, color=INK, linewidth=0.8)
    marked = sweep.get("calibrated") or min(rows, key=lambda row: abs(row["rate"] - sweep["base_rate"]), default=None)
    if marked is not None and marked["threshold"] is not None:
        at = marked["threshold"], marked["amplification"]
        axes.plot(*at, "o", color=MORE, markeredgecolor=INK)
        axes.annotate("calibrated", at, xytext=(8, 8), textcoords="offset points")
    axes.set_xlabel("threshold")
    axes.set_ylabel("amplification")
    parts = (sweep.get("attribute"), sweep.get("outcome"), direction_symbol(sweep.get("direction")))
    _title(axes, ", ".join(str(part) for part in parts if part) or "thresholds")
    return figure


def ranks_figure(association: Any, metric_a: str, metric_b: str, *, toward: str | None = None) -> Any:
    """Rank of every label under two metrics."""
    table = association.rank_changes(metric_a, metric_b, toward=toward)
    figure, axes = _figure(5.2, 5.0)
    axes.plot(table["rank_a"], table["rank_b"], ".", color="#0072b2", markersize=3, alpha=0.6)
    axes.set_xlabel(f"rank by {metric_a}")
    axes.set_ylabel(f"rank by {metric_b}")
    axes.invert_yaxis()
    _title(axes, f"{len(table):,} labels toward {toward or association.identities[0]}")
    return figure


def top_counts_figure(association: Any, *, k: int = 100, toward: str | None = None) -> Any:
    """How common the k top labels of each metric are: the paper's Figure 2, for every metric."""
    counts = [association.top(metric, k, toward=toward)["count"] for metric in association.metrics]
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
    _title(axes, f"Counts of the top {k} labels toward {toward or association.identities[0]}")
    return figure


def amplification_plot(result: Any, kind: str = "bars") -> Any:
    """``result.plot()`` of an amplification metric: ``"bars"`` or ``"heatmap"``."""
    drawn = {"bars": pairs_figure, "heatmap": heatmap_figure}
    if kind not in drawn:
        raise ValueError(f"kind is {kind!r}; take 'bars' or 'heatmap'")
    pairs = list(result.pairs.rows())
    return drawn[kind]({"metric": result.metric, "direction": result.direction, "pairs": pairs})


def association_plot(result: Any, kind: str = "ranks", *, metrics: Sequence[str] | None = None, k: int = 100) -> Any:
    """``result.plot()`` of associations: ``"ranks"`` of two metrics, or ``"counts"`` of the top k labels."""
    if kind == "counts":
        return top_counts_figure(result, k=k)
    if kind != "ranks":
        raise ValueError(f"kind is {kind!r}; take 'ranks' or 'counts'")
    chosen = list(metrics or _two_metrics(result.metrics))
    if len(chosen) != 2:
        raise ValueError(f"metrics holds {len(chosen)} names; ranks are compared between two")
    return ranks_figure(result, chosen[0], chosen[1])


def _two_metrics(metrics: Sequence[str]) -> tuple[str, str]:
    """NPMI against DP, as far as they are there: they disagree most about common labels."""
    wanted = [name for name in ("npmi_xy", "dp", *metrics) if name in metrics]
    names = list(dict.fromkeys(wanted))
    return names[0], names[min(1, len(names) - 1)]


def audit_figures(document: Mapping[str, Any]) -> dict[str, Any]:
    """Every figure of an audit by a name that is safe in a file system."""
    out: dict[str, Any] = {}
    for i, entry in enumerate(document["metrics"]):
        if entry["metric"] in METRICS and METRICS[entry["metric"]].pairs_shown and entry.get("pairs"):
            out[f"{i:02d}_{_safe(_heading(entry))}_pairs"] = pairs_figure(entry)
            out[f"{i:02d}_{_safe(_heading(entry))}_heatmap"] = heatmap_figure(entry)
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
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for name, figure in figures.items():
        path = target / f"{name}.png"
        figure.savefig(path, dpi=_DPI)
        written.append(path)
    return written


def _safe(text: str) -> str:
    """Text from a stranger as part of a file's name: letters, digits and dashes of ASCII."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text.replace("→", " to "))[:40].strip("-").lower() or "figure"
