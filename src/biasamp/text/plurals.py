"""English plurals by rule, with the exceptions that captions and answers are full of."""

from __future__ import annotations

_IRREGULAR = {
    "child": "children",
    "person": "people",
    "mouse": "mice",
    "goose": "geese",
    "foot": "feet",
    "tooth": "teeth",
    "ox": "oxen",
    "leaf": "leaves",
    "shelf": "shelves",
    "half": "halves",
    "wolf": "wolves",
    "calf": "calves",
    "loaf": "loaves",
    "thief": "thieves",
    "scarf": "scarves",
    "potato": "potatoes",
    "tomato": "tomatoes",
    "hero": "heroes",
    "german": "germans",
    "roman": "romans",
    "human": "humans",
}
_SINGULAR = {several: one for one, several in _IRREGULAR.items()}
# The same in both numbers, or of no other.
_UNCHANGED = ("skis", "sheep", "deer", "fish", "series", "species", "scissors", "pants", "jeans", "shorts", "clothes")
# Words that end as plurals do and are none.
_NO_PLURALS = frozenset(
    [
        "as",
        "has",
        "was",
        "is",
        "his",
        "hers",
        "this",
        "its",
        "us",
        "yes",
        "gas",
        "bus",
        "lens",
        "plus",
        "thus",
        "does",
        "goes",
        "always",
        "sometimes",
        "perhaps",
        "besides",
        "towards",
        "upwards",
        "afterwards",
        "canvas",
        "atlas",
        "christmas",
        "texas",
        "kansas",
        "news",
        "physics",
        "mathematics",
        "politics",
        "ours",
        "yours",
        "theirs",
    ]
)


def plural(word: str) -> str:
    """The plural of a word's last part.

    >>> plural("knife"), plural("bench"), plural("wine glass"), plural("skis"), plural("policewoman")
    ('knives', 'benches', 'wine glasses', 'skis', 'policewomen')
    """
    before, blank, last = word.rpartition(" ")
    return before + blank + _plural(last)


def _plural(word: str) -> str:
    if word in _UNCHANGED:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("man"):
        return word[:-2] + "en"
    if word.endswith("fe"):
        return word[:-2] + "ves"
    if word.endswith(("s", "ch", "sh", "x", "z")):
        return word + "es"
    return word[:-1] + "ies" if word.endswith("y") and word[-2:-1] not in "aeiou" else word + "s"


def singular(word: str) -> str:
    """The singular of a word that looks like an English plural, else the word.

    >>> [singular(word) for word in ("dogs", "women", "knives", "glasses", "bus", "tennis", "his", "ponies")]
    ['dog', 'woman', 'knife', 'glass', 'bus', 'tennis', 'his', 'pony']
    """
    if word in _UNCHANGED or word in _NO_PLURALS or len(word) < 4:
        return word
    if word in _SINGULAR:
        return _SINGULAR[word]
    if word.endswith("men") and word not in (
        "specimen",
        "abdomen",
        "regimen",
        "acumen",
        "omen",
        "amen",
        "semen",
        "women",
    ):
        return word[:-2] + "an"
    if word == "women":
        return "woman"
    if word in ("knives", "wives", "lives"):
        return word[:-3] + "fe"
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "ches", "shes", "xes", "zzes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is", "'s")):
        return word[:-1]
    return word
