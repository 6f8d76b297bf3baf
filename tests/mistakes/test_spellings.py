"""One rule says when two texts are one value: within a column, between columns, and in what an argument names."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasamp
from mistakes.cases import RIGHT, N

# A value as the truth has it, and another spelling of it.
SPELLINGS = {
    "case": ("hired", "Hired"),
    "blank": ("hired", "hired "),
    "line break": ("hired", "hired\n"),
    "underscore": ("not hired", "not_hired"),
    "hyphen": ("not hired", "not-hired"),
    "no blank": ("on hold", "onhold"),
    "accent": ("Québec", "Quebec"),
    "form of an accent": ("caf\u00e9", "cafe\u0301"),
    "full width": ("hired", "\uff48\uff49\uff52\uff45\uff44"),
    "invisible": ("hired", "hi\u200bred"),
    "byte order mark": ("hired", "\ufeffhired"),
    "Cyrillic": ("hired", "hir\u0435d"),
    "entity": ("hired", "hired&nbsp;"),
    "quotes": ("hired", "'hired'"),
    "full stop": ("hired", "hired."),
    "decimal": ("1", "1.0"),
    "leading zero": ("7", "07"),
    "yes": ("yes", "1"),
    "true": ("true", "yes"),
    "true in capitals": ("True", "TRUE"),
}
# Texts that are two values, wherever they stand.
APART = {
    "plural": ("nurse", "nurses"),
    "grades": ("A", "A-"),
    "signs": ("-2", "2"),
    "long numbers": ("9007199254740993", "9007199254740992"),
    "letters": ("F", "M"),
    "man": ("man", "woman"),
    "ranges": ("18-24", "25-34"),
    "not": ("hired", "not hired"),
    "alphabets": ("да", "нет"),
}
G, THIRD = RIGHT["gender"], RIGHT["place"]
GUESS = RIGHT["guess"]
SOME = np.arange(N) % 5 == 0
DATA = {"g": G, "t": THIRD, "p": GUESS}
ROLES = {"attributes": "g", "tasks": "t", "task_predictions": "p"}


def column(codes: np.ndarray, one: str, some: str | None = None) -> np.ndarray:
    """Three values of which the first is spelled as is said; in some records in another way."""
    values = np.array([one, "second", "third one"], dtype=object)[codes]
    return np.where(SOME & (codes == 0), some, values) if some is not None else values


def audit(data: Any, **more: Any) -> Any:
    return biasamp.audit(data, **{**ROLES, "metrics": "directional", "resamples": 50, **more})


def scores(codes: np.ndarray) -> np.ndarray:
    return np.where(codes == 1, 0.8, 0.3)


def lists(values: np.ndarray) -> list[list[str]]:
    return [[value, "always"] if i % 3 else [value] for i, value in enumerate(values.tolist())]


def merged(one: str, two: str) -> Any:
    halves = [np.arange(N) < N // 2, np.arange(N) >= N // 2]
    tables = zip(halves, (one, two), strict=True)
    parts = [
        biasamp.count({**{k: v[half] for k, v in DATA.items()}, "g": column(THIRD, text)[half]}, **ROLES)
        for half, text in tables
    ]
    return audit_counts(parts[0] + parts[1])


def audit_counts(counts: Any) -> Any:
    return biasamp.audit(counts, metrics="directional", resamples=50)


Place = Callable[[str, str], Any]
# Where two spellings meet. Two columns have one each, or one column has both.
PLACES: dict[str, Place] = {
    "truth and prediction": lambda a, b: biasamp.directional(G, column(THIRD, a), column(GUESS, b)),
    "truth and some predictions": lambda a, b: biasamp.directional(G, column(THIRD, a), column(GUESS, a, b)),
    "truth": lambda a, b: biasamp.directional(G, column(THIRD, a, b), column(GUESS, a)),
    "truth and prediction alike": lambda a, b: biasamp.directional(G, column(THIRD, a, b), column(GUESS, a, b)),
    "groups": lambda a, b: biasamp.directional(column(THIRD, a, b), RIGHT["hired"], RIGHT["said"]),
    "groups of an audit": lambda a, b: audit({**DATA, "g": column(THIRD, a, b)}),
    "groups in batches": lambda a, b: audit({**DATA, "g": column(THIRD, a, b)}, engine="local"),
    "groups of counts that are added": merged,
    "groups that are counted": lambda a, b: biasamp.count({**DATA, "g": column(THIRD, a, b)}, **ROLES),
    "groups of multi": lambda a, b: biasamp.multi(column(THIRD, a, b), RIGHT["hired"], RIGHT["said"]),
    "groups of parity": lambda a, b: biasamp.parity(column(THIRD, a, b), RIGHT["hired"], RIGHT["said"]),
    "groups of dpa": lambda a, b: biasamp.dpa(column(THIRD, a, b), RIGHT["hired"], RIGHT["said"], trials=2),
    "groups of leakage": lambda a, b: biasamp.leakage(column(THIRD, a, b), RIGHT["hired"], RIGHT["said"], trials=2),
    "groups of impact": lambda a, b: biasamp.impact(RIGHT["said"], column(THIRD, a, b)),
    "predicted groups": lambda a, b: biasamp.mals(column(THIRD, a), RIGHT["hired"], column(GUESS, b), RIGHT["said"]),
    "train truth": lambda a, b: biasamp.directional(G, column(THIRD, a), column(GUESS, a), train=(G[::-1], column(THIRD, b))),
    "train truth by itself": lambda a, b: biasamp.directional(G, column(THIRD, a), column(GUESS, a), train=(G[::-1], column(THIRD, a, b))),
    "train groups": lambda a, b: biasamp.directional(column(THIRD, a), RIGHT["hired"], RIGHT["said"], train=(column(THIRD, b), RIGHT["hired"][::-1])),
    "base truth": lambda a, b: biasamp.directional(G, column(THIRD, a), column(GUESS, a), base=(G[::-1], column(THIRD, b))),
    "base groups": lambda a, b: biasamp.directional(column(THIRD, a), RIGHT["hired"], RIGHT["said"], base=(column(THIRD, b), RIGHT["hired"][::-1])),
    "base by names": lambda a, b: biasamp.directional(column(THIRD, a), RIGHT["hired"], RIGHT["said"], base={name: {"0": 5, "1": 7 + i} for i, name in enumerate((b, "second", "third one"))}),
    "base in a frame": lambda a, b: biasamp.directional(column(THIRD, a), RIGHT["hired"], RIGHT["said"], base=pd.DataFrame({"0": [5, 5, 5], "1": [7, 8, 9]}, index=[b, "second", "third one"])),
    "strata": lambda a, b: biasamp.decompose(G, RIGHT["hired"], scores(RIGHT["said"]), strata=column(THIRD, a, b)),
    "strata of an audit": lambda a, b: audit({"g": G, "t": RIGHT["hired"], "p": RIGHT["said"], "s": column(THIRD, a, b)}, strata="s"),
    "strata of train": lambda a, b: biasamp.decompose(G, RIGHT["hired"], scores(RIGHT["said"]), strata=column(THIRD, a), train=(G[::-1], RIGHT["hired"], column(THIRD, b))),
    "strata of base": lambda a, b: biasamp.decompose(G, RIGHT["hired"], scores(RIGHT["said"]), strata=column(THIRD, a), base=(G[::-1], RIGHT["hired"], column(THIRD, b))),
    "lists": lambda a, b: biasamp.directional(G, lists(column(THIRD, a, b)), lists(column(GUESS, a))),
    "lists and predicted lists": lambda a, b: biasamp.directional(G, lists(column(THIRD, a)), lists(column(GUESS, b))),
    "lists and some predicted lists": lambda a, b: biasamp.directional(G, lists(column(THIRD, a)), lists(column(GUESS, a, b))),
    "lists and train lists": lambda a, b: biasamp.directional(G, lists(column(THIRD, a)), lists(column(GUESS, a)), train=(G[::-1], lists(column(THIRD, b)))),
    "declared values": lambda a, b: biasamp.directional(G, biasamp.categorical(column(THIRD, a), categories=[b, "second", "third one"]), column(GUESS, a)),
    "reference": lambda a, b: biasamp.parity(column(THIRD, a), RIGHT["hired"], RIGHT["said"], reference=b),
    "reference of an audit": lambda a, b: audit({**DATA, "g": column(THIRD, a)}, reference=b),
    "ignored groups": lambda a, b: audit({**DATA, "g": column(THIRD, a)}, ignore_groups=[b]),
    "thresholds of groups": lambda a, b: biasamp.decompose(column(THIRD, a), RIGHT["hired"], scores(RIGHT["said"]), threshold={b: 0.4, "second": 0.5, "third one": 0.6}),
}  # fmt: skip
# Where a name that no value has is an error, whatever it is like.
NAMING = ("declared values", "reference", "reference of an audit", "ignored groups", "thresholds of groups", "base by names", "base in a frame")  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", SPELLINGS)
def test_one_value_in_two_spellings_is_refused(kind: str, place: str) -> None:
    known, other = SPELLINGS[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with pytest.raises(ValueError, match=r"spelling|spell|did you mean"):
            PLACES[place](known, other)


@pytest.mark.parametrize("place", [place for place in PLACES if place not in NAMING])
@pytest.mark.parametrize("kind", APART)
def test_two_values_are_no_spellings(kind: str, place: str) -> None:
    """They may be refused for another reason, such as a value that only train has, but not for their spelling."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        message = ""
        try:
            PLACES[place](*APART[kind])
        except ValueError as error:
            message = str(error)
    assert "looks like" not in message
    assert "two spellings" not in message


# Decimals may be codes, where they stand in one column.
BESIDE = {**APART, "codes": ("250.1", "250.10")}


@pytest.mark.parametrize("kind", BESIDE)
def test_two_values_of_one_column_are_measured(kind: str) -> None:
    one, two = BESIDE[kind]
    truth, said = column(THIRD, one, two), column(GUESS, one, two)
    assert biasamp.directional(G, truth, said).n == N
    assert audit({"g": G, "t": truth, "p": said}).document
    assert len(audit({**DATA, "g": truth}).document["data"]["groups"]) == 4


@pytest.mark.parametrize("kind", SPELLINGS)
def test_a_positive_value_is_known_by_any_spelling(kind: str) -> None:
    known, other = SPELLINGS[kind]
    truth, said = (np.where(codes == 1, known, "another") for codes in (RIGHT["hired"], RIGHT["said"]))
    tables = [biasamp.parity(G, truth, said, positive=name).groups.rows() for name in (known, other)]
    assert list(tables[0]) == list(tables[1])


@pytest.mark.parametrize("kind", SPELLINGS)
def test_declared_spellings_are_two_values(kind: str) -> None:
    values = [*SPELLINGS[kind], "second", "third one"]
    truth, said = column(THIRD, *values[:2]), column(GUESS, *values[:2])
    declared = [biasamp.categorical(side, categories=values) for side in (truth, said)]
    assert biasamp.directional(G, *declared).n == N
    roles = {name: biasamp.categorical(ROLES[name], categories=values) for name in ("tasks", "task_predictions")}
    assert audit({"g": G, "t": truth, "p": said}, **roles).document


def test_letters_beside_their_words() -> None:
    some = np.where(SOME, np.array(["M", "F", "X"])[THIRD], np.array(["male", "female", "X"])[THIRD])
    with pytest.raises(ValueError, match="'F' and 'female', which look like two spellings"):
        biasamp.directional(some, RIGHT["hired"], RIGHT["said"])
    grades = np.array(["A", "B", "C", "Absent"])[np.arange(N) % 4]
    assert biasamp.directional(grades, RIGHT["hired"], RIGHT["said"]).n == N
