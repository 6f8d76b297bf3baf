"""Which values that only the model gives are likely values of the truth, on both sides of each boundary."""

from __future__ import annotations

from typing import Any

import pytest

import biasamp
from biasamp.auditing.plan import make_plan
from biasamp.data import printable
from biasamp.policy.renamed import _alike, renamed_values
from hand_audits import entry, group, hand_audit, pair

GROUPS = ("g=w", "g=m")
SUPPORT = 1000.0


def audit(true: dict[str, Any], said: dict[str, Any], new: dict[str, Any], **more: Any) -> biasamp.Audit:
    """Records of two groups of 1,000 by value: those that have it, those that are said to have it, and new values."""
    direction, attribute = more.pop("direction", "A->T"), more.pop("attribute", "g")
    rows = [
        pair(
            one,
            f"t={value}",
            truth_rate=true[value][k] / SUPPORT,
            predicted_rate=said[value][k] / SUPPORT,
            support=SUPPORT,
        )
        for value in true
        for k, one in enumerate(GROUPS)
    ]
    invented = [
        {
            "attribute": attribute,
            "direction": direction,
            "variable": "t",
            "label": f"t={value}",
            "category": value,
            "count": sum(counts),
            "groups": [{"group": one, "count": n, "records": SUPPORT} for one, n in zip(GROUPS, counts, strict=True)],
        }
        for value, counts in new.items()
    ]
    labels = [{"label": f"t={value}", "variable": "t", "category": value} for value in true]
    data = {"task_labels": labels, **more.pop("data", {})}
    held = more.pop("entries", None)
    held = (
        [entry(pairs=rows, direction=direction, attribute=attribute, **more.pop("entry", {}))]
        if held is None
        else held(rows)
    )
    return hand_audit(*held, data=data, **{"invented": invented, **more})


TRUE = {"yes": (300, 500), "no": (700, 500)}


def standing_in(**more: Any) -> biasamp.Audit:
    """The model says nay for no, always."""
    return audit(TRUE, {"yes": (300, 500), "no": (0, 0)}, {"nay": (700, 500)}, **more)


WORDS = (
    "The model gives t=nay, which the truth never has, for 1,200 records, and t=no for 0, though 1,200 have it: are they one value? "
    "Spell it alike in both columns; where they are two, name all values (categories)"
)


def found(held: biasamp.Audit, direction: str = "A->T") -> list[tuple[str | None, str]]:
    return list(renamed_values(held, direction))


def test_a_value_that_stands_in_for_another() -> None:
    assert found(standing_in()) == [(None, WORDS)]
    assert found(standing_in(), "T->A") == []


def test_predicted_attributes_are_named() -> None:
    groups = {"groups": [group(name, attribute="t") for name in ("yes", "no")]}
    held = standing_in(direction="T->A", attribute="t", data={**groups, "task_labels": ...})
    assert found(held, "T->A") == [("t", WORDS)]
    assert found(held) == []


def counts(said: Any, new: Any, true: Any = None, name: str = "nay") -> bool:
    """Whether a new value is taken for ``no``; what is left is said to be yes."""
    true = true or TRUE
    rest = tuple(sum(held[k] for held in true.values()) - said[k] - new[k] for k in range(2))
    others = {value: (0, 0) for value in true if value not in ("yes", "no")}
    return bool(found(audit(true, {"yes": rest, "no": said, **others}, {name: new})))


@pytest.mark.parametrize(
    ("said", "new", "taken"),
    [
        ((0, 0), (700, 500), True),
        ((1, 0), (699, 500), False),  # it is given, and the words are no more alike than any
        ((0, 0), (350, 250), True),  # half as many in every group
        ((0, 0), (349, 250), False),
        ((0, 0), (350, 249), False),
        ((0, 0), (1000, 1000), True),
    ],
)
def test_another_word_stands_in_where_groups_have_about_as_many(said: Any, new: Any, taken: bool) -> None:
    assert counts(said, new) is taken


def test_twice_as_many_stand_in_and_no_more() -> None:
    true = {"yes": (800, 700), "no": (200, 300)}
    assert counts((0, 0), (400, 600), true)
    assert not counts((0, 0), (401, 600), true)
    assert not counts((0, 0), (400, 601), true)


@pytest.mark.parametrize(("few", "taken"), [(30, True), (29, False)])
def test_a_value_of_few_records_may_be_one_that_is_never_given(few: int, taken: bool) -> None:
    half = few - few // 2
    true = {"yes": (1000 - half, 1000 - few // 2), "no": (half, few // 2)}
    assert counts((0, 0), (half, few // 2), true) is taken


@pytest.mark.parametrize(("new", "taken"), [((20, 0), True), ((10, 10), True), ((19, 0), False)])
def test_new_values_of_few_records_move_no_figure(new: Any, taken: bool) -> None:
    """One in a hundred of 2,000."""
    true = {"yes": (300, 500), "granted": (700, 500)}
    said = {"yes": (300, 500), "granted": (700 - new[0], 500 - new[1])}
    assert bool(found(audit(true, said, {"grannted": new}))) is taken


@pytest.mark.parametrize(("missing", "taken"), [(50, True), (49, False)])
def test_half_of_a_new_values_records_are_missing_from_the_other(missing: int, taken: bool) -> None:
    true = {"yes": (300, 500), "granted": (700, 500)}
    said = {"yes": (300, 400 + missing), "granted": (700, 500 - missing)}
    assert bool(found(audit(true, said, {"grannted": (0, 100)}))) is taken


def test_the_most_frequent_value_is_named_first() -> None:
    true = {"granted": (700, 500), "refused": (300, 500)}
    said = {"granted": (500, 500), "refused": (0, 400)}
    held = audit(true, said, {"grannted": (200, 0), "reffused": (300, 100)})
    ((_, words),) = found(held)
    assert words.startswith(
        "The model gives t=reffused, which the truth never has, for 400 records, and t=refused for 400"
    )
    # One that stands for nothing gives way to one that does.
    held = audit(true, {"granted": (500, 300), "refused": (0, 400)}, {"zebra": (200, 200), "reffused": (300, 100)})
    assert "t=reffused" in found(held)[0][1]


def categories(*values: str) -> dict[str, Any]:
    plan = make_plan("g", biasamp.categorical("t", categories=list(values)), None, "p")
    return {"settings": {"plan": plan.to_dict()}}


def test_values_that_were_declared_are_none_by_another_name() -> None:
    assert found(standing_in(provenance=categories("yes", "no", "nay"))) == []
    assert found(standing_in(provenance=categories("yes", "no"))) == [(None, WORDS)]
    assert found(standing_in(provenance={})) == [(None, WORDS)]
    assert found(standing_in(provenance={"settings": {}})) == [(None, WORDS)]
    plan = make_plan("t", "u", "q", None)
    groups = {"groups": [group(name, attribute="t") for name in ("yes", "no")], "task_labels": ...}
    made = {"direction": "T->A", "attribute": "t", "data": groups}
    assert found(standing_in(**made, provenance={"settings": {"plan": plan.to_dict()}}), "T->A") == [("t", WORDS)]
    plan = make_plan(biasamp.categorical("t", categories=["yes", "no", "nay"]), "u", "q", None)
    assert found(standing_in(**made, provenance={"settings": {"plan": plan.to_dict()}}), "T->A") == []
    other = make_plan("x", "u", "q", None)
    assert found(standing_in(**made, provenance={"settings": {"plan": other.to_dict()}}), "T->A") == [("t", WORDS)]


@pytest.mark.parametrize(
    "more",
    [
        {"entry": {"pairs_in_all": 5}},
        {"entries": lambda rows: [entry(pairs=rows, direction="T->A")]},
        {"entries": lambda rows: [entry(pairs=rows, attribute="h")]},
        {"entries": lambda rows: [entry(pairs=rows[1:])]},
        {"entries": lambda rows: []},
        {"entries": lambda rows: [entry("dpa")]},
        {"invented": []},
    ],
)
def test_where_too_little_is_listed_nothing_is_said(more: Any) -> None:
    assert found(standing_in(**more)) == []


def test_the_first_entry_that_lists_all_pairs_is_read() -> None:
    made = standing_in(
        entries=lambda rows: [entry("dpa"), entry(pairs=rows, pairs_in_all=9), entry("multi", pairs=rows)]
    )
    assert found(made) == [(None, WORDS)]


def test_records_with_several_values_have_none_in_place_of_another() -> None:
    """Values of the truth, and of the model with what it invents, have to be one for each record."""
    assert found(audit(TRUE, {"yes": (300, 500), "no": (0, 0)}, {"nay": (701, 500)})) == []
    assert found(audit(TRUE, {"yes": (299, 500), "no": (0, 0)}, {"nay": (700, 500)})) == []


def test_long_values_are_cut() -> None:
    long = "n" * 50
    held = audit({"yes": (300, 500), long: (700, 500)}, {"yes": (300, 500), long: (0, 0)}, {f"{long}m": (700, 500)})
    ((_, words),) = found(held)
    shown = [printable(f"t={value}", 40) for value in (f"{long}m", long)]
    assert words.startswith(
        f"The model gives {shown[0]}, which the truth never has, for 1,200 records, and {shown[1]} for 0,"
    )


def test_tasks_are_looked_at_once_and_attributes_one_by_one() -> None:
    one = standing_in()
    document = one.document
    again = [{**row, "attribute": "h"} for row in document["invented"]]
    entries = [*document["metrics"], {**document["metrics"][0], "attribute": "h"}]
    both = biasamp.Audit({**document, "invented": [*document["invented"], *again], "metrics": entries})  # type: ignore[typeddict-item]
    assert found(both) == [(None, WORDS)]
    yes_no = [{**row, "category": None} for row in document["invented"]]
    assert found(biasamp.Audit({**document, "invented": yes_no})) == []  # type: ignore[typeddict-item]
    assert found(biasamp.Audit({name: held for name, held in document.items() if name != "invented"})) == []  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("remand", "remanded", True),
        ("remanded", "remand", True),
        ("ok", "ok then", False),  # two letters stand in many words
        ("sir", "oh sir", True),
        ("grannted", "granted", True),
        ("Granted", "granted", True),
        ("abcde", "abcdx", False),  # four of five letters are no more than .8
        ("abcdef", "abcdex", True),
        ("granted", "refused", False),
        ("1234567", "1234568", False),  # numbers are other numbers
        ("1234567", "123456x", True),
        ("", "granted", False),
        ("  ", "granted", False),
    ],
)
def test_values_that_are_likely_one(one: str, other: str, alike: bool) -> None:
    assert _alike(one, other) is alike
