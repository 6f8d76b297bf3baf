"""What a message advises: arguments to who calls from Python, options to who uses the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

# Advice by name: in Python, and on the command line.
_ADVICE = {
    "categories": (
        "name all values with biasamp.categorical(..., categories=[...])",
        "name all values with --categories ROLE=VALUES",
    ),
    "categorical": ("say so with biasamp.categorical(...)", "say so with --categorical ROLE"),
    "kinds": (
        "say what they are with biasamp.binary(...) or biasamp.categorical(...), or give lists on both sides",
        "say what they are with --binary ROLE or --categorical ROLE",
    ),
    "edges": ("name the edges, biasamp.binned(column, edges=[...])", "name the edges, --bins COLUMN=25,45"),
    "bins": (
        "cut numbers into bins with biasamp.binned(column, edges=[...])",
        "cut numbers into bins with --bins COLUMN=25,45",
    ),
    "wrap": ("wrap the column in biasamp.categorical(...)", "say so with --categorical ROLE"),
    "missing labels": (
        'missing="drop" leaves such a record out of the pairs concerned, missing="negative" reads it as not having the '
        "label.",
        "--missing drop leaves such a record out of the pairs concerned, --missing negative reads it as not having the "
        "label.",
    ),
    "missing scores": (
        'No threshold can place them: fill them in, or leave those records out with missing="drop".',
        "No threshold can place them: fill them in, or leave those records out with --missing drop.",
    ),
    "missing strata": (
        "Name a stratum for those too, such as 'unknown', or leave those records out with missing=\"drop\".",
        "Name a stratum for those too, such as 'unknown', or leave those records out with --missing drop.",
    ),
    "unseen": ("unseen='error' takes none", "--unseen error takes none"),
    "parts": ("read it part by part with engine='local'", "read it part by part with --engine local"),
    "encoding": (
        "save it as UTF-8, or read it by the encoding that it has, as pandas.read_csv(..., encoding='cp1252') does, and "
        "give the dataframe",
        "say which encoding it has, such as --encoding cp1252, or save it as UTF-8",
    ),
    "decimal": (
        "read it with pandas.read_csv(..., sep=';', decimal=',') and give the dataframe",
        "say so with --decimal-comma",
    ),
    "separator": (
        "read it with pandas.read_csv(..., sep='...') and give the dataframe",
        "say what separates its values with --delimiter",
    ),
    "sheet": (
        "read one with pandas.read_excel(..., sheet_name='...') and give the dataframe",
        "name one with --sheet",
    ),
    "filter": ("read one of them with filter=", "name one of them with --log-filter"),
    "invented": ("measure them apart with unseen='invented'", "measure them apart with --unseen invented"),
}
_COMMANDS = [False]


def way_out(name: str) -> str:
    """Advice in the words of whoever reads it.

    >>> way_out("categorical")
    'say so with biasamp.categorical(...)'
    """
    return _ADVICE[name][_COMMANDS[-1]]


@contextmanager
def speaking_of_options() -> Iterator[None]:
    """While it lasts, messages advise options of the command line."""
    _COMMANDS.append(True)
    try:
        yield
    finally:
        _COMMANDS.pop()
