from __future__ import annotations

import csv
import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasamp.report.spreadsheet import cell, safe_text, write_csv


@given(st.text())
def test_no_text_begins_a_formula(text):
    assert not safe_text(text).startswith(("=", "+", "-", "@", "\t", "\r"))
    assert safe_text(text) in (text, "'" + text)


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\t=1", " =1", "＝1", "\n=1", "\0=1", "\ufeff+1", "\u200b@x"])
def test_formulas_get_an_apostrophe(text):
    assert safe_text(text) == "'" + text


def test_values():
    values = [None, math.nan, math.inf, -math.inf, -0.1, 3, True, "a"]
    assert [cell(value) for value in values] == ["", "", "inf", "-inf", "-0.1", "3", "true", "a"]


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0")), min_size=1, max_size=5))
def test_what_is_written_is_read_back(words):
    stream = io.StringIO(newline="")
    write_csv([{"word": word} for word in words], ["word"], stream)
    rows = list(csv.reader(io.StringIO(stream.getvalue(), newline="")))
    assert [row[0] if row else "" for row in rows[1:]] == [safe_text(word) for word in words]
