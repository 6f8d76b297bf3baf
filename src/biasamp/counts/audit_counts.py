"""All that an audit needs of its records, as counts that add up: over batches, files, sites and machines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from biasamp.data import Label, Variable, printable
from biasamp.data.spelling import another_spelling

from .fingerprints import Fingerprint, least_keys
from .joint import JointCounts
from .storage import SCHEMA, read_arrays, to_arrays, write_arrays
from .subject_counts import SubjectCounts, labels_in, subject_arrays, subject_of

_KIND = "audit"
_SHOWN = 5


@dataclass(frozen=True)
class CountedSource:
    """What was counted: its name, its records, and what tells them from others.

    Records that have ids are the same where their ids are; those without are where they say the same, too.
    """

    name: str
    records: int
    keys: Fingerprint
    content: int


@dataclass(frozen=True, eq=False, repr=False)
class AuditCounts:
    """What :func:`biasamp.count` gives, and :func:`biasamp.audit` takes: counts only, no record.

    ``a + b`` adds the counts of different records in the same label space, and refuses records that it has already.

    Attributes
    ----------
    plan : mapping
        Which columns play which role, and how they were read.
    subjects : tuple of SubjectCounts
        One per protected attribute.
    sources : tuple of CountedSource
        What was counted.
    units, keys : Fingerprint
        Of what is resampled as one, records or clusters, and of the records themselves.
    content, truths : int
        Digests of all values and of the true labels alone, which add up too.
    missing_values : int
    sampled : tuple of int
        A few keys of records that have ids, by which overlapping counts are noticed.
    withheld : mapping or None
        Of counts that were made to be shared: ``below`` which number counts were withheld, and the ``groups`` of each attribute.

    Examples
    --------
    >>> import biasamp
    >>> group = ["woman", "man"] * 40
    >>> hired, model = [0, 1, 1, 1] * 20, [0, 1] * 40
    >>> data = {"group": group, "hired": hired, "model": model}
    >>> data["id"] = list(range(80))
    >>> halves = [{name: values[place : place + 40] for name, values in data.items()} for place in (0, 40)]
    >>> roles = {"attributes": "group", "tasks": "hired", "task_predictions": "model", "record": "id"}
    >>> first, second = (biasamp.count(half, **roles) for half in halves)
    >>> counts = first + second
    >>> counts.records
    80
    >>> biasamp.audit(counts, metrics=["directional"]).metrics["value"].round(3).tolist()
    [0.25]
    """

    plan: Mapping[str, Any]
    subjects: tuple[SubjectCounts, ...]
    units: Fingerprint
    keys: Fingerprint
    content: int
    truths: int
    missing_values: int
    sampled: tuple[int, ...] = ()
    sources: tuple[CountedSource, ...] = ()
    withheld: Mapping[str, Any] | None = None

    @property
    def records(self) -> int:
        """How many records were counted."""
        return self.units.records

    @property
    def fingerprint(self) -> str:
        """A short digest of what was counted: the same for the same records, whatever counted them."""
        return f"{self.content:016x}"

    @property
    def resampled_as(self) -> str:
        """What tells whether two audits' resamples are of the same records in the same bags, and so are paired."""
        bags = max((b.bags for subject in self.subjects for b in subject.pairs.values()), default=0)
        keyed = self.plan.get("record") is not None or self.plan.get("cluster") is not None
        return f"{self.units} in {bags} bags" + ("" if keyed else f" of {self.truths:016x}")

    def of_source(self, name: str) -> AuditCounts:
        """The counts as those of a source.

        Rows without ids are keyed by their number, which starts anew in every source: rows of the same number would
        share a bag, and where sources are sorted alike their errors would go together. So each source has its bags
        in an order of its own, decided by its true labels; two models on the same records have the same.
        """
        subjects = self.subjects
        if self.plan.get("record") is None and self.plan.get("cluster") is None:
            subjects = tuple(subject.shuffled(self.truths) for subject in subjects)
        subjects = tuple(subject.laid_out() for subject in subjects)
        return replace(self, subjects=subjects, sources=(CountedSource(name, self.records, self.keys, self.content),))

    def __repr__(self) -> str:
        names = _few([source.name for source in self.sources])
        held = "; ".join(
            f"{printable(s.attribute, 40)}: {len(labels_in(s.A))} groups x {len(labels_in(s.T))} tasks"
            for s in self.subjects
        )
        return f"<AuditCounts of {self.records:,} records from {names or 'no source'}: {held}>"

    def __add__(self, other: AuditCounts) -> AuditCounts:
        if not isinstance(other, AuditCounts):
            return NotImplemented
        self._refuse_strangers(other)
        return self.joined(other, (*self.sources, *other.sources))

    def __radd__(self, other: Any) -> AuditCounts:
        # ``sum`` begins with 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def joined(self, other: AuditCounts, sources: Sequence[CountedSource] = ()) -> AuditCounts:
        """The sum with other counts in the same label space."""
        if not set(self.sampled).isdisjoint(other.sampled):
            raise ValueError(
                f"record column {self.plan.get('record')!r} has repeated ids: a record has one row, and is counted once. "
                "Rows that belong together without being the same record go into cluster=; ids of several sources must "
                "differ, so put the source's name before them where they start again at each"
            )
        return replace(
            self,
            subjects=tuple(a + b for a, b in zip(self.subjects, other.subjects, strict=True)),
            units=self.units + other.units,
            keys=self.keys + other.keys,
            content=(self.content + other.content) % (1 << 64),
            truths=(self.truths + other.truths) % (1 << 64),
            missing_values=self.missing_values + other.missing_values,
            sampled=least_keys(np.array(self.sampled + other.sampled, dtype=np.uint64)),
            sources=tuple(sources),
        )

    def _refuse_strangers(self, other: AuditCounts) -> None:
        """Raise for counts that do not add up with these, saying how they differ."""
        # How columns were declared shows in the labels they gave, which are compared below.
        mine, theirs = _plan_columns(self.plan), _plan_columns(other.plan)
        if mine != theirs:
            raise ValueError(f"counts made in different ways do not add up: {_plans_apart(mine, theirs)[:500]}")
        for first, second in zip(self.subjects, other.subjects, strict=True):
            for role, one, two in (("attribute", first.A, second.A), ("tasks", first.T, second.T)):
                if one != two:
                    raise ValueError(_differing(role, one, two))
            if (first.train is None) != (second.train is None) or (
                first.train is not None and not _same_joint(first.train, second.train)
            ):
                raise ValueError(
                    "the counts were made with different train labels, which decide the signs: count all with the same"
                )
        if self.withheld != other.withheld:
            raise ValueError(
                "the counts withhold different groups, or below different numbers: what one withholds would be missing from the "
                "sum. Add up the counts themselves and withhold of the sum, or join small groups alike before they are counted"
            )
        named = self.plan.get("record") is not None
        known = {(source.keys, 0 if named else source.content): source for source in self.sources}
        for source in other.sources:
            twice = known.get((source.keys, 0 if named else source.content))
            if twice is not None:
                raise ValueError(
                    f"'{printable(source.name, 60)}' and '{printable(twice.name, 60)}' hold the same {source.records:,} "
                    "records: counted twice they would weigh twice. Leave one of them out"
                )

    def to_dict(self) -> dict[str, Any]:
        """What was counted, in plain values."""
        return {
            "schema": SCHEMA,
            "kind": _KIND,
            "records": self.records,
            "fingerprint": self.fingerprint,
            "missing_values": self.missing_values,
            **({} if self.withheld is None else {"withheld": dict(self.withheld)}),
            # As it is read back from a file: JSON knows no tuples.
            "plan": json.loads(json.dumps(self.plan)),
            "sources": [{"name": s.name, "records": s.records, "keys": str(s.keys)} for s in self.sources],
            "attributes": [
                {
                    "attribute": subject.attribute,
                    "groups": [
                        {"label": str(label), "records": count}
                        for label, count in zip(labels_in(subject.A), subject.sizes["A"].tolist(), strict=True)
                    ],
                    "tasks": len(labels_in(subject.T)),
                    "directions": {
                        way: {
                            "pairs": len(labels_in(subject.A)) * len(labels_in(subject.T)),
                            "bags": bags.bags,
                            "combinations": None if subject.cells[way] is None else len(subject.cells[way].cells),  # type: ignore[union-attr]
                        }
                        for way, bags in subject.pairs.items()
                    },
                }
                for subject in self.subjects
            ],
        }

    def save(self, path: str | Path) -> None:
        """Write the counts to a Parquet file, with a schema version, label names, sources and a checksum."""
        subjects, arrays = [], {}
        for i, subject in enumerate(self.subjects):
            header, mine = subject_arrays(subject)
            subjects.append(header)
            arrays.update({f"{i}/{name}": array for name, array in mine.items()})
        write_arrays(
            path,
            {
                "kind": _KIND,
                "plan": self.plan,
                "subjects": subjects,
                "units": str(self.units),
                "keys": str(self.keys),
                "content": self.fingerprint,
                "truths": f"{self.truths:016x}",
                "missing_values": self.missing_values,
                **({} if self.withheld is None else {"withheld": self.withheld}),
                "sampled": [f"{key:016x}" for key in self.sampled],
                "sources": [[s.name, s.records, str(s.keys), f"{s.content:016x}"] for s in self.sources],
            },
            arrays,
        )

    @classmethod
    def load(cls, path: str | Path) -> AuditCounts:
        """Read counts that :meth:`save` wrote; a damaged or foreign file is refused."""
        header, arrays = read_arrays(path)
        if header.get("kind") != _KIND:
            raise ValueError(
                f"{Path(path).name} holds counts of the kind {header.get('kind')!r}, not those of an audit"
            )
        try:
            subjects = tuple(
                subject_of(held, {k.split("/", 1)[1]: v for k, v in arrays.items() if k.startswith(f"{i}/")})
                for i, held in enumerate(header["subjects"])
            )
            # A file's keys are sorted; attributes are in the order of their subjects, as their predictions are.
            groups = header["plan"]["groups"]
            plan = {
                **header["plan"],
                "groups": {s.attribute: groups[s.attribute] for s in subjects if s.attribute in groups},
            }
            counts = cls(
                plan,
                subjects,
                Fingerprint.parse(header["units"]),
                Fingerprint.parse(header["keys"]),
                int(header["content"], 16),
                int(header["truths"], 16),
                int(header["missing_values"]),
                tuple(int(key, 16) for key in header["sampled"]),
                tuple(
                    CountedSource(name, n, Fingerprint.parse(keys), int(content, 16))
                    for name, n, keys, content in header["sources"]
                ),
                _withheld(header.get("withheld")),
            )
        except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError) as error:
            raise ValueError(
                f"{Path(path).name} is damaged: it does not hold what counts consist of ({error})"
            ) from None
        from .forged import audit_problems, refuse_forged

        refuse_forged(audit_problems(counts), Path(path).name)
        return counts


def _withheld(held: Any) -> Mapping[str, Any] | None:
    """What a file says of counts that it withholds."""
    if held is None:
        return None
    groups = {str(name): [str(group) for group in listed] for name, listed in held["groups"].items()}
    return {"below": int(held["below"]), "groups": groups}


def _few(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(printable(name, 40) for name in names[:_SHOWN]) + more


def _differing(role: str, mine: Sequence[Variable], theirs: Sequence[Variable]) -> str:
    """How two label spaces differ, and what to do."""
    one = {label for variable in mine for label in variable.labels}
    two = {label for variable in theirs for label in variable.labels}

    def shown(labels: set[Label]) -> str:
        return _few(sorted(str(label) for label in labels)) or "none"

    if one == two:
        detail = "they have the same labels in another order or of another kind"
    else:
        detail = f"only the first have {shown(one - two)}; only the second have {shown(two - one)}"
        values = ([label.category or str(label) for label in side] for side in (two - one, one))
        detail += another_spelling(*values)
    return (
        f"counts of different {role} labels do not add up: {detail}. Count again with the label space said outright, "
        "categorical(column, categories=[...]), or with labels= of the other counts"
    )


_ROLES = {
    "groups": "attributes",
    "task": "tasks",
    "group_predictions": "attribute_predictions",
    "task_prediction": "task_predictions",
}


def _plan_columns(plan: Mapping[str, Any]) -> dict[str, Any]:
    """A plan without what columns were declared to be."""

    def plain(held: Any) -> Any:
        if isinstance(held, Mapping):
            return {name: plain(one) for name, one in held.items()}
        if isinstance(held, list) and len(held) == 3 and isinstance(held[0], list):
            return [held[0], None, None]
        return [plain(one) for one in held] if isinstance(held, list) else held

    # What is refused changes no count.
    return {name: plain(held) for name, held in plan.items() if name != "unseen"}


def _shown(held: Any) -> str:
    """A part of a plan, for people: the columns of a role, or a setting."""
    if isinstance(held, Mapping):
        return ", ".join(_shown(one) for one in held.values())
    if isinstance(held, list) and len(held) == 3 and isinstance(held[0], list):
        names, declared, categories = held
        text = ", ".join(printable(str(name), 40) for name in names)
        if declared is not None:
            text = f"{declared}({text}{'' if categories is None else f', categories={categories}'})"
        return text
    if isinstance(held, list):
        return ", ".join(_shown(one) for one in held) or "nothing"
    return "nothing" if held is None else printable(str(held), 60)


def _same_joint(mine: JointCounts, theirs: JointCounts | None) -> bool:
    """Whether two joint counts are the same numbers."""
    if theirs is None:
        return False
    (_, one), (_, two) = to_arrays(mine), to_arrays(theirs)
    return one.keys() == two.keys() and all(np.array_equal(one[name], two[name]) for name in one)


def _plans_apart(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """What two plans say differently, by the arguments' names."""
    names = sorted(k for k in {*mine, *theirs} if mine.get(k) != theirs.get(k))
    return "; ".join(
        f"{_ROLES.get(name, name)} is {_shown(mine.get(name))} in the first, {_shown(theirs.get(name))} in the second"
        for name in names
    )
