"""Checksums of saved results, by which a change is noticed and named.

They tell damage and edits by hand from what was saved. Whoever makes a file anew can make its checksums too: they are no
signature.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from biasamp.data import printable

FIELD = "checksum"
# Half of SHA-256: enough that no two documents that anybody meets have the same.
_DIGITS = 32
_HALF_PAIR = re.compile("[\ud800-\udfff]")
# The only version that saved results without checksums.
_WITHOUT = "0.1"


def checksums(document: Mapping[str, Any], entries: str | None = None) -> dict[str, str]:
    """A digest of every field, and of every entry of the list ``entries`` by itself, so that a change can be named."""
    out: dict[str, str] = {}
    for name, value in document.items():
        if name == entries:
            out |= {f"{name}[{place}]": _digest(entry) for place, entry in enumerate(value)}
        elif name != FIELD:
            out[name] = _digest(value)
    return out


def with_checksum(document: Mapping[str, Any], entries: str | None = None) -> dict[str, Any]:
    """A document with its checksums."""
    return {**document, FIELD: checksums(document, entries)}


def json_text(document: Mapping[str, Any], indent: int | None = None) -> str:
    """JSON text that UTF-8 can hold: half a surrogate pair, as broken input may have it, is written as an escape."""
    content = json.dumps(document, allow_nan=False, ensure_ascii=False, indent=indent)
    return _HALF_PAIR.sub(lambda half: f"\\u{ord(half[0]):04x}", content)


def is_checked(document: Mapping[str, Any], name: str, again: str, entries: str | None = None) -> bool:
    """Whether checksums vouch for a document; one that was changed, or lost its checksums, is refused.

    Results of version 0.1 have none, and nothing vouches for them.

    Parameters
    ----------
    document : mapping
        As it was saved.
    name : str
        What messages call it.
    again : str
        How such a result is made and saved, for messages.
    entries : str, optional
        The list whose entries have a digest each.

    Examples
    --------
    >>> saved = with_checksum({"version": "0.2.0", "n": 40})
    >>> is_checked(saved, "a.json", "count again")
    True
    >>> is_checked({**saved, "n": 50}, "a.json", "count again")
    Traceback (most recent call last):
        ...
    ValueError: a.json was changed since it was saved: the checksum of n does not agree. Take the file from where it was saved, or count again
    """
    saved = document.get(FIELD)
    if saved is None:
        version = document.get("version")
        if isinstance(version, str) and (version == _WITHOUT or version.startswith(f"{_WITHOUT}.")):
            return False
        raise ValueError(
            f"{name} has no checksum, and files of version {printable(str(version), 20)} have one: it was taken out, or the file was "
            f"written by other means. Take the file from where it was saved, or {again}"
        )
    now = checksums(document, entries)
    held = saved if isinstance(saved, Mapping) else {}
    changed = next((field for field in [*now, *held] if held.get(field) != now.get(field)), None)
    if changed is not None:
        raise ValueError(
            f"{name} was changed since it was saved: the checksum of {printable(str(changed), 60)} does not agree. Take the file from "
            f"where it was saved, or {again}"
        )
    return True


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
