"""What every experiment promises: what it ran on, published beside ours, and a page that is safe to open."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from biasamp.cli import main
from biasamp.cli.cmd_reproduce import command
from biasamp_reproductions import Setting, experiments
from biasamp_reproductions.chart import Chart
from biasamp_reproductions.experiment import Experiment
from biasamp_reproductions.outcome import ARITHMETIC, DEFINED, PRINTED, REAL, STAND_IN, Outcome
from biasamp_reproductions.page import markdown, page, words
from biasamp_reproductions.recount import recounted
from biasamp_reproductions.rows import Reason, Row, Tried, claimed, measured, placed, printed, recovered
from biasamp_reproductions.running import Done, circumstances, run_all
from biasamp_reproductions.summary import left, summary_markdown, summary_page

TRIED = Tried(0.4, 0.6, 12, "depths")
NASTY = "<script>alert(1)</script>|x\n# y"


@pytest.fixture
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BIASAMP_DATA", raising=False)


def outcome(*rows: Any, kind: str = PRINTED) -> Outcome:
    return Outcome(kind, "a test", rows, (Chart(NASTY, NASTY, "y", {NASTY: [(0.0, 1.0), (1.0, -1.0)]}),), (NASTY,))


def done(result: Outcome) -> Done:
    return Done(Experiment("made-up", NASTY, NASTY, lambda setting: result), result, "", 0.1)


ABOUT = circumstances([], seed=7)


class TestAgreement:
    @pytest.mark.parametrize(
        "published, ours, agrees",
        [
            ("0.2", 0.2499, True),
            ("0.2", 0.2501, False),
            ("-.0317", -0.03174, True),
            ("1229", 1228.4, False),
            ("0", 0.4, False),
            ("0", 0.0, True),
            ("0.0", 0.04, True),
        ],
    )
    def test_to_the_digits_printed(self, published: str, ours: float, agrees: bool) -> None:
        assert printed("x", published, ours).agrees is agrees

    def test_a_reason_reaches_the_figure_or_only_moves_ours(self) -> None:
        assert printed("x", "0.063", -0.011, reason=Reason("equalized", 0.0632)).reached
        assert not printed("x", "0.063", -0.011, reason=Reason("equalized", 0.044)).reached
        # Within the paper's ± is not the published figure.
        near = printed("x", "0.063", -0.011, spread="0.02", reason=Reason("equalized", 0.044))
        assert (near.reached, near.verdict) == (False, "within ±")
        assert "not the published figure" in words(near)
        assert printed("x", "0.100", 0.0984, spread="0.004").verdict == "within ±"
        assert printed("x", "0.061", 0.0620, spread="0.0005").verdict == "no reason"

    def test_a_figure_that_agrees_needs_no_reason(self) -> None:
        assert printed("x", "0.1", 0.1, reason=Reason("none", 1.0)).reason is None

    def test_counts_of_an_outcome(self) -> None:
        result = outcome(
            printed("a", "0.1", 0.1),
            claimed("b", "positive", "0.2", True, test="the sign"),
            printed("c", "0.1", 0.9, reason=Reason("r", 0.1)),
            printed("d", "0.1", 0.9, reason=Reason("r", 0.5)),
            printed("e", "0.1", 0.9),
            measured("f", 1.0),
            printed("g", "0.1", 0.9, tried=Tried.of([0.05, 0.9], "depths")),
            printed("h", "0.1", 0.9, tried=Tried.of([0.2, 0.9, 0.8], "depths")),
            printed("i", "0.1", 0.9, tried=Tried.of([0.3, 0.9], "depths")),
        )
        assert (result.agreed, result.reached, result.moved, result.unexplained) == (2, 1, 1, 1)
        assert (result.left_open, result.out_of_reach) == (1, 2)

    def test_a_trend_that_a_stand_in_does_not_show(self) -> None:
        row = claimed("a", "falls", 0.2, False, test="the sign")
        made_up, real = outcome(row, kind=STAND_IN), outcome(row)
        assert (made_up.not_seen, made_up.unexplained) == (1, 0)
        assert (real.not_seen, real.unexplained) == (0, 1)
        # On real files a claim that does not hold is a finding.
        assert (outcome(row, kind=REAL).unexplained, outcome(row, kind=REAL).totals) == (
            0,
            {REAL: {"does not hold": 1}},
        )
        # A number that is printed does not come from the stand-in, and is held to.
        assert (outcome(printed("a", "0.1", 0.5), kind=STAND_IN).unexplained) == 1
        assert "not seen on the stand-in" in page(done(made_up), ABOUT)
        assert "no reason found" in page(done(real), ABOUT)

    def test_a_search_tells_its_whole_range(self) -> None:
        row = printed("x", "0.100", 0.9, tried=Tried.of([0.2, 0.9, 0.8], "depths"))
        assert words(row) == "out of reach: it lies outside 0.2000 to 0.9000, all that 3 runs (depths) gave"
        assert row.to_dict()["tried"] == {
            "low": 0.2,
            "high": 0.9,
            "runs": 3,
            "over": "depths",
            "together": None,
            "holds": False,
        }
        # Over a wide search a figure lies in its range even where no run gives it with those beside it.
        apart = printed("x", "0.100", 0.9, tried=Tried.of([0.05, 0.9], "depths", "the nearest has 7 for 9"))
        assert (apart.left_open, apart.out_of_reach) == (False, True)
        assert "the nearest has 7 for 9" in words(apart)
        # To the digits printed: .0996 would be printed .100.
        assert printed("x", "0.100", 0.9, tried=Tried.of([0.9, 0.1004], "depths")).left_open

    def test_a_claim_in_words_that_does_not_hold(self) -> None:
        row = claimed("x", "falls", 0.5, False, test="t", interval=(0.4, 0.6), reason=Reason("another seed", 0.1))
        assert (row.covered, row.within(0.5), row.reached, row.moved) == (False, False, False, True)
        assert words(claimed("x", "falls", 0.5, False, test="t", interval=(0.4, 0.6))) == "no reason found; test: t"

    def test_totals_are_apart_by_what_was_measured_on(self) -> None:
        rows = (
            printed("a", "0.1", 0.1, basis=REAL),
            printed("b", "0.1", 0.1),
            printed("c", "0.1", 0.1, basis=ARITHMETIC),
            claimed("d", "falls", 0.1, True, test="t", basis=STAND_IN),
            recovered("e", "0.2", 0.2, True),
            measured("f", 0.2, published="0.3"),
        )
        assert outcome(*rows).totals == {
            REAL: {"same digits": 1},
            PRINTED: {"same digits": 1, "no verdict": 1},
            ARITHMETIC: {"follows": 1},
            STAND_IN: {"seen": 1, "as planted": 1},
        }

    def test_a_planted_value_is_never_published(self) -> None:
        with pytest.raises(ValueError, match="a planted value is not a published one"):
            Row("x", "0.1", 0.1, True, planted="0.1")
        written = page(done(outcome(recovered("e", "0.25", 0.2, True), kind=STAND_IN)), ABOUT)
        assert 'data-head="published">–' in written
        assert 'data-head="planted here">0.25' in written

    def test_one_claim_counts_once_and_holds_where_all_of_its_rows_hold(self) -> None:
        both = [
            claimed(str(i), "falls", 1.0, holds, test="t", claim="falls") for i, holds in enumerate((True, False, True))
        ]
        assert outcome(*both).totals == {PRINTED: {"does not hold": 1}}
        assert outcome(both[0], both[2]).totals == {PRINTED: {"holds": 1}}

    def test_an_outcome_comes_back_from_its_document(self) -> None:
        made = outcome(
            printed("a", "0.100", 0.9, interval=(0.1, 1.0), spread="0.1", tried=Tried.of([0.2, 0.9], "depths", "none")),
            printed("b", "0.1", 0.9, reason=Reason("r", 0.1, "settled")),
            measured("c", float("nan")),
            recovered("d", "1", "2", False),
        )
        again = Outcome.from_dict(json.loads(json.dumps(made.to_dict())))
        assert again.to_dict() == made.to_dict()
        assert page(done(again), ABOUT) == page(done(made), ABOUT)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.append(tag)
        assert not [name for name, value in attrs if name.startswith("on") or "http:" in (value or "")]


class TestPages:
    def test_text_from_strangers_is_text(self) -> None:
        items = [done(outcome(printed(NASTY, "0.1", 0.2), claimed(NASTY, NASTY, NASTY, False, test=NASTY)))]
        tags = Tags()
        nowhere = Done(Experiment(NASTY, NASTY, NASTY, lambda s: outcome(), files=(NASTY,)), None, NASTY, 0.0, NASTY)
        for written in (page(items[0], ABOUT), summary_page([*items, nowhere], ABOUT, Setting())):
            tags.feed(written)
            assert "script" not in tags.found
            assert "&lt;script&gt;" in written
        assert "<script>" not in summary_markdown([*items, nowhere], ABOUT, Setting())
        told = markdown(items[0], ABOUT)
        assert "<script>" not in told
        rows = [line for line in told.splitlines() if line.startswith("| ")]
        assert len(rows) == 3
        assert all(line.replace("\\|", "").count("|") == 8 for line in rows)

    def test_only_verdicts_are_coloured(self) -> None:
        written = page(done(outcome(claimed("a", "no", "b", True, test="t"))), ABOUT)
        assert 'class="yes" data-head="verdict"' in written
        assert 'class="no"' not in written

    def test_what_lies_near_is_said(self) -> None:
        row = printed("x", "0.100", 0.11, interval=(0.09, 0.13), spread="0.02")
        assert words(row) == "ours lies within the paper's ±; our interval holds the published figure; no reason found"
        assert words(printed("x", "0.100", 0.11)) == "no reason found"

    def test_first_line_says_what_it_ran_on(self) -> None:
        assert markdown(done(outcome(kind=STAND_IN)), ABOUT).startswith("Stand-in: a test\n")


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

    def test_a_folder_of_files(self, tmp_path: Path) -> None:
        needy = Experiment("needy", "t", "p", lambda setting: outcome(), files=("photos/",))
        setting = Setting(folder=tmp_path)
        assert needy.lacking(setting) == ["photos/"]
        (tmp_path / "photos").mkdir()
        assert needy.lacking(setting) == []

    def test_what_is_left_comes_with_the_command(self) -> None:
        needy = Experiment("needy", "t", "p", lambda s: outcome(), files=("a.csv",), extras={"no_such_module": "torch"})
        kept = Experiment("kept", "t", "p", lambda s: Outcome(PRINTED, "x", ()), files=("b.csv",), without="a stand-in")
        ran = run_all([needy, kept], Setting())
        assert left(ran, Setting()) == [
            (
                "needy",
                "needs the extra: pip install 'biasamp[torch]'; and a.csv in the folder that BIASAMP_DATA names",
                "pip install 'biasamp[torch]' && BIASAMP_DATA=FOLDER biasamp reproduce needy",
            ),
            ("kept", "ran without b.csv: a stand-in", "BIASAMP_DATA=FOLDER biasamp reproduce kept"),
        ]

    def test_one_that_fails_does_not_stop_the_others(self) -> None:
        def broken(setting: Setting) -> Outcome:
            raise KeyError("gone")

        told: list[tuple[str, str]] = []
        chosen = [Experiment("broken", "t", "p", broken), Experiment("whole", "t", "p", lambda s: outcome())]
        items = run_all(chosen, Setting(), finished=lambda item: told.append((item.experiment.name, item.state)))
        assert told == [("broken", "failed"), ("whole", "ran")]
        assert items[0].failed.startswith("KeyError: 'gone' (test_framework.py, line ")
        assert items[0].to_dict()["outcome"] is None
        assert "KeyError: &#x27;gone&#x27;" in summary_page(items, ABOUT, Setting())

    def test_stopping_stops_all(self) -> None:
        def stopped(setting: Setting) -> Outcome:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run_all([Experiment("x", "t", "p", stopped)], Setting())

    def test_versions_of_extras_where_they_were_used(self) -> None:
        with_extra = Experiment("x", "t", "p", lambda s: outcome(), extras={"click": "torch"})
        import click  # noqa: F401

        (item,) = run_all([with_extra], Setting())
        assert "click" in circumstances([item], 0)["versions"]
        assert "click" not in circumstances([], 0)["versions"]


@pytest.mark.usefixtures("no_data")
class TestCommand:
    def test_the_shell_sees_the_exit_code(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        made = {"off": Experiment("off", "t", "p", lambda setting: outcome(printed("x", "0.1", 0.5)))}
        monkeypatch.setattr("biasamp_reproductions.command.experiments", lambda: made)
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
        assert document["schema"] == 2
        assert document["totals"] == {PRINTED: {"same digits": 8, "holds": 14}} == recounted(document)
        assert item["outcome"]["totals"] == document["totals"]
        assert {path.name for path in (tmp_path / "out").iterdir()} == {"worked-examples.html", "worked-examples.md"}

    def test_unknown_name_offers_the_nearest(self) -> None:
        ran = CliRunner().invoke(command, ["worked-example"])
        assert ran.exit_code == 2
        assert "Did you mean 'worked-examples'?" in ran.output

    def test_a_folder_that_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("BIASAMP_DATA", "/no/such/folder")
        with pytest.raises(ValueError, match="not a folder"):
            CliRunner().invoke(command, [], catch_exceptions=False)

    @pytest.mark.slow
    def test_exit_codes(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        made = {
            "off": Experiment("off", "t", "p", lambda setting: outcome(printed("x", "0.1", 0.5))),
            "told": Experiment("told", "t", "p", lambda s: outcome(printed("x", "0.1", 0.5, reason=Reason("r", 0.1)))),
            "needy": Experiment("needy", "t", "p", lambda setting: outcome(), files=("not_there.csv",)),
            "sought": Experiment("sought", "t", "p", lambda s: outcome(printed("x", "0.1", 0.5, tried=TRIED))),
            "broken": Experiment("broken", "t", "p", lambda s: outcome(1 / 0)),
            "made-up": Experiment(
                "made-up", "t", "p", lambda s: outcome(claimed("x", "falls", 0.5, False, test="t"), kind=STAND_IN)
            ),
        }
        monkeypatch.setattr("biasamp_reproductions.command.experiments", lambda: made)

        def code(name: str) -> int:
            return CliRunner().invoke(command, [name, "--folder", str(tmp_path)]).exit_code

        codes = {name: code(name) for name in (*made, "all")}
        assert codes == {"off": 1, "told": 0, "needy": 3, "sought": 0, "broken": 4, "made-up": 0, "all": 4}
        # Of all that can run nothing failed: one figure is without a reason; then all have one; then nothing can run.
        for gone, expected in (("broken", 1), ("off", 0), ("told", 0), ("sought", 0), ("made-up", 3)):
            del made[gone]
            assert code("all") == expected

    def test_all_writes_a_summary_and_a_page_each(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        made = {
            "one": Experiment("one", "t", "p", lambda s: outcome(printed("x", "0.1", 0.1))),
            "needy": Experiment("needy", "t", "p", lambda s: outcome(), files=("not_there.csv",)),
            "broken": Experiment("broken", "t", "p", lambda s: outcome(1 / 0)),
        }
        monkeypatch.setattr("biasamp_reproductions.command.experiments", lambda: made)
        ran = CliRunner().invoke(command, ["all", "--folder", str(tmp_path), "--json", "-"])
        document = json.loads(ran.stdout)
        assert [item["name"] for item in document["experiments"]] == list(made)
        assert document["experiments"][2]["failed"].startswith("ZeroDivisionError: division by zero")
        assert (document["seed"], document["cores"] >= 1) == (0, True)
        # Data alone on standard output; what is being done goes to the other stream.
        assert "1 of 3: one ..." in ran.stderr
        assert "3 of 3: broken: failed, ZeroDivisionError" in ran.stderr
        names = {path.name for path in tmp_path.iterdir()}
        assert names == {f"{stem}.{end}" for stem in ("index", "one", "broken") for end in ("html", "md")}
        index = (tmp_path / "index.html").read_text(encoding="utf-8")
        assert 'href="one.html"' in index
        assert "data:image/svg+xml;base64," in index
        assert "BIASAMP_DATA=FOLDER biasamp reproduce needy" in index
        assert "[one](one.md)" in (tmp_path / "index.md").read_text(encoding="utf-8")


class TestReadings:
    """What a reader of the summary is told of each paper."""

    def made(self) -> dict[str, Experiment]:
        real = outcome(
            *placed([printed("a", "0.1", 0.1), printed("b", "0.2", 0.9, tried=TRIED)], "Table 2"),
            *placed([printed("trees: BA", "0.5", 0.9, tried=TRIED, name="BA")], "Table 3"),
            *placed(
                [printed("c", "0.1", 0.1), printed("BA of counts", "0.5", 0.5, name="BA")], "Table 3", basis=PRINTED
            ),
            *placed([printed("d", "0.1", 0.3, tried=TRIED)], "Sec. 6.1", basis=ARITHMETIC),
            kind=REAL,
        )
        made_up = outcome(
            *placed([measured("e", 0.3, published="0.4"), recovered("f", "1", 1.0, True)], "Table 4"), kind=STAND_IN
        )
        return {
            "real": Experiment("real", "t", "p", lambda s: real, paper="DPA"),
            "made-up": Experiment("made-up", "t", "p", lambda s: made_up, paper="DPA"),
        }

    def test_each_printed_item_has_its_standing(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.delenv("BIASAMP_DATA", raising=False)
        monkeypatch.setattr("biasamp_reproductions.command.experiments", self.made)
        ran = CliRunner().invoke(command, ["all", "--folder", str(tmp_path), "--json", "-"])
        document = json.loads(ran.stdout)
        printed_in = next(paper["printed"] for paper in document["papers"] if paper["paper"].startswith("Tokas"))
        found = {(each["item"], each["name"]): each for each in printed_in}

        def standing(item: str, name: str) -> tuple[Any, ...]:
            each = found[item, name]
            return each["figures"], each["real"], each["own"], each["arithmetic"], each["stand_in"]

        no = "not tried"
        assert standing("Table 2", "a") == (1, "reached", no, no, no)
        assert standing("Table 2", "b") == (1, "not reached", no, no, no)
        # One printed figure that is measured twice stands once, with both.
        assert standing("Table 3", "BA") == (1, "not reached", "reached", no, no)
        assert standing("Table 3", "c") == (1, no, "reached", no, no)
        assert standing("Sec. 6.1", "d") == (1, no, no, "not reached", no)
        assert standing("Table 4", "e") == (1, no, no, no, "no verdict")
        assert standing("Fig. 3", "all of it") == (0, no, no, no, no)
        index = (tmp_path / "index.md").read_text(encoding="utf-8")
        assert "- **Reached on real files**: Table 2 (1 figure: a (0.1))." in index
        ours = "b (0.2; ours 0.900 on real files)"
        assert f"; 1 of them are reached on the paper's own numbers)**: Table 2 (1 figure: {ours});" in index
        assert (
            "- **Not tried on real files; reached on the paper's own numbers**: Table 3 (1 figure: c (0.1))." in index
        )
        assert "does not follow**: Sec. 6.1 (1 figure: d (0.1; its other figures give 0.300))." in index
        assert "only, which cannot reach a printed figure (no verdict)**: Table 4 (1 figure: e (0.4))." in index
        both = "BA (0.5; ours 0.900 on real files)"
        assert f"| Table 3 | 1 figure: {both} | not reached: left open | reached | – | – | – |" in index
        told = "1 same digits, 1 left open, 1 out of reach. Rows: 3, for 3 figures and claims that the papers print."
        assert f"- Real files: {told}" in index
        assert "- 2 of 2 experiments ran, 1 of them on stand-ins and no real files: made-up." in index
        assert recounted(document) == document["totals"]

    def test_a_recount_finds_what_was_changed(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.delenv("BIASAMP_DATA", raising=False)
        monkeypatch.setattr("biasamp_reproductions.command.experiments", self.made)
        text = CliRunner().invoke(command, ["all", "--folder", str(tmp_path), "--json", "-"]).stdout
        for change in (
            lambda d: d["experiments"][0]["outcome"]["rows"][0].update(ours=0.3),
            lambda d: d["experiments"][0]["outcome"]["rows"][0].update(verdict="holds"),
            lambda d: d["experiments"][0]["outcome"]["totals"]["Real files"].update({"same digits": 2}),
            lambda d: d["experiments"][1]["outcome"]["rows"][1].update(published="1"),
            lambda d: d["papers"][1]["printed"].pop(),
            lambda d: d["papers"][1]["printed"][6].update(real="reached"),
            lambda d: d["papers"][1]["printed"][6]["verdicts"].update(real="within ±"),
            lambda d: d["papers"][1]["printed"][6]["ours"].update(real=0.5),
            lambda d: d["papers"][1]["printed"][6].update(origin="counted in the input file"),
            lambda d: d["totals"].pop("Stand-in"),
        ):
            document = json.loads(text)
            change(document)
            with pytest.raises(ValueError, match=r"."):
                recounted(document)

    def test_what_a_word_stands_for_is_told(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """Reached: of what. Not reached: how far off, and by what run it comes out. Each in one row of the overview."""
        rows = (
            *placed([printed("a", "1", 1.0), printed("b", "2", 2.0)], "Table 2", origin="counted in the input file"),
            *placed([printed("c", "3", 3.0)], "Table 2", origin="of models trained here"),
            *placed([printed("d", ".70", 0.6949, reason=Reason("rounded twice", 0.7))], "Table 3"),
            *placed([claimed("e", "falls", 0.5, False, test="t")], "Fig. 1", basis=DEFINED),
            *placed([measured("f", 0.5, published="similar")], "Fig. 2", basis=PRINTED),
            *placed([printed("g", "1", 1.0), printed("h", "1", 2.0)], "Sec. 6.1", basis=ARITHMETIC),
            *placed([claimed("i", "rises", 0.5, True, test="t")], "Table 4", basis=STAND_IN),
        )
        made = {
            "real": Experiment("real", "t", "p", lambda s: outcome(*rows, kind=REAL), paper="DPA"),
            "alone": Experiment("alone", "t", "p", lambda s: outcome(measured("x", 1.0), kind=REAL), paper="DPA"),
            "other": Experiment("other", "t", "p", lambda s: outcome(printed("x", "1", 1.0), kind=REAL), paper="LLM"),
        }
        monkeypatch.setattr("biasamp_reproductions.command.experiments", lambda: made)
        ran = CliRunner().invoke(command, ["all", "--folder", str(tmp_path), "--json", "-"])
        document = json.loads(ran.stdout)
        assert recounted(document) == document["totals"]
        index = (tmp_path / "index.md").read_text(encoding="utf-8")
        table = {}
        for line in index.splitlines():
            if line.startswith(("| Reached", "| Tried", "| Not tried")):
                cells = line.strip("| ").split(" | ")
                table[cells[0]] = cells[2]
        assert table["Reached on real files"] == "3 figures (2 counted in the input file, 1 of models trained here)"
        assert table["Tried on real files and not reached there"] == "1 figure (another run gives it)"
        assert "d (.70; ours 0.695 on real files; rounded twice: the printed figure)" in index
        told = [cell for cell in table.values() if cell != "–"]
        # Three and one on real files; e, f, g, h, i one by one; and what no row is of.
        assert sorted(told[2:-1]) == ["1 claim in words"] * 2 + ["1 claim in words (seen)"] + ["1 figure"] * 2
        assert "not reached: does not hold" in index
        assert "Not counted in these, of further papers: other, Real files: 1 same digits." in index
        assert "Real files; no printed figure is tested" in index
        # Words that are on the page are explained, others are not.
        meaning = index.partition("## What the words mean")[2].partition("## Experiments")[0]
        assert "- seen: " in meaning
        assert "- does not follow: " in meaning
        assert "- within ±: " not in meaning
        assert "- MALS: " not in meaning

    def test_every_item_is_one_of_its_paper(self) -> None:
        from biasamp_reproductions.papers import PAPERS

        for experiment in experiments().values():
            assert experiment.paper in PAPERS


@pytest.mark.usefixtures("no_data")
class TestSizes:
    def made(self, ran: list[Any], **more: Any) -> dict[str, Experiment]:
        def work(setting: Setting) -> Outcome:
            ran.append(setting)
            return outcome(measured("x", float(setting.seed)))

        return {"one": Experiment("one", "t", "p", work, **more)}

    def test_resume_takes_what_is_kept(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        ran: list[Any] = []
        monkeypatch.setattr("biasamp_reproductions.command.experiments", lambda: self.made(ran))

        def call(*more: str) -> str:
            return CliRunner().invoke(command, ["one", "--folder", str(tmp_path), "--json", "-", *more]).stdout

        first, again = call("--resume"), call("--resume")
        assert (len(ran), json.loads(first)["experiments"]) == (1, json.loads(again)["experiments"])
        call("--resume", "--seed", "1")
        call()
        assert len(ran) == 3
        # A damaged part is made again.
        (tmp_path / "part-one.json").write_text("{", encoding="utf-8")
        call("--resume")
        assert len(ran) == 4

    def test_seeds_say_how_far_a_figure_moves(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        ran: list[Any] = []
        monkeypatch.setattr("biasamp_reproductions.command.experiments", lambda: self.made(ran))
        text = CliRunner().invoke(command, ["one", "--seeds", "3", "--folder", str(tmp_path), "--json", "-"]).stdout
        (row,) = json.loads(text)["experiments"][0]["outcome"]["rows"]
        assert (row["ours"], row["note"]) == (0.0, "over 3 seeds: mean 1.0000, from 0.0000 to 2.0000")

    def test_sizes_reach_the_experiment(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        ran: list[Any] = []
        monkeypatch.setattr(
            "biasamp_reproductions.command.experiments", lambda: self.made(ran, sizes=("seeds", "train"))
        )
        given = ["one", "--folder", str(tmp_path), "--quick", "--scale", "train=7", "--seeds", "2"]
        assert CliRunner().invoke(command, given).exit_code == 0
        assert (ran[0].quick, ran[0].scale, ran[0].seeds) == (True, {"train": 7}, 2)
        for wrong, told in ((["--scale", "test=7"], "has no size 'test'"), (["--scale", "train"], "SIZE=NUMBER")):
            failed = CliRunner().invoke(command, [*given[:3], *wrong])
            assert (failed.exit_code, told in failed.output) == (2, True)
