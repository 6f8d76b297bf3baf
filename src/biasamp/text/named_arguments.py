"""Arguments of the functions on texts: arrays, or names of columns of one data set."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from biasamp.data.argument_columns import read_columns
from biasamp.data.columns import Column
from biasamp.data.files import open_files
from biasamp.data.frames import arrow_column, arrow_table
from biasamp.data.parts import read_table
from biasamp.data.plain_arguments import shown
from biasamp.data.same_columns import same_index


def one_columns(data: Any, arguments: Mapping[str, Any]) -> dict[str, Column]:
    """The column of each argument that is not None: of ``data`` where it is a name, else what it holds itself."""
    given = {name: value for name, value in arguments.items() if value is not None}
    named = {name: value for name, value in given.items() if isinstance(value, str)}
    if named and data is None:
        role, value = next(iter(named.items()))
        raise TypeError(
            f"{role} is the text {shown(value)}; names of columns need data=, else give the values themselves"
        )
    out: dict[str, Column] = {}
    if named:
        wanted = list(dict.fromkeys(named.values()))
        if isinstance(data, (str, os.PathLike)):
            table = read_table(open_files(os.fspath(data)), wanted)
        else:
            table = arrow_table(data, wanted, "data")
        out = {role: arrow_column(value, table.column(value)) for role, value in named.items()}
    rest = {name: value for name, value in given.items() if name not in named}
    same_index(rest)
    for name, value in rest.items():
        columns = read_columns(value, name).apart()
        if len(columns) != 1:
            raise TypeError(f"{name} has {len(columns)} columns; one is needed")
        out[name] = columns[0]
    sizes = {name: len(column) for name, column in out.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError("arguments have different lengths: " + ", ".join(f"{n} {size:,}" for n, size in sizes.items()))
    if not sizes or not next(iter(sizes.values())):
        raise ValueError(f"{next(iter(arguments))} is empty: at least one answer is needed")
    return {name: out[name] for name in given}


def spelled(column: Column, role: str) -> Any:
    """The categories of a column as text, one for each value; a missing one is an error."""
    if column.kind == "list":
        raise TypeError(f"{role} holds lists; one value for each answer is needed")
    if column.kind == "text":
        gone, held = column.values < 0, np.array([*column.categories, ""], dtype=object)[column.values]
    else:
        gone = column.gone | (np.isnan(column.values) if column.kind == "float" else False)
        whole = column.kind != "float" or bool((column.values[~gone] == np.rint(column.values[~gone])).all())
        values = column.values if not whole else np.where(gone, 0, column.values).astype(np.int64)
        held = np.array([str(value) for value in values.tolist()], dtype=object)
    if gone.any():
        raise ValueError(f"{role} has {int(gone.sum()):,} missing values: each answer needs one")
    return held
