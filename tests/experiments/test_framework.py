"""What every experiment promises: what it ran on, published beside ours, and a page that is safe to open."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from biasamp.cli import main
from biasamp.cli.reproduce import command
from biasamp.experiments import Setting, experiments
from biasamp.experiments.experiment import (
    PRINTED,
    STAND_IN,
    Chart,
    Experiment,
    Outcome,
    Reason,
    claimed,
    measured,
    printed,
)
from biasamp.experiments.page import markdown, page, svg, words
from biasamp.experiments.running import Done, run_all

NASTY = "<script>alert(1)</script>|x\n# y"


@pytest.fixture
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BIASAMP_DATA", raising=False)


def outcome(*rows: Any, kind: str = PRINTED) -> Outcome:
    return Outcome(kind, "a test", rows, (Chart(NASTY, NASTY, "y", {NASTY: [(0.0, 1.0), (1.0, -1.0)]}),), (NASTY,))


def done(result: Outcome) -> Done:
    return Done(Experiment("made-up", NASTY, NASTY, lambda setting: result), result, "", 0.1)


class TestAgreement:
    @pytest.mark.parametrize(
        "published, ours, agrees",
        [
            ("0.2", 0.2499, True),
            ("0.2", 0.2501, False),
            ("-.0317", -0.03174, True),
            ("1229", 1228.4, False),
            ("0", 0.4, True),
        ],
    )
    def test_to_the_digits_printed(self, published: str, ours: float, agrees: bool) -> None:
        assert printed("x", published, ours).agrees is agrees

    def test_a_reason_reaches_the_figure_or_only_moves_ours(self) -> None:
        assert printed("x", "0.063", -0.011, reason=Reason("equalized", 0.0632)).reached
        assert not printed("x", "0.063", -0.011, reason=Reason("equalized", 0.044)).reached
        assert printed("x", "0.063", -0.011, spread="0.02", reason=Reason("equalized", 0.044)).reached

    def test_a_figure_that_agrees_needs_no_reason(self) -> None:
        assert printed("x", "0.1", 0.1, reason=Reason("none", 1.0)).reason is None

    def test_counts_of_an_outcome(self) -> None:
        result = outcome(
            printed("a", "0.1", 0.1),
            claimed("b", "positive", "0.2", True),
            printed("c", "0.1", 0.9, reason=Reason("r", 0.1)),
            printed("d", "0.1", 0.9, reason=Reason("r", 0.5)),
            printed("e", "0.1", 0.9),
            measured("f", 1.0),
        )
        assert (result.agreed, result.reached, result.moved, result.unexplained) == (2, 1, 1, 1)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.append(tag)
        assert not [name for name, value in attrs if name.startswith("on") or "http:" in (value or "")]


class TestPages:
    def test_text_from_strangers_is_text(self) -> None:
        items = [done(outcome(printed(NASTY, "0.1", 0.2), claimed(NASTY, NASTY, NASTY, False)))]
        tags = Tags()
        written = page(items)
        tags.feed(written)
        assert "script" not in tags.found
        assert "&lt;script&gt;" in written
        told = markdown(items)
        assert "<script>" not in told
        rows = [line for line in told.splitlines() if line.startswith("| ")]
        assert len(rows) == 3
        assert all(line.replace("\\|", "").count("|") == 7 for line in rows)

    def test_charts_are_well_formed(self) -> None:
        from xml.etree import ElementTree

        drawn = ElementTree.fromstring(svg(outcome().charts[0]))
        (line,) = drawn.findall("polyline")
        points = [tuple(map(float, pair.split(","))) for pair in line.attrib["points"].split()]
        # From (0, 1) to (1, -1): to the right, and down.
        assert points[0][0] < points[1][0]
        assert points[0][1] < points[1][1]

    def test_what_lies_near_is_said(self) -> None:
        row = printed("x", "0.100", 0.11, interval=(0.09, 0.13), spread="0.02")
        assert words(row) == "ours lies within the paper's ±; our interval holds the published figure; no reason found"
        assert words(printed("x", "0.100", 0.11)) == "no reason found"

    def test_first_line_says_what_it_ran_on(self) -> None:
        assert markdown([done(outcome(kind=STAND_IN))]).startswith("Stand-in: a test\n")


class TestExperiments:
    def test_names_and_files_are_told(self) -> None:
        for name, experiment in experiments().items():
            assert experiment.name == name
            assert experiment.title
            assert experiment.place
            assert not experiment.files or experiment.without or experiment.blocked(Setting())

    def test_a_missing_file_or_extra_blocks(self) -> None:
        needy = Experiment("needy", "t", "p", lambda setting: outcome(), files=("not_there.csv",))
        (item,) = run_all([needy], Setting())
        assert item.outcome is None
        assert "not_there.csv" in item.blocked
        assert "BIASAMP_DATA" in item.blocked
        extra = Experiment("extra", "t", "p", lambda setting: outcome(), extras={"no_such_module": "torch"})
        assert "pip install 'biasamp[torch]'" in extra.blocked(Setting())
        kept = Experiment("kept", "t", "p", lambda setting: outcome(), files=("not_there.csv",), without="a stand-in")
        assert kept.blocked(Setting()) == ""
        assert kept.lacking(Setting()) == ["not_there.csv"]


@pytest.mark.usefixtures("no_data")
class TestCommand:
    def test_the_shell_sees_the_exit_code(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        made = {"off": Experiment("off", "t", "p", lambda setting: outcome(printed("x", "0.1", 0.5)))}
        monkeypatch.setattr("biasamp.cli.reproduce.experiments", lambda: made)
        monkeypatch.setattr("sys.argv", ["biasamp", "reproduce", "off", "--folder", str(tmp_path)])
        with pytest.raises(SystemExit) as stop:
            main()
        assert stop.value.code == 1

    def test_list(self) -> None:
        done = CliRunner().invoke(command, ["--json", "-"])
        rows = json.loads(done.output)["experiments"]
        assert [row["name"] for row in rows] == list(experiments())
        assert next(row for row in rows if row["name"] == "dpa-compas")["lacking"] == ["compas_two_years.csv"]
        shown = CliRunner().invoke(command, [])
        assert shown.exit_code == 0
        assert "BIASAMP_DATA is not set" in shown.output

    def test_one(self, tmp_path: Path) -> None:
        target = tmp_path / "figures.json"
        ran = CliRunner().invoke(command, ["worked-examples", "--folder", str(tmp_path / "out"), "--json", str(target)])
        assert ran.exit_code == 0, ran.output
        assert ran.output.startswith(PRINTED)
        document = json.loads(target.read_text(encoding="utf-8"))
        (item,) = document["experiments"]
        assert document["schema"] == 1
        assert item["outcome"]["unexplained"] == 0
        assert {path.name for path in (tmp_path / "out").iterdir()} == {"worked-examples.html", "worked-examples.md"}

    def test_unknown_name_offers_the_nearest(self) -> None:
        ran = CliRunner().invoke(command, ["worked-example"])
        assert ran.exit_code == 2
        assert "Did you mean 'worked-examples'?" in ran.output

    def test_a_folder_that_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("BIASAMP_DATA", "/no/such/folder")
        with pytest.raises(ValueError, match="not a folder"):
            CliRunner().invoke(command, [], catch_exceptions=False)

    def test_exit_codes(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        made = {
            "off": Experiment("off", "t", "p", lambda setting: outcome(printed("x", "0.1", 0.5))),
            "told": Experiment("told", "t", "p", lambda s: outcome(printed("x", "0.1", 0.5, reason=Reason("r", 0.1)))),
            "needy": Experiment("needy", "t", "p", lambda setting: outcome(), files=("not_there.csv",)),
        }
        monkeypatch.setattr("biasamp.cli.reproduce.experiments", lambda: made)
        codes = {
            name: CliRunner().invoke(command, [name, "--folder", str(tmp_path)]).exit_code for name in (*made, "all")
        }
        assert codes == {"off": 1, "told": 0, "needy": 3, "all": 1}
