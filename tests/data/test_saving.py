"""Files are written whole or not at all, whatever happens meanwhile."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from biasamp.data import saving as module
from biasamp.data.files import open_files
from biasamp.data.saving import append_text, save_bytes, save_text, saving

posix = pytest.mark.skipif(os.name != "posix", reason="permissions, links and pipes as POSIX has them")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "target.txt"
    path.write_text("old")
    return path


def only(path: Path) -> bool:
    """Whether nothing else is in the folder of a file."""
    return list(path.parent.iterdir()) == [path]


def test_what_is_appended(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append_text(target, "ünd\n")
    append_text(target, "more")
    assert target.read_text("utf-8") == "old\nünd\nmore"
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    with pytest.raises(OSError, match="full"):
        append_text(target, "lost")
    assert target.read_text("utf-8") == "old\nünd\nmore"
    assert only(target)


@posix
def test_nothing_that_is_appended_at_the_same_time_is_lost(target: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: append_text(target, f"{number}\n"), range(40)))
    assert sorted(target.read_text().split()) == sorted(["old", *map(str, range(40))])
    assert only(target)


@posix
def test_what_is_appended_to_an_own_stream_is_not_repeated(tmp_path: Path) -> None:
    code = (
        "from biasamp.data.saving import append_text; print('first', flush=True); append_text('out.txt', 'second\\n')"
    )
    with (tmp_path / "out.txt").open("w") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, cwd=tmp_path, check=True)
    assert (tmp_path / "out.txt").read_text() == "first\nsecond\n"


def test_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    save_text(path, "a\r\nä\n")
    assert path.read_bytes() == "a\r\nä\n".encode()
    save_bytes(str(path), b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    assert only(path)


def test_half_a_pair_of_surrogates_is_escaped(tmp_path: Path) -> None:
    save_text(tmp_path / "x", "a\ud800b")
    assert (tmp_path / "x").read_text() == "a\\ud800b"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_an_error_while_writing_leaves_the_old_file_alone(target: Path, error: type[BaseException]) -> None:
    def write() -> None:
        with saving(target) as stream:
            stream.write(b"half")
            stream.flush()
            assert target.read_text() == "old"
            raise error

    with pytest.raises(error):
        write()
    assert target.read_text() == "old"
    assert only(target)


@pytest.mark.parametrize("step", ["open", "fsync", "replace", "fchmod"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_every_step_may_fail(target: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException) -> None:
    def fail(*_: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(module.os, step, fail)
        with pytest.raises(type(error)) as caught:
            save_text(target, "new")
    if isinstance(error, OSError):
        assert str(caught.value) == f"[Errno 28] No space left on device: '{target}'"
    assert target.read_text() == "old"
    assert only(target)


def test_a_file_system_that_cannot_flush_still_takes_files(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot(descriptor: int) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(module.os, "fsync", cannot)
    save_text(target, "new")
    assert target.read_text() == "new"


@posix
def test_permissions_stay(target: Path) -> None:
    for mode in (0o600, 0o640, 0o755):
        target.chmod(mode)
        save_text(target, "new")
        assert stat.S_IMODE(target.stat().st_mode) == mode


@posix
def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    save_text(tmp_path / "ours", "x")
    (tmp_path / "plain").write_text("x")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


@posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="an administrator may write anything")
def test_a_read_only_file_is_refused(target: Path) -> None:
    target.chmod(0o444)
    with pytest.raises(PermissionError, match="read-only"):
        save_text(target, "new")


@posix
def test_links_stay_and_their_targets_are_replaced(target: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link"
    link.symlink_to("../target.txt")
    save_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    dangling = tmp_path / "elsewhere" / "dangling"
    dangling.symlink_to("made.txt")
    save_text(dangling, "made")
    assert (tmp_path / "elsewhere" / "made.txt").read_text() == "made"


@posix
def test_a_loop_of_links_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="loop"):
        save_text(tmp_path / "loop", "x")


def test_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="is a folder; name a file"):
        save_text(tmp_path, "x")
    with pytest.raises(FileNotFoundError, match="does not exist; make it first"):
        save_text(tmp_path / "no" / "x", "x")


def test_long_names_are_no_trouble(tmp_path: Path) -> None:
    save_text(tmp_path / ("x" * 250), "y")
    assert only(tmp_path / ("x" * 250))


@posix
def test_pipes_are_written_to_and_stay(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_bytes)
        save_text(pipe, "through")
        assert read.result(timeout=10) == b"through"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@posix
def test_a_reader_that_goes_away_is_no_broken_pipe_of_ours(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    def write() -> None:
        with saving(pipe) as stream:
            os.close(reader)
            stream.write(b"x" * 100_000)

    with pytest.raises(OSError, match="closed by its reader") as caught:
        write()
    assert not isinstance(caught.value, BrokenPipeError)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_devices_stay_devices() -> None:
    save_text("/dev/null", "x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(OSError, match="No space left"):
        save_text("/dev/full", "x")


@pytest.mark.slow(keep=1)
@pytest.mark.skipif(sys.platform != "linux", reason="/dev/stdout as Linux has it")
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "out.txt"])
def test_standard_output_is_appended_to_wherever_it_goes(tmp_path: Path, name: str) -> None:
    code = f"from biasamp.data.saving import save_text; print(1); save_text({name!r}, '2\\n'); print(3)"
    with (tmp_path / "out.txt").open("w") as stream:
        subprocess.run([sys.executable, "-c", code], stdout=stream, cwd=tmp_path, check=True, timeout=60)
    assert (tmp_path / "out.txt").read_text() == "1\n2\n3\n"
    piped = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=tmp_path, check=True, timeout=60)
    assert (piped.stdout if name != "out.txt" else b"1\n2\n3\n") == b"1\n2\n3\n"


def test_new_files_replace_nothing(target: Path) -> None:
    with pytest.raises(FileExistsError, match="exists; name a new file"):
        save_text(target, "new", new=True)
    assert target.read_text() == "old"


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_meanwhile_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    if not links:
        monkeypatch.delattr(module.os, "link", raising=False)
    path = tmp_path / "x"

    def write() -> None:
        with saving(path, new=True) as stream:
            path.write_text("theirs")
            stream.write(b"ours")

    with pytest.raises(FileExistsError, match="exists"):
        write()
    assert path.read_text() == "theirs"
    assert only(path)
    save_text(tmp_path / "y", "ours", new=True)
    assert (tmp_path / "y").read_text() == "ours"


@pytest.mark.parametrize("links", [True, False])
def test_of_several_writers_of_a_new_file_one_succeeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    if not links:
        monkeypatch.delattr(module.os, "link", raising=False)
    start = threading.Barrier(8)

    def write(number: int) -> bool:
        start.wait()
        try:
            save_text(tmp_path / "x", str(number), new=True)
        except FileExistsError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(write, range(8)))
    assert sum(done) == 1
    assert (tmp_path / "x").read_text() == str(done.index(True))


def test_readers_beside_writers_see_whole_files(tmp_path: Path) -> None:
    path = tmp_path / "x"
    contents = [bytes([65 + i]) * (200_000 + i) for i in range(4)]
    save_bytes(path, contents[0])
    left = threading.Event()
    seen = set()

    def read() -> None:
        while not left.is_set():
            seen.add(path.read_bytes())

    def write(content: bytes) -> None:
        for _ in range(20):
            save_bytes(path, content)

    reader = threading.Thread(target=read)
    reader.start()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, contents))
    left.set()
    reader.join()
    assert seen <= set(contents)
    assert path.read_bytes() in contents
    assert only(path)


def test_what_a_killed_writer_leaves_behind_is_no_data(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    with saving(tmp_path / "b.csv") as stream:
        stream.write(b"x\n2\n")
        stream.flush()
        left = [path for path in tmp_path.iterdir() if path.name != "a.csv"]
        assert len(left) == 1
        assert [path.name for path in open_files(tmp_path).paths] == ["a.csv"]
        assert left[0].name.startswith(".")
