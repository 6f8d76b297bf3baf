"""The papers' own cautions, each where it applies to the data at hand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from biasamp.amplification.pair_table import CLEAR_SIGN
from biasamp.data import printable
from biasamp.results.metric_registry import METRICS

from .choice_cautions import CHOICES
from .column_cautions import COLUMN_CAUTIONS
from .document_types import Entry, Pair
from .evidence import counts_fractions, known_directions, place_of, unknown_directions
from .findings import (
    Context,
    Finding,
    Rule,
    caution,
    figure,
    number,
    place,
    side,
    value_with_interval,
)
from .mirrors import each_once
from .rate_findings import gap_of, gap_words
from .score_cautions import fractions, thresholds
from .skill_cautions import SKILL

_IDENTITY = re.compile(
    r"gender|sexual|racial|ethnic|skin|disab|religio|nationality|pronoun|(?<![a-z])(?:sex|race|age)(?![a-z])", re.I
)
# An attribute of more groups than so many, all of them numbers, is likely a quantity that was meant to be cut.
_MANY_NUMBERS = 12
_NUMBER = re.compile(r"[-+]?[0-9]+(?:[.][0-9]+)?")
# Groups that a sentence names of many.
_GROUPS_NAMED = 5
_IDENTITY_VALUES = {"man", "woman", "men", "women", "male", "female", "boy", "girl", "he", "she"}
# Letters stand for these only together: m alone may be a size.
_IDENTITY_LETTERS = ({"m", "f"}, {"m", "w"})
_FUTURE = re.compile(
    r"recid|reoffend|arrest|default|churn|repay|readmi|mortal|surviv|dropout|drop_out|convict|fraud|admit|admission"
    r"|hiring|promot|approv|granted|will_|future|(?<![a-z])(?:risk|hire)",
    re.I,
)


def sensitive_prediction(context: Context) -> Iterator[Finding]:
    """T→A means that a sensitive attribute is predicted."""
    for subject in context.attributes:
        if subject.predicts_attribute:
            yield caution(
                "sensitive-prediction",
                f"The model predicts {printable(subject.attribute, 40)}, a protected attribute. Is that needed at all? Not "
                "predicting it removes T→A amplification altogether.",
                {"attribute": subject.attribute, "direction": "T->A"},
                attributes=[subject.attribute],
            )


def incomparable(context: Context) -> Iterator[Finding]:
    """A→T and T→A have no common scale."""
    directions = {entry["direction"] for entry in context.entries("directional")}
    if len(directions) == 2:
        yield caution(
            "incomparable",
            "Values of A→T and of T→A are never comparable with each other, nor with values of another data set.",
            {"metric": "directional"},
        )


def not_fairness(context: Context) -> Iterator[Finding]:
    """Amplification is not unfairness: it is measured from the data, whose bias a model without any keeps."""
    for entry in context.entries("directional", "A->T"):
        # Each fact once, which is that of the positive value.
        known = each_once(known_directions(entry))
        if not known or context.verdict(entry) == 1:
            continue
        rates: dict[str, list[Pair]] = {}
        for pair in each_once(entry["pairs"]):
            if pair["truth_rate"] is not None:
                rates.setdefault(pair["outcome"], []).append(pair)
        # The pair whose true rate lies furthest from the mean over groups, and the group at the other end.
        means = {outcome: np.mean([pair["truth_rate"] or 0.0 for pair in held]) for outcome, held in rates.items()}
        widest = max(known, key=lambda pair: abs((pair["truth_rate"] or 0.0) - means[pair["outcome"]]))
        least = context.document["data"]["min_group"]
        other = max(
            [pair for pair in rates[widest["outcome"]] if pair["support"] >= least] or rates[widest["outcome"]],
            key=lambda pair: abs((pair["truth_rate"] or 0.0) - (widest["truth_rate"] or 0.0)),
        )
        companion = context.entry("tpr_difference", entry["attribute"], "A->T")
        apart = ""
        if companion is not None and context.verdict(companion):
            words = gap_words(context, gap_of(context, "tpr_difference"), companion)
            apart = f" {words[:1].upper()}{words[1:]}."
        from_, holds = ("the base", "holds of") if entry.get("base_source") else ("the data", "is true of")
        yield caution(
            "not-fairness",
            f"{printable(entry['attribute'], 40)}: amplification says nothing of fairness, as it is measured from {from_}: "
            f"there {context.name(widest['outcome'])} {holds} {_rate_of(context, widest, 'truth_rate')} and "
            f"{_rate_of(context, other, 'truth_rate')}. {_predicted(context, widest, other)}.{apart}",
            {**entry, "label": widest["outcome"]},
            **figure(entry),
        )


def _rate_of(context: Context, pair: Pair, name: Literal["truth_rate", "predicted_rate"]) -> str:
    return f"{number(pair[name], False)} of {context.name(pair['given'])}"


def _predicted(context: Context, one: Pair, two: Pair) -> str:
    """How often an outcome is predicted for two groups; of probabilities, their mean scores."""
    if counts_fractions(context.document):
        shown = [f"{number(pair['predicted_rate'], False)} in {context.name(pair['given'])}" for pair in (one, two)]
        return f"Its mean score is {' and '.join(shown)}"
    return (
        f"It is predicted for {_rate_of(context, one, 'predicted_rate')} and {_rate_of(context, two, 'predicted_rate')}"
    )


def balanced(context: Context) -> Iterator[Finding]:
    """Balanced data blind co-occurrence metrics."""
    for entry in context.entries("directional"):
        if not entry["pairs"] or known_directions(entry):
            continue
        seeing = [
            f"{title} {value_with_interval(other)}"
            for metric, title in (("dpa", "DPA"), ("multi", "Multi"))
            if (other := context.entry(metric, entry["attribute"], entry["direction"])) is not None
            and side(other) is not None
        ]
        advice = (
            f"Read those that need no direction: {', '.join(seeing)}"
            if seeing
            else "Neither DPA nor Multi, which need no direction, was measured with an interval"
        )
        yield caution(
            "balanced",
            f"{place(entry)}: {_deciding(context)} are balanced, or too few to tell: no association is beyond chance, so no direction "
            f"is known and directional amplification ({number(entry['value'])}) has nothing to go by. {advice}.",
            entry,
            **figure(entry),
        )


def _deciding(context: Context) -> str:
    """The records that decide directions."""
    data = context.document["data"]
    return "the train labels" if data["train"] else "the records of the base" if data["base"] else "the data"


def over_zero(context: Context) -> Iterator[Finding]:
    """An interval over 0 concludes nothing; one that is 0 on both ends is no interval but a value fixed at 0."""
    for entry in context.entries("directional"):
        if side(entry) == 0 and any(entry["interval"]) and place_of(entry) not in context.kept:
            yield caution(
                "over-zero",
                f"{place(entry)}: an interval over 0 concludes nothing, neither amplification nor its absence: "
                f"{value_with_interval(entry)}.",
                entry,
                **figure(entry),
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
        name, stated = printable(subject.attribute, 40), context.document["data"].get("label_sources", {})
        yield caution(
            "perceived",
            f"Where labels of {name} come from, as stated: {printable(stated[subject.attribute], 500).rstrip('.')}.{two}"
            if subject.attribute in stated
            else f"Labels of {name} are often what an annotator perceived, not what a person said of themselves. State where they "
            f"come from.{two}",
            {"attribute": subject.attribute},
            attribute=subject.attribute,
        )


def base_choice(context: Context) -> Iterator[Finding]:
    """The base correlation is a choice."""
    held = [entry for entry in context.document["metrics"] if entry.get("base_source")]
    sources = {source for entry in held if (source := entry.get("base_source"))}
    if sources:
        shown = list(dict.fromkeys(_described(entry) for entry in held))
        others = list(dict.fromkeys(_described(entry) for entry in context.document["metrics"]))
        others = [name for name in others if name not in shown]
        named = _and(others) if others else ""
        rest = f" {named[:1].upper()}{named[1:]} go by the evaluated labels as ever." if others else ""
        crossed = {entry["attribute"] for entry in context.entries("directional") if not entry.get("base_source")}
        if crossed:
            rest += f" So does every figure of {_and([printable(name, 40) for name in sorted(crossed)])}."
        yield caution(
            "base-choice",
            f"Of {_and(shown)}, amplification is measured against {_and([printable(s, 60) for s in sorted(sources)])}, not "
            f"against the evaluated labels.{rest} Where it is records or counts, its own sampling error is in the intervals of directional amplification; "
            f"rates and probabilities are taken as exact. Which base is right depends on the use: name it beside every value.",
            {"metric": "directional"},
            sources=sorted(sources),
        )


def _described(entry: Entry) -> str:
    """The name of a metric; rates of groups go by one."""
    metric = METRICS.get(entry["metric"])
    if metric is None:
        return printable(entry["metric"], 40)
    return "rates of groups" if metric.described_by == "parity" else metric.short


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def small_groups(context: Context) -> Iterator[Finding]:
    """Few records in a group."""
    data = context.document["data"]
    for attribute in data["attributes"]:
        small = [group for group in data["groups"] if group["small"] and group["attribute"] == attribute]
        if small:
            shown = ", ".join(f"{context.name(g['group'])} ({g['records']})" for g in small[:5])
            more = f" and {len(small) - 5} more" if len(small) > 5 else ""
            yield caution(
                "small-groups",
                f"{printable(attribute, 40)}: {len(small)} group{'s have' if len(small) > 1 else ' has'} fewer than "
                f"{data['min_group']} records: {shown}{more}. Their figures may rest on a single record.",
                {"attribute": attribute},
                groups=[g["group"] for g in small],
            )


def numbers(context: Context) -> Iterator[Finding]:
    """Groups that are many numbers, each compared as a group of its own."""
    data = context.document["data"]
    for attribute in data["attributes"]:
        groups = [row for row in data["groups"] if row["attribute"] == attribute and row["records"]]
        if len(groups) <= _MANY_NUMBERS or not all(_NUMBER.fullmatch(row.get("category") or "") for row in groups):
            continue
        least = min(row["records"] for row in groups)
        yield caution(
            "numbers",
            f"{printable(attribute, 40)}: each of its {len(groups):,} numbers is a group of its own, the smallest of {least:,} "
            f"record{'s' if least != 1 else ''}. If they are quantities, such as ages, cut them into a few bins: binned() in "
            "Python, --bins on the command line.",
            {"attribute": attribute},
            groups=len(groups),
        )


def left_out(context: Context) -> Iterator[Finding]:
    """Groups that are in no difference of a rate, as too few of their records have what it is taken over."""
    least = context.document["data"]["min_group"]
    for attribute in context.document["data"]["attributes"]:
        said: dict[tuple[tuple[str, str], ...], list[str]] = {}
        for entry in context.document["metrics"]:
            if entry["attribute"] == attribute and entry.get("left_out"):
                some, outcomes = entry.get("left_out_outcomes", {}), len(entry["outcomes"])
                sizes = {
                    group: f"{size:,.0f}" + (f" in {some[group]:,} of {outcomes:,} outcomes" if group in some else "")
                    for group, size in entry["left_out"].items()
                }
                said.setdefault(tuple(sizes.items()), []).append(gap_of(context, entry["metric"]))
        if said:
            parts = [f"{_and(gaps)}, {_named(context, groups)}" for groups, gaps in said.items()]
            yield caution(
                "left-out",
                f"{printable(attribute, 40)}: differences leave out groups of which fewer than {least} records have what the rate is "
                f"taken over: of {'; of '.join(parts)}. Nothing is said of how they compare.",
                {"attribute": attribute},
                groups=sorted({group for groups in said for group, _ in groups}),
            )


def _named(context: Context, groups: Sequence[tuple[str, str]]) -> str:
    shown = [f"{context.name(group)} ({size})" for group, size in groups[:_GROUPS_NAMED]]
    return _and(shown + ([f"{len(groups) - len(shown)} more"] if len(groups) > len(shown) else []))


def unclear_signs(context: Context) -> Iterator[Finding]:
    """Plug-in signs share their noise with the changes."""
    for entry in context.entries("directional"):
        if entry.get("crossfit") is None:  # the signs come from other records
            continue
        unclear, many = unknown_directions(entry)
        if unclear:
            rest, some = entry.get("clear_value"), not all(pair.get("clear", True) for pair in entry["pairs"])
            without = ""
            if rest is not None and some:
                without = (
                    f" Over the pairs whose own sign test is below {CLEAR_SIGN:.0%}, as one in twenty is by chance, the value is "
                    f"{number(rest)}."
                )
            yield caution(
                "unclear-signs",
                f"{place(entry)}: with all pairs counted, the data do not tell the direction of {unclear:,} of {many:,}. Signs and "
                f"changes then share their noise: {number(entry['value'])} is biased downwards if the model amplifies "
                "nothing, and towards 0 if it does. With signs from the other half of the records it is "
                f"{number(entry['crossfit'])}, which on average is right if the model amplifies nothing, and nearer to 0 "
                f"than the truth if it does.{without}",
                entry,
                **figure(entry, crossfit=entry["crossfit"], unclear=unclear),
            )


def rare_sets(context: Context) -> Iterator[Finding]:
    """Sets of labels that few records carry."""
    least = context.document["data"]["min_group"]
    for entry in context.entries("multi"):
        support = entry.get("label_set_support")
        if support is not None and support < least:
            yield caution(
                "rare-sets",
                f"{place(entry)}: Multi is an average over {entry.get('label_sets', 0):,} label sets, most of which fewer than "
                f"{least} records carry (median {support:,.0f}). It says little of single labels, whose pairs are listed.",
                entry,
                **figure(entry, label_sets=entry.get("label_sets"), support=support),
            )


def disagreement(context: Context) -> Iterator[Finding]:
    """Metrics can disagree in sign, since each calls something else unbiased."""
    sentences, figures = [], []
    for entry in context.entries("directional"):
        other = context.entry("dpa", entry["attribute"], entry["direction"])
        if other is None or (context.verdict(entry) or 0) * (context.verdict(other) or 0) >= 0:
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
            f"{'; '.join(sentences)}. They do not contradict each other, since each measures from something else: directional "
            "amplification, from every outcome as frequent in all groups (as one would want of hiring rates); DPA, from "
            "truth made as inaccurate as the model, all combinations of group and outcome equally frequent (as of people "
            "seen indoors and outdoors); Multi, from a model that leaves every rate as it was. Choose by which is meant.",
            figures[0] if len(figures) == 1 else None,
            pairs=figures,
        )


# Of the values and their signs, of the labels and groups, and of the records and columns as they were given.
_VALUES = (incomparable, not_fairness, balanced, over_zero, no_interval, unclear_signs, rare_sets, disagreement)
_LABELS = (
    sensitive_prediction,
    fractions,
    thresholds,
    not_ground_truth,
    perceived,
    base_choice,
    small_groups,
    left_out,
    numbers,
)
CAUTIONS: tuple[Rule, ...] = (*_VALUES, *_LABELS, *COLUMN_CAUTIONS, *CHOICES, *SKILL)
