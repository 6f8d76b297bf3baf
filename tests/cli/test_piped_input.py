"""Data that come through standard input or a pipe are read as the same data in a file are."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import biasamp
from biasamp.cli.piped_input import _suffix
from table_files import write

TABLE = pa.table({"g": ["w", "m"] * 20, "t": [0, 1, 1, 1] * 10, "p": [1, 1, 0, 1] * 10})
ROLES = ("--attributes", "g", "--tasks", "t", "--task-predictions", "p", "--resamples", "20")


class Piped:
    """Standard input with some bytes in it."""

    def __init__(self, content: bytes) -> None:
        import io

        self.buffer = io.BytesIO(content)

    def isatty(self) -> bool:
        return False


def figures(ran: Any) -> Any:
    assert ran.code == 0, ran.err
    return json.loads(ran.out)["metrics"]


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "arrow", "csv.gz", "parquet.gz"])
@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_any_format(run: Any, kind: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(TABLE, tmp_path / f"x.{kind}")
    wanted = figures(run("audit", path, *ROLES, "--json", "-"))
    monkeypatch.setattr(sys, "stdin", Piped(path.read_bytes()))
    ran = run("audit", name, *ROLES, "--json", "-")
    assert figures(ran) == wanted
    assert json.loads(ran.out)["provenance"]["source"] == f"stdin.{kind}"


@pytest.mark.skipif(os.name != "posix", reason="named pipes as POSIX has them")
def test_a_policy_through_a_pipe(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read once, and what it names is an input as that of a file is."""
    monkeypatch.chdir(tmp_path)
    data, kept = write(TABLE, tmp_path / "x.csv"), tmp_path / "kept.json"
    kept.write_text("{}")
    limit = '[[limit]]\nmetric = "directional"\ndirection = "A->T"\nmax = 0.9\n'
    policy = f'[data]\nattributes = "g"\ntasks = "t"\ntask_predictions = "p"\nresamples = 20\n[evidence]\nmin_group = 1\n{limit}'
    os.mkfifo(tmp_path / "pipe")
    for text, words in ((policy, ""), (policy + f"[baseline]\naudit = '{kept}'\n", "baseline of --policy")):
        writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(text,))
        writer.start()
        ran = run("check", data, "--policy", "pipe", "--save", kept)
        writer.join()
        assert (ran.code, words in ran.err) == (2 if words else 3, True), ran
    # What the first one saved is still there; so few records are not enough evidence.
    assert biasamp.Audit.load(kept).document["data"]["records"] == 40


def test_a_named_pipe(run: Any, tmp_path: Path) -> None:
    path = write(TABLE, tmp_path / "x.csv")
    wanted = figures(run("audit", path, *ROLES, "--json", "-"))
    for name in ("pipe", "pipe.csv"):
        os.mkfifo(tmp_path / name)
        writer = threading.Thread(target=(tmp_path / name).write_bytes, args=(path.read_bytes(),))
        writer.start()
        assert figures(run("audit", tmp_path / name, *ROLES, "--json", "-")) == wanted
        writer.join()


def test_a_shell_and_what_stays_behind(tmp_path: Path) -> None:
    """``cat x.csv | biasamp audit -``, with nothing left in the folder of temporary files."""
    path = write(TABLE, tmp_path / "x.csv")
    (tmp_path / "temporary").mkdir()
    command = [sys.executable, "-c", "from biasamp.cli import main; main()", "audit", "-", *ROLES, "--json", "-"]
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    with path.open("rb") as file, subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE) as cat:
        done = subprocess.run(command, stdin=cat.stdout, capture_output=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["data"]["records"] == 40
    assert list((tmp_path / "temporary").iterdir()) == []


def nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Piped(b""))


def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Piped(b"x")
    held.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stdin", held)


def closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)


def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIASAMP_MAX_PIPED", "1KB")
    monkeypatch.setattr(sys, "stdin", Piped(b"g,t,p\n" * 1000))


def no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Piped(b"hello\n\n"))


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (nothing, "DATA: nothing came through standard input"),
        (terminal, "standard input is a terminal: pipe the data in, or name a file"),
        (closed, "standard input is closed"),
        (endless, "more than 1 KB came through standard input, which is the limit"),
        (no_table, "stdin.csv"),
    ],
)
def test_what_is_refused(
    run: Any, state: Callable[[pytest.MonkeyPatch], None], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    state(monkeypatch)
    ran = run("audit", "-", *ROLES)
    assert ran.code == 2
    assert words in " ".join(ran.err.split())


def test_standard_input_is_read_once(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Piped(b"g,t,p\nw,1,1\n"))
    ran = run("audit", "-", *ROLES, "--train", "/dev/stdin")
    assert ran.code == 2
    assert "standard input can be read once" in ran.err


def test_no_room_for_what_comes(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from biasamp.cli import piped_input

    def full(path: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(piped_input, "saving", full)
    monkeypatch.setattr(sys, "stdin", Piped(b"g,t,p\nw,1,1\n"))
    ran = run("audit", "-", *ROLES)
    assert ran.code == 2
    assert "(No space left on device): save the data to a file, or name a folder" in " ".join(ran.err.split())
    assert tempfile.gettempdir() in ran.err


def test_a_file_that_is_redirected_is_not_written_over(tmp_path: Path) -> None:
    """``biasamp audit - --json x.csv < x.csv`` reads x.csv, so it is refused."""
    path = write(TABLE, tmp_path / "x.csv")
    before = path.read_bytes()
    command = [sys.executable, "-c", "from biasamp.cli import main; main()", "audit", "-", *ROLES, "--json", str(path)]
    with path.open("rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, timeout=120)
    assert (done.returncode, path.read_bytes()) == (2, before)
    assert "is what is read as DATA" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("first", "suffix"),
    [
        (b"PAR1\x00", ".parquet"),
        (b"ARROW1\x00\x00", ".arrow"),
        (b'\xef\xbb\xbf {"a": 1}\n', ".jsonl"),
        (b"a\tb\n1\t2,3\n", ".tsv"),
        (b"a\tb,c\n", ".csv"),
        (b"a,b\n", ".csv"),
        (gzip.compress(b'{"a": 1}\n', mtime=0), ".jsonl.gz"),
        (b"\x1f\x8b\xff\xff", ".csv.gz"),
    ],
)
def test_formats_are_told_by_their_first_bytes(first: bytes, suffix: str) -> None:
    assert _suffix(first) == suffix
