"""How every file is written: whole or not at all. No other module opens a file for writing."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from .plain_arguments import path_of

# Names of temporary files. Readers of folders leave out names that begin with a dot, and no format has the suffix: one
# that a killed process leaves behind is never taken for data.
_PREFIX, _SUFFIX = ".biasamp-", ".tmp"
_TOKEN_BYTES = 8
# Some file systems cannot flush; that is no failure to write.
_CANNOT_FLUSH = (errno.EINVAL, errno.ENOTSUP)


def save_bytes(path: str | os.PathLike[str], content: bytes, *, new: bool = False) -> None:
    """Write bytes to a file, as :func:`saving` does."""
    with saving(path, new=new) as stream:
        stream.write(content)


def save_text(path: str | os.PathLike[str], content: str, *, new: bool = False) -> None:
    """Write text to a file as UTF-8, as :func:`saving` does; line breaks stay as they are.

    Half a surrogate pair, as broken input may have it, becomes an escape: UTF-8 cannot hold it.
    """
    save_bytes(path, content.encode("utf-8", "backslashreplace"), new=new)


def append_text(path: str | os.PathLike[str], content: str) -> None:
    """Add text to the end of a file, as :func:`saving` writes: all of the old and the new, or the old alone.

    It begins on a line of its own. A file that is not there is made; a pipe or a device gets the text alone. Of several at a
    time, each waits for the one before (on Windows the last one may win).
    """
    path_of(path)
    with _alone_in(Path(os.path.realpath(path)).parent):
        try:
            there = os.stat(path)
        except FileNotFoundError:
            there = None
        replaced = there is not None and stat.S_ISREG(there.st_mode) and _descriptor(path, there) is None
        old = Path(path).read_bytes() if replaced else b""
        if old and not old.endswith(b"\n"):
            old += b"\n"
        with saving(path) as stream:
            stream.write(old + content.encode("utf-8", "backslashreplace"))


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """While this lasts nobody else adds to a file of a folder; the file itself is replaced, so that it cannot be locked."""
    descriptor = None
    with suppress(OSError, ImportError):  # there is nothing to lock here
        from fcntl import LOCK_EX, flock

        descriptor = os.open(folder, os.O_RDONLY)
        flock(descriptor, LOCK_EX)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


@contextmanager
def saving(path: str | os.PathLike[str], *, new: bool = False) -> Iterator[IO[bytes]]:
    """A stream whose bytes become the file when the block ends, and not before.

    They go to a temporary file in the same folder, which is flushed to the disk and then takes the place of the file in
    one step. Whoever reads meanwhile, and whatever goes wrong (an error, a full disk, an interrupt, a kill, another
    writer), there is the old file or the new one, never a part of one. A temporary file stays behind only where the
    process or the machine is killed at once.

    A symbolic link stays, and the file that it points to is replaced. A file keeps its permissions, a new one gets
    those of the process; other names of the same file (hard links) keep the old content. A pipe, a device and the
    process's own standard output are no files that could be replaced: bytes go there directly.

    Parameters
    ----------
    path : path
    new : bool
        Refuse a file that is there already, also one that appears while this one is written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with saving(Path(folder) / "figures.txt") as stream:
    ...         _ = stream.write(b"0.15")
    ...     (Path(folder) / "figures.txt").read_text(), len(list(Path(folder).iterdir()))
    ('0.15', 1)
    """
    path_of(path)
    try:
        there = os.stat(path)
    except FileNotFoundError:
        there = None
    if there is not None and stat.S_ISDIR(there.st_mode):
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder; name a file in it to write to")
    if there is not None and new:
        raise FileExistsError(f"{os.fspath(path)!r} exists; name a new file, or remove it first")
    if there is not None and not os.access(path, os.W_OK):
        raise PermissionError(f"{os.fspath(path)!r} may not be written: it is read-only")
    if there is not None and (descriptor := _direct(path, there)) is not None:
        with _written_directly(path, descriptor) as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder of {os.fspath(path)!r} does not exist; make it first")
    temporary = target.parent / f"{_PREFIX}{secrets.token_hex(_TOKEN_BYTES)}{_SUFFIX}"
    try:
        with _created(temporary, there) as stream:
            yield stream
            stream.flush()
            _flushed(stream.fileno())
        _put_in_place(temporary, target, new)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.errno is not None and error.filename in (None, str(temporary)):
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise
    _flush_folder(target.parent)


def is_own_output(there: os.stat_result) -> int | None:
    """The number of the standard stream (1 or 2) that a file is, or None; each may be redirected to any file."""
    for number in (1, 2):
        with suppress(OSError):
            if os.path.samestat(there, os.fstat(number)):
                return number
    return None


def _direct(path: str | os.PathLike[str], there: os.stat_result) -> int | None:
    """A descriptor to write to where a path is no file that can be replaced, else None."""
    own = _descriptor(path, there)
    if own is not None:
        # Through a copy of the stream itself: it appends to what was written, and truncates nothing.
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        return os.dup(own)
    return None if stat.S_ISREG(there.st_mode) else os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0))


def _descriptor(path: str | os.PathLike[str], there: os.stat_result) -> int | None:
    """The descriptor of this process that a path is, or None."""
    folder, name = os.path.split(os.path.abspath(path))
    own = is_own_output(there)
    if own is None and os.path.realpath(folder) in ("/dev/fd", f"/proc/{os.getpid()}/fd") and name.isdecimal():
        own = int(name)
    return own


@contextmanager
def _written_directly(path: str | os.PathLike[str], descriptor: int) -> Iterator[IO[bytes]]:
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
    except BrokenPipeError:
        raise OSError(f"{os.fspath(path)!r} was closed by its reader before all was written") from None


def _created(temporary: Path, there: os.stat_result | None) -> Any:
    """The temporary file, open for writing, with the permissions of the file that it will replace."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    # Until it has the permissions of the old file nobody else may read it.
    descriptor = os.open(str(temporary), flags, 0o666 if there is None else 0o600)
    stream = os.fdopen(descriptor, "wb")
    if there is not None and os.name == "posix":
        if (there.st_uid, there.st_gid) != (os.geteuid(), os.getegid()):
            with suppress(OSError):  # only an administrator can give a file away
                os.fchown(descriptor, there.st_uid, there.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(there.st_mode))
    return stream


def _put_in_place(temporary: Path, target: Path, new: bool) -> None:
    if not new:
        os.replace(str(temporary), target)
        return
    try:
        try:
            # A link is refused where the name is taken, in one step.
            os.link(temporary, target)
            temporary.unlink()
        except FileExistsError:
            raise
        except (OSError, AttributeError):  # no hard links here: the name is taken first, then filled
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            os.replace(temporary, target)
    except FileExistsError:
        raise FileExistsError(f"{str(target)!r} exists; name a new file, or remove it first") from None


def _flushed(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _CANNOT_FLUSH:
            raise


def _flush_folder(folder: Path) -> None:
    """The new name itself on the disk, where the system can do that."""
    if os.name != "posix":
        return
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
