"""Every writer of the package leaves the old file or the new one, and no module writes files by other means."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from writers import WRITERS

ROOT = Path(__file__).resolve().parent.parent
SOURCES = [*(ROOT / "src").rglob("*.py"), *(ROOT / "reproductions" / "src").rglob("*.py")]
NEEDS = {"figures": "matplotlib", "reproduction": "biasamp_reproductions"}

# Calls that write a file, by the name of what is called.
WRITING = {
    *("write_text", "write_bytes", "savefig", "write_table", "write_feather", "to_csv", "to_parquet", "to_json_file"),
    *("savez", "savez_compressed", "savetxt", "memmap", "dump", "ParquetWriter", "SummaryWriter", "new_file"),
    *("new_stream", "mkstemp", "NamedTemporaryFile", "replace_file", "copyfile", "OSFile", "fdopen"),
}
# What is allowed: the one place, temporary folders of spilled rows, and writers to memory or to a stream of ``saving``.
ALLOWED = {
    ("biasamp/data/saving.py", "fdopen"),
    ("biasamp/cli/standard_streams.py", "open"),  # the null device
    ("biasamp/cli/command_files.py", "open"),  # the null device
    ("biasamp/data/file_format.py", "OSFile"),  # for reading
    ("biasamp/data/formats.py", "OSFile"),  # for reading
    ("biasamp/data/parts.py", "new_stream"),
    ("biasamp/data/parts.py", "write_table"),
    ("biasamp/engines/spill.py", "new_stream"),
    ("biasamp/engines/spill.py", "OSFile"),
    ("biasamp/counts/storage.py", "write_table"),
    ("biasamp/text/read_text.py", "ParquetWriter"),
    ("biasamp/cli/log_options.py", "write_table"),
    ("biasamp/report/figures.py", "savefig"),
    ("biasamp_reproductions/figures.py", "savefig"),
}


def called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def opens_for_writing(node: ast.Call) -> bool:
    """Whether a call of ``open`` may write: its mode, wherever it stands, says so or is not known."""
    if called(node) not in ("open", "opened"):
        return False
    given = [*node.args, *(word.value for word in node.keywords if word.arg in ("mode", "flags"))]
    modes = [arg.value for arg in given if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    own = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") == "os"
    return own or any(set(mode) & set("wax+") and len(mode) <= 3 for mode in modes)


def writes(path: Path) -> Iterator[tuple[str, str, int]]:
    name = path.relative_to(ROOT / ("src" if ROOT / "src" in path.parents else "reproductions/src")).as_posix()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and (called(node) in WRITING or opens_for_writing(node)):
            yield name, called(node), node.lineno


def test_one_module_opens_files_for_writing() -> None:
    found = [(name, call, line) for path in SOURCES for name, call, line in writes(path)]
    others = [
        f"{name}:{line} {call}"
        for name, call, line in found
        if (name, call) not in ALLOWED and not (name == "biasamp/data/saving.py" and call == "open")
    ]
    assert others == []
    assert {(name, call) for name, call, _ in found} >= ALLOWED, "what is allowed no longer happens: take it out"


@pytest.mark.parametrize(
    "line",
    ["open(p, 'w')", "p.open('wb')", "gzip.open(p, mode='wt')", "p.write_text('')", "os.open(p, f)", "json.dump(x, f)"],
)
def test_the_search_finds_what_it_looks_for(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "x.py").write_text(f"{line}\nopen(p)\np.open('rb')\nopen(p, encoding='utf-8')\n")
    assert [number for _, _, number in writes(tmp_path / "src" / "x.py")] == [1]


def saves(path: Path) -> bool:
    """Whether a module takes the functions that save from where they are."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {"append_text", "save_text", "save_bytes", "saving"}
    return any(
        isinstance(node, ast.ImportFrom) and names & {alias.name for alias in node.names} for node in ast.walk(tree)
    )


def test_every_module_that_saves_is_tried_here() -> None:
    here = {".".join(path.with_suffix("").parts[path.parts.index("src") + 1 :]) for path in SOURCES if saves(path)}
    # What came through a pipe, or was converted, is kept in a folder of temporary files, which no user reads.
    kept = {"biasamp.cli.piped_input", "biasamp.cli.reading_options", "biasamp.cli.log_options"}
    assert here - {"biasamp_reproductions.internals"} - kept == {module for module, _, _ in WRITERS.values()}


@pytest.fixture(params=WRITERS)
def writer(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    return name


def target(folder: Path, writer: str) -> Path:
    (folder / "results").mkdir()
    return folder / "results" / WRITERS[writer][1]


def temporary(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".biasamp-*")]


@pytest.mark.slow(keep=5)
def test_a_full_disk_leaves_the_old_file(writer: str, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path, write = target(tmp_path, writer), WRITERS[writer][2]
    if writer != "new policy":
        write(path, 1)
    old = path.read_bytes() if path.exists() else None
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Files of more than a few bytes fail, as on a disk without room.
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, before[1]))
        with pytest.raises(OSError, match="File too large: '"):
            write(path, 2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (path.read_bytes() if path.exists() else None) == old
    assert temporary(tmp_path) == []


def test_two_writers_leave_the_file_of_one(writer: str, tmp_path: Path) -> None:
    if writer in ("figures", "CSV", "page of explore", "page of try", "new policy", "reproduction", "JUnit"):
        pytest.skip("what it writes has a date in it, or the process allows one at a time")
    path, write = target(tmp_path, writer), WRITERS[writer][2]
    whole = []
    for number in (1, 2):
        write(path, number)
        whole.append(path.read_bytes())
    assert whole[0] != whole[1]
    for _ in range(3):
        threads = [threading.Thread(target=write, args=(path, number)) for number in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert path.read_bytes() in whole
    assert temporary(tmp_path) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks up open files as Linux has them")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["SIGKILL", "SIGTERM"])
def test_a_kill_while_saving_leaves_the_old_file(writer: str, tmp_path: Path, number: signal.Signals) -> None:
    path, write = target(tmp_path, writer), WRITERS[writer][2]
    if writer != "new policy":
        write(path, 1)
    old = path.read_bytes() if path.exists() else None
    # Writers through saved results save those first, in the same folder.
    first = 1 if writer in ("page of explore", "new policy") else 0
    command = [sys.executable, str(ROOT / "tests" / "writers.py"), writer, str(path), "2", str(first)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert "written" in process.stdout.readline()
        assert len(temporary(tmp_path)) == 1
        process.send_signal(number)
        process.wait(timeout=60)
    assert (path.read_bytes() if path.exists() else None) == old
    # What the kill left behind is in nobody's way.
    write(path, 2)
    assert path.read_bytes() != old
