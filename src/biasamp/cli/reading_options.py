"""Options that say how the files are written that a command reads, for files that do not show it by themselves.

A file that they concern is written anew as plain CSV (a workbook with one sheet) to a temporary folder, under its own name,
and the command reads that: no engine and no other process need know of the options.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import reduce
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import click

from biasamp.data import printable
from biasamp.data.csv_dialect import ROWS, decimal_commas, dialect_of, is_tsv
from biasamp.data.excel import sheet_rows, write_sheet
from biasamp.data.file_format import byte_stream, is_zipped
from biasamp.data.files import open_files, readable
from biasamp.data.formats import find_format
from biasamp.data.saving import saving

_WORDS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|", "space": " "}
_DECIMAL = re.compile(r"[+-]?\d+,\d+")
_OPTIONS: dict[str, dict[str, Any]] = {
    "delimiter": {"help": "What separates the values of CSV files: a character, or tab."},
    "encoding": {"help": "How CSV files are encoded, such as cp1252 or utf-16."},
    "decimal_comma": {"is_flag": True, "help": "Numbers of CSV files have a comma, such as 0,7."},
    "sheet": {"help": "Which sheet of Excel files is read."},
}


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options; the command does not see them, but files that are read by them."""
    return reduce(
        lambda held, name: click.option(f"--{name.replace('_', '-')}", name, **_OPTIONS[name])(held),
        reversed(_OPTIONS),
        command,
    )


class Reading(NamedTuple):
    """How files are written, as far as options say it."""

    delimiter: str | None = None
    encoding: str | None = None
    decimal_comma: bool = False
    sheet: str | None = None

    @classmethod
    def taken_from(cls, params: dict[str, Any]) -> Reading:
        """What the options say, checked, and taken out of the parameters of a command."""
        given = {name: params.pop(name) for name in _OPTIONS if name in params}
        delimiter, encoding = given.get("delimiter"), given.get("encoding")
        if delimiter is not None:
            given["delimiter"] = delimiter = _WORDS.get(delimiter.lower(), delimiter)
            if len(delimiter) != 1 or delimiter in '"\r\n\0' or delimiter.isalnum():
                raise click.UsageError(
                    f"--delimiter is {delimiter!r}; one character is needed that is in no value, or tab"
                )
        if encoding is not None:
            try:
                is_text = getattr(codecs.lookup(encoding), "_is_text_encoding", True)
            except (LookupError, ValueError):
                is_text = False
            if not is_text:
                raise click.UsageError(
                    f"--encoding {encoding!r} is not known; such as cp1252, latin-1, utf-8 or utf-16"
                )
        return cls(**given)

    @property
    def concerned(self) -> tuple[str, ...]:
        """The formats that the options are about."""
        about_csv = self.delimiter is not None or self.encoding is not None or self.decimal_comma
        return (*(("csv",) if about_csv else ()), *(("excel",) if self.sheet is not None else ()))

    def check_used(self, formats: set[str]) -> None:
        """Refuse options that no file is read by; ``formats`` are those of the files that were."""
        for name, kind in {"excel": "Excel", "csv": "CSV"}.items():
            if name in self.concerned and name not in formats:
                option = "sheet" if name == "excel" else next(one for one in _OPTIONS if getattr(self, one))
                raise click.UsageError(f"--{option.replace('_', '-')}: the command reads no {kind} file")


@contextmanager
def converted(path: str, reading: Reading) -> Iterator[str]:
    """The path of a file or folder with the same content as plain files, for as long as the block lasts."""
    files = open_files(path, notes=False)
    with tempfile.TemporaryDirectory(prefix="biasamp-") as folder:
        root = Path(folder) / files.name
        for file in files.paths:
            target = root / file.relative_to(files.root) if files.root.is_dir() else root
            target.parent.mkdir(parents=True, exist_ok=True)
            with readable(file):
                (_convert_sheet if _format(file) == "excel" else _convert_csv)(file, target, reading)
        yield str(root)


def formats_in(path: str) -> set[str]:
    """The formats of a file or of the files of a folder; none where there is none."""
    root = Path(path)
    held = root.rglob("*") if root.is_dir() else [root]
    return {name for file in held if (name := _format(file))}


def _format(path: Path) -> str:
    found = find_format(path)
    return "" if found is None else found.name


def _convert_sheet(file: Path, target: Path, reading: Reading) -> None:
    name, rows = sheet_rows(file, reading.sheet)
    with _written(target) as out:
        write_sheet(out, name, rows)


def _convert_csv(file: Path, target: Path, reading: Reading) -> None:
    dialect = dialect_of(file)
    encoding = reading.encoding or dialect.encoding
    if codecs.lookup(encoding).name == "utf-8":
        encoding = "utf-8-sig"  # a byte order mark is no part of the first name
    try:
        with byte_stream(file) as raw, _written(target) as out:
            text = io.TextIOWrapper(raw, encoding, newline="")
            plain = io.TextIOWrapper(out, "utf-8", newline="", write_through=True)
            writer = csv.writer(plain, delimiter="\t" if is_tsv(file) else ",", lineterminator="\n")
            rows: Iterator[list[str]] = filter(None, csv.reader(text, delimiter=reading.delimiter or dialect.separator))
            first = list(islice(rows, ROWS))
            if not reading.decimal_comma:
                _say_decimals(first, file)
            rows = chain(first, rows)
            writer.writerows(_with_points(rows) if reading.decimal_comma else rows)
            plain.detach()
    except UnicodeDecodeError as error:
        said = f"--encoding {reading.encoding}" if reading.encoding else encoding.upper()
        raise click.UsageError(
            f"{file.name} is not in the encoding {said}: {error.reason}. Name the one that it has with --encoding"
        ) from None
    except csv.Error as error:
        raise click.UsageError(f"{file.name} cannot be read as csv: {error}") from None


def _say_decimals(first: list[list[str]], file: Path) -> None:
    """Warn of columns that look like numbers with decimal commas: they are read as text."""
    if first and all(len(row) == len(first[0]) for row in first) and (found := decimal_commas(first)):
        warnings.warn(
            f"the column {printable(found[0], 60)!r} of {file.name} looks like numbers with decimal commas and is read as "
            "text: say so with --decimal-comma",
            UserWarning,
            stacklevel=2,
        )


def _with_points(rows: Iterable[list[str]]) -> Iterator[list[str]]:
    for row in rows:
        yield [value.replace(",", ".") if _DECIMAL.fullmatch(value.strip()) else value for value in row]


@contextmanager
def _written(target: Path) -> Iterator[Any]:
    try:
        with saving(target) as out:
            if not is_zipped(target):
                yield out
                return
            with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1) as zipped:
                yield zipped
    except OSError as error:
        if error.errno is None:
            raise
        raise click.UsageError(
            f"{target.name} cannot be kept in {tempfile.gettempdir()!r} while it is read ({error.strerror}): name a folder with "
            "room for it in TMPDIR"
        ) from None
