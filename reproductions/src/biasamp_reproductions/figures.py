"""Charts and heatmaps drawn by matplotlib, as pictures inside a page: nothing is fetched, and text is only text."""

from __future__ import annotations

import base64
import io
import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .chart import Chart, Heatmap
from .internals import printable
from .markup import Html, fill

# Distinct without colour vision too, with the dashes below (Okabe and Ito's palette).
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#1a1a1a")
# Lengths in widths of the line.
_DASHES = ((), (3, 1.5), (1, 1.5), (4, 1.5, 1, 1.5), (2, 1), (5, 2))
# In inches: narrow enough to be read on a telephone; a row of the legend comes on top of the height.
_WIDTH, _HEIGHT, _ROW = 5.6, 3.3, 0.2
_AIR = 0.03
_FEW_CELLS = 8
# Names longer than this, in letters, stand one under the other.
_SHORT, _MIDDLING = 20, 36
# Below 0, at 0, above 0, and undefined.
_COLD, _NONE, _WARM, _UNDEFINED = "#2166ac", "#f7f7f7", "#b2182b", "#969696"
# The same picture on every run; a dollar is a dollar, not the beginning of a formula; text is left to the reader's fonts.
_STYLE = {
    "svg.hashsalt": "biasamp",
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def figure(chart: Chart | Heatmap) -> Html:
    """A chart as an HTML figure, its title above; empty where there is no point to draw."""
    title = printable(chart.title, 200)
    try:
        picture = svg(chart)
    except ImportError:
        return fill(
            "<figure><figcaption>$title</figcaption><p>Not drawn: matplotlib is not installed "
            "(pip install 'biasamp[plot]').</p></figure>",
            title=title,
        )
    if not picture:
        return Html()
    return fill(
        '<figure><figcaption>$title</figcaption><img alt="$shows" src="data:image/svg+xml;base64,$data"></figure>',
        title=title,
        shows=_shows(chart),
        data=Html(base64.b64encode(picture).decode()),
    )


def _shows(chart: Chart | Heatmap) -> str:
    """What the picture shows, for readers who do not see it."""
    lines = ": " + ", ".join(printable(name, 80) for name in chart.lines) if isinstance(chart, Chart) else ""
    return f"{printable(chart.y, 80)} by {printable(chart.x, 80)}{lines}"


def svg(chart: Chart | Heatmap) -> bytes:
    """The picture alone, an SVG file; empty where there is no point to draw."""
    import matplotlib as mpl

    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # Letters that matplotlib's own font lacks are found in the reader's fonts.
        warnings.simplefilter("ignore", UserWarning)
        drawn = draw(chart)
        if drawn is None:
            return b""
        out = io.BytesIO()
        drawn.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


def draw(chart: Chart | Heatmap) -> Any:
    """The matplotlib figure, or None where there is no point to draw."""
    return _lines(chart) if isinstance(chart, Chart) else _heatmap(chart)


def _axes(chart: Chart | Heatmap, height: float = _HEIGHT) -> tuple[Any, Any]:
    """A figure with its one plot, whose axes have names and a few round numbers."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    drawn = Figure(figsize=(_WIDTH, height), layout="constrained")
    axes = drawn.add_subplot()
    axes.set_xlabel(printable(chart.x, 80))
    axes.set_ylabel(printable(chart.y, 50))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
        axis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:.4g}"))
    return drawn, axes


def _finite(point: Sequence[float]) -> bool:
    return all(map(math.isfinite, point))


def _span(values: Sequence[float], air: float = 0.0) -> tuple[float, float]:
    """The least and the largest with a little air, so that nothing lies on the edge."""
    low, high = min(values), max(values)
    reach = air * (high - low) if high > low else 0.5
    return low - reach, high + reach


def _lines(chart: Chart) -> Any:
    points = [point for line in chart.lines.values() for point in line if _finite(point)]
    if not points:
        return None
    columns = _columns(chart.lines)
    drawn, axes = _axes(chart, _HEIGHT + _ROW * math.ceil(len(chart.lines) / columns))
    ends = [end for pairs in chart.intervals.values() for pair in pairs if _finite(pair) for end in pair]
    low, high = _span([y for _, y in points] + ends, _AIR)
    axes.set_ylim(low, high)
    if chart.ticks:
        # Half a place on either side of names, so that none is cut off.
        axes.set_xlim(-0.5, len(chart.ticks) - 0.5)
        axes.set_xticks(range(len(chart.ticks)), [printable(name, 18) for name in chart.ticks])
    else:
        axes.set_xlim(*_span([x for x, _ in points]))
    if low < 0 < high:
        axes.axhline(0.0, color="0.5", linewidth=0.8, linestyle=":")
    held = [_line(drawn, axes, chart, i, name) for i, name in enumerate(chart.lines)]
    # Names are put in afterwards: matplotlib takes one that begins with an underscore for a line not to be named.
    legend = drawn.legend(held, ["x"] * len(held), loc="outside lower left", ncols=columns, frameon=False)
    for text, name in zip(legend.get_texts(), chart.lines, strict=True):
        text.set_text(printable(name, 80))
    return drawn


def _columns(names: Any) -> int:
    """In how many columns names stand in a legend."""
    longest = max(map(len, names))
    return 3 if longest <= _SHORT else 2 if longest <= _MIDDLING else 1


def _line(drawn: Any, axes: Any, chart: Chart, i: int, name: str) -> Any:
    """One line, its points where they are few or not joined, and its intervals."""
    from matplotlib.transforms import ScaledTranslation

    colour, dashes = _COLOURS[i % len(_COLOURS)], _DASHES[i % len(_DASHES)]
    held = [point for point in chart.lines[name] if _finite(point)]
    (line,) = axes.plot(
        [x for x, _ in held],
        [y for _, y in held],
        color=colour,
        linewidth=1.5,
        linestyle=((0, dashes) if dashes else "-") if chart.joined else "none",
        marker="o" if len(held) == 1 or chart.ticks or not chart.joined else None,
        markersize=4.5,
    )
    bars = [
        (x, low, high)
        for (x, _), (low, high) in zip(chart.lines[name], chart.intervals.get(name, ()), strict=False)
        if _finite((x, low, high))
    ]
    if bars:
        # Beside one another, so that intervals of two lines at one place can both be seen; in points.
        aside = 2.5 * (i - (len(chart.lines) - 1) / 2)
        moved = axes.transData + ScaledTranslation(aside / 72, 0, drawn.dpi_scale_trans)
        axes.vlines(*zip(*bars, strict=True), color=colour, linewidth=1.0, alpha=0.7, transform=moved)
    return line


def _heatmap(chart: Heatmap) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    known = [abs(value) for row in chart.values for value in row if math.isfinite(value)]
    if not known:
        return None
    most = max(known) or 1.0
    colours = LinearSegmentedColormap.from_list("below and above 0", [_COLD, _NONE, _WARM], N=511)
    drawn, axes = _axes(chart)
    # The least y is at the bottom; cells are as wide as one another, and their numbers at their middles.
    image = axes.imshow(
        np.ma.masked_invalid(np.array(chart.values, dtype=np.float64)),
        cmap=colours.with_extremes(bad=_UNDEFINED),
        vmin=-most,
        vmax=most,
        origin="lower",
        aspect="auto",
        interpolation="nearest",
    )
    for axis, values in ((axes.xaxis, chart.xs), (axes.yaxis, chart.ys)):
        places, numbers = _of_cells(axis, values)
        axis.set_ticks(places, [f"{number:.4g}" for number in numbers])
    drawn.colorbar(image, ax=axes, ticks=[-most, 0.0, most], format="%.2g")
    return drawn


def _of_cells(axis: Any, values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Where the numbers of cells stand, and which: of few every one, of many round ones."""
    last, low, high = len(values) - 1, values[0], values[-1]
    if last < _FEW_CELLS:
        return [float(place) for place in range(last + 1)], list(values)
    numbers = [float(number) for number in axis.get_major_locator().tick_values(low, high) if low <= number <= high]
    return [(number - low) / (high - low) * last for number in numbers], numbers
