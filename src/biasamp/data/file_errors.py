"""What goes wrong while a file is read, in words that name the file and the way out."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from .columns import check_columns
from .file_format import byte_stream
from .formats import format_of
from .label import printable
from .text_files import BLOCK

_DAMAGE = (pa.ArrowException, OSError, EOFError, zlib.error)
# How files begin that are something else than their name says.
_MAGIC = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow or Feather file",
    b"\x1f\x8b": "gzipped",
    b"PK\x03\x04": "a zip archive or a spreadsheet",
    b"\xff\xfe": "text in UTF-16, where UTF-8 is needed",
    b"\xfe\xff": "text in UTF-16, where UTF-8 is needed",
}


@contextmanager
def readable(path: Path, columns: Sequence[str] = ()) -> Iterator[None]:
    """Turn errors of reading some columns of a file into a ``ValueError`` that names the file.

    Columns are looked at when reading fails, so that nothing is read twice when it does not.
    """
    try:
        yield
    except (*_DAMAGE, KeyError) as error:
        try:
            names = format_of(path).schema(path).names
        except _DAMAGE:
            names = None
        if names is not None:
            _refuse_columns(path, columns, names)
        raise _explained(path, error) from None


def _refuse_columns(path: Path, columns: Sequence[str], names: Sequence[str]) -> None:
    """Raise for columns that are missing, or there more than once."""
    for separator in ";\t|":
        if len(names) == 1 and separator in names[0]:
            raise ValueError(
                f"{path.name} has one column, {printable(names[0], 60)!r}: its values look separated by {separator!r}. "
                "Commas are read in .csv files, tabs in .tsv files"
            )
    check_columns(columns, names, path.name)


def _explained(path: Path, error: Exception) -> ValueError:
    """An error of a library as one that names the file, and says what the file seems to be."""
    entry, text, head = format_of(path), str(error), _head(path)
    disguises = {magic: what for magic, what in _MAGIC.items() if magic != entry.magic}
    disguise = next((what for magic, what in disguises.items() if head.startswith(magic)), None)
    mistake = next((advice for start, advice in entry.mistaken.items() if head.lstrip().startswith(start)), None)
    if disguise is not None:
        text = f"its first bytes say that it is {disguise}: rename or convert it"
    elif "straddl" in text or "cannot infer number of columns" in text:
        if len(head) < BLOCK:
            return ValueError(f"{path.name} has no records: at most a header was found")
        text = "the header or a row does not end within 16 MB, so this does not look like a table with line breaks"
    elif mistake is not None:
        text = mistake
    return ValueError(f"{path.name} cannot be read as {entry.name}: {printable(text, 300)}")


def _head(path: Path) -> bytes:
    """The first bytes, as many as a row may have; unzipped where the name says so."""
    try:
        with byte_stream(path) as stream:
            head: bytes = stream.read(BLOCK)
            return head
    except (OSError, EOFError, zlib.error):
        return b""
