"""What an audit hands back: one document of plain values, and views of it."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from biasamp.amplification.invented import invented_table
from biasamp.data import printable
from biasamp.data.byte_sizes import shown_bytes
from biasamp.data.plain_arguments import (
    made_by,
    mapping_or_none,
    one_of,
    path_of,
    text_of,
    text_or_none,
    whole_number,
    yes_or_no,
)
from biasamp.data.saving import save_bytes
from biasamp.data.unzipping import VARIABLE, is_gzip, unzip, unzipped_limit
from biasamp.results.checksums import FIELD, is_checked, json_text, with_checksum
from biasamp.results.flat import flat_entries
from biasamp.results.renderers import render
from biasamp.results.table import Table, written

from .answer import Answer, answer_of
from .document_check import first_problem
from .document_types import AuditDocument, NotRun, with_added_fields
from .findings import CAUTION, URGENCY, Finding
from .measurement_types import SCHEMA

# Attributes that a line names.
_SHOWN = 6
# What data are called that came from no file.
UNNAMED = "data"
# The list whose entries have a checksum each.
_ENTRIES = "metrics"
_AGAIN = "audit the data again and save the audit with save() or to_json() (audit --save, --json)"
# The tables of an audit, by the names of its properties.
TABLES = ("metrics", "pairs", "groups", "excluded", "invented")


@dataclass(frozen=True, eq=False, repr=False)
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

    Examples
    --------
    >>> import biasamp
    >>> group = ["woman", "man"] * 40
    >>> hired, model = [0, 1, 1, 1] * 20, [0, 1] * 40
    >>> data = {"group": group, "hired": hired, "model": model}
    >>> audit = biasamp.audit(data, attributes="group", tasks="hired", task_predictions="model", metrics=["directional"])
    >>> audit.metrics["value"].round(3).tolist()
    [0.25]
    >>> print(audit.answer.found)
    The model amplifies the bias of its data by group (+0.250).
    >>> [(row["given"], row["outcome"], row["delta"]) for row in audit.pairs.rows()][2:]
    [('group=woman', 'hired=0', 0.5), ('group=woman', 'hired=1', -0.5)]
    >>> audit.to_frame("metrics", "pandas")["metric"].tolist()
    ['directional']
    >>> audit.to_markdown().splitlines()[0]
    '## Bias amplification'
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
        """What was looked at and what was found, in a few lines: what for whom, how sure, what next, then every finding."""
        lines = [f"{self._looked_at}.", *(f"{title}: {words}" for title, words in self.answer.titled.items()), ""]
        lines += [printable(finding.text, 4000) for finding in self.findings if finding.kind == "finding"]
        return "\n".join(lines)

    @property
    def answer(self) -> Answer:
        """What was found for whom, how sure that is, and what to do next, in a sentence or two each."""
        return answer_of(self.document)

    @property
    def _looked_at(self) -> str:
        data = self.document["data"]
        attributes = ", ".join(printable(name, 40) for name in data["attributes"][:_SHOWN])
        more = f" and {len(data['attributes']) - _SHOWN} more" if len(data["attributes"]) > _SHOWN else ""
        return (
            f"{data['records']:,} records of {printable(self.source, 60)}; attributes: {attributes}{more}; tasks: "
            f"{printable(data['tasks']['title'], 120)}"
        )

    def __repr__(self) -> str:
        found = [finding.kind for finding in self.findings]
        counted = f"{found.count('finding')} findings, {found.count('caution')} cautions"
        return f"<Audit: {self._looked_at}; {len(self.document['metrics'])} figures, {counted}>"

    def __str__(self) -> str:
        return self.summary

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """The whole audit in plain Python values, or with ``flat`` its figures by name, as trackers take them."""
        whole = cast("dict[str, Any]", self.document)
        return flat_entries(self.document["metrics"]) if yes_or_no(flat, "flat") else whole

    def to_json(self, path: str | Path | None = None) -> str:
        """The whole audit as JSON text, which is also written to ``path`` where one is given."""
        return written(json_text(with_checksum(self.document, _ENTRIES), indent=1), path)

    def to_html(self, path: str | Path, *, association: Any = None) -> None:
        """Write a report that opens in any browser: one file, with everything inside it.

        Parameters
        ----------
        path : str or Path
        association : Association, optional
            Associations of the same model's labels, whose top lists the report shows too.
        """
        if association is not None:
            from biasamp.association.association_result import Association

            made_by(association, Association, "association", "biasamp.associate")
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
        whole_number(level, "level", least=1, most=6)
        whole_number(pairs, "pairs")
        return written(render("audit Markdown", self, level=level, pairs=pairs), path)

    def to_model_card(self, path: str | Path | None = None, *, name: str, dataset: str | None = None) -> str:
        """A Hugging Face model card: all figures as ``model-index``, and the section on bias.

        Parameters
        ----------
        path : str or Path, optional
            Where it is also written, such as ``README.md``.
        name : str
            The name of the model.
        dataset : str, optional
            The name of the data on the Hub; by default that of the file.
        """
        text_of(name, "name")
        text_or_none(dataset, "dataset")
        return written(render("audit model card", self, name=name, dataset=dataset), path)

    def to_croissant(
        self, path: str | Path | None = None, *, name: str | None = None, metadata: dict[str, Any] | None = None
    ) -> str:
        """Croissant metadata of the data with the fields for responsible AI that an audit can fill, as JSON.

        ``metadata`` is what is known of the data otherwise: ``license``, ``url``, ``citeAs``, ``distribution`` and so on.
        """
        text_or_none(name, "name")
        mapping_or_none(metadata, "metadata")
        return written(render("audit Croissant", self, name=name, metadata=metadata), path)

    def to_ai_act(self, path: str | Path | None = None, *, level: int = 2) -> str:
        """The audit under the headings of Annex IV, point 2(g), and Article 10(2)(f) of the EU AI Act, in Markdown.

        Headings and figures: whether they meet any requirement is not said.
        """
        whole_number(level, "level", least=1, most=6)
        return written(render("audit AI Act section", self, level=level), path)

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
        one_of(which, "which", TABLES)
        table: Table = getattr(self, which)
        return table.to_frame(backend)

    def save(self, path: str | Path) -> None:
        """Write the audit with its resamples as JSON (gzipped for a name ending in ``.gz``), for :meth:`load`.

        What is saved is enough to compare, report and explore later without the records.
        """
        path = path_of(path)
        content = json_text(with_checksum({**self.document, "resamples": self.resamples}, _ENTRIES))
        raw = (content + "\n").encode()
        save_bytes(path, gzip.compress(raw, mtime=0) if Path(path).suffix == ".gz" else raw)

    @classmethod
    def load(cls, path: str | Path) -> Audit:
        """Read an audit that :meth:`save` or :meth:`to_json` wrote.

        A file that was changed since, or lost its checksums, is refused, and the field is named. Files of version 0.1
        have none that could tell: they are read with a caution among the findings.
        """
        path = Path(path_of(path))
        return cls.from_document(read_json(path, "audit"), path.name)

    @classmethod
    def from_document(cls, saved: Any, name: str = "the document") -> Audit:
        """The audit of a document as it was saved; ``name`` is what messages call it."""
        checked = _check(saved, name)
        document = {field: held for field, held in saved.items() if field != FIELD}
        if not checked and not any(row["code"] == UNCHECKED for row in saved["findings"]):
            document["findings"] = sorted([*saved["findings"], _unchecked(name)], key=lambda row: -row["weight"])
        resamples = document.pop("resamples", {})
        # Version 0.1 put the name of the data beside the document.
        provenance = {"source": document.pop("source", UNNAMED), **document.get("provenance", {})}
        whole = {**with_added_fields(document), "provenance": provenance}
        # Records in memory have no name: then the file that the audit was saved to has one.
        source = name if provenance["source"] == UNNAMED else provenance["source"]
        return cls(cast("AuditDocument", whole), source, _resample=lambda: resamples)

    def compared(self, comparison: Any) -> Audit:
        """The same audit with a comparison of models beside it, which its report then shows."""
        return replace(self, document={**self.document, "compare": comparison.to_dict()})

    def named(self, source: str) -> Audit:
        """The same audit under another name for its data."""
        provenance: Any = {**self.document.get("provenance", {}), "source": source}
        return replace(self, source=source, document={**self.document, "provenance": provenance})

    def _repr_html_(self) -> str:
        return str(render("audit table", self))


class NoAudit(ValueError):
    """A file that holds something else than an audit."""


def read_json(path: Path, what: str) -> Any:
    """What a file of JSON says, gzipped or not; ``what`` is the saved thing it should be, for messages."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise ValueError(f"{str(path)!r} is a pipe or a device; the file of a saved {what} is needed")
    if not path.is_file():
        raise FileNotFoundError(f"no file {str(path)!r}")
    try:
        if path.stat().st_size > unzipped_limit():
            raise ValueError(f"it has more than {shown_bytes(unzipped_limit())}; {VARIABLE} raises that limit")
        raw = path.read_bytes()
        return json.loads(unzip(raw, path.name) if is_gzip(raw) else raw, parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise NoAudit(f"{path.name} is no saved {what}: it holds bytes that are no text") from None
    except (ValueError, OSError, EOFError, RecursionError, MemoryError, zlib.error) as error:
        raise NoAudit(f"{path.name} is no saved {what}: {error}") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _check(document: Any, name: str) -> bool:
    """Refuse what is no saved audit, or not as it was saved; whether checksums vouch for it."""
    if not isinstance(document, dict) or "metrics" not in document or "findings" not in document:
        raise NoAudit(f"{name} is JSON, but no saved audit")
    if document.get("schema") != SCHEMA:
        raise ValueError(f"{name} has schema {document.get('schema')!r}; this version reads schema {SCHEMA}")
    problem = first_problem(document, closed=FIELD not in document)
    if problem is not None:
        raise ValueError(f"{name} is a saved audit with a field of another form: {problem[0]} {problem[1]}")
    return is_checked(document, name, _AGAIN, _ENTRIES)


UNCHECKED = "unchecked"


def _unchecked(name: str) -> dict[str, Any]:
    """The caution of an audit that nothing vouches for."""
    text = (
        f"This audit was read from {printable(name, 60)}, which has no checksum: nothing tells whether it was changed since it was "
        "saved. Files of version 0.1 have none; audit the data again where it matters."
    )
    return Finding("caution", UNCHECKED, text, CAUTION + URGENCY[UNCHECKED], {}).to_dict()
