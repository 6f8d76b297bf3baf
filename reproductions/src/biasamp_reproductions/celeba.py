"""CelebA as its authors release it: attributes, partition and aligned faces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .image_files import read_image
from .pictures import Pictures, Splits

ATTRIBUTES = "celeba/list_attr_celeba.txt"
PARTITION = "celeba/list_eval_partition.txt"
FACES = "img_align_celeba"
MALE = "Male"
SIDE = 48
# How many faces of train, validation and test are read: three hundred megabytes in all.
POOL = (30_000, 10_000, 10_000)


def read_attributes(path: Path, wanted: Sequence[str]) -> tuple[list[str], NDArray[np.bool_]]:
    """Files and whether each has the attributes: a count, a line of names, then a file with 1 or -1 for each."""
    with path.open(encoding="utf-8") as file:
        expected = int(file.readline())
        names = file.readline().split()
        unknown = [name for name in wanted if name not in names]
        if unknown:
            raise ValueError(f"{path.name} has no attribute {unknown[0]!r}")
        places = [names.index(name) + 1 for name in wanted]
        files, values = [], []
        for number, line in enumerate(file, start=3):
            parts = line.split()
            if not parts:
                continue
            if len(parts) != len(names) + 1:
                raise ValueError(f"{path.name}, line {number}: {len(parts) - 1} values for {len(names)} attributes")
            files.append(parts[0])
            values.append([parts[place] == "1" for place in places])
    if len(files) != expected:
        raise ValueError(f"{path.name} says that it has {expected:,} files, but has {len(files):,}: is it cut short?")
    return files, np.array(values, dtype=bool).reshape(len(files), len(wanted))


def read_partition(path: Path) -> dict[str, int]:
    """0 for train, 1 for validation, 2 for test, by file."""
    with path.open(encoding="utf-8") as file:
        pairs = [line.split() for line in file if line.strip()]
    if any(len(pair) != 2 or pair[1] not in ("0", "1", "2") for pair in pairs):
        raise ValueError(f"{path.name} needs a file and 0, 1 or 2 in every line")
    return {name: int(part) for name, part in pairs}


def read_celeba(
    folder: Path,
    tasks: Sequence[str],
    seed: int,
    progress: Callable[[int, int], None],
    *,
    side: int = SIDE,
    pool: tuple[int, int, int] = POOL,
) -> Splits:
    """A random choice of faces of each part, with gender and the tasks; ``folder`` is the one that holds ``celeba``."""
    files, values = read_attributes(folder / ATTRIBUTES, (MALE, *tasks))
    partition = read_partition(folder / PARTITION)
    part_of = np.array([partition.get(name, -1) for name in files])
    rng = np.random.default_rng([seed, 4])
    chosen = []
    for part, most in enumerate(pool):
        rows = np.flatnonzero(part_of == part)
        if not len(rows):
            raise ValueError(f"{PARTITION} has no file of part {part}")
        chosen.append(np.sort(rng.choice(rows, min(most, len(rows)), replace=False)))
    total, done = sum(map(len, chosen)), 0
    out = []
    for rows in chosen:
        images = np.empty((len(rows), 3, side, side), dtype=np.uint8)
        for i, row in enumerate(rows):
            if Path(files[row]).name != files[row]:
                raise ValueError(f"{ATTRIBUTES}: {files[row]!r} is no plain file name")
            images[i] = read_image(folder / "celeba" / FACES / files[row], side)
            done += 1
            progress(done, total)
        # Nobody is masked here, so there are no outlines.
        nobody = np.zeros((len(rows), 0, 0), dtype=bool)
        out.append(Pictures(images, values[rows, 0], values[rows, 1:], nobody))
    train, validation, test = out
    return Splits(train, validation, test, tuple(tasks))
