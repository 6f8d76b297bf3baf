"""Base correlations of an audit: from other records, from a table in a file, or by name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasamp.data import Column, column_codes
from biasamp.data.files import open_files

from .plan import Spec
from .source import Source, read_source

_LONG = ("attribute", "task")
_NUMBERS = ("count", "joint", "probability")


@dataclass(frozen=True, eq=False)
class BaseSource:
    """Where base rates come from: records with the same columns, or a joint table of attribute and task labels."""

    name: str
    records: Source | None = None
    joint: Mapping[str, Mapping[str, float]] | None = None

    def argument(self, attribute: Spec, tasks: Spec, direction: str) -> Any:
        """The ``base`` argument of one direction."""
        if self.records is not None:
            sides = [spec.columns(self.records) for spec in (attribute, tasks)]
            return (sides[0], sides[1]) if direction == "A->T" else (sides[1], sides[0])
        assert self.joint is not None
        table = self.joint if direction == "A->T" else _turned(self.joint)
        return {"joint": table, "source": self.name}


def read_audit_base(base: Any, attributes: Mapping[str, Spec], tasks: Spec) -> BaseSource | None:
    """Read the ``base`` of an audit.

    A path or a frame with the audit's own columns is read as records; one with the columns ``attribute``, ``task``
    and ``count`` (or ``probability``) as a joint table; a mapping ``{attribute: {task: number}}`` likewise.
    """
    if base is None:
        return None
    if isinstance(base, Mapping) and base and all(isinstance(row, Mapping) for row in base.values()):
        return BaseSource("joint table", joint=base)
    wanted = [name for spec in (*attributes.values(), tasks) for name in spec.names]
    there = _names(base)
    label = os.path.basename(os.fspath(base)) if isinstance(base, (str, os.PathLike)) else "the base data"
    if set(wanted) <= set(there):
        return BaseSource(label, records=read_source(base, wanted, "base"))
    number = next((name for name in _NUMBERS if name in there), None)
    if number is not None and set(_LONG) <= set(there):
        source = read_source(base, [*_LONG, number], "base")
        return BaseSource(label, joint=_long(source, number))
    raise ValueError(
        f"base has the columns {', '.join(there[:8])}; it needs either those of the audit ({', '.join(wanted[:6])}) to "
        "be counted, or 'attribute', 'task' and 'count' (or 'probability') to be a table of joint counts"
    )


def _names(base: Any) -> list[str]:
    if isinstance(base, (str, os.PathLike)):
        return open_files(os.fspath(base)).column_names()
    if isinstance(base, Mapping):
        return [str(name) for name in base]
    if hasattr(base, "columns") or hasattr(base, "__arrow_c_stream__"):
        import narwhals as nw

        return [str(name) for name in nw.from_native(base, eager_only=True).columns]
    raise TypeError(f"base is a {type(base).__name__}; a path, a frame or a mapping is needed")


def _long(source: Source, number: str) -> dict[str, dict[str, float]]:
    rows, columns = _texts(source.column("attribute")), _texts(source.column("task"))
    values = np.asarray(source.numbers(number, "base"), dtype=np.float64)
    out: dict[str, dict[str, float]] = {}
    for row, column, value in zip(rows, columns, values.tolist(), strict=True):
        if column in out.setdefault(row, {}):
            raise ValueError(f"base names the pair ({row!r}, {column!r}) twice")
        out[row][column] = value
    for entries in out.values():
        for column in columns:
            entries.setdefault(column, 0.0)
    return out


def _texts(column: Column) -> list[str]:
    codes, categories = column_codes(column)
    if (codes < 0).any():
        raise ValueError(f"base column {column.name!r} has {int((codes < 0).sum()):,} missing values: name every pair")
    return [categories[code] for code in codes.tolist()]


def _turned(joint: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    out: dict[str, dict[str, float]] = {}
    for row, values in joint.items():
        for column, value in values.items():
            out.setdefault(column, {})[row] = value
    return out
