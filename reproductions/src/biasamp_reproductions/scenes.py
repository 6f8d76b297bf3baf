"""Made-up scenes with known masks: a person with a gender cue, and objects that go with one gender."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .internals import exactly_balanced
from .pictures import Pictures

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

# A scene is a grid of cells, 4 by 4; the person fills two cells, one above the other, and an object one at most.
CELL, GRID = 6, 4
SIDE = CELL * GRID
# How many objects are labelled, and how many more are drawn that no label names: context.
OBJECTS, CONTEXT = 8, 2
# Which labelled objects go with men; the others go with women.
OF_MEN = np.arange(OBJECTS) >= OBJECTS // 2
_PERSON = 2 * CELL
_SHAPES = (
    "##### ##### ##### ##### #####",
    "..#.. ..#.. ##### ..#.. ..#..",
    "#...# .#.#. ..#.. .#.#. #...#",
    "##### #...# #...# #...# #####",
    "##### ..... ##### ..... #####",
    "#.#.# #.#.# #.#.# #.#.# #.#.#",
    "..... ..#.. .###. ##### .....",
    "#.... ##... ###.. ####. #####",
    "##### ..#.. ..#.. ..#.. ..#..",
    "#.... #.... #.... #.... #####",
)
_COLOURS = (
    (0.9, 0.2, 0.2),
    (0.2, 0.8, 0.2),
    (0.2, 0.3, 0.9),
    (0.9, 0.8, 0.1),
    (0.8, 0.2, 0.8),
    (0.1, 0.8, 0.8),
    (0.9, 0.5, 0.1),
    (0.5, 0.9, 0.5),
    (0.95, 0.95, 0.95),
    (0.05, 0.05, 0.05),
)
_GREY, _SKIN, _CLOTH = 0.45, (0.75, 0.55, 0.45), 0.5
# Torsos lie between these two colours' directions; the share of people in the other gender's silhouette.
_TORSO, _TORSO_SPREAD, _OTHER_SILHOUETTE = (0.25, 0.0, -0.25), 0.5, 0.4
# Context is rarer with the other gender, and likelier beside the labelled objects of its own gender.
_CONTEXT_RATE, _CONTEXT_RATIO, _CONTEXT_BESIDE = 0.08, 3.0, 3.0


@dataclass(frozen=True)
class SceneDesign:
    """What scenes are like.

    Attributes
    ----------
    faint : float
        The share of labelled objects that are drawn faintly.
    ratio : float
        How many times likelier an object is with one gender than with the other.
    cue : float
        How far apart the torso colours of men and women lie; 0 for not at all.
    noise : float
        The standard deviation of every pixel.
    men : float
        The share of men.
    rate : float
        An object's rate, the mean over both genders.
    contrast : float
        How much of a faint object's colour shows.
    """

    faint: float = 0.25
    ratio: float = 2.5
    cue: float = 1.0
    noise: float = 0.1
    men: float = 0.6
    rate: float = 0.12
    contrast: float = 0.05


def labels(design: SceneDesign, count: int, rng: np.random.Generator, *, balanced: bool = False) -> tuple[Bools, Bools]:
    """Genders and labelled objects of scenes that are not drawn yet.

    The first half of the objects goes with women, the second with men; with a rate ``r`` and a ratio ``q`` their
    rates are ``2r / (1 + q)`` and ``2rq / (1 + q)``. Balanced, as many men as women have every set of labelled
    objects, by leaving scenes out.
    """
    man = rng.random(count) < (0.5 if balanced else design.men)
    low = 2 * design.rate / (1 + design.ratio)
    objects = rng.random((count, OBJECTS)) < np.where(man[:, None] == OF_MEN, low * design.ratio, low)
    if balanced:
        kept = exactly_balanced(objects, man, rng)
        man, objects = man[kept], objects[kept]
    return man, objects


def draw(design: SceneDesign, count: int, seed: Any, *, balanced: bool = False) -> Pictures:
    """Draw scenes.

    Examples
    --------
    >>> scenes = draw(SceneDesign(), 100, seed=0)
    >>> scenes.images.shape, bool(scenes.person.sum(axis=(1, 2)).min() > 0)
    ((100, 3, 24, 24), True)
    """
    rng = np.random.default_rng(seed)
    return paint(design, *labels(design, count, rng, balanced=balanced), rng)


def paint(design: SceneDesign, man: Bools, objects: Bools, rng: np.random.Generator) -> Pictures:
    """Draw scenes of which genders and labelled objects are known."""
    count = len(man)
    images = np.full((count, 3, SIDE, SIDE), _GREY, dtype=np.float32)
    person, top, column = _people(images, man, design, rng)
    every = np.concatenate([objects, _context(man, objects, rng)], axis=1)
    faint = rng.random(every.shape) < np.where(np.arange(every.shape[1]) < OBJECTS, design.faint, 0.0)
    cells = _free_cells(top, column, rng)
    for k in range(every.shape[1]):
        rows = np.flatnonzero(every[:, k])
        shape = np.array([[pixel == "#" for pixel in line] for line in _SHAPES[k].split()])
        inside_y, inside_x = np.nonzero(shape)
        down, right = rng.integers(0, CELL - len(shape) + 1, size=(2, len(rows)))
        y = (cells[rows, k] // GRID * CELL + down)[:, None] + inside_y
        x = (cells[rows, k] % GRID * CELL + right)[:, None] + inside_x
        shown = np.where(faint[rows, k], design.contrast, 1.0)[:, None]
        for channel in range(3):
            images[rows[:, None], channel, y, x] += shown * (_COLOURS[k][channel] - _GREY)
    images += rng.normal(0.0, design.noise, images.shape).astype(np.float32)
    return Pictures(np.clip(images, 0.0, 1.0), man, objects, person)


def _context(man: Bools, objects: Bools, rng: np.random.Generator) -> Bools:
    """Things that no label names: one goes with women and with what goes with women, the other with men."""
    out = np.empty((len(man), CONTEXT), dtype=bool)
    for i, of_men in enumerate((False, True)):
        rate = np.full(len(man), _CONTEXT_RATE)
        rate[man == of_men] *= _CONTEXT_RATIO
        rate[objects[:, of_men == OF_MEN].any(axis=1)] *= _CONTEXT_BESIDE
        out[:, i] = rng.random(len(man)) < rate
    return out


def _people(
    images: Floats, man: Bools, design: SceneDesign, rng: np.random.Generator
) -> tuple[Bools, NDArray[np.int64], NDArray[np.int64]]:
    """Draw a person into every image: a head, a torso of a colour that hints at gender, a skirt or legs."""
    count = len(man)
    top, column = rng.integers(0, GRID - 1, count), rng.integers(0, GRID, count)
    head = np.zeros((_PERSON, CELL), dtype=bool)
    torso, skirt, legs = head.copy(), head.copy(), head.copy()
    head[0:3, 2:4] = True
    torso[3:8, 1:5] = True
    skirt[8:10, 1:5] = skirt[10:12, 0:6] = True
    legs[8:12, 1:3] = legs[8:12, 4:5] = True
    side = np.where(man, 1.0, -1.0)
    lean = design.cue * side + rng.normal(0.0, _TORSO_SPREAD, count)
    torso_colour = _CLOTH + lean[:, None] * np.array(_TORSO)
    lower_colour = np.repeat(rng.uniform(0.2, 0.8, (count, 1)), 3, axis=1)
    in_legs = man ^ (rng.random(count) < _OTHER_SILHOUETTE)
    person = np.zeros((count, SIDE, SIDE), dtype=bool)
    everybody = np.arange(count)
    for part, who, colour in (
        (head, everybody, np.broadcast_to(_SKIN, (count, 3))),
        (torso, everybody, torso_colour),
        (skirt, np.flatnonzero(~in_legs), lower_colour),
        (legs, np.flatnonzero(in_legs), lower_colour),
    ):
        inside_y, inside_x = np.nonzero(part)
        y = (top[who] * CELL)[:, None] + inside_y
        x = (column[who] * CELL)[:, None] + inside_x
        person[who[:, None], y, x] = True
        for channel in range(3):
            images[who[:, None], channel, y, x] = colour[who, channel][:, None]
    return person, top, column


def _free_cells(top: NDArray[np.int64], column: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """For every scene the cells without the person, in random order."""
    order = np.argsort(rng.random((len(top), GRID * GRID)), axis=1)
    upper = (top * GRID + column)[:, None]
    taken = (order == upper) | (order == upper + GRID)
    return order[~taken].reshape(len(top), GRID * GRID - 2)
