"""What JSON lines must look like before Arrow's parser sees them.

The parser recurses once for each bracket, and takes every line for an object: 200,000 brackets, or a line that says
``null``, end the process.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

# Lists of lists of objects are data; beyond this depth it is no table.
DEEPEST = 64
_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_QUOTE = ord('"')
_STEP = np.zeros(256, dtype=np.int8)
_STEP[[ord(mark) for mark in "[{"]] = 1
_STEP[[ord(mark) for mark in "]}"]] = -1
_MARKS = _STEP != 0
_MARKS[_QUOTE] = True
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLANKS = np.zeros(256, dtype=bool)
_BLANKS[[ord(blank) for blank in " \t\r\n"]] = True


def check_lines(block: bytes, before: int = 0) -> None:
    r"""Refuse a block of whole lines that are not objects, or that are nested too deeply.

    Parameters
    ----------
    block : bytes
        Whole lines; an object may go on over several of them.
    before : int
        How many lines of the file stand before it, for messages.

    Examples
    --------
    >>> check_lines(b'{"label": ["a", "]"]}\n')
    >>> check_lines(b'{"label": "a"}\nnull\n')
    Traceback (most recent call last):
        ...
    pyarrow.lib.ArrowInvalid: line 2 is no object: every line must be one, such as {"label": "a"}
    """
    # Escaped quotes are none: each escape becomes two characters that mean nothing.
    plain = _ESCAPED.sub(b"__", block) if b"\\" in block else block
    if not before and plain.startswith(_BYTE_ORDER_MARK):
        plain = b"   " + plain[3:]
    text = np.frombuffer(plain, dtype=np.uint8)
    places = np.flatnonzero(np.take(_MARKS, text))
    marks = text[places]
    inside = np.bitwise_xor.accumulate(marks == _QUOTE)
    step = np.take(_STEP, marks)
    step[inside] = 0
    depth = np.cumsum(step, dtype=np.int32)

    def refuse(place: int, problem: str) -> None:
        raise pa.ArrowInvalid(f"line {before + 1 + block.count(10, 0, place):,} {problem}")

    if depth.max(initial=0) > DEEPEST:
        refuse(int(places[(depth > DEEPEST).argmax()]), f"nests lists or objects more than {DEEPEST} deep")
    opening, closing = places[(step == 1) & (depth == 1)], places[(step == -1) & (depth == 0)]
    if depth.min(initial=0) < 0 or len(opening) != len(closing) or (len(inside) and inside[-1]):
        at = int(places[(depth < 0).argmax()]) if depth.min(initial=0) < 0 else int(opening[-1]) if len(opening) else 0
        refuse(at, "has brackets or quotes that do not match")
    # Whatever stands outside of all objects must be blank.
    starts, ends = np.append(0, closing + 1), np.append(opening, len(text))
    sizes = ends - starts
    outside = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
    strange = outside[~_BLANKS[text[outside]]]
    no_object = opening[text[opening] != ord("{")]
    if len(strange) or len(no_object):
        first = min([*strange[:1].tolist(), *no_object[:1].tolist()])
        refuse(first, 'is no object: every line must be one, such as {"label": "a"}')
