"""Gzipped files, unzipped as far as a limit: a few kilobytes may be made to hold terabytes."""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .byte_sizes import parse_bytes, shown_bytes

# What one gzipped file may hold, unless the environment says otherwise. A file that is not gzipped has no limit.
MOST_UNZIPPED = 4 * 10**9
VARIABLE = "BIASAMP_MAX_UNZIPPED"
_CHUNK = 1 << 20
_GZIP = 16 + zlib.MAX_WBITS
_MAGIC = b"\x1f\x8b"


def is_gzip(head: bytes) -> bool:
    """Whether bytes begin as a gzipped file does."""
    return head.startswith(_MAGIC)


def unzipped_limit() -> int:
    """How many bytes one gzipped file may hold."""
    said = os.environ.get(VARIABLE)
    return MOST_UNZIPPED if said is None else parse_bytes(said, VARIABLE)


def unzipped(stream: io.BufferedIOBase, name: str) -> Iterator[bytes]:
    """The content of a gzipped stream, a megabyte after another; ``name`` is that of the file, for messages.

    A damaged stream raises ``OSError``, ``EOFError`` or ``zlib.error``; its checksum has been compared once the content
    has been read to its end. Content beyond the limit is a ``ValueError``.
    """
    limit, total, members = unzipped_limit(), 0, 0
    rest = stream.read(_CHUNK)
    while rest or not members:
        if members and not rest.strip(b"\0"):
            # Zeros may fill the last block of a tape or a disk.
            rest = stream.read(_CHUNK)
            continue
        if len(rest) < len(_MAGIC):
            rest += stream.read(_CHUNK)
        if not is_gzip(rest):
            raise OSError(f"Not a gzipped file ({rest[:2]!r})")
        member = zlib.decompressobj(_GZIP)
        members += 1
        while not member.eof:
            chunk = member.decompress(rest, _CHUNK)
            total += len(chunk)
            if total > limit:
                raise ValueError(
                    f"{name} holds more than {shown_bytes(limit)} unzipped, which is the limit for a gzipped file. If that is "
                    f"right, unzip it first, or raise the limit: {VARIABLE}=20GB in the environment"
                )
            if chunk:
                yield chunk
            rest = member.unconsumed_tail or (b"" if member.eof else stream.read(_CHUNK))
            if not rest and not chunk and not member.eof:
                raise EOFError("Compressed file ended before the end-of-stream marker was reached")
        rest = member.unused_data or stream.read(_CHUNK)


def unzip(raw: bytes, name: str) -> bytes:
    """The content of gzipped bytes."""
    return b"".join(unzipped(io.BytesIO(raw), name))


class Chunks(io.RawIOBase):
    """Chunks of bytes as a stream that is read like a file."""

    def __init__(self, chunks: Iterator[bytes], closing: io.IOBase | None = None) -> None:
        self._chunks, self._rest, self._closing = chunks, memoryview(b""), closing

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with what comes next; 0 at the end."""
        while not self._rest:
            self._rest = memoryview(next(self._chunks, b""))
            if not self._rest:
                return 0
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def close(self) -> None:
        """Close what the chunks are read from."""
        if self._closing is not None:
            self._closing.close()
        super().close()


def open_unzipped(path: Path) -> io.BufferedReader[Chunks]:
    """A gzipped file as a stream of its content."""
    file = path.open("rb")
    return io.BufferedReader(Chunks(unzipped(file, path.name), file), _CHUNK)
