"""A small column table that every dataframe library can take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data.plain_arguments import one_of
from biasamp.data.saving import save_text

from .interval import plain

_BACKENDS = ("pandas", "polars", "pyarrow")


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, by name.

    Text columns are arrays of Python strings, numbers are numpy arrays; a missing number is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table({"label": np.array(["a", "b"], dtype=object), "count": np.array([1, 2])})
    >>> len(table), table["count"].tolist()
    (2, [1, 2])
    >>> list(table.rows())[0]
    {'label': 'a', 'count': 1}
    """

    columns: Mapping[str, NDArray[Any]]

    def __post_init__(self) -> None:
        sizes = {name: len(values) for name, values in self.columns.items()}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"the columns of a table have different lengths: {sizes}")

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, Any]]) -> Table:
        """Rows of plain values as a table: text columns stay text, numbers become numbers."""
        names = list(dict.fromkeys(name for row in rows for name in row))
        columns: dict[str, Any] = {}
        for name in names:
            values = [row.get(name) for row in rows]
            kinds = {type(value) for value in values if value is not None}
            if kinds in ({bool}, {int}) and None not in values:
                columns[name] = np.array(values, dtype=bool if bool in kinds else np.int64)
            elif kinds <= {int, float, bool}:
                columns[name] = np.array([np.nan if value is None else float(value) for value in values])
            else:
                columns[name] = text(["" if value is None else value for value in values])
        return cls(columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def __getitem__(self, name: str) -> NDArray[Any]:
        try:
            return self.columns[name]
        except KeyError:
            raise KeyError(f"no column {name!r}; there are {', '.join(self.columns)}") from None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.rows()

    def __repr__(self) -> str:
        return f"Table({len(self)} rows: {', '.join(self.columns)})"

    def _repr_html_(self) -> str:
        from .renderers import render

        return str(render("plain table", self))

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows as dictionaries of Python values; a missing number is None."""
        for row in zip(*map(_python, self.columns.values()), strict=True):
            yield dict(zip(self.columns, row, strict=True))

    def plain_rows(self) -> list[dict[str, Any]]:
        """The rows as JSON can hold them: a missing number is None, and a limit is named.

        >>> import numpy as np
        >>> Table({"low": np.array([0.5, -np.inf, np.nan])}).plain_rows()
        [{'low': 0.5}, {'low': '-inf'}, {'low': None}]
        """
        columns = map(plain_values, self.columns.values())
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*columns, strict=True)]

    def take(self, rows: NDArray[Any]) -> Table:
        """Some of the rows, by mask or index."""
        return Table({name: values[rows] for name, values in self.columns.items()})

    def to_arrow(self) -> Any:
        """The table as a ``pyarrow.Table``; NaN becomes null."""
        import pyarrow as pa

        def column(values: NDArray[Any]) -> Any:
            if values.dtype == object:
                return pa.array(values.tolist(), type=pa.string(), from_pandas=True)
            return pa.array(values, from_pandas=True)

        return pa.table({name: column(values) for name, values in self.columns.items()})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_frame(self, backend: str | None = None) -> Any:
        """The table as a dataframe.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library; by default the first of these that is installed.
        """
        if backend is None:
            backend = next(name for name in _BACKENDS if find_spec(name) is not None)
        one_of(backend, "backend", _BACKENDS)
        table = self.to_arrow()
        if backend == "polars":
            return import_module("polars").from_arrow(table)
        return table.to_pandas() if backend == "pandas" else table


def plain_values(values: NDArray[Any]) -> list[Any]:
    """The values of an array as JSON can hold them, as :func:`biasamp.results.interval.plain` makes each."""
    held = values.tolist()
    ready = values.dtype.kind in "biuU" or (values.dtype.kind == "f" and bool(np.isfinite(values).all()))
    return list(held) if ready else [plain(value) for value in held]


def _python(values: NDArray[Any]) -> list[Any]:
    plain = values.tolist()
    return [None if value != value else value for value in plain] if values.dtype.kind == "f" else plain


def text(values: Any) -> NDArray[Any]:
    """An array of Python strings."""
    out = np.empty(len(values), dtype=object)
    out[:] = [str(value) for value in values]
    return out


def written(content: str, path: str | Path | None) -> str:
    """Text, which is also written to a file where one is named; a file ends with a line break."""
    if path is not None:
        save_text(path, content if content.endswith("\n") else content + "\n")
    return content
