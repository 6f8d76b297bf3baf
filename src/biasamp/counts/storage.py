"""Counts on disk: a Parquet file of numbers with a JSON header. Never pickle: a file cannot run code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from biasamp.data import Label
from biasamp.data.arrow_numbers import numpy_of
from biasamp.data.plain_arguments import path_of
from biasamp.data.saving import saving

from .contingency import ContingencyTable, Side
from .fixed import Count, Fixed
from .joint import JointCounts
from .pair import PairCounts
from .tables import JOINT, PAIR

SCHEMA = 1
_MAGIC = b"biasamp"

Arrays = dict[str, Any]
Saved = JointCounts | PairCounts | ContingencyTable


def write_arrays(path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write named arrays of integers or floats, with a JSON header, to a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    shapes = [list(array.shape) for array in arrays.values()]
    whole = [None if array.dtype.kind == "f" else array.astype(np.int64).ravel() for array in arrays.values()]
    real = [array.ravel() if array.dtype.kind == "f" else None for array in arrays.values()]
    text = json.dumps({"schema": SCHEMA, **header}, sort_keys=True)
    table = pa.table(
        {
            "name": pa.array(list(arrays), pa.string()),
            "shape": pa.array(shapes, pa.list_(pa.int64())),
            "integers": pa.array(whole, pa.large_list(pa.int64())),
            "reals": pa.array(real, pa.large_list(pa.float64())),
        }
    )
    table = table.replace_schema_metadata({_MAGIC: text.encode(), b"checksum": _checksum(text, arrays).encode()})
    with saving(path) as stream:
        pq.write_table(table, stream, compression="zstd")


def read_arrays(path: str | Path) -> tuple[dict[str, Any], Arrays]:
    """Read what :func:`write_arrays` wrote, checking version and checksum."""
    import pyarrow as pa

    from biasamp.data.file_format import for_pyarrow
    from biasamp.data.files import DAMAGE
    from biasamp.data.parquet_sizes import read_parquet

    path = Path(path_of(path))
    if not path.is_file():
        raise FileNotFoundError(f"no file {str(path)!r}")
    try:
        table = read_parquet(for_pyarrow(path), None, path.name)
    except DAMAGE as error:
        what = "damaged" if _begins(path) else "not a file of counts"
        raise ValueError(f"{path.name} is {what}: {str(error).splitlines()[0]}") from None
    metadata = table.schema.metadata or {}
    if _MAGIC not in metadata:
        raise ValueError(f"{path.name} is a Parquet file, but not one of counts")
    try:
        text, names = metadata[_MAGIC].decode(), set(table.column_names)
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name} is damaged: its header cannot be read ({error})") from None
    if not isinstance(header, dict) or {"name", "shape", "integers", "reals"} - names:
        raise ValueError(f"{path.name} is damaged: it does not hold what counts consist of")
    if header.get("schema") != SCHEMA:
        raise ValueError(f"{path.name} has schema {header.get('schema')}; this version reads schema {SCHEMA}")
    try:
        arrays = _arrays(table)
    except (pa.ArrowException, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"{path.name} is damaged: {error}") from None
    if metadata.get(b"checksum", b"") != _checksum(text, arrays).encode():
        raise ValueError(f"{path.name} is damaged: its checksum does not agree with its contents")
    return header, arrays


def _arrays(table: Any) -> Arrays:
    arrays: Arrays = {}
    for row in range(table.num_rows):
        shape = table["shape"][row].as_py()
        column = "integers" if table["integers"][row].is_valid else "reals"
        values = numpy_of(table[column][row].values)
        if len(values) != int(np.prod(shape, dtype=np.int64)):
            raise ValueError("an array does not have the size it states")
        arrays[table["name"][row].as_py()] = values.reshape(shape)
    return arrays


def _begins(path: Path) -> bool:
    """Whether a file begins as Parquet does."""
    with path.open("rb") as stream:
        return stream.read(4) == b"PAR1"


def is_counts(path: Any) -> bool:
    """Whether a path is a file of saved counts."""
    import pyarrow.parquet as pq

    from biasamp.data.file_format import for_pyarrow
    from biasamp.data.files import DAMAGE

    try:
        file = Path(path)
        return _begins(file) and _MAGIC in (pq.read_schema(for_pyarrow(file)).metadata or {})
    except (*DAMAGE, TypeError, ValueError):
        return False


def load_counts(path: str | Path) -> Any:
    """Counts of an audit or of associations, whichever a file holds."""
    from .association_counts import AssociationCounts
    from .audit_counts import AuditCounts

    header, _ = read_arrays(path)
    kinds: dict[str, Any] = {"audit": AuditCounts, "association": AssociationCounts}
    if header.get("kind") not in kinds:
        raise ValueError(
            f"{Path(path).name} holds {header.get('kind')!r}, not the counts of an audit or of associations"
        )
    return kinds[header["kind"]].load(path)


def _checksum(text: str, arrays: Mapping[str, Any]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(name.encode())
        kind = "<f8" if array.dtype.kind == "f" else "<i8"
        digest.update(np.ascontiguousarray(array).astype(kind).tobytes())
    return digest.hexdigest()


def to_arrays(counts: Saved) -> tuple[dict[str, Any], Arrays]:
    """A header and named arrays that say everything a statistic holds."""
    arrays: Arrays = {}
    if isinstance(counts, ContingencyTable):
        for name, side in counts.sides.items():
            arrays[f"side:{name}"] = side.combinations
        arrays["cells"] = counts.cells
        put_count(arrays, "counts", counts.counts if counts.exact is None else counts.exact)  # type: ignore[arg-type]
        sides = {name: _labels(side.labels) for name, side in counts.sides.items()}
        return {"kind": "contingency", "sides": sides, "order": list(counts.sides)}, arrays
    kind = "joint" if isinstance(counts, JointCounts) else "pairs"
    _, of, names = _KINDS[kind]
    for name in names:
        put_count(arrays, name, getattr(counts, name))
    for i, part in enumerate(getattr(counts, "spread", None) or ()):
        put_count(arrays, f"spread:{i}", part)
    labels = {side: _labels(getattr(counts, f"{side}_labels")) for side in of}
    return {"kind": kind, "labels": labels, "records": counts.records}, arrays


def from_arrays(header: Mapping[str, Any], arrays: Arrays) -> Any:
    """The statistic that :func:`to_arrays` took apart."""
    kind = header["kind"]
    if kind == "contingency":
        sides = {
            name: Side(_unlabels(header["sides"][name]), arrays[f"side:{name}"].astype(np.uint8))
            for name in header["order"]
        }
        held = get_count(arrays, "counts")
        if isinstance(held, Fixed):
            return ContingencyTable(sides, arrays["cells"], held.floats(), held)
        return ContingencyTable(sides, arrays["cells"], held)
    if kind not in _KINDS:
        raise ValueError(f"counts of the unknown kind {kind!r}")
    made, of, names = _KINDS[kind]
    parts: dict[str, Any] = {name: get_count(arrays, name) for name in names}
    if "spread:0" in arrays or "spread:0.high" in arrays:
        parts["spread"] = tuple(get_count(arrays, f"spread:{i}") for i in range(3))
    labels = [_unlabels(header["labels"][side]) for side in of]
    return made(*labels, header["records"], **parts)


_LIMBS = ("whole", "high", "low")
# The class of each kind of counts, its sides and its arrays.
_KINDS: dict[str, tuple[Any, tuple[str, str], tuple[str, ...]]] = {
    "joint": (JointCounts, ("left", "right"), (*JOINT, "squared")),
    "pairs": (PairCounts, ("given", "outcome"), (*PAIR, "squared")),
}


def put_count(arrays: Arrays, name: str, count: Count) -> None:
    """Put one count among named arrays."""
    if isinstance(count, Fixed):
        count = count.carried()
        for limb in _LIMBS:
            arrays[f"{name}.{limb}"] = getattr(count, limb)
    else:
        arrays[name] = count


def get_count(arrays: Arrays, name: str) -> Count:
    """One count of named arrays."""
    if f"{name}.high" in arrays:
        return Fixed(*(arrays[f"{name}.{limb}"] for limb in _LIMBS))
    return arrays[name]


def _labels(labels: tuple[Label, ...]) -> list[list[str | None]]:
    return [[label.variable, label.category] for label in labels]


def _unlabels(pairs: list[list[str | None]]) -> tuple[Label, ...]:
    return tuple(Label(variable or "", category) for variable, category in pairs)
