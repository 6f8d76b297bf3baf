"""What a newcomer or a stranger does to the command line: a message or a result, never a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

N = 120
rng = np.random.default_rng(5)
GROUP = np.where(np.arange(N) % 3 == 0, "w", "m")
TRUTH = (rng.random(N) < np.where(GROUP == "w", 0.7, 0.3)).astype(int)
SAID = np.where(rng.random(N) < 0.15, 1 - TRUTH, TRUTH)
ROLES = ("--attributes", "g", "--tasks", "t", "--task-predictions", "p")
QUICK = ("--resamples", "20")


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    """Write the data, with columns added or replaced, as Parquet."""

    def write(**columns: Any) -> Path:
        held = {"g": GROUP.tolist(), "t": TRUTH, "p": SAID, **columns}
        path = tmp_path / "data.parquet"
        pq.write_table(pa.table({name: values for name, values in held.items() if values is not None}), path)
        return path

    return write


def complaint(ran: Any) -> str:
    """The message of a command that must have failed by exit code 2, alone on one line of stderr."""
    assert ran.code == 2, ran
    assert ran.out == ""
    assert "Traceback" not in ran.err
    return str(ran.err)


@pytest.mark.parametrize(
    ("columns", "options", "parts"),
    [
        ({}, ("--attributes", "gg", *ROLES[2:]), ["no column 'gg'", "did you mean 'g'?"]),
        ({}, (*ROLES[:3], "nothing_like_it", *ROLES[4:]), ["no column 'nothing_like_it'", "it has 'g', 't', 'p'"]),
        ({}, ROLES[:4], ["--task-predictions nor --attribute-predictions", "biasamp associate"]),
        ({"p": None, "q": SAID}, ROLES, ["no column 'p'"]),
        ({"g": [None] * N}, ROLES, ["attributes column 'g' holds no label: every value is missing"]),
        ({"t": [None] * N}, ROLES, ["tasks column 't' holds no label: every value is missing"]),
        ({"p": [None] * N}, ROLES, ["--task-predictions column 'p' holds no label: every value is missing"]),
        (
            {"g": [None, *GROUP[1:].tolist()]},
            ROLES,
            ["attributes has 1 record", "in g", "(row 1, counted from 1", "drop", "negative"],
        ),
        ({"t": SAID / 2 + 0.25}, ROLES, ["tasks holds fractions such as", "belong with the predictions"]),
        ({"p": SAID * 3.5}, ROLES, ["--task-predictions column 'p' holds 3.5", "[0, 1]"]),
        ({"w": -np.ones(N)}, (*ROLES, "--weights", "w"), ["weights", "not negative", "there is -1"]),
        ({"w": np.full(N, np.nan)}, (*ROLES, "--weights", "w"), ["weights column 'w' has 120 missing values"]),
        ({"w": np.full(N, np.inf)}, (*ROLES, "--weights", "w"), ["weights must be finite", "there is inf"]),
        ({"w": ["x"] * N}, (*ROLES, "--weights", "w"), ["weights column 'w' holds text, not numbers"]),
        ({"w": np.zeros(N)}, (*ROLES, "--weights", "w"), ["weights are all 0"]),
        ({"r": [1] * N}, (*ROLES, "--record", "r"), ["record column 'r' has 119 repeated ids", "--cluster"]),
        ({"r": np.arange(N) / 2}, (*ROLES, "--record", "r"), ["record column 'r' holds fractions"]),
        ({"r": [None] + ["x"] * (N - 1)}, (*ROLES, "--record", "r"), ["record column 'r' has missing values"]),
        ({"c": [None] + ["x"] * (N - 1)}, (*ROLES, "--cluster", "c"), ["cluster column 'c' has missing values"]),
        ({"c": [1] * N}, (*ROLES, "--cluster", "c"), ["cluster column 'c' has one value", "Leave cluster out"]),
        ({}, ("--attributes", "g", "--tasks", "g", "--task-predictions", "p"), ["both name the column 'g'"]),
        ({}, ("--attributes", "g", "--tasks", "t,g", "--task-predictions", "p,g"), ["both name the column 'g'"]),
        ({}, (*ROLES, "--metrics", "fairness"), ["metrics has ['fairness']", "directional, multi, mals"]),
        ({}, (*ROLES, "--confidence", "95"), ["confidence is 95", "between 0 and 1"]),
        ({}, (*ROLES, "--resamples", "0"), ["resamples is 0"]),
        ({}, (*ROLES, "--missing", "ignore"), ["--missing", "'error', 'drop', 'negative'"]),
        ({}, (*ROLES, "--intersections"), ["--intersections crosses several attributes"]),
        ({}, (*ROLES, "--binary", "tasks", "--categorical", "tasks"), ["tasks cannot be both"]),
        ({}, (*ROLES, "--binary", "attributes"), ["attributes column 'g' was declared binary but holds text"]),
        ({}, ("--attributes", "", *ROLES[2:]), ["--attributes '' holds an empty column name"]),
        ({}, ("--attributes", "g,,t", *ROLES[2:]), ["--attributes 'g,,t' holds an empty column name"]),
        ({}, ("--attributes", "g\nh", *ROLES[2:]), ["--attributes", "cannot be read", "Quote names as in CSV"]),
        ({}, ("--attributes", "g,g", *ROLES[2:]), ["attributes names 'g' twice"]),
        ({}, (*ROLES[:5], "p,p"), ["--task-predictions", "twice"]),
        ({}, (*ROLES[:5], "t=p,p"), ["--task-predictions has 'p' among truth=prediction pairs"]),
        ({}, (*ROLES, "--train", "nowhere.csv"), ["no file or folder 'nowhere.csv'"]),
        ({}, (*ROLES, "--base", "nowhere.csv"), ["no file or folder 'nowhere.csv'"]),
        (
            {},
            (*ROLES, "--json", "/nowhere/at/all.json"),
            ["the folder of --json '/nowhere/at/all.json' does not exist"],
        ),
        ({}, (*ROLES, "--save", "/"), ["'/' is a folder; name a file in it"]),
        ({}, (*ROLES, "--jsn", "x"), ["No such option", "--json"]),
    ],
)
def test_mistakes_are_named(run: Any, table: Any, columns: Any, options: Any, parts: list[str]) -> None:
    message = complaint(run("audit", table(**columns), *options))
    for part in parts:
        assert part in message


@pytest.mark.parametrize(("side", "count"), [("g", 5_000), ("t", 5_000), ("both", 100_000)])
def test_identifiers_are_refused_at_once(run: Any, tmp_path: Path, side: str, count: int) -> None:
    many = [f"id{i}" for i in range(count)]
    two = [0, 1] * (count // 2)
    held = {"g": many if side != "t" else two, "t": many if side != "g" else two}
    pq.write_table(pa.table({**held, "p": held["t"]}), tmp_path / "x.parquet")
    message = complaint(run("audit", tmp_path / "x.parquet", *ROLES))
    assert f"holds {count:,} different values in {count:,} records" in message
    assert "group its values first" in message


def test_a_directory_without_rights_or_data(run: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "holds no data file" in complaint(run("audit", tmp_path / "empty", *ROLES))


@pytest.mark.parametrize("content", [b"", b"g,t,p\n", b"g,t,p", b"\n"])
def test_files_without_records(run: Any, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.csv").write_bytes(content)
    message = complaint(run("audit", tmp_path / "x.csv", *ROLES))
    assert "x.csv is empty" in message if not content else "x.csv has no records" in message


@pytest.mark.parametrize("count", [1, 2, 3])
def test_hardly_any_records(run: Any, tmp_path: Path, count: int) -> None:
    pq.write_table(
        pa.table({"g": GROUP[:count].tolist(), "t": TRUTH[:count], "p": SAID[:count]}), tmp_path / "x.parquet"
    )
    ran = run("audit", tmp_path / "x.parquet", *ROLES, *QUICK)
    assert ran.code == 0, ran.err
    assert "small" in ran.out or "fewer than 30 records" in ran.out


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("a,b", '"a,b"'),
        ("a=b", "a=b"),
        ("t=b", "t=t=b"),
        ("-x", "-x"),
        ("--json", "--json"),
        (" lead", '" lead"'),
        ('say "hi"', '"say ""hi"""'),
        ("[red]x[/red]", "[red]x[/red]"),
        ("é🎉", "é🎉"),
        ("a\nb", '"a\nb"'),
        ("x" * 10_000, "x" * 10_000),
    ],
)
def test_column_names_of_any_kind(run: Any, table: Any, name: str, typed: str) -> None:
    path = table(p=None, **{name: SAID})
    ran = run("audit", path, *ROLES[:4], f"--task-predictions={typed}", *QUICK, "--json", "-")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["data"]["roles"]["task_predictions"] == [name]


def test_a_name_that_looks_like_an_option_can_follow_a_space(run: Any, table: Any) -> None:
    ran = run("audit", table(p=None, **{"-x": SAID}), *ROLES[:4], "--task-predictions", "-x", *QUICK)
    assert ran.code == 0, ran.err


STRANGE = {
    "null and bell": "a\x00b\x07",
    "colours": "\x1b[31mred\x1b[0m",
    "window title": "\x1b]0;title\x07x",
    "c1 control": "a\x9b31mb",
    "markup": "[red]x[/red]",
    "closing tag": "[/]",
    "link": "[link=file:///etc/passwd]x[/link]",
    "emoji code": ":smile:",
    "script": "<script>alert(1)</script>",
    "right to left": "\u202eabc\u202c\u200f",
    "emoji": "👩\u200d👩\u200d👧",
    "long": "x" * 10_000,
    "line breaks": "a\nb\r\nc\u2028d",
    "quotes": "\"'`\\",
    "formula": "=1+1",
    "spaces": "   ",
    "braces": "{0} %s {x!r}",
}


@pytest.mark.parametrize("which", STRANGE)
@pytest.mark.parametrize("place", ["label", "attribute", "task"])
def test_strange_text_is_shown_as_text(run: Any, tmp_path: Path, which: str, place: str) -> None:
    text = STRANGE[which]
    group, task = (text if place == "attribute" else "g"), (text if place == "task" else "t")
    held = [text if value == "w" and place == "label" else str(value) for value in GROUP]
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({group: held, task: TRUTH, "p": SAID}), path)
    quoted = ['"' + name.replace('"', '""') + '"' for name in (group, task)]
    roles = ("--attributes", quoted[0], "--tasks", quoted[1], "--task-predictions", "p")
    ran = run("audit", path, *roles, *QUICK)
    # A blank group looks like a missing value, and is refused.
    assert ran.code == (2 if (which, place) == ("spaces", "label") else 0), ran.err
    harmful = [
        c
        for c in ran.out + ran.err
        if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u200f\u2028")
    ]
    assert harmful == []
    if ran.code:
        return
    assert max(map(len, ran.out.splitlines())) <= 140
    document = json.loads(run("audit", path, *roles, *QUICK, "--json", "-").out)
    groups = {row["group"] for row in document["data"]["groups"]}
    assert f"{group}={text if place == 'label' else 'w'}" in groups  # JSON keeps the text as it is


def test_markup_is_not_eaten(run: Any, table: Any) -> None:
    shown = run("audit", table(g=[f"[red]{x}[/red]" for x in GROUP]), *ROLES, *QUICK).out
    assert "[red]w[/red]" in shown


@pytest.mark.parametrize(
    ("first", "expected"),
    [("audti", "Did you mean 'audit'?"), ("frobnicate", "No such command 'frobnicate'")],
)
def test_mistyped_commands(run: Any, first: str, expected: str) -> None:
    assert expected in complaint(run(first))


def test_mistyped_metric(run: Any) -> None:
    assert "'dpaa' is not one of 'directional'" in complaint(run("metrics", "dpaa"))


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (
            "a,yes,yes,70.5\nb,no,yes,20.5\n",
            "holds 70.5 (row 1, counted from 1 without the header) among numbers from 20.5",
        ),
        ("a,1,1,70\nb,0,1,20\n", "holds 70 (row 1, counted from 1 without the header) among numbers from 20 to 70"),
        ("a,1,1,1\nb,0,1,-2\n", "holds -2 (row 2, counted from 1 without the header) among numbers from -2 to 1"),
        ("a,yes,yes,0.7\nb,no,yes,0.2\n", "holds fractions such as 0.7"),
    ],
)
def test_scores_of_another_scale_or_of_words_are_answered_with_what_to_do(
    run: Any, tmp_path: Path, rows: str, found: str
) -> None:
    path = tmp_path / "loans.csv"
    path.write_text("g,t,p,s\n" + rows * 20)
    roles = ["--attributes", "g", "--tasks", "t", "--task-scores", "s"]
    for command in (["audit", path, *roles, "--task-predictions", "p"], ["audit", path, *roles], ["why", path, *roles]):
        ran = run(*command)
        assert ran.code == 2
        assert f"--task-scores{' column' * ('among' in found)}" in ran.err
        assert found in ran.err
        assert "ivide percentages by 100" in ran.err
        assert "recode yes and no as 1 and 0" in ran.err


@pytest.mark.filterwarnings("always:.*records are left out")
def test_missing_values_of_scores_strata_and_labels_are_left_out_by_every_command(run: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [
        [f"c{i}", rng.choice(["a", "b"]), rng.choice(["n", "s"]), int(rng.random() < score), score]
        for i, score in enumerate(rng.random(400).round(3))
    ]
    for place in range(40):
        rows[place][1 + place // 10] = ""

    def written(name: str, kept: list[list[Any]]) -> Path:
        path = tmp_path / name
        path.write_text("client,g,region,t,s\n" + "".join(",".join(map(str, row)) + "\n" for row in kept))
        return path

    holes = written("holes.csv", rows)
    whole = written("whole.csv", [row for row in rows if "" not in (row[1], *row[3:])])
    scored = ("--scores", "s", "--attributes", "g", "--tasks", "t")
    stops = {
        ("why", *scored, "--strata", "region"): "tasks has 10 records with missing labels in t (rows 21, 22,",
        ("sweep", *scored): "s, g, t: 30 records have missing values (rows 1, 2, 3, 4, 5, …, counted from 1 without",
        ("choose-thresholds", *scored, "--limit", "0.05"): "leave those records out with --missing drop",
        ("calibrate", "--scores", "s", "--truth", "t"): "s, t: 20 records have missing values (rows 21,",
    }
    for (command, *options), words in stops.items():
        assert words in complaint(run(command, holes, *options))
        assert run(command, holes, *options, "--missing", "drop").code == 0
    for command, *options in list(stops)[1:3]:
        left = run(command, holes, *options, "--missing", "drop", "--json", "-")
        assert "30 of 400 records are left out: they lack a value of s, g, t." in left.err
        assert json.loads(left.out) == json.loads(run(command, whole, *options, "--json", "-").out)
    ran = run("audit", holes, *scored[2:], "--task-scores", "s", "--record", "client")
    assert "missing labels in t (client c20, c21, c22, c23, c24, …)" in complaint(ran)
