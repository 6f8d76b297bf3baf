"""Tables as CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import IO, Any

# A cell that begins so is a formula to a spreadsheet, whoever wrote it. The full-width and small forms count too, and so does
# what stands behind blanks and characters that nobody sees (Unicode's default ignorable ones), which some programs drop.
_UNSEEN = "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ue000-\uf8ff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
_FORMULA = re.compile(f"[\t\r\n]|[\\s\x00-\x1f\x7f-\x9f{_UNSEEN}\ud800-\udfff]*[-=+@＝＋－＠﹦﹢﹣﹫−]")


def safe_text(text: str) -> str:
    """Text that no spreadsheet takes for a formula: an apostrophe goes before what looks like one.

    >>> safe_text("=1+1"), safe_text("bike")
    ("'=1+1", 'bike')
    """
    return "'" + text if _FORMULA.match(text) else text


def cell(value: Any) -> str:
    """One value: text made safe, numbers to their last digit, nothing for what is undefined."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, (int, float)) else safe_text(str(value))


def write_csv(rows: Iterable[dict[str, Any]], columns: Iterable[str], stream: IO[str]) -> None:
    """Write rows with a header; every field is quoted that holds a comma, a quote or a line break."""
    names = list(columns)
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow([safe_text(name) for name in names])
    for row in rows:
        writer.writerow([cell(row[name]) for name in names])
