"""``biasamp reproduce`` without the distribution of experiments, and with one of a stranger's."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from biasamp.cli import cmd_reproduce as reproduce


class Entry:
    """An entry point that notes what it was called with."""

    def __init__(self, code: int) -> None:
        self.code = code
        self.called: list[Any] = []

    def load(self) -> Any:
        def run(name: str | None, **options: Any) -> int:
            self.called.append((name, options))
            return self.code

        return run


def installed(monkeypatch: pytest.MonkeyPatch, *found: Entry) -> None:
    def entry_points(*, group: str) -> tuple[Entry, ...]:
        assert group == "biasamp.reproductions"
        return found

    monkeypatch.setattr(reproduce, "entry_points", entry_points)


@pytest.mark.parametrize("arguments", [[], ["worked-examples"], ["all"]])
def test_nothing_installed(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    installed(monkeypatch)
    ran = CliRunner().invoke(reproduce.command, arguments)
    assert ran.exit_code == 2
    assert "biasamp-reproductions" in ran.output
    assert "pip install ./reproductions" in ran.output


def test_help_needs_no_experiments(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    ran = CliRunner().invoke(reproduce.command, ["--help"])
    assert ran.exit_code == 0
    assert "--model" in ran.output


@pytest.mark.parametrize("code", [0, 1, 3, 4])
def test_arguments_go_in_and_the_code_comes_out(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    entry = Entry(code)
    installed(monkeypatch, entry)
    ran = CliRunner().invoke(reproduce.command, ["x", "--seed", "3", "--folder", "out", "--model", "m", "--json", "-"])
    assert ran.exit_code == code
    sizes = {"quick": False, "scale": {}, "seeds": None, "resume": False, "own": {}}
    assert entry.called == [("x", {"seed": 3, "folder": "out", "model": "m", "json_path": "-", **sizes})]


def test_sizes_and_own_files_go_in(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = Entry(0)
    installed(monkeypatch, entry)
    given = [
        "x",
        "--quick",
        "--scale",
        "train=5",
        "--seeds",
        "2",
        "--resume",
        "--labels",
        "l.csv",
        "--identities",
        "a,b",
    ]
    assert CliRunner().invoke(reproduce.command, given).exit_code == 0
    ((_, options),) = entry.called
    assert (options["quick"], options["scale"], options["seeds"], options["resume"]) == (True, {"train": 5}, 2, True)
    assert options["own"] == {"labels": "l.csv", "identities": "a,b"}
    for wrong in (["--labels", "l.csv"], ["--score", "s"], ["--scale", "train=x"]):
        assert CliRunner().invoke(reproduce.command, ["x", *wrong]).exit_code == 2


def test_a_file_that_cannot_be_written_is_refused_first(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = Entry(0)
    installed(monkeypatch, entry)
    ran = CliRunner().invoke(reproduce.command, ["x", "--json", "/no/such/folder/figures.json"])
    assert ran.exit_code == 2
    assert not entry.called
