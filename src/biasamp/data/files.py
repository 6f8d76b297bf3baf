"""Files and folders of records, in the formats of :mod:`biasamp.data.formats`, and what goes wrong in reading them."""

from __future__ import annotations

import codecs
import warnings
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from .columns import check_columns
from .file_format import byte_stream
from .formats import BLOCK, find_format, format_of, formats_read
from .label import printable
from .ways_out import way_out

# What libraries raise for damaged files; a name of a column may be damaged too, and a length.
DAMAGE = (pa.ArrowException, OSError, EOFError, zlib.error, UnicodeError, MemoryError)
# How files begin that are something else than their name says.
_MAGIC = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow or Feather file",
    b"\x1f\x8b": "gzipped",
    b"PK\x03\x04": "a zip archive or a spreadsheet",
    b"\xd0\xcf\x11\xe0": "an Excel file with a password, or one of before 2007 (.xls)",
}
_ORDER_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)


@dataclass(frozen=True)
class Files:
    """The files of one data set, in the order of their names; all are of one format."""

    root: Path
    paths: tuple[Path, ...]

    @property
    def name(self) -> str:
        """What the data set is called in messages and reports."""
        return self.root.resolve().name

    def column_names(self) -> list[str]:
        """The columns of the first file."""
        return list(file_schema(self.paths[0]).names)


def open_files(path: str | Path, *, notes: bool = True) -> Files:
    """Find the files of a path: a file, or a folder of files of one format.

    With ``notes`` it warns of what was found out about how they are written.
    """
    root = find_path(path)
    if not str(path):  # it would be the folder that the process runs in
        raise FileNotFoundError("no file or folder ''")
    if root.is_dir():
        there = (p for p in root.rglob("*") if p.is_file() and find_format(p) is not None)
        left_out = (".", "_", "~$")  # the last is how the lock of an open workbook begins
        paths = tuple(sorted(p for p in there if not any(n.startswith(left_out) for n in p.relative_to(root).parts)))
        name = root.name or str(root)
        if not paths:
            raise ValueError(f"the folder {name!r} holds no data file; {formats_read()} are read")
        formats = {format_of(p).name for p in paths}
        if len(formats) > 1:
            raise ValueError(f"the folder {name!r} mixes {', '.join(sorted(formats))} files: keep one format")
    elif root.is_file():
        format_of(root)
        paths = (root,)
    elif root.exists():
        raise ValueError(
            f"{str(path)!r} is a pipe or a device, and data are read more than once: save them to a file first"
        )
    else:
        raise FileNotFoundError(f"no file or folder {str(path)!r}")
    for file in paths:
        if file.stat().st_size == 0:
            raise ValueError(f"{file.name} is empty (0 bytes)")
    if notes:
        _say_notes(paths)
    return Files(root, paths)


def _say_notes(paths: Sequence[Path]) -> None:
    """Warn of what was found out about how files are written; the same words are said once."""
    found: dict[str, list[Path]] = {}
    for path in paths:
        note = None
        with suppress(*DAMAGE):  # said when the file is read
            noted = format_of(path).note
            # Of a file that is something else than its name says, what it seems to be is said when it is read.
            note = None if noted is None or _disguise(path) is not None else noted(path)
        if note is not None:
            found.setdefault(note, []).append(path)
    for note, held in found.items():
        more = f" (as are {len(held) - 1:,} more files)" if len(held) > 1 else ""
        # Here, not where the caller is, so that opening the file twice says it once.
        warnings.warn(
            f"{printable(held[0].name)} is read as it seems to be written: {note}{more}", UserWarning, stacklevel=1
        )


def find_path(path: str | Path) -> Path:
    """A path as it is, or with ``~`` for somebody's home; a file may well be called ``~.csv``."""
    plain = Path(path)
    with suppress(OSError, ValueError):  # names that the system does not take
        if plain.exists():
            return plain
    try:
        return plain.expanduser()
    except RuntimeError:  # nobody is called so
        return plain


class Stamp(NamedTuple):
    """By which it is noticed that a file changed; without a time where a part travelled, whose file may be a copy."""

    size: int
    modified: int | None

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """The stamp of a file now."""
        found = path.stat()
        return cls(found.st_size, found.st_mtime_ns)

    def check(self, path: Path) -> None:
        """Raise where a file is not what it was."""
        try:
            now = Stamp.of(path)
        except FileNotFoundError:
            raise ValueError(f"{path.name} was removed while it was read") from None
        if now.size != self.size or (self.modified is not None and now.modified != self.modified):
            raise ValueError(f"{path.name} changed while it was read: read it again once nothing writes to it")


def list_files(source: str | Path | Iterable[Any]) -> list[Path]:
    """The files that a path, a folder or a list of paths means, in the order of their names."""
    if isinstance(source, (str, Path)):
        return list(open_files(source).paths)
    files = [file for item in source for file in list_files(item)]
    if not files:
        raise ValueError("data is an empty list of files")
    return files


def file_schema(path: Path) -> Any:
    """The Arrow schema of a file."""
    with readable(path):
        return format_of(path).flat_schema(path)


@contextmanager
def readable(path: Path, columns: Sequence[str] = (), stamp: Stamp | None = None) -> Iterator[None]:
    """Turn errors of reading some columns of a file into a ``ValueError`` that names the file.

    Columns are looked at when reading fails, so that nothing is read twice when it does not. A file that changes
    meanwhile, or since it had a ``stamp``, is refused.
    """
    if stamp is None:
        with suppress(OSError):
            stamp = Stamp.of(path)
    else:
        stamp.check(path)
    try:
        yield
    except (*DAMAGE, KeyError) as error:
        if stamp is not None:
            stamp.check(path)
        with suppress(*DAMAGE):
            names, own = format_of(path).flat_schema(path).names, format_of(path).schema(path).names
            _refuse_columns(path, [name for name in columns if name in names or name not in own], names)
        raise _explained(path, error) from None
    if stamp is not None:
        stamp.check(path)


def _refuse_columns(path: Path, columns: Sequence[str], names: Sequence[str]) -> None:
    """Raise for columns that are missing, or there more than once."""
    for separator in ",;\t|":
        if len(names) == 1 and separator in names[0] and names[0] not in columns:
            raise ValueError(
                f"{path.name} has one column, {printable(names[0], 60)!r}: its values look separated by {separator!r}, but "
                f"its rows have not all as many values as its header. If they should, {way_out('separator')}"
            )
    check_columns(columns, names, path.name)


def _disguise(path: Path) -> str | None:
    """What a file is by its first bytes, where its name says something else."""
    own, head = format_of(path).magic, _head(path)
    return next((what for magic, what in _MAGIC.items() if magic != own and head.startswith(magic)), None)


def _explained(path: Path, error: Exception) -> ValueError:
    """An error of a library as one that names the file, and says what the file seems to be."""
    entry, text, head, disguise = format_of(path), str(error), _head(path), _disguise(path)
    mistake = next((advice for start, advice in entry.mistaken.items() if head.lstrip().startswith(start)), None)
    if disguise is not None:
        text = f"its first bytes say that it is {disguise}: rename or convert it"
    elif "straddl" in text or "cannot infer number of columns" in text:
        if len(head) < BLOCK:
            return ValueError(f"{path.name} has no records: at most a header was found")
        text = "the header or a row does not end within 16 MB, so this does not look like a table with line breaks"
    elif mistake is not None:
        text = mistake
    elif not entry.typed and not _is_utf_8(head):
        text = f"it holds text that is not UTF-8: {way_out('encoding')}"
    return ValueError(f"{path.name} cannot be read as {entry.name}: {printable(text, 300)}")


def _head(path: Path) -> bytes:
    """The first bytes, as many as a row may have; unzipped where the name says so."""
    head = b""
    with suppress(OSError, EOFError, zlib.error), byte_stream(path) as stream:
        head = stream.read(BLOCK)
    return head


def _is_utf_8(head: bytes) -> bool:
    """Whether bytes are text in UTF-8, or in an encoding that a byte order mark names; a last character may be cut."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return head.startswith(_ORDER_MARKS)
    return True
