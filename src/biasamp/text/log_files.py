"""Files of evaluation logs, which come from strangers: read as JSON within limits, never unpacked to a disk."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from biasamp.data.byte_sizes import shown_bytes
from biasamp.data.file_format import byte_stream
from biasamp.data.json_lines import DEEPEST
from biasamp.data.label import printable
from biasamp.data.unzipping import VARIABLE, unzipped_limit

# A sample with its messages, or a line; a document of all samples.
MOST_OF_A_SAMPLE = 1 << 27
MOST_OF_A_DOCUMENT = 1 << 30
MOST_SAMPLES = 5_000_000
_CHUNK = 1 << 20
_SAMPLE = re.compile(r"samples/[^/\\]+\.json")
HEADERS = ("header.json", "_journal/start.json")


def parsed(raw: bytes, name: str) -> Any:
    """JSON from bytes; what is none, or nested too deeply, is a ``ValueError`` that names the file."""
    try:
        value = json.loads(raw.decode("utf-8-sig"), parse_constant=lambda _: None)
    except RecursionError:
        raise ValueError(f"{name} nests lists or objects too deeply: it is no evaluation log") from None
    except UnicodeDecodeError:
        raise ValueError(f"{name} holds text that is not UTF-8: it is no evaluation log") from None
    except ValueError as error:
        raise ValueError(f"{name} is no JSON: {printable(str(error), 120)}") from None
    _check_depth(value, name)
    return value


def _check_depth(value: Any, name: str) -> None:
    """Refuse what is nested beyond any log; level by level, so that depth costs no stack."""
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for one in level
            if isinstance(one, (dict, list))
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return
    raise ValueError(f"{name} nests lists or objects more than {DEEPEST} deep: it is no evaluation log")


def read_document(path: Path) -> Any:
    """The one JSON value of a file, gzipped or not."""
    with byte_stream(path) as stream:
        raw = stream.read(MOST_OF_A_DOCUMENT + 1)
    if len(raw) > MOST_OF_A_DOCUMENT:
        raise ValueError(
            f"{path.name} is one JSON value of more than {shown_bytes(MOST_OF_A_DOCUMENT)}: have the tool write a log of one sample "
            "at a time (.eval, or JSON lines)"
        )
    return parsed(raw, path.name)


def read_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Number and value of each line of a file of JSON lines."""
    with byte_stream(path) as stream:
        number = 0
        while line := stream.readline(MOST_OF_A_SAMPLE + 1):
            number += 1
            if len(line) > MOST_OF_A_SAMPLE:
                raise ValueError(f"line {number:,} of {path.name} is longer than {shown_bytes(MOST_OF_A_SAMPLE)}")
            if line.strip():
                yield number, parsed(line, f"line {number:,} of {path.name}")


def read_archive(path: Path) -> Iterator[tuple[str, Any]]:
    """Name and value of the header and of each sample of an Inspect log; other members are left alone.

    Members are read in memory, each within its limit and all within that of unzipped files, whatever the archive says of their
    sizes; their names are compared and shown, never opened.
    """
    left = unzipped_limit()
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > MOST_SAMPLES:
                raise ValueError(f"{path.name} has {len(members):,} members: it is no evaluation log")
            header = next((member for name in HEADERS for member in members if member.filename == name), None)
            for member in [*([header] if header else []), *(one for one in members if _SAMPLE.fullmatch(one.filename))]:
                raw = _member(archive, member, path, min(left, MOST_OF_A_SAMPLE))
                left -= len(raw)
                yield member.filename, parsed(raw, f"{printable(member.filename)!r} in {path.name}")
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise ValueError(f"{path.name} cannot be read as an Inspect log: {printable(str(error), 200)}") from None


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, limit: int) -> bytes:
    out = io.BytesIO()
    with archive.open(member) as stream:
        while chunk := stream.read(_CHUNK):
            if out.tell() + len(chunk) > limit:
                raise ValueError(
                    f"{path.name} holds more than it may unzipped: {printable(member.filename)!r} goes beyond "
                    f"{shown_bytes(limit)}. If that is right, raise the limit of all: {VARIABLE}=20GB in the environment"
                )
            out.write(chunk)
    return out.getvalue()
