from __future__ import annotations

import csv
import io
import json
import sys

import pandas as pd
import pytest
from click.testing import CliRunner

import biasamp
from biasamp.cli import group, main

NASTY = [
    '=HYPERLINK("http://x","y")',
    "+1",
    "-cmd|' /C calc'!A0",
    "@SUM(A1)",
    "a,b",
    'quo"te',
    "two\nlines",
    "[red]x[/red]",
]


@pytest.fixture
def table(tmp_path):
    rows = [
        (i, label)
        for i in range(40)
        for label in ("man" if i % 2 else "woman", NASTY[i % 8], "bike" if i % 4 else "hat")
    ]
    path = tmp_path / "labels.csv"
    pd.DataFrame(rows, columns=["id", "tag"]).to_csv(path, index=False)
    return str(path)


def run(*arguments):
    return CliRunner().invoke(group, ["associate", *arguments], catch_exceptions=False)


def options(path, *more):
    return (path, "--record", "id", "--label", "tag", "-i", "man", "-i", "woman", "--min-expected", "0", *more)


def test_tables(table):
    result = run(*options(table, "--top", "3"))
    assert result.exit_code == 0
    assert "toward man against woman" in result.output
    assert "is part of an identity" in result.output


def test_json_is_the_result(table):
    out = run(*options(table, "--json", "-"))
    found = json.loads(out.stdout)
    expected = biasamp.associate(table, ["man", "woman"], record="id", label="tag", min_expected=0).to_dict()
    assert found["labels"] == json.loads(json.dumps(expected))["labels"]


def test_csv_is_quoted_and_holds_no_formula(table, tmp_path):
    path = tmp_path / "out.csv"
    assert run(*options(table, "--csv", str(path))).exit_code == 0
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    labels = {row[0] for row in rows[1:]}
    assert {label if label[0] not in "=+-@" else "'" + label for label in NASTY} <= labels
    for row in rows:
        assert len(row) == len(rows[0])
        for value in row:
            assert value[:1] not in ("=", "+", "@")
            if value.startswith("-"):
                float(value)
    head = rows[0]
    bike = next(row for row in rows if row[0] == "bike")
    frame = biasamp.associate(table, ["man", "woman"], record="id", label="tag", min_expected=0).table
    place = list(frame["label"]).index("bike")
    assert float(bike[head.index("dp_gap")]) == frame["dp_gap"][place]


def test_united_identities_and_thresholds(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("id,tag,p\n1,Man,.9\n1,bike,.3\n2,Boy,.8\n2,bike,.9\n3,Woman,.9\n3,bike,.4\n")
    limits = tmp_path / "limits.csv"
    limits.write_text("label,threshold\nbike,0.35\n")
    base = (
        str(path),
        "--record",
        "id",
        "--label",
        "tag",
        "--score",
        "p",
        "-i",
        "man=Man,Boy",
        "-i",
        "Woman",
        "--json",
        "-",
    )
    found = json.loads(run(*base, "--threshold", "0.5").stdout)
    bike = next(label for label in found["labels"] if label["label"] == "bike")
    assert [x["joint"] for x in bike["identities"]] == [1, 0]
    found = json.loads(run(*base, "--threshold", str(limits)).stdout)
    bike = next(label for label in found["labels"] if label["label"] == "bike")
    assert [x["joint"] for x in bike["identities"]] == [1, 1]


def test_open_images(tmp_path):
    (tmp_path / "labels.csv").write_text(
        "ImageID,Source,LabelName,Confidence\n0a,verification,/m/1,1\n0a,machine,/m/3,0.9\n0b,verification,/m/2,1\n"
    )
    (tmp_path / "names.txt").write_text("/m/1,Man\n/m/2,Woman\n/m/3,Bike\n")
    out = run(
        str(tmp_path / "labels.csv"), "--open-images", "--classes", str(tmp_path / "names.txt"), "-i", "Man", "-i", "Woman",
        "--json", "-",
    )  # fmt: skip
    assert {label["name"] for label in json.loads(out.stdout)["labels"]} == {"Man", "Woman", "Bike"}


@pytest.mark.parametrize(
    "more",
    [("--csv", "-", "--json", "-"), ("--top", "-1"), ("--sort", "pmi3"), ("--miap", "x"), ("--threshold", "high")],
)
def test_bad_options_are_refused(table, more):
    result = CliRunner().invoke(group, ["associate", *options(table, *more)])
    assert result.exit_code == 2


def test_a_label_left_out_of_several_gaps_counts_once(table):
    out = run(table, "--record", "id", "--label", "tag", "-i", "man,woman,bike,hat", "--top", "0")
    assert "not ranked: 4 labels (is part of an identity)" in out.output


def test_q_values_are_shown_of_pairs_alone(table):
    assert " q ┃" in run(*options(table)).output
    out = run(table, "--record", "id", "--label", "tag", "-i", "man,woman,hat", "--min-expected", "0").output
    assert "against the rest" in out
    assert " q ┃" not in out


def test_names_that_labels_share_are_shown_with_their_key(tmp_path):
    rows = [(f"{i:02}", label) for i in range(40) for label in ("/m/1" if i % 2 else "/m/2", f"/m/{3 + i % 4}")]
    (tmp_path / "labels.csv").write_text(
        "ImageID,Source,LabelName,Confidence\n" + "".join(f"{image},verification,{mid},1\n" for image, mid in rows)
    )
    (tmp_path / "names.csv").write_text(
        '/m/1,Man\n/m/2,Woman\n/m/3,Bat\n/m/4,Bat\n/m/5,""\n/m/6,"Pan, small"\n/m/7,Boy\n'
    )
    base = (str(tmp_path / "labels.csv"), "--open-images", "--classes", str(tmp_path / "names.csv"))
    out = run(*base, "-i", "Man,Woman", "--min-expected", "0").output
    assert "Bat (/m/3)" in out
    assert "Bat (/m/4)" in out
    assert "│ /m/5 " in out
    assert "│ Pan, small " in out
    # A class that has a description is not misspelt, so no other name is offered.
    with pytest.raises(ValueError, match=r"no record has the label 'Boy' \(/m/7\); the data holds 6 labels"):
        run(*base, "-i", "Man,Boy")


def test_engine_options_change_nothing_but_where_it_runs(table):
    plain = json.loads(run(*options(table, "--json", "-")).stdout)
    bounded = json.loads(
        run(*options(table, "--json", "-", "--engine", "local", "--threads", "1", "--memory", "200MB")).stdout
    )
    # Notes say how long it took.
    assert bounded["labels"] == plain["labels"]
    assert run(*options(table, "--engine", "abacus")).exit_code == 2


def test_an_engine_that_is_not_installed_is_a_message(table, monkeypatch, capsys):
    monkeypatch.setattr("biasamp.engines.choose.find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["biasamp", "associate", *options(table, "--engine", "dask")])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert capsys.readouterr().err == (
        'biasamp: --engine dask needs distributed, which is not installed: pip install "biasamp[dask]"\n'
    )


def test_against_another_run(table, tmp_path):
    other = tmp_path / "other.csv"
    frame = pd.read_csv(table, dtype=str).sort_values("id", kind="stable")
    frame.to_csv(table, index=False)
    frame.loc[(frame["tag"] == "hat") & (frame["id"].astype(int) < 12), "tag"] = "bike"
    frame.to_csv(other, index=False)
    options = ("--record", "id", "--label", "tag", "-i", "man", "-i", "woman", "--min-expected", "0")
    shown = run(str(other), "--against", table, *options)
    assert shown.exit_code == 0
    assert "change from labels.csv to other.csv" in shown.output
    assert "by which the change is paired" in shown.output
    document = json.loads(run(str(other), "--against", table, *options, "--sort", "dp", "--json", "-").output)
    make = {"record": "id", "label": "tag", "min_expected": 0, "pairable": True}
    old, new = (biasamp.associate(str(path), ["man", "woman"], **make) for path in (table, other))
    wanted = biasamp.association_change(old, new, "dp")
    assert document["change"] == {"against": "labels.csv", "metric": "dp", **wanted.to_dict()}
    assert {"low", "high", "p", "q", "paired"} <= set(document["change"]["labels"][0])
    for name, path in (("old.parquet", table), ("new.parquet", other)):
        counted = CliRunner().invoke(
            group, ["count", str(path), *options[:8], "--pairable", "--save", str(tmp_path / name)]
        )
        assert counted.exit_code == 0, counted.output
    saved = run(str(tmp_path / "new.parquet"), "--against", str(tmp_path / "old.parquet"), *options[8:], "--json", "-")
    assert json.loads(saved.output)["change"]["sharing"] == "paired"
    refused = CliRunner().invoke(
        group,
        ["count", str(other), "--attributes", "id", "--tasks", "tag", "--pairable", "--save", str(tmp_path / "x")],
    )
    assert refused.exit_code == 2
    assert "--pairable belongs to --identities" in refused.output
