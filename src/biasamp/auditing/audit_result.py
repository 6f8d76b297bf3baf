"""What an audit hands back: one document of plain values, and views of it."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from biasamp.results.flat import flat_entries
from biasamp.results.showing import shown_by
from biasamp.results.table import Table, text

SCHEMA = 1
_HALF_PAIR = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Finding:
    """One finding or caution, in words, with the figure it rests on.

    ``kind`` is ``"finding"`` or ``"caution"``; ``code`` names what it is about; ``weight`` orders the list.
    """

    kind: str
    code: str
    text: str
    weight: float
    figure: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """The finding in plain Python values."""
        return {
            "kind": self.kind,
            "code": self.code,
            "text": self.text,
            "weight": self.weight,
            "figure": dict(self.figure),
        }


@dataclass(frozen=True, eq=False)
class Audit:
    """The result of :func:`biasamp.audit`.

    Attributes
    ----------
    document : dict
        Everything, in plain values that JSON can hold: the same figures that the tables show.
    source : str
        What the data are called: the file's name, where they came from a file.
    results : tuple
        The results of the metrics themselves, where the audit was computed here and not loaded.
    """

    document: dict[str, Any]
    source: str = "data"
    results: tuple[Any, ...] = field(default=(), repr=False)
    _resample: Callable[[], dict[str, Any]] | None = field(default=None, repr=False)

    @cached_property
    def resamples(self) -> dict[str, Any]:
        """The values of each metric's resamples, by which audits of the same records can be compared in pairs.

        They are drawn when they are first asked for; a saved audit has them.
        """
        return {} if self._resample is None else self._resample()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings and cautions, the weightiest first."""
        return tuple(Finding(**row) for row in self.document["findings"])

    @property
    def not_run(self) -> tuple[dict[str, Any], ...]:
        """Metrics that were not computed, and why."""
        return tuple(self.document["not_run"])

    @property
    def excluded(self) -> Table:
        """Pairs that are undefined, with the reason and their counts."""
        return _table(self.document["excluded"])

    @property
    def metrics(self) -> Table:
        """One row a metric: attribute, metric, direction, value, low, high and what goes beside it."""
        rows = [
            {
                "attribute": entry["attribute"],
                "metric": entry["metric"],
                "direction": entry["direction"],
                "value": entry["value"],
                "low": entry["interval"][0],
                "high": entry["interval"][1],
                "crossfit": entry.get("crossfit"),
                "clear_value": entry.get("clear_value"),
                "floor": entry.get("floor"),
                "gain": entry.get("gain"),
                "outcome": entry.get("outcome"),
                "n": entry["n"],
            }
            for entry in self.document["metrics"]
        ]
        return _table(rows)

    @property
    def pairs(self) -> Table:
        """One row a pair of every metric that has pairs."""
        rows = [
            {"attribute": entry["attribute"], "metric": entry["metric"], "direction": entry["direction"], **pair}
            for entry in self.document["metrics"]
            for pair in entry.get("pairs", ())
        ]
        return _table(rows)

    @property
    def summary(self) -> str:
        """What was looked at and what was found, in a few lines."""
        data = self.document["data"]
        lines = [
            f"{data['records']:,} records of {self.source}; attributes: {', '.join(data['attributes'])}; "
            f"tasks: {data['tasks']['title']}."
        ]
        lines += [finding.text for finding in self.findings if finding.kind == "finding"]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """The whole audit in plain Python values, or with ``flat`` its figures by name, as trackers take them."""
        return flat_entries(self.document["metrics"]) if flat else self.document

    def to_json(self, path: str | Path | None = None) -> str:
        """The whole audit as JSON text, which is also written to ``path`` where one is given."""
        written = _json(self.document, indent=1)
        if path is not None:
            Path(path).write_text(written + "\n", encoding="utf-8")
        return written

    def to_html(self, path: str | Path, *, association: Any = None) -> None:
        """Write a report that opens in any browser: one file, with everything inside it.

        Parameters
        ----------
        path : str or Path
        association : Association, optional
            Associations of the same model's labels, whose top lists the report shows too.
        """
        shown_by("report.audit_page", "write_html")(self, path, association=association)

    def to_markdown(self, path: str | Path | None = None, *, level: int = 2, pairs: int = 5) -> str:
        """The section on bias of a model card, in Markdown, with limits and cautions.

        Parameters
        ----------
        path : str or Path, optional
            Where it is also written.
        level : int
            The level of the section's heading.
        pairs : int
            How many pairs of each direction are listed; 0 for none.
        """
        written = str(shown_by("report.markdown", "audit_section")(self, level=level, pairs=pairs))
        if path is not None:
            Path(path).write_text(written, encoding="utf-8")
        return written

    def plot(self) -> dict[str, Any]:
        """Every figure of the audit by name, as matplotlib figures. Needs the extra ``plot``."""
        figures: dict[str, Any] = shown_by("report.figures", "audit_figures")(self.document)
        return figures

    def to_frame(self, which: str = "metrics", backend: str | None = None) -> Any:
        """One of the tables as a dataframe.

        Parameters
        ----------
        which : {"metrics", "pairs", "excluded"}
            Which table.
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library; by default the first of these that is installed.
        """
        if which not in ("metrics", "pairs", "excluded"):
            raise ValueError(f"which is {which!r}; take 'metrics', 'pairs' or 'excluded'")
        table: Table = getattr(self, which)
        return table.to_frame(backend)

    def save(self, path: str | Path) -> None:
        """Write the audit with its resamples as JSON (gzipped for a name ending in ``.gz``), for :meth:`load`.

        What is saved is enough to compare, report and explore later without the records.
        """
        content = _json({**self.document, "source": self.source, "resamples": self.resamples})
        path = Path(path)
        raw = (content + "\n").encode()
        path.write_bytes(gzip.compress(raw, mtime=0) if path.suffix == ".gz" else raw)

    @classmethod
    def load(cls, path: str | Path) -> Audit:
        """Read an audit that :meth:`save` or :meth:`to_json` wrote."""
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(f"no file {str(path)!r}")
        try:
            raw = path.read_bytes()
            document = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
        except (ValueError, OSError, EOFError, RecursionError, zlib.error) as error:
            raise ValueError(f"{path.name} is no saved audit: {error}") from None
        if not isinstance(document, dict) or "metrics" not in document or "findings" not in document:
            raise ValueError(f"{path.name} is JSON, but no saved audit")
        if document.get("schema") != SCHEMA:
            raise ValueError(f"{path.name} has schema {document.get('schema')!r}; this version reads schema {SCHEMA}")
        if not _whole(document):
            raise ValueError(f"{path.name} is a saved audit with parts missing or of another form: save it anew")
        source, resamples = document.pop("source", "data"), document.pop("resamples", {})
        return cls(document, source, _resample=lambda: resamples)

    def compared(self, comparison: Any) -> Audit:
        """The same audit with a comparison of models beside it, which its report then shows."""
        return replace(self, document={**self.document, "compare": comparison.to_dict()})

    def named(self, source: str) -> Audit:
        """The same audit under another name for its data."""
        return replace(self, source=source)

    def _repr_html_(self) -> str:
        return str(shown_by("report.notebook", "audit_table")(self))


_PARTS = {"data": dict, "metrics": list, "findings": list, "excluded": list, "not_run": list}
_ENTRY = {"attribute", "metric", "direction", "value", "interval", "n"}
_DATA = {"records", "attributes", "tasks", "groups", "confidence", "missing", "roles"}


def _whole(document: dict[str, Any]) -> bool:
    """Whether a document has the parts that an audit's own methods go by."""
    if not all(isinstance(document.get(name), kind) for name, kind in _PARTS.items()):
        return False
    if not all(isinstance(row, dict) for name in _PARTS if name != "data" for row in document[name]):
        return False
    found = {field.name for field in fields(Finding)}
    return (
        document["data"].keys() >= _DATA
        and all(entry.keys() >= _ENTRY for entry in document["metrics"])
        and all(row.keys() == found for row in document["findings"])
    )


def _json(document: dict[str, Any], indent: int | None = None) -> str:
    """JSON text that UTF-8 can hold: half a surrogate pair, as broken input may have it, is written as an escape."""
    written = json.dumps(document, allow_nan=False, ensure_ascii=False, indent=indent)
    return _HALF_PAIR.sub(lambda half: f"\\u{ord(half[0]):04x}", written)


def _table(rows: list[dict[str, Any]]) -> Table:
    """Rows of plain values as a table: text columns stay text, numbers become numbers."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns: dict[str, Any] = {}
    for name in names:
        values = [row.get(name) for row in rows]
        kinds = {type(value) for value in values if value is not None}
        if kinds <= {bool} and kinds and None not in values:
            columns[name] = np.array(values, dtype=bool)
        elif kinds <= {int} and kinds and None not in values:
            columns[name] = np.array(values, dtype=np.int64)
        elif kinds <= {int, float, bool}:
            columns[name] = np.array([np.nan if value is None else float(value) for value in values])
        else:
            columns[name] = text(["" if value is None else value for value in values])
    return Table(columns)
