"""Captions of six models on the same images: which objects changed against the baseline, and what a null names.

``BIASAMP_DATA=... python -m benchmarks captions --trials 400``. The null is the baseline against itself: each of two copies drops and adds objects
by itself, so that nothing differs but noise; pairs that are named then are named wrongly.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import biasamp
from biasamp.auditing.comparison_result import Comparison

# How often a noisy copy loses an object that it names, and how many it adds for each that it names.
DROPPED, ADDED = 0.2, 0.2


def caption_labels(folder: Path) -> dict[str, Any]:
    """Objects that captions of each model name on the same images, with the gender and objects of the annotations."""
    import pyarrow.parquet as pq

    truth = pq.read_table(folder / "coco_gender_objects_val.parquet").to_pydict()
    captions = pq.read_table(folder / "coco_val2014_captions_6models.parquet").to_pydict()
    place = {int(image): i for i, image in enumerate(captions["image_id"])}
    names = sorted({name for row in truth["objects"] for name in row})
    rows = [i for i, image in enumerate(truth["image_id"]) if int(image) in place]
    out: dict[str, Any] = {
        "image": [int(truth["image_id"][i]) for i in rows],
        "gender": [truth["gender"][i] for i in rows],
        "objects": [list(truth["objects"][i]) for i in rows],
    }
    # Annotations write baseball_bat where captions write baseball bat.
    spoken = {name: re.escape(name.lower().replace("_", " ")) for name in names}
    words = {name: re.compile(rf"\b{text}(s|es)?\b") for name, text in spoken.items()}
    for model in (column for column in captions if column != "image_id"):
        said = [captions[model][place[image]].lower() for image in out["image"]]
        out[model] = [[name for name, word in words.items() if word.search(text)] for text in said]
    return out


def captions(data: dict[str, Any]) -> Comparison:
    """All captioning models held against the baseline."""
    models = [name for name in data if name not in ("image", "gender", "objects")]
    audits = {
        name: biasamp.audit(
            data,
            attributes="gender",
            tasks="objects",
            task_predictions=name,
            record="image",
            metrics=["directional"],
            resamples=300,
        )
        for name in models
    }
    return biasamp.compare(audits, against="baseline_ft")


def noisy(named: list[list[str]], objects: list[str], rates: Any, rng: np.random.Generator) -> list[list[str]]:
    """What captions name, with some objects lost and others added, as often as all captions name them."""
    lost = rng.random(sum(map(len, named))) < DROPPED
    out, start = [], 0
    more = rng.poisson(ADDED * sum(map(len, named)) / len(named), size=len(named))
    drawn = iter(rng.choice(len(objects), size=int(more.sum()), p=rates).tolist())
    for held, adds in zip(named, more.tolist(), strict=True):
        kept = [name for name, gone in zip(held, lost[start : start + len(held)], strict=True) if not gone]
        start += len(held)
        out.append(list(dict.fromkeys([*kept, *(objects[next(drawn)] for _ in range(adds))])))
    return out


def null_names(data: dict[str, Any], trials: int, seed: int = 0, model: str = "baseline_ft") -> int:
    """In how many trials two noisy copies of one model have a pair that is said to have changed."""
    objects, counts = np.unique([name for row in data[model] for name in row], return_counts=True)
    named = 0
    for trial in range(trials):
        rng = np.random.default_rng([seed, trial])
        both = {}
        for copy in ("one", "two"):
            said = noisy(data[model], objects.tolist(), counts / counts.sum(), rng)
            columns = {name: data[name] for name in ("image", "gender", "objects")} | {"said": said}
            roles = {"attributes": "gender", "tasks": "objects", "task_predictions": "said", "record": "image"}
            both[copy] = biasamp.audit(columns, **roles, metrics=["directional"], resamples=2)
        named += bool(biasamp.compare(both).changed)
    return named


def main(options: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks captions")
    parser.add_argument("--trials", type=int, default=20)
    trials = parser.parse_args(options).trials
    folder = os.environ.get("BIASAMP_DATA")
    if folder is None:
        print("BIASAMP_DATA names no folder with the captions")
        return
    data = caption_labels(Path(folder))
    result = captions(data)
    print(f"{', '.join(result.models)} on {len(data['image']):,} images: {len(result.changed)} pairs changed")
    for row in [row for row in result.changed if row["models"][1] == "equalizer"]:
        ends = f"[{row['low']:+.4f}, {row['high']:+.4f}]"
        print(f"  equalizer, {row['given']} -> {row['outcome']}: {row['difference']:+.4f} {ends} q {row['q']:.2g}")
    for words in result.orders:
        print(f"  {words}")
    named = null_names(data, trials)
    print(f"a model against itself with noise of its own names no pair in {1 - named / trials:.1%} of {trials} trials")


if __name__ == "__main__":
    main()
