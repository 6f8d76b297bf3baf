"""What a comparison of models hands back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from biasamp.data import printable
from biasamp.data.plain_arguments import one_of, whole_number, yes_or_no
from biasamp.results.flat import flat_differences
from biasamp.results.renderers import render
from biasamp.results.table import Table, written

from .answer import Answer
from .comparison_answer import answer_of_comparison, changed_pairs
from .comparison_types import ComparisonDocument, PairDifference

_COLUMNS = (
    *("attribute", "metric", "direction", "model", "other", "value", "other_value"),
    *("difference", "low", "high", "paired", "verdict"),
)
_OF_RUNS = ("by_seeds", "by_records", "freedom", "more_seeds_low", "more_seeds_high", "more_records")
_OF_PAIRS = (
    *("attribute", "metric", "direction", "model", "other", "given", "outcome", "sign", "value", "other_value"),
    *("difference", "low", "high", "p", "q", "support", "paired"),
)
# Characters of a line that is printed.
_LINE = 4000
_TABLES = ("table", "pairs", "rankings")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Differences between models, metric by metric and pair by pair.

    Attributes
    ----------
    document : dict
        ``models``, ``differences`` (each with the metric, both values, the difference with its interval, whether
        it is paired, and a verdict in words), ``pairs``, ``rankings``, ``cautions`` and ``notes``, in plain values that JSON can hold.

    Examples
    --------
    >>> import biasamp
    >>> group = ["woman", "man"] * 40
    >>> hired, model = [0, 1, 1, 1] * 20, [0, 1] * 40
    >>> data = {"group": group, "hired": hired, "model": model}
    >>> def audited(said: list[int]) -> biasamp.Audit:
    ...     held = {**data, "model": said, "id": list(range(80))}
    ...     roles = {"attributes": "group", "tasks": "hired", "task_predictions": "model", "record": "id"}
    ...     return biasamp.audit(held, **roles, metrics=["directional"])
    ...
    >>> comparison = biasamp.compare({"old": audited(model), "new": audited(hired.copy())})
    >>> comparison.models
    ('old', 'new')
    >>> [(row["metric"], round(row["difference"], 3)) for row in comparison.table.rows()]
    [('directional', -0.25)]
    >>> comparison.table["verdict"].tolist()
    ['new amplifies less than old']
    """

    document: ComparisonDocument

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models, the one that others are held against first."""
        return tuple(self.document["models"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of all differences: pairing, and what was not compared."""
        return tuple(self.document["notes"])

    @property
    def cautions(self) -> tuple[str, ...]:
        """What to know before models are chosen: how their audits differ, and what these warn of; the weightiest first."""
        return tuple(row["text"] for row in self.document.get("cautions", ()))

    @property
    def answer(self) -> Answer:
        """What was found, how sure it is and what to do next, in sentences: ``found``, ``sure`` and ``next``."""
        return answer_of_comparison(self.document)

    @property
    def table(self) -> Table:
        """One row a difference: attribute, metric, direction, models, values, difference, interval, verdict.

        Of several runs also the variances of the difference by seeds and by records, the degrees of freedom of Cochran's t, and how many
        more seeds (a 90% range) or records in all would decide a difference of this size.
        """
        rows = []
        for row in self.document["differences"]:
            held = {**row, **_models(row)}
            made = {name: held[name] for name in _COLUMNS}
            if "more_records" in row:
                made["more_records"] = row["more_records"]
            if "runs" in row:
                runs = row["runs"]
                low, high = runs.get("more_seeds", (None, None))
                beside = {**runs, "more_seeds_low": low, "more_seeds_high": high}
                made.update({name: beside.get(name) for name in _OF_RUNS})
            rows.append(made)
        return Table.from_rows(rows)

    @property
    def pairs(self) -> Table:
        """One row for each pair of directional amplification and model: how much more often it is predicted than by the first model.

        Of DPA of several tasks there is a row for each task against the attribute, with its own DPA.

        Columns: attribute, metric, direction, the two models, given, outcome, sign (of amplification), both changes against
        the truth, their difference with its interval, p, q (over all pairs of all models), support, and whether it is
        paired. Which of them changed is what ``q`` says; intervals are those of each pair by itself.
        """
        rows = [{**row, **_models(row)} for row in self.document.get("pairs", ())]
        return Table.from_rows([{name: row[name] for name in _OF_PAIRS} for row in rows])

    @property
    def changed(self) -> list[PairDifference]:
        """The pairs that changed, each fact once, the largest changes first: q is below .05."""
        return sorted(changed_pairs(self.document), key=lambda row: -abs(cast("float", row["difference"])))

    @property
    def rankings(self) -> Table:
        """One row for each figure: the models from the least value to the largest, and whether that order is stable."""
        rows = [{**row, "models": " < ".join(row["models"])} for row in self.document.get("rankings", ())]
        return Table.from_rows([{name: held for name, held in row.items() if name != "values"} for row in rows])

    def __str__(self) -> str:
        lines = [f"{title}: {words}" for title, words in self.answer.titled.items()]
        lines += [
            f"{row['attribute']} {row['metric']} {row['direction'] or ''}: {row['verdict']}"
            for row in self.document["differences"]
        ]
        return "\n".join(printable(line, _LINE) for line in [*lines, *self.orders])

    @property
    def orders(self) -> list[str]:
        """Whether the order of more than two models is stable, in words; of two the verdict says it."""
        return [row["words"] for row in self.document.get("rankings", ())] if len(self.models) > 2 else []

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """The comparison in plain Python values, or with ``flat`` its differences by name, as trackers take them."""
        whole = cast("dict[str, Any]", self.document)
        return flat_differences(self.document["differences"]) if yes_or_no(flat, "flat") else whole

    def to_json(self, path: str | Path | None = None) -> str:
        """The comparison as JSON text, which is also written to ``path`` where one is given."""
        return written(json.dumps(self.document, allow_nan=False, ensure_ascii=False, indent=1), path)

    def to_markdown(self, path: str | Path | None = None, *, level: int = 2, pairs: int = 20) -> str:
        """The comparison in Markdown: differences, pairs that changed, rankings and notes.

        Parameters
        ----------
        path : str or Path, optional
            Where it is also written.
        level : int
            The level of the heading.
        pairs : int
            How many pairs that changed are listed at most; 0 for none.
        """
        whole_number(level, "level", least=1, most=6)
        whole_number(pairs, "pairs")
        return written(render("comparison Markdown", self, level=level, pairs=pairs), path)

    def to_frame(self, which: str = "table", backend: str | None = None) -> Any:
        """One of the tables as a dataframe.

        Parameters
        ----------
        which : {"table", "pairs", "rankings"}
            Which table.
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library; by default the first of these that is installed.
        """
        if (
            isinstance(which, str) and which in ("pandas", "polars", "pyarrow") and backend is None
        ):  # version 0.1 had the backend alone
            which, backend = "table", which
        one_of(which, "which", _TABLES)
        table: Table = getattr(self, which)
        return table.to_frame(backend)

    def to_html(self, path: str | Path) -> None:
        """Write the comparison as one HTML file that needs nothing else: verdicts first, then the pairs that changed."""
        render("comparison page", self, path)

    def _repr_html_(self) -> str:
        return str(render("comparison table", self))


def _models(row: Any) -> dict[str, Any]:
    """The names of a row's models and their values, as columns."""
    return {
        "direction": row["direction"] or "",
        "model": row["models"][0],
        "other": row["models"][1],
        "value": row["first"],
        "other_value": row["second"],
    }
