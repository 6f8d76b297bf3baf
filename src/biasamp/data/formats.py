"""The file formats that are read. Whatever depends on the kind of a file is in one entry of this table.

To read another format, add one entry to :data:`FORMATS`; audits, counts, associations, every engine and the command
line read it from then on. An entry says

- ``name``, ``title`` and ``suffixes``: what it is called, and by which endings of a name it is known;
- ``schema(path)``: the Arrow schema of a file, best without reading its rows;
- ``read(path, columns)``: some columns as an Arrow table.

That is enough for files that fit into memory. For larger ones the entry says too

- ``split(path, columns, text)``: the :class:`~biasamp.data.file_format.Layout` of a file, which is the type of each column
  and the number of rows of each group that can be read apart;
- ``batches(piece, rows)``: the record batches of some groups and columns
  (a :class:`~biasamp.data.file_format.Piece`), each read when it is asked for.

What a format need not do: columns that do not exist may raise ``KeyError``, and damaged files any error of Arrow or of
the system; the message to the user, with the file's name and the nearest names of columns, is made in one place for all
formats. Files of a folder whose types differ are brought together outside as well. Open a file by
:func:`~biasamp.data.file_format.opened`, and it is read gzipped too.
"""

from __future__ import annotations

from pathlib import Path

from .binary_files import ARROW, PARQUET
from .file_format import Format
from .text_files import CSV, JSON

FORMATS: dict[str, Format] = {entry.name: entry for entry in (PARQUET, CSV, ARROW, JSON)}


def find_format(path: Path) -> Format | None:
    """The format of a file by its name, or None."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return next((entry for entry in FORMATS.values() if suffixes and suffixes[-1] in entry.suffixes), None)


def format_of(path: Path) -> Format:
    """The format of a file by its name; an unknown one is an error."""
    found = find_format(path)
    if found is None:
        raise ValueError(f"{path.name!r} is of no format that is read; {formats_read()} are")
    return found


def formats_read() -> str:
    """All formats, in words."""
    *most, last = (entry.title for entry in FORMATS.values())
    return f"{', '.join(most)} and {last}, also gzipped"
