"""``read_text``: texts as sets of labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from biasamp.data.columns import check_columns, is_missing
from biasamp.data.files import file_schema, find_path, list_files, open_files
from biasamp.data.frames import arrow_series, arrow_table, is_list, is_text
from biasamp.data.label import printable
from biasamp.data.label_source import Batch, LabelSource
from biasamp.data.parts import frame_schema, read_table, split, split_frame, split_table
from biasamp.data.plain_arguments import column_name, names_of, shown, yes_or_no
from biasamp.data.saving import saving
from biasamp.engines import engine_for, home_of
from biasamp.results.table import Table
from biasamp.results.table import text as text_array

from .eval_log import EvalLog
from .lexicon import Lexicon, read_lexicon
from .text_parts import LINES, TEXT, FindIdentities, LinesPart, Tally, TextPart, TextPlan

# As for other labels: a part has labels of its own, which merging brings together.
_PART_ROWS = 1 << 21
NEGATION = "'no man' names a man: negation is not understood, leave such texts out yourself"


def read_text(
    texts: Any,
    identities: Mapping[str, Sequence[str]] | str | None = None,
    labels: Sequence[str] | Mapping[str, Sequence[str]] | str | None = None,
    *,
    text: str | None = None,
    record: str | None = None,
    keep: str | Sequence[str] = (),
    plurals: bool = True,
) -> TextLabels:
    """Texts, such as captions or answers of a language model, as sets of labels.

    Parameters
    ----------
    texts : list, series, frame, path or list of paths
        Texts, or lists of texts (all captions of an image), one for each record; or data with the column that ``text``
        names: frames, files and folders as :func:`biasamp.associate` reads them, Dask and Spark dataframes, what
        :func:`biasamp.read_eval_log` gives; or ``.txt`` files with one text per line. A missing text is one that names nothing.
    identities : mapping of a name to words, or {"captions", "lic", "helm", "weat"}
        ``{"woman": ["woman", "lady", ...], "man": [...]}``, in any language; or a list of the field by its name.
    labels : list of words, mapping of a name to words, or "words"
        What to look for: words or phrases, or names with all words for them, ``{"couch": ["couch", "sofa"]}``;
        ``"words"`` takes every word for a label.
    text : str, optional
        The column of texts, where data has several.
    record : str, optional
        The column of records' ids: by them two runs are paired, and texts of one record are one record.
    keep : str or list of str
        Columns that ``.table`` and ``.write`` keep beside what was found, such as the true objects.
    plurals : bool
        Whether English plurals are the same label as the word: 'women' is found for 'woman', and for ``"words"`` 'dogs' and
        'dog' are one label. Set it to False for other languages, and list the forms that you want.

    Returns
    -------
    TextLabels
        For :func:`biasamp.associate` and :func:`biasamp.count`, which know the identities then. ``.found`` says how many texts
        name each identity, none and several; ``.table`` has the identity and the labels of every text for
        :func:`biasamp.audit` and :func:`biasamp.directional`, and ``.write(path)`` writes it as Parquet, however much it is.

    Notes
    -----
    Whole words are matched, in lower case, with all accents as they are: 'catch' is no cat. A hyphen joins a word: 'man-made'
    names no man, while 'wine-glass' is found for 'wine glass' and the other way round. What an apostrophe joins is left off:
    "woman's", "she'll" and "l'homme" name a woman, her and a man; "o'clock" no clock. A word in a longer entry does not count,
    'hot dog' is no dog. Phrases are found over punctuation. Negation is left to you: 'no man' names a man.

    Texts are read in parts, on threads or on a cluster, and nothing but counts is kept.

    Examples
    --------
    >>> captions = ["A woman walks two dogs."] * 8 + ["A man on a surfboard"] * 8 + ["A dog and a man's hat"] * 4 + ["People"]
    >>> read = read_text(captions, identities="lic", labels=["dog", "surfboard"])
    >>> for row in read.found.rows():
    ...     print(row["identity"], row["texts"])
    woman 8
    man 12
    (none) 1
    (several) 0
    >>> import biasamp
    >>> top = next(biasamp.associate(read, min_expected=0).top("dp", 1, toward="woman").rows())
    >>> top["label"], round(top["gap"], 3)
    ('dog', 0.667)
    """
    yes_or_no(plurals, "plurals")
    for name, value in (("text", text), ("record", record)):
        column_name(value, name)
    kept = tuple(names_of(keep, "keep", "names of columns"))
    lexicon = read_lexicon(identities, labels, plurals)
    if isinstance(texts, EvalLog) and text is None:
        text = "answer"
    parts, plan, origin = _parts(texts, text, record, kept)
    own = [TextPart(part, plan, lexicon) for part in parts]

    def batches() -> Iterator[Batch]:
        return chain.from_iterable(part.batches() for part in own)

    return TextLabels(
        "lists",
        batches,
        origin=origin,
        notes=lambda: (NEGATION,),
        parts=own,
        has_records=record is not None,
        identities={name: tuple(words) for name, words in lexicon.identities.items()},
        from_text=True,
        frame=texts if home_of(texts) != "local" else None,
        lexicon=lexicon,
    )


@dataclass(frozen=True, eq=False)
class TextLabels(LabelSource):
    """Labels that are found in texts; see :func:`biasamp.read_text`.

    Examples
    --------
    >>> import biasamp
    >>> read = biasamp.read_text(["a woman cooks", "men cook"], identities={"woman": ["woman"], "man": ["man"]}, labels=["cook"])
    >>> [(row["identity"], row["texts"]) for row in read.found.rows()]
    [('woman', 1), ('man', 1), ('(none)', 0), ('(several)', 0)]
    """

    lexicon: Lexicon = field(default_factory=lambda: Lexicon({}, {}))

    def __repr__(self) -> str:
        things = "all words" if self.lexicon.labels is None else f"{len(self.lexicon.labels)} labels"
        return f"TextLabels({self.origin}: {', '.join(self.identities) or 'no identities'}; {things})"

    @cached_property
    def tally(self) -> Tally:
        """How many texts name which identities, by which words."""
        return self.counted()

    def counted(self, engine: Any = "auto", memory: int | str | None = None, threads: int | None = None) -> Tally:
        """How many texts name which identities, by which words, counted on an engine."""
        with engine_for(engine, self, memory=memory, threads=threads) as running:
            return running.reduce(FindIdentities(running.batch_rows), list(self.parts or ()), Tally.merged)

    @cached_property
    def found(self) -> Table:
        """Texts that name each identity (and how many of them no other), none, and several; with the words that were met."""
        patterns, words = self.tally
        total = sum(patterns.values())
        rows = []
        for place, (title, own) in enumerate(self.identities.items()):
            named = sum(n for mask, n in patterns.items() if mask >> place & 1)
            met = sorted(((words[word], word) for word in own if word in words), key=lambda pair: (-pair[0], pair[1]))
            said = ", ".join(f"{word} {count:,}" for count, word in met)
            rows.append((title, named, patterns.get(1 << place, 0), said))
        several = sum(n for mask, n in patterns.items() if mask.bit_count() > 1)
        rows += [("(none)", patterns.get(0, 0), 0, ""), ("(several)", several, 0, "")]
        name, count, alone, said_words = zip(*rows, strict=True)
        return Table(
            {
                "identity": text_array(name),
                "texts": np.array(count),
                "alone": np.array(alone),
                "share": np.array(count) / max(total, 1),
                "words": text_array(said_words),
            }
        )

    @cached_property
    def table(self) -> Any:
        """A ``pyarrow.Table`` of what was found in every text.

        The columns of ``record`` and ``keep``, then ``identity`` (missing where a text names none or several), ``identities``
        (all that it names) and ``labels``.
        """
        batches = list(self._tables())
        return pa.Table.from_batches(batches)

    def write(self, path: str | Path) -> None:
        """Write what ``.table`` has as a Parquet file, part after part, with little in memory."""
        import pyarrow.parquet as pq

        batches = self._tables()
        first = next(batches, None)
        if first is None:
            raise ValueError(f"there are no texts ({self.origin})")
        with saving(path) as out, pq.ParquetWriter(out, first.schema) as writer:
            for batch in chain([first], batches):
                writer.write_batch(batch)

    def _tables(self) -> Iterator[Any]:
        if self.frame is not None:
            raise ValueError(
                "the texts are on a cluster: associate and count read them there; tables are made from files"
            )
        return chain.from_iterable(part.tables() for part in self.parts or ())


def texts_of(texts: Any, data: Any, role: str) -> list[Any]:
    """Texts, or lists of texts, as Python values: those given, or of the column of ``data`` that is named."""
    if isinstance(texts, str):
        if data is None:
            raise TypeError(
                f"{role} is the text {shown(texts)}; names of columns need data=, else give a list of texts"
            )
        if isinstance(data, (str, Path)):
            table = read_table(open_files(data), [texts])
        else:
            table = arrow_table(data, [texts], "data")
        held = table.column(texts)
    else:
        held = _in_memory(texts, role)
    if held is None:
        raise TypeError(f"{role} is {shown(texts)}; a list of texts is needed")
    if not _holds_text(held.type) and not pa.types.is_null(held.type):
        raise TypeError(f"{role} holds {held.type} values; text is needed")
    return list(held.to_pylist())


def _parts(
    texts: Any, column: str | None, record: str | None, keep: tuple[str, ...]
) -> tuple[Sequence[Any], TextPlan, str]:
    """The parts of texts, which columns they have, and what they are called."""
    others = [name for name in (record, *keep) if name]
    if texts is None:
        raise TypeError("texts is None; a list of texts, a frame, a file or a folder is needed")
    paths = isinstance(texts, (list, tuple)) and texts and all(isinstance(item, Path) for item in texts)
    if paths or isinstance(texts, (str, Path)):
        return _files(texts, column, record, keep)
    if home_of(texts) != "local":
        known = frame_schema(texts)
        names = [str(name) for name in texts.columns]
        schema = pa.schema([(n, known.field(n).type if n in known.names else pa.string()) for n in names])
        plan = TextPlan(_text_column(schema, column, others, "texts"), record, keep)
        kind = "Spark" if hasattr(texts, "mapInArrow") else "Dask"
        return split_frame(texts, [plan.text, *others], "texts"), plan, f"a {kind} dataframe"
    series = _in_memory(texts)
    if series is not None:
        if column is not None or others:
            stray = "text" if column is not None else "record" if record is not None else "keep"
            raise ValueError(f"{stray}= names a column, and texts is a list; give a frame or a mapping of columns")
        table, column = pa.table({TEXT: series}), TEXT
    else:
        table = texts if isinstance(texts, pa.Table) else arrow_table(texts, None, "texts")
    if not table.num_rows:
        raise ValueError("texts is empty: at least one text is needed")
    plan = TextPlan(_text_column(table.schema, column, others, "texts"), record, keep)
    check_columns(others, table.column_names, "texts")
    parts = split_table(table, [plan.text, *others], part_rows=_PART_ROWS)
    return parts, plan, f"{table.num_rows:,} texts"


def _in_memory(texts: Any, role: str = "texts") -> Any:
    """A list, an array or a series of texts as an Arrow array; None for data with columns."""
    if isinstance(texts, Mapping) or (hasattr(texts, "columns") and not isinstance(texts, np.ndarray)):
        return None
    if isinstance(texts, pa.Table) or hasattr(texts, "__arrow_c_stream__"):
        return None if not isinstance(texts, (pa.Array, pa.ChunkedArray)) and not _is_series(texts) else _series(texts)
    if isinstance(texts, (pa.Array, pa.ChunkedArray)) or _is_series(texts):
        return _series(texts)
    if isinstance(texts, (list, tuple, np.ndarray)) and getattr(texts, "ndim", 1) != 0:
        return _python_texts(list(texts), role)
    return None


def _is_series(texts: Any) -> bool:
    return type(texts).__name__ == "Series"


def _series(texts: Any) -> Any:
    return arrow_series(texts)


def _python_texts(held: list[Any], role: str) -> Any:
    several = any(isinstance(item, (list, tuple, np.ndarray)) for item in held)

    def spelled(item: Any, place: int) -> Any:
        if isinstance(item, str):
            return str(item)
        if is_missing(item):
            return None
        raise TypeError(f"{role} has {shown(item)} at place {place}; a list of texts, or of lists of texts, is needed")

    def many(item: Any, place: int) -> Any:
        return (
            [spelled(one, place) for one in item]
            if isinstance(item, (list, tuple, np.ndarray))
            else [spelled(item, place)]
        )

    make: Callable[[Any, int], Any] = many if several else spelled
    kind = pa.list_(pa.large_string()) if several else pa.large_string()
    return pa.array([make(item, place) for place, item in enumerate(held)], kind)


def _files(
    texts: Any, column: str | None, record: str | None, keep: tuple[str, ...]
) -> tuple[Sequence[Any], TextPlan, str]:
    others = [name for name in (record, *keep) if name]
    plain = _plain_files(texts)
    if plain:
        if others or column not in (None, TEXT):
            raise ValueError(
                f"{plain[0].name} has one text per line and no columns: leave text=, record= and keep= out"
            )
        return [LinesPart(path, number) for number, path in enumerate(plain)], TextPlan(TEXT), _title(plain)
    try:
        files = list_files(texts)
    except FileNotFoundError:
        if isinstance(texts, str) and " " in texts.strip():
            raise ValueError(
                f"texts is the one text {printable(texts)!r}, and no such file exists; give a list of texts"
            ) from None
        raise
    schema = file_schema(files[0])
    plan = TextPlan(_text_column(schema, column, others, files[0].name), record, keep)
    types = {plan.text: pa.string()} if is_text(schema.field(plan.text).type) or _is_null(schema, plan.text) else {}
    if record is not None:
        types[record] = pa.string()
    parts = split(files, [plan.text, *others], types=types, blank=False, counted=False, part_rows=_PART_ROWS)
    return parts, plan, _title(files)


def _is_null(schema: Any, name: str) -> bool:
    return bool(pa.types.is_null(schema.field(name).type))


def _title(files: Sequence[Path]) -> str:
    return files[0].name + (f" and {len(files) - 1} more" if len(files) > 1 else "")


def _plain_files(texts: Any) -> list[Path]:
    """The files of plain lines that paths mean: all of them are, or a folder of nothing else."""
    found: list[Path] = []
    for item in texts if isinstance(texts, (list, tuple)) else [texts]:
        path = find_path(item)
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith((".", "_")))
            found += inside if inside and all(p.name.lower().endswith(LINES) for p in inside) else []
        elif path.is_file() and path.name.lower().endswith(LINES):
            found.append(path)
    return found


def _text_column(schema: Any, column: str | None, others: Sequence[str], source: str) -> str:
    names = list(schema.names)
    check_columns([*others, *([column] if column else [])], names, source)
    if column is not None:
        kind = schema.field(column).type
        if not _holds_text(kind) and not pa.types.is_null(kind):
            raise TypeError(f"text: {column!r} holds {kind} values; text, or lists of texts, are read")
        return column
    able = [name for name in names if name not in others and _holds_text(schema.field(name).type)]
    if len(able) == 1:
        return able[0]
    if not able:
        raise ValueError(f"{source} has no column of text; there are {', '.join(map(repr, names[:12]))}")
    raise ValueError(f"text= must say which of the columns {', '.join(map(repr, able[:12]))} holds the texts")


def _holds_text(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(is_text(kind) or (is_list(kind) and is_text(kind.value_type)))
