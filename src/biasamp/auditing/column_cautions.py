"""Cautions of the records and the columns as they were given: what is missing, undefined or likely mistaken."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats
from biasamp.data import Label, printable

from .document_types import Excluded
from .evidence import Place, place_of
from .findings import Context, Finding, Rule, caution, number, place
from .skill_cautions import never_wrong
from .subject import Counted
from .unseen_labels import never_predicted, no_sign, no_truth

# Names of predictions; and names that may be of an outcome too, as of a test score, unless the other column is named as a truth, or
# as this one without such a word.
_PREDICTED = re.compile(
    r"(?<![a-z])(?:y?preds?|predict(?:s|ed|ions?)?|yhat|logits?|guess(?:es)?)(?![a-z])|_hat(?![a-z])|^hat_[a-z]$", re.I
)
_SCORED = re.compile(
    r"(?<![a-z])(?:scores?|probs?|probas?|probabilit(?:y|ies)|outputs?|models?|modell?ed|forecasts?|estimate[sd]?|inferred|detected|"
    r"classified|classifications?|classifier|systems?|hypothes[ie]s|algorithm|machine)(?![a-z])",
    re.I,
)
_TRUE = re.compile(
    r"(?<![a-z])(?:y|gt|gold|true|truth|actuals?|labels?|targets?|observed|reference|annotat(?:ed|ions?)|human|expert)(?![a-z])",
    re.I,
)
_CAPITALS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Labels that a sentence names of many.
_SHOWN = 3
# Records whose values do not go together one by one by chance.
_NO_CHANCE = 30


def unknown_overlap(context: Context) -> Iterator[Finding]:
    """Counts of several sources without ids, which may share records."""
    if len(context.sources) > 1 and context.subjects[0].plan.record is None:
        names = ", ".join(printable(name, 40) for name in context.sources[:_SHOWN])
        more = f" and {len(context.sources) - _SHOWN} more" if len(context.sources) > _SHOWN else ""
        yield caution(
            "unknown-overlap",
            f"These counts were added up from {names}{more}, whose records have no ids: whether some records stand in more "
            "than one source cannot be known, and they would weigh twice. Count with a column of ids (record) to have that noticed.",
            sources=len(context.sources),
        )


def repeated(context: Context) -> Iterator[Finding]:
    """A table that is below itself, rows that stand several times in succession, and predictions of several models."""
    data = context.document["data"]
    rows, times, models = data.get("repeated"), data.get("in_succession"), data.get("repeated_truth")
    if times is not None:
        yield caution(
            "repeated",
            f"Every row is there {times:,} times, one right after the other: was the table joined to one that has several rows of each record? "
            "Then intervals are shorter than the records allow. Where they are other records indeed, give each an id (record).",
            times=times,
        )
    if models is not None:
        yield caution(
            "repeated",
            f"The same {models:,} rows of attributes and tasks are there {data['records'] // models:,} times, in the same order, with other "
            "predictions: are these several models, one below the other? Audit each by itself. Where they are several answers for each record, "
            "give the record as cluster; where they are other records indeed, give each an id (record).",
            rows=models,
        )
    if rows is not None:
        yield caution(
            "repeated",
            f"The same {rows:,} rows are there {data['records'] // rows:,} times, in the same order: was a file put below itself, or read "
            "twice? Then intervals are shorter than the records allow. Where they are other records indeed, give each an id (record).",
            rows=rows,
        )


def missing_labels(context: Context) -> Iterator[Finding]:
    """What was done about missing labels."""
    policy = context.document["data"]["missing"]
    gone = context.document["data"]["missing_values"]
    if not gone or policy == "error":
        return
    if policy == "negative":
        words = "read as not having the label. Where annotation is incomplete this makes true labels false"
    else:
        words = "left out of the pairs concerned. If labels are missing more often in one group, rates are off"
    values = "1 missing value was" if gone == 1 else f"{gone:,} missing values were"
    yield caution("missing", f"{values} {words}.", missing=gone, policy=policy)


def undefined_pairs(context: Context) -> Iterator[Finding]:
    """Pairs left out of the mean."""
    rows: dict[Place, list[Excluded]] = {}
    for row in context.document["excluded"]:
        if row.get("ignored") or "lacking" in row:
            continue
        rows.setdefault(place_of(row), []).append(row)
    for (attribute, metric, direction), held in rows.items():
        first = held[0]
        yield caution(
            "excluded",
            f"{place(first)}: {len(held):,} figure{'s' if len(held) > 1 else ''} of {metric} "
            f"{'are' if len(held) > 1 else 'is'} undefined and left out, such as ({context.name(first['given'])}, "
            f"{context.name(first['outcome'])}): {first['reason']}.",
            {"attribute": attribute, "metric": metric, "direction": direction},
            count=len(held),
        )


def one_value(context: Context) -> Iterator[Finding]:
    """An attribute or a task with a single value has nothing to be associated with."""
    sides = [("attribute", subject.attribute, subject.sizes["A"]) for subject in context.subjects]
    sides.append(("task", context.document["data"]["tasks"]["title"], context.subjects[0].sizes["T"]))
    for role, title, (labels, sizes, exclusive) in sides:
        first = int(np.argmax(sizes))
        # Of a yes/no label the records without it are the second value.
        both = labels[first].category is None and sizes[first] < context.subjects[0].records
        if exclusive and int((sizes > 0).sum()) == 1 and not both:
            only = str(labels[first])
            attribute = title if role == "attribute" else None
            moved = [e for e in context.entries("directional") if attribute in (None, e["attribute"]) and e["value"]]
            shown = ", ".join(f"{place(entry, ' ')} {number(entry['value'])}" for entry in moved)
            rest = (
                f"without a second one there is nothing to compare in these records; what is left is a change against labels "
                f"of other records ({shown})"
                if moved
                else "no pair has a direction here, so that directional amplification is 0 by definition. Other figures may "
                "differ from 0"
            )
            yield caution(
                "one-value",
                f"The {role} {printable(title, 40)} has one value only, {printable(only, 40)}: {rest}.",
                {"attribute": attribute, "metric": "directional", "label": only},
                label=only,
            )


def constant(context: Context) -> Iterator[Finding]:
    """Predictions that are the same in every record."""
    sides: list[tuple[str, Counted, str]] = [("A->T", context.subjects[0], "task")]
    sides += [("T->A", subject, "attribute") for subject in context.attributes]
    for direction, subject, role in sides:
        margins = subject.margins(direction)
        if margins is None:
            continue
        said: dict[str, list[tuple[Label, float]]] = {}
        for label, often in zip(margins.labels, margins.predicted, strict=True):
            said.setdefault(label.variable, []).append((label, often))
        same = []
        for variable, held in said.items():
            (first, often), *others = held
            if first.category is None and not others and often in (0.0, margins.n):
                same.append(f"{printable(variable, 40)} is predicted for {'no' if often == 0 else 'every'} record")
            same += [
                f"{context.name(str(label))} is predicted for every record"
                for label, n in held
                if others and n == margins.n
            ]
        if same:
            more = f", and {len(same) - _SHOWN} more" if len(same) > _SHOWN else ""
            yield caution(
                "constant",
                f"Predictions of the {role} have one value only: {', '.join(same[:_SHOWN])}{more}. What is said of them holds of "
                "any model that always answers so; is the column right?",
                {"direction": direction, "attribute": subject.attribute if role == "attribute" else None},
                count=len(same),
            )


def perfect(context: Context) -> Iterator[Finding]:
    """Predictions that equal the truth."""
    for direction, what in (("A->T", "Task"), ("T->A", "Attribute")):
        held = [bags for subject in context.attributes if (bags := subject.pairs(direction)) is not None]
        if held and all(never_wrong(bags) for bags in held):
            still = all(entry["value"] == 0 for entry in context.entries("directional", direction))
            yield caution(
                "perfect",
                f"{what} predictions equal the truth in every record{', so amplification is 0 in them' if still else ''}. Is the "
                "column of predictions a copy of the truth?",
                {"direction": direction},
                direction=direction,
            )


def copied(context: Context) -> Iterator[Finding]:
    """A column that equals another one, value for value or recoded, though the two have different roles."""
    roles = context.document["data"]["roles"]
    for subject in context.subjects:
        for direction in ("A->T", "T->A"):
            bags = subject.pairs(direction)
            given, outcome = subject.sides(direction)
            if (
                bags is None
                or not (given.exclusive and outcome.exclusive)
                or subject.attribute not in roles["attributes"]
            ):
                continue
            counts, task = bags.whole, context.document["data"]["tasks"]["title"]
            first, second, of = (
                ("attribute", "task", task) if direction == "A->T" else ("task", "attribute", subject.attribute)
            )
            name = subject.attribute if direction == "A->T" else task
            sides = {f"predictions of the {second}": counts.joint_predicted, f"{second}": counts.joint_truth}
            for what, joint in sides.items():
                matched = _matched(counts.given_labels, counts.outcome_labels, floats(joint), direction == "A->T")
                if not matched:
                    continue
                if all(one.category == other.category for one, other in matched):
                    how, asked = "are equal in every record, value for value", "is one column a copy of the other? Then"
                else:
                    shown = ", ".join(
                        " with ".join(printable(str(label.category), 20) for label in both) for both in matched[:_SHOWN]
                    )
                    more = ", …" if len(matched) > _SHOWN else ""
                    how = f"go together in every record ({shown}{more})"
                    asked = "is one column the other one recoded? Then"
                    if what != second:
                        asked = f"does the model decide by {printable(name, 40)} alone? Or is one column the other one recoded? Then"
                yield caution(
                    "copied",
                    f"The {first} {printable(name, 40)} and the {what} {printable(of, 40)} {how}: {asked} no figure here "
                    "says anything of the model.",
                    {"attribute": subject.attribute},
                    direction=direction,
                )


def _matched(
    given: Sequence[Label], outcome: Sequence[Label], joint: NDArray[np.float64], merged: bool
) -> list[tuple[Label, Label]]:
    """The values that always go together, where every record has such two; of few records only values that are the same.

    Values of the first may be ``merged`` in one of the second, where no accident leaves so many records of it without another.
    """
    held = joint > 0
    if given[0].category is None or (held.sum(axis=1) > 1).any():
        return []
    found = [(given[g], outcome[o]) for g, o in np.argwhere(held).tolist()]
    if (held.sum(axis=0) > 1).any():
        sizes = joint.sum(axis=0)
        return found if merged and (sizes > 0).sum() > 1 and (sizes[sizes > 0] >= _NO_CHANCE).all() else []
    same = all(one.category == other.category for one, other in found)
    return found if len(found) > 1 and (same or joint.sum() >= _NO_CHANCE) else []


def swapped(context: Context) -> Iterator[Finding]:
    """Column names that suggest that truth and predictions were swapped."""
    roles = context.document["data"]["roles"]
    for truth, predicted in (("tasks", "task_predictions"), ("attributes", "attribute_predictions")):
        if not roles[predicted]:
            continue
        if _named_otherwise(roles[truth], roles[predicted]):
            yield caution(
                "swapped",
                f"{truth} names {', '.join(printable(n, 40) for n in roles[truth][:3])} and {predicted} names "
                f"{', '.join(printable(n, 40) for n in roles[predicted][:3])}: are truth and predictions swapped?",
            )


def _named_otherwise(truth: Sequence[str], predicted: Sequence[str]) -> bool:
    """Whether columns of the truth are named as predictions are, and those of predictions are not.

    >>> [_named_otherwise([truth], ["label"]) for truth in ("y_pred", "modelPrediction", "score", "prediabetes")]
    [True, True, True, False]
    >>> _named_otherwise(["apgar_score"], ["model"]), _named_otherwise(["hired_model_v2"], ["hired"])
    (False, True)
    """
    of_truth, of_predicted = ([_CAPITALS.sub("_", name) for name in names] for names in (truth, predicted))
    if any(_PREDICTED.search(name) or _SCORED.search(name) for name in of_predicted):
        return False
    if any(map(_PREDICTED.search, of_truth)):
        return True
    scored = [name for name in of_truth if _SCORED.search(name)]
    derived = any(
        name.startswith(f"{other}_") or name.endswith(f"_{other}") for name in scored for other in of_predicted
    )
    return derived or (bool(scored) and any(map(_TRUE.search, of_predicted)))


_RECORDS = (unknown_overlap, repeated, missing_labels, undefined_pairs)
_MISTAKES = (one_value, constant, no_truth, never_predicted, no_sign, perfect, copied, swapped)
COLUMN_CAUTIONS: tuple[Rule, ...] = (*_RECORDS, *_MISTAKES)
