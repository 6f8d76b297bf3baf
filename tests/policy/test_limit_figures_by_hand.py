"""What a limit holds of an entry of an audit that is written by hand: value, ends, doubts and what they say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from scipy.stats import norm

from biasamp.amplification.bounds import standard_errors
from biasamp.policy.figure import Figure, statistic
from biasamp.policy.limit_figures import AUDIT_AGAIN, Held, contradicted, figures_of, signs_known, unknown_signs
from biasamp.policy.limits import Limit
from biasamp.policy.more_records import in_words, records_for
from hand_audits import entry, group, hand_audit, pair, rate

MOST = Limit(metric="directional", max=0.1)
MULTI = Limit(metric="multi", max=0.1)
OF_PAIRS = Limit(metric="directional", pairs=True, max=0.1)


def held(*entries: dict[str, Any], ignored: Any = (), min_group: int = 1, runs: int = 1, **more: Any) -> Held:
    min_records = more.pop("min_records", 0)
    return Held(hand_audit(*entries, **more), frozenset(ignored), min_group, min_records, runs)


def figure(limit: Limit, one: dict[str, Any], **more: Any) -> Figure:
    (made,) = figures_of(limit, one, held(one, **more))  # type: ignore[arg-type]
    return made


def ends(made: Figure) -> Any:
    return pytest.approx((made.value, made.low, made.high), abs=1e-12)


# Whose directions these are.


@pytest.mark.parametrize(
    ("data", "known"),
    [
        ({}, False),
        ({"train": True}, True),
        ({"base": True}, True),
        ({"base": True, "kinds": {"g": "crossing"}}, False),
        ({"base": True, "kinds": ...}, True),
        ({"train": True, "kinds": {"g": "crossing"}}, True),
    ],
)
def test_directions_of_other_records_are_known(data: dict[str, Any], known: bool) -> None:
    """A base has no crossings; train labels do."""
    assert bool(signs_known(hand_audit(entry(), data=data), "g")) is known


@pytest.mark.parametrize(
    ("train", "counts", "says"),
    [
        (True, (3, 4), True),
        (True, (3, 5), True),
        (True, (2, 4), False),
        (True, (0, 0), False),
        (True, None, False),
        (False, (4, 4), False),
    ],
)
def test_train_labels_that_lean_the_other_way_in_most_pairs(train: bool, counts: Any, says: bool) -> None:
    one = entry() if counts is None else entry(contradicted=list(counts))
    words = contradicted(one, held(one, data={"train": train}))  # type: ignore[arg-type]
    if not says:
        assert words is None
        assert figure(MOST, one, data={"train": train}).doubt is None
        return
    opposite, both = counts
    assert words == (
        f"of {both} pairs whose direction is clear in the train labels and in these records, {opposite} lean opposite ways: "
        "code both alike, or leave the train labels out"
    )
    assert figure(MOST, one, data={"train": True}).doubt == words
    assert {one.doubt for one in figures_of(OF_PAIRS, one, held(one, data={"train": True}))} == {words}  # type: ignore[arg-type]


# The aggregate.


def test_a_directional_value_has_its_bounds() -> None:
    """Two pairs of 100 records, 0.04 on either side: of their variance 2 * 2 / 100**2 each stands for errors not seen."""
    one = entry(
        value=0.05, interval=[0.0, 0.1], bounds=[0.01, 0.09], pairs=[pair(f"g={a}", "t=1", 0.0, 0.04) for a in "wm"]
    )
    made = figure(MOST, one)
    assert ends(made) == (0.05, 0.01, 0.09)
    assert (made.attribute, made.direction, made.records, made.runs) == ("g", "A->T", 200, 1)
    assert (made.bounded, made.directions, made.lent, made.unknown, made.doubt) == (False, None, False, None, None)
    assert made.errors == standard_errors(0.95) == 1.70
    variance = (0.04 / norm.ppf(0.975)) ** 2
    assert made.unseen == pytest.approx(4e-4 / (variance - 2e-4 + 4e-4))


@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_other_figures_have_their_interval(confidence: float) -> None:
    made = figure(MULTI, entry("multi", 0.05), data={"confidence": confidence})
    assert ends(made) == (0.05, 0.03, 0.07)
    assert made.errors == pytest.approx(norm.ppf(0.5 + confidence / 2))
    assert (made.bounded, made.unseen, made.of_base) == (False, 0.0, False)
    assert figure(MOST, entry(), data={"confidence": confidence}).errors == standard_errors(confidence)


def test_of_several_runs_no_number_of_records_is_known() -> None:
    made = figure(MULTI, entry("multi"), runs=3)
    assert (made.runs, made.records) == (3, None)


@pytest.mark.parametrize(
    ("metric", "base", "of_base"),
    [
        ("directional", True, True),
        ("multi", True, True),
        ("multi", False, False),
        ("mals", True, False),
        ("tpr_difference", True, False),
        ("dpa", True, False),
    ],
)
def test_rates_of_a_base_have_an_error_of_their_own(metric: str, base: bool, of_base: bool) -> None:
    limit = Limit(metric=metric, max=0.5)
    assert figure(limit, entry(metric), data={"base": base}).of_base is of_base


@pytest.mark.parametrize(
    ("groups", "outcomes", "compared"),
    [(2, 1, 1), (3, 1, 3), (4, 2, 12), (3, 0, 3), (1, 2, 2), (1, 0, 1)],
)
def test_a_largest_difference_has_the_level_of_all_that_are_compared(groups: int, outcomes: int, compared: int) -> None:
    """Ignored groups, those without a record and those of other attributes are not compared."""
    rows = [group(str(k)) for k in range(groups)]
    rows[0]["records"] = 1
    rows += [group("ignored"), group("empty", 0), group("x", attribute="h"), group("y", attribute="h")]
    one = entry("tpr_difference", outcomes=[{"outcome": f"t={k}"} for k in range(outcomes)])
    limit = Limit(metric="tpr_difference", max=0.5)
    rates = [
        {
            "attribute": "g",
            "group": f"g={name}",
            "outcome": f"t={k}",
            "ignored": name == "ignored",
            "true_positive_rate": rate(0.5, 0.4, 0.6, 90.0),
        }
        for name in [*map(str, range(groups)), "ignored"]
        for k in range(outcomes)
    ]
    data = {"groups": rows, "ignored_groups": ["g=ignored"]}
    made = figure(limit, one, data=data, rates=rates, ignored=["g=ignored"])
    assert made.errors == pytest.approx(norm.ppf(1.0 - 0.025 / compared))
    assert made.doubt is None


def test_the_cross_fitted_figure_and_its_absence() -> None:
    limit = Limit(metric="directional", figure="crossfit", max=0.1)
    one = entry(crossfit=0.03, crossfit_interval=[0.01, 0.06], bounds=[-1.0, 1.0], unknown=4)
    made = figure(limit, one)
    assert ends(made) == (0.03, 0.01, 0.06)
    assert (made.bounded, made.doubt) == (False, None)
    made = figure(limit, entry())
    assert (made.value, made.low, made.high) == (None, None, None)
    assert made.doubt == "there is no cross-fitted value: directions come from other labels, leave figure out"


def test_what_multi_has_over_its_floor() -> None:
    limit = Limit(metric="multi", figure="over_floor", max=0.1)
    assert ends(figure(limit, entry("multi", 0.05, floor=0.01))) == (0.04, 0.02, 0.06)
    assert figure(limit, entry("multi", 0.05, floor=0.01)).doubt is None
    made = figure(limit, entry("multi", 0.05, floor=0.01, interval=[None, 0.07]))
    assert (made.low, made.high) == (None, pytest.approx(0.06))
    assert figure(limit, entry("multi", 0.05)).doubt == "there is no noise floor"
    # The floor stands beside the value, and is no part of it.
    assert ends(figure(MULTI, entry("multi", 0.05, floor=0.01))) == (0.05, 0.03, 0.07)


@pytest.mark.parametrize("on", ["bound", "value"])
def test_no_interval_is_judged_by_a_handful_of_clusters(on: str) -> None:
    limit = Limit(metric="multi", on=on, max=0.1)
    made = figure(limit, entry("multi", cautions=["few"], caution_kinds=["too-few-clusters"]))
    words = "it rests on fewer than 10 clusters, whose differences are too poorly known to judge a limit by: audit more clusters"
    assert made.doubt == (words if on == "bound" else None)
    assert figure(limit, entry("multi", cautions=["few"], caution_kinds=["few-clusters"])).doubt is None


@pytest.mark.parametrize(
    ("change", "doubt"),
    [
        ({}, None),
        ({"pairs_in_all": 5}, AUDIT_AGAIN),
        ({"pairs": [pair("g=w", "t=1"), pair("g=m", "t=1", clear=False)]}, AUDIT_AGAIN),
    ],
)
def test_an_audit_without_bounds_is_judged_where_all_directions_are_clear(change: Any, doubt: str | None) -> None:
    one = entry(value=0.05, interval=[0.0, 0.1], bounds=..., unknown=..., **change)
    made = figure(MOST, one)
    assert ends(made) == (0.05, 0.0, 0.1)
    assert (made.doubt, made.bounded, made.errors) == (doubt, False, pytest.approx(norm.ppf(0.975)))
    assert figure(MOST, one, data={"train": True}).doubt is None


def unsure() -> dict[str, Any]:
    """Four pairs of t, whose directions are one fact, two of u, one of which is told, and two of v, which are sure.

    All of them are 8: of t move 0.04 and 0.02 with their signs, of the other value as much; of u 0.08 has no sign.
    """
    rows = [
        pair("g=w", "t=0", 0.04, sign=-1, delta=-0.04, sign_p=0.3, known=False),
        pair("g=w", "t=1", 0.04, delta=0.04, sign_p=0.3, known=False),
        pair("g=m", "t=0", -0.02, delta=-0.02, sign_p=0.3, known=False),
        pair("g=m", "t=1", -0.02, sign=-1, delta=0.02, sign_p=0.3, known=False),
        pair("g=w", "u", 0.0, sign=0, delta=0.08, sign_p=None, known=False),
        pair("g=m", "u", 0.05, delta=0.05, sign_p=0.3),
        pair("g=w", "v", 0.05, delta=0.05),
        pair("g=m", "v", 0.05, delta=0.05),
    ]
    return entry(value=0.03, pairs=rows, bounds=[-0.1, 0.2], unknown=5)


VARIABLES = {"t=0": "t", "t=1": "t", "g=w": "g", "g=m": "g"}


def test_directions_that_are_unknown_count_together_where_they_are_one() -> None:
    """Of t (p = .3) and of u without a sign (p = 1); free are t, u at 1, u at .3 and v: a p-value of .01 / 4 is clear."""
    made = unknown_signs(unsure(), VARIABLES)  # type: ignore[arg-type]
    assert made is not None
    assert made.changes == pytest.approx([(0.04 + 0.04 - 0.02 - 0.02) / 8, 0.0])
    assert made.sizes == pytest.approx([0.04 / 8, 0.08 / 8])
    assert made.statistics == pytest.approx([norm.isf(0.15), 0.0], abs=1e-12)
    assert made.needed == pytest.approx(norm.isf(0.01 / 4 / 2))


def test_an_aggregate_with_unknown_directions() -> None:
    made = figure(MOST, unsure(), data={"task_labels": [{"label": f"t={k}", "variable": "t"} for k in "01"]})
    assert ends(made) == (0.03, -0.1, 0.2)
    assert (made.bounded, made.directions, made.lent) == (True, (5, 8), False)
    assert made.unknown is not None
    assert made.unknown.sizes.sum() == pytest.approx(0.12 / 8)
    lent = figure(MOST, unsure(), data={"train": True})
    assert (lent.bounded, lent.directions, lent.lent, lent.unknown) == (True, (5, 8), True, None)
    none = figure(MOST, {**unsure(), "unknown": 0})
    assert (none.bounded, none.directions, none.lent, none.unknown) == (False, None, False, None)


def test_without_marks_the_least_sure_are_unknown() -> None:
    """As documents of earlier versions have them: so many, and not which."""
    rows = [
        pair("g=w", "t", 0.08, sign_p=0.2, known=...),
        pair("g=w", "u", 0.04, sign_p=0.6, known=...),
        pair("g=w", "v", 0.02, sign_p=None, known=...),
        pair("g=w", "w", None, sign_p=0.7, known=...),
    ]
    rows = [{name: held for name, held in row.items() if held is not ...} for row in rows]
    for many, changes in ((1, [0.02]), (2, [0.0, 0.02]), (3, [0.04, 0.0, 0.02]), (4, [0.08, 0.04, 0.0, 0.02])):
        made = unknown_signs(entry(pairs=rows, unknown=many), {})  # type: ignore[arg-type]
        assert made is not None
        assert made.changes * 4 == pytest.approx(changes)
        assert made.needed == pytest.approx(statistic(0.01 / 4))
    for many in (0, 5):
        assert unknown_signs(entry(pairs=rows, unknown=many), {}) is None  # type: ignore[arg-type]
    assert unknown_signs(entry(pairs=rows, unknown=1, pairs_in_all=5), {}) is None  # type: ignore[arg-type]
    assert unknown_signs(entry(pairs=rows, unknown=...), {}) is None  # type: ignore[arg-type]
    assert not figure(MOST, entry(unknown=...)).bounded


def test_a_direction_of_which_nothing_is_known_is_tied_to_one_of_no_evidence() -> None:
    rows = [pair("g=w", "t=0", 0.04, sign_p=None, known=False), pair("g=w", "t=1", 0.02, sign_p=1.0, known=False)]
    made = unknown_signs(entry(pairs=rows, unknown=2), VARIABLES)  # type: ignore[arg-type]
    assert made is not None
    assert made.changes == pytest.approx([0.03])


def test_given_tasks_are_tied_by_their_variable() -> None:
    rows = [pair(f"t={t}", f"g={a}", 0.04, sign_p=0.3, known=False) for t in "01" for a in "wm"]
    for variables, many in ((VARIABLES, 1), ({}, 2)):
        made = unknown_signs(entry(pairs=rows, unknown=4, direction="T->A"), variables)  # type: ignore[arg-type]
        assert made is not None
        assert len(made.changes) == many
        assert made.changes.sum() == pytest.approx(0.04)


def test_changes_from_the_model_before() -> None:
    now = unsure()
    before = {**now, "pairs": [{**row, "delta": None if row["given"] == "g=m" else 0.01} for row in now["pairs"]]}
    made = unknown_signs(now, VARIABLES, before)  # type: ignore[arg-type]
    assert made is not None
    # Signs -, +, +, - of changes -0.05, 0.03, -0.02, 0.02; without a sign 0.07.
    assert made.changes * 8 == pytest.approx([0.05 + 0.03 - 0.02 - 0.02, 0.0])
    assert made.sizes * 8 == pytest.approx([0.04, 0.07])
    other = {**before, "pairs": before["pairs"][1:]}
    assert unknown_signs(now, VARIABLES, other) is None  # type: ignore[arg-type]
    more = {**before, "pairs": [*before["pairs"], pair("g=x", "t=0")]}
    assert unknown_signs(now, VARIABLES, more) is not None  # type: ignore[arg-type]


# Intervals without width.


def test_an_interval_without_width_is_as_wide_as_its_pairs() -> None:
    """Half of 0.04 and of 0.02 are 0.02 and 0.01: 0.015 on average, and no value of Multi lies below 0."""
    rows = [pair("g=w", "t=1", 0.0, 0.02), pair("g=m", "t=1", 0.0, 0.01)]
    flat = {"pairs": rows, "interval": [0.0, 0.0], "bounds": [0.0, 0.0]}
    assert ends(figure(MOST, entry(value=0.0, **flat))) == (0.0, -0.015, 0.015)
    assert ends(figure(MULTI, entry("multi", 0.0, **flat))) == (0.0, 0.0, 0.015)
    wide = {**flat, "interval": [0.04, 0.04]}
    assert ends(figure(MULTI, entry("multi", 0.04, **wide))) == (0.04, 0.025, 0.055)
    on_value = figure(Limit(metric="multi", on="value", max=0.1), entry("multi", 0.0, **flat))
    assert ends(on_value) == (0.0, 0.0, 0.0)
    turned = {**flat, "interval": [0.05, 0.03]}
    assert ends(figure(MULTI, entry("multi", 0.04, **turned))) == (0.04, 0.025, 0.055)


NO_WIDTH = "its interval has no width: that nothing varies in these records is no certainty"


@pytest.mark.parametrize(
    ("metric", "change", "doubt"),
    [
        ("multi", {}, None),
        ("multi", {"pairs_in_all": 3}, NO_WIDTH),
        ("multi", {"pairs": []}, NO_WIDTH),
        ("multi", {"pairs": [pair("g=w", "t=1", None), pair("g=m", "t=1")]}, NO_WIDTH),
        ("multi", {"pairs": [{**pair("g=w", "t=1"), "low": None}, pair("g=m", "t=1")]}, NO_WIDTH),
        ("multi", {"pairs": [{**pair("g=w", "t=1"), "high": None}, pair("g=m", "t=1")]}, NO_WIDTH),
        (
            "multi",
            {"pairs": [pair("g=w", "t=1", 0.0, 0.0), pair("g=m", "t=1", 0.0, 0.0)]},
            "no pair has a direction, so that nothing is measured",
        ),
        ("mals", {}, NO_WIDTH),  # has pairs and no direction
        ("tpr_difference", {}, NO_WIDTH),
        ("dpa", {"pairs": ..., "pairs_in_all": ...}, NO_WIDTH),
    ],
)
def test_what_has_no_width_and_nothing_to_go_by(metric: str, change: dict[str, Any], doubt: str | None) -> None:
    rows = {"pairs": [pair("g=w", "t=1"), pair("g=m", "t=1")], **change}
    made = figure(Limit(metric=metric, max=0.5), entry(metric, 0.0, interval=[0.0, 0.0], **rows))
    assert made.doubt == doubt
    for nothing in ([None, 0.0], [0.0, None]):
        assert figure(Limit(metric=metric, max=0.5), entry(metric, 0.0, interval=nothing, **rows)).doubt is None
    assert figure(Limit(metric=metric, max=0.5), entry(metric, None, interval=[0.0, 0.0], **rows)).doubt is None


# Missing labels.

DROPPED = {"missing": "drop", "missing_values": 50}


@pytest.mark.parametrize("data", [{}, {"weighted": True, **DROPPED}])
def test_without_missing_labels_or_with_weights_records_are_not_counted_anew(data: dict[str, Any]) -> None:
    assert figure(MOST, entry(n=10), data=data, min_records=50, min_group=1000).doubt is None


def test_an_entry_rests_on_the_records_that_have_the_labels() -> None:
    assert figure(MOST, entry(n=50), data=DROPPED, min_records=50).doubt is None
    made = figure(MOST, entry(n=49), data=DROPPED, min_records=50)
    needed = records_for(50, 49, 200)
    assert made.doubt == f"it rests on 49 records that have the labels; 50 are needed{in_words(needed)}"
    assert made.needed == needed
    made = figure(MOST, entry(n=49), data=DROPPED, min_records=50, runs=2)
    assert (made.doubt, made.needed) == ("it rests on 49 records that have the labels; 50 are needed", None)


def test_groups_have_the_most_records_of_their_pairs() -> None:
    """Of m 40 records have one of the labels, which is enough at 40; of an ignored group, and of outcomes, any number is."""
    rows = [pair("g=w", "t=1", support=90.0), pair("g=m", "t=1", support=10.0), pair("g=m", "t=0", support=40.0)]
    rows += [pair("g=x", "t=0", support=3.0)]
    one = entry(pairs=rows)
    groups = {"groups": [group("w"), group("m"), group("x")], "ignored_groups": ["g=x"], **DROPPED}
    assert figure(MOST, one, data=groups, min_group=40, ignored=["g=x"]).doubt is None
    made = figure(MOST, one, data=groups, min_group=41, ignored=["g=x"])
    needed = records_for(41, 40.0, 200)
    assert made.doubt == f"fewer than 41 records that have the labels: g=m (40){in_words(needed)}"
    assert made.needed == needed
    made = figure(MOST, one, data=groups, min_group=41)
    assert made.doubt == f"fewer than 41 records that have the labels: g=x (3), g=m (40){in_words(made.needed)}"
    assert made.needed == records_for(41, 3.0, 200)
    assert figure(MOST, one, data=groups, min_group=41, runs=2).needed is None
    assert figure(MOST, {**one, "direction": "T->A"}, data=groups, min_group=41).doubt is None
    empty = entry(pairs=[pair("g=w", "t=1"), pair("g=m", "t=1", support=0.0)])
    assert figure(MOST, empty, data=groups, min_group=1).doubt == "fewer than 1 records that have the labels: g=m (0)"
    bare = entry("tpr_difference")
    assert figure(Limit(metric="tpr_difference", max=0.5), bare, data=DROPPED, min_group=41).doubt is None


# Groups and values that no pair is left of.


def gone(name: str, side: str = "given", **more: Any) -> dict[str, Any]:
    row = {"metric": "directional", "attribute": "g", "direction": "A->T", "given": "g=w", "outcome": "t=1"}
    return {**row, side: name, "reason": "no record has it", **more}


@pytest.mark.parametrize(
    ("rows", "doubt"),
    [
        ([gone("g=x", given_count=0)], "no record is of g=x: the value is over the other groups only"),
        ([gone("g=x", support=0)], "no record is of g=x: the value is over the other groups only"),
        ([gone("g=x", given_count=0, support=9)], "no record is of g=x: the value is over the other groups only"),
        ([gone("g=x", given_count=1)], "g=x left out of the value: no record has it"),
        ([gone("g=x", support=3)], "g=x left out of the value: no record has it"),
        ([gone("g=x")], "g=x left out of the value: no record has it"),
        (
            [gone("g=y", given_count=0), gone("g=x", given_count=0)],
            "no record is of g=x, g=y: the value is over the other groups only",
        ),
        (
            [gone("g=y", given_count=0, reason="y"), gone("g=x", given_count=2, reason="x")],
            "g=x, g=y left out of the value: x",
        ),
        ([gone("g=w", given_count=0)], None),  # another of its pairs is there
        ([gone("g=x", given_count=0, ignored=True)], None),
        ([gone("g=x", given_count=0, metric="multi")], None),
        ([gone("g=x", given_count=0, attribute="h")], None),
        ([gone("g=x", given_count=0, direction="T->A")], None),
        ([gone("g=x", given_count=0, direction=None)], None),
        ([gone("t=7", given_count=0)], None),  # no group
        ([], None),
    ],
)
def test_groups_that_no_pair_is_left_of(rows: Any, doubt: str | None) -> None:
    groups = {"groups": [group("w"), group("m"), group("x", 0), group("y", 0), group("z", attribute="h")]}
    made = figure(MOST, entry(), data=groups, excluded=rows)
    assert made.doubt == doubt
    if doubt is not None and len(rows) == 1:
        assert figure(MOST, entry(), data=groups, excluded=rows, ignored=["g=x"]).doubt is None
        bare = [{name: held for name, held in rows[0].items() if name != "given"}]
        assert figure(MOST, entry(), data=groups, excluded=bare).doubt is None


def test_groups_are_outcomes_where_tasks_are_given() -> None:
    rows = [pair(f"t={t}", f"g={a}") for t in "01" for a in "wm"]
    one = entry(pairs=rows, direction="T->A")
    groups = {"groups": [group("w"), group("m"), group("x", 0)]}
    lost = gone("g=x", "outcome", given="t=1", direction="T->A", given_count=0)
    made = figure(MOST, one, data=groups, excluded=[lost])
    assert made.doubt == "no record is of g=x: the value is over the other groups only"
    assert figure(MOST, entry(), data=groups, excluded=[{**lost, "direction": "A->T"}]).doubt is None
    no_pairs = entry("dpa", direction="A->T")
    lost |= {"metric": "dpa", "direction": "A->T", "given": "g=x"}
    assert figure(Limit(metric="dpa", max=0.5), no_pairs, data=groups, excluded=[lost]).doubt is None


def test_all_values_but_one_that_train_labels_lack() -> None:
    """Of three values, c is there and a and b have no direction: c alone is left."""
    labels = [{"label": f"t={k}", "variable": "t", "category": k} for k in "bc"]
    reason = "the train labels have no record of it"
    lost = [gone(f"t={k}", "outcome", lacking=f"t={k}", reason=reason) for k in "ab"]
    alone = entry(pairs=[pair("g=w", "t=c"), pair("g=m", "t=c")])
    data = {"task_labels": labels}
    words = f"t=a left out of the value, and one value of t alone is left: {reason}"
    assert figure(MOST, alone, data=data, excluded=lost).doubt == words
    two = entry(pairs=[pair("g=w", "t=c"), pair("g=m", "t=b"), pair("g=m", "t=c")])
    assert figure(MOST, two, data=data, excluded=lost[:1]).doubt is None
    # Left out for another reason, or of another variable, or in another pair.
    other = [{name: held for name, held in row.items() if name != "lacking"} for row in lost]
    assert figure(MOST, alone, data=data, excluded=other).doubt is None
    assert figure(MOST, alone, data=data, excluded=[{**lost[0], "outcome": "u=a"}]).doubt is None
    assert figure(MOST, alone, data=data, excluded=[{**lost[0], "outcome": "t=c"}]).doubt is None
    found = figure(MOST, alone, data=data, excluded=[{**lost[0], "outcome": "t=c"}, lost[1]])
    assert found.doubt == words.replace("t=a", "t=b")


# One outcome of a difference of rates.


def of_outcome(*rows: Mapping[str, Any], rates: Any = (), **more: Any) -> list[Figure]:
    one = entry("tpr_difference", 0.3, outcomes=list(rows), outcome="t=1", interval=[0.2, 0.4])
    limit = Limit(metric="tpr_difference", outcome=more.pop("limited", "t=1"), max=0.5)
    return figures_of(limit, one, held(one, rates=list(rates), **more))  # type: ignore[arg-type]


def test_a_difference_of_one_outcome() -> None:
    rows = [
        {"outcome": f"t={k}", "tpr_difference": 0.1 * k, "low": 0.1 * k - 0.05, "high": 0.1 * k + 0.05} for k in (1, 2)
    ]
    for name, value in (("t=1", 0.1), ("t=2", 0.2)):
        (made,) = of_outcome(*rows, limited=name)
        assert ends(made) == (value, value - 0.05, value + 0.05)
        assert (made.outcome_label, made.attribute, made.direction, made.records) == (name, "g", "A->T", 200)
        assert made.errors == pytest.approx(norm.ppf(1 - 0.025 / 2))
    assert of_outcome(*rows, limited="t=3") == []
    # Without ends of its own, only the worst has an interval.
    bare = [{"outcome": f"t={k}", "tpr_difference": 0.1 * k} for k in (1, 2)]
    (made,) = of_outcome(*bare)
    assert ends(made) == (0.1, 0.2, 0.4)
    (made,) = of_outcome(*bare, limited="t=2")
    assert (made.value, made.low, made.high) == (0.2, None, None)
    (made,) = of_outcome({"outcome": "t=2"}, limited="t=2")
    assert made.value is None


def test_a_rate_of_few_records_withholds_a_pass_of_its_outcome() -> None:
    rows = [{"outcome": f"t={k}", "tpr_difference": 0.1, "low": 0.05, "high": 0.2} for k in (1, 2)]
    sizes = {("w", 1): 50.0, ("m", 1): 29.0, ("w", 2): 60.0, ("m", 2): 30.0}
    rates = [
        {
            "attribute": "g",
            "group": f"g={a}",
            "outcome": f"t={k}",
            "ignored": False,
            "true_positive_rate": rate(0.5, 0.4, 0.6, n),
        }
        for (a, k), n in sizes.items()
    ]
    (made,) = of_outcome(*rows, rates=rates, min_group=30)
    assert made.withheld is not None
    assert made.withheld.startswith("fewer than 30 records that the rate is taken over: g=m (29)")
    (made,) = of_outcome(*rows, rates=rates, min_group=30, limited="t=2")
    assert made.withheld is None
    aggregate = entry("tpr_difference", outcomes=rows)
    (made,) = figures_of(
        Limit(metric="tpr_difference", max=0.5),
        aggregate,  # type: ignore[arg-type]
        held(aggregate, rates=rates, min_group=30),
    )
    assert made.withheld is not None


# Pairs.


def pairs_of(limit: Limit, *rows: dict[str, Any], metric: str = "directional", **more: Any) -> list[Figure]:
    many = more.pop("pairs_in_all", len(rows))
    one = entry(metric, pairs=list(rows), pairs_in_all=many)
    return figures_of(limit, one, held(one, **more))  # type: ignore[arg-type]


def names(figures: list[Figure]) -> list[tuple[str | None, str | None]]:
    return [(made.given, made.outcome_label) for made in figures]


ALL = [pair(f"g={a}", f"t={t}", mirror=t == "0") for a in "wm" for t in "01"]


@pytest.mark.parametrize(
    ("limit", "ignored", "found"),
    [
        ({"pairs": True}, (), [("g=w", "t=1"), ("g=m", "t=1")]),  # the other value says the same
        ({"given": "g=w"}, (), [("g=w", "t=1")]),
        ({"outcome": "t=0"}, (), [("g=w", "t=0"), ("g=m", "t=0")]),
        ({"given": "g=m", "outcome": "t=0"}, (), [("g=m", "t=0")]),
        ({"pairs": True}, ("g=w",), [("g=m", "t=1")]),
        ({"pairs": True}, ("t=1",), []),
        ({"given": "g=x"}, (), []),
    ],
)
def test_which_pairs_a_limit_is_about(limit: Any, ignored: Any, found: Any) -> None:
    made = pairs_of(Limit(metric="directional", max=0.1, **limit), *ALL, ignored=ignored)
    assert names(made) == found
    assert all(one.doubt is None for one in made)


def test_pairs_that_are_undefined_are_doubts() -> None:
    lost = [gone("t=2", "outcome"), gone("t=2", "outcome", given="g=m", reason="too few")]
    made = pairs_of(OF_PAIRS, *ALL, excluded=lost)
    assert names(made)[2:] == [("g=w", "t=2"), ("g=m", "t=2")]
    assert [one.doubt for one in made[2:]] == [
        "the pair is undefined: no record has it",
        "the pair is undefined: too few",
    ]
    assert (made[2].attribute, made[2].records) == ("g", 200)
    named = pairs_of(Limit(metric="directional", given="g=m", max=0.1), *ALL, excluded=lost)
    assert names(named) == [("g=m", "t=1"), ("g=m", "t=2")]
    bare = [{name: held for name, held in lost[0].items() if name != "outcome"}]
    assert names(pairs_of(OF_PAIRS, *ALL, excluded=bare)) == names(made)[:2]


@pytest.mark.parametrize(
    ("limit", "many", "doubted"),
    [
        ({"pairs": True}, 4, False),
        ({"pairs": True}, 1004, True),
        ({"given": "g=w"}, 1004, True),
        ({"outcome": "t=1"}, 1004, True),
        ({"given": "g=w", "outcome": "t=1"}, 1004, False),  # which is listed
        ({"given": "g=w", "outcome": "t=7"}, 1004, True),
        ({"pairs": True}, 5, True),
    ],
)
def test_pairs_that_are_not_listed_are_one_doubt(limit: Any, many: int, doubted: bool) -> None:
    made = pairs_of(Limit(metric="directional", max=0.1, **limit), *ALL, pairs_in_all=many)
    doubts = [one for one in made if one.doubt is not None]
    assert len(doubts) == doubted
    if doubted:
        words = "pairs are not in the audit's document, which lists those that change most"
        assert doubts[0].doubt == f"{many - 4:,} {words}"
        assert (doubts[0].given, doubts[0].outcome_label) == (limit.get("given"), limit.get("outcome"))


def test_an_entry_without_pairs_has_none() -> None:
    one = entry(pairs=...)
    assert figures_of(OF_PAIRS, one, held(one)) == []  # type: ignore[arg-type]


def test_a_pair_has_its_own_interval() -> None:
    (made,) = pairs_of(OF_PAIRS, pair("g=w", "t=1", 0.06, 0.04))
    assert ends(made) == (0.06, 0.02, 0.10)
    assert (made.given, made.outcome_label, made.sign_p) == ("g=w", "t=1", 1e-9)
    assert (made.bounded, made.unknown, made.lent, made.doubt) == (False, None, False, None)
    variance = (0.04 / norm.ppf(0.975)) ** 2
    assert made.unseen == pytest.approx(2e-4 / variance)


def test_the_records_of_a_pair() -> None:
    limit = Limit(metric="directional", pairs=True, max=0.1, min_support=100)
    assert pairs_of(limit, pair("g=w", "t=1", 0.06))[0].doubt is None
    (made,) = pairs_of(limit, pair("g=w", "t=1", 0.06, support=99.0))
    needed = records_for(100, 99.0, 200)
    assert made.doubt == f"the pair rests on 99 records; 100 are needed{in_words(needed)}"
    assert made.needed == needed
    (made,) = pairs_of(limit, pair("g=w", "t=1", 0.06, support=99.0), runs=2)
    assert (made.doubt, made.needed) == ("the pair rests on 99 records; 100 are needed", None)


def test_a_pair_of_multi_has_no_direction() -> None:
    limit = Limit(metric="multi", pairs=True, max=0.1)
    (made,) = pairs_of(limit, pair("g=w", "t=1", 0.06, 0.01, sign_p=0.9, known=False), metric="multi")
    assert ends(made) == (0.06, 0.05, 0.07)
    assert (made.sign_p, made.bounded, made.unknown) == (None, False, None)


@pytest.mark.parametrize("p", [0.05, 0.0501, 0.7, None])
def test_a_pair_whose_direction_is_not_clear_has_either_sign(p: float | None) -> None:
    """From 0.02 to 0.1 it lies, or turned round from -0.1 to -0.02."""
    (made,) = pairs_of(OF_PAIRS, pair("g=w", "t=1", 0.06, 0.04, delta=-0.06, sign_p=p))
    assert made.sign_p == (1.0 if p is None else p)
    if p == 0.05:
        assert ends(made) == (0.06, 0.02, 0.10)
        assert (made.bounded, made.unknown) == (False, None)
        return
    assert ends(made) == (0.06, -0.10, 0.10)
    assert (made.bounded, made.directions, made.lent) == (True, (1, 1), False)
    assert made.unknown is not None
    assert (made.unknown.changes.tolist(), made.unknown.sizes.tolist()) == ([0.06], [0.06])
    assert made.unknown.statistics.tolist() == [statistic(1.0 if p is None else p)]
    assert made.unknown.needed == pytest.approx(norm.isf(0.025))
    (down,) = pairs_of(OF_PAIRS, pair("g=w", "t=1", -0.06, 0.04, sign_p=p))
    assert ends(down) == (-0.06, -0.10, 0.10)
    (across,) = pairs_of(OF_PAIRS, pair("g=w", "t=1", 0.01, 0.04, sign_p=p))
    assert ends(across) == (0.01, -0.05, 0.05)


def test_a_pair_without_figures_stays_as_it_is() -> None:
    (made,) = pairs_of(OF_PAIRS, pair("g=w", "t=1", None, sign_p=0.5))
    assert (made.value, made.low, made.high, made.bounded, made.sign_p) == (None, None, None, False, 0.5)
    half = {**pair("g=w", "t=1", 0.06, 0.04, sign_p=0.5), "high": None}
    assert not pairs_of(OF_PAIRS, half)[0].bounded
    (made,) = pairs_of(OF_PAIRS, {**pair("g=w", "t=1", 0.06, sign_p=0.5), "amplification": None, "delta": None})
    assert made.unknown is not None
    assert (made.unknown.changes.tolist(), made.unknown.sizes.tolist()) == ([0.0], [0.0])


def test_directions_that_other_records_lend() -> None:
    """As told as they are; one that they do not tell may be either, whatever the evaluated records say of it."""
    (made,) = pairs_of(OF_PAIRS, pair("g=w", "t=1", 0.06, 0.04, sign_p=0.9), data={"train": True})
    assert ends(made) == (0.06, 0.02, 0.10)
    assert (made.sign_p, made.bounded) == (None, False)
    (made,) = pairs_of(OF_PAIRS, pair("g=w", "t=1", 0.06, 0.04, known=False), data={"train": True})
    assert ends(made) == (0.06, -0.10, 0.10)
    assert (made.sign_p, made.bounded, made.lent, made.unknown) == (1.0, True, True, None)
    bare = {name: held for name, held in pair("g=w", "t=1", 0.06, 0.04).items() if name != "known"}
    assert not pairs_of(OF_PAIRS, bare, data={"train": True})[0].bounded


def test_what_the_policy_leaves_out() -> None:
    rows = [group("w", 70), group("m", 30), group("x", 4)]
    made = held(data={"groups": rows}, ignored=["g=x", "g=w", "g=gone"])
    assert made.left_out_groups == {"g=w": 70, "g=x": 4}
    assert made.records == 200
    assert made.variables == {"t=0": "t", "t=1": "t", "g=w": "g", "g=m": "g", "g=x": "g"}
    assert Held(hand_audit(), frozenset(), 3, 4).runs == 1


def test_a_pair_of_one_record_has_its_part_of_errors_not_seen() -> None:
    (made,) = pairs_of(OF_PAIRS, pair("g=w", "t=1", 0.0, 3.0 * norm.ppf(0.975), support=1.0))
    assert made.unseen == pytest.approx(2.0 / 9.0)
