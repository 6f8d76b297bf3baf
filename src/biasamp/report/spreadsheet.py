"""Tables as CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import IO, Any

from numpy.typing import NDArray

from biasamp.results.table import Table

# A cell that begins so is a formula to a spreadsheet, whoever wrote it. The full-width and small forms count too, and so does
# what stands behind blanks and characters that nobody sees (Unicode's default ignorable ones), which some programs drop.
_UNSEEN = "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ue000-\uf8ff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
_FORMULA = re.compile(f"[\t\r\n]|[\\s\x00-\x1f\x7f-\x9f{_UNSEEN}\ud800-\udfff]*[-=+@＝＋－＠﹦﹢﹣﹫−]")


# Cells that are text at the same time.
_CELLS_AT_ONCE = 1 << 17


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


def csv_blocks(blocks: Iterable[Table]) -> Iterator[str]:
    """The text of a table that comes block by block: what :func:`write_csv` writes, several times quicker."""
    for number, block in enumerate(blocks):
        stream = io.StringIO(newline="")
        writer = csv.writer(stream, lineterminator="\r\n")
        if not number:
            writer.writerow([safe_text(name) for name in block.columns])
        step = max(1, _CELLS_AT_ONCE // max(len(block.columns), 1))
        for start in range(0, len(block), step):
            columns = (_cells(column[start : start + step]) for column in block.columns.values())
            writer.writerows(zip(*columns, strict=True))
            yield stream.getvalue()
            stream.seek(0)
            stream.truncate()
        yield stream.getvalue()


def _cells(column: NDArray[Any]) -> list[str]:
    """The cells of a column."""
    values = column.tolist()
    if column.dtype.kind == "f":
        return ["" if value != value else repr(value) for value in values]
    if column.dtype.kind in "iu":
        return list(map(repr, values))
    # Labels repeat little, reasons much.
    known: dict[Any, str] = {}
    return [known[value] if value in known else known.setdefault(value, cell(value)) for value in values]


def write_csv(rows: Iterable[dict[str, Any]], columns: Iterable[str], stream: IO[str]) -> None:
    """Write rows with a header; every field is quoted that holds a comma, a quote or a line break."""
    names = list(columns)
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow([safe_text(name) for name in names])
    for row in rows:
        writer.writerow([cell(row[name]) for name in names])
