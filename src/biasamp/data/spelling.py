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
_CODES = frozenset({"-9", "-99", "-999", "-9999", "99", "999", "9999"})
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
    """A spelling that one value shares with itself written carelessly, within one column.

    This is less than what :func:`folded` takes together: an accent or a sign may tell two values of a column apart.

    >>> [plain(text) for text in ("Yes ", "YES", "1.0", "01", "Jose", "José", "A", "A-")]
    ['yes', 'yes', '1', '01', 'jose', 'josé', 'a', 'a-']
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

    A number or an accent that stands ``beside`` another in one column is another value (250.1 and 250.10). Single letters say
    yes or no only where all values do: F, M and N are three.
    """
    strange, known = list(strange), list(known)
    words = all(_WORDS.get(plain(one), plain(one)) in ("0", "1") for one in (*strange, *known, *beside))

    def key(category: str) -> str:
        short = _visible(category).strip().casefold()
        return short if len(short) == 1 and short.isalpha() and not words else folded(category)

    spelled = {key(category): category for category in reversed(known)}
    found = ((value, spelled[held]) for value in strange if (held := key(value)) in spelled)
    return next(((one, two) for one, two in found if not (two in beside and _told_by_digits(one, two))), None)


def _told_by_digits(one: str, two: str) -> bool:
    """Whether values differ in digits or accents alone, which may tell two values apart."""
    if is_numeral(one) and is_numeral(two):
        return "." in one + two and plain(one) != plain(two)
    accents = any(unicodedata.combining(sign) for sign in unicodedata.normalize("NFD", one + two))
    return accents and unicodedata.normalize("NFC", plain(one)) != unicodedata.normalize("NFC", plain(two))


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
    """Two values of one column that are one value in two spellings."""
    held = list(categories)
    words = {category: _WORDS.get(plain(category), plain(category)) for category in held}
    # Only where all values say yes or no is a second word for yes the same value.
    keys = words if set(words.values()) <= {"0", "1"} else {category: plain(category) for category in held}
    first: dict[str, str] = {}
    for category in held:
        if keys[category] in first:
            return first[keys[category]], category
        first[keys[category]] = category
    return _abbreviated(held)


def _abbreviated(categories: list[str]) -> tuple[str, str] | None:
    """A word and its first letter, where a column has both for several words: M and F beside male and female."""
    letters = [one for one in categories if len(one) == 1 and one.isalpha()]
    words = [one for one in categories if len(one) > 2 and one.isalpha() and one[1:] == one[1:].lower()]
    short = {one: [word for word in words if word.casefold().startswith(one.casefold())] for one in letters}
    if len(letters) < 2 or any(len(held) != 1 for held in short.values()):
        return None
    return letters[0], short[letters[0]][0]


def says_missing(category: str) -> bool:
    """Whether text is what tools write for a missing value, or blank."""
    text = _visible(html.unescape(category)).strip()
    return category in (*NULLS, *_TEXT_OF_NONE) or text.casefold() in _NOTHING or not text


def code_of_missing(categories: Iterable[str]) -> str | None:
    """The number that stands for a missing value among some of one digit, such as 99 among 0 and 1.

    -1 and 9 are as likely values of their own.

    >>> code_of_missing(["0", "1", "99"]), code_of_missing(["0", "1", "-1"]), code_of_missing(["97", "98", "99"])
    ('99', None, None)
    """
    held = list(categories)
    found = [one for one in held if one in _CODES]
    others = [one for one in held if one not in found]
    return found[0] if len(found) == 1 and others and all(len(o) == 1 and o in "0123456789" for o in others) else None


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
