"""Numbers of bytes as people write them."""

from __future__ import annotations

import re

import numpy as np

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}


def parse_bytes(size: int | str, name: str) -> int:
    """Bytes given as a number or as text with a unit; ``name`` is what messages call them.

    >>> parse_bytes("512MB", "memory"), parse_bytes("1.5 GiB", "memory"), parse_bytes(10**9, "memory")
    (512000000, 1610612736, 1000000000)
    """
    if isinstance(size, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", size)
        if not found or found[2].upper() not in _UNITS:
            raise ValueError(f"{name} is {size!r}; bytes, or a text such as '512MB' or '4GB', are accepted")
        amount = float(found[1]) * _UNITS[found[2].upper()]
        if amount >= 1 << 63:
            raise ValueError(f"{name} is {size!r}, more than any machine has; a text such as '4GB' is accepted")
        out = int(amount)
    elif isinstance(size, bool) or not isinstance(size, (int, np.integer)):
        raise TypeError(f"{name} is a {type(size).__name__}; bytes, or a text such as '512MB', are accepted")
    else:
        out = int(size)
    if out < 1:
        raise ValueError(f"{name} is {size!r}; a number of bytes above 0 is needed")
    return out


def shown_bytes(size: int) -> str:
    """A number of bytes with the unit that makes it short.

    >>> shown_bytes(4_000_000_000), shown_bytes(1500)
    ('4 GB', '1.5 KB')
    """
    unit = next((unit for unit in ("TB", "GB", "MB", "KB") if size >= _UNITS[unit]), "B")
    return f"{size / _UNITS[unit]:.3g} {unit}"
