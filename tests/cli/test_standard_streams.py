"""Terminals and shells as they are: narrow encodings, closed streams, readers that go away, signals."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from rich.table import Table
from rich.text import Text

from biasamp.cli import group, main
from biasamp.cli.command_files import Output
from biasamp.cli.plain_console import PlainConsole
from biasamp.cli.standard_streams import plain_text, prepare_streams

ROLES = ("--attributes", "g", "--tasks", "t", "--task-predictions", "p")
ENCODINGS = ["ascii", "latin-1", "cp1252"]
POLICY = '[data]\nattributes = "g"\ntasks = "t"\ntask_predictions = "p"\nmetrics = ["directional"]\nresamples = 50\n\n[evidence]\nmin_group = 1\n\n[[limit]]\nmetric = "directional"\ndirection = "A->T"\n{limit}\n'
# Labels that no narrow encoding has, or only some have.
WOMAN = "é→女"
# A command line of every command; names of files stand for what `here` makes.
LINES: dict[str, list[str]] = {
    "associate": ["labels.jsonl", "--label", "x", "-i", WOMAN, "-i", "man", "--min-expected", "0"],
    "audit": ["data.csv", *ROLES, "--metrics", "directional,multi"],
    "calibrate": ["data.csv", "--scores", "p", "--truth", "t"],
    "check": ["data.csv", "--policy", "pass.toml"],
    "choose-thresholds": ["data.csv", "--scores", "p", "--attributes", "g", "--tasks", "t", "--limit", "0.1"],
    "compare": ["old=audit.json", "new=audit.json"],
    "count": ["data.csv", *ROLES, "--save", "made.parquet"],
    "demo": ["--folder", "demo"],
    "explore": ["audit.json", "--html", f"{WOMAN}.html"],
    "export": ["audit.json", "--markdown", f"{WOMAN}.md"],
    "impact": ["data.csv", "--decision", "p", "--groups", "g"],
    "merge": ["counts.parquet", "--save", "sum.parquet"],
    "metrics": [],
    "reproduce": [],
    "sweep": ["data.csv", "--scores", "p", "--attributes", "g", "--tasks", "t"],
    "text": ["texts.csv", "--text", "x", "--attribute", "g", "--mask", "none", "--seeds", "1"],
    "trajectory": ["2026-01=audit.json", "2026-02=audit.json"],
    "try": ["--html", f"{WOMAN}.html"],
    "verify": ["audit.json", "data.csv"],
    "why": ["data.csv", "--scores", "p", "--attributes", "g", "--tasks", "t"],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import biasamp

    folder = tmp_path_factory.mktemp("streams")
    rows = [(WOMAN, 1, 1), ("man", 0, 0), (WOMAN, 0, 0), ("man", 1, 1)] * 200
    (folder / "data.csv").write_text("g,t,p\n" + "".join(f"{g},{t},{p}\n" for g, t, p in rows), encoding="utf-8")
    lines = [json.dumps({"x": [WOMAN, "bike"]}), json.dumps({"x": ["man", "car “x”"]})] * 20
    (folder / "texts.csv").write_text(
        f"g,x\n{WOMAN},a {WOMAN}\nman,a bat\n" * 1 + f"{WOMAN},a cup {WOMAN}\nman,a bat\n" * 20, "utf-8"
    )
    (folder / "labels.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "pass.toml").write_text(POLICY.format(limit="max = 0.1"))
    (folder / "fail.toml").write_text(POLICY.format(limit="max = -0.5"))
    data: dict[str, Any] = {"attributes": "g", "tasks": "t", "task_predictions": "p"}
    biasamp.audit(folder / "data.csv", **data, metrics=["directional"]).save(folder / "audit.json")
    biasamp.count(folder / "data.csv", **data).save(folder / "counts.parquet")
    return folder


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in made.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown(monkeypatch: pytest.MonkeyPatch, encoding: str, *words: str) -> tuple[int, str, str]:
    """What a command line shows on streams of an encoding; data on standard output are UTF-8 in any of them."""
    streams = {name: io.TextIOWrapper(io.BytesIO(), encoding=encoding) for name in ("stdout", "stderr")}
    with monkeypatch.context() as patch:
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        patch.setattr(sys, "argv", ["biasamp", *words])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
    for stream in streams.values():
        stream.flush()
    out, err = (stream.buffer.getvalue() for stream in streams.values())  # type: ignore[attr-defined]
    return code, out.decode("utf-8" if words[-1] == "-" else encoding), err.decode(encoding)


def test_every_command_has_a_line() -> None:
    assert list(LINES) == group.list_commands(click.Context(group))


@pytest.mark.slow(keep=5)
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("command", LINES)
def test_every_command_shows_its_result_in_every_encoding(
    here: Path, monkeypatch: pytest.MonkeyPatch, command: str, encoding: str
) -> None:
    if command == "reproduce":
        pytest.importorskip("biasamp_reproductions")
    code, out, err = shown(monkeypatch, encoding, command, *LINES[command])
    assert (code, out != "") == (0, True), err
    assert "→" not in out + err
    assert "�" not in out + err


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_mistakes_and_help_are_shown_too(here: Path, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    code, _, err = shown(monkeypatch, encoding, "audit", f"{WOMAN}.csv", *ROLES)
    assert code == 2
    assert "\\u5973" in err  # a letter that is missing stays a letter of its own
    assert shown(monkeypatch, encoding, "audit", "data.csv", "--attributes", WOMAN)[0] == 2
    assert shown(monkeypatch, encoding, "check", "--help")[0] == 0


def test_help_is_plain() -> None:
    """Click writes it as UTF-8 where a stream is of ASCII."""
    for name in LINES:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        assert command.get_help(click.Context(command)).isascii(), name


ON_OUTPUT = [
    (name, max(param.opts, key=len))
    for name in LINES
    for param in group.get_command(click.Context(group), name).params  # type: ignore[union-attr]
    if isinstance(param.type, Output) and param.type.allow_dash and max(param.opts, key=len) != "--json"
]


@pytest.mark.parametrize("encoding", ["utf-8", *ENCODINGS])
@pytest.mark.parametrize(("command", "option"), ON_OUTPUT, ids=lambda held: held.strip("-"))
def test_what_goes_to_standard_output_is_what_goes_to_a_file(
    here: Path, monkeypatch: pytest.MonkeyPatch, command: str, option: str, encoding: str
) -> None:
    line = [*LINES[command][: 1 if command == "export" else None], *(["--name", "x"] if command == "export" else [])]
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    for target in ("-", "file"):
        monkeypatch.setattr(sys, "argv", ["biasamp", command, *line, option, target])
        main()
        sys.stdout.flush()
        if target == "-":
            raw = stream.buffer.getvalue()  # type: ignore[attr-defined]
    assert raw == Path("file").read_bytes()
    assert raw.endswith(b"\n")


@pytest.mark.parametrize(
    ("columns", "width"), [("9" * 30, 140), ("²", 140), ("٣", 140), ("-1", 140), ("", 140), ("0", 140), ("60", 60)]
)
def test_a_width_that_is_none(here: Path, monkeypatch: pytest.MonkeyPatch, columns: str, width: int) -> None:
    for name in ("COLUMNS", "LINES"):
        monkeypatch.setenv(name, columns)
    code, out, err = shown(monkeypatch, "utf-8", "check", "data.csv", "--policy", "pass.toml")
    assert (code, err) == (0, "")
    assert 20 < max(map(len, out.splitlines())) <= width


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["0", "1", "7", "9999"])
@pytest.mark.parametrize("command", LINES)
def test_every_command_in_every_width(here: Path, monkeypatch: pytest.MonkeyPatch, command: str, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "dumb")
    code, out, err = shown(monkeypatch, "utf-8", command, *LINES[command])
    assert (code, out != "") == (0, True), err


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_data_on_standard_output_lose_nothing(here: Path, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    _, out, _ = shown(monkeypatch, encoding, "audit", "data.csv", *ROLES, "--metrics", "directional", "--json", "-")
    assert {row["category"] for row in json.loads(out)["data"]["groups"]} == {WOMAN, "man"}
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    monkeypatch.setattr(sys, "argv", ["biasamp", "associate", *LINES["associate"], "--csv", "-"])
    main()
    sys.stdout.flush()
    raw = sys.stdout.buffer.getvalue()  # type: ignore[attr-defined]
    _ = shown(monkeypatch, encoding, "associate", *LINES["associate"], "--csv", "out.csv")
    assert raw == Path("out.csv").read_bytes()


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(("policy", "code"), [("pass.toml", 0), ("fail.toml", 1)])
def test_a_verdict_keeps_its_exit_code_in_every_encoding(
    here: Path, monkeypatch: pytest.MonkeyPatch, encoding: str, policy: str, code: int
) -> None:
    for extra in ([], ["--json", "-"], ["--markdown", "-"]):
        assert shown(monkeypatch, encoding, "check", "data.csv", "--policy", policy, *extra)[0] == code


def test_columns_stay_in_line() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    console = PlainConsole(file=stream, width=80)
    table = Table(box=None)
    for column in ("way", "next"):
        table.add_column(column)
    table.add_row("A→T", Text("1"))
    table.add_row(Text("none"), "2")
    console.print(table)
    stream.flush()
    lines = stream.buffer.getvalue().decode().splitlines()  # type: ignore[attr-defined]
    assert {line.index(sign) for line, sign in zip(lines, ("next", "1", "2"), strict=True)} == {lines[0].index("next")}


def test_signs_in_plain() -> None:
    assert plain_text("A→T █│ “x” … é", "latin-1") == 'A->T #| "x" ... é'
    assert plain_text("女 \ud800", "ascii") == "\\u5973 \\ud800"
    assert plain_text("⚠️ A→T", "utf-8") == "⚠️ A→T"


# --- as processes, with real streams ---------------------------------------------------------------------------------

posix = pytest.mark.skipif(os.name != "posix", reason="shells and signals as POSIX has them")
BIASAMP = f"{sys.executable} -m biasamp"


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        capture_output=True,
        encoding=environment.get("PYTHONIOENCODING", "utf-8").split(":")[0],
        timeout=60,
        env=environment,
    )


@posix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "code", "unbuffered"),
    [("pass.toml", 0, ""), ("pass.toml", 0, "1"), ("fail.toml", 1, ""), ("none.toml", 2, "")],
)
def test_closed_streams_and_broken_pipes_keep_the_exit_code(
    here: Path, policy: str, code: int, unbuffered: str
) -> None:
    check = f"{BIASAMP} check data.csv --policy {policy}"
    ways = ["{} >&-", "{} 2>&-", "{} <&- >&- 2>&-", "{} | true", "{} | head -1", "{} 2>&1 | head -c 1", "{} </dev/null"]
    lines = "; ".join(f"{way.format(check)}; echo code $? >> codes" for way in ways)
    ran = shell(lines, PYTHONUNBUFFERED=unbuffered)
    assert Path("codes").read_text().split() == ["code", str(code)] * len(ways)
    assert "Traceback" not in ran.stderr
    assert "Exception ignored" not in ran.stderr
    assert "Broken pipe" not in ran.stderr


@posix
def test_files_are_written_with_all_streams_closed(here: Path) -> None:
    roles = " ".join(ROLES)
    ran = shell(f"{BIASAMP} audit data.csv {roles} --metrics directional --json a.json --html a.html <&- >&- 2>&-")
    assert ran.returncode == 0
    assert json.loads(Path("a.json").read_text(encoding="utf-8"))["data"]["records"] == 800
    assert Path("a.html").read_text(encoding="utf-8").endswith("</html>\n")
    assert Path("data.csv").read_text(encoding="utf-8").startswith("g,t,p\n")


@pytest.mark.slow(keep=1)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("extra", ["", "--json -"])
def test_standard_output_without_room_is_said(here: Path, extra: str) -> None:
    ran = shell(f"{BIASAMP} check data.csv --policy pass.toml {extra} > /dev/full")
    assert ran.returncode == 2
    assert "No space left" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert "Exception ignored" not in ran.stderr


@pytest.mark.slow(keep=1)
@posix
@pytest.mark.parametrize("encoding", ["ascii", "ascii:strict", "cp1252"])
def test_a_passing_check_in_a_narrow_terminal(here: Path, encoding: str) -> None:
    ran = shell(f"{BIASAMP} check data.csv --policy pass.toml", PYTHONIOENCODING=encoding)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.isascii() or encoding == "cp1252"


def test_streams_of_others_are_taken_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    prepare_streams()
    assert sys.stdout is stream


def stopped(command: list[str], ready: Any, number: int, **environment: str) -> subprocess.Popen[str]:
    """A process that was sent a signal once it was ready, and has ended."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    # What started the tests may have told its children to live through a hangup.
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    try:
        for _ in wait(120):
            if ready():
                break
        process.send_signal(number)
        process.communicate(timeout=120)
    finally:  # one that is left running would fail another test
        process.kill()
        process.wait()
    return process


def wait(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.02)
    raise AssertionError(f"not ready after {seconds} s")


@pytest.mark.slow(keep=1)
@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_a_signal_takes_temporary_files_away_while_saving(here: Path, number: int, code: int) -> None:
    slow = (
        "import os, time; from biasamp.cli import main; flush = os.fsync\n"
        "os.fsync = lambda descriptor: (flush(descriptor), time.sleep(60))\nmain()"
    )
    words = ["audit", "data.csv", *ROLES, "--metrics", "directional", "--save", "audit.json"]
    before = Path("audit.json").read_bytes()
    process = stopped([sys.executable, "-c", slow, *words], lambda: list(here.glob(".biasamp-*")), number)
    assert process.returncode == code
    assert list(here.glob(".biasamp-*")) == []
    assert Path("audit.json").read_bytes() == before


@pytest.mark.slow(keep=1)
@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_takes_spilled_rows_away(here: Path, number: int, code: int) -> None:
    (here / "rows.csv").write_text(
        "image,label\n" + "".join(f"{i % 997},{'man' if i % 2 else 'woman'}\n" for i in range(50_000))
    )
    (here / "tmp").mkdir()
    slow = (
        "import time; from biasamp.cli import main; from biasamp.engines.spill import Spill; write = Spill.write\n"
        "Spill.write = lambda self, batch: (write(self, batch), time.sleep(2))\nmain()"
    )
    words = ["associate", "rows.csv", "--record", "image", "--label", "label", "-i", "man", "-i", "woman"]
    words += ["--engine", "local", "--memory", "1MB"]  # what fits the memory goes to no file
    process = stopped(
        [sys.executable, "-c", slow, *words],
        lambda: list((here / "tmp").glob("biasamp-*/*")),
        number,
        TMPDIR=str(here / "tmp"),
    )
    assert process.returncode == code
    assert list((here / "tmp").iterdir()) == []


@posix
def test_an_ignored_signal_stays_ignored() -> None:
    code = (
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from biasamp.cli.standard_streams import signals_unwind\n"
        "with signals_unwind():\n    signal.raise_signal(signal.SIGHUP)\nprint('on')"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "on\n"


def test_signs_in_the_package_have_a_plain_form() -> None:
    """Letters of names, as those of metrics' authors, become escapes."""
    root = Path(main.__code__.co_filename).parents[1]
    texts = [
        path.read_text(encoding="utf-8")
        for room in ("cli", "report", "auditing", "results")
        for path in (root / room).glob("*.py")
    ]
    strange = {sign for text in texts for sign in text if not sign.isascii() and not sign.isalpha()} - set(
        "＝＋－＠﹦﹢﹣﹫"
    )
    assert len(strange) > 5
    assert {sign for sign in strange if "\\" in plain_text(sign, "ascii")} == set()
