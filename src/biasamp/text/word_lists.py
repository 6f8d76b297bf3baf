"""Gender and objects named in a caption: whole words, plurals and synonyms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# Words of one gender. 'people', 'person' and 'child' are of none.
WOMAN = (
    "woman",
    "women",
    "girl",
    "girls",
    "lady",
    "ladies",
    "female",
    "females",
    "mother",
    "mom",
    "she",
    "her",
    "hers",
)
MAN = (
    "man",
    "men",
    "boy",
    "boys",
    "guy",
    "guys",
    "gentleman",
    "gentlemen",
    "male",
    "males",
    "father",
    "dad",
    "he",
    "his",
    "him",
)
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
PERSON = {**dict.fromkeys(WOMAN, "person"), **dict.fromkeys(MAN, "person")}


def plural(word: str) -> str:
    """The plural of a word's last part.

    >>> plural("knife"), plural("bench"), plural("wine glass"), plural("skis")
    ('knives', 'benches', 'wine glasses', 'skis')
    """
    if word in ("skis", "sheep"):
        return word
    if word.endswith("fe"):
        return word[:-2] + "ves"
    if word == "mouse":
        return "mice"
    if word.endswith(("s", "ch", "sh", "x")):
        return word + "es"
    return word[:-1] + "ies" if word.endswith("y") and word[-2] not in "aeiou" else word + "s"


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    # The longest first, so that 'hot dog' is not read as a dog.
    ordered = sorted(set(words), key=len, reverse=True)
    return re.compile(r"\b(?:" + "|".join(map(re.escape, ordered)) + r")\b")


_WOMAN, _MAN, _GENDERED = _pattern(WOMAN), _pattern(MAN), _pattern(PERSON)


def gender(caption: str) -> str | None:
    """``"woman"`` or ``"man"`` where the caption names one of them alone.

    >>> gender("a man and his dog"), gender("a man and a woman"), gender("people with an umbrella")
    ('man', None, None)
    """
    text = caption.lower()
    woman, man = _WOMAN.search(text), _MAN.search(text)
    if (woman is None) == (man is None):
        return None
    return "woman" if woman else "man"


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
            own = name.replace("_", " ")
            for word in (own, *SYNONYMS.get(name, ())):
                self._owner[word] = self._owner[plural(word)] = name
        self._words = _pattern(self._owner)

    def named(self, caption: str) -> list[str]:
        """The objects of one caption, sorted."""
        return sorted({self._owner[word] for word in self._words.findall(caption.lower())})
