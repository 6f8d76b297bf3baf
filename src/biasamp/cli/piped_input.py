"""Standard input and pipes as data: kept in a temporary file first, for data are read more than once."""

from __future__ import annotations

import io
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import click

from biasamp.data.byte_sizes import parse_bytes, shown_bytes
from biasamp.data.formats import find_format
from biasamp.data.saving import saving
from biasamp.data.unzipping import is_gzip

DASH = "-"
STDIN = "/dev/stdin"
# What may come through a pipe, unless the environment says otherwise: a pipe need not end.
MOST_PIPED = 20 * 10**9
VARIABLE = "BIASAMP_MAX_PIPED"
_CHUNK = 1 << 20
_FORMATS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\xff\xff\xff\xff": ".arrow",
    b"{": ".jsonl",
    b"PK\x03\x04": ".xlsx",
}


def is_piped(path: str) -> bool:
    """Whether a path is standard input or a pipe; a file may well be called ``-``, and is then ``./-``.

    >>> is_piped("-"), is_piped("data.csv")
    (True, False)
    """
    if path in (DASH, STDIN, "/dev/fd/0", "/proc/self/fd/0"):
        return True
    with suppress(OSError, ValueError):
        mode = os.stat(path).st_mode
        return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
    return False


def is_stdin(path: str) -> bool:
    """Whether a path is standard input, by any of its names."""
    if path in (DASH, STDIN):
        return True
    with suppress(OSError, ValueError):
        return os.path.samestat(os.stat(path), os.fstat(0))
    return False


@contextmanager
def kept(path: str, option: str) -> Iterator[str]:
    """The path of a file with all that a pipe has, for as long as the block lasts.

    It is called ``stdin``, or as the pipe is, with the suffix of the format that its first bytes say: JSON lines begin with
    a bracket, tab-separated text has a tab in its first line and no comma.
    """
    with tempfile.TemporaryDirectory(prefix="biasamp-") as folder, _opened(path, option) as stream:
        first = stream.read(_CHUNK)
        if not first:
            raise click.UsageError(f"{option}: nothing came through {_shown(path)}")
        name = Path(path).name
        if is_stdin(path) or find_format(Path(name)) is None:
            name = "stdin" if is_stdin(path) else name
            name += _suffix(first)
        target = Path(folder) / name
        _copy(first, stream, target, path, option)
        yield str(target)


def _copy(first: bytes, stream: IO[bytes], target: Path, path: str, option: str) -> None:
    said = os.environ.get(VARIABLE)
    limit = MOST_PIPED if said is None else parse_bytes(said, VARIABLE)
    chunk, total = first, 0
    try:
        with saving(target) as out:
            while chunk:
                total += len(chunk)
                if total > limit:
                    raise click.UsageError(
                        f"{option}: more than {shown_bytes(limit)} came through {_shown(path)}, which is the limit. Save the data "
                        f"to a file, or raise the limit: {VARIABLE}=100GB in the environment"
                    )
                out.write(chunk)
                chunk = stream.read(_CHUNK)
    except OSError as error:
        raise click.UsageError(
            f"{option}: what comes through {_shown(path)} cannot be kept in {tempfile.gettempdir()!r} ({error.strerror}): save the "
            "data to a file, or name a folder with room for them in TMPDIR"
        ) from None


@contextmanager
def _opened(path: str, option: str) -> Iterator[IO[bytes]]:
    if not is_stdin(path):
        with open(path, "rb") as file:
            yield file
        return
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None or stream.closed:
        raise click.UsageError(f"{option}: standard input is closed")
    if sys.stdin.isatty():
        raise click.UsageError(f"{option}: standard input is a terminal: pipe the data in, or name a file")
    yield stream


def _suffix(first: bytes) -> str:
    """What a file of these first bytes is called."""
    import zlib

    zipped = ""
    if is_gzip(first):
        zipped = ".gz"
        with suppress(zlib.error):
            first = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(first, _CHUNK)
    text = first.removeprefix(b"\xef\xbb\xbf").lstrip()
    found = next((suffix for magic, suffix in _FORMATS.items() if text.startswith(magic)), None)
    line = io.BytesIO(text).readline()
    return (found or (".tsv" if b"\t" in line and b"," not in line else ".csv")) + zipped


def _shown(path: str) -> str:
    return "standard input" if is_stdin(path) else repr(path)
