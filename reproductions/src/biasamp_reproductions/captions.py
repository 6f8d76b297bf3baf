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
from .internals import Objects, gender, neutral
from .made_captions import OBJECTS as MADE_OBJECTS
from .made_captions import MadeCaptions, made_captions, recovered
from .outcome import REAL, STAND_IN, Outcome
from .rows import Row, interval_of, measured

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
        right = np.mean([data.said[model][i] == data.gender[i] for i in rows])
        gendered = sum(found is not None for found in data.said[model])
        yield measured(
            f"{model}: captions that name one gender, and how many of those on common images are right",
            f"{gendered:,} of {len(data.gender):,}; {right:.1%}",
        )
        says_man = np.mean([data.said[model][i] == "man" for i in rows])
        yield measured(
            f"{model}: share of men among common images, said and true",
            f"{says_man:.3f}, {np.mean(data.gender[rows] == 'man'):.3f}",
        )
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
    yield from _differences(audits)
    yield from _leakage_differences(data, named, leakage, setting)
    yield from _errors_apart(data, setting)
    yield from _neutral(data, setting)


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
    made = None if setting.has(FILES) else made_captions(setting.seed)
    data = read(setting) if made is None else read_made(made)
    compared = f"models are compared on the {int(data.common.sum()):,} images for which all of them name one gender"
    rows = tuple(_rows(data, setting))
    charts = _charts(rows)
    if made is None:
        found = data.named(BASELINE)
        hits = sum(len(set(held) & set(named)) for held, named in zip(data.objects, found, strict=True))
        share = hits / max(sum(map(len, data.objects)), 1)
        source = (
            f"{', '.join(FILES)}; the truth are the images' instance labels, of which the baseline's captions name "
            f"{share:.0%}, which draws A→T below 0; {compared}"
        )
        return Outcome(REAL, source, rows, charts)
    # What the paper shows of its captions is nothing to hold made-up ones against.
    rows = tuple(replace(row, published=None) for row in rows)
    source = (
        f"{len(data.gender):,} made-up images with captions from templates, errors planted, Equalizer's on gender the "
        "fewest; shows that what is planted is measured, and nothing about the models, whose names alone are borrowed; "
        f"{compared}"
    )
    left = (f"the models' own captions, which need {', '.join(FILES)} in the folder that BIASAMP_DATA names",)
    return Outcome(STAND_IN, source, (*rows, *recovered(made, data.common, rows)), charts, left)


EXPERIMENT = Experiment(
    "captions",
    "Captions of six models: A→T, T→A, MALS and leakage, Equalizer against the baseline",
    "Wang & Russakovsky (2021), Fig. 3, Sec. 5.1",
    run,
    files=FILES,
    without="runs on made-up captions",
)
