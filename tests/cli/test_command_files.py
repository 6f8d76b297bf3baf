"""No command writes over what it reads. Command lines are made from the commands' own parameters, so they grow with them."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest

from biasamp.cli import group
from biasamp.cli.command_files import Command, Input, Output, OutputFolder, Use, check_uses

COMMANDS = {name: group.get_command(click.Context(group), name) for name in group.list_commands(click.Context(group))}
# Values that an argument needs around the path, and what a command needs besides required parameters.
AROUND = {("compare", "sources"): "new={}", ("explore", "results"): "new={}"}
FURTHER = {"compare": ["old=audit.json"], "reproduce": ["worked-examples"]}


class Pair(NamedTuple):
    """An input and an output of one command."""

    command: str
    read: click.Parameter
    written: click.Parameter

    def line(self, read: str, written: str) -> list[str]:
        """A command line with these two, and what else is required."""
        words = [self.command, *FURTHER.get(self.command, [])]
        for param in COMMANDS[self.command].params:
            value = {self.read.name: read, self.written.name: written}.get(param.name or "")
            if value is None and param.required and isinstance(param.type, (Input, Output)):
                value = "other.csv" if isinstance(param.type, Input) else "unused.out"
            if value is None and param.required:
                value = "x"
            if value is not None:
                shaped = (
                    AROUND.get((self.command, param.name or ""), "{}").format(value) if param is self.read else value
                )
                words += [max(param.opts, key=len), shaped] if isinstance(param, click.Option) else [shaped]
        return words


def typed(command: click.Command, *kinds: type) -> list[click.Parameter]:
    return [param for param in command.params if isinstance(param.type, kinds)]


PAIRS = [
    Pair(name, read, written)
    for name, command in COMMANDS.items()
    for read, written in itertools.product(typed(command, Input), typed(command, Output))
]
PAIR_NAMES = [f"{pair.command}-{pair.read.name}-{pair.written.name}" for pair in PAIRS]
OUTPUTS = [
    Pair(name, one, two)
    for name, command in COMMANDS.items()
    for one, two in itertools.combinations(typed(command, Output), 2)
]
FOLDERS = [
    Pair(name, read, folder)
    for name, command in COMMANDS.items()
    for read, folder in itertools.product(typed(command, Input), typed(command, OutputFolder))
]


def by_path(there: Path) -> str:
    return str(there)


def by_relative_path(there: Path) -> str:
    return os.path.join("folder", "..", there.name)


def by_symbolic_link(there: Path) -> str:
    (there.parent / "link").symlink_to(there)
    return str(there.parent / "link")


def by_hard_link(there: Path) -> str:
    os.link(there, there.parent / "hard")
    return str(there.parent / "hard")


_OPENED: list[int] = []


def by_links_in_a_row(there: Path) -> str:
    (there.parent / "first").symlink_to(there.name)
    (there.parent / "folder" / "second").symlink_to(there.parent / "first")
    return os.path.join("folder", "second")


def by_a_folder_above(there: Path) -> str:
    (there.parent / "folder" / "up").symlink_to(there.parent)
    return os.path.join("folder", "up", "folder", "up", there.name)


def by_descriptor(there: Path) -> str:
    number = os.open(there, os.O_RDWR)
    _OPENED.append(number)
    return f"/dev/fd/{number}"


def by_process(there: Path) -> str:
    return f"/proc/{os.getpid()}/cwd/{there.name}"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "other.csv").write_text("g,t,p\na,1,1\n")
    (tmp_path / "audit.json").write_text("{}")
    yield tmp_path
    while _OPENED:
        os.close(_OPENED.pop())


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(run: Any, here: Path, line: list[str]) -> str:
    """The complaint of a command line, which has changed no file."""
    before = contents(here)
    ran = run(*line)
    assert (ran.code, ran.out) == (2, ""), (line, ran)
    assert contents(here) == before, line
    assert "Traceback" not in ran.err
    return str(ran.err)


def option(param: click.Parameter) -> str:
    return max(param.opts, key=len) if isinstance(param, click.Option) else ""


def test_there_are_many_pairs() -> None:
    assert len(PAIRS) * 4 + len(OUTPUTS) + len(FOLDERS) >= 100
    assert {pair.command for pair in PAIRS} >= {"audit", "check", "compare", "count", "merge", "explore", "associate"}


def test_every_parameter_that_names_a_file_says_whether_it_is_read_or_written() -> None:
    for name, command in COMMANDS.items():
        assert isinstance(command, Command), name
        for param in command.params:
            known = isinstance(param.type, (Input, Output, OutputFolder))
            assert known or not isinstance(param.type, (click.Path, click.File)), (name, param.name)
            words = f"{param.name} {getattr(param, 'metavar', '')} {getattr(param, 'help', '')}".lower()
            names_a_file = any(word in words.replace("-", " ").split() for word in ("file", "folder", "dir", "path"))
            assert known or not names_a_file or param.name in SAID, (name, param.name)


# Their help speaks of files, but they name none.
SAID = {"record"}


@pytest.mark.parametrize("way", [by_path, by_relative_path, by_symbolic_link, by_hard_link])
@pytest.mark.parametrize("pair", PAIRS, ids=PAIR_NAMES)
def test_no_command_writes_over_what_it_reads(run: Any, here: Path, pair: Pair, way: Callable[[Path], str]) -> None:
    there = here / "precious.csv"
    there.write_text("g,t,p\na,1,1\nb,0,0\n")
    message = refused(run, here, pair.line(str(there), way(there)))
    assert "is what is read as" in message
    assert option(pair.written) in message
    assert option(pair.read) in message


@pytest.mark.skipif(sys.platform != "linux", reason="names of open files as Linux has them")
@pytest.mark.parametrize("way", [by_links_in_a_row, by_a_folder_above, by_descriptor, by_process])
@pytest.mark.parametrize("pair", PAIRS[::4], ids=PAIR_NAMES[::4])
def test_no_file_of_the_data_is_opened_before_a_refusal(
    run: Any, here: Path, pair: Pair, way: Callable[[Path], str]
) -> None:
    there = here / "precious.csv"
    there.write_text("g,t,p\na,1,1\nb,0,0\n")
    line = pair.line(str(there), way(there))
    seen: list[str] = []

    def watched(event: str, given: tuple[Any, ...]) -> None:
        if watching and event == "open" and str(given[0]).endswith("precious.csv"):
            seen.append(str(given[0]))

    watching = True
    sys.addaudithook(watched)  # which stays until the process ends
    try:
        ran = run(*line)
    finally:
        watching = False
    # A policy names further inputs, so that it is read to know them.
    assert (ran.code, ran.out, seen) == (2, "", [] if pair.read.name != "policy_path" else seen)
    assert "is what is read as" in ran.err
    assert there.read_text() == "g,t,p\na,1,1\nb,0,0\n"


@pytest.mark.parametrize("pair", PAIRS, ids=PAIR_NAMES)
def test_no_command_writes_into_a_folder_that_it_reads(run: Any, here: Path, pair: Pair) -> None:
    (here / "folder" / "part.csv").write_text("g,t,p\na,1,1\n")
    for written in ("folder/new.csv", "folder/part.csv", "folder/../folder/new.csv"):
        assert "in the folder that is read" in refused(run, here, pair.line("folder", written))
    # A link inside the folder is read too: what it points to is an input.
    (here / "elsewhere.csv").write_text("g,t,p\na,1,1\n")
    (here / "folder" / "linked.csv").symlink_to(here / "elsewhere.csv")
    assert "in the folder that is read" in refused(run, here, pair.line("folder", "elsewhere.csv"))


@pytest.mark.parametrize("pair", OUTPUTS, ids=lambda pair: f"{pair.command}-{pair.read.name}-{pair.written.name}")
def test_two_results_do_not_go_to_one_file(run: Any, here: Path, pair: Pair) -> None:
    for one, two in (("result.out", "result.out"), ("result.out", "folder/../result.out"), ("-", "-")):
        message = refused(run, here, pair.line(one, two))
        assert "name two files" in message or "standard output" in message
        assert option(pair.written) in message or option(pair.read) in message


@pytest.mark.parametrize("pair", FOLDERS, ids=lambda pair: f"{pair.command}-{pair.read.name}-{pair.written.name}")
def test_a_folder_of_results_is_apart_from_what_is_read(run: Any, here: Path, pair: Pair) -> None:
    folder = here / "folder"
    (folder / "part.csv").write_text("g,t,p\na,1,1\n")
    assert "is what is read" in refused(run, here, pair.line("folder", "folder"))
    assert "in the folder that is read" in refused(run, here, pair.line("folder", "folder/figures"))
    names = next(iter(pair.written.type.uses("", "folder", {"name": "x", "html_path": None}))).names
    for pattern in names:
        (here / "precious.csv").write_text("g,t,p\na,1,1\n")
        taken = folder / pattern.replace("*", "00_pairs")
        taken.symlink_to(here / "precious.csv")
        assert "is what is read" in refused(run, here, pair.line("precious.csv", "folder"))
        taken.unlink()


@pytest.mark.parametrize("pair", PAIRS[::5], ids=PAIR_NAMES[::5])
def test_what_cannot_be_written_is_said_before_the_work(run: Any, here: Path, pair: Pair) -> None:
    for target, words in {
        "folder": "is a folder; name a file",
        "": "is empty",
        "nowhere/result": "does not exist; make it first",
        "new/": "names a folder",
        "x" * 300: "cannot be written",
    }.items():
        assert words in refused(run, here, pair.line("other.csv", target))
    (here / "loop").symlink_to(here / "loop")
    assert "cannot be written" in refused(run, here, pair.line("other.csv", "loop"))


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="an administrator may write anywhere")
def test_read_only_targets_are_refused(run: Any, here: Path) -> None:
    (here / "kept.json").write_text("{}")
    (here / "kept.json").chmod(0o444)
    assert "read-only" in refused(run, here, ["audit", "other.csv", "--json", "kept.json"])


def test_a_check_does_not_replace_the_baseline_that_it_reads(run: Any, here: Path) -> None:
    (here / "base.json").write_text("{}")
    message = refused(run, here, ["check", "other.csv", "--baseline", "base.json", "--save", "base.json"])
    assert "--save 'base.json' is what is read as --baseline" in message


@pytest.mark.parametrize(
    ("pattern", "written", "is_found"),
    [
        ("old_*.json", "old_new.json", True),
        ("old_*.json", "folder/../OLD_new.json", True),
        ("./old_?.json", "old_x.json", True),
        ("*/old_[0-9].json", "folder/old_7.json", True),
        ("old_*.json", "folder/old_new.json", False),
        ("old_*.json", "new_old.json", False),
        ("old_?.json", "old_12.json", False),
    ],
)
def test_no_result_is_called_as_a_pattern_of_inputs(
    run: Any, here: Path, pattern: str, written: str, is_found: bool
) -> None:
    """The next time it would be one of them."""
    (here / "old_1.json").write_text("{}")
    message = refused(run, here, ["compare", f"old={pattern}", "new=audit.json", "--json", written])
    assert ("would be read next time" in message) == is_found, message


@pytest.mark.parametrize("key", ["train", "base", "baseline"])
def test_the_files_that_a_policy_names_are_inputs(run: Any, here: Path, key: str) -> None:
    (here / "folder" / "kept.csv").write_text("g,t\na,1\n")
    entry = '[baseline]\naudit = "kept.csv"' if key == "baseline" else f'[data]\n{key} = "kept.csv"'
    limit = '[[limit]]\nmetric = "directional"\ndirection = "A->T"\nmax = 0.1'
    (here / "folder" / "policy.toml").write_text(f"{entry}\n{limit}\n")
    line = ["check", "other.csv", "--policy", "folder/policy.toml", "--save", "folder/kept.csv"]
    assert f"{key} of --policy" in refused(run, here, line)
    if key == "baseline":  # with another baseline the policy's own is not read, and may be made anew
        ran = run(*line, "--baseline", "audit.json")
        assert "of --policy" not in ran.err


def test_a_new_policy_is_never_written_over_a_file(run: Any, here: Path) -> None:
    line = ["check", "other.csv", "--init", "--attributes", "g", "--tasks", "t", "--policy"]
    assert "exists; name a new file" in refused(run, here, [*line, "audit.json"])
    assert "--policy and --save would write to the same file" in refused(
        run, here, [*line, "p.toml", "--save", "p.toml"]
    )


@pytest.mark.parametrize("pair", PAIRS[::5], ids=PAIR_NAMES[::5])
def test_an_empty_name_is_not_this_folder(run: Any, here: Path, pair: Pair) -> None:
    """As a shell has it from a variable that is not set."""
    message = refused(run, here, pair.line("", "result.out"))
    assert "is empty: name a file" in message or "is not of the form" in message


def test_a_number_as_threshold_is_no_file(here: Path) -> None:
    (here / "0.5").write_text("precious")
    assert list(Input.uses(COMMANDS["associate"].params[4].type, "--threshold", "0.5", {})) == []


def test_demo_files_are_apart(run: Any, here: Path) -> None:
    assert "--folder and --json" in refused(run, here, ["demo", "--folder", "new", "--json", "new/audit.json"])
    assert "--folder and --html" in refused(run, here, ["demo", "--folder", "new", "--html", "./new/Audit.json"])


def uses(*pairs: tuple[str, bool]) -> Iterator[Use]:
    for number, (path, writes) in enumerate(pairs):
        yield Use(f"--{number}", path, writes)


def test_devices_are_shared(here: Path) -> None:
    check_uses(list(uses((os.devnull, False), (os.devnull, True), (os.devnull, True))))


@pytest.mark.slow(keep=1)
@pytest.mark.skipif(os.name != "posix", reason="redirects as POSIX shells have them")
@pytest.mark.parametrize("streams", [("stdout",), ("stderr",), ("stdout", "stderr")])
def test_what_a_shell_redirects_to_is_an_output(here: Path, streams: tuple[str, ...]) -> None:
    with (here / "other.csv").open("a") as stream:
        command = [sys.executable, "-m", "biasamp", "audit", "other.csv", "--attributes", "g", "--tasks", "t"]
        places: dict[str, Any] = {name: stream if name in streams else subprocess.PIPE for name in ("stdout", "stderr")}
        ran = subprocess.run(command, **places, text=True, timeout=60)
    assert ran.returncode == 2
    assert len(streams) == 2 or " is what is read as DATA" in (ran.stdout or "") + (ran.stderr or "")
    assert (here / "other.csv").read_text() == "g,t,p\na,1,1\n"


def test_names_that_the_file_system_takes_for_one(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import biasamp.cli.command_files as module

    check_uses(list(uses(("Result.json", True), ("result.json", True))))
    monkeypatch.setattr(module, "_folds", lambda path: True)
    with pytest.raises(click.UsageError, match="same file"):
        check_uses(list(uses(("Result.json", True), ("result.json", True))))


@pytest.mark.parametrize(
    ("option", "name", "better"),
    [
        ("--json", "x.parquet", "x.json"),
        ("--json", "x.json.gz", "x.json"),
        ("--html", "x.JSON", "x.html"),
        ("--save", "worst.csv", "worst.json"),
    ],
)
def test_an_output_refuses_an_ending_that_it_does_not_write(
    option: str, name: str, better: str, tmp_path: Path
) -> None:
    line = ["audit", "none.csv", option, str(tmp_path / name)]
    with pytest.raises(click.UsageError, match=f"{option} writes .* call it '{better}'"):
        group.main(line, standalone_mode=False)


def test_an_output_takes_a_name_that_says_nothing_of_its_format(tmp_path: Path) -> None:
    for name in ("report", "v0.2", "model.best", "x.JSON"):
        check_uses([Use("--json", str(tmp_path / name), writes=True, endings=(".json",))])
