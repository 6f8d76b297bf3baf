"""Words of texts by the group of a column: which lean to whom."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from biasamp.association.associate import associate
from biasamp.association.association_result import Association

from .named_arguments import one_columns, spelled
from .read_text import read_text, texts_of


def words_by_group(data: Any, text: str | None, attribute: str, labels: Any, plurals: bool = True) -> Association:
    """How words, or other labels, of texts lean to the groups of a column.

    >>> data = {"caption": ["a red cup", "a bat"] * 20, "gender": ["woman", "man"] * 20}
    >>> next(words_by_group(data, "caption", "gender", "words").top("dp", 1, toward="woman").rows())["label"]
    'cup'
    """
    groups = spelled(one_columns(data, {"attribute": attribute})["attribute"], "attribute")
    texts = texts_of(text, data, "text") if text is not None else None
    read = read_text(data if texts is None else texts, labels=labels, plurals=plurals)
    # A word may be spelled as a group is: the group's own label has a sign that no word has.
    own = {name: f"{attribute}={name}" for name in sorted(set(groups.tolist()))}
    found = read.table["labels"].to_pylist()
    rows = [[*words, own[group]] for words, group in zip(found, groups.tolist(), strict=True)]
    lists = pa.table({"labels": pa.array(rows, pa.list_(pa.string()))})
    return associate(lists, {name: [label] for name, label in own.items()})
