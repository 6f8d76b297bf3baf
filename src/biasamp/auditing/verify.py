"""``biasamp.verify``: whether the figures of a saved audit are those of some data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biasamp import __version__
from biasamp.counts.audit_counts import AuditCounts
from biasamp.data import printable
from biasamp.data.plain_arguments import names_of, shown

from .audit_result import Audit
from .group_choice import GroupNames
from .label_provenance import read_label_provenance
from .plan import Plan
from .run import measured
from .settings import Settings

# Figures that agree to so many digits are the same: other machines sum in the same order, other versions may not.
_CLOSE = 1e-9
# What depends on place, time and call, or is words.
_NOT_FIGURES = frozenset({"provenance", "version", "registry", "findings", "checksum", "schema", "compare"})
_WORDS = frozenset({"text", "reason", "cautions", "caution_kinds", "words", "rule", "sign_source", "base_source"})
_FEWEST_SHOWN = 5


@dataclass(frozen=True)
class Verification:
    """What :func:`verify` found.

    Attributes
    ----------
    same : bool
        Whether data and figures are those of the audit.
    fingerprints : pair of str
        Of the data: as the audit has it, and of these data.
    differences : tuple of dict
        Every figure that is not the same: ``field``, ``saved`` and ``computed``.
    versions : pair of str
        The version that made the audit, and this one.

    Examples
    --------
    >>> import biasamp
    >>> group = ["woman", "man"] * 40
    >>> hired, model = [0, 1, 1, 1] * 20, [0, 1] * 40
    >>> data = {"group": group, "hired": hired, "model": model}
    >>> audit = biasamp.audit(data, attributes="group", tasks="hired", task_predictions="model", metrics=["directional"])
    >>> found = biasamp.verify(audit, data)
    >>> found.same, found.differences
    (True, ())
    """

    same: bool
    fingerprints: tuple[str, str]
    differences: tuple[dict[str, Any], ...] = ()
    versions: tuple[str, str] = (__version__, __version__)
    figures: int = 0
    notes: tuple[str, ...] = field(default=())

    @property
    def same_data(self) -> bool:
        """Whether the records are those that were audited."""
        return self.fingerprints[0] == self.fingerprints[1]

    @property
    def summary(self) -> str:
        """What was found, in a few lines."""
        lines = []
        if self.same:
            lines.append(
                f"The figures are those of these data: {self.figures:,} figures and the fingerprint {self.fingerprints[0]} agree."
            )
        elif not self.same_data:
            lines.append(
                f"The figures are not those of these data: the audit was made of records with the fingerprint {self.fingerprints[0]}, "
                f"these have {self.fingerprints[1]}."
            )
        else:
            lines.append("The data are those of the audit, but its figures are not what they give.")
        if self.differences:
            lines.append(f"{len(self.differences):,} of {self.figures:,} figures differ:")
            lines += [
                f"  {printable(row['field'], 120)}: {printable(str(row['saved']), 40)} saved, {printable(str(row['computed']), 40)} computed"
                for row in self.differences[:_FEWEST_SHOWN]
            ]
            if len(self.differences) > _FEWEST_SHOWN:
                lines.append(f"  and {len(self.differences) - _FEWEST_SHOWN:,} more")
        elif not self.same:
            lines.append(f"All {self.figures:,} figures agree nevertheless: what differs is in no figure.")
        return "\n".join([*lines, *self.notes])

    def to_dict(self) -> dict[str, Any]:
        """The result in plain Python values that JSON can hold."""
        return {
            "schema": 1,
            "kind": "verification",
            "same": self.same,
            "same_data": self.same_data,
            "fingerprints": list(self.fingerprints),
            "versions": list(self.versions),
            "figures": self.figures,
            "differences": list(self.differences),
            "notes": list(self.notes),
        }

    def __bool__(self) -> bool:
        return self.same

    def __str__(self) -> str:
        return self.summary


def _made_with(held: Mapping[str, Any], seed: int) -> tuple[Plan, Settings, GroupNames]:
    """How an audit says that it was made: by anybody, so that it is checked as arguments are."""
    try:
        settings = Settings(
            frozenset(names_of(held["metrics"], "metrics", "names of metrics")),
            held["confidence"],
            held["resamples"],
            seed,
            held["min_group"],
            held["positive"],
            read_label_provenance(held.get("labels") or None),
            held.get("suppress"),
            held.get("intervals", "bootstrap"),
        )
        return Plan.from_dict(held["plan"]), settings, GroupNames(held["reference"], held["ignore_groups"])
    except KeyError as error:
        problem = f"{error.args[0]} is missing"
    except (TypeError, ValueError) as error:
        problem = str(error)
    raise ValueError(
        f"provenance.settings do not say how the audit was made: {problem}. Audit the data again and save that"
    )


def verify(
    audit: Any,
    data: Any,
    *,
    train: Any = None,
    base: Any = None,
    weights: Any = None,
    engine: Any = "auto",
    threads: int | None = None,
    memory: int | str | None = None,
) -> Verification:
    """Compute an audit again and say whether its figures are those of these data.

    The audit says how it was made: columns, settings and seed. One changed label of a million records changes the fingerprint of the
    data, and is found even where no figure moves.

    Parameters
    ----------
    audit : Audit or path
        What :meth:`biasamp.Audit.save` or :meth:`~biasamp.Audit.to_json` wrote.
    data : path, dataframe, mapping of arrays or counts
        The records.
    train, base : optional
        As they were given to :func:`biasamp.audit`, where they were.
    weights : array-like, optional
        The weights, where an array of them was given instead of a column.
    engine, threads, memory : optional
        As for :func:`biasamp.audit`; they change no figure.

    Returns
    -------
    Verification

    Examples
    --------
    >>> import biasamp
    >>> data = {"g": ["w", "m"] * 50, "t": [1, 0] * 50, "p": [1, 0] * 40 + [0, 1] * 10}
    >>> made = biasamp.audit(data, attributes="g", tasks="t", task_predictions="p", metrics=["directional"])
    >>> bool(biasamp.verify(made, data))
    True
    >>> data["t"][3] = 1
    >>> biasamp.verify(made, data).same_data
    False
    """
    if isinstance(audit, (str, Path)):
        audit = Audit.load(audit)
    if not isinstance(audit, Audit):
        raise TypeError(f"audit is {shown(audit)}; a saved audit is needed, or its path")
    document = audit.document
    held: Mapping[str, Any] = document.get("provenance", {}).get("settings", {})
    if not held:
        raise ValueError(
            f"the audit, made by biasamp {printable(str(document['version']), 20)}, does not say how it was made: audit the data again "
            "and save that"
        )
    plan, settings, chosen = _made_with(held, document["seed"])
    for name, given, needed in (("train", train, plan.train), ("base", base, document["data"]["base"])):
        if (given is None) == needed and not isinstance(data, AuditCounts):
            words = f"was made with {name}: give the same" if needed else f"was made without {name}: leave it out"
            raise ValueError(f"the audit {words}")
    if (weights is None) == bool(document["data"]["weighted"] and plan.weights is None) and not isinstance(
        data, AuditCounts
    ):
        raise ValueError(
            "the audit was made with an array of weights: give the same"
            if weights is None
            else "the audit has its weights from a column, or none: leave weights out"
        )
    again, _ = measured(
        data,
        plan,
        settings,
        chosen,
        train=train,
        base=base,
        weights=plan.weights if weights is None else weights,
        engine=engine,
        threads=threads,
        memory=memory,
    )
    figures, found = 0, []
    for field_name, saved, computed in _compared(document, again.document, ""):
        figures += 1
        if not _same(saved, computed):
            found.append({"field": field_name, "saved": saved, "computed": computed})
    prints = document["data"]["fingerprint"], again.document["data"]["fingerprint"]
    notes = []
    if document["version"] != __version__:
        notes.append(
            f"The audit was made by biasamp {printable(str(document['version']), 20)}, this is {__version__}: figures may differ for that."
        )
    found = [row for row in found if row["field"] != "data.fingerprint"]
    return Verification(
        prints[0] == prints[1] and not found,
        prints,
        tuple(found),
        (document["version"], __version__),
        figures,
        tuple(notes),
    )


def _compared(saved: Any, computed: Any, where: str) -> Iterator[tuple[str, Any, Any]]:
    """Every plain value of two documents by its place; what one of them lacks is ``"nothing"`` there."""
    if isinstance(saved, Mapping) and isinstance(computed, Mapping):
        for name in [*saved, *(name for name in computed if name not in saved)]:
            if name in _WORDS or (not where and name in _NOT_FIGURES):
                continue
            place = f"{where}.{name}" if where else str(name)
            yield from _compared(saved.get(name, "nothing"), computed.get(name, "nothing"), place)
    elif isinstance(saved, list) and isinstance(computed, list):
        for i in range(max(len(saved), len(computed))):
            one, two = (side[i] if i < len(side) else "nothing" for side in (saved, computed))
            yield from _compared(one, two, f"{where}[{i}]")
    else:
        yield where, saved, computed


def _same(saved: Any, computed: Any) -> bool:
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (saved, computed))
    return math.isclose(saved, computed, rel_tol=_CLOSE, abs_tol=_CLOSE) if numbers else saved == computed
