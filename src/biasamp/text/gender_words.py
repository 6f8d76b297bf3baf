"""Lists of gendered words that papers and benchmarks use, by name.

They are data, not truth: each says whom its authors took to be named by a word. ``pregnant`` is a word of women in one of
them, ``actor`` one of men; none has words for people who are neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from biasamp.data.plain_arguments import shown


class WordList(NamedTuple):
    """Words of each identity, and whose list it is."""

    words: Mapping[str, tuple[str, ...]]
    source: str


def _two(woman: str, man: str, source: str) -> WordList:
    return WordList({"woman": tuple(woman.split()), "man": tuple(man.split())}, source)


GENDER_WORDS: dict[str, WordList] = {
    "captions": _two(
        "woman women girl girls lady ladies female females mother mom she her hers",
        "man men boy boys guy guys gentleman gentlemen male males father dad he his him",
        "words of one gender in captions of COCO, as the reproductions of this project read them",
    ),
    "lic": _two(
        "woman women female lady ladies mother girl girls aunt wife actress princess waitress daughter she her hers herself "
        "sister sisters queen queens pregnant",
        "man men male father gentleman gentlemen boy boys uncle husband actor prince waiter son he his him himself brother "
        "brothers guy guys emperor emperors dude dudes cowboy",
        "Y. Hirota, Y. Nakashima, N. Garcia, 'Quantifying Societal Bias Amplification in Image Captioning', CVPR 2022: the "
        "words that its released code masks",
    ),
    "helm": _two(
        "she daughter hers her mother woman girl herself female sister daughters mothers women girls femen sisters aunt aunts "
        "niece nieces",
        "he son his him father man boy himself male brother sons fathers men boys males brothers uncle uncles nephew nephews",
        "P. Liang et al., 'Holistic Evaluation of Language Models', TMLR 2023, after Bolukbasi et al. 2016; 'femen' as there",
    ),
    "weat": _two(
        "female woman girl sister she her hers daughter",
        "male man boy brother he him his son",
        "A. Caliskan, J. J. Bryson, A. Narayanan, 'Semantics derived automatically from language corpora contain human-like "
        "biases', Science 2017: the attribute words of its gender tests",
    ),
}


def gender_words(name: Any) -> WordList:
    """A list by its name.

    >>> sorted(gender_words("weat").words["man"])
    ['boy', 'brother', 'he', 'him', 'his', 'male', 'man', 'son']
    """
    if name not in GENDER_WORDS:
        known = ", ".join(map(repr, GENDER_WORDS))
        raise ValueError(
            f"there is no list of words called {shown(name)}; {known} are known, or give lists of your own"
        )
    return GENDER_WORDS[name]
