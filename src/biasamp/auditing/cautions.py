"""The papers' own cautions, and likely mistakes in the columns, each where it applies to the data at hand."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from biasamp.data import printable
from biasamp.results.metric_registry import DIRECTIONS

from .document_types import SweepEntry
from .findings import Context, Finding, Rule, caution, figure, number, place, side, value_with_interval
from .subject import Margins
from .unseen_labels import no_sign, no_truth

# A predicted rate further than this from the base rate, in standard errors and in proportion, is called off.
_RATE_ERRORS, _RATE_SHARE = 3.0, 0.05
_IDENTITY = re.compile(
    r"gender|sexual|racial|ethnic|skin|disab|religio|nationality|pronoun|(?<![a-z])(?:sex|race|age)(?![a-z])", re.I
)
_IDENTITY_VALUES = {"man", "woman", "men", "women", "male", "female", "boy", "girl", "he", "she"}
# Letters stand for these only together: m alone may be a size.
_IDENTITY_LETTERS = ({"m", "f"}, {"m", "w"})
_FUTURE = re.compile(
    r"recid|reoffend|arrest|default|churn|repay|readmi|mortal|surviv|dropout|drop_out|convict|fraud|admit|admission"
    r"|hiring|promot|approv|granted|will_|future|(?<![a-z])(?:risk|hire)",
    re.I,
)
_PREDICTED = re.compile(r"pred|_hat|^hat_|score|prob(?!lem)|logit|output|guess", re.I)


def sensitive_prediction(context: Context) -> Iterator[Finding]:
    """T→A means that a sensitive attribute is predicted."""
    named = [subject.attribute for subject in context.attributes if subject.predicts_attribute]
    if named:
        yield caution(
            "sensitive-prediction",
            f"The model predicts {', '.join(printable(n, 40) for n in named)}, a protected attribute. Is that needed at "
            "all? Not predicting it removes T→A amplification altogether.",
            attributes=named,
        )


def incomparable(context: Context) -> Iterator[Finding]:
    """A→T and T→A have no common scale."""
    directions = {entry["direction"] for entry in context.entries("directional")}
    if len(directions) == 2:
        yield caution(
            "incomparable",
            "Values of A→T and of T→A are never comparable with each other, nor with values of another data set.",
        )


def not_fairness(context: Context) -> Iterator[Finding]:
    """Zero amplification is not fairness: it can perpetuate the bias of the data."""
    for entry in context.entries("directional", "A->T"):
        clear = [pair for pair in entry["pairs"] if pair["clear"]]
        if not clear or side(entry) == 1:
            continue
        rates: dict[str, list[float]] = {}
        for pair in entry["pairs"]:
            if pair["truth_rate"] is not None:
                rates.setdefault(pair["outcome"], []).append(pair["truth_rate"])
        # The pair whose true rate lies furthest from the mean over groups.
        widest = max(clear, key=lambda pair: abs((pair["truth_rate"] or 0.0) - np.mean(rates[pair["outcome"]])))
        companion = context.entry("tpr_difference", entry["attribute"], "A->T")
        companions = f" True positive rates differ by up to {number(companion['value'], False)}." if companion else ""
        yield caution(
            "not-fairness",
            f"{printable(entry['attribute'], 40)}: no amplification is not fairness. A model that repeats its data repeats "
            f"their bias: {printable(widest['outcome'], 30)} is true of {number(widest['truth_rate'], False)} of "
            f"{printable(widest['given'], 30)} and predicted for {number(widest['predicted_rate'], False)}.{companions}",
            {**entry, "label": widest["outcome"]},
            **figure(entry),
        )


def balanced(context: Context) -> Iterator[Finding]:
    """Balanced data blind co-occurrence metrics."""
    for entry in context.entries("directional"):
        if not entry["pairs"] or any(pair["clear"] for pair in entry["pairs"]):
            continue
        seeing = [
            f"{title} {value_with_interval(other)}"
            for metric, title in (("dpa", "DPA"), ("multi", "Multi"))
            if (other := context.entry(metric, entry["attribute"], entry["direction"])) is not None
        ]
        yield caution(
            "balanced",
            f"{place(entry)}: the data are balanced, or too few to tell: no pair has an association beyond chance. "
            "Directional amplification is blind here and near 0 whatever the model does; read those that are "
            f"not{': ' if seeing else ''}{', '.join(seeing)}.",
            entry,
            **figure(entry),
        )


def over_zero(context: Context) -> Iterator[Finding]:
    """An interval over 0 concludes nothing; one that is 0 on both ends is no interval but a value fixed at 0."""
    named = [entry for entry in context.entries("directional") if side(entry) == 0 and any(entry["interval"])]
    if named:
        shown = "; ".join(f"{place(entry, ' ')} {value_with_interval(entry)}" for entry in named)
        yield caution(
            "over-zero",
            f"An interval over 0 concludes nothing, neither amplification nor its absence: {shown}.",
            count=len(named),
        )


def no_interval(context: Context) -> Iterator[Finding]:
    """A value without an interval, and why it has none."""
    for entry in context.entries("directional"):
        if side(entry) is None and entry.get("cautions"):
            yield caution(
                "no-interval",
                f"{place(entry)}: {'; '.join(entry['cautions'])}.",
                entry,
                attribute=entry["attribute"],
                direction=entry["direction"],
            )


def thresholds(context: Context) -> Iterator[Finding]:
    """Predicted rates off the base rates: the threshold, not the model, may make the amplification."""
    for subject in context.attributes:
        for direction in DIRECTIONS:
            swept = context.sweep(subject.attribute, direction)
            if swept is not None:
                yield from _scored(swept, subject.records)
            elif direction == "T->A" or subject is context.subjects[0]:  # tasks are the same for every attribute
                margins = subject.margins(direction)
                if margins is not None:
                    yield from _decided(margins, direction, subject.attribute)


def _scored(swept: SweepEntry, n: int) -> Iterator[Finding]:
    """With scores, the threshold that would mend the rates can be named, and what amplification becomes then."""
    off = []
    for rate, row in zip(swept["usual"]["rates"], swept["labels"], strict=True):
        base = row["base_rate"] or 0.0
        error = np.sqrt(max(base * (1 - base), 1e-12) / n)
        if abs(rate - base) > max(_RATE_SHARE * base, _RATE_ERRORS * error):
            off.append((abs(rate - base), rate, row))
    if not off:
        return
    _, rate, row = max(off, key=lambda item: item[0])
    threshold = row["threshold"] if isinstance(row["threshold"], str) else number(row["threshold"], False)
    yield caution(
        "threshold",
        f"{place(swept)}: at the usual threshold 0.5, {len(off)} of {len(swept['labels'])} outcomes are predicted at "
        f"another rate than they occur, most of all {printable(row['label'], 40)}: {number(rate, False)} against "
        f"{number(row['base_rate'], False)}. The threshold {threshold} would mend that; with all outcomes calibrated, "
        f"amplification goes from {number(swept['usual']['amplification'])} to "
        f"{number(swept['calibrated']['amplification'])}. Calibrate on a validation set before judging the model.",
        {**swept, "label": row["label"]},
        outcome=row["label"],
        threshold=row["threshold"],
        predicted_rate=rate,
        base_rate=row["base_rate"],
        usual=swept["usual"]["amplification"],
        calibrated=swept["calibrated"]["amplification"],
    )


def _decided(margins: Margins, direction: str, attribute: str) -> Iterator[Finding]:
    """With hard predictions only the rates can be compared."""
    truth, held, n = margins.truth, margins.predicted, margins.n
    # Paired: only records where truth and prediction differ move the rate.
    spread = np.sqrt(np.maximum(truth + held - 2.0 * margins.agreeing, 1.0))
    off = (np.abs(held - truth) > _RATE_ERRORS * spread) & (np.abs(held - truth) > _RATE_SHARE * truth)
    if not off.any():
        return
    worst = int(np.argmax(np.where(off, np.abs(held - truth), -1.0)))
    label = str(margins.labels[worst])
    what = "tasks" if direction == "A->T" else "groups"
    yield caution(
        "threshold",
        f"{int(off.sum())} of {len(off)} {what} are predicted at another rate than they occur, most of all "
        f"{printable(label, 40)}: {number(held[worst] / n, False)} predicted against "
        f"{number(truth[worst] / n, False)}. Amplification is sensitive to the threshold: give scores instead of "
        "decisions to see which threshold makes rates agree, and calibrate it before judging the model.",
        {"attribute": attribute if direction == "T->A" else None, "direction": direction, "label": label},
        outcome=label,
        predicted_rate=float(held[worst] / n),
        base_rate=float(truth[worst] / n),
    )


def not_ground_truth(context: Context) -> Iterator[Finding]:
    """Outcomes that lie in the future, are decisions, or are no ground truth."""
    title = context.document["data"]["tasks"]["title"]
    if _FUTURE.search(title):
        yield caution(
            "not-ground-truth",
            f"The task ({printable(title, 60)}) looks like a future event or a past decision. Such labels are not ground "
            "truth: they carry the bias of whoever recorded them, and matching them is not the goal.",
            tasks=title,
        )


def perceived(context: Context) -> Iterator[Finding]:
    """Labels of identity are often perceived by annotators, and binarized."""
    for subject in context.attributes:
        categories = {str(label.category or label.variable).lower() for label in subject.sizes["A"][0]}
        named = categories & _IDENTITY_VALUES or any(letters <= categories for letters in _IDENTITY_LETTERS)
        if not named and not _IDENTITY.search(subject.attribute):
            continue
        two = " It has two values here, which leaves people out." if len(categories) == 2 else ""
        yield caution(
            "perceived",
            f"Labels of {printable(subject.attribute, 40)} are often what an annotator perceived, not what a person said of "
            f"themselves. State where they come from.{two}",
            {"attribute": subject.attribute},
            attribute=subject.attribute,
        )


def base_choice(context: Context) -> Iterator[Finding]:
    """The base correlation is a choice."""
    sources = {source for entry in context.entries("directional") if (source := entry.get("base_source"))}
    if sources:
        yield caution(
            "base-choice",
            f"Amplification is measured against {', '.join(printable(s, 60) for s in sorted(sources))}, not against the "
            "evaluated labels. Which base is right depends on the use: name it beside every value.",
            sources=sorted(sources),
        )


def small_groups(context: Context) -> Iterator[Finding]:
    """Few records in a group."""
    small = [group for group in context.document["data"]["groups"] if group["small"]]
    if small:
        shown = ", ".join(f"{printable(g['group'], 30)} ({g['records']})" for g in small[:5])
        more = f" and {len(small) - 5} more" if len(small) > 5 else ""
        yield caution(
            "small-groups",
            f"{len(small)} group{'s have' if len(small) > 1 else ' has'} fewer than "
            f"{context.document['data']['min_group']} records: {shown}{more}. Their figures may rest on a single record.",
            groups=[g["group"] for g in small],
        )


def unclear_signs(context: Context) -> Iterator[Finding]:
    """Plug-in signs share their noise with the changes."""
    for entry in context.entries("directional"):
        if entry.get("crossfit") is None:  # the signs come from other records
            continue
        unclear = sum(not pair["clear"] for pair in entry["pairs"])
        if unclear:
            rest = entry.get("clear_value")
            without = "" if rest is None else f" Without them the value is {number(rest)}."
            yield caution(
                "unclear-signs",
                f"{place(entry)}: the data cannot tell the direction of {unclear} of {len(entry['pairs'])} pairs, and "
                f"without train labels signs and changes share their noise, which biases {number(entry['value'])} "
                "downwards. With signs from the other half of the records it is "
                f"{number(entry['crossfit'])}.{without}",
                entry,
                **figure(entry, crossfit=entry["crossfit"], unclear=unclear),
            )


def disagreement(context: Context) -> Iterator[Finding]:
    """Metrics can disagree in sign, since each calls something else unbiased."""
    sentences, figures = [], []
    for entry in context.entries("directional"):
        other = context.entry("dpa", entry["attribute"], entry["direction"])
        if other is None or side(entry) is None or side(other) is None or side(entry) == side(other):
            continue
        size = context.entry("multi", entry["attribute"], entry["direction"])
        companions = "" if size is None else f" and Multi {number(size['value'], False)}"
        sentences.append(
            f"{place(entry)}: directional amplification is {value_with_interval(entry)}, DPA "
            f"{value_with_interval(other)}{companions}"
        )
        figures.append(figure(entry, dpa=other["value"]))
    if sentences:
        yield caution(
            "disagreement",
            f"{'; '.join(sentences)}. They do not contradict each other, since each calls something else unbiased: directional "
            "amplification, every outcome as frequent in all groups (as one would want of hiring rates); DPA, all "
            "combinations of group and outcome equally frequent (as of people seen indoors and outdoors); Multi, a model "
            "that leaves every rate as it was. Choose by which of these is meant.",
            pairs=figures,
        )


def missing_labels(context: Context) -> Iterator[Finding]:
    """What was done about missing labels."""
    policy = context.document["data"]["missing"]
    gone = context.document["data"]["missing_values"]
    if not gone or policy == "error":
        return
    if policy == "negative":
        words = "were read as not having the label. Where annotation is incomplete this makes true labels false"
    else:
        words = "were left out of the pairs concerned. If labels are missing more often in one group, rates are off"
    yield caution("missing", f"{gone:,} missing values {words}.", missing=gone, policy=policy)


def undefined_pairs(context: Context) -> Iterator[Finding]:
    """Pairs left out of the mean."""
    rows = context.document["excluded"]
    if rows:
        first = rows[0]
        yield caution(
            "excluded",
            f"{len(rows)} figures are undefined and left out, such as {first['metric']} of "
            f"({printable(first['given'], 30)}, {printable(first['outcome'], 30)}): {first['reason']}.",
            count=len(rows),
        )


def one_value(context: Context) -> Iterator[Finding]:
    """An attribute or a task with a single value has nothing to be associated with."""
    sides = [("attribute", subject.attribute, subject.sizes["A"]) for subject in context.subjects]
    sides.append(("task", context.document["data"]["tasks"]["title"], context.subjects[0].sizes["T"]))
    fixed = not context.document["data"]["train"] and not context.document["data"]["base"]
    for role, title, (labels, sizes, exclusive) in sides:
        if exclusive and int((sizes > 0).sum()) == 1:
            only = str(labels[int(np.argmax(sizes))])
            # Signs from elsewhere have a direction, and changes have a size whatever their direction.
            what = (
                "no pair has a direction, and directional amplification is 0 by definition. Other figures may differ from 0"
                if fixed
                else "the evaluated records show no association of it"
            )
            yield caution(
                "one-value",
                f"The {role} {printable(title, 40)} has one value only, {printable(only, 40)}: without a second one {what}.",
                {"attribute": title if role == "attribute" else None, "label": only},
                label=only,
            )


def perfect(context: Context) -> Iterator[Finding]:
    """Predictions that equal the truth."""
    for direction, what in (("A->T", "Task"), ("T->A", "Attribute")):
        entries = list(context.entries("multi", direction))
        if entries and all(entry["value"] == 0 and entry.get("floor") == 0 for entry in entries):
            yield caution(
                "perfect",
                f"{what} predictions equal the truth in every record, so amplification is 0 by definition. Is the column of "
                "predictions a copy of the truth?",
                {"direction": direction},
                direction=direction,
            )


def swapped(context: Context) -> Iterator[Finding]:
    """Column names that suggest that truth and predictions were swapped."""
    roles = context.document["data"]["roles"]
    for truth, predicted in (("tasks", "task_predictions"), ("attributes", "attribute_predictions")):
        if not roles[predicted]:
            continue
        if any(_PREDICTED.search(n) for n in roles[truth]) and not any(_PREDICTED.search(n) for n in roles[predicted]):
            yield caution(
                "swapped",
                f"{truth} names {', '.join(printable(n, 40) for n in roles[truth][:3])} and {predicted} names "
                f"{', '.join(printable(n, 40) for n in roles[predicted][:3])}: are truth and predictions swapped?",
            )


# Of the values and their signs, of the labels and records, and of the columns as they were given.
_VALUES = (incomparable, not_fairness, balanced, over_zero, no_interval, unclear_signs, disagreement, undefined_pairs)
_LABELS = (sensitive_prediction, thresholds, not_ground_truth, perceived, base_choice, small_groups, missing_labels)
_MISTAKES = (one_value, no_truth, no_sign, perfect, swapped)
CAUTIONS: tuple[Rule, ...] = (*_VALUES, *_LABELS, *_MISTAKES)
