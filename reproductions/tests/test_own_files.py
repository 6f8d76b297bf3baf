"""Experiments on files of one's own, which these tests make: values by hand or by the metric itself on the same labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import biasamp
from biasamp.cli.cmd_reproduce import command
from biasamp_reproductions import run
from biasamp_reproductions.outcome import OWN
from biasamp_reproductions.own_captions import Words
from extras import needs
from made_images import make_coco


@pytest.fixture(autouse=True)
def _no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BIASAMP_DATA", raising=False)


def _csv(path: Path, columns: dict[str, Any]) -> Path:
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n", encoding="utf-8")
    return path


class TestScores:
    def columns(self) -> dict[str, Any]:
        rng = np.random.default_rng(0)
        sex = np.where(rng.random(300) < 0.5, "f", "m")
        paid = (rng.random(300) < np.where(sex == "f", 0.6, 0.4)).astype(int)
        return {"sex": sex, "paid": paid, "risk": np.round(np.clip(0.5 * paid + 0.6 * rng.random(300), 0, 1), 1)}

    def test_figure_6_of_any_score(self, tmp_path: Path) -> None:
        held = self.columns()
        path = _csv(tmp_path / "mine.csv", held)
        outcome = run("compas-thresholds", scores=str(path), score="risk", group="sex", truth="paid")
        assert outcome.kind == OWN
        assert {row.basis for row in outcome.rows} == {OWN}
        assert not [row for row in outcome.rows if row.published]
        rows = {row.what: row for row in outcome.rows}
        said = (held["risk"] > 0.5).astype(int)
        expected = biasamp.directional(held["sex"], biasamp.binary(held["paid"]), biasamp.binary(said)).value
        assert rows["high risk above 0.5: A→T"].ours == pytest.approx(expected)
        rates = [said[(held["sex"] == s) & (held["paid"] == 0)].mean() for s in "fm"]
        assert rows["high risk above 0.5: FPR difference"].ours == pytest.approx(abs(rates[0] - rates[1]))
        thresholds = [x for x, _ in outcome.charts[0].lines["A→T"]]
        assert thresholds == sorted(set(thresholds))

    def test_on_the_command_line(self, tmp_path: Path) -> None:
        path = _csv(tmp_path / "mine.csv", self.columns())
        given = ["compas-thresholds", "--scores", str(path), "--score", "risk", "--group", "sex", "--truth", "paid"]
        ran = CliRunner().invoke(command, [*given, "--folder", str(tmp_path / "out"), "--json", "-"])
        assert ran.exit_code == 0, ran.output
        assert list(json.loads(ran.stdout)["totals"]) == [OWN]
        lacking = CliRunner().invoke(command, given[:-2])
        assert (lacking.exit_code, "--scores needs --truth" in lacking.output) == (2, True)
        other = CliRunner().invoke(command, ["worked-examples", *given[1:]])
        assert (other.exit_code, "compas-thresholds does" in other.output) == (2, True)

    def test_what_is_wrong_is_named(self, tmp_path: Path) -> None:
        path = _csv(tmp_path / "mine.csv", {"g": ["a", "b"], "t": [1, 2], "s": ["x", "y"]})
        with pytest.raises(ValueError, match="no column 'risk'; it has 'g', 't', 's'"):
            run("compas-thresholds", scores=str(path), score="risk", group="g", truth="t")
        with pytest.raises(ValueError, match="'t' must hold 0 and 1"):
            run("compas-thresholds", scores=str(path), score="s", group="g", truth="t")
        with pytest.raises(TypeError, match="takes no 'labels'"):
            run("compas-thresholds", labels=str(path))


class TestCaptions:
    def words(self, tmp_path: Path) -> Path:
        path = tmp_path / "words.json"
        held = {
            "groups": {"f": ["queen"], "m": ["king"]},
            "objects": {"crown": ["tiara"], "sword": [], "dog": ["puppy"]},
        }
        path.write_text(json.dumps(held), encoding="utf-8")
        return path

    def table(self, tmp_path: Path) -> Path:
        who, objects, one = [], [], []
        for i in range(120):
            woman = i % 2 == 0
            who.append("f" if woman else "m")
            has = ["crown"] if (i % 3 == 0) == woman else ["sword", "axe"]
            objects.append("|".join(has))
            # One in ten is taken for the other gender; tiaras and puppies are other words.
            said = woman != (i % 10 == 0)
            one.append(f"a {'queen' if said else 'king'} with two {'tiaras' if 'crown' in has else 'puppies'}")
        return _csv(tmp_path / "captions.csv", {"who": who, "things": objects, "one": one, "two": one})

    def test_any_table_and_words(self, tmp_path: Path) -> None:
        path = self.table(tmp_path)
        outcome = run(
            "captions",
            captions=str(path),
            words=str(self.words(tmp_path)),
            models="one,two",
            group="who",
            objects="things",
        )
        rows = {row.what: row for row in outcome.rows}
        assert outcome.kind == OWN
        assert rows["one: share of rows with the right group"].ours == pytest.approx(0.9)
        who = np.array(["f", "m"] * 60)
        things = [["crown"] if (i % 3 == 0) == (i % 2 == 0) else ["sword"] for i in range(120)]
        named = [["crown"] if held == ["crown"] else ["dog"] for held in things]
        expected = biasamp.directional(who, things, named).value
        assert rows["one: A→T"].ours == pytest.approx(expected)
        assert rows["two: A→T"].ours == rows["one: A→T"].ours
        assert any("axe" in choice for choice in outcome.choices)
        assert any("tiara" in choice for choice in outcome.choices)

    def test_words_are_words(self) -> None:
        words = Words({"woman": ["woman"], "man": ["man"]}, {"cat": []})
        assert words.group("a woman") == "woman"
        assert words.group("a human") is None
        assert words.named("to catch a cat") == ["cat"]

    def test_what_is_wrong_is_named(self, tmp_path: Path) -> None:
        path = self.table(tmp_path)
        bad = tmp_path / "bad.json"
        bad.write_text('{"groups": {"f": ["queen"]}}', encoding="utf-8")
        given = {"captions": str(path), "models": "one", "group": "who", "objects": "things"}
        with pytest.raises(ValueError, match="needs 'objects'"):
            run("captions", words=str(bad), **given)


class TestLabels:
    def test_the_tables_of_any_labels(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(1)
        record, label = [], []
        for i in range(400):
            who = "cat" if i % 2 else "dog"
            own = [f"thing {k}" for k in range(30) if rng.random() < (0.3 if (k % 2 == 0) == (who == "cat") else 0.1)]
            record += [i] * (1 + len(own))
            label += [who, *own]
        path = _csv(tmp_path / "labels.csv", {"image": record, "name": label})
        outcome = run("aies-rankings", labels=str(path), identities="cat,dog", record="image", label="name")
        assert outcome.kind == OWN
        rows = {row.what: row.ours for row in outcome.rows}
        first = str(rows["dp: the first 15 toward cat against dog, with C(y)"]).split(";")[0]
        counts = {
            who: sum(
                1
                for r, name in zip(record, label, strict=True)
                if name == first.rpartition(" (")[0] and (r % 2 == 1) == (who == "cat")
            )
            for who in ("cat", "dog")
        }
        assert counts["cat"] > counts["dog"]
        with pytest.raises(ValueError, match="two identities"):
            run("aies-rankings", labels=str(path), identities="cat", record="image", label="name")


def small_network(outputs: int) -> Any:
    from torch import nn

    return nn.Sequential(nn.AdaptiveAvgPool2d(8), nn.Flatten(), nn.Linear(3 * 64, outputs))


@pytest.mark.slow
class TestImages:
    def test_any_network_on_any_images(self, tmp_path: Path) -> None:
        needs("torch")
        needs("captum")
        needs("PIL")
        make_coco(tmp_path, images=240)
        folder = tmp_path / "coco"
        annotations = folder / "annotations" / "instances_train2014.json"
        own = {
            "images": str(folder / "train2014"),
            "annotations": str(annotations),
            "network": small_network,
            "side": 16,
        }
        captions = str(folder / "annotations" / "captions_train2014.json")
        outcome = run("masking", quick=True, scale={"coco_epochs": 1}, caption_annotations=captions, **own)
        assert outcome.kind == OWN
        assert {row.published for row in outcome.rows} == {None}
        assert any(row.what.startswith("unbalanced, ") for row in outcome.rows)
        with pytest.raises(ValueError, match="gender must come from somewhere"):
            run("masking", quick=True, **own)
        own["network"] = lambda outputs: small_network(outputs + 1)
        with pytest.raises(ValueError, match="is needed"):
            run("masking", quick=True, scale={"coco_epochs": 1}, caption_annotations=captions, **own)
