"""Charts and heatmaps: where points, numbers, colours and words are in the drawing."""

from __future__ import annotations

import base64
import builtins
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from biasamp_reproductions.chart import Chart, Heatmap
from biasamp_reproductions.figures import draw, figure, svg
from extras import needs

NASTY = "<script>alert(1)</script> $x^2$ & _"


@pytest.fixture(autouse=True)
def _drawn() -> None:
    needs("matplotlib")


def texts(chart: Chart | Heatmap) -> list[str]:
    """The words of a picture."""
    return [
        "".join(node.itertext()) for node in ElementTree.fromstring(svg(chart)).iter() if node.tag.endswith("}text")
    ]


def plot(chart: Chart | Heatmap) -> Any:
    """The plot of a chart, laid out."""
    drawn = draw(chart)
    drawn.draw_without_rendering()
    return drawn.axes[0]


class TestCharts:
    def test_points_are_where_they_are(self) -> None:
        axes = plot(Chart("t", "x", "y", {"a": [(0.0, 1.0), (1.0, -1.0)]}))
        line = axes.lines[-1]
        assert line.get_xydata().tolist() == [[0, 1], [1, -1]]
        (left, low), (right, high) = axes.transData.transform([(0.0, -1.0), (1.0, 1.0)])
        assert left < right
        assert low < high
        # 0 lies between the two, and is drawn as a line across.
        assert [list(held.get_ydata()) for held in axes.lines[:-1]] == [[0, 0]]

    def test_intervals_and_named_places_are_drawn(self) -> None:
        chart = Chart("t", "x", "y", {"a": [(0, 1.0), (1, 2.0)]}, {"a": [(0.5, 1.5), (1.0, 4.0)]}, ("first", "second"))
        assert {"first", "second", "x", "y", "a"} <= set(texts(chart))
        axes = plot(chart)
        (bars,) = axes.collections
        assert [part.tolist() for part in bars.get_segments()] == [[[0, 0.5], [0, 1.5]], [[1, 1.0], [1, 4.0]]]
        # The highest number of the axis is the end of an interval, not a point.
        assert axes.get_ylim()[1] > 4
        assert axes.get_xlim() == (-0.5, 1.5)

    def test_points_without_an_order_are_not_joined(self) -> None:
        chart = Chart("t", "x", "y", {"a": [(0, 1.0), (1, 2.0)]}, ticks=("b", "c"), joined=False)
        (line,) = plot(chart).lines
        assert (line.get_linestyle(), line.get_marker()) == ("None", "o")

    def test_undefined_points_are_left_out(self) -> None:
        chart = Chart("t", "x", "y", {"a": [(0, 1.0), (1, float("nan")), (2, 3.0)]})
        assert plot(chart).lines[0].get_xydata().tolist() == [[0, 1], [2, 3]]

    def test_nothing_to_draw(self) -> None:
        assert figure(Chart("t", "x", "y", {"a": [(float("nan"), 1.0)]})) == ""
        assert figure(Heatmap("t", "x", "y", (0,), (0,), ((float("nan"),),))) == ""

    @pytest.mark.parametrize("points", [[(1.0, 2.0)], [(0.0, 2.0), (1.0, 2.0)]])
    def test_a_point_or_a_level_line(self, points: list[tuple[float, float]]) -> None:
        low, high = plot(Chart("t", "x", "y", {"a": points})).get_ylim()
        assert low < 2 < high


class TestHeatmaps:
    def test_a_colour_a_cell(self) -> None:
        axes = plot(Heatmap("t", "x", "y", (0, 1), (0, 1), ((-1.0, 0.0), (0.5, float("nan")))))
        (image,) = axes.images
        assert not axes.yaxis_inverted()
        shown = image.cmap(image.norm(image.get_array()))[..., :3] * 255
        # Blue below 0, white at it, half way to red, and grey where there is none.
        expected = [[(33, 102, 172), (247, 247, 247)], [(212, 136, 145), (150, 150, 150)]]
        assert np.abs(shown - np.array(expected)).max() < 2

    def test_numbers_stand_at_the_middle_of_cells(self) -> None:
        def places(xs: tuple[float, ...]) -> dict[str, float]:
            axes = plot(Heatmap("t", "x", "y", xs, (0.0,), ([1.0] * len(xs),)))
            low, high = axes.get_xlim()
            held = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
            return {label.get_text(): (place - low) / (high - low) for place, label in held}

        two = places((1.8, 4.0))
        assert (two["1.8"], two["4"]) == pytest.approx((0.25, 0.75))
        # Of eleven cells from 0 to 1, the number .4 is in the middle of the fifth.
        assert places(tuple(k / 10 for k in range(11)))["0.4"] == pytest.approx(4.5 / 11)


class TestPictures:
    chart = Chart(NASTY, NASTY, "y", {NASTY: [(0.0, 1.0), (1.0, 2.0)], "_hidden": [(0.0, 1.0)]}, ticks=(NASTY, "b"))

    def test_text_from_strangers_is_text(self) -> None:
        written = figure(self.chart)
        assert "<script" not in written
        assert "&lt;script&gt;" in written
        # A dollar begins no formula, and no name is kept out of the legend.
        assert {NASTY, "_hidden"} <= set(texts(self.chart))
        (data,) = re.findall(r"base64,([^\"]+)", written)
        assert b"<script" not in base64.b64decode(data)

    def test_the_same_on_every_run(self) -> None:
        heat = Heatmap("t", "x", "y", (0, 1), (0, 1), ((-1.0, 0.0), (0.5, 2.0)))
        assert svg(self.chart) == svg(self.chart)
        assert svg(heat) == svg(heat)

    def test_letters_of_any_script(self) -> None:
        assert "食べ物" in texts(Chart("t", "食べ物", "y", {"a": [(0.0, 1.0)]}))

    def test_readers_who_do_not_see_it(self) -> None:
        assert 'alt="height by age: men, women"' in figure(
            Chart("t", "age", "height", {"men": [(0.0, 1.0)], "women": [(0.0, 2.0)]})
        )

    def test_without_matplotlib_the_page_says_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        found = builtins.__import__

        def gone(name: str, *rest: Any) -> Any:
            if name.partition(".")[0] == "matplotlib":
                raise ImportError(name)
            return found(name, *rest)

        monkeypatch.setattr(builtins, "__import__", gone)
        written = figure(self.chart)
        assert "<img" not in written
        assert "matplotlib is not installed" in written
