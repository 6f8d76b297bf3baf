"""Plain arguments of public functions: numbers, choices, names, paths. What is wrong is said with the argument's name."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .label import canonical, printable

_SHOWN = 60
# What a column of whole numbers can hold.
_LARGEST = (1 << 63) - 1
# A whole number of more bits is not written out.
_BITS = 1000
# More resamples or trials than this take days, and tell no more.
MOST_DRAWS = 10**6


def shown(value: Any) -> str:
    """A value for a message: as it is written where it is short, else what it is."""
    if isinstance(value, int) and value.bit_length() > _BITS:  # Python writes thousands of digits, and refuses more
        return "a number of hundreds of digits"
    if value is None or isinstance(value, (str, bool, int, float)):
        return printable(repr(value), _SHOWN)
    return f"a {type(value).__name__}"


def whole_number(value: Any, name: str, *, least: int = 0, most: int | None = None) -> int:
    """A whole number from ``least`` to ``most``.

    >>> whole_number(3, "trials")
    3
    >>> whole_number(2.5, "trials")
    Traceback (most recent call last):
        ...
    TypeError: trials is 2.5; a whole number of 0 or more is needed
    """
    reach = f"{least:,} or more" if most is None else f"{least:,} to {most:,}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} is {shown(value)}; a whole number of {reach} is needed")
    if value < least or value > (_LARGEST if most is None else most):
        raise ValueError(f"{name} is {shown(int(value))}; a whole number of {reach} is needed")
    return int(value)


def number(value: Any, name: str, *, least: float = -math.inf, most: float = math.inf) -> float:
    """A finite number from ``least`` to ``most``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} is {shown(value)}; a number is needed")
    try:
        out = float(value)
    except OverflowError:
        out = math.inf
    if not (math.isfinite(out) and least <= out <= most):
        reach = (
            ""
            if least == -math.inf
            else f" of {least:g} or more"
            if most == math.inf
            else f" from {least:g} to {most:g}"
        )
        raise ValueError(f"{name} is {shown(value)}; a finite number{reach} is needed")
    return out


def level_of(value: Any, name: str, *, above: float = 0.0) -> float:
    """A level strictly between 0 (or ``above``) and 1."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} is {shown(value)}; a number strictly between {above:g} and 1 is needed, such as 0.95")
    number: Any = value  # compared as it is: a whole number may be too large for a float
    if not above < number < 1.0:
        raise ValueError(f"{name} is {shown(value)}; it must lie strictly between {above:g} and 1, such as 0.95")
    return float(value)


def one_of(value: Any, name: str, choices: Sequence[str]) -> str:
    """One of some words."""
    if not isinstance(value, str) or value not in choices:
        kind = ValueError if isinstance(value, str) else TypeError
        raise kind(f"{name} is {shown(value)}; use one of {', '.join(map(repr, choices))}")
    return value


def yes_or_no(value: Any, name: str) -> bool:
    """True or False, and nothing that is taken for one of them."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} is {shown(value)}; True or False is needed")
    return bool(value)


def column_name(value: Any, name: str) -> str | None:
    """The name of a column, or None."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} is {shown(value)}; the name of a column is needed")
    return value


def text_of(value: Any, name: str) -> str:
    """Text."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {shown(value)}; text is needed")
    return value


def text_or_none(value: Any, name: str) -> str | None:
    """Text, or None."""
    return None if value is None else text_of(value, name)


def mapping_or_none(value: Any, name: str) -> Mapping[str, Any] | None:
    """A mapping with names that a file can say, or None."""
    if value is None:
        return None
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise TypeError(f"{name} is {shown(value)}; a mapping of names to values is needed")
    try:
        json.dumps(value, default=str)
    except (RecursionError, ValueError):
        raise ValueError(f"{name} holds values within values, too deep to be written") from None
    return value


def path_of(value: Any, name: str = "path") -> str:
    """A path as text."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} is {shown(value)}; the path of a file is needed")
    out = os.fspath(value)
    if not isinstance(out, str) or not out or "\0" in out:
        raise ValueError(f"{name} is {shown(out)}; the path of a file is needed")
    return out


def same_file(one: Any, two: Any) -> bool:
    """Whether two values are paths of one file, by any of its names; a name that no file can have is that of none."""
    if not (isinstance(one, (str, os.PathLike)) and isinstance(two, (str, os.PathLike))):
        return False
    try:
        return os.path.samefile(one, two)
    except OSError:  # one of them is not there: then it is a question of names
        return os.path.realpath(one) == os.path.realpath(two)
    except ValueError:
        return False


def listed(value: Any, name: str, what: str) -> list[Any]:
    """The items of a list, a tuple or another collection; text, mappings and single values are none."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise TypeError(f"{name} is {shown(value)}; a list of {what} is needed")
    try:
        return list(value)
    except TypeError:
        raise TypeError(f"{name} is {shown(value)}; a list of {what} is needed") from None


def names_of(value: Any, name: str, what: str) -> list[str]:
    """One name, or a list of names."""
    items = [value] if isinstance(value, str) else listed(value, name, what)
    for item in items:
        if not isinstance(item, str):
            raise TypeError(f"{name} has {shown(item)}; a list of {what} is needed")
    return items


def categories_of(value: Any, name: str) -> list[str]:
    """Values of a variable, spelled as categories."""
    try:
        return [canonical(item) for item in listed(value, name, "values")]
    except TypeError as error:
        raise error if str(error).startswith(name) else TypeError(f"{name}: {error}") from None


def array_of(value: Any, dtype: Any = None) -> NDArray[Any]:
    """What a container of any library holds, as an array; what cannot be one is an error of numpy's kinds.

    Numbers of types that numpy lacks, such as integers of 128 bits, are taken one by one.
    """
    try:
        return np.asarray(value, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        raise
    except Exception as error:  # of the library, which has kinds of its own
        listed = getattr(value, "to_list", getattr(value, "to_pylist", None))
        if listed is None:
            raise TypeError(str(error)) from None
    return np.asarray(listed(), dtype=dtype)


def numbers_of(value: Any, name: str) -> NDArray[np.float64]:
    """Numbers as an array of floats, of any shape."""
    try:
        out = array_of(value)
        if out.dtype.kind not in "biuf":
            if out.dtype.kind in "cSUmMV":
                raise TypeError
            out = out.astype(np.float64)
        return out.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} is {shown(value)}; numbers are needed") from None


def pair_of(value: Any, name: str, *, least: float = 0.0, most: float = 1.0) -> tuple[float, float]:
    """Two numbers."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"{name} is {shown(value)}; two numbers are needed")
    return number(value[0], name, least=least, most=most), number(value[1], name, least=least, most=most)


def made_by(value: Any, kind: type, name: str, maker: str) -> None:
    """Refuse what is not of a class, saying what makes objects of it."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {shown(value)}; what {maker} gives is needed")
