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
    annotations = folder / "annotations"
    return read_annotated(
        folder / split, annotations / f"instances_{split}.json", annotations / f"captions_{split}.json"
    )


def read_annotated(
    images: Path, instances_file: Path, captions_file: Path | None = None, attribute: str | None = None
) -> list[Annotated]:
    """The images of a folder that have people and a known gender, by COCO-format annotations.

    Gender is what all captions of an image agree on (``captions_file``), or what each entry of ``images`` in the annotations says
    under the key ``attribute``, which has two values, such as ``"man"`` and ``"woman"``; the first in the alphabet counts as man.
    """
    instances = _document(instances_file, ("images", "annotations", "categories"))
    known = _genders(instances, captions_file, attribute)
    names = {item["id"]: str(item["name"]) for item in instances["categories"]}
    if PERSON not in names.values():
        raise ValueError(f"{instances_file.name} has no category {PERSON!r}: it is people that are masked")
    found: dict[Any, list[dict[str, Any]]] = {}
    for item in instances["annotations"]:
        found.setdefault(item["image_id"], []).append(item)
    out = []
    for image in instances["images"]:
        named = known.get(image["id"])
        here = found.get(image["id"], ())
        people = [item for item in here if names[item["category_id"]] == PERSON]
        if named is None or not people:
            continue
        out.append(
            Annotated(
                _inside(images, str(image["file_name"])),
                (int(image["height"]), int(image["width"])),
                named,
                frozenset(names[item["category_id"]] for item in here) - {PERSON},
                tuple(item["segmentation"] for item in people),
                tuple(item["bbox"] for item in people),
            )
        )
    return out


def _genders(instances: dict[str, Any], captions_file: Path | None, attribute: str | None) -> dict[Any, bool]:
    """Whether the person of each image is a man, where that is known."""
    if attribute is not None:
        held = {image["id"]: str(image[attribute]) for image in instances["images"] if image.get(attribute) is not None}
        values = sorted(set(held.values()))
        if len(values) != 2:
            raise ValueError(
                f"the images have {len(values)} values of {attribute!r}; two are needed: {', '.join(values[:5]) or 'none'}"
            )
        return {image: value == values[0] for image, value in held.items()}
    if captions_file is None:
        raise ValueError(
            "name a file of captions, or the key of an attribute of the images: the gender must come from somewhere"
        )
    said: dict[Any, list[str]] = {}
    for item in _document(captions_file, ("annotations",))["annotations"]:
        said.setdefault(item["image_id"], []).append(str(item["caption"]))
    found = {image: caption_gender(texts) for image, texts in said.items()}
    return {image: named == "man" for image, named in found.items() if named is not None}


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


@dataclass(frozen=True, eq=False)
class OwnImages:
    """Images of one's own, which every run splits anew into train, validation and test."""

    pictures: Pictures
    names: tuple[str, ...]

    def splits(self, seed: int, balanced: bool) -> Splits:
        """Half to train on, a fifth to calibrate on, the rest to test on; balanced as COCO's are."""
        rng = np.random.default_rng([seed, 15 if balanced else 16])
        choose = exactly_balanced if balanced else _within_two
        order = rng.permutation(len(self.pictures))
        cuts = np.split(order, [len(order) // 2, len(order) // 2 + len(order) // 5])
        parts = [self.pictures.take(np.sort(rows)) for rows in cuts]
        train, validation, test = (part.take(choose(part.objects, part.man, rng)) for part in parts)
        for name, part in (("train", train), ("validation", validation), ("test", test)):
            if len(part) < _FEWEST:
                raise ValueError(
                    f"{len(part)} images are left to {name}: more images are needed, with objects that go with both genders"
                )
        return Splits(train, validation, test, self.names)


# Fewer images of a part tell nothing.
_FEWEST = 8


def read_own(
    images: Path,
    annotations: Path,
    progress: Callable[[int, int], None],
    *,
    captions: Path | None = None,
    attribute: str | None = None,
    side: int = SIDE,
    count: int = KEPT_OBJECTS,
) -> OwnImages:
    """Read a folder of images with COCO-format annotations."""
    annotated = read_annotated(images, annotations, captions, attribute)
    names = usual_objects(annotated, count)
    if not names:
        raise ValueError(f"no object of {annotations.name} goes with both genders: there is nothing to measure")
    chosen = [item for item in annotated if item.objects & set(names)]
    return OwnImages(_pictures(chosen, names, side, progress), names)


def _pictures(
    items: Sequence[Annotated],
    names: tuple[str, ...],
    side: int,
    progress: Callable[[int, int], None],
    done: int = 0,
    total: int = 0,
) -> Pictures:
    """Images with their labels and masks; ``done`` of ``total`` were read before."""
    images = np.empty((len(items), 3, side, side), dtype=np.uint8)
    person, box = (np.empty((len(items), side, side), dtype=bool) for _ in range(2))
    for i, item in enumerate(items):
        images[i], person[i], box[i] = item.read(side)
        progress(done + i + 1, total or len(items))
    objects = np.array([[name in item.objects for name in names] for item in items]).reshape(len(items), len(names))
    return Pictures(images, np.array([item.man for item in items], dtype=bool), objects, person, box)


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
    train = _pictures(chosen[TRAIN], names, side, progress, 0, total)
    test = _pictures(chosen[TEST], names, side, progress, len(train), total)
    return Coco(train, test, names)
