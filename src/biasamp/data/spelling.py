"""Spellings: when two texts are one value written in two ways, and how such texts are shown in messages."""

from __future__ import annotations

import difflib
import html
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from functools import wraps
from typing import ParamSpec, TypeVar

from .label import canonical, category_order, printable

# Words by which tools write true and false.
_WORDS = {**dict.fromkeys(("true", "yes", "y", "t"), "1"), **dict.fromkeys(("false", "no", "n", "f"), "0")}
# An empty field of a text file is missing, and so are the spellings that other tools write for it.
NULLS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "#N/A", "<NA>")
# True and false as text files have them.
_TRUE_OR_FALSE = frozenset({"true", "false", "True", "False", "TRUE", "FALSE"})
# Missing values of Python and pandas that were made text.
_TEXT_OF_NONE = ("None", "NaT")
# What people and tools write for nothing, in any case.
_NOTHING = frozenset(
    {
        *("nan", "null", "na", "n/a", "n.a.", "#n/a", "<na>", "<nan>", "<null>", "<none>", "<missing>"),
        *("(null)", "(missing)", "#value!", "#ref!", "#div/0!", "#name?"),
        *("?", "??", "???", "-", "--", "---", ".", "..", "..."),
    }
)
# Words for what is not known: a value like others, unless only the truth has it.
_NOT_KNOWN = frozenset(
    {
        *("unknown", "missing", "undefined", "unlabeled", "unlabelled", "unspecified", "unavailable"),
        *("notavailable", "notknown", "notrecorded", "notlabeled", "notlabelled", "notapplicable"),
    }
)
# Numbers that surveys write for a missing answer, where all others are of one digit.
_CODES = frozenset({"-9", "-99", "-100", "-999", "-9999", "99", "255", "999", "9999"})
# A mask of 0 and 255 has no third value; where 255 is that, it marks what is not labelled.
_MASK = "255"
# Numbers that are filled in where several words are missing.
_FILLED_IN = _CODES | {"0", "-1", "9"}
_BLANKS = re.compile(r"[\s_.'\"`’]+|-(?=\w)")
_WRAPPED = re.compile(r"[*\[({<\"'`~#]+(.*?)[*\])}>\"'`~#]+")
_WHOLE = re.compile(r"([+-]?\d+)\.0+")
_VARIATION_SELECTORS = range(0xFE00, 0xFE10)
# Letters of Cyrillic and Greek that look like Latin ones.
_LOOK_ALIKES = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухԁһΑΒΕΖΗΙΚΜΝΟΡΤΥΧονυιαρ",
    "ABESIJKMHOPCTYXaesijopcyxdhABEZHIKMNOPTYXovuiap",
)
_SHOWN = 5
# How alike two words are, of 1, where one is likely the other mistyped: Othr and Other are .89, man and woman .75.
_MISTYPED = 0.8
_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")


def in_utf8(function: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
    """A function that names text that no file can hold, where something is made of it that only takes UTF-8."""

    @wraps(function)
    def named(*given: _Given.args, **options: _Given.kwargs) -> _Made:
        try:
            return function(*given, **options)
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{printable(error.object, 60)!r} in the data, or in a name, has half of a surrogate pair, which UTF-8 and so no "
                "file can hold: mend the text where it comes from"
            ) from None

    return named


def folded(category: str) -> str:
    """A spelling that different ways to write one value share.

    These are case, accents, blanks, hyphens, invisible and look-alike characters, brackets and markup around it,
    ``1.0``, ``yes`` and ``true``.

    >>> [folded(text) for text in ("Hired ", "hired", "Café", "cafe", "1.0", "True", "not_hired", "not hired")]
    ['hired', 'hired', 'cafe', 'cafe', '1', '1', 'nothired', 'nothired']
    >>> [folded(text) for text in ("[hired]", "hired&nbsp;", "hi\\u200bred", "A-", "A")]
    ['hired', 'hired', 'hired', 'a-', 'a']
    """
    if category.isdecimal() and category.isascii():
        return category.lstrip("0") or "0"  # of any length: a float would not tell long numbers apart
    plain = unicodedata.normalize("NFKD", _visible(html.unescape(category))).casefold()
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    try:
        number = float(plain)
        return str(int(number)) if number.is_integer() else repr(number)
    except (ValueError, OverflowError):
        wrapped = _WRAPPED.fullmatch(plain.strip())
        short = _BLANKS.sub("", wrapped[1] if wrapped else plain)
        return _WORDS.get(short, short) or plain


def plain(category: str) -> str:
    """A number as it is written, or text without case and blanks around it: what tells two decimals of one column apart.

    >>> [plain(text) for text in ("Yes ", "1.0", "01", "250.10")]
    ['yes', '1', '01', '250.10']
    """
    text = " ".join(unicodedata.normalize("NFKC", _visible(html.unescape(category))).casefold().split())
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else text


def _visible(text: str) -> str:
    """Text without invisible characters, dashes as hyphens, and letters that look like Latin ones as these."""
    if text.isascii():
        return text
    kinds = {character: unicodedata.category(character) for character in set(text)}
    shown = [
        "-" if kinds[character] == "Pd" or character == "\u2212" else character
        for character in text
        if kinds[character] != "Cf" and ord(character) not in _VARIATION_SELECTORS
    ]
    out = "".join(shown)
    # A word of another alphabet stays one, unless each of its letters has a double: it is compared with others like it.
    letters = [character for character in out if character.isalpha() and not character.isascii()]
    latin = any(character.isalpha() and character.isascii() for character in out)
    if latin or all(ord(character) in _LOOK_ALIKES for character in letters):
        return out.translate(_LOOK_ALIKES)
    return out


def respelled(strange: Iterable[str], known: Iterable[str], beside: Collection[str] = ()) -> tuple[str, str] | None:
    """The first of some strange values that is another spelling of a known one, with that one.

    This is the one rule: within a column, between columns, and between a column and what an argument names. Values that
    stand ``beside`` each other in one column may be decimals that differ in zeros (250.1 and 250.10); no other sign tells them apart.
    Single letters say yes or no only where all values do: F, M and N are three. Letters are short for words where
    several are: M and F beside male and female.
    """
    strange, known = list(strange), list(known)
    held = dict.fromkeys((*strange, *known, *beside))
    letters = not all(_WORDS.get(plain(one), plain(one)) in ("0", "1") for one in held)
    spelled: dict[str, list[str]] = {}
    for category in known:
        spelled.setdefault(_key(category, letters), []).append(category)
    for value in strange:
        for other in spelled.get(_key(value, letters), ()):
            if value != other and not (other in beside and _told_by_zeros(value, other)):
                return value, other
    return _abbreviated(strange, known, held)


def another_spelling(strange: Iterable[str], known: Iterable[str]) -> str:
    """The end of a message on values that are not known: which of them is another spelling of a known one; empty where none is.

    >>> another_spelling(["hired"], ["Hired", "rejected"])
    ": 'hired' looks like another spelling of 'Hired'"
    """
    twice = respelled(strange, known)
    return "" if twice is None else ": {} looks like another spelling of {}".format(*told_apart(*twice))


def _key(category: str, letters: bool) -> str:
    """What spellings of a value share, where single letters are values of their own or, without ``letters``, yes and no."""
    short = _visible(category).strip().casefold()
    return short if letters and len(short) == 1 and short.isalpha() else folded(category)


def _told_by_zeros(one: str, two: str) -> bool:
    """Whether values are decimals that differ in the zeros at their end, which may be codes: not 1 and 1.0."""
    return is_numeral(one) and is_numeral(two) and "." in one + two and plain(one) != plain(two)


def _abbreviated(strange: list[str], known: list[str], held: Iterable[str]) -> tuple[str, str] | None:
    """A word and its first letter, one of them strange, where several letters stand for words: M and F beside male and female.

    Either every letter must be short for one word, or every word must have its letter: A and B beside C and absent are grades.
    """
    letters = [one for one in held if len(one) == 1 and one.isalpha()]
    words = [one for one in held if len(one) > 2 and one.isalpha() and one[1:] == one[1:].lower()]
    found = {one: [word for word in words if word.casefold().startswith(one.casefold())] for one in letters}
    short = {one: matches[0] for one, matches in found.items() if len(matches) == 1}
    if len(short) < 2 or not (len(short) == len(letters) or set(short.values()) == set(words)):
        return None
    new, old = set(strange), set(known)
    pairs = [pair for one, word in short.items() for pair in ((one, word), (word, one))]
    return next(((one, two) for one, two in pairs if one in new and two in old), None)


def mistaken_for(name: str, known: Iterable[str]) -> str | None:
    """The known name that another one is likely a mistake for: a second spelling, or mistyped.

    >>> mistaken_for("Othr", ["Other", "Asian"]), mistaken_for("man", ["woman"])
    ('Other', None)
    """
    held = list(known)
    again = respelled([name], held)
    if again is not None:
        return again[1]
    plainly = {other.casefold(): other for other in held}
    near = difflib.get_close_matches(name.casefold(), list(plainly), n=1, cutoff=_MISTYPED)
    return plainly[near[0]] if near else None


def spelled_twice(categories: Iterable[str]) -> tuple[str, str] | None:
    """Two values of one column that are one value in two spellings.

    >>> spelled_twice(["Québec", "Ontario", "Quebec"]), spelled_twice(["250.1", "250.10", "A", "A-"])
    (('Québec', 'Quebec'), None)
    """
    held = list(categories)
    twice = respelled(held, held, held)
    return None if twice is None else (min(twice, key=held.index), max(twice, key=held.index))


def says_missing(category: str) -> bool:
    """Whether text is what tools write for a missing value, or blank."""
    text = _visible(html.unescape(category)).strip()
    return category in (*NULLS, *_TEXT_OF_NONE) or text.casefold() in _NOTHING or not text


def code_of_missing(categories: Iterable[str]) -> str | None:
    """The number that stands for a missing value among some of one digit, such as 99 among 0 and 1, or among words.

    -1 and 9 are as likely values of their own among numbers; 0 is one among letters (of blood groups).

    >>> code_of_missing(["0", "1", "99"]), code_of_missing(["0", "1", "-1"]), code_of_missing(["97", "98", "99"])
    ('99', None, None)
    >>> code_of_missing(["0", "man", "woman"]), code_of_missing(["0", "A", "B"]), code_of_missing(["0", "255"])
    ('0', None, None)
    """
    held = list(categories)
    for codes, like in ((_CODES, _is_digit), (_FILLED_IN, _is_word)):
        found = [one for one in held if one in codes]
        others = [one for one in held if one not in found]
        least = 2 if codes is _FILLED_IN or found == [_MASK] else 1
        if len(found) == 1 and len(others) >= least and all(map(like, others)):
            return found[0]
    return None


def _is_digit(category: str) -> bool:
    return len(category) == 1 and category in "0123456789"


def _is_word(category: str) -> bool:
    """Whether text is of words alone: letters, and blanks or signs between them."""
    return len(category) > 2 and category[0].isalpha() and not any(map(str.isdecimal, category))


def says_unknown(category: str) -> bool:
    """Whether text says that a value is not known."""
    return folded(category) in _NOT_KNOWN


def is_numeral(category: str) -> bool:
    """Whether text is a number."""
    try:
        float(category)
    except ValueError:
        return False
    return True


def quoted(text: str, limit: int = 40) -> str:
    """Text in quotes, with what cannot be seen spelled out once."""
    return f"'{printable(text, limit)}'"


def told_apart(first: str, second: str) -> tuple[str, str]:
    """Two texts in quotes; where they look alike, with the characters that tell them apart."""
    alike = unicodedata.normalize("NFKC", _visible(first)) == unicodedata.normalize("NFKC", _visible(second))
    shown = quoted(first), quoted(second)
    if not alike or (first.isascii() and second.isascii()):
        return shown
    return f"{shown[0]} ({_code_points(first)})", f"{shown[1]} ({_code_points(second)})"


def _code_points(text: str) -> str:
    strange = [f"U+{ord(character):04X}" for character in dict.fromkeys(text) if not character.isascii()]
    return "with " + " ".join(strange[:_SHOWN]) if strange else "ASCII only"


def shown(values: Iterable[str]) -> str:
    """A few values, quoted."""
    held = sorted(values, key=category_order)
    more = f" and {len(held) - _SHOWN:,} more" if len(held) > _SHOWN else ""
    return ", ".join(quoted(value, 30) for value in held[:_SHOWN]) + more


def side_by_side(first: str, values: Iterable[str], second: str, others: Iterable[str]) -> str:
    """The values of two columns, for a message."""
    return f"{first} has {shown(values)}; {second} has {shown(others)}"


def read_otherwise(category: str) -> bool:
    """Whether a value that stands in a text file by itself would be read as something that is spelled in another way.

    >>> [read_otherwise(text) for text in ("1.10", "1.1", "NA", "True", "Oslo")]
    [True, False, True, True, False]
    """
    if category in NULLS or category in _TRUE_OR_FALSE:
        return True
    try:
        return canonical(float(category)) != category
    except ValueError:
        return False
