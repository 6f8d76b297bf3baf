"""COCO as its authors release it: images, instances and captions, read into pictures with gender, objects and masks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .image_files import read_image
from .internals import exactly_balanced, gender, within_ratio
from .pictures import Pictures, Splits
from .segmentation import box_mask, mask_of

# The folders and files, under the folder that BIASAMP_DATA names.
TRAIN, TEST = "train2014", "val2014"
ANNOTATIONS = tuple(
    f"coco/annotations/{what}_{split}.json" for split in (TRAIN, TEST) for what in ("instances", "captions")
)
PERSON = "person"
SIDE = 64
# DPA Sec. 5.2 keeps 12 objects; which, it does not say.
KEPT_OBJECTS = 12
# The share of train images that thresholds are calibrated on, and not trained on.
_VALIDATION = 0.2


@dataclass(frozen=True, eq=False)
class Annotated:
    """What annotators say of an image: its file and size, gender, objects, and the people's outlines and boxes."""

    path: Path
    size: tuple[int, int]
    man: bool
    objects: frozenset[str]
    outlines: tuple[Any, ...]
    boxes: tuple[Sequence[float], ...]

    def read(self, side: int) -> tuple[NDArray[np.uint8], NDArray[np.bool_], NDArray[np.bool_]]:
        """The image, the mask of its people and the mask of their boxes."""
        shown = (side, side)
        scale = np.array([side / self.size[1], side / self.size[0]] * 2)
        person = reduce(np.logical_or, (mask_of(outline, self.size, shown) for outline in self.outlines))
        box = reduce(np.logical_or, (box_mask((np.asarray(b) * scale).tolist(), side, side) for b in self.boxes))
        return read_image(self.path, side), person, box


def caption_gender(captions: Iterable[str]) -> str | None:
    """The gender that all captions of an image agree on: one of them names it, and none names the other.

    >>> caption_gender(["a man on a horse", "a person rides"]), caption_gender(["a man", "a woman"])
    ('man', None)
    """
    return gender(" . ".join(captions))


def read_split(folder: Path, split: str) -> list[Annotated]:
    """The images of a split with one gender in their captions and a person among their instances.

    ``folder`` holds ``annotations/instances_SPLIT.json``, ``annotations/captions_SPLIT.json`` and ``SPLIT/*.jpg``.
    """
    instances = _document(folder / "annotations" / f"instances_{split}.json", ("images", "annotations", "categories"))
    captions = _document(folder / "annotations" / f"captions_{split}.json", ("annotations",))
    said: dict[Any, list[str]] = {}
    for item in captions["annotations"]:
        said.setdefault(item["image_id"], []).append(str(item["caption"]))
    names = {item["id"]: str(item["name"]) for item in instances["categories"]}
    if PERSON not in names.values():
        raise ValueError(f"the instances of {split} have no category {PERSON!r}")
    found: dict[Any, list[dict[str, Any]]] = {}
    for item in instances["annotations"]:
        found.setdefault(item["image_id"], []).append(item)
    out = []
    for image in instances["images"]:
        named = caption_gender(said.get(image["id"], ()))
        here = found.get(image["id"], ())
        people = [item for item in here if names[item["category_id"]] == PERSON]
        if named is None or not people:
            continue
        out.append(
            Annotated(
                _inside(folder / split, str(image["file_name"])),
                (int(image["height"]), int(image["width"])),
                named == "man",
                frozenset(names[item["category_id"]] for item in here) - {PERSON},
                tuple(item["segmentation"] for item in people),
                tuple(item["bbox"] for item in people),
            )
        )
    return out


def _document(path: Path, parts: tuple[str, ...]) -> dict[str, Any]:
    with path.open(encoding="utf-8") as file:
        document = json.load(file)
    lacking = [part for part in parts if not isinstance(document, dict) or part not in document]
    if lacking:
        raise ValueError(f"{path.name} has no {lacking[0]!r}: it is not a COCO annotation file of that kind")
    return dict(document)


def _inside(folder: Path, name: str) -> Path:
    """A file of the folder; names in annotations lead nowhere else."""
    if Path(name).name != name:
        raise ValueError(f"an image's file_name is {name!r}: a plain name is needed, without folders")
    return folder / name


def usual_objects(annotated: Sequence[Annotated], count: int = KEPT_OBJECTS) -> tuple[str, ...]:
    """The objects that most images of the rarer gender have, so that balancing leaves most images."""
    tally: dict[str, list[int]] = {}
    for item in annotated:
        for name in item.objects:
            tally.setdefault(name, [0, 0])[item.man] += 1
    ranked = sorted(tally, key=lambda name: (-min(tally[name]), name))
    return tuple(sorted(name for name in ranked[:count] if min(tally[name]) > 0))


@dataclass(frozen=True, eq=False)
class Coco:
    """Both splits as pictures, with the names of the objects kept."""

    train: Pictures
    test: Pictures
    names: tuple[str, ...]

    def splits(self, seed: int, balanced: bool) -> Splits:
        """Train, validation and test, balanced exactly (eq. 15) or within a ratio of 2 (eq. 16).

        Which images are left out, and which are for validation, is drawn again with every seed.
        """
        rng = np.random.default_rng([seed, 15 if balanced else 16])
        choose = exactly_balanced if balanced else _within_two
        order = rng.permutation(len(self.train))
        edge = round(_VALIDATION * len(order))
        parts = [self.train.take(np.sort(rows)) for rows in (order[edge:], order[:edge])] + [self.test]
        train, validation, test = (part.take(choose(part.objects, part.man, rng)) for part in parts)
        return Splits(train, validation, test, self.names)


def _within_two(objects: NDArray[np.bool_], man: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    return within_ratio(objects, man, largest=2.0, seed=rng)


def read_coco(
    folder: Path, progress: Callable[[int, int], None], *, side: int = SIDE, count: int = KEPT_OBJECTS
) -> Coco:
    """Read the images that have one of the kept objects, of both splits, at ``side`` by ``side`` pixels."""
    annotated = {split: read_split(folder, split) for split in (TRAIN, TEST)}
    names = usual_objects(annotated[TRAIN], count)
    if not names:
        raise ValueError(f"no object of {TRAIN} goes with both a man and a woman: there is nothing to measure")
    chosen = {split: [item for item in items if item.objects & set(names)] for split, items in annotated.items()}
    total = sum(map(len, chosen.values()))
    pictures, done = {}, 0
    for split, items in chosen.items():
        images = np.empty((len(items), 3, side, side), dtype=np.uint8)
        person, box = (np.empty((len(items), side, side), dtype=bool) for _ in range(2))
        for i, item in enumerate(items):
            images[i], person[i], box[i] = item.read(side)
            done += 1
            progress(done, total)
        objects = np.array([[name in item.objects for name in names] for item in items]).reshape(len(items), len(names))
        pictures[split] = Pictures(images, np.array([item.man for item in items]), objects, person, box)
    return Coco(pictures[TRAIN], pictures[TEST], names)
