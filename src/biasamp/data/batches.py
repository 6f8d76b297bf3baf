"""Files as Arrow batches of a few columns, read as they are needed.

Unlike whole tables, labels are always text here: a label called ``NA`` is a label, and record ``007`` is not
record ``7``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .files import _CSV_BLOCK, _format, open_files

# Rows of a batch: large enough that a batch's overhead vanishes, small enough to stay in cache.
BATCH_ROWS = 1 << 17


def list_files(source: Any) -> list[Path]:
    """The files that a path, a folder or a list of paths means, in the order of their names."""
    if isinstance(source, (str, Path)):
        return list(open_files(source).paths)
    files = [file for item in source for file in list_files(item)]
    if not files:
        raise ValueError("data is an empty list of files")
    return files


def file_schema(path: Path) -> Any:
    """The Arrow schema of a file."""
    import pyarrow as pa

    kind = _format(path)
    try:
        if kind == "parquet":
            import pyarrow.parquet as pq

            return pq.read_schema(path)
        if kind == "arrow":
            with pa.memory_map(str(path)) as source:
                return _open_arrow(source).schema
        if kind == "json":
            return _read_json(path).schema
        with _open_csv(path, _tabs(path)) as reader:
            return reader.schema
    except (pa.ArrowInvalid, OSError) as error:
        raise _unreadable(path, error) from None


def file_batches(
    path: Path, columns: Sequence[str], *, text: Iterable[str] = (), categories: Iterable[str] = ()
) -> Iterator[Any]:
    """The batches of some columns of a file, in that order.

    Parameters
    ----------
    text : iterable of str
        Columns that CSV files hold as text, whatever their values look like.
    categories : iterable of str
        Text columns of few distinct values, to be read as codes where the format allows.
    """
    import pyarrow as pa

    kind = _format(path)
    wanted, coded = list(dict.fromkeys(columns)), set(categories)
    try:
        if kind == "parquet":
            yield from _parquet(path, wanted, coded)
        elif kind == "arrow":
            with pa.memory_map(str(path)) as source:
                reader = _open_arrow(source)
                batches = (
                    (reader.get_batch(i) for i in range(reader.num_record_batches))
                    if hasattr(reader, "num_record_batches")
                    else reader
                )
                for batch in batches:
                    yield batch.select(wanted)
        elif kind == "json":
            yield from _read_json(path).select(wanted).to_batches(max_chunksize=BATCH_ROWS)
        else:
            types: dict[str, Any] = {name: pa.string() for name in text}
            types.update({name: pa.dictionary(pa.int32(), pa.string()) for name in coded})
            with _open_csv(path, _tabs(path), wanted, types) as reader:
                yield from reader
    except (pa.ArrowInvalid, OSError) as error:
        raise _unreadable(path, error) from None


def _parquet(path: Path, columns: list[str], coded: set[str]) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    texts = [
        name
        for name in columns
        if name in coded and (pa.types.is_string(schema.field(name).type) or _is_large(schema, name))
    ]
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=columns, use_threads=False):
            yield batch.select(columns)


def _is_large(schema: Any, name: str) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_large_string(schema.field(name).type))


def _tabs(path: Path) -> bool:
    return ".tsv" in (suffix.lower() for suffix in path.suffixes[-2:])


def _open_arrow(source: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.ipc.open_file(source)
    except pa.ArrowInvalid:
        source.seek(0)
        return pa.ipc.open_stream(source)


def _open_csv(
    path: Path, tabs: bool, columns: Sequence[str] | None = None, types: Mapping[str, Any] | None = None
) -> Any:
    import pyarrow.csv as csv

    return csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=_CSV_BLOCK),
        # A label may hold a line break within quotes.
        parse_options=csv.ParseOptions(delimiter="\t" if tabs else ",", newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            include_columns=columns, column_types=types or {}, strings_can_be_null=False
        ),
    )


def _read_json(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.json as json

    with pa.input_stream(str(path), compression="detect") as source:
        return json.read_json(source)


def _unreadable(path: Path, error: Exception) -> Exception:
    if isinstance(error, OSError) and error.errno is not None:
        # The system refuses the file, and says so with its name.
        return error
    reason = str(error).splitlines()[0]
    if path.stat().st_size == 0 or "Empty" in reason or "0 bytes" in reason:
        return ValueError(f"the file {str(path)!r} is empty: at least one row is needed")
    return ValueError(f"the file {str(path)!r} cannot be read as {_format(path)}: {reason}")
