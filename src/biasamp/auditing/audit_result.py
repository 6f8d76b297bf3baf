"""What an audit hands back: one document of plain values, and views of it."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from biasamp.amplification.invented import invented_table
from biasamp.data.saving import save_bytes
from biasamp.results.flat import flat_entries
from biasamp.results.renderers import render
from biasamp.results.table import Table, written

from .document_types import SCHEMA, AuditDocument, Data, Entry, FindingFields, NotRun, with_added_fields
from .findings import Finding

# What data are called that came from no file.
UNNAMED = "data"
_HALF_PAIR = re.compile("[\ud800-\udfff]")


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

    document: AuditDocument
    source: str = UNNAMED
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
    def not_run(self) -> tuple[NotRun, ...]:
        """Metrics that were not computed, and why."""
        return tuple(self.document["not_run"])

    @property
    def excluded(self) -> Table:
        """Pairs that are undefined, with the reason and their counts."""
        return Table.from_rows(self.document["excluded"])

    @property
    def invented(self) -> Table:
        """Labels that only predictions have: one row for each and each group, with its rate and how far groups differ."""
        return invented_table(self.document.get("invented", []))

    @property
    def why(self) -> Table:
        """One row per part of each directional value: of the scores, of the threshold, and inside strata."""
        rows = [
            {
                "attribute": entry["attribute"],
                "direction": entry["direction"],
                "part": name,
                "value": part["value"],
                "low": part["interval"][0],
                "high": part["interval"][1],
                "verdict": part["verdict"],
            }
            for entry in self.document.get("why", ())
            for name, part in entry["parts"].items()
        ]
        return Table.from_rows(rows)

    @property
    def metrics(self) -> Table:
        """One row per metric: attribute, metric, direction, value, low, high and what goes beside it."""
        rows = [
            {
                **{name: entry[name] for name in ("attribute", "metric", "direction", "value")},
                "low": entry["interval"][0],
                "high": entry["interval"][1],
                **{name: entry.get(name) for name in ("crossfit", "clear_value", "floor", "gain", "outcome", "n")},
            }
            for entry in self.document["metrics"]
        ]
        return Table.from_rows(rows)

    @property
    def pairs(self) -> Table:
        """One row per pair of every metric that has pairs."""
        rows = [
            {"attribute": entry["attribute"], "metric": entry["metric"], "direction": entry["direction"], **pair}
            for entry in self.document["metrics"]
            for pair in entry.get("pairs", ())
        ]
        return Table.from_rows(rows)

    @property
    def groups(self) -> Table:
        """One row per group and outcome: records, share, and every rate with its interval.

        With a reference group also the difference of every rate to it, and the ratio.
        """
        rows = []
        for row in self.document.get("rates", ()):
            flat: dict[str, Any] = {}
            for name, value in row.items():
                if isinstance(value, dict):
                    flat.update({name if part == "value" else f"{name}_{part}": held for part, held in value.items()})
                else:
                    flat[name] = value
            rows.append(flat)
        return Table.from_rows(rows)

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
        return flat_entries(self.document["metrics"]) if flat else cast("dict[str, Any]", self.document)

    def to_json(self, path: str | Path | None = None) -> str:
        """The whole audit as JSON text, which is also written to ``path`` where one is given."""
        return written(_json(self.document, indent=1), path)

    def to_html(self, path: str | Path, *, association: Any = None) -> None:
        """Write a report that opens in any browser: one file, with everything inside it.

        Parameters
        ----------
        path : str or Path
        association : Association, optional
            Associations of the same model's labels, whose top lists the report shows too.
        """
        render("audit page", self, path, association=association)

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
        return written(render("audit Markdown", self, level=level, pairs=pairs), path)

    def plot(self) -> dict[str, Any]:
        """Every figure of the audit by name, as matplotlib figures. Needs the extra ``plot``."""
        figures: dict[str, Any] = render("audit figures", self.document)
        return figures

    def to_frame(self, which: str = "metrics", backend: str | None = None) -> Any:
        """One of the tables as a dataframe.

        Parameters
        ----------
        which : {"metrics", "pairs", "groups", "excluded", "invented"}
            Which table.
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library; by default the first of these that is installed.
        """
        if which not in ("metrics", "pairs", "groups", "excluded", "invented"):
            raise ValueError(f"which is {which!r}; take 'metrics', 'pairs', 'groups', 'excluded' or 'invented'")
        table: Table = getattr(self, which)
        return table.to_frame(backend)

    def save(self, path: str | Path) -> None:
        """Write the audit with its resamples as JSON (gzipped for a name ending in ``.gz``), for :meth:`load`.

        What is saved is enough to compare, report and explore later without the records.
        """
        content = _json({**self.document, "resamples": self.resamples})
        raw = (content + "\n").encode()
        save_bytes(path, gzip.compress(raw, mtime=0) if Path(path).suffix == ".gz" else raw)

    @classmethod
    def load(cls, path: str | Path) -> Audit:
        """Read an audit that :meth:`save` or :meth:`to_json` wrote."""
        path = Path(path)
        document = read_json(path, "audit")
        if not isinstance(document, dict) or "metrics" not in document or "findings" not in document:
            raise ValueError(f"{path.name} is JSON, but no saved audit")
        if document.get("schema") != SCHEMA:
            raise ValueError(f"{path.name} has schema {document.get('schema')!r}; this version reads schema {SCHEMA}")
        if not _whole(document):
            raise ValueError(f"{path.name} is a saved audit with parts missing or of another form: save it anew")
        return cls.from_document(document)

    @classmethod
    def from_document(cls, saved: Mapping[str, Any]) -> Audit:
        """The audit of a document as it was saved."""
        document = dict(saved)
        resamples = document.pop("resamples", {})
        # Version 0.1 put the name of the data beside the document.
        provenance = {"source": document.pop("source", UNNAMED), **document.get("provenance", {})}
        whole = {**with_added_fields(document), "provenance": provenance}
        return cls(cast("AuditDocument", whole), provenance["source"], _resample=lambda: resamples)

    def compared(self, comparison: Any) -> Audit:
        """The same audit with a comparison of models beside it, which its report then shows."""
        return replace(self, document={**self.document, "compare": comparison.to_dict()})

    def named(self, source: str) -> Audit:
        """The same audit under another name for its data."""
        provenance: Any = {**self.document.get("provenance", {}), "source": source}
        return replace(self, source=source, document={**self.document, "provenance": provenance})

    def _repr_html_(self) -> str:
        return str(render("audit table", self))


def read_json(path: Path, what: str) -> Any:
    """What a file of JSON says, gzipped or not; ``what`` is the saved thing it should be, for messages."""
    if not path.is_file():
        raise FileNotFoundError(f"no file {str(path)!r}")
    try:
        raw = path.read_bytes()
        return json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    except (ValueError, OSError, EOFError, RecursionError, zlib.error) as error:
        raise ValueError(f"{path.name} is no saved {what}: {error}") from None


_PARTS = {"data": dict, "metrics": list, "findings": list, "excluded": list, "not_run": list}


def _whole(document: dict[str, Any]) -> bool:
    """Whether a document has the parts that an audit's own methods go by."""
    lists = [name for name, kind in _PARTS.items() if kind is list]
    return (
        all(isinstance(document.get(name), kind) for name, kind in _PARTS.items())
        and all(isinstance(row, dict) for name in lists for row in document[name])
        and document["data"].keys() >= Data.__required_keys__
        and all(entry.keys() >= Entry.__required_keys__ for entry in document["metrics"])
        and all(row.keys() >= FindingFields.__required_keys__ for row in document["findings"])
    )


def _json(document: Mapping[str, Any], indent: int | None = None) -> str:
    """JSON text that UTF-8 can hold: half a surrogate pair, as broken input may have it, is written as an escape."""
    content = json.dumps(document, allow_nan=False, ensure_ascii=False, indent=indent)
    return _HALF_PAIR.sub(lambda half: f"\\u{ord(half[0]):04x}", content)
