"""How a CSV file is written: what separates its values and how its characters are encoded, found from its first rows."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from .file_format import byte_stream
from .unzipping import Chunks

# A separator by its name. Comma comes first: it is taken wherever it fits.
SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
# Rows that are looked at, in the first bytes or, where not one row ends there, in as many as a row may have.
ROWS = 100
_HEAD, _LONGEST = 1 << 16, 1 << 24
_CHUNK = 1 << 20
# Byte order marks; that of UTF-32 begins as that of UTF-16 does, so it comes first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
_DECIMAL = re.compile(r"[+-]?\d+(,\d+)?")


class Dialect(NamedTuple):
    """What a CSV file is read by."""

    separator: str = ","
    encoding: str = "utf-8"  # one whose byte order mark stands in the file, or UTF-8
    decimal_commas: tuple[str, ...] = ()  # columns whose first values are numbers such as 0,7

    @property
    def is_plain(self) -> bool:
        """Whether it is UTF-8, which Arrow reads by itself, with or without a mark."""
        return self.encoding.startswith("utf-8")

    def note(self, is_tsv: bool) -> str | None:
        """What is unusual, in words; None for commas (tabs in .tsv files) and UTF-8."""
        words = [] if is_tsv or self.separator == "," else [f"its values are separated by {SEPARATORS[self.separator]}"]
        words += [] if self.is_plain else [f"its text is in {self.encoding.upper()}"]
        return " and ".join(words) or None


def is_tsv(path: Path) -> bool:
    """Whether a file's name says that tabs separate its values."""
    return ".tsv" in [suffix.lower() for suffix in path.suffixes]


def dialect_of(path: Path) -> Dialect:
    """How a CSV file is written.

    A byte order mark says UTF-16 or UTF-32; all else is taken for UTF-8, and what is not is refused when it is read. The
    separator is one that gives all first rows as many values as the header, two at least, quotes respected: the comma if it
    does, else that of :data:`SEPARATORS` which gives most. Where none does it is the comma.
    """
    found = path.stat()
    return _dialect(path, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=1024)
def _dialect(path: Path, size: int, modified: int) -> Dialect:
    """As :func:`dialect_of`; size and time of the file are there so that a changed file is looked at again."""
    with byte_stream(path) as stream:
        head = stream.read(_HEAD)
        if len(head) == _HEAD and b"\n" not in head and b"\r" not in head:
            head += stream.read(_LONGEST - _HEAD)
        cut = len(stream.read(1)) == 1
    encoding = next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head)
    usual = "\t" if is_tsv(path) else ","
    fitting = {}
    for separator in (usual,) if is_tsv(path) else SEPARATORS:
        rows = _rows(text, separator, cut)
        if rows and len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows):
            fitting[separator] = rows
            if separator == usual:
                break
    found = max(fitting, key=lambda one: len(fitting[one][0]), default=usual)
    return Dialect(found, encoding, () if found == "," else decimal_commas(fitting.get(found, [[]])))


def _rows(text: str, separator: str, cut: bool) -> list[list[str]]:
    """The header and the first rows; the last one is left out where the text is cut within it."""
    try:
        rows = list(islice(csv.reader(io.StringIO(text, newline=""), delimiter=separator), ROWS))
    except csv.Error:
        return []
    if cut and len(rows) < ROWS:
        rows = rows[:-1]
    return [row for row in rows if row]


def decimal_commas(rows: list[list[str]]) -> tuple[str, ...]:
    """The columns whose values in some rows, behind the header, are numbers with decimal commas."""
    header, *records = rows
    columns = [[value.strip() for value in column if value.strip()] for column in zip(*records, strict=True)]
    return tuple(
        name
        for name, values in zip(header, columns, strict=False)
        if any("," in value for value in values) and all(_DECIMAL.fullmatch(value) for value in values)
    )


def csv_stream(path: Path, encoding: str = "utf-8") -> Any:
    """The bytes of a text file in UTF-8, one after another, whatever it is encoded in and gzipped or not."""
    stream = byte_stream(path)
    if encoding.startswith("utf-8"):
        return stream
    return io.BufferedReader(Chunks(_in_utf_8(stream, encoding), stream), _CHUNK)


def _in_utf_8(stream: Any, encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    while chunk := stream.read(_CHUNK):
        # Chunks that give no character yet would end the stream.
        if text := decoder.decode(chunk):
            yield text.encode()
    if text := decoder.decode(b"", final=True):
        yield text.encode()
