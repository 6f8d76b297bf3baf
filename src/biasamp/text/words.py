"""Texts as words: what a word is, and how texts are split into words in Arrow's own loops.

A word is a run of letters, marks and digits, in lower case; hyphens and apostrophes inside it are part of it. In scripts that are
written without blanks (Han, Kana, Thai, Lao, Khmer, Myanmar) each character is a word, as is each pictograph, so that entries
of several characters are found as phrases.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Index = NDArray[np.int64]

# Bytes of ASCII as they count: letters in lower case, digits, hyphens and apostrophes; blanks for all others.
_PLAIN = bytes(
    ord(chr(byte).lower()) if byte < 128 and (chr(byte).isalnum() or chr(byte) in "-'") else byte if byte > 127 else 32
    for byte in range(256)
)
_APOSTROPHES, _HYPHENS = "[’‘ʼ＇´]", "[‐‑]"
# A soft hyphen says where a word may be broken, a variation selector how a pictograph is drawn: neither is text.
_UNSEEN = "[\u00ad\ufe0e\ufe0f]"
_NO_WORD = r"[^\p{L}\p{M}\p{N}\p{So}'\- ]"
_ALONE = r"([\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{So}]\p{M}*)"
# What follows an apostrophe and is no part of the word before it.
_ENDINGS = ("s", "re", "ll", "d", "ve", "m", "")
# What French, Italian and Catalan put before an apostrophe, which is no part of the word after it.
_ELIDED = frozenset(
    [
        "l",
        "d",
        "j",
        "m",
        "n",
        "s",
        "t",
        "c",
        "qu",
        "jusqu",
        "lorsqu",
        "puisqu",
        "quoiqu",
        "un",
        "all",
        "dall",
        "dell",
        "nell",
        "sull",
        "coll",
        "quell",
        "quest",
        "bell",
        "sant",
        "gl",
    ]
)


class Tokens(NamedTuple):
    """What stands between the blanks of some texts: ``codes`` of all tokens, those of text i from ``offsets[i]`` on.

    The words of a token depend on it alone, so that they are found once for each distinct one.
    """

    offsets: Index
    codes: NDArray[np.int32]
    vocabulary: Any  # an Arrow array


def split_tokens(texts: Any) -> Tokens:
    """The tokens of an Arrow array of texts; a missing text is an empty one.

    >>> tokens = split_tokens(pa.array(["A man's T-shirt!", None]))
    >>> tokens.vocabulary.to_pylist(), tokens.codes.tolist(), tokens.offsets.tolist()
    (['A', "man's", 'T-shirt!', ''], [0, 1, 2, 3], [0, 3, 4])
    """
    lists = pc.split_pattern(pc.fill_null(texts, ""), " ")
    coded = lists.flatten().dictionary_encode()
    offsets = np.frombuffer(lists.buffers()[1], dtype=np.int32)[lists.offset : lists.offset + len(lists) + 1]
    return Tokens(offsets.astype(np.int64) - int(offsets[0]), np.asarray(coded.indices), coded.dictionary)


def token_words(tokens: Any) -> list[tuple[str, ...]]:
    """The bare words of each token of an Arrow array.

    >>> token_words(pa.array(["Man's", "dogs,cats", "—", "l’été"]))
    [('man',), ('dogs', 'cats'), (), ('été',)]
    """
    split = pc.split_pattern(plain_text(tokens), " ").to_pylist()
    return [tuple(found for word in words if word and (found := bare(word))) for words in split]


def plain_text(texts: Any) -> Any:
    """Texts in lower case, with a blank for everything that is no part of a word."""
    texts = pc.fill_null(texts.cast(pa.large_string()), "")
    strange = pc.invert(pc.string_is_ascii(texts))
    if pc.any(strange).as_py():
        texts = pc.replace_with_mask(texts, strange, _folded(texts.filter(strange)))
    offsets = np.frombuffer(texts.buffers()[1], dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    data = texts.buffers()[2]
    held = b"" if data is None else memoryview(data)[int(offsets[0]) : int(offsets[-1])].tobytes()
    held = held.translate(_PLAIN)
    if b"--" in held:
        held = held.replace(b"--", b"  ")
    places = pa.py_buffer((offsets - offsets[0]).tobytes())
    return pa.LargeStringArray.from_buffers(len(texts), places, pa.py_buffer(held))


def _folded(texts: Any) -> Any:
    """Texts beyond ASCII: one spelling of each letter, and blanks around what is a word by itself."""
    texts = pc.utf8_normalize(texts, form="NFKC")
    for marks, mark in ((_APOSTROPHES, "'"), (_HYPHENS, "-"), (_UNSEEN, ""), ("[ßẞ]", "ss")):
        texts = pc.replace_substring_regex(texts, pattern=marks, replacement=mark)
    texts = pc.utf8_normalize(pc.utf8_lower(texts), form="NFC")
    texts = pc.replace_substring_regex(texts, pattern=_NO_WORD, replacement=" ")
    return pc.replace_substring_regex(texts, pattern=_ALONE, replacement=r" \1 ")


def bare(word: str) -> str:
    """A word without what apostrophes join to it, and without hyphens at its ends.

    >>> [bare(word) for word in ("woman's", "she'll", "l'homme", "dell'uomo", "o'clock", "don't", "'quoted'", "t-shirt-")]
    ['woman', 'she', 'homme', 'uomo', "o'clock", "don't", 'quoted', 't-shirt']
    """
    if "'" not in word and "-" not in word:
        return word
    word = word.strip("-'")
    before, mark, after = word.rpartition("'")
    if mark and after in _ENDINGS:
        return bare(before)
    before, mark, after = word.partition("'")
    return bare(after) if mark and before in _ELIDED else word


def words_of(text: str) -> list[str]:
    """The bare words of one text."""
    return list(token_words(pa.array([text], pa.string()))[0])
