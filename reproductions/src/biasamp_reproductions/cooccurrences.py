"""How often occupations stand in one sentence with words for men and for women."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .internals import HE, SHE

WORDS = {
    HE: ("he", "him", "his", "himself", "man", "men", "boy", "boys", "son", "sons"),
    SHE: ("she", "her", "hers", "herself", "woman", "women", "girl", "girls", "daughter", "daughters"),
}
_WORD = re.compile(r"[^\W\d_]+")
_END = re.compile(r"[.!?]+(?:\s|$)")


def sentences_of(path: Path) -> Iterator[str]:
    """The sentences of a text file, gzipped or not; none goes over the end of a line."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", errors="replace") as file:
        for line in file:
            yield from _END.split(line)


def cooccurrences(sentences: Iterable[str], occupations: Sequence[str]) -> NDArray[np.int64]:
    """Sentences that name one of the occupations and words for one gender alone: occupations by (he, she).

    Whole words count, singular and plural. A sentence with two of the occupations, or with words for both genders,
    does not say who is meant and is left out. Who is meant is a guess in the others too: "she went to see the
    physician" counts as a woman.

    >>> cooccurrences(["She is a nurse", "He saw the nurses", "He and she cook", "a cook"], ["nurse", "cook"]).tolist()
    [[1, 1], [0, 0]]
    """
    place = {form: i for i, name in enumerate(occupations) for form in (name, _plural(name))}
    gender = {word: j for j, words in enumerate(WORDS.values()) for word in words}
    counts = np.zeros((len(occupations), len(WORDS)), dtype=np.int64)
    for sentence in sentences:
        words = {word.lower() for word in _WORD.findall(sentence)}
        named = {place[word] for word in words if word in place}
        if len(named) != 1:
            continue
        genders = {gender[word] for word in words if word in gender}
        if len(genders) == 1:
            counts[named.pop(), genders.pop()] += 1
    return counts


def _plural(name: str) -> str:
    if name.endswith("person"):
        return name.removesuffix("person") + "people"
    return name.removesuffix("y") + "ies" if name.endswith("y") else f"{name}s"
