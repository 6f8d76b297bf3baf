"""2021 paper, Fig. 3 and Sec. 5.1: captions of six models. Does Equalizer trade T→A for A→T?"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import biasamp

from .chart import Chart
from .experiment import Experiment, Setting
from .internals import SYNONYMS, Objects, gender, neutral
from .made_captions import OBJECTS as MADE_OBJECTS
from .made_captions import STANDARD_ERRORS, MadeCaptions, made_captions, planted_rows, planted_t_to_a
from .outcome import REAL, STAND_IN, Outcome, Trial
from .own_captions import Words, run_own
from .papers import DIRECTIONAL
from .rows import Row, interval_of, measured, placed

CAPTIONS = "coco_val2014_captions_6models.parquet"
OBJECTS = "coco_objects_66.csv"
LABELS = ("coco_gender_objects_val.parquet", "coco_gender_objects_test.parquet")
FILES = (CAPTIONS, OBJECTS, *LABELS)
BASELINE = "baseline_ft"
MODELS = (BASELINE, "balanced", "upweight", "confusion", "confident", "equalizer")
RESAMPLES = 500
NULL_DRAWS = 10
LEAKAGE_TRIALS, LEAKAGE_RESAMPLES = 5, 30
# Random halves of the images for paired differences of leakage, and trials on each.
HALVES, HALF_TRIALS = 20, 3
# Two steps a model, and one a half.
_STEPS = 2 * len(MODELS) + HALVES
_ARROWS = {"A->T": "A→T", "T->A": "T→A", "": ""}


@dataclass(frozen=True, eq=False)
class Captioned:
    """Labels of images and what captions name; ``common`` are the images that all models give one gender for."""

    gender: Any
    objects: list[list[str]]
    captions: dict[str, list[str]]
    said: dict[str, list[str | None]]
    common: Any
    find: Objects

    def named(self, model: str, *, neutrally: bool = False) -> list[list[str]]:
        """The objects of every caption, with gendered words or without."""
        return [self.find.named(neutral(text) if neutrally else text) for text in self.captions[model]]


def read(setting: Setting) -> Captioned:
    """The images that have labels, and their six captions."""
    names = [name for name in setting.columns(OBJECTS, ("object",))["object"] if name != "person"]
    truth: dict[int, tuple[str, list[str]]] = {}
    for file in LABELS:
        columns = setting.columns(file, ("image_id", "gender", "objects"))
        truth.update(zip(columns["image_id"], zip(columns["gender"], columns["objects"], strict=True), strict=True))
    read_captions = setting.columns(CAPTIONS, ("image_id", *MODELS))
    rows = [i for i, image in enumerate(read_captions["image_id"]) if image in truth]
    captions = {model: [read_captions[model][i] for i in rows] for model in MODELS}
    held = [truth[read_captions["image_id"][i]] for i in rows]
    wanted = set(names)
    objects = [[name for name in item[1] if name in wanted] for item in held]
    return captioned([item[0] for item in held], objects, captions, names)


def read_made(made: MadeCaptions) -> Captioned:
    """The stand-in's images and captions, their genders and objects read from words as those of real captions are."""
    return captioned(made.gender, made.objects, made.captions, list(MADE_OBJECTS))


def captioned(
    genders: Sequence[str], objects: list[list[str]], captions: dict[str, list[str]], names: Sequence[str]
) -> Captioned:
    """Labels with what captions say, read from their words."""
    said = {model: [gender(text) for text in captions[model]] for model in MODELS}
    common = np.array([all(said[model][i] is not None for model in MODELS) for i in range(len(genders))])
    return Captioned(np.array(genders), objects, captions, said, common, Objects(names))


def _audits(data: Captioned, named: dict[str, list[list[str]]], setting: Setting) -> dict[str, Any]:
    import pyarrow as pa

    rows = np.flatnonzero(data.common)
    out = {}
    for model in MODELS:
        table = pa.table(
            {
                "image": rows,
                "gender": [data.gender[i] for i in rows],
                "said": [data.said[model][i] for i in rows],
                "objects": [data.objects[i] for i in rows],
                "named": [named[model][i] for i in rows],
            }
        )
        out[model] = biasamp.audit(
            table,
            attributes="gender",
            tasks="objects",
            attribute_predictions="said",
            task_predictions="named",
            record="image",
            metrics=["directional", "mals"],
            resamples=RESAMPLES,
            seed=setting.seed,
        )
        setting.progress(len(out), _STEPS, f"audit of {model}")
    return out


def _rows(data: Captioned, setting: Setting) -> Iterator[Row]:
    named = {model: data.named(model) for model in MODELS}
    rows = np.flatnonzero(data.common)
    audits = _audits(data, named, setting)
    for model in MODELS:
        right = float(np.mean([data.said[model][i] == data.gender[i] for i in rows]))
        gendered = sum(found is not None for found in data.said[model])
        yield measured(f"{model}: share of captions that name one gender", gendered / len(data.gender))
        yield measured(f"{model}: share of those on common images that are right", right)
        says_man = float(np.mean([data.said[model][i] == "man" for i in rows]))
        note = f"{np.mean(data.gender[rows] == 'man'):.4f} in truth"
        yield measured(f"{model}: share of men among common images, by the captions", says_man, note=note)
        for entry in audits[model].document["metrics"]:
            if entry["metric"] in ("directional", "mals"):
                name = _ARROWS[entry["direction"] or ""] or "MALS"
                crossed = entry.get("crossfit")
                yield measured(
                    f"{model}: {name}",
                    float(entry["value"]),
                    interval=tuple(entry["interval"]),
                    note="" if crossed is None else f"cross-fitted {crossed:+.4f}",
                )
    truth = [data.objects[i] for i in rows]
    leakage = {}
    for step, model in enumerate(MODELS):
        leaked = biasamp.leakage(
            data.gender[rows], truth, [named[model][i] for i in rows], trials=LEAKAGE_TRIALS, seed=setting.seed
        )
        leakage[model] = leaked.value
        yield measured(
            f"{model}: leakage amplification",
            leaked.value,
            interval=interval_of(leaked, resamples=LEAKAGE_RESAMPLES),
            note=f"attacker {leaked.attacker}, the truth equalized to the accuracy of the captions",
        )
        setting.progress(len(MODELS) + step + 1, _STEPS, f"leakage of {model}")
    yield from _other_words(data)
    yield from _differences(audits)
    yield from _leakage_differences(data, named, leakage, setting)
    yield from _errors_apart(data, setting)
    yield from _neutral(data, setting)


# Words that name much beside the object: a bag is not always a handbag.
WIDE_WORDS = ("bag", "table", "plant", "ball", "bat", "glove", "plane", "controller", "phone")


def _other_words(data: Captioned) -> Iterator[Row]:
    """MALS with other lists of words for the same captions."""
    names = sorted({name for found in data.objects for name in found})
    lists = {
        "objects' own names alone": Words({}, dict.fromkeys(names, ())),
        "without words that name much else": Words(
            {}, {name: [w for w in SYNONYMS.get(name, ()) if w not in WIDE_WORDS] for name in names}
        ),
    }
    rows = np.flatnonzero(data.common)
    truth = [data.objects[i] for i in rows]
    for words, read_by in lists.items():
        for model in MODELS:
            said = np.array([data.said[model][i] for i in rows])
            named = [read_by.named(data.captions[model][i]) for i in rows]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                value = biasamp.mals(data.gender[rows], truth, said, named).value
            yield measured(
                f"{model}: MALS with {words}", value, note="a choice of words; the rows above take all of them"
            )


def _examples(data: Captioned) -> tuple[tuple[str, str], ...]:
    """Captions in which Equalizer mends a gender, and in which it invents an object (2021 Fig. 3): the first of each kind."""
    out: list[tuple[str, str]] = []
    base, other = BASELINE, "equalizer"
    mended = [
        i
        for i in np.flatnonzero(data.common)
        if data.said[base][i] != data.gender[i] and data.said[other][i] == data.gender[i]
    ]
    invents = [
        i
        for i in np.flatnonzero(data.common)
        if data.said[base][i] == data.said[other][i] == data.gender[i]
        and set(data.find.named(data.captions[other][i]))
        - set(data.objects[i])
        - set(data.find.named(data.captions[base][i]))
    ]
    for rows, words in ((mended, "gender mended"), (invents, "object named that no annotator marked")):
        for i in rows[:2]:
            true = f"a {data.gender[i]} with {', '.join(data.objects[i]) or 'no object of the list'}"
            out += [(f"{words}, {true}; {model}", data.captions[model][i]) for model in (base, other)]
    return tuple(out)


def _differences(audits: dict[str, Any]) -> Iterator[Row]:
    """Each model against the baseline, on the same resampled images."""
    words = {"T→A": "Equalizer lowers it in the captions shown", "A→T": "Equalizer raises it in the captions shown"}
    for model in MODELS[1:]:
        compared = biasamp.compare({BASELINE: audits[BASELINE], model: audits[model]})
        for row in compared.table.rows():
            name = _ARROWS[row["direction"]] or "MALS"
            yield measured(
                f"{model} less {BASELINE}: {name}",
                float(row["difference"]),
                published=words.get(name) if model == "equalizer" else None,
                name=name if model == "equalizer" else "",
                interval=(float(row["low"]), float(row["high"])),
                note=f"paired; {row['verdict']}",
            )


def _leakage_differences(
    data: Captioned, named: dict[str, list[list[str]]], whole: dict[str, float], setting: Setting
) -> Iterator[Row]:
    """Leakage of each model less the baseline's on the same random halves of the images.

    Half of n records drawn without putting back spread about the whole as the whole spreads about other records:
    s²(2/n - 1/n) = s²/n. So the spread over halves is the difference's standard error.
    """
    from scipy.special import stdtrit

    rows = np.flatnonzero(data.common)
    found: dict[str, list[float]] = {model: [] for model in MODELS}
    for step, sequence in enumerate(np.random.SeedSequence([setting.seed, 11]).spawn(HALVES)):
        half = np.random.default_rng(sequence).permutation(rows)[: len(rows) // 2]
        truth = [data.objects[i] for i in half]
        for model in MODELS:
            said = [named[model][i] for i in half]
            found[model].append(biasamp.leakage(data.gender[half], truth, said, trials=HALF_TRIALS, seed=step).value)
        setting.progress(2 * len(MODELS) + step + 1, _STEPS, "leakage on random halves")
    baseline = np.array(found[BASELINE])
    for model in MODELS[1:]:
        differences = np.array(found[model]) - baseline
        middle = whole[model] - whole[BASELINE]
        reach = float(stdtrit(HALVES - 1, 0.975) * differences.std(ddof=1))
        yield measured(
            f"{model} less {BASELINE}: leakage amplification",
            middle,
            interval=(middle - reach, middle + reach),
            note=f"paired on {HALVES} random halves of the images",
        )


def _errors_apart(data: Captioned, setting: Setting) -> Iterator[Row]:
    """What T→A would be if a model got genders wrong as often, but whatever the objects."""
    rows = np.flatnonzero(data.common)
    true, objects = data.gender[rows], [data.objects[i] for i in rows]
    for model in (BASELINE, "equalizer"):
        said = np.array([data.said[model][i] for i in rows])
        wrong = {name: float(np.mean(said[true == name] != name)) for name in ("woman", "man")}
        chance = np.where(true == "woman", wrong["woman"], wrong["man"])
        values = []
        for sequence in np.random.SeedSequence([setting.seed, 4]).spawn(NULL_DRAWS):
            flipped = np.random.default_rng(sequence).random(len(true)) < chance
            drawn = np.where(flipped, np.where(true == "woman", "man", "woman"), true)
            values.append(biasamp.directional(objects, true, drawn).value)
        runs = biasamp.over_runs(values)
        seen = biasamp.directional(objects, true, said).value
        yield measured(
            f"{model}: T→A of errors as frequent as its own, but drawn without regard to objects",
            runs.value,
            interval=interval_of(runs),
            note=f"{wrong['woman']:.1%} of women and {wrong['man']:.1%} of men wrong; the model's own T→A is {seen:+.4f}, "
            f"{seen - runs.value:+.4f} above; the interval is over {NULL_DRAWS} draws",
        )


def _neutral(data: Captioned, setting: Setting) -> Iterator[Row]:
    """Sec. 5.1: without gendered words no gender is predicted, T→A has nothing left to measure, and A→T remains."""
    import pyarrow as pa

    audits, still = {}, {}
    for model in MODELS:
        still[model] = sum(gender(neutral(text)) is not None for text in data.captions[model])
        table = pa.table(
            {
                "image": np.arange(len(data.gender)),
                "gender": data.gender,
                "objects": data.objects,
                "named": data.named(model, neutrally=True),
            }
        )
        with warnings.catch_warnings():
            # Objects that no image of the set has are said to be undefined, image by image, elsewhere.
            warnings.simplefilter("ignore", UserWarning)
            audits[model] = biasamp.audit(
                table,
                attributes="gender",
                tasks="objects",
                task_predictions="named",
                record="image",
                metrics=["directional"],
                resamples=RESAMPLES,
                seed=setting.seed,
            )
        (entry,) = (item for item in audits[model].to_dict()["metrics"] if item["metric"] == "directional")
        yield measured(
            f"{model}, gendered words replaced by 'person': A→T on all {len(data.gender):,} images",
            float(entry["value"]),
            interval=tuple(entry["interval"]),
            note=f"{still[model]} captions still name a gender, so there is no T→A",
        )
    for model in MODELS[1:]:
        compared = biasamp.compare({BASELINE: audits[BASELINE], model: audits[model]})
        (row,) = (row for row in compared.table.rows() if row["direction"] == "A->T")
        yield measured(
            f"{model} less {BASELINE}, gendered words replaced by 'person': A→T",
            float(row["difference"]),
            interval=(float(row["low"]), float(row["high"])),
            note=f"paired; {row['verdict']}",
        )


def _charts(rows: Sequence[Row]) -> tuple[Chart, ...]:
    """Each metric by model, from the rows."""
    held = {row.what: row for row in rows}
    out = []
    for name in ("A→T", "T→A", "MALS", "leakage amplification"):
        found = [held[f"{model}: {name}"] for model in MODELS]
        out.append(
            Chart(
                f"{name} of six captioning models, with 95% intervals",
                "model",
                name,
                {name: [(float(place), float(row.ours)) for place, row in enumerate(found)]},
                {name: [row.interval or (float("nan"), float("nan")) for row in found]},
                MODELS,
                joined=False,
            )
        )
    return tuple(out)


def run(setting: Setting) -> Outcome:
    """Run it."""
    if "captions" in setting.own:
        return run_own(setting)
    made = None if setting.has(FILES) else made_captions(setting.seed)
    data = read(setting) if made is None else read_made(made)
    compared = f"models are compared on the {int(data.common.sum()):,} images for which all of them name one gender"
    rows = tuple(placed(_rows(data, setting), "Fig. 3"))
    charts = _charts(rows)
    says, choices, examples = _says(rows), _choices(data, rows), _examples(data)
    if made is None:
        found = data.named(BASELINE)
        hits = sum(len(set(held) & set(named)) for held, named in zip(data.objects, found, strict=True))
        share = hits / max(sum(map(len, data.objects)), 1)
        source = (
            f"{', '.join(FILES)}; the truth are the images' instance labels, of which the baseline's captions name "
            f"{share:.0%}, which draws A→T below 0; {compared}"
        )
        return Outcome(REAL, source, rows, charts, (), says, choices, None, examples)
    # What the paper shows of its captions is nothing to hold made-up ones against.
    rows = tuple(replace(row, published=None) for row in rows)
    source = (
        f"{len(data.gender):,} made-up images with captions from templates, errors planted, Equalizer's on gender the "
        "fewest; shows that what is planted is measured, and nothing about the models, whose names alone are borrowed; "
        f"{compared}"
    )
    left = (f"the models' own captions, which need {', '.join(FILES)} in the folder that BIASAMP_DATA names",)
    trial = Trial(
        "A reading of the captions that loses words, or errors that do not follow the objects, would not give back what was planted.",
        _unlike(made, setting.seed),
    )
    held = (*rows, *planted_rows(made, data.common, rows))
    return Outcome(STAND_IN, source, held, charts, left, says, choices, trial, examples)


def _unlike(made: MadeCaptions, seed: int) -> str:
    """The same captions given to other images: what was planted must not come back."""
    order = np.random.default_rng([seed, 44]).permutation(len(made.man))
    shuffled = replace(made, captions={model: [texts[i] for i in order] for model, texts in made.captions.items()})
    data = read_made(shuffled)
    rows = np.flatnonzero(data.common)
    missed = 0
    for model in MODELS:
        said = np.array([data.said[model][i] for i in rows])
        value = biasamp.directional([data.objects[i] for i in rows], data.gender[rows], said).value
        known, spread = planted_t_to_a(
            made.man[data.common], made.there[data.common], made.says_man[model][data.common]
        )
        missed += abs(value - known) > STANDARD_ERRORS * spread
    return f"With the captions given to other images, T→A misses what was planted for {missed} of {len(MODELS)} models."


def _says(rows: Sequence[Row]) -> tuple[str, ...]:
    held = {row.what: row for row in rows}
    told = []
    for name in ("A→T", "T→A"):
        row = held[f"equalizer less {BASELINE}: {name}"]
        low, high = row.interval or (np.nan, np.nan)
        sure = "higher" if low > 0 else "lower" if high < 0 else "not surely different"
        told.append(
            f"Equalizer's {name} is {sure}: {float(row.ours):+.4f} against the baseline's (95% {low:+.4f} to {high:+.4f})."
        )
    return (*told, "The paper shows captions and prints no figure of them, so no row has a verdict.")


def _choices(data: Captioned, rows: Sequence[Row]) -> tuple[str, ...]:
    held = {row.what: float(row.ours) for row in rows if isinstance(row.ours, float)}
    moves = [
        abs(value - held[f"{what.partition(':')[0]}: MALS"]) for what, value in held.items() if ": MALS with " in what
    ]
    return (
        "Other words for objects: "
        + "; ".join(f"{name.replace('_', ' ')}: {', '.join(others)}" for name, others in SYNONYMS.items()),
        f"Other lists of words move MALS by up to {max(moves):.4f}: the objects' own names alone, or without {', '.join(WIDE_WORDS)}.",
        "Dropped: the label person, which every image has, and labels that are not among the 66 objects of the papers.",
        "The truth are instance labels of annotators, of which captions name about a third; human captions would be another truth.",
        "Images: those for which all six captions name one gender and no other.",
    )


EXPERIMENT = Experiment(
    "captions",
    "Captions of six models: A→T, T→A, MALS and leakage, Equalizer against the baseline",
    "Wang & Russakovsky (2021), Fig. 3, Sec. 5.1",
    run,
    files=FILES,
    without="runs on made-up captions",
    options=("captions", "words", "models", "group", "objects"),
    paper=DIRECTIONAL,
)
