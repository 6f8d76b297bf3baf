"""``read_eval_log``: what evaluation harnesses write, as tables."""

from __future__ import annotations

import re
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from biasamp.data.columns import check_columns
from biasamp.data.files import find_path
from biasamp.data.label import canonical, printable
from biasamp.data.plain_arguments import path_of, shown, text_or_none
from biasamp.data.ways_out import way_out

from .log_files import read_archive, read_document, read_lines
from .log_rows import (
    CORE,
    Row,
    helm_rows,
    inspect_row,
    is_helm,
    is_inspect,
    is_lm_eval,
    is_promptfoo,
    lm_eval_rows,
    promptfoo_results,
    promptfoo_rows,
)

_SAMPLES = re.compile(r"samples_(?P<task>.+?)(_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl(\.gz)?", re.IGNORECASE)
_ARCHIVE = b"PK\x03\x04"
_TOOLS = "lm-evaluation-harness (samples_*.jsonl), Inspect (.eval, .json), promptfoo (.json, .jsonl) and HELM (a run's folder)"
LM_EVAL, INSPECT, PROMPTFOO, HELM = "lm-evaluation-harness", "Inspect", "promptfoo", "HELM"
_HELM_STATE, _HELM_STATS = "scenario_state.json", "per_instance_stats.json"


def read_eval_log(path: Any, *, filter: str | None = None) -> EvalLog:
    """The log of an evaluation harness as a table with one row per answer.

    Parameters
    ----------
    path : path or list of paths
        ``samples_*.jsonl`` of lm-evaluation-harness, an Inspect log (``.eval`` or ``.json``), the output of promptfoo (``.json`` or ``.jsonl``), a run's folder
        (or its ``scenario_state.json``) of HELM; or a folder of logs of one tool.
    filter : str, optional
        Of lm-evaluation-harness: the rows of one filter. A task with several filters has a row for each, and to audit all of them together
        would count every answer more than once.

    Returns
    -------
    EvalLog
        A table (``.table``) of ``task``, ``model``, ``item``, ``epoch``, ``input``, ``target``, ``answer``, ``score``, ``score.NAME`` for each metric, and all
        metadata under their own names (``metadata.NAME`` where such a name is taken). :func:`biasamp.audit`, :func:`biasamp.read_text` and
        :func:`biasamp.counterfactual` (``data=``) take it as it is.

    Notes
    -----
    Answers to multiple choice questions are the texts of the likeliest choices. A score is a number: grades of Inspect count as 1 (C), 0.5 (P)
    and 0 (I, N). A sample without an answer (an error) has a missing one.

    Logs are read as JSON alone, within limits, and nothing is unpacked to a disk: archives that unzip to gigabytes, documents that nest without
    end and files that are something else are refused.

    Examples
    --------
    Here one sample of a log of lm-evaluation-harness is written first:

    >>> import json, tempfile
    >>> from pathlib import Path
    >>> import biasamp
    >>> sample = {"doc_id": 0, "doc": {"gender": "woman"}, "target": "yes", "resps": [["no"]], "filtered_resps": ["no"]}
    >>> path = Path(tempfile.mkdtemp(), "samples_loans_2026-01-01T00-00-00.jsonl")
    >>> _ = path.write_text(json.dumps(sample))
    >>> log = biasamp.read_eval_log(path)
    >>> log.tool, log["gender"], log["answer"]
    ('lm-evaluation-harness', ['woman'], ['no'])
    """
    text_or_none(filter, "filter")
    paths = list(path) if isinstance(path, (list, tuple)) else [path]
    if not paths:
        raise ValueError("path is an empty list: name at least one log")
    rows: list[Row] = []
    tools: list[str] = []
    for one in paths:
        for file in _files(find_path(path_of(one))):
            tool, found = _read(file)
            tools.append(tool)
            rows += found
    if len(set(tools)) > 1:
        raise ValueError(f"path names logs of several tools, {', '.join(sorted(set(tools)))}: read them one by one")
    rows = _of_filter(rows, filter)
    if not rows:
        raise ValueError(f"{printable(str(path))} has no samples: nothing was logged, or the run did not get that far")
    return EvalLog(_table(rows), tools[0])


@dataclass(frozen=True, eq=False)
class EvalLog:
    """The table of a log; any function that takes a frame takes it. See :func:`biasamp.read_eval_log`.

    Attributes
    ----------
    table : pyarrow.Table
        One row per answer.
    tool : str
        Whose log it is.

    Examples
    --------
    >>> import pyarrow as pa
    >>> log = EvalLog(pa.table({"item": ["a", "b"], "answer": ["yes", "no"]}), "Inspect")
    >>> len(log), log["answer"]
    (2, ['yes', 'no'])
    """

    table: Any
    tool: str

    def __repr__(self) -> str:
        return f"EvalLog({self.tool}: {len(self):,} answers; {', '.join(self.table.column_names)})"

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, name: str) -> list[Any]:
        check_columns([name], self.table.column_names, "the log")
        return list(self.table.column(name).to_pylist())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        from biasamp.results.renderers import render
        from biasamp.results.table import Table, text

        head = self.table.slice(0, 20).to_pydict()
        return str(
            render(
                "plain table",
                Table({name: text(["" if v is None else v for v in held]) for name, held in head.items()}),
            )
        )


def is_eval_log(path: str | Path) -> bool:
    """Whether a file or folder is a log that :func:`read_eval_log` reads and no table: by its name, and lines by the first of them."""
    place = Path(path)
    if place.is_dir():
        names = [file.name for file in place.iterdir() if file.is_file()]
        return _HELM_STATE in names or any(name.endswith(".eval") or _SAMPLES.fullmatch(name) for name in names)
    if not place.is_file():
        return False
    if ".jsonl" not in place.name.lower():
        return place.suffix.lower() in (".eval", ".json")
    with suppress(ValueError, OSError, EOFError, zlib.error):
        return any(is_lm_eval(value) or _is_result(value) for _, value in islice(read_lines(place), 1))
    return False


def _is_result(value: Any) -> bool:
    """Whether a line is a result of promptfoo: a table of JSON lines may have a column of that name, but not all of these."""
    return is_promptfoo(value) and {"prompt", "provider", "promptIdx"} <= set(value)


def _files(path: Path) -> list[Path]:
    """The logs of a path."""
    if not path.exists():
        raise FileNotFoundError(f"no file or folder {str(path)!r}")
    if path.is_file():
        return [path]
    if (path / _HELM_STATE).is_file():
        return [path / _HELM_STATE]
    inside = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    for wanted in (
        [file for file in inside if file.name == _HELM_STATE],
        [file for file in inside if _SAMPLES.fullmatch(file.name)],
        [file for file in inside if file.suffix == ".eval"],
        [file for file in inside if file.suffix == ".json"],
    ):
        if wanted:
            return wanted
    raise ValueError(f"the folder {path.name!r} holds no evaluation log; {_TOOLS} are read")


def _read(path: Path) -> tuple[str, list[Row]]:
    with path.open("rb") as stream:
        head = stream.read(len(_ARCHIVE))
    if not head:
        raise ValueError(f"{path.name} is empty (0 bytes)")
    if head == _ARCHIVE:
        return INSPECT, list(_inspect_archive(path))
    if ".jsonl" in path.name.lower() or path.suffix.lower() == ".ndjson":
        first = next((value for _, value in islice(read_lines(path), 1)), None)
        if _is_result(first):
            return PROMPTFOO, list(promptfoo_rows(list(_results(path))))
        return LM_EVAL, list(_lm_eval(path))
    document = read_document(path)
    if is_inspect(document):
        samples = document.get("samples")
        held = samples if isinstance(samples, list) else []
        return INSPECT, [inspect_row(sample, document) for sample in held if isinstance(sample, dict)]
    if is_helm(document):
        beside = path.parent / _HELM_STATS
        return HELM, list(helm_rows(document, read_document(beside) if beside.is_file() else None, path.parent.name))
    results = promptfoo_results(document)
    if results is not None:
        return PROMPTFOO, list(promptfoo_rows(results))
    raise ValueError(f"{path.name} is none of the logs that are read: {_TOOLS}")


def _inspect_archive(path: Path) -> Iterator[Row]:
    header: Any = {}
    for name, value in read_archive(path):
        if not isinstance(value, dict):
            raise ValueError(f"{printable(name)!r} in {path.name} is no object: it is no Inspect log")
        if not name.startswith("samples/"):
            header = value
        else:
            yield inspect_row(value, header)


def _results(path: Path) -> Iterator[Any]:
    for number, value in read_lines(path):
        if not is_promptfoo(value):
            raise ValueError(f"line {number:,} of {path.name} is no result of promptfoo, which has vars or testCase")
        yield value


def _lm_eval(path: Path) -> Iterator[Row]:
    named = _SAMPLES.fullmatch(path.name)
    task, model = named["task"] if named else path.name.split(".")[0], path.parent.name if named else None
    for number, value in read_lines(path):
        if not is_lm_eval(value):
            raise ValueError(
                f"line {number:,} of {path.name} is no sample of lm-evaluation-harness, which has doc_id, doc and filtered_resps"
            )
        yield from lm_eval_rows(value, task, model)


def _of_filter(rows: list[Row], filter: str | None) -> list[Row]:
    there = list(dict.fromkeys(str(row["filter"]) for row in rows if row.get("filter") is not None))
    if filter is not None:
        if filter not in there:
            raise ValueError(f"filter is {shown(filter)}; the log has {', '.join(map(repr, there)) or 'none'}")
        return [row for row in rows if row.get("filter") == filter]
    if len(there) > 1:
        warnings.warn(
            f"the log has a row of every answer for each of the filters {', '.join(map(repr, there))}: {way_out('filter')}, or "
            "answers count more than once",
            UserWarning,
            stacklevel=3,
        )
    return rows


def _table(rows: Sequence[Row]) -> Any:
    names = dict.fromkeys(name for row in rows for name in row)
    scores = [name for name in names if name.startswith("score.")]
    rest = [name for name in names if name not in CORE and name not in scores]
    ordered = [*(name for name in CORE if name in names), *scores, *rest]
    columns = {name: _column([row.get(name) for row in rows]) for name in ordered}
    kept = {
        name: column
        for name, column in columns.items()
        if column.null_count < len(column) or name in ("answer", "score")
    }
    return pa.table(kept)


def _column(values: list[Any]) -> Any:
    """Numbers and true/false where all values are, else text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {bool} or kinds <= {str}:
        return pa.array(values, pa.bool_() if kinds == {bool} else pa.string())
    if kinds <= {int, float} and all(abs(value) < 1 << 63 for value in values if isinstance(value, int)):
        return pa.array(values, pa.int64() if kinds == {int} else pa.float64())
    return pa.array([None if value is None else canonical(value) for value in values], pa.string())
