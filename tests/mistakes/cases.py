"""Everyday mistakes with columns, each as a small table: what must be refused, and what must be measured rightly.

A case says which values it changes in a table that is right: 240 people, two groups, an outcome, and a model that errs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

N = 240
Column = Any


def _made() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(15)
    gender = np.where(rng.random(N) < 0.5, "woman", "man")
    hired = (rng.random(N) < np.where(gender == "woman", 0.35, 0.6)).astype(int)
    said = np.where(rng.random(N) < 0.85, hired, 1 - hired)
    place = rng.integers(0, 3, N)
    guess = np.where(rng.random(N) < 0.8, place, rng.integers(0, 3, N))
    gender_said = np.where(rng.random(N) < 0.9, gender, np.where(gender == "woman", "man", "woman"))
    return {"gender": gender, "hired": hired, "said": said, "place": place, "guess": guess, "gender_said": gender_said}


RIGHT = _made()
TWO = np.array(["rejected", "hired"])
THREE = np.array(["rejected", "hired", "waiting"])
PLACES = ("place", "guess")


@dataclass(frozen=True)
class Mistake:
    """One mistake.

    ``columns`` are the table's; ``roles`` the arguments of an audit; ``train`` another table. ``words`` must all stand in
    the message; without them the table is measured, and the value is that of ``like``, or of the right table.
    """

    name: str
    columns: Mapping[str, Column]
    words: tuple[str, ...] = ()
    roles: Mapping[str, Any] = field(default_factory=dict)
    train: Mapping[str, Column] | None = None
    like: Mapping[str, Column] | None = None
    only: frozenset[str] = frozenset()
    skip: frozenset[str] = frozenset()

    @property
    def refused(self) -> bool:
        return bool(self.words)

    def goes(self, way: str) -> bool:
        """Whether the mistake can be made in a way of calling."""
        return way not in self.skip and (not self.only or way in self.only)


ROLES = {"attributes": "gender", "tasks": "hired", "task_predictions": "said"}
CASES: list[Mistake] = []
# Where columns go by name: an argument of a function has none.
NAMED = frozenset(("audit", "streamed", "cli", "check"))
TABLES = frozenset(("cli", "check", "streamed"))


def case(name: str, *words: str, **more: Any) -> None:
    """Add a case that changes some of the right columns."""
    options = {key: more.pop(key) for key in ("roles", "train", "like", "only", "skip") if key in more}
    for key in ("only", "skip"):
        if key in options:
            options[key] = frozenset(options[key])
    columns = {key: RIGHT[key] for key in ("gender", "hired", "said")} | more
    CASES.append(Mistake(name, columns, words, **options))


def two(hired: Callable[[np.ndarray], Any], said: Callable[[np.ndarray], Any]) -> dict[str, Any]:
    return {"hired": hired(RIGHT["hired"]), "said": said(RIGHT["said"])}


def three(hired: Callable[[np.ndarray], Any], said: Callable[[np.ndarray], Any]) -> dict[str, Any]:
    return {"hired": hired(RIGHT["place"]), "said": said(RIGHT["guess"])}


def spelled(*values: Any) -> Callable[[np.ndarray], Any]:
    kind = object if any(isinstance(value, str) for value in values) else None
    return lambda codes: np.array(values, dtype=kind)[codes]


# Vocabulary: a truth of two values.
WORDS = spelled("rejected", "hired")
case("case", "Hired", "hired", **two(WORDS, spelled("rejected", "Hired")))
case("case of both", "Hired", "Rejected", **two(WORDS, spelled("Rejected", "Hired")))
case("capitals", "HIRED", **two(WORDS, spelled("REJECTED", "HIRED")))
case("trailing blank", "'hired '", **two(WORDS, spelled("rejected", "hired ")))
case("leading blank", "' hired'", **two(WORDS, spelled("rejected", " hired")))
case("trailing tab", "hired", **two(WORDS, spelled("rejected", "hired\t")))
case("no-break space", "not hired", **two(spelled("not hired", "hired"), spelled("not\u00a0hired", "hired")))
case(
    "underscore for a blank",
    "not_hired",
    "not hired",
    **two(spelled("not hired", "hired"), spelled("not_hired", "hired")),
)
case("hyphen for a blank", "not-hired", **two(spelled("not hired", "hired"), spelled("not-hired", "hired")))
case("accent", "employe", **two(spelled("refus", "employé"), spelled("refus", "employe")))
case("another form of an accent", "employé", **two(spelled("refus", "employe\u0301"), spelled("refus", "employ\u00e9")))
case("full-width letters", "hired", **two(WORDS, spelled("rejected", "\uff48\uff49\uff52\uff45\uff44")))
case("minus one", "'-1'", "'0'", **two(spelled(0, 1), spelled(-1, 1)))
case("minus one in truth", "'-1'", "'0'", **two(spelled(-1, 1), spelled(0, 1)))
case("one and two", "'2'", "'0'", **two(spelled(0, 1), spelled(1, 2)))
case("one and two in truth", "'2'", "'0'", **two(spelled(1, 2), spelled(0, 1)))
case("yes for 1", "yes", "'1'", **two(spelled(0, 1), spelled("no", "yes")))
case("1 for yes", "yes", "'1'", **two(spelled("no", "yes"), spelled(0, 1)))
case("true in text for 1", "True", **two(spelled(0, 1), spelled("False", "True")))
case("true in text for true", "True", **two(lambda c: c.astype(bool), spelled("False", "True")))
case("true in small letters", "true", "True", **two(spelled("False", "True"), spelled("false", "true")))
case("Y for yes", "'Y'", **two(spelled("no", "yes"), spelled("N", "Y")))
case("1.0 in text", "1.0", **two(spelled("0", "1"), spelled("0.0", "1.0")))
case("percent in whole numbers", "100", **two(spelled(0, 1), spelled(0, 100)))
case("codes for words", "'1'", "'hired'", **two(WORDS, spelled(0, 1)))
case("words for codes", "'1'", "'hired'", **two(spelled(0, 1), WORDS))
case("a third word", "maybe", "'hired'", **two(WORDS, lambda c: np.where(np.arange(N) < 3, "maybe", TWO[c])))
case("a third number", "'2'", **two(spelled(0, 1), lambda c: np.where(np.arange(N) < 3, 2, c)))
case("empty text", "''", **two(WORDS, lambda c: np.where(np.arange(N) < 3, "", TWO[c])), skip=TABLES)
case("text that says missing", "unknown", **two(WORDS, lambda c: np.where(np.arange(N) < 9, "unknown", TWO[c])))
case("another language", "eingestellt", **two(WORDS, spelled("abgelehnt", "eingestellt")))
case("abbreviated", "'h'", **two(WORDS, spelled("r", "h")))
case("shuffled categories of another column", "woman", **two(WORDS, lambda c: RIGHT["gender"]))

# Vocabulary: three values.
LONG = spelled(*THREE)
case("three: case", "Hired", "'hired'", **three(LONG, spelled("rejected", "Hired", "waiting")))
case("three: blank", "'hired '", **three(LONG, spelled("rejected", "hired ", "waiting")))
case("three: 1.0", "1.0", **three(spelled("0", "1", "2"), spelled("0.0", "1.0", "2.0")))
case("three: numbers from one", "'3'", "'0'", **three(spelled(0, 1, 2), spelled(3, 4, 5)))
case("three: numbered from 1", "numbered from 0", "'3'", **three(spelled(0, 1, 2), spelled(1, 2, 3)))
case("three: numbered from 0", "numbered from 0", "'0'", **three(spelled(1, 2, 3), spelled(0, 1, 2)))
case("three: numbers from 1 on both sides", **three(spelled(1, 2, 3), spelled(1, 2, 3)), skip={"torch"})
case(
    "three: a number that is never predicted",
    **three(spelled(0, 1, 2), lambda c: np.maximum(c, 1)),
    like=three(spelled(0, 1, 2), lambda c: np.maximum(c, 1)),
    skip={"torch"},
)
case("three: codes for words", "'rejected'", "'0'", **three(LONG, spelled(0, 1, 2)))
case("three: other words", "'no'", "'rejected'", **three(LONG, spelled("no", "aye", "later")))
case(
    "three: mostly another word",
    "nobody",
    **three(LONG, lambda c: np.where(RIGHT["gender"] == "woman", "nobody", np.where(c > 0, "nobody", THREE[c]))),
)
case(
    "three: few in another spelling",
    "WAITING",
    **three(LONG, lambda c: np.where(np.arange(N) == 7, "WAITING", THREE[c])),
)

# One value.
case("one word", "one value only", "'hired'", **two(lambda c: np.full(N, "hired"), WORDS))
case("one word on both sides", "one value only", **two(lambda c: np.full(N, "hired"), lambda c: np.full(N, "hired")))
case("one number that is not 0 or 1", "one value only", "'7'", **two(lambda c: np.full(N, 7), spelled(0, 7)))

# Types.
case(
    "probabilities in text", "probabilities", **two(spelled(0, 1), lambda c: np.where(c, "0.81", "0.13").astype(object))
)
case("probabilities of words", "fractions", **two(WORDS, lambda c: np.where(c, 0.81, 0.13)))
case("probabilities beyond 1", "holds", **two(spelled(0, 1), lambda c: np.where(c, 81.5, 13.5)))
case("probabilities as truth", "fractions", **two(lambda c: np.where(c, 0.81, 0.13), spelled(0, 1)))
case("scores below 0", "holds", **two(spelled(0, 1), lambda c: np.where(c, 1.7, -2.3)))
case("python lists in text", "list of labels", **two(WORDS, spelled("['a', 'b']", "['a']")))
case("json lists in text", "list of labels", **two(spelled('["a","b"]', '["a"]'), spelled('["a","b"]', '["a"]')))
case("bars between labels", "list of labels", "a|b", **three(spelled("a|b", "a", "b"), spelled("a|b", "a", "b")))
case("semicolons between labels", "list of labels", "a;b", **three(spelled("a;b", "a", "b"), spelled("a;b", "a", "b")))
case("sets in text", "list of labels", **two(spelled("{'a', 'b'}", "{'a'}"), spelled("{'a', 'b'}", "{'a'}")))
case(
    "lists for one value",
    "read as",
    **two(WORDS, lambda c: [["hired"] if x else ["rejected", "late"] for x in c]),
    skip={"sklearn"},
)
case(
    "ids rounded by floats",
    "does not tell it from its neighbours",
    gender=np.where(np.arange(N) % 2, 9007199254740993.0, 9007199254740995.0),
)
case(
    "missing truth",
    "missing",
    **two(lambda c: [None if i == 3 else TWO[x] for i, x in enumerate(c)], WORDS),
    skip={"sklearn"},
)
case(
    "missing group", "missing", gender=[None if i == 3 else x for i, x in enumerate(RIGHT["gender"])], skip={"sklearn"}
)

# Groups.
case("an id as attribute", "identifier", "gender", gender=np.array([f"person {i}" for i in range(N)]), only=NAMED)
case("an id as given", "identifier", gender=np.array([f"person {i}" for i in range(N)]), skip=NAMED)
case("whole numbers as ids", "identifier", gender=np.arange(1000, 1000 + N))
case("a measurement as attribute", "identifier", gender=(np.arange(N) * 7919) % 199 + 1000)
case("dates as attribute", "2024-", gender=np.datetime64("2024-01-01") + np.arange(N) % 90)
case("dates in text", "2024-", gender=[f"2024-03-{1 + i % 28:02d}" for i in range(N)])
case("times in text", "2024-", gender=[f"2024-03-{1 + i % 28:02d}T0{i % 9}:00:00" for i in range(N)])
case("dates as elsewhere", "03/2024", gender=[f"{1 + i % 28:02d}/03/2024" for i in range(N)])

# Roles.
case("the truth as prediction", "hired", "itself", roles={"task_predictions": "hired"}, only=NAMED)
case("the attribute as prediction", "gender", roles={"task_predictions": "gender"}, only=NAMED)
case("the attribute as task", "gender", roles={"tasks": "gender"}, only=NAMED)
case("the attribute as its prediction", "gender", roles={"attribute_predictions": "gender"}, only=NAMED)
case("the task as prediction of the attribute", "hired", roles={"attribute_predictions": "hired"}, only=NAMED)
case("one prediction of both", "said", roles={"attribute_predictions": "said"}, only=NAMED)
case("the prediction as record id", "said", roles={"record": "said"}, only=NAMED)
case("the truth as weights", "hired", roles={"weights": "hired"}, only=NAMED)
case("an unknown column", "hried", "hired", roles={"tasks": "hried"}, only=NAMED)
case("no predictions", "predictions", roles={"task_predictions": None}, only=NAMED)
case("groups for predictions", "woman", **two(spelled(0, 1), lambda c: RIGHT["gender"]))
case("group and truth swapped", "woman", gender=RIGHT["hired"], hired=RIGHT["gender"])
case("predicted groups in another spelling", "Woman", gender_said=np.char.capitalize(RIGHT["gender_said"]),
     roles={"attribute_predictions": "gender_said"}, only=NAMED)  # fmt: skip
case("predicted groups in codes", "'0'", "woman", gender_said=(RIGHT["gender_said"] == "man").astype(int),
     roles={"attribute_predictions": "gender_said"}, only=NAMED)  # fmt: skip
case("a third predicted group", "nobody", gender_said=np.where(np.arange(N) < 5, "nobody", RIGHT["gender_said"]),
     roles={"attribute_predictions": "gender_said"}, only=NAMED)  # fmt: skip

# Train labels.
KNOWN = {"gender": RIGHT["gender"], "hired": RIGHT["hired"]}
case(
    "train: other words",
    "'Hired'",
    **two(WORDS, WORDS),
    train=KNOWN | {"hired": np.array(["Rejected", "Hired"])[RIGHT["hired"]]},
)
case("train: codes", "'1'", "'hired'", **two(WORDS, WORDS), train=KNOWN)
case("train: minus one", "'-1'", train=KNOWN | {"hired": np.array([-1, 1])[RIGHT["hired"]]})
case("train: one and two", "'2'", train=KNOWN | {"hired": np.array([1, 2])[RIGHT["hired"]]})
case("train: groups in another spelling", "Woman", train=KNOWN | {"gender": np.char.capitalize(RIGHT["gender"])})
case("train: groups in codes", "'0'", "woman", train=KNOWN | {"gender": (RIGHT["gender"] == "man").astype(int)})
case("train: groups in letters", "'w'", "woman", train=KNOWN | {"gender": np.where(RIGHT["gender"] == "man", "m", "w")})
case(
    "train: blank",
    "'hired '",
    **two(WORDS, WORDS),
    train=KNOWN | {"hired": np.array(["rejected", "hired "])[RIGHT["hired"]]},
)

TRAIN3 = {"gender": RIGHT["gender"], "hired": RIGHT["place"] + 1}
case("train: numbered from 1", "numbered from 0", **three(spelled(0, 1, 2), spelled(0, 1, 2)), train=TRAIN3)

# What is no mistake is measured, and rightly.
case("true and false against 0 and 1", **two(lambda c: c.astype(bool), spelled(0, 1)))
case("0 and 1 against true and false", **two(spelled(0, 1), lambda c: c.astype(bool)))
case("whole floats against 0 and 1", **two(spelled(0, 1), lambda c: c.astype(float)))
case("text of 0 and 1 against numbers", **two(spelled(0, 1), spelled("0", "1")))
case("small integers", **two(lambda c: c.astype(np.uint8), lambda c: c.astype(np.int16)))
case("groups in numbers", gender=(RIGHT["gender"] == "woman").astype(int))
case("commas in words", **two(spelled("no, thanks", "yes, please"), spelled("no, thanks", "yes, please")))
case("brackets in words", **two(spelled("[none]", "[offer]"), spelled("[none]", "[offer]")))
case("bars in words", **two(spelled("out|no", "in|yes"), spelled("out|no", "in|yes")))
case("text with blanks on both sides", **two(spelled(" no", " yes"), spelled(" no", " yes")))
case(
    "an invented third answer",
    **three(LONG, lambda c: np.where((RIGHT["gender"] == "woman") & (np.arange(N) % 4 == 0), "refused", THREE[c])),
    like=three(LONG, lambda c: np.where((RIGHT["gender"] == "woman") & (np.arange(N) % 4 == 0), "refused", THREE[c])),
)

# One column by itself: two spellings of one value, text of missing values, ids that are to be predicted.
HAND = np.array(["yes", "Yes", "YES", "yes "], dtype=object)
SLOPPY = np.arange(N) % 4


def by_hand(codes: np.ndarray) -> np.ndarray:
    """Yes in four spellings, on both sides alike."""
    return np.where(codes == 1, HAND[SLOPPY], "no")


case("spellings alike on both sides", "'yes'", "'Yes'", "two spellings", **two(by_hand, by_hand))
case("spelled groups", "'man'", "'Man'", gender=np.where((RIGHT["gender"] == "man") & (SLOPPY > 1), "Man", RIGHT["gender"]))  # fmt: skip
case("groups with a blank", "'man '", gender=np.where((RIGHT["gender"] == "man") & (SLOPPY > 1), "man ", RIGHT["gender"]))  # fmt: skip
case("groups with a double blank", "two spellings", gender=np.where(SLOPPY > 1, "a b", np.where(SLOPPY > 0, "a  b", "c")))  # fmt: skip
case("groups in two forms of an accent", "U+0301", "U+00E9", gender=np.where(SLOPPY > 1, "caf\u00e9", "cafe\u0301"))
case("groups with a zero-width space", "\\u200b", gender=np.where(SLOPPY > 1, "man", np.where(SLOPPY > 0, "ma\u200bn", "woman")))  # fmt: skip
case("a Cyrillic letter among the groups", "U+0430", gender=np.where(SLOPPY > 1, "man", np.where(SLOPPY > 0, "m\u0430n", "woman")))  # fmt: skip
case("1 and 1.0 in text", "'1.0'", **two(*[lambda c: np.where(SLOPPY > 1, np.array(["0", "1"])[c], np.array(["0", "1.0"])[c])] * 2))  # fmt: skip
case("yes and 1", "two spellings", **two(*[lambda c: np.where(SLOPPY > 1, np.array(["0", "1"])[c], np.array(["no", "yes"])[c])] * 2))  # fmt: skip
case("train: spelled twice", "'Man'", train=KNOWN | {"gender": np.where((RIGHT["gender"] == "man") & (SLOPPY > 1), "Man", RIGHT["gender"])})  # fmt: skip
for word in ("nan", "None", "N/A", "", "NaT", "<NA>", "  ", "null", "?", "--", "NAN", "Null", "n/a", "...", "#VALUE!"):
    case(
        f"the text {word!r} as group",
        "missing value",
        gender=np.where(SLOPPY == 0, word, RIGHT["gender"]).astype(object),
    )
    case(
        f"the text {word!r} as truth and prediction",
        "missing value",
        **two(*[lambda c, word=word: np.where(SLOPPY == 0, word, TWO[c]).astype(object)] * 2),
    )
    case(
        f"the text {word!r} as one of many predictions",
        "missing value",
        **three(LONG, lambda c, word=word: np.where(np.arange(N) < 3, word, THREE[c]).astype(object)),
    )
case("an id as task", "identifier", **two(*[lambda c: np.array([f"case {i}" for i in range(N)])] * 2))
case("whole numbers as task", "identifier", **two(*[lambda c: np.arange(N) + 5000] * 2))
WAITING = {
    "zero-width space": "wai\u200bting",
    "byte order mark": "\ufeffwaiting",
    "soft hyphen": "wai\u00adting",
    "Cyrillic letters": "w\u0430iting",
    "Greek letters": "waiting".replace("i", "\u03b9"),
    "no-break space in HTML": "waiting&nbsp;",
    "stars": "*waiting*",
    "double stars": "**waiting**",
    "brackets": "[waiting]",
    "quotes": '"waiting"',
    "a full stop": "waiting.",
}
for name, text in WAITING.items():
    case(
        f"three: {name}",
        "another spelling of 'waiting'",
        **three(LONG, lambda c, text=text: np.where(np.arange(N) == 7, text, THREE[c])),
    )
case(
    "three: en dash",
    "another spelling of 'on-hold'",
    **three(spelled("no", "yes", "on-hold"), spelled("no", "yes", "on\u2013hold")),
)

# Values that look alike and are none.
case("grades", **three(spelled("A", "A-", "A+"), spelled("A", "A-", "A+")))
case("codes with leading zeros", **three(spelled("01", "02", "10"), spelled("01", "02", "10")), skip=TABLES - {"streamed"})  # fmt: skip
case("codes with some leading zeros", "'001'", "two spellings", **three(spelled("01", "1", "001"), spelled("01", "1", "001")), skip=TABLES - {"streamed"})  # fmt: skip
case("accents in some records", "'ano' and 'año'", **three(spelled("ano", "año", "hano"), spelled("ano", "año", "hano")))  # fmt: skip
case("none as a word", **three(spelled("none", "some", "all"), spelled("none", "some", "all")))
case("words of another alphabet", **three(spelled("да", "нет", "Дата"), spelled("да", "нет", "Дата")))
case("yes in two words", "'1' and 'yes'", **three(spelled("yes", "1", "maybe"), spelled("yes", "1", "maybe")))
case("yes and maybe", **three(spelled("yes", "2", "maybe"), spelled("yes", "2", "maybe")))

# Lists with commas; places and names with commas are none.
FORKS = spelled("fork,knife", "fork", "knife")
case("commas between labels", "list of labels", "fork,knife", **three(FORKS, FORKS))
SPACED = spelled("fork, knife", "fork", "knife")
case("commas and blanks between labels", "list of labels", "fork, knife", **three(SPACED, SPACED))
TOWNS = spelled("Washington, DC", "Washington, WA", "Seattle, WA")
case("places with commas", **three(TOWNS, TOWNS))
NAMES = spelled("Smith, John", "Smith, Mary", "Jones, John")
case("names with commas", **three(NAMES, NAMES))

# Codes and words for what is not known.
MANY = np.arange(N) < 60
case("99 among 0 and 1 as group", "'99'", "missing value", gender=np.where(MANY, 99, (RIGHT["gender"] == "man").astype(int)))  # fmt: skip
for code in (99, -9, -999):
    case(f"{code} as truth and prediction", f"'{code}'", "missing value", **two(*[lambda c, code=code: np.where(MANY, code, c)] * 2))  # fmt: skip
for word in ("unknown", "missing", "Not available", "unlabeled"):
    case(f"{word!r} in the truth alone", word, "not known", **two(lambda c, word=word: np.where(MANY, word, TWO[c]), WORDS))  # fmt: skip
case("three: codes in some records", "'0'", "numbers where the truth has words", **three(LONG, lambda c: np.where(np.arange(N) < 20, c.astype(str), THREE[c])))  # fmt: skip

# Lists in text with other marks, and rows of numbers.
for mark in ("/", "+", "&", "\n", "\t", "||", " / ", " & "):
    FORKED = spelled(f"fork{mark}knife", "fork", "knife")
    case(f"{mark!r} between labels", "list of labels", **three(FORKED, FORKED))
ENDED = spelled("fork;knife;", "fork;", "knife;")
case("a semicolon after every label", "list of labels", "fork;knife;", **three(ENDED, ENDED))
ROWS = spelled("[0 1]", "[1 0]", "[1 1]")
case("rows of an array in text", "list of labels", "[0 1]", **three(ROWS, ROWS))
GRIDS = {
    "one-hot rows": lambda c: [[int(x == k) for k in range(3)] for x in c.tolist()],
    "probabilities of classes": lambda c: [[0.8 if x == k else 0.1 for k in range(3)] for x in c.tolist()],
}
for name, rows in GRIDS.items():
    case(f"{name} in a mapping", "table, not one column", **three(rows, rows), only=("audit", "streamed"))

# Dates, times and ids that repeat.
DAYS = np.arange(N) % 28 + 1
DATES = {
    "slashes": [f"2024/03/{day:02d}" for day in DAYS],
    "digits alone": 20240300 + DAYS,
    "month names": [f"{day} Mar 2024" for day in DAYS],
    "two digits of a year": [f"03/{day:02d}/24" for day in DAYS],
    "times of day": [f"{day % 24:02d}:15" for day in DAYS],
}
for name, dates in DATES.items():
    case(f"dates: {name}", "dates", gender=dates)
case("seconds since 1970", "identifier", gender=1_700_000_000 + DAYS * 86_400)
case("mail addresses", "identifier", gender=[f"person{i % 60}@example.org" for i in range(N)])

# A word and its first letter in one column.
FORMS = np.where(SLOPPY > 1, RIGHT["gender"], np.where(RIGHT["gender"] == "man", "M", "W"))
case("letters and words", "'M'", "'man'", gender=FORMS)

# What looks like these and is none.
case("plus and minus", **two(spelled("-", "+"), spelled("-", "+")))
case("minus one, zero and one", **three(spelled(-1, 0, 1), spelled(-1, 0, 1)), skip={"torch"})
case("numbers that end at 99", **three(spelled(97, 98, 99), spelled(97, 98, 99)), skip={"torch"})
VERY = spelled("high", "very high", "very low")
case("blanks in words", **three(VERY, VERY))
BLOOD = spelled("A", "B", "AB")
case("letters", **three(BLOOD, BLOOD))
case("a letter and a word", gender=np.where(SLOPPY > 1, RIGHT["gender"], np.where(RIGHT["gender"] == "man", "X", "woman")), skip={"torch"})  # fmt: skip
case("unknown as a group", gender=np.where(MANY, "Unknown", RIGHT["gender"]), skip={"torch"})
case("unknown that is predicted too", **two(*[lambda c: np.where(MANY, "unknown", TWO[c])] * 2))
case("years as groups", gender=2019 + np.arange(N) % 6, skip={"torch"})
case("months as groups", gender=[f"2024-{1 + i % 6:02d}" for i in range(N)], skip={"torch"})
case("numbers of versions", gender=np.array(["3.9.1", "3.10.12", "3.11.7"])[np.arange(N) % 3], skip={"torch"})
case(
    "race with a slash", gender=np.array(["Black/African American", "White", "Asian"])[np.arange(N) % 3], skip={"torch"}
)

# What tools and files leave behind in the predictions, or in both columns.
LEFTOVERS: dict[str, tuple[tuple[str, str], tuple[Any, Any]]] = {
    "decimal commas": (("0,13", "0,81"), (0, 1)),
    "percent signs": (("13%", "81%"), (0, 1)),
    "the text of bytes": (("b'rejected'", "b'hired'"), ("rejected", "hired")),
    "the text of numpy numbers": (("np.int64(0)", "np.int64(1)"), (0, 1)),
    "the text of tensors": (("tensor(0)", "tensor(1)"), (0, 1)),
    "on and off": (("off", "on"), (0, 1)),
    "positive and negative": (("negative", "positive"), (0, 1)),
    "names of a pipeline": (("LABEL_0", "LABEL_1"), (0, 1)),
    "line breaks": (("rejected\n", "hired\n"), ("rejected", "hired")),
    "carriage returns": (("rejected\r", "hired\r"), ("rejected", "hired")),
    "quoted digits": (("'0'", "'1'"), (0, 1)),
    "whole sentences": (("The answer is rejected.", "The answer is hired."), ("rejected", "hired")),
    "objects of JSON": (('{"label": "rejected"}', '{"label": "hired"}'), ("rejected", "hired")),
    "signs of a comparison": (("<0.5", ">=0.5"), (0, 1)),
    "two decimals": (("0.00", "1.00"), ("0", "1")),
    "powers of ten": (("0e0", "1e0"), ("0", "1")),
    "Arabic digits": (("\u0660", "\u0661"), ("0", "1")),
    "capitals of a spreadsheet": (("FALSE", "TRUE"), (0, 1)),
    "letters of a database": (("N", "Y"), (0, 1)),
}
for name, (values, true) in LEFTOVERS.items():
    case(f"left over: {name}", repr(values[1])[1:-1].replace("\\n", "").replace("\\r", ""), **two(spelled(*true), spelled(*values)))  # fmt: skip
case("left over: percentages", "13", **two(spelled(0, 1), spelled(13, 81)))
case("left over: a byte below 0", "'255'", **two(spelled(0, 1), lambda c: (c - 1).astype(np.uint8)))
case("left over: ranks", "'2'", **two(spelled(0, 1), lambda c: np.random.default_rng(0).permutation(N)), skip={"torch"})
case("left over: names of a pipeline, three", "LABEL_0", **three(spelled(0, 1, 2), spelled("LABEL_0", "LABEL_1", "LABEL_2")))  # fmt: skip
case("left over: sentences, three", "Answer: no", **three(spelled("no", "hired", "wait"), spelled("Answer: no", "Answer: hired", "wait")))  # fmt: skip
case("left over: carriage returns in some records", "another spelling", **three(LONG, lambda c: np.where(SLOPPY == 0, np.char.add(THREE[c], "\r"), THREE[c])))  # fmt: skip
case("left over: numbers of postal areas", "identifier", gender=np.random.default_rng(0).integers(10000, 10200, N))
case("left over: names of people", "identifier", gender=np.array([f"Name {i % 200}" for i in range(N)]))
case("left over: spans of time", "identifier", gender=np.arange(N).astype("timedelta64[D]"), skip=TABLES)

# Lines of names among the records, and what is filled in for what is missing.
CUT = np.arange(N) == 120
NAMED_ROW = {
    name: pd.Series(np.where(CUT, name, RIGHT[name].astype(str)), name=name) for name in ("gender", "hired", "said")
}
case("a line of names: numbers", "its own name", **NAMED_ROW, skip={"torch"})
case("a line of names: words", "its own name", **three(LONG, lambda c: pd.Series(np.where(CUT, "said", THREE[c]), name="said")), skip={"torch"})  # fmt: skip
for code in (-100, 255):
    case(f"{code} for what is not labelled", f"'{code}'", "missing value", **two(lambda c, code=code: np.where(MANY, code, c), spelled(0, 1)))  # fmt: skip
for code in ("0", "-1", "999"):
    case(f"{code} among words as group", f"'{code}'", "missing value", gender=np.where(MANY, code, RIGHT["gender"]))

# What looks like these and is right.
case("right: a column that has a value of its name", **two(*[spelled("not hired", "hired")] * 2) | {"hired": pd.Series(spelled("not hired", "hired")(RIGHT["hired"]), name="hired")}, skip={"torch"})  # fmt: skip
case("right: a mask", **two(*[spelled(0, 255)] * 2), skip={"torch"})
case("right: groups of blood", gender=np.array(["0", "A", "AB"])[np.arange(N) % 3], skip={"torch"})
case("right: bytes against text", **two(lambda c: np.array([b"rejected", b"hired"])[c], WORDS), skip=TABLES)
case("right: a zero with a sign", **two(spelled(0, 1), lambda c: np.where(c == 1, 1.0, -0.0)))
case("right: sentences on both sides", **two(*[spelled("It is no.", "It is yes.")] * 2))
case("right: names of a pipeline on both sides", **two(*[spelled("LABEL_0", "LABEL_1")] * 2))
case("right: plural and singular", **three(*[spelled("nurse", "nurses", "doctor")] * 2))
case("right: signs of a comparison", **two(*[spelled("<=50K", ">50K")] * 2))
case("right: ranges of age", gender=np.array(["18-24", "25-34", "35+"])[np.arange(N) % 3], skip={"torch"})
case("right: amounts with units", gender=np.array(["0-10 km", "10-20 km", "20 km+"])[np.arange(N) % 3], skip={"torch"})
case("right: codes of countries", gender=np.array(["US", "GB", "NO"])[np.arange(N) % 3], skip={"torch"})
case("right: letters that are no words", gender=np.array(["T", "F", "X"])[np.arange(N) % 3], skip={"torch"})
case("right: emoji", **two(*[spelled("\U0001f44e", "\U0001f44d")] * 2))
case("right: Chinese", **two(*[spelled("\u5426", "\u662f")] * 2))
case("right: negation", **two(*[spelled("hired", "not hired")] * 2))
case("right: plus and words", **three(*[spelled("HIV+", "HIV-", "unknown status")] * 2))
case("right: C and its kin", **three(*[spelled("C", "C++", "C#")] * 2))
