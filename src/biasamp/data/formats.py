"""The file formats that are read. Whatever depends on the kind of a file is in one entry of this table.

To read another format, add one entry to :data:`FORMATS`; audits, counts, associations, every engine and the command
line read it from then on. An entry says

- ``name``, ``title`` and ``suffixes``: what it is called, and by which endings of a name it is known;
- ``schema(path)``: the Arrow schema of a file, best without reading its rows;
- ``read(path, columns)``: some columns as an Arrow table.

That is enough for files that fit into memory. For larger ones the entry says too

- ``split(path, columns, text)``: the :class:`~biasamp.data.format.Layout` of a file, which is the type of each column
  and the number of rows of each group that can be read apart;
- ``batches(piece, rows)``: the record batches of some groups and columns
  (a :class:`~biasamp.data.format.Piece`), each read when it is asked for.

What a format need not do: columns that do not exist may raise ``KeyError``, and damaged files any error of Arrow or of
the system; the message to the user, with the file's name and the nearest names of columns, is made in one place for all
formats. Files of a folder whose types differ are brought together outside as well. Open a file by
:func:`~biasamp.data.format.opened`, and it is read gzipped too.
"""

from __future__ import annotations

from pathlib import Path

from .binary_files import (
    arrow_batches,
    arrow_schema,
    parquet_batches,
    parquet_schema,
    read_arrow,
    read_parquet,
    split_arrow,
    split_parquet,
)
from .format import Format
from .text_files import (
    csv_batches,
    csv_schema,
    json_batches,
    json_schema,
    read_csv,
    read_json,
    split_csv,
    split_json,
)

FORMATS: dict[str, Format] = {
    entry.name: entry
    for entry in (
        Format(
            "parquet",
            "Parquet (.parquet)",
            (".parquet", ".pq"),
            schema=parquet_schema,
            read=read_parquet,
            split=split_parquet,
            batches=parquet_batches,
            magic=b"PAR1",
        ),
        Format(
            "csv",
            "CSV (.csv, .tsv)",
            (".csv", ".tsv"),
            schema=csv_schema,
            read=read_csv,
            split=split_csv,
            batches=csv_batches,
            typed=False,
        ),
        Format(
            "arrow",
            "Arrow/Feather (.arrow, .feather)",
            (".arrow", ".feather", ".ipc"),
            schema=arrow_schema,
            read=read_arrow,
            split=split_arrow,
            batches=arrow_batches,
            magic=b"ARROW1",
        ),
        Format(
            "json",
            "JSON lines (.jsonl)",
            (".jsonl", ".ndjson", ".json"),
            schema=json_schema,
            read=read_json,
            split=split_json,
            batches=json_batches,
            mistaken={b"[": "JSON lines are needed, one object a line, without brackets and commas around them"},
        ),
    )
}


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
