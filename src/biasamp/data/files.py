"""Files and folders of records, in the formats of :mod:`biasamp.data.formats`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .file_errors import readable
from .formats import find_format, format_of, formats_read


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


def open_files(path: str | Path) -> Files:
    """Find the files of a path: a file, or a folder of files of one format."""
    root = Path(path).expanduser()
    if root.is_dir():
        there = (p for p in root.rglob("*") if p.is_file() and not _hidden(p.relative_to(root)))
        paths = tuple(sorted(p for p in there if find_format(p) is not None))
        if not paths:
            raise ValueError(f"the folder {root.name!r} holds no data file; {formats_read()} are read")
        formats = {format_of(p).name for p in paths}
        if len(formats) > 1:
            raise ValueError(f"the folder {root.name!r} mixes {', '.join(sorted(formats))} files: keep one format")
    elif root.is_file():
        format_of(root)
        paths = (root,)
    else:
        raise FileNotFoundError(f"no file or folder {str(path)!r}")
    for file in paths:
        if file.stat().st_size == 0:
            raise ValueError(f"{file.name} is empty (0 bytes)")
    return Files(root, paths)


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
        return format_of(path).schema(path)


def _hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)
