"""2021 paper, Table 2 and Fig. 5: a masked language model fills in pronouns and occupations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

import biasamp

from .chart import Chart
from .cooccurrences import cooccurrences, sentences_of
from .experiment import Experiment, Setting, silent
from .internals import (
    ADJECTIVES,
    PRONOUNS,
    TEMPLATES,
    TWO,
    VERBS,
    FilledIn,
    MaskedModel,
    Occupation,
    Source,
    amplification,
    fill_in,
    load_masked_model,
    occupation_blanks,
)
from .occupations import labour_table, occupations
from .outcome import REAL, STAND_IN, Outcome, Trial
from .papers import DIRECTIONAL
from .planted_bert import SENTENCES, STEPS, Plant, planted, read_sentences, sentences, word_pieces
from .rows import Reason, Row, claimed, interval_of, measured, placed, printed, recovered

# Text to count base correlations in, a paragraph a line; of Wikipedia for the paper's row.
TEXTS = ("wikipedia.txt", "wikipedia.txt.gz")
DIRECTIONS = ("T→A", "A→T")
# Table 2, with its ±: T→A and A→T of FitBERT, which is bert-base-uncased.
TABLE_2 = {
    "Uniform (2)": ((".1368", ".0226"), (".0084", ".0054")),
    "Uniform (3)": ((".0914", ".0151"), (".0056", ".0036")),
    "Wikipedia (2)": ((".0372", ".0307"), ("-.0002", ".0043")),
    "2016 U.S. Labor Force (WinoBias) (2)": (("-.1254", ".0026"), ("-.0089", ".0054")),
}
PUBLISHED_OF = ("bert-base-uncased", "google-bert/bert-base-uncased")
CORPUS = "its own sentences (2)"
# Of the planted occupations, those that the tiny BERT reads as two pieces.
SPLIT = ("hairdresser", "salesperson", "housekeeper")
# How far the tiny BERT may be from what was planted. The sentences it read know a share to ±.03 or so with a rare
# occupation, and there are 96 shares; errors largely cancel in the means of Table 2, whose A→T are tenths of T→A.
CLOSE_SHARE = {"pronoun": 0.06, "occupation": 0.03}
# The shares of pronouns one by one, and the largest error of them, are one thing that comes back or not.
SHARES = "planted shares of pronouns"
CLOSE_VALUE = {"T→A": 0.01, "A→T": 0.002}


@dataclass(frozen=True, eq=False)
class Asked:
    """A model, the text its base correlations are counted in, and, for the stand-in, what was planted."""

    model: MaskedModel
    counted: NDArray[np.int64] | None
    counted_name: str
    plant: Plant | None


def _text(setting: Setting, jobs: tuple[Occupation, ...]) -> NDArray[np.int64] | None:
    path = next((found for name in TEXTS if (found := setting.file(name)) is not None), None)
    return None if path is None else cooccurrences(sentences_of(path), [job.name for job in jobs])


def stand_in(
    setting: Setting, jobs: tuple[Occupation, ...], *, count: int = SENTENCES, steps: int = STEPS
) -> tuple[MaskedModel, Plant, NDArray[np.int64]]:
    """A tiny BERT, the associations planted in the sentences it read, and the pairs counted in these."""
    names = [job.name for job in jobs]
    plant = planted(names, [1 - job.women for job in jobs], setting.seed)
    read = sentences(plant, occupation_blanks, count, setting.seed)
    words = [*PRONOUNS, *VERBS, "a", "an", *(adjective.lower() for adjective in ADJECTIVES), *names]
    model = read_sentences(read, word_pieces(words, SPLIT), steps=steps, seed=setting.seed, progress=setting.progress)
    return model, plant, cooccurrences((text for text, _, _ in read), names)


def sources(
    occupations: Sequence[Occupation], counted: NDArray[np.int64] | None, counted_name: str
) -> tuple[Source, ...]:
    """The four sources of Table 2; the third takes counts of (he, she) from a text, where there are any."""
    listed = [Source("Uniform (2)", TWO), Source("Uniform (3)", PRONOUNS)]
    if counted is not None:
        rows = zip(occupations, counted.tolist(), strict=True)
        table = {occupation.name: dict(zip(TWO, pair, strict=True)) for occupation, pair in rows if sum(pair)}
        listed.append(Source(counted_name, TWO, table))
    return (*listed, Source("2016 U.S. Labor Force (WinoBias) (2)", TWO, labour_table(tuple(occupations))))


def planted_truth(plant: Plant, filled: FilledIn) -> FilledIn:
    """What a model would fill in that has learned the planted associations to the last digit."""
    given_pronoun = plant.occupation_given_pronoun
    one = np.where(filled.one_token, given_pronoun, 0.0)
    times = (len(TEMPLATES), 1, 1)
    return FilledIn(
        filled.occupations,
        np.tile(plant.pronoun_given_occupation, times),
        np.tile(one / one.sum(axis=1, keepdims=True), times),
        np.tile(given_pronoun, times),
        filled.tokens,
    )


def _table_2(filled: FilledIn, asked: Asked) -> Iterator[Row]:
    truth = None if asked.plant is None else planted_truth(asked.plant, filled)
    for source in sources(filled.occupations, asked.counted, asked.counted_name):
        for place, direction in enumerate(DIRECTIONS):
            value = amplification(filled, source, direction).value
            runs = [amplification(filled, source, direction, template=i).value for i in range(len(TEMPLATES))]
            over = biasamp.over_runs(runs)
            notes = [f"interval over the {len(TEMPLATES)} templates, whose values have sd {np.std(runs):.4f}"]
            published, spread = TABLE_2[source.name][place] if source.name in TABLE_2 else (None, "")
            reason = _other_way(filled, source, direction)
            if reason is not None:
                notes.append(f"{reason.change}: {reason.figure:+.4f}")
            what = f"Table 2, base {source.name}: {direction}"
            if published is not None and asked.model.name in PUBLISHED_OF:
                yield printed(what, published, value, interval=interval_of(over), spread=spread, reason=reason)
            elif truth is not None:
                right = amplification(truth, source, direction).value
                notes[0] += ", not over trainings"
                yield recovered(
                    f"{what}, of the tiny BERT",
                    f"{right:+.4f}",
                    value,
                    abs(value - right) <= CLOSE_VALUE[direction],
                    interval=interval_of(over),
                    note="; ".join(notes),
                )
                if published is not None:
                    other = "published of bert-base-uncased, which was not run; ours of the tiny BERT"
                    yield measured(what, value, published=published, spread=spread, note=other)
            else:
                notes.append("the published figure is of another model")
                told = "; ".join(notes)
                yield measured(what, value, published=published, interval=interval_of(over), note=told, spread=spread)


def _other_way(filled: FilledIn, source: Source, direction: str) -> Reason | None:
    """The same figure made in the other way that the paper's words leave open."""
    if direction == "T→A" and source.table is not None:
        value = amplification(filled, source, direction, alike=True).value
        return Reason("every occupation of the base taken for equally large", value)
    if direction == "A→T" and (filled.tokens > 1).any():
        value = amplification(filled, source, direction, chained=True).value
        return Reason("words of several tokens too, one mask a token, log-probabilities summed", value)
    return None


def _figure_5(filled: FilledIn, asked: Asked) -> tuple[list[Row], Chart]:
    men = np.array([1 - job.women for job in filled.occupations])
    he = filled.he
    order = np.argsort(men)
    lines = {"the model": [(float(men[i]), float(he[i])) for i in order]}
    lines["as in the labour force"] = [(float(men[i]), float(men[i])) for i in order]
    follows = float(np.corrcoef(men, he)[0, 1])
    said = (
        (
            "Fig. 5: mean of P(he | occupation) over the occupations, less that of the share of men",
            "the model favours he",
            float(he.mean() - men.mean()),
            he.mean() > men.mean(),
            f"{he.mean():.3f} less {men.mean():.3f}",
        ),
        (
            "Fig. 5: correlation of P(he | occupation) with the share of men",
            "biases of the labour force come back",
            follows,
            follows > 0,
            "",
        ),
    )
    rows = [
        claimed(what, words, ours, bool(holds), test="above 0", note=note)
        if asked.model.name in PUBLISHED_OF
        else measured(what, ours, published=words, note=note)
        for what, words, ours, holds, note in said
    ]
    if asked.plant is not None:
        truth = planted_truth(asked.plant, filled)
        lines["planted"] = [(float(men[i]), float(truth.he[i])) for i in order]
    title = "Fig. 5: P(he | occupation) among he and she"
    return rows, Chart(title, "share of men, 2016", "P(he)", lines, joined=False)


def _planted_rows(filled: FilledIn, plant: Plant) -> Iterator[Row]:
    """What was planted beside what the model gives back."""
    truth = planted_truth(plant, filled)
    parts = (
        ("pronoun", "P(pronoun | occupation)", filled.pronoun, truth.pronoun),
        ("occupation", "P(occupation | pronoun) of words of one token", filled.occupation, truth.occupation),
    )
    for part, what, found, right in parts:
        off = np.abs(found.mean(axis=0) - right[0])
        yield recovered(
            f"planted {what}: largest error of the model's",
            "0",
            float(off.max()),
            bool(off.max() <= CLOSE_SHARE[part]),
            note=f"within {CLOSE_SHARE[part]}; mean error {off.mean():.4f}; the shares are {right[0][right[0] > 0].min():.3f} to "
            f"{right[0].max():.3f}",
            claim=SHARES if part == "pronoun" else "",
        )
    longer = filled.tokens > 1
    share = plant.occupation_given_pronoun[:, longer].sum(axis=1).mean()
    summed = filled.occupation_chained[..., longer].sum(axis=-1).mean()
    yield measured(
        "share of the occupations of two tokens given the pronoun, by summed log-probabilities",
        float(summed),
        note=f"planted: {share:.3f}; two masks tell the model that the word has two tokens, so such words come out too likely; A→T is therefore "
        "taken among words of one token",
    )


def _each_occupation(filled: FilledIn, plant: Plant) -> Iterator[Row]:
    truth = planted_truth(plant, filled)
    for job, right, found in zip(plant.occupations, truth.he, filled.he, strict=True):
        close = CLOSE_SHARE["pronoun"]
        yield recovered(
            f"P(he | {job}) among he and she",
            f"{right:.4f}",
            float(found),
            abs(found - right) <= close,
            note=f"within {close}",
            claim=SHARES,
        )


def _about(filled: FilledIn) -> str:
    longer = [job.name for job, many in zip(filled.occupations, filled.tokens, strict=True) if many > 1]
    unknown = [job.name for job, many in zip(filled.occupations, filled.tokens, strict=True) if many == 0]
    text = f"{len(TEMPLATES)} templates, {len(filled.occupations)} occupations, {', '.join(PRONOUNS)}, probabilities"
    if longer:
        text += f"; of several tokens, and so left out of A→T but not of T→A: {', '.join(longer)}"
    if unknown:
        text += f"; not in the model's vocabulary, and left out of A→T: {', '.join(unknown)}"
    return text


def run(setting: Setting) -> Outcome:
    """Run it."""
    jobs = occupations()
    left: tuple[str, ...] = ()
    if setting.model is None:
        model, plant, counted = stand_in(setting, jobs)
        asked = Asked(model, counted, CORPUS, plant)
        kind = STAND_IN
        who = f"a tiny BERT trained here on {SENTENCES:,} sentences with planted associations"
        left = ("a real model, which --model names: one of the Hugging Face Hub, or a folder",)
    else:
        asked = Asked(load_masked_model(setting.model), _text(setting, jobs), "Wikipedia (2)", None)
        kind, who = REAL, f"the masked language model {setting.model}"
        if asked.counted is None:
            left = (f"the base Wikipedia (2), which needs {TEXTS[0]} in the folder that BIASAMP_DATA names",)
    filled = fill_in(asked.model, jobs)
    figure, chart = _figure_5(filled, asked)
    table = list(placed(_table_2(filled, asked), "Table 2"))
    rows = [*table, *placed(figure, "Fig. 5")]
    if asked.plant is not None:
        rows = [*_planted_rows(filled, asked.plant), *rows, *_each_occupation(filled, asked.plant)]
    says, trial = _told(asked, table), None if asked.plant is None else _untrained(setting, jobs)
    choices = (
        "A→T is taken among occupations of one token, since several masks tell a model how long the word is; the figure with all of "
        "them stands beside it.",
        "The ± of the paper is the standard deviation over its templates; our intervals are Student's over them.",
    )
    return Outcome(kind, f"{who}; {_about(filled)}", tuple(rows), (chart,), left, says, choices, trial)


def _told(asked: Asked, table: Sequence[Row]) -> tuple[str, ...]:
    if asked.plant is None:
        same = sum(row.agrees is True for row in table)
        wanted = sum(row.agrees is not None for row in table)
        last = (
            f"{same} of {wanted} printed figures of Table 2 come out digit for digit."
            if wanted
            else "Table 2 is of another model."
        )
        return (
            f"The model {asked.model.name} filled in pronouns and occupations.",
            last,
            "Base correlations are a choice: the same answers amplify against one base and reduce against another.",
        )
    back = [row for row in table if row.planted is not None]
    off = max(abs(float(row.ours) - float(row.planted or 0)) for row in back)
    return (
        f"A tiny BERT gives {sum(row.agrees is True for row in back)} of {len(back)} planted amplifications back, the farthest off by {off:.4f}.",
        "That shows that the figures of Table 2 would be measured rightly, and nothing of bert-base-uncased.",
        "No printed figure of Table 2 or Fig. 5 was tried on the paper's model here.",
    )


def _untrained(setting: Setting, jobs: tuple[Occupation, ...]) -> Trial:
    """The same with a model that has hardly read anything: what was planted does not come back."""
    model, plant, counted = stand_in(replace(setting, progress=silent), jobs, count=2_000, steps=5)
    filled = fill_in(model, jobs)
    asked = Asked(model, counted, CORPUS, plant)
    rows = [row for row in _table_2(filled, asked) if row.planted is not None]
    missed = sum(not row.agrees for row in rows)
    return Trial(
        "A model that has not learned its sentences, or a way of reading probabilities that mixes words up, would not give back what was planted.",
        f"Trained for 5 steps in place of {STEPS}, the tiny BERT misses {missed} of {len(rows)} planted amplifications.",
    )


EXPERIMENT = Experiment(
    "fill-in-the-blank",
    "What a masked language model fills in for pronouns and occupations, against four base correlations",
    "Wang & Russakovsky (2021), Table 2, Fig. 5, App. A.3",
    run,
    extras={"torch": "experiments", "transformers": "experiments"},
    options=("model",),
    paper=DIRECTIONAL,
)
