"""Labels of many batches as one set of small integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import canonical

Codes = NDArray[np.int32]

# Whole-number labels up to here are coded by a table instead of by hashing.
_TABLE = 1 << 22


class LabelCodes:
    """The code of every label met so far; codes never change once given.

    ``reserved`` labels get the first codes whether they occur or not.
    """

    def __init__(self, reserved: Sequence[str] = (), *, compiled: bool = False) -> None:
        self._compiled = compiled
        self.labels: list[str] = []
        self._code: dict[str, int] = {}
        self._table: Codes = np.zeros(0, dtype=np.int32)
        self._known: Any = None
        self._last: tuple[Any, Codes] | None = None
        for label in reserved:
            self._add(label)

    def __len__(self) -> int:
        return len(self.labels)

    def _add(self, label: str) -> int:
        code = self._code.get(label)
        if code is None:
            code = self._code[label] = len(self.labels)
            self.labels.append(label)
        return code

    def _add_all(self, words: list[str]) -> list[int]:
        """The codes of distinct labels, new ones included."""
        code = self._code
        new = [word for word in words if word not in code]
        code.update(zip(new, range(len(self.labels), len(self.labels) + len(new)), strict=True))
        self.labels.extend(new)
        return [code[word] for word in words]

    @property
    def places(self) -> dict[str, int]:
        """The code of each label."""
        return self._code

    def encode(self, column: Any) -> Codes:
        """The code of each row of an Arrow array; -1 where it is null."""
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = column.type
        if pa.types.is_dictionary(kind):
            return self._dictionary(column)
        if pa.types.is_boolean(kind):
            return self._dictionary(pc.dictionary_encode(column.cast(pa.int8())))
        if pa.types.is_integer(kind) and not column.null_count and len(column):
            codes = self._integers(column.to_numpy(zero_copy_only=False))
            if codes is not None:
                return codes
        if pa.types.is_nested(kind):
            raise TypeError(
                f"the label column holds {kind} values; one label a row, or a list of labels a row, is read"
            )
        return self._dictionary(pc.dictionary_encode(column))

    @property
    def lookup(self) -> Codes:
        """The code of each whole number, -1 where it has none yet."""
        return self._table

    def _integers(self, values: NDArray[Any]) -> Codes | None:
        codes = self._looked_up(values)
        if codes is None and self.learn(values):
            codes = self._table[values]
        return codes

    def learn(self, values: NDArray[Any]) -> bool:
        """Give whole numbers codes; False where all have one, or where some are too large or too small for a table."""
        if values.min() < 0 or values.max() >= _TABLE:
            return False
        top = int(values.max()) + 1
        if top > len(self._table):
            grown = np.full(max(top, 2 * len(self._table)), -1, dtype=np.int32)
            grown[: len(self._table)] = self._table
            self._table = grown
        new = np.unique(values[self._table[values] < 0])
        self._table[new] = self._add_all([str(value) for value in new.tolist()])
        return len(new) > 0

    def _looked_up(self, values: NDArray[Any]) -> Codes | None:
        """Codes of whole numbers if all of them have one."""
        if self._compiled:
            from .kernels.long_compiled import look_up

            codes: Codes = np.empty(len(values), dtype=np.int32)
            return codes if look_up(values, self._table, codes) else None
        if values.max() >= len(self._table) or values.min() < 0:
            return None
        codes = self._table.take(values)
        return codes if codes.min() >= 0 else None

    def _dictionary(self, column: Any) -> Codes:
        words = column.dictionary
        if self._last is None or (self._last[0] is not words and not self._last[0].equals(words)):
            self._last = (words, self._words(words))
        target = self._last[1]
        indices = column.indices
        if indices.null_count:
            indices = indices.fill_null(len(words))
        out: Codes = target[indices.to_numpy(zero_copy_only=False)]
        return out

    def _words(self, words: Any) -> Codes:
        """The code of each word of a dictionary, and -1 at its end for a null."""
        import pyarrow as pa
        import pyarrow.compute as pc

        out = np.full(len(words) + 1, -1, dtype=np.int32)
        if not (pa.types.is_string(words.type) or pa.types.is_large_string(words.type)):
            values = words.to_pylist()
            out[:-1] = [-1 if value is None else self._add(canonical(value)) for value in values]
            return out
        if self._known is None or len(self._known) != len(self.labels) or self._known.type != words.type:
            self._known = pa.array(self.labels, type=words.type)
        found = pc.index_in(words, value_set=self._known).fill_null(-1).to_numpy(zero_copy_only=False)
        out[:-1] = found
        new = np.flatnonzero(found < 0)
        if len(new):
            values = words.take(pa.array(new)).to_pylist()
            out[new] = [-1 if value is None else self._add(value) for value in values]
        return out
