"""Files that do not show how they are written are read by what options say, under their own names."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from biasamp.cli import group
from extras import needs

PLAIN = "gruppe,task,said,s\n" + "Frauen übrig,1,1,0.7\nMänner,0,1,0.2\nMänner,1,0,0.5\nFrauen übrig,0,0,1\n" * 20
ROLES = ["--attributes", "gruppe", "--tasks", "task", "--task-predictions", "said", "--metrics", "directional"]
READERS = ("audit", "associate", "calibrate", "check", "choose-thresholds", "compare", "count", "sweep", "why")


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(group, [str(argument) for argument in arguments])


def audited(*arguments: Any) -> Any:
    done = run("audit", *arguments, *ROLES, "--json", "-")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    return document["provenance"]["source"], document["metrics"]


@pytest.fixture
def expected(tmp_path: Path) -> Any:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "x.csv").write_text(PLAIN, "utf-8")
    return audited(tmp_path / "plain" / "x.csv")


@pytest.mark.parametrize("command", READERS)
def test_every_command_that_reads_records_has_the_options(command: str) -> None:
    found = group.get_command(None, command)  # type: ignore[arg-type]
    assert found is not None
    assert {"delimiter", "encoding", "decimal_comma", "sheet"} <= {param.name for param in found.params}


def test_encodings_and_delimiters(tmp_path: Path, expected: Any) -> None:
    before = set(Path(tempfile.gettempdir()).glob("biasamp-*"))
    (tmp_path / "x.csv").write_text(PLAIN, "cp1252")
    assert audited(tmp_path / "x.csv", "--encoding", "cp1252") == expected
    (tmp_path / "x.csv").write_text(PLAIN.replace(",", "~"), "utf-8-sig")
    assert audited(tmp_path / "x.csv", "--delimiter", "~") == expected
    (tmp_path / "x.csv").write_text(PLAIN.replace(",", "\t"), "utf-16")
    assert audited(tmp_path / "x.csv", "--delimiter", "tab") == expected
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(PLAIN.replace(",", ";").encode("latin-1")))
    assert audited(tmp_path / "x.csv.gz", "--encoding", "latin-1")[1] == expected[1]
    assert set(Path(tempfile.gettempdir()).glob("biasamp-*")) <= before


def test_folders_and_train_are_read_so_too(tmp_path: Path, expected: Any) -> None:
    folder = tmp_path / "x.csv"
    (folder / "deep").mkdir(parents=True)
    half = PLAIN.splitlines(keepends=True)
    (folder / "a.csv").write_text("".join(half[:41]), "cp1252")
    (folder / "deep" / "b.csv").write_text("".join([half[0], *half[41:]]), "cp1252")
    (tmp_path / "train.tsv").write_text(PLAIN.replace(",", "\t"), "cp1252")
    assert audited(folder, "--encoding", "cp1252") == expected
    audited(folder, "--encoding", "cp1252", "--train", tmp_path / "train.tsv")


def test_decimal_commas(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(PLAIN)
    calibrated = ["--scores", "s", "--rate", "0.5", "--json", "-"]
    expected = run("calibrate", path, *calibrated).stdout
    path.write_text(PLAIN.replace(",", ";").replace(".", ","))
    assert run("calibrate", path, *calibrated, "--decimal-comma").stdout == expected
    with pytest.warns(UserWarning, match=r"the column 's' of x\.csv looks like numbers .*--decimal-comma"):
        assert "holds text, not numbers" in str(run("calibrate", path, *calibrated, "--delimiter", ";").exception)
    with pytest.warns(UserWarning, match="semicolons"):
        done = run("calibrate", path, *calibrated)
    assert "decimal commas" in str(done.exception)
    assert "--decimal-comma" in str(done.exception)


def test_messages_keep_the_name_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(PLAIN, "cp1252")
    done = run("audit", tmp_path / "x.csv", "--encoding", "cp1252", *ROLES[2:], "--attributes", "group")
    assert "x.csv has no column 'group'; did you mean 'gruppe'?" in str(done.exception)
    done = run("audit", tmp_path / "x.csv", *ROLES)
    assert "not UTF-8: say which encoding it has, such as --encoding cp1252" in str(done.exception)
    done = run("audit", tmp_path / "x.csv", "--encoding", "utf-8", *ROLES)
    assert done.exit_code == 2
    assert "x.csv is not in the encoding --encoding utf-8" in done.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--delimiter", "ab"], "--delimiter is 'ab'; one character"),
        (["--delimiter", '"'], "one character is needed"),
        (["--encoding", "klingon"], "--encoding 'klingon' is not known; such as cp1252"),
        (["--encoding", "base64"], "--encoding 'base64' is not known"),
        (["--sheet", "data"], "--sheet: the command reads no Excel file"),
    ],
)
def test_wrong_options_are_refused(tmp_path: Path, options: list[str], message: str) -> None:
    (tmp_path / "x.csv").write_text(PLAIN, "utf-8")
    done = run("audit", tmp_path / "x.csv", *options, *ROLES)
    assert done.exit_code == 2
    assert message in done.output


def test_a_policy_names_the_files_themselves(tmp_path: Path) -> None:
    for name in ("x.csv", "train.csv"):
        (tmp_path / name).write_text(PLAIN.replace(",", "~"), "utf-8")
    target = tmp_path / "policy.toml"
    options = ["--delimiter", "~", "--train", tmp_path / "train.csv", "--init", "--policy", target]
    done = run("check", tmp_path / "x.csv", *options, *ROLES)
    assert done.exit_code == 0, done.output
    assert str(tmp_path / "train.csv") in target.read_text()
    assert f"biasamp check {tmp_path / 'x.csv'}" in " ".join(done.output.split())


def test_sheets(tmp_path: Path, expected: Any) -> None:
    openpyxl = needs("openpyxl")
    made = openpyxl.Workbook()
    rows = [line.split(",") for line in PLAIN.splitlines()]
    for name, held in {"other": [["a"], [1]], "data": rows}.items():
        sheet = made.create_sheet(name)
        for row in held:
            sheet.append([float(value) if value[:1].isdigit() else value for value in map(str, row)])
    sheet.cell(2, 6).value = "=1+1"
    sheet.cell(2, 6).data_type = "s"  # text that looks like a formula
    made.save(tmp_path / "x.xlsx")
    done = run("audit", tmp_path / "x.xlsx", *ROLES)
    assert "x.xlsx has several sheets with data, 'other', 'data': name one with --sheet" in str(done.exception)
    source, metrics = audited(tmp_path / "x.xlsx", "--sheet", "data")
    assert (source, metrics) == ("x.xlsx", expected[1])
    done = run("audit", tmp_path / "x.xlsx", "--sheet", "dat", *ROLES)
    assert "x.xlsx has no sheet 'dat'; it has 'Sheet', 'other', 'data'" in str(done.exception)
