"""Labels that only one side has: refused where they are likely mistakes, else measured apart, or cautioned of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.amplification.invented import invented_labels, predicted_joint, with_q
from biasamp.counts.audit_counts import AuditCounts
from biasamp.counts.fixed import floats
from biasamp.counts.subject_counts import SubjectCounts
from biasamp.data import Label, Variable, printable
from biasamp.data.column_checks import refuse_spelled_twice, title_of
from biasamp.data.vocabulary import check_other, check_said

from .findings import CLEAR_DIFFERENCE, INVENTED, Context, Finding, caution, number, place
from .plan import Plan, Spec
from .subject import Counted

# Labels that a sentence names of many.
_SHOWN = 3
# Two values are likely one, mistyped, where they are more alike than this, of 1; so many values are held against others.
_ALIKE, _LOOKED_AT = 0.8, 20


def check_vocabulary(counts: AuditCounts, unseen: str | None = None) -> None:
    """Refuse counts whose predictions or train labels are in another vocabulary than the truth.

    Records are looked at when they are read; this is for what only all of them together tell, for counts that were
    added up and for those of earlier versions.
    """
    plan = Plan.from_dict(counts.plan)
    unseen = unseen or plan.unseen
    for order, subject in enumerate(counts.subjects):
        if subject.attribute not in plan.groups:
            continue  # a crossing has the values of its attributes
        spec = plan.groups[subject.attribute]
        predicted = list(plan.group_predictions)[list(plan.groups).index(subject.attribute)]
        _check_side(subject, "A", (spec, predicted), ("attributes", "attribute_predictions"), unseen)
        if order == 0:
            _check_side(subject, "T", (plan.task, plan.task_prediction), ("tasks", "task_predictions"), unseen)


def _check_side(
    subject: SubjectCounts, side: str, specs: tuple[Spec, Spec | None], roles: tuple[str, str], unseen: str
) -> None:
    variables: tuple[Variable, ...] = subject.A if side == "A" else subject.T
    sizes = subject.sizes[side]
    train = _train_sizes(subject, side)
    bags = subject.pairs.get("T->A" if side == "A" else "A->T")
    said = None if bags is None else floats(bags.whole.predicted).max(axis=0)
    first = 0
    for number_of, variable in enumerate(variables):
        here = slice(first, first + variable.width)
        first += variable.width
        if variable.kind == "binary":
            continue
        lists, categories = variable.kind == "multilabel", variable.categories
        held = {c: n for c, n in zip(categories, sizes[here].tolist(), strict=True) if n}
        known = dict(held)
        title = title_of(roles[0], variable)
        if specs[0].categories is None and specs[0].edges is None:
            refuse_spelled_twice(variable._replace(categories=tuple(held)), roles[0])
        if train is not None:
            trained = [c for c, n in zip(categories, train[here].tolist(), strict=True) if n]
            check_other(held, trained, (title, f"train {title}"), lists=lists)
            known |= dict.fromkeys(trained, 0)
        if said is None or specs[1] is None:
            continue
        known |= dict.fromkeys(specs[0].categories or (), 0)
        often = {c: n for c, n in zip(categories, said[here].tolist(), strict=True) if n}
        names = specs[1].names
        column = variable._replace(name=names[number_of] if len(names) == len(variables) else specs[1].title)
        titles = title, title_of(roles[1], column)
        if set(often) - set(known) or (len(known) == 1 and not lists):
            check_said(list(known), often, titles, lists=lists, unseen=unseen)


def _train_sizes(subject: SubjectCounts, side: str) -> NDArray[np.float64] | None:
    """How many train records have each label of a side."""
    if subject.train is None:
        return None
    train = subject.train
    return np.asarray(floats(train.left).max(axis=-1) if side == "A" else floats(train.right).max(axis=-2))


def invented_entries(subjects: Sequence[Counted], level: float) -> list[dict[str, Any]]:
    """The invented labels of every attribute and direction, with q-values over all of them."""
    out = []
    for subject in subjects:
        for direction, bags in subject.counts.pairs.items():
            given, outcome = subject.kept(direction)
            counts = bags.whole
            apart = ~outcome & (floats(counts.predicted).max(axis=0) > 0)
            if not apart.any():
                continue
            joint = predicted_joint(counts.only(given, np.ones(len(outcome), dtype=bool)), apart)
            exclusive = subject.sides(direction)[0].exclusive
            found = invented_labels(joint, exclusive=exclusive, level=level, clustered=subject.clustered)
            out += [{"attribute": subject.attribute, "direction": direction, **entry} for entry in found]
    return with_q(out)


def differing_inventions(context: Context) -> Iterator[Finding]:
    """Invented labels that groups get at different rates."""
    rows = context.document.get("invented", [])
    for attribute, direction in dict.fromkeys((row["attribute"], row["direction"]) for row in rows):
        mine = [row for row in rows if (row["attribute"], row["direction"]) == (attribute, direction)]
        clear = [row for row in mine if row["q"] is not None and row["q"] < CLEAR_DIFFERENCE and row["between"]]
        if not clear:
            continue
        clear.sort(key=lambda row: -(row["difference"] or 0.0))
        words = []
        for row in clear[:_SHOWN]:
            rates = {group["group"]: group["rate"] for group in row["groups"]}
            highest, lowest = row["between"] or ("", "")
            words.append(
                f"{printable(row['label'], 40)} is predicted for {number(rates[highest], False)} of "
                f"{context.name(highest)} and {number(rates[lowest], False)} of {context.name(lowest)} "
                f"(difference {number(row['difference'], False)}"
                + ("" if row["low"] is None else f" [{number(row['low'], False)}, {number(row['high'], False)}]")
                + ")"
            )
        more = f", and {len(clear) - _SHOWN} more" if len(clear) > _SHOWN else ""
        top = clear[0]
        yield Finding(
            "finding",
            "invented",
            f"{place(mine[0])}: the model gives labels that the truth never has, "
            f"and groups get them at different rates: {'; '.join(words)}{more}. They have no truth to be amplified and are "
            "no part of the figures of amplification.",
            INVENTED + min(1.0, top["difference"] or 0.0),
            {"label": top["label"], "difference": top["difference"], "q": top["q"]},
            attribute=attribute,
            direction=direction,
            label=top["label"],
        )


def no_truth(context: Context) -> Iterator[Finding]:
    """Yes/no columns that no record has, though the model predicts them."""
    for direction, what in (("A->T", "task"), ("T->A", "attribute")):
        named: dict[str, float] = {}
        for subject in context.subjects if direction == "T->A" else context.subjects[:1]:
            margins = subject.margins(direction)
            if margins is not None:
                columns = zip(margins.labels, margins.truth, margins.predicted, strict=True)
                named |= {
                    str(label): said for label, true, said in columns if not true and said and label.category is None
                }
        if named:
            shown = ", ".join(printable(name, 30) for name in list(named)[:_SHOWN])
            more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
            yield caution(
                "no-truth",
                f"{len(named)} {what} column{'s have' if len(named) > 1 else ' has'} no record in truth, and the model "
                f"predicts {'them' if len(named) > 1 else 'it'}: {shown}{more}. Their pairs have no direction and count 0 in "
                "the mean.",
                {"direction": direction},
                labels=list(named),
            )


def never_predicted(context: Context) -> Iterator[Finding]:
    """Values of a variable that records have and the model never gives: a weak model, or another spelling in the truth."""
    for direction, what in (("A->T", "task"), ("T->A", "attribute")):
        never: dict[Label, float] = {}
        given: list[Label] = []
        for subject in context.subjects[:1] if direction == "A->T" else context.attributes:
            margins = subject.margins(direction)
            if margins is None:
                continue
            for label, true, said in zip(margins.labels, margins.truth, margins.predicted, strict=True):
                if label.category is not None and said:
                    given.append(label)
                elif label.category is not None and true:
                    never[label] = true
        # A variable of which one value alone is predicted is spoken of elsewhere.
        values = Counter(label.variable for label in given)
        named = {label: true for label, true in never.items() if values[label.variable] > 1}
        if not named:
            continue
        shown = [f"{context.name(str(label))} ({true:,.0f} records)" for label, true in list(named.items())[:_SHOWN]]
        shown += [f"{len(named) - _SHOWN} more"] if len(named) > _SHOWN else []
        twin = next(filter(None, (_twin(label, given) for label in list(named)[:_LOOKED_AT])), None)
        asked = (
            f"Is {context.name(str(twin[0]))} another spelling of {context.name(str(twin[1]))}?"
            if twin
            else "Their predicted rates are 0 in every group."
            if len(named) > 1
            else "Its predicted rate is 0 in every group."
        )
        yield caution(
            "never-predicted",
            f"Predictions of the {what} never have {' and '.join(filter(None, (', '.join(shown[:-1]), shown[-1])))}. {asked}",
            {"direction": direction},
            labels=[str(label) for label in named],
        )


def _twin(label: Label, given: Sequence[Label]) -> tuple[Label, Label] | None:
    """A value that is hardly told from one that the model gives, with that one."""
    for other in given:
        if other.variable == label.variable:
            one, two = str(label.category), str(other.category)
            if not (one + two).isdecimal() and SequenceMatcher(None, two, one).ratio() > _ALIKE:
                return label, other
    return None


def no_sign(context: Context) -> Iterator[Finding]:
    """Groups and tasks that the records lack which decide the signs."""
    rows = [row for row in context.document["excluded"] if "lacking" in row]
    if rows:
        first = rows[0]
        yield caution(
            "no-sign",
            f"{len(rows)} pairs are left out of the mean, such as ({context.name(first['given'])}, "
            f"{context.name(first['outcome'])}): {first['reason']}.",
            count=len(rows),
            labels=list(dict.fromkeys(row["lacking"] for row in rows))[:_SHOWN],
        )
