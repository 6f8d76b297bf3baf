"""Texts in parts that are read apart, and the labels that are found in each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from biasamp.data.arrow_numbers import arrow_of
from biasamp.data.file_format import byte_stream
from biasamp.data.frames import is_list, is_text
from biasamp.data.label_source import Batch, unfolded
from biasamp.data.parts import BATCH_ROWS

from .lexicon import Finder, Found, Lexicon, lists_of
from .words import split_tokens

TEXT = "text"
# Texts are split in pieces of so many bytes, which keeps memory flat however long they are.
_PIECE = 1 << 24
_BLOCK = 1 << 22
LINES = (".txt", ".txt.gz")


@dataclass(frozen=True)
class LinesPart:
    """A plain file, a text a line; empty lines are none."""

    path: Path
    number: int
    rows: int | None = None
    lazy = None
    fields = ((TEXT, pa.string()),)

    name = property(lambda self: self.path.name)

    def batches(
        self, columns: Sequence[str] | None = None, *, rows: int = BATCH_ROWS, categories: Sequence[str] = ()
    ) -> Iterator[Any]:
        """Batches of the one column."""
        rest = b""
        with byte_stream(self.path) as stream:
            while block := stream.read(_BLOCK):
                whole, mark, rest = (rest + block).rpartition(b"\n")
                if mark:
                    yield self._batch(whole)
                if len(rest) > _PIECE:
                    raise ValueError(f"{self.name} has a line of more than 16 MB: a text a line is read")
        if rest:
            yield self._batch(rest)

    def _batch(self, block: bytes) -> Any:
        try:
            lines = [line for line in block.decode("utf-8-sig").split("\n") if line.strip()]
        except UnicodeDecodeError:
            raise ValueError(f"{self.name} holds text that is not UTF-8") from None
        return pa.record_batch({TEXT: pa.array(lines, pa.string())})


class TextPlan(NamedTuple):
    """Which column holds texts, which the ids of records, and which are kept as they are."""

    text: str
    record: str | None = None
    keep: tuple[str, ...] = ()


@dataclass(frozen=True)
class TextPart:
    """A part of some texts, and what is looked for in them."""

    part: Any
    plan: TextPlan
    lexicon: Lexicon

    name = property(lambda self: self.part.name)
    number = property(lambda self: self.part.number)
    rows = property(lambda self: self.part.rows)
    path = property(lambda self: self.part.path)
    lazy = property(lambda self: self.part.lazy)

    def with_rows(self, held: Any, number: int | None = None) -> TextPart:
        """The part as :meth:`biasamp.data.parts.Part.with_rows` gives it."""
        return replace(self, part=self.part.with_rows(held, number))

    def batches(self, rows: int = BATCH_ROWS) -> Iterator[Batch]:
        """Labels of texts, as :class:`~biasamp.data.label_source.LabelSource` has them."""
        for batch, found, finder in self.found(rows):
            labels = lists_of(found, finder.names)
            if self.plan.record is None:
                yield Batch(None, labels, None)
            else:
                yield unfolded(batch.column(self.plan.record), labels, None)

    def found(self, rows: int = BATCH_ROWS) -> Iterator[tuple[Any, Found, Finder]]:
        """Batches of the data, what was found in their texts, and what found it."""
        finder = Finder(self.lexicon)
        columns = list(dict.fromkeys(name for name in (self.plan.record, self.plan.text, *self.plan.keep) if name))
        for batch in self.part.batches(columns, rows=rows):
            for piece in _pieces(batch, batch.column(self.plan.text)):
                yield piece, _found(piece.column(self.plan.text), finder), finder

    def tables(self, rows: int = BATCH_ROWS) -> Iterator[Any]:
        """What was kept of the data, with the identities and labels of each text."""
        own = {word: name for name, words in self.lexicon.identities.items() for word in words}
        names = list(self.lexicon.identities)
        for batch, found, finder in self.found(rows):
            sizes = np.diff(found.offsets)
            row = np.repeat(np.arange(len(sizes)), sizes)
            kind = np.array(
                [names.index(own[label]) if label in own else -1 for label in finder.labels], dtype=np.int64
            )
            listed = self.lexicon.labels
            is_label = np.array(
                [(listed is None and label not in own) or label in (listed or {}) for label in finder.labels]
            )
            people = _distinct(row, kind[found.codes], len(sizes), len(names), names) if names else None
            things = _distinct(row, np.where(is_label[found.codes], found.codes, -1), len(sizes), *_of(finder.labels))
            columns = {name: batch.column(name) for name in dict.fromkeys((self.plan.record, *self.plan.keep)) if name}
            if people is not None:
                one = pc.equal(pc.list_value_length(people), 1)
                columns["identity"] = pc.if_else(one, pc.list_element(_padded(people), 0), None)
                columns["identities"] = people
            columns["labels"] = things
            yield pa.record_batch(columns)


def _of(labels: Sequence[str]) -> tuple[int, Sequence[str]]:
    return len(labels), labels


def _distinct(row: Any, code: Any, rows: int, width: int, names: Sequence[str]) -> Any:
    """Lists of the distinct names of each row; codes below 0 are none."""
    there = code >= 0
    keys = np.unique(row[there] * max(width, 1) + code[there])
    row, code = np.divmod(keys, max(width, 1))
    offsets = np.searchsorted(row, np.arange(rows + 1))
    values = pa.array(list(names), pa.string()).take(arrow_of(code.astype(np.int64)))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)


def _padded(lists: Any) -> Any:
    """Lists of which each has a first element: what it is in an empty one does not matter."""
    return pc.if_else(pc.equal(pc.list_value_length(lists), 0), pa.scalar([None], lists.type), lists)


def _pieces(batch: Any, texts: Any) -> Iterator[Any]:
    """Slices of a batch whose texts have some megabytes each."""
    size = texts.nbytes
    count = max(1, min(len(texts), -(-size // _PIECE)))
    step = -(-len(texts) // count) if len(texts) else 1
    for start in range(0, len(texts), step):
        yield batch.slice(start, step)


def _found(texts: Any, finder: Finder) -> Found:
    """The labels of a column of texts, or of lists of texts."""
    if pa.types.is_dictionary(texts.type):
        texts = texts.cast(texts.type.value_type)
    if pa.types.is_null(texts.type):
        texts = texts.cast(pa.string())
    if is_text(texts.type):
        return finder.find(split_tokens(texts))
    if is_list(texts.type) and is_text(texts.type.value_type):
        inner = finder.find(split_tokens(texts.flatten()))
        sizes = pc.fill_null(pc.list_value_length(texts), 0).to_numpy(zero_copy_only=False)
        return Found(inner.offsets[np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)], inner.codes)
    raise TypeError(f"the column of texts holds {texts.type} values; text, or lists of texts, are read")


@dataclass(frozen=True)
class FindIdentities:
    """Counts how texts name identities: by the identities that each names, and by the words that name them."""

    rows: int

    def __call__(self, part: TextPart) -> Tally:
        """The counts of a part."""
        names = list(part.lexicon.identities)
        own = {word: place for place, name in enumerate(names) for word in part.lexicon.identities[name]}
        total = Tally({}, {})
        for _, found, finder in part.found(self.rows):
            sizes = np.diff(found.offsets)
            row = np.repeat(np.arange(len(sizes)), sizes)
            bit = np.array([1 << own[label] if label in own else 0 for label in finder.labels], dtype=np.int64)
            mask = np.zeros(len(sizes), dtype=np.int64)
            np.bitwise_or.at(mask, row, bit[found.codes])
            keys = np.unique(row * len(finder.labels) + found.codes)
            words = np.bincount(keys % max(len(finder.labels), 1)).tolist()
            said = {finder.labels[i]: int(n) for i, n in enumerate(words) if n and finder.labels[i] in own}
            patterns = {int(m): int(n) for m, n in zip(*np.unique(mask, return_counts=True), strict=True)}
            total = total.merged(Tally(patterns, said))
        return total


class Tally(NamedTuple):
    """Texts by the identities they name (bits), and by the word."""

    patterns: Mapping[int, int]
    words: Mapping[str, int]

    def merged(self, other: Tally) -> Tally:
        """The sum of two."""
        return Tally(_sum(self.patterns, other.patterns), _sum(self.words, other.words))


def _sum(one: Mapping[Any, int], two: Mapping[Any, int]) -> dict[Any, int]:
    return {key: one.get(key, 0) + two.get(key, 0) for key in {**one, **two}}
