"""Which warnings of an audit stand beside a figure that a limit judges."""

from __future__ import annotations

from typing import Any

import pytest

from biasamp.data import printable
from biasamp.policy.limit_cautions import cautions_of
from biasamp.policy.limits import Limit
from hand_audits import entry, hand_audit

LIMIT = Limit(metric="directional", max=0.1)
CROSSFIT = (
    "the cross-fitted value pulls to 0 where directions are weak, so that it may pass a model that is over the limit; "
    "without figure the limit counts pairs of unknown direction at their worse sign"
)
VALUE = "the value alone is judged, without regard to how sure it is"
OF_ALL = "attackers are of all records: groups that are ignored count in it"


def cautions(
    limit: Limit = LIMIT, *entries: Any, direction: str | None = "A->T", ignored: bool = False, **more: Any
) -> list[str]:
    return list(cautions_of(limit, "g", direction, hand_audit(*entries, **more), ignored))


@pytest.mark.parametrize(
    ("limit", "ignored", "said"),
    [
        (LIMIT, False, []),
        (LIMIT, True, []),
        (Limit(metric="directional", figure="crossfit", max=0.1), False, [CROSSFIT]),
        (Limit(metric="multi", figure="over_floor", max=0.1), False, []),
        (Limit(metric="directional", on="value", max=0.1), False, [VALUE]),
        (Limit(metric="directional", on="value", figure="crossfit", max=0.1), False, [CROSSFIT, VALUE]),
        (Limit(metric="dpa", max=0.1), True, [OF_ALL]),
        (Limit(metric="dpa", max=0.1), False, []),
        (Limit(metric="leakage", on="value", max=0.1), True, [VALUE, OF_ALL]),
        (Limit(metric="tpr_difference", max=0.1), True, []),
    ],
)
def test_what_is_to_know_of_the_limit_itself(limit: Limit, ignored: bool, said: list[str]) -> None:
    assert cautions(limit, ignored=ignored) == said


def test_nothing_is_ignored_where_nothing_is_said() -> None:
    assert cautions_of(Limit(metric="dpa", max=0.1), "g", "A->T", hand_audit()) == ()


def test_the_cautions_of_a_figure_are_those_of_its_entry() -> None:
    mine = entry(cautions=["one", "two", "one"])
    others = [entry(cautions=["x"], **{name: value}) for name, value in (("attribute", "h"), ("direction", "T->A"))]
    assert cautions(LIMIT, mine, *others, entry("multi", cautions=["y"])) == ["one", "two"]
    assert cautions(LIMIT, entry()) == []
    assert cautions(LIMIT, {**mine, "direction": None}, direction=None) == ["one", "two"]


@pytest.mark.parametrize(
    ("limit", "change", "said"),
    [
        (LIMIT, {}, ["few"]),
        (LIMIT, {"bounds": ...}, ["signs", "few"]),
        (Limit(metric="directional", on="value", max=0.1), {}, [VALUE, "signs", "few"]),
        (Limit(metric="directional", figure="crossfit", max=0.1), {}, [CROSSFIT, "signs", "few"]),
        (LIMIT, {"caution_kinds": ...}, ["signs", "few"]),
    ],
)
def test_bounds_count_either_sign_and_need_no_caution_of_it(limit: Limit, change: Any, said: list[str]) -> None:
    one = entry(**{"cautions": ["signs", "few"], "caution_kinds": ["unclear-signs", "few-clusters"], **change})
    assert cautions(limit, one) == said


def invented(label: str, direction: str = "A->T", attribute: str = "g") -> dict[str, Any]:
    return {"label": label, "direction": direction, "attribute": attribute}


@pytest.mark.parametrize(("many", "shown"), [(1, "t=0"), (3, "t=0, t=1, t=2"), (4, "t=0, t=1, t=2 and 1 more")])
def test_labels_that_only_the_model_gives(many: int, shown: str) -> None:
    rows = [invented(f"t={k}") for k in range(many)]
    rows += [invented("g=x", "T->A"), invented("t=9", attribute="h")]
    said = f"the model gives labels that the truth never has, which are in no pair: {shown}"
    assert cautions(invented=rows) == [said]


def test_a_figure_without_direction_sees_the_inventions_of_both() -> None:
    rows = [invented("t=1"), invented("g=x", "T->A"), invented("t" * 60)]
    (said,) = cautions(invented=rows, direction=None)
    assert said.endswith(f"in no pair: t=1, g=x, {printable('t' * 60, 40)}")
    assert cautions(invented=rows[1:2]) == []


def finding(**more: Any) -> dict[str, Any]:
    return {"kind": "caution", "code": "threshold", "text": "look", **more}


@pytest.mark.parametrize(
    ("row", "direction", "said"),
    [
        (finding(), "A->T", True),
        (finding(kind="finding"), "A->T", False),
        (finding(metric="directional", attribute="g", direction="A->T"), "A->T", True),
        (finding(metric="multi"), "A->T", False),
        (finding(attribute="h"), "A->T", False),
        (finding(direction="T->A"), "A->T", False),
        (finding(direction="T->A"), None, True),
        (finding(metric=None, attribute=None, direction=None), "A->T", True),
        *(
            (finding(code=code), "A->T", False)
            for code in ("incomparable", "not-fairness", "over-zero", "perceived", "sensitive-prediction", "left-out")
        ),
        *((finding(code=code), "A->T", False) for code in ("not-ground-truth", "disagreement", "unclear-signs")),
    ],
)
def test_which_findings_concern_a_figure(row: dict[str, Any], direction: str | None, said: bool) -> None:
    assert cautions(findings=[row], direction=direction) == (["look"] if said else [])


def test_each_is_said_once_and_the_limits_own_come_first() -> None:
    limit = Limit(metric="directional", on="value", max=0.1)
    found = cautions(limit, entry(cautions=["look", "one"]), findings=[finding(), finding(text="more")])
    assert found == [VALUE, "look", "one", "more"]
