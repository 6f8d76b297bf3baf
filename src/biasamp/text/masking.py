"""Words that name an attribute, taken out of texts before an attacker sees them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from biasamp.data.plain_arguments import listed, shown

from .gender_words import GENDER_WORDS, gender_words
from .lexicon import entry_words
from .plurals import plural
from .words import token_words

# One word each, which no text has: words are letters and digits, in lower case.
MASKED, UNKNOWN = "<mask>", "<unknown>"
# Values that an attribute called gender has, by which its words are known.
_GENDERS = ({"woman", "man"}, {"female", "male"}, {"f", "m"}, {"women", "men"}, {"girl", "boy"})


class Mask(NamedTuple):
    """The words that are masked, as they were listed, and whose list it is."""

    words: tuple[str, ...]
    source: str


def read_mask(mask: Any, values: Collection[str]) -> Mask:
    """The argument ``mask``; ``values`` are those of the attribute."""
    if isinstance(mask, str) and mask == "auto":
        if {value.lower() for value in values} not in _GENDERS:
            raise ValueError(
                f"mask is needed: list the words that name the attribute ({', '.join(sorted(values)[:4])}), or None to mask none. "
                "Only words of women and men are known"
            )
        mask = "lic"
    if mask is None:
        return Mask((), "nothing is masked")
    if isinstance(mask, str):
        found = gender_words(mask)
        return Mask(tuple(word for words in found.words.values() for word in words), f"{mask}: {found.source}")
    if isinstance(mask, Mapping):
        held = [
            word
            for words in mask.values()
            for word in ([words] if isinstance(words, str) else listed(words, "mask", "words"))
        ]
    else:
        held = listed(mask, "mask", "words")
    for word in held:
        if not isinstance(word, str) or not entry_words(word):
            raise ValueError(f"mask holds {shown(word)}; words are text with a letter or a digit")
    return Mask(tuple(dict.fromkeys(held)), "given")


def spelled_out(mask: Mask, plurals: bool = True) -> set[tuple[str, ...]]:
    """All forms of the words of a mask, plurals too."""
    out = set()
    for word in mask.words:
        parts = entry_words(word)
        out.add(parts)
        if plurals and parts[-1].isascii() and parts[-1].isalpha():
            out.add((*parts[:-1], plural(parts[-1])))
    return out


def masked_texts(texts: Sequence[str | None], mask: Mask) -> list[list[str]]:
    """The words of texts, with a sign for every masked word or phrase.

    >>> masked_texts(["A woman's hat", "two policemen"], Mask(("woman", "policeman"), "given"))
    [['a', '<mask>', 'hat'], ['two', '<mask>']]
    """
    forms = spelled_out(mask)
    single = {parts[0] for parts in forms if len(parts) == 1} | {"-".join(parts) for parts in forms}
    phrases = sorted((parts for parts in forms if len(parts) > 1), key=len, reverse=True)
    out = []
    for words in token_words(pa.array(list(texts), pa.large_string())):
        held = list(words)
        for phrase in phrases:
            place = 0
            while place + len(phrase) <= len(held):
                if tuple(held[place : place + len(phrase)]) == phrase:
                    held[place : place + len(phrase)] = [MASKED]
                place += 1
        out.append([MASKED if word in single else word for word in held])
    return out


def within_vocabulary(texts: Sequence[list[str]], vocabulary: Collection[str]) -> list[list[str]]:
    """Texts with a sign for every word that is not in a vocabulary."""
    return [[word if word in vocabulary or word == MASKED else UNKNOWN for word in words] for words in texts]


def known_gender_words() -> set[str]:
    """The words of all lists of the field."""
    return {word for held in GENDER_WORDS.values() for words in held.words.values() for word in words}
