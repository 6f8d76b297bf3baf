"""What a message advises: arguments to who calls from Python, options to who uses the command line, mending to who has opened the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

# Advice by name: in Python, on the command line, and in the browser, where files are mended or the full audit is taken.
_ADVICE = {
    "categories": (
        "name all values with biasamp.categorical(..., categories=[...])",
        "name all values with --categories ROLE=VALUES",
        "the full audit takes it with --categories ROLE=VALUES",
    ),
    "categorical": (
        "say so with biasamp.categorical(...)",
        "say so with --categorical ROLE",
        "the full audit takes it with --categorical ROLE",
    ),
    "kinds": (
        "say what they are with biasamp.binary(...) or biasamp.categorical(...), or give lists on both sides",
        "say what they are with --binary ROLE or --categorical ROLE",
        "write both columns alike, as 0 and 1 or as words",
    ),
    "edges": (
        "name the edges, biasamp.binned(column, edges=[...])",
        "name the edges, --bins COLUMN=25,45",
        "the full audit takes edges, --bins COLUMN=25,45",
    ),
    "bins": (
        "cut numbers into bins with biasamp.binned(column, edges=[...])",
        "cut numbers into bins with --bins COLUMN=25,45",
        "add a column of bins, such as 'under 25' and '25 or more'; the full audit cuts numbers with --bins COLUMN=25,45",
    ),
    "wrap": (
        "wrap the column in biasamp.categorical(...)",
        "say so with --categorical ROLE",
        "the full audit takes it with --categorical ROLE",
    ),
    "continuous": (
        "use biasamp.continuous(...)",
        "say so with --continuous",
        "the full audit takes it with --continuous",
    ),
    "class probabilities": (
        "class probabilities come as biasamp.categorical(P, categories=[...])",
        "class probabilities come as --categories ROLE=VALUES",
        "choose the column with what the model decided",
    ),
    "gap": ("Make it a missing value (None)", "Leave the field empty", "Leave the field empty in the file"),
    "missing labels": (
        'missing="drop" leaves such a record out of the pairs concerned, missing="negative" reads it as not having the '
        "label.",
        "--missing drop leaves such a record out of the pairs concerned, --missing negative reads it as not having the "
        "label.",
        "Tick 'Leave out records with missing values', or fill them in.",
    ),
    "missing scores": (
        'No threshold can place them: fill them in, or leave those records out with missing="drop".',
        "No threshold can place them: fill them in, or leave those records out with --missing drop.",
        "No threshold can place them: fill them in, or leave those records out.",
    ),
    "missing strata": (
        "Name a stratum for those too, such as 'unknown', or leave those records out with missing=\"drop\".",
        "Name a stratum for those too, such as 'unknown', or leave those records out with --missing drop.",
        "Name a stratum for those too, such as 'unknown', or leave those records out.",
    ),
    "unseen": (
        "unseen='error' takes none",
        "--unseen error takes none",
        "the full audit with --unseen error takes none",
    ),
    "parts": (
        "read it part by part with engine='local'",
        "read it part by part with --engine local",
        "the full audit reads it part by part with --engine local",
    ),
    "encoding": (
        "save it as UTF-8, or read it by the encoding that it has, as pandas.read_csv(..., encoding='cp1252') does, and "
        "give the dataframe",
        "say which encoding it has, such as --encoding cp1252, or save it as UTF-8",
        "save it as UTF-8 (in Excel: Save As, 'CSV UTF-8'); the full audit reads it with --encoding cp1252 or whichever "
        "it has",
    ),
    "decimal": (
        "read it with pandas.read_csv(..., sep=';', decimal=',') and give the dataframe",
        "say so with --decimal-comma",
        "save it with decimal points; the full audit reads it with --decimal-comma",
    ),
    "separator": (
        "read it with pandas.read_csv(..., sep='...') and give the dataframe",
        "say what separates its values with --delimiter",
        "save it with a comma between values; the full audit reads it with --delimiter",
    ),
    "sheet": (
        "read one with pandas.read_excel(..., sheet_name='...') and give the dataframe",
        "name one with --sheet",
        "save one as CSV; the full audit reads it with --sheet",
    ),
    "filter": (
        "read one of them with filter=",
        "name one of them with --log-filter",
        "the full audit reads one of them with --log-filter",
    ),
    "invented": (
        "measure them apart with unseen='invented'",
        "measure them apart with --unseen invented",
        "the full audit measures them apart with --unseen invented",
    ),
}
PYTHON, COMMANDS, PAGE = range(3)
_READERS = [PYTHON]


def way_out(name: str) -> str:
    """Advice in the words of whoever reads it.

    >>> way_out("categorical")
    'say so with biasamp.categorical(...)'
    """
    return _ADVICE[name][_READERS[-1]]


@contextmanager
def speaking_to(reader: int) -> Iterator[None]:
    """While it lasts, messages advise whoever calls from Python, uses the command line or has opened the page."""
    _READERS.append(reader)
    try:
        yield
    finally:
        _READERS.pop()


def advice_on_the_page() -> dict[str, str]:
    """All advice in the words of the page."""
    return {name: words[PAGE] for name, words in _ADVICE.items()}
