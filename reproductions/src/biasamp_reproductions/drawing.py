"""Charts and heatmaps as inline SVG: no script, nothing fetched, colours of the page around them."""

from __future__ import annotations

import base64
import html
import math
import struct
import zlib
from collections.abc import Sequence

from biasamp.labels import printable

from .chart import Chart, Heatmap

# Distinct without colour vision too, with the dashes below (Okabe and Ito's palette; the page's ink for black).
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "currentColor")
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 2", "10 4")
# Wide enough for six numbers, narrow enough to be read on a telephone.
_WIDTH, _HEIGHT = 560, 330
_AIR = 0.03
_FEW_CELLS = 8
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 16, 14, 48
# Below 0, at 0, above 0.
_COLD, _NONE, _WARM = (33, 102, 172), (247, 247, 247), (178, 24, 43)
_UNDEFINED = (150, 150, 150)


def figure(chart: Chart | Heatmap) -> str:
    """A chart as an HTML figure: its title, the drawing, and what each line is."""
    drawn = svg(chart)
    if not drawn:
        return ""
    legend = _legend(chart) if isinstance(chart, Chart) else ""
    return f"<figure><figcaption>{_text(chart.title, 200)}</figcaption>{drawn}{legend}</figure>"


def svg(chart: Chart | Heatmap) -> str:
    """The drawing alone; empty where there is no point to draw."""
    return _lines(chart) if isinstance(chart, Chart) else _heatmap(chart)


def _text(text: str, width: int) -> str:
    return html.escape(printable(text, width))


def _stroke(i: int) -> str:
    dash = _DASHES[i % len(_DASHES)]
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'fill="none" stroke="{_COLOURS[i % len(_COLOURS)]}" stroke-width="2"{dashed}'


def _legend(chart: Chart) -> str:
    def sample(i: int) -> str:
        if chart.joined:
            return f'<path d="M0 5H28" {_stroke(i)}/>'
        return f'<circle cx="14" cy="5" r="4" fill="{_COLOURS[i % len(_COLOURS)]}"/>'

    items = "".join(
        f'<li><svg viewBox="0 0 28 10" width="28" height="10" aria-hidden="true">{sample(i)}</svg> {_text(name, 80)}</li>'
        for i, name in enumerate(chart.lines)
    )
    return f'<ul class="legend">{items}</ul>'


class _Frame:
    """Where a value lies in the drawing."""

    def __init__(self, xs: Sequence[float], ys: Sequence[float]) -> None:
        self.low_x, self.high_x, self.low_y, self.high_y = min(xs), max(xs), min(ys), max(ys)
        self.right, self.bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM

    def x(self, value: float) -> float:
        share = (value - self.low_x) / ((self.high_x - self.low_x) or 1.0)
        return _LEFT + share * (self.right - _LEFT)

    def y(self, value: float) -> float:
        share = (value - self.low_y) / ((self.high_y - self.low_y) or 1.0)
        return self.bottom - share * (self.bottom - _TOP)


def round_places(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers between two ends, at most so many: steps of 1, 2 or 5 times a power of ten.

    >>> round_places(-0.536, 1.0)
    [-0.5, 0.0, 0.5, 1.0]
    >>> round_places(3.0, 3.0)
    [3.0]
    """
    if high <= low:
        return [low]
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(power * size for size in (1, 2, 5, 10, 20) if (high - low) / (power * size) < most - 0.5)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    # Rounded to the step's own digits, so that 0.30000000000000004 is 0.3.
    digits = max(0, 1 - math.floor(math.log10(step)))
    return [round(k * step, digits) + 0.0 for k in range(first, last + 1)]


Places = list[tuple[float, str]]


def _numbers(low: float, high: float) -> Places:
    return [(place, f"{place:.4g}") for place in round_places(low, high)]


def _axes(frame: _Frame, chart: Chart | Heatmap, across: Places, up: Places) -> list[str]:
    out = [f'<path d="M{_LEFT} {_TOP}V{frame.bottom}H{frame.right}" fill="none" stroke="currentColor"/>']
    for place, words in across:
        x = frame.x(place)
        out.append(
            f'<text x="{x:.1f}" y="{frame.bottom + 18}" text-anchor="middle">{words}</text>'
            f'<path d="M{x:.1f} {frame.bottom}v4" stroke="currentColor"/>'
        )
    for place, words in up:
        y = frame.y(place)
        out.append(
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{words}</text>'
            f'<path d="M{_LEFT - 4} {y:.1f}H{_LEFT}" stroke="currentColor"/>'
        )
    middle = (_TOP + frame.bottom) / 2
    out.append(
        f'<text x="{(_LEFT + frame.right) / 2:.0f}" y="{_HEIGHT - 8}" text-anchor="middle">{_text(chart.x, 80)}</text>'
        f'<text x="14" y="{middle:.0f}" text-anchor="middle" transform="rotate(-90 14 {middle:.0f})">'
        f"{_text(chart.y, 50)}</text>"
    )
    return out


def _open(title: str, height: int = _HEIGHT) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" font-size="13" font-family="sans-serif" fill="currentColor">'
        f"<title>{_text(title, 200)}</title>"
    )


def _finite(point: Sequence[float]) -> bool:
    return all(map(math.isfinite, point))


def _lines(chart: Chart) -> str:
    points = [point for line in chart.lines.values() for point in line if _finite(point)]
    if not points:
        return ""
    ends = [end for pairs in chart.intervals.values() for pair in pairs if _finite(pair) for end in pair]
    # Half a place on either side of names, so that none is cut off.
    xs = [-0.5, len(chart.ticks) - 0.5] if chart.ticks else [x for x, _ in points]
    ys = [y for _, y in points] + ends
    # A little air, so that nothing lies on the edge.
    air = _AIR * (max(ys) - min(ys))
    frame = _Frame(xs, [min(ys) - air, max(ys) + air])
    named = [(float(place), _text(name, 18)) for place, name in enumerate(chart.ticks)]
    across = named or _numbers(frame.low_x, frame.high_x)
    out = [_open(chart.title), *_axes(frame, chart, across, _numbers(frame.low_y, frame.high_y))]
    if frame.low_y < 0 < frame.high_y:
        out.append(
            f'<path d="M{_LEFT} {frame.y(0.0):.1f}H{frame.right}" stroke="currentColor" stroke-opacity=".45" '
            'stroke-dasharray="2 4"/>'
        )
    for i, (name, line) in enumerate(chart.lines.items()):
        held = [(frame.x(x), frame.y(y)) for x, y in line if _finite((x, y))]
        if chart.joined:
            out.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in held)}" {_stroke(i)}/>')
        colour = _COLOURS[i % len(_COLOURS)]
        if len(held) == 1 or chart.ticks or not chart.joined:
            out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in held]
        for (x, _), (low, high) in zip(line, chart.intervals.get(name, ()), strict=False):
            if _finite((x, low, high)):
                # Beside one another, so that intervals of two lines at one place can both be seen.
                at = frame.x(x) + 3.0 * (i - (len(chart.lines) - 1) / 2)
                out.append(
                    f'<path d="M{at:.1f} {frame.y(low):.1f}V{frame.y(high):.1f}" stroke="{colour}" stroke-opacity=".7"/>'
                )
    return "".join(out) + "</svg>"


def _colour(value: float, most: float) -> tuple[int, int, int]:
    if not math.isfinite(value):
        return _UNDEFINED
    end, share = (_WARM, value / most) if value > 0 else (_COLD, -value / most)
    red, green, blue = (round(a + (b - a) * min(share, 1.0)) for a, b in zip(_NONE, end, strict=True))
    return red, green, blue


def png(pixels: Sequence[Sequence[tuple[int, int, int]]]) -> bytes:
    """Rows of colours as a PNG file, so that a grid of thousands of cells stays small."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    # 8 bits a channel, red, green and blue; each row begins with its filter, 0 for none.
    head = struct.pack(">IIBBBBB", len(pixels[0]), len(pixels), 8, 2, 0, 0, 0)
    body = b"".join(b"\0" + bytes(channel for pixel in row for channel in pixel) for row in pixels)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(body, 9)) + chunk(b"IEND", b"")


def _image(pixels: Sequence[Sequence[tuple[int, int, int]]], place: str) -> str:
    data = base64.b64encode(png(pixels)).decode()
    return (
        f'<image {place} preserveAspectRatio="none" image-rendering="pixelated" href="data:image/png;base64,{data}"/>'
    )


def _of_cells(values: Sequence[float]) -> Places:
    """Where the numbers of cells stand: of few every one, of many round ones."""
    last = len(values) - 1
    if last < _FEW_CELLS:
        return [(float(place), f"{value:.4g}") for place, value in enumerate(values)]
    low, high = values[0], values[-1]
    return [((place - low) / (high - low) * last, words) for place, words in _numbers(low, high)]


def _heatmap(chart: Heatmap) -> str:
    known = [abs(value) for row in chart.values for value in row if math.isfinite(value)]
    if not known:
        return ""
    most = max(known) or 1.0
    # The first row of a picture is at its top, the least y at the bottom.
    pixels = [[_colour(value, most) for value in row] for row in reversed(chart.values)]
    # A cell is as wide as another and its number is at its middle.
    frame = _Frame([-0.5, len(chart.xs) - 0.5], [-0.5, len(chart.ys) - 0.5])
    frame.right -= 70
    inside = f'x="{_LEFT}" y="{_TOP}" width="{frame.right - _LEFT}" height="{frame.bottom - _TOP}"'
    out = [_open(chart.title), _image(pixels, inside), *_axes(frame, chart, _of_cells(chart.xs), _of_cells(chart.ys))]
    scale = [[_colour(most * share / 50, most)] for share in range(50, -51, -1)]
    height = frame.bottom - _TOP
    out.append(_image(scale, f'x="{frame.right + 16}" y="{_TOP}" width="14" height="{height}"'))
    for share, value in ((0.0, most), (0.5, 0.0), (1.0, -most)):
        out.append(f'<text x="{frame.right + 36}" y="{_TOP + 4 + share * height:.0f}">{value:.2g}</text>')
    return "".join(out) + "</svg>"
