"""Tiny files of the shape of COCO and CelebA, of which everything is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from extras import needs

HEIGHT, WIDTH = 20, 30


def write_image(path: Path, pixels: Any) -> None:
    needs("PIL")
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)


def make_coco(folder: Path, *, images: int = 120) -> None:
    """Men and women in turn, a red person on the left half, with ties and umbrellas: 2 men to 1 woman, 1 to 2."""
    rng = np.random.default_rng(0)
    names = {1: "person", 7: "tie", 9: "umbrella", 11: "bus"}
    for split in ("train2014", "val2014"):
        listed: list[dict[str, Any]] = []
        annotations: list[dict[str, Any]] = []
        captions: list[dict[str, Any]] = []

        def add(
            image: int, category: int, shape: Any, box: list[float], into: list[dict[str, Any]] = annotations
        ) -> None:
            into.append({"image_id": image, "category_id": category, "segmentation": shape, "bbox": box, "iscrowd": 0})

        for image in range(images):
            pixels = np.full((HEIGHT, WIDTH, 3), 40, dtype=np.uint8)
            pixels[:, : WIDTH // 2] = (200, 20, 20)
            pixels[:, -2:] = rng.integers(0, 256, 3)
            write_image(folder / "coco" / split / f"{image:04}.png", pixels)
            listed.append({"id": image, "file_name": f"{image:04}.png", "height": HEIGHT, "width": WIDTH})
            man = image % 2 == 0
            who = "man" if man else "woman"
            captions += [{"image_id": image, "caption": f"A {who} stands."}, {"image_id": image, "caption": "Someone."}]
            left = [0, 0, WIDTH // 2, 0, WIDTH // 2, HEIGHT, 0, HEIGHT]
            runs = {"size": [HEIGHT, WIDTH], "counts": [0, HEIGHT * WIDTH // 2, HEIGHT * WIDTH // 2]}
            add(image, 1, [left] if image % 3 else runs, [0, 0, WIDTH * 0.6, HEIGHT])
            square = [20, 5, 25, 5, 25, 10, 20, 10]
            kind = image // 2 % 5
            if kind in ((0, 1, 2, 3) if man else (1, 4)):
                add(image, 7, [square], [20, 5, 5, 5])
            if kind in ((1, 4) if man else (0, 1, 2, 3)):
                add(image, 9, [square], [20, 5, 5, 5])
        # What must be left out: two genders, nobody, no gender; and a bus, which only men have.
        for image, words, category in ((900, ["a man", "a woman"], 1), (901, ["a man"], 7), (902, ["a person"], 1)):
            listed.append({"id": image, "file_name": "none.png", "height": HEIGHT, "width": WIDTH})
            captions += [{"image_id": image, "caption": caption} for caption in words]
            add(image, category, [[0, 0, 9, 0, 9, 9]], [0, 0, 9, 9])
        add(0, 11, [[0, 0, 9, 0, 9, 9]], [0, 0, 9, 9])
        where = folder / "coco" / "annotations"
        where.mkdir(parents=True, exist_ok=True)
        document = {
            "images": listed,
            "annotations": annotations,
            "categories": [{"id": key, "name": name} for key, name in names.items()],
        }
        (where / f"instances_{split}.json").write_text(json.dumps(document))
        (where / f"captions_{split}.json").write_text(json.dumps({"annotations": captions}))


def make_celeba(folder: Path, *, faces: int = 96) -> None:
    """Faces whose brightness is their number; every combination of three attributes in turn."""
    rows = []
    parts = []
    for face in range(faces):
        name = f"{face:06}.png"
        write_image(folder / "celeba" / "img_align_celeba" / name, np.full((22, 18, 3), face, dtype=np.uint8))
        male, nose, young = face % 2 == 0, face // 2 % 2 == 0, face // 4 % 2 == 0
        rows.append(f"{name}  " + "  ".join("1" if value else "-1" for value in (nose, False, male, young)))
        parts.append(f"{name} {min(face * 3 // faces, 2)}")
    (folder / "celeba" / "list_attr_celeba.txt").write_text(
        f"{faces}\nBig_Nose Bald Male Young\n" + "\n".join(rows) + "\n"
    )
    (folder / "celeba" / "list_eval_partition.txt").write_text("\n".join(parts) + "\n")
