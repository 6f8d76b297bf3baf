"""Gender and objects named in a caption: whole words, plurals and synonyms."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .plurals import plural

# Words of one gender. 'people', 'person' and 'child' are of none.
_WOMAN = re.compile(r"\b(?:woman|women|girls?|lady|ladies|females?|mother|mom|she|hers?)\b")
_MAN = re.compile(r"\b(?:man|men|boys?|guys?|gentleman|gentlemen|males?|father|dad|he|his|him)\b")
_GENDERED = re.compile(f"{_WOMAN.pattern}|{_MAN.pattern}")
# Other words for an object's name; plurals are made by rule.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "teddy_bear": ("stuffed animal", "stuffed bear"),
    "handbag": ("purse", "bag"),
    "couch": ("sofa",),
    "refrigerator": ("fridge",),
    "dining_table": ("table",),
    "potted_plant": ("plant",),
    "cell_phone": ("phone", "cellphone", "smartphone"),
    "donut": ("doughnut",),
    "tv": ("television",),
    "laptop": ("laptop computer",),
    "hot_dog": ("hotdog",),
    "remote": ("wii remote", "remote control", "controller"),
    "bicycle": ("bike",),
    "motorcycle": ("motorbike",),
    "airplane": ("plane", "jet"),
    "sports_ball": ("ball", "soccer ball", "tennis ball"),
    "tennis_racket": ("racket", "racquet", "tennis racquet"),
    "baseball_bat": ("bat",),
    "baseball_glove": ("glove", "mitt"),
    "surfboard": ("surf board",),
    "skateboard": ("skate board",),
    "wine_glass": ("glass of wine",),
    "oven": ("stove",),
    "tie": ("necktie",),
}


def gender(caption: str) -> str | None:
    """``"woman"`` or ``"man"`` where the caption names one of them alone.

    >>> gender("a man and his dog"), gender("a man and a woman"), gender("people with an umbrella")
    ('man', None, None)
    """
    text = caption.lower()
    named = [word for word, pattern in (("woman", _WOMAN), ("man", _MAN)) if pattern.search(text)]
    return named[0] if len(named) == 1 else None


def neutral(caption: str) -> str:
    """The caption with every gendered word replaced by 'person'.

    >>> neutral("A woman holding her umbrella")
    'a person holding person umbrella'
    """
    return _GENDERED.sub("person", caption.lower())


class Objects:
    """Finds the objects that captions name.

    >>> Objects(["cat", "dog", "hot_dog", "knife"]).named("to catch two knives near a hot dog")
    ['hot_dog', 'knife']
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._owner: dict[str, str] = {}
        for name in names:
            for word in (name.replace("_", " "), *SYNONYMS.get(name, ())):
                self._owner[word] = self._owner[plural(word)] = name
        # The longest first, so that 'hot dog' is not read as a dog.
        words = sorted(self._owner, key=len, reverse=True)
        self._words = re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b")

    def named(self, caption: str) -> list[str]:
        """The objects of one caption, sorted."""
        return sorted({self._owner[word] for word in self._words.findall(caption.lower())})
