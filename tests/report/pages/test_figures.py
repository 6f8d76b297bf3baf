"""Figures: what is drawn are the document's numbers, and labels are text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import biasamp
from biasamp.datasets import berkeley
from browser import HOSTILE
from extras import needs
from report.explorer.results import result as associations

needs("matplotlib")


@pytest.fixture(scope="module")
def audit() -> Any:
    return biasamp.audit(
        berkeley.with_predictions(),
        **berkeley.ROLES,
        metrics=["directional", "mals"],
        resamples=20,
    )


def test_bars_are_the_pairs(audit: Any) -> None:
    entry = audit.document["metrics"][0]
    figures = audit.plot()
    axes = next(figure for name, figure in figures.items() if name.endswith("pairs")).axes[0]
    widths = sorted(patch.get_width() for patch in axes.patches)
    assert widths == pytest.approx(sorted(pair["amplification"] for pair in entry["pairs"]))
    lines = sorted(tuple(line.get_xdata()) for line in axes.lines if len(set(line.get_ydata())) == 1)
    assert np.array(lines) == pytest.approx(np.array(sorted((pair["low"], pair["high"]) for pair in entry["pairs"])))


def test_heatmap_holds_every_pair() -> None:
    rng = np.random.default_rng(0)
    group, truth = rng.integers(0, 3, 300), rng.integers(0, 2, (300, 5))
    found = biasamp.directional(group, truth, rng.integers(0, 2, (300, 5)))
    image = found.plot("heatmap").axes[0].images[0].get_array()
    assert np.sort(np.asarray(image).ravel()) == pytest.approx(np.sort(found.pairs["amplification"]))
    with pytest.raises(ValueError, match="'bars', 'heatmap'"):
        found.plot("pie")


def test_sweep_marks_the_thresholds() -> None:
    found = biasamp.sweep([0.9, 0.8, 0.6, 0.5, 0.2, 0.1], list("fffmmm"), [1, 1, 0, 1, 0, 0])
    axes = found.plot().axes[0]
    marked = {note.get_text(): note.xy[0] for note in axes.texts}
    # Three of six are positive: the third score from the top makes three predictions.
    assert marked["calibrated"] == 0.6
    assert marked["used"] == 0.5
    assert marked["nearest to 0"] == found.marks["zero"]["threshold"]
    assert list(axes.lines[0].get_ydata()) == pytest.approx(found.curve["amplification"])


def test_the_frontier_holds_choice_limit_and_held_out_data() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=400)
    truth = (rng.random(400) < 0.3 + 0.4 * group).astype(int)
    scores = truth + rng.normal(size=400) + group
    halves = [(scores[part], group[part], truth[part]) for part in (slice(200), slice(200, None))]
    found = biasamp.choose_thresholds(*halves[0], limit=0.02, held_out=halves[1])
    drawn = {line.get_label(): line for line in found.plot().axes[0].lines}
    assert drawn["best for each amplification"].get_ydata().tolist() == found.frontier["accuracy"].tolist()
    assert list(drawn["limit 0.02"].get_xdata()) == [0.02, 0.02]
    assert drawn["chosen"].get_xdata()[0] == pytest.approx(found.amplification)
    assert found.held_out is not None
    assert drawn["held-out data, up to the 95% bound"].get_ydata()[0] == found.held_out.accuracy


def test_association_figures() -> None:
    held = associations(1)
    axes = held.plot("ranks", metrics=["dp", "llr"]).axes[0]
    table = held.rank_changes("dp", "llr")
    assert axes.lines[0].get_xdata().tolist() == table["rank_a"].tolist()
    assert axes.lines[0].get_ydata().tolist() == table["rank_b"].tolist()
    counts = held.plot("counts", k=10).axes[0]
    dots = [line.get_xdata() for line in counts.lines if line.get_marker() == "."]
    assert dots[0].tolist() == held.top("dp", 10)["count"].tolist()
    with pytest.raises(ValueError, match="between two"):
        held.plot(metrics=["dp"])


def test_hostile_labels_are_drawn_as_text(tmp_path: Path) -> None:
    from biasamp.report.figures import audit_figures, write_figures

    names = [*HOSTILE, "$\\frac{1}$", "../../x"]
    pairs = [
        {"given": names[0], "outcome": name, "amplification": 0.1, "low": -0.1, "high": 0.2, "support": 5}
        for name in names
    ]
    entry = {"attribute": "../../etc/<b>$x$", "metric": "directional", "direction": "A->T", "pairs": pairs}
    written = write_figures(audit_figures({"metrics": [entry]}), tmp_path / "figures")
    assert len(written) == 2
    assert all(path.parent == tmp_path / "figures" and path.stat().st_size > 1000 for path in written)


def test_commands_write_figures(tmp_path: Path) -> None:
    from biasamp.cli import group

    lines = "\n".join(f"{'mw'[i % 2]},{i % 3 == 0:d},{i % 2:d}" for i in range(90))
    (tmp_path / "data.csv").write_text("g,t,p\n" + lines + "\n")
    arguments = ["audit", str(tmp_path / "data.csv"), "--attributes", "g", "--tasks", "t", "--task-predictions", "p"]
    extra = ["--metrics", "directional", "--figures", str(tmp_path / "out"), "--html", str(tmp_path / "r.html")]
    done = CliRunner().invoke(group, [*arguments, *extra])
    assert done.exit_code == 0, done.output
    assert sorted(path.suffix for path in (tmp_path / "out").iterdir()) == [".png", ".png"]
    assert (tmp_path / "r.html").stat().st_size > 50_000
