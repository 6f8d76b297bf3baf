"""What to know before models are chosen by a comparison: what their audits warn of, and how the audits themselves differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from biasamp.data import printable

from .audit_result import Audit
from .comparison_models import Model
from .comparison_types import ModelCaution
from .findings import URGENCY
from .same_columns import columns_in_words, listed_words, same_columns
from .same_predictions import copies, same_predictions

# Advice on reading one audit, which says nothing of a difference of two.
_OF_ONE_AUDIT = frozenset(
    {
        *("over-zero", "perceived", "incomparable", "not-fairness", "not-ground-truth", "disagreement", "excluded"),
        *("sensitive-prediction", "no-interval", "small-strata", "stratum-close-to-group"),
    }
)
# How much cautions weigh that only a comparison has: differing data before what single audits say of theirs.
OWN_CAUTIONS = {
    "same-models": 9.996,
    "same-runs": 9.995,
    "other-columns": 9.992,
    "other-data": 9.99,
    "other-truth": 9.985,
    "other-settings": 9.975,
    "soft-and-hard": 9.94,
}
# Rates of the truth that differ by less differ by rounding.
_ROUNDING = 1e-9
_SETTINGS = {
    "train": "train labels, which decide the directions of pairs",
    "base": "other base rates",
    "weighted": "weights",
}


def comparison_cautions(models: Sequence[Model]) -> list[ModelCaution]:
    """The cautions of a comparison, the weightiest first; what several models are warned of alike is said once."""
    found = [
        *_of_same_models(models),
        *_of_copies(models),
        *_of_columns(models),
        *_of_data(models),
        *_of_settings(models),
        *_of_soft(models),
        *_of_audits(models),
    ]
    return sorted(found, key=lambda row: -row["weight"])


def _own(code: str, models: Sequence[Model], text: str) -> ModelCaution:
    return {"code": code, "models": [model.name for model in models], "text": text, "weight": OWN_CAUTIONS[code]}


def _of_copies(models: Sequence[Model]) -> Iterator[ModelCaution]:
    """Runs of one model with the same records and predictions, of which seeds show nothing."""
    for model in models:
        twice = copies(model.audits)
        if twice:
            text = (
                f"{len(twice)} of {len(model.audits)} runs of {printable(model.name, 40)} have the same predictions as another: copies of one run say nothing of "
                "how seeds move a model, and make its figures look surer than they are."
            )
            yield _own("same-runs", [model], text)


def _of_same_models(models: Sequence[Model]) -> Iterator[ModelCaution]:
    """A model whose runs have the records and predictions of the first model's."""
    first = models[0].audits
    for model in models[1:]:
        others = [audit for audit in model.audits if any(same_predictions(audit, one) for one in first)]
        met = [one for one in first if any(same_predictions(audit, one) for audit in model.audits)]
        if len(others) == len(model.audits) and len(met) == len(first):
            names = listed_words([models[0].name, model.name])
            text = f"{names} have the same predictions for the same records: one model is held against itself. See whether a file or column was given twice."
            yield _own("same-models", [models[0], model], text)


def _of_columns(models: Sequence[Model]) -> Iterator[ModelCaution]:
    """Other attributes or tasks, of which figures are not of the same things: of runs of one model, and of two models."""
    for model in models:
        if not same_columns(model.audits):
            text = (
                f"Runs of {printable(model.name, 40)} were audited for other attributes or tasks, {_against(model.audits)}: a mean over them is of no one "
                "thing. Audit all runs for the same columns."
            )
            yield _own("other-columns", [model], text)
    first = models[0]
    for other in models[1:]:
        if not same_columns([first.audits[0], other.audits[0]]):
            text = (
                f"{listed_words([first.name, other.name])} were audited for other attributes or tasks, {_against([first.audits[0], other.audits[0]])}: their "
                "figures are not of the same things. Audit both for the same columns."
            )
            yield _own("other-columns", (first, other), text)


def _against(audits: Sequence[Audit]) -> str:
    return " against ".join(list(dict.fromkeys(columns_in_words(audit) for audit in audits))[:3])


def _of_data(models: Sequence[Model]) -> Iterator[ModelCaution]:
    """Other records, or the same records with another truth."""
    first = models[0]
    for other in models[1:]:
        both = (first, other)
        audits = [*first.audits, *other.audits]
        names = listed_words([first.name, other.name])
        sources = {audit.resamples.get("records") for audit in audits}
        sizes = sorted({audit.document["data"]["records"] for audit in audits})
        alike = same_columns(audits)
        same_weights = len({bool(_data(audit).get("weighted")) for audit in audits}) == 1
        same_truth = alike and len(sizes) == 1 and _truths(first.audits[0]) == _truths(other.audits[0])
        if None not in sources and len(sources) > 1 and same_truth:
            text = (
                f"{names} have {sizes[0]:,} records each, with the same truth, but other ids, or other clusters: they are not paired. If they are the same records, "
                "audit both with the same ids and the same clusters, and intervals will be shorter."
            )
            yield _own("other-data", both, text)
        elif None not in sources and len(sources) > 1:
            shown = " and ".join(f"{size:,}" for size in sizes[:3])
            text = (
                f"{names} were audited on different records ({shown} of them): a difference may be one of the records and not of "
                "the models. Audit both on the same records, with the same ids."
            )
            yield _own("other-data", both, text)
        # Weights change rates of the truth, and that one audit had none is said by itself.
        elif len(sources) == 1 and None not in sources and alike and same_weights and not same_truth:
            text = (
                f"The truth of {names} differs, though they are of the same records as far as ids tell: how many records each group has, or how "
                "often a label is true in it. Audit both with the same columns of the truth."
            )
            yield _own("other-truth", both, text)


def _truths(audit: Audit) -> dict[Any, float]:
    """How many records each group has, and how often each outcome is true of it."""
    out: dict[Any, float] = {
        (row["attribute"], row["group"]): float(row["records"]) for row in audit.document["data"]["groups"]
    }
    for entry in audit.document["metrics"]:
        if entry["metric"] == "directional":
            for pair in entry.get("pairs", ()):
                rate = pair.get("truth_rate")
                if rate is not None and entry["direction"] == "A->T" and not audit.document["data"]["base"]:
                    out[entry["attribute"], pair["given"], pair["outcome"]] = round(rate / _ROUNDING) * _ROUNDING
    return out


def _of_settings(models: Sequence[Model]) -> Iterator[ModelCaution]:
    """What some audits were given and others not."""
    for name, words in _SETTINGS.items():
        held = {model.name: {bool(_data(audit).get(name)) for audit in model.audits} for model in models}
        if len(set.union(*held.values())) > 1:
            given = [model for model in models if True in held[model.name]]
            others = [model.name for model in models if False in held[model.name]]
            text = f"{listed_words([model.name for model in given])} had {words}, and {listed_words(others)} had none: a difference may come from that alone."
            yield _own("other-settings", models, text)


def _of_soft(models: Sequence[Model]) -> Iterator[ModelCaution]:
    """Probabilities of some models held against decisions of others."""
    held = {model.name: {bool(_data(audit).get("soft_tasks")) for audit in model.audits} for model in models}
    if len(set.union(*held.values())) > 1:
        soft = [name for name, kinds in held.items() if True in kinds]
        hard = [name for name, kinds in held.items() if False in kinds]
        text = (
            f"Predictions of {listed_words(soft)} are probabilities, which count as fractions, and those of {listed_words(hard)} are decisions: a threshold alone "
            "can make such a difference. Compare decisions with decisions."
        )
        yield _own("soft-and-hard", models, text)


def _of_audits(models: Sequence[Model]) -> Iterator[ModelCaution]:
    """What audits warn of and that concerns a comparison; of runs that differ in figures alone, the words of the first."""
    said: dict[tuple[Any, ...], dict[str, list[str]]] = {}
    for model in models:
        for audit in model.audits:
            for row in audit.document["findings"]:
                if row["kind"] == "caution" and row["code"] not in _OF_ONE_AUDIT:
                    about = (
                        row["code"],
                        row.get("metric"),
                        row.get("attribute"),
                        row.get("direction"),
                        row.get("label"),
                    )
                    said.setdefault(about, {}).setdefault(model.name, []).append(row["text"])
    runs = {model.name: len(model.audits) for model in models}
    for about, by_model in said.items():
        same: dict[str, list[str]] = {}
        for name, texts in by_model.items():
            some = f" ({len(texts)} of {runs[name]} runs)" if len(texts) < runs[name] else ""
            same.setdefault(texts[0] + some, []).append(name)
        for text, names in same.items():
            shown = "All models" if len(names) == len(models) > 1 else listed_words(names)
            weight = URGENCY.get(str(about[0]), 0.0)
            yield {"code": str(about[0]), "models": names, "text": f"{shown}: {text}", "weight": weight}


def _data(audit: Audit) -> dict[str, Any]:
    return cast("dict[str, Any]", audit.document["data"])
