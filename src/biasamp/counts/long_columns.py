"""The columns of a long table: labels as small integers, and where the rows of one record begin."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import canonical
from biasamp.data.arrow_numbers import arrow_of, arrow_text, numpy_of
from biasamp.data.keys import RADIX_INVERSE, mix, record_keys, text_keys

from .kernels.long_tally import kernel_for

Codes = NDArray[np.int32]
Keys = NDArray[np.uint64]
Flags = NDArray[np.bool_]

# Whole-number labels up to here are coded by a table instead of by hashing.
TABLE = 1 << 22
_HASHED_AT_ONCE = 1 << 13
# The powers that hash the first characters of a text.
with np.errstate(over="ignore"):
    _POWERS = np.cumprod(np.full(64, RADIX_INVERSE, dtype=np.uint64))


class LabelCodes:
    """The code of every label met so far; codes never change once given, and several threads may ask for them.

    ``reserved`` labels get the first codes whether they occur or not. ``places`` has the code of each label, and
    ``lookup`` that of each whole number, -1 where it has none yet.
    """

    def __init__(self, reserved: Sequence[str] = (), *, compiled: bool = False) -> None:
        self._compiled = compiled
        self.labels: list[str] = []
        self.places: dict[str, int] = {}
        self.lookup: Codes = np.zeros(0, dtype=np.int32)
        self._known: Any = None
        # Of each thread: the dictionary it met last, and the codes of its words.
        self._last = threading.local()
        self._lock = threading.Lock()
        for label in reserved:
            self._add(label)
        # The codes of reserved labels that are whole numbers.
        self.whole_numbers = {int(label): code for label, code in self.places.items() if _is_whole_number(label)}

    def __len__(self) -> int:
        return len(self.labels)

    def _add(self, label: str) -> int:
        code = self.places.get(label)
        if code is None:
            code = self.places[label] = len(self.labels)
            self.labels.append(label)
        return code

    def _add_all(self, words: list[str]) -> Sequence[int]:
        """The codes of distinct labels, new ones included."""
        code = self.places
        new = words if code.keys().isdisjoint(words) else [word for word in words if word not in code]
        places = range(len(self.labels), len(self.labels) + len(new))
        code.update(zip(new, places, strict=True))
        self.labels.extend(new)
        return places if new is words else [code[word] for word in words]

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
            codes = self._integers(numpy_of(column))
            if codes is not None:
                return codes
        if pa.types.is_nested(kind):
            raise TypeError(
                f"the label column holds {kind} values; one label per row, or a list of labels a row, is read"
            )
        return self._dictionary(pc.dictionary_encode(column))

    def _integers(self, values: NDArray[Any]) -> Codes | None:
        codes = self._looked_up(values)
        if codes is None and self.learn(values):
            codes = self.lookup[values]
        return codes

    def learn(self, values: NDArray[Any]) -> bool:
        """Give whole numbers codes; False where some are too large or too small for a table."""
        if not len(values):
            return True
        top = int(values.max()) + 1
        if values.min() < 0 or top > TABLE:
            return False
        with self._lock:
            if top > len(self.lookup):
                grown = np.full(max(top, 2 * len(self.lookup)), -1, dtype=np.int32)
                grown[: len(self.lookup)] = self.lookup
                for number, code in self.whole_numbers.items():
                    if number < len(grown):
                        grown[number] = code
                self.lookup = grown
            there = np.zeros(top, dtype=bool)
            there[values] = True
            new = np.flatnonzero(there & (self.lookup[:top] < 0))
            self.lookup[new] = self._add_all(list(map(str, new.tolist())))
        return True

    def _looked_up(self, values: NDArray[Any]) -> Codes | None:
        """Codes of whole numbers if all of them have one."""
        if self._compiled:
            from .kernels.long_compiled import look_up

            codes: Codes = np.empty(len(values), dtype=np.int32)
            return codes if look_up(values, self.lookup, codes) else None
        lookup = self.lookup
        if values.max() >= len(lookup) or values.min() < 0:
            return None
        codes = lookup.take(values)
        return codes if codes.min() >= 0 else None

    def _dictionary(self, column: Any) -> Codes:
        words = column.dictionary
        last: tuple[Any, Codes] | None = getattr(self._last, "held", None)
        if last is None or (last[0] is not words and not last[0].equals(words)):
            with self._lock:
                last = self._last.held = (words, self._words(words))
        target = last[1]
        # Types of codes that are narrow need not have room for one more.
        indices = column.indices.cast("int64") if column.indices.null_count else column.indices
        out: Codes = target[numpy_of(indices, len(words))]
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
            self._known = arrow_text(self.labels, words.type)
        found = numpy_of(pc.index_in(words, value_set=self._known), -1)
        out[:-1] = found
        new = np.flatnonzero(found < 0)
        if len(new):
            values = words.take(arrow_of(new)).to_pylist()
            out[new] = [-1 if value is None else self._add(value) for value in values]
        return out


def _is_whole_number(label: str) -> bool:
    """Whether a label is a whole number that the table has room for, spelled as such numbers are."""
    return label.isdecimal() and len(label) <= len(str(TABLE)) and int(label) < TABLE and str(int(label)) == label


class Unordered(Exception):
    """The records do not come in ascending order: start again with ``keep_keys=True``.

    ``scattered``: whether some record was found in two places already, which no start again helps.
    """

    scattered = False


class RecordRuns:
    """Finds the runs of rows of one record over many batches.

    Rows in the ascending order of their records need no further check: a record that has passed cannot come
    back. Where they are not, ``keep_keys`` keeps a 64-bit key of each run: if all keys differ, every record's
    rows stand together and runs are records. That is checked anew each time the number of runs has doubled, so
    that shuffled rows are found out early.
    """

    def __init__(self, *, keep_keys: bool = False, compiled: bool = False) -> None:
        self.compiled = compiled
        self.keep_keys = keep_keys
        self.ordered = True
        self.first: Any = None
        self.last: Any = None
        self._keys: list[Keys] = []
        self._runs = 0
        self._next_check = 1024

    def starts(self, column: Any) -> Flags:
        """Which rows of an Arrow array begin a run."""
        import pyarrow as pa

        column = plain_records(column)
        out = np.empty(len(column), dtype=bool)
        if not len(column):
            return out
        first = column[0].as_py()
        out[0] = self.first is None or first != self.last
        if self.first is None:
            self.first = first
        elif self.ordered and out[0] and not before(self.last, first):
            self.ordered = False
        self.last = column[-1].as_py()
        if pa.types.is_integer(column.type):
            values = numpy_of(column)
            self.ordered = self._mark(values, out) and self.ordered
            if self.keep_keys:
                self._keep(record_keys(values[out]))
        else:
            out[1:] = _text_changes(column)
            heads = column.filter(arrow_of(out))
            self.ordered = self.ordered and _ascending(heads)
            if self.keep_keys:
                self._keep(keys_of(heads))
        if not self.ordered and not self.keep_keys:
            stopped = Unordered()
            stopped.scattered = has_repeats(keys_of(column.filter(arrow_of(out))))
            raise stopped
        return out

    def _mark(self, values: NDArray[Any], out: Flags) -> bool:
        """Mark where whole numbers change; whether they never fall."""
        if self.compiled:
            from .kernels.long_compiled import mark_starts

            return bool(mark_starts(values, out))
        np.not_equal(values[1:], values[:-1], out=out[1:])
        return bool((values[1:] >= values[:-1]).all())

    def _keep(self, keys: Keys) -> None:
        self._keys.append(keys)
        self._runs += len(keys)

    @property
    def keys(self) -> Keys | None:
        """The key of each run, if kept."""
        if not self.keep_keys:
            return None
        if len(self._keys) > 1:
            self._keys = [np.concatenate(self._keys)]
        return self._keys[0] if self._keys else np.zeros(0, dtype=np.uint64)

    def scattered(self, final: bool = False) -> bool:
        """Whether some record has been found in two runs so far."""
        if self.ordered or (self._runs < self._next_check and not final):
            return False
        self._next_check = 2 * self._runs
        assert self.keys is not None
        return has_repeats(self.keys)


def has_repeats(keys: Keys) -> bool:
    """Whether a key occurs twice."""
    order = np.sort(keys)
    return bool((order[1:] == order[:-1]).any())


def plain_records(column: Any) -> Any:
    """A record column as integers, text or a dictionary of text; anything else is spelled out as text."""
    import pyarrow as pa

    if column.null_count:
        raise ValueError(
            f"the record column has {column.null_count} empty values in one batch; every row must say which "
            "record it belongs to"
        )
    kind = column.type
    if pa.types.is_dictionary(kind):
        return column if _is_text(kind.value_type) else column.cast(kind.value_type)
    if pa.types.is_integer(kind) or _is_text(kind):
        return column
    if pa.types.is_boolean(kind):
        return column.cast(pa.int8())
    if pa.types.is_floating(kind):
        try:  # ids that a frame with gaps turned into floats
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            return column.cast(pa.string())
    if pa.types.is_nested(kind):
        raise TypeError(f"the record column holds {kind} values; a number or a text a row is read")
    return column.cast(pa.string())


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _text_changes(column: Any) -> Flags:
    """Whether each row but the first names another record than the row before."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        codes = numpy_of(column.indices)
        out: Flags = codes[1:] != codes[:-1]
        return out
    changed = pc.not_equal(column.slice(1), column.slice(0, len(column) - 1))
    text_out: Flags = numpy_of(changed)
    return text_out


def before(last: Any, first: Any) -> bool:
    """Whether one record's id comes before another's, in the order that ids are sorted in."""
    if isinstance(last, str) and isinstance(first, str):
        return last.encode() < first.encode()
    return type(last) is type(first) and last < first


def _ascending(heads: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(heads) < 2:
        return True
    if pa.types.is_dictionary(heads.type):
        heads = heads.cast(heads.type.value_type)
    return bool(pc.all(pc.less(heads.slice(0, len(heads) - 1), heads.slice(1))).as_py())


def keys_of(column: Any, kernel: str = "auto") -> Keys:
    """The 64-bit key of each row's record, the same for a record in whatever batch or file it comes."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_integer(column.type):
        values = numpy_of(column)
        return record_keys(values.astype(np.uint64) if values.dtype.kind == "u" else values)
    text = column.cast(pa.large_string())
    if not len(text):
        return np.zeros(0, dtype=np.uint64)
    _, offsets, characters = text.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[text.offset : text.offset + len(text) + 1]
    data = np.frombuffer(characters, dtype=np.uint8) if characters is not None else np.zeros(0, np.uint8)
    out = np.empty(len(text), dtype=np.uint64)
    if (kernel_for(len(text)) if kernel == "auto" else kernel) == "numba":
        from .kernels.long_compiled import hash_texts

        hash_texts(data, ends, _POWERS, out)
        return out
    # Hashing takes some forty bytes of work space for each byte of text.
    for start in range(0, len(text), _HASHED_AT_ONCE):
        stop = min(start + _HASHED_AT_ONCE, len(text))
        out[start:stop] = mix(text_keys(data, ends[start : stop + 1]))
    return out
