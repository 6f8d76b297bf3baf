"""Which audit may be a baseline, what it has that an audit lacks, and the differences to it, in audits that are written by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import biasamp
from amplified import audited, columns
from biasamp.policy import Limit, Policy, PolicyError
from biasamp.policy.baseline import (
    _other_data,
    check_baseline,
    compared,
    differences,
    held_against_itself,
    made_after,
    made_unlike,
    vanished,
)
from biasamp.policy.limit_figures import AUDIT_AGAIN
from biasamp.policy.verdict import Check
from hand_audits import entry, group, hand_audit, pair

LIMIT = {"metric": "directional", "max": 0.1}
AGAINST = {**LIMIT, "against": "baseline"}
LINES: dict[tuple[str | int, ...], int] = {("baseline",): 5, ("limit", 0): 7, ("limit", 1): 8, ("limit", 2): 9}


def policy(*limits: Any, **more: Any) -> Policy:
    return Policy(limits=limits or (AGAINST,), lines=LINES, source="p.toml", **more)


def refused(held: Policy, audit: biasamp.Audit, baseline: biasamp.Audit | None) -> tuple[int | None, str] | None:
    try:
        check_baseline(held, audit, baseline)
    except PolicyError as error:
        return (error.line, error.problem) if (error.key, error.source) == ("baseline", "p.toml") else (-1, str(error))
    return None


NONE = "a limit is against the baseline, but there is none: name a saved audit under [baseline], or give one"
UNUSED = (
    "the baseline (old.csv) is used by no limit, so it would decide nothing: "
    'add a limit with against = "baseline", or leave the baseline out'
)


def test_a_baseline_is_there_where_a_limit_uses_it() -> None:
    now, old = hand_audit(entry()), hand_audit(entry(), source="old.csv")
    assert refused(policy(LIMIT), now, None) is None
    assert refused(policy(AGAINST), now, old) is None
    assert refused(policy(LIMIT, AGAINST), now, old) is None
    assert refused(policy(AGAINST), now, None) == (7, NONE)
    assert refused(policy(LIMIT, LIMIT, AGAINST), now, None) == (9, NONE)
    assert refused(policy(LIMIT), now, old) == (5, UNUSED)


def rated(rate: float | None, **more: Any) -> dict[str, Any]:
    return entry(pairs=[pair("g=w", "t=1", truth_rate=rate), pair("g=m", "t=1")], **more)


@pytest.mark.parametrize(
    ("now", "old", "words"),
    [
        ({}, {}, None),
        ({"records": 1200}, {}, "200 records against 1,200"),
        (
            {"groups": [group("w", 99), group("m", 101)]},
            {"groups": [group("w", 1100), group("m", 900)]},
            "g=w has 1,100 records against 99",
        ),
        ({"groups": [group("m")]}, {}, "g=w has 100 records against 0"),
        ({"groups": [group("w"), group("m"), group("x")]}, {}, None),  # the baseline need not have it
        (
            {},
            {"groups": [group("w"), group("m"), group("a", attribute="h")]},
            None,
        ),  # of an attribute that is not judged
        (
            {"attributes": ["g", "h"]},
            {"groups": [group("w"), group("m"), group("a", 3, attribute="h")]},
            "h=a has 3 records against 0",
        ),
    ],
)
def test_other_records_and_groups(now: Any, old: Any, words: str | None) -> None:
    audit, baseline = hand_audit(data=now), hand_audit(data=old, source="old.csv")
    assert _other_data(audit, baseline) == words
    ending = "Audit both models on the same records, or accept an unpaired comparison with [baseline] paired = false"
    expected = (
        None if words is None else (5, f"the baseline (old.csv) is of other data than data.csv: {words}. {ending}")
    )
    assert refused(policy(), audit, baseline) == expected
    assert refused(policy(paired=False), audit, baseline) is None


@pytest.mark.parametrize(
    ("now", "old", "data", "words"),
    [
        (rated(0.5), rated(0.5), {}, None),
        (rated(0.5), rated(0.5 + 5e-10), {}, None),
        (rated(0.5), rated(0.5 + 2e-9), {}, "t=1 is true of 0.5000 of g=w against 0.5000"),
        (rated(0.5), rated(0.25), {}, "t=1 is true of 0.2500 of g=w against 0.5000"),
        (rated(0.25), rated(0.5), {}, "t=1 is true of 0.5000 of g=w against 0.2500"),
        (rated(0.5), rated(None), {}, None),
        (rated(None), rated(0.5), {}, None),
        (rated(0.5), rated(0.25), {"missing_values": 3}, None),  # missing predictions change it
        (rated(0.5), rated(0.25), {"base": True}, None),
        (rated(0.5), rated(0.25, direction="T->A"), {}, None),
        (rated(0.5, direction=None), rated(0.25, direction=None), {}, "t=1 is true of 0.2500 of g=w against 0.5000"),
        (rated(0.5), rated(0.25, metric="multi"), {}, None),
        (rated(0.5), rated(0.25, attribute="h"), {}, None),
        (rated(0.5), entry(pairs=...), {}, None),
    ],
)
def test_other_true_labels(now: Any, old: Any, data: Any, words: str | None) -> None:
    assert _other_data(hand_audit(now, data=data), hand_audit(old, data=data)) == words


@pytest.mark.parametrize(
    ("mine", "theirs", "differ"), [("a", "a", False), ("a", "b", True), (None, "b", False), ("a", None, False)]
)
def test_other_ids(mine: str | None, theirs: str | None, differ: bool) -> None:
    held: Any = [
        SimpleNamespace(document=hand_audit().document, resamples={} if name is None else {"records": name})
        for name in (mine, theirs)
    ]
    assert _other_data(*held) == ("the ids or the true labels of their records differ" if differ else None)


def test_a_model_against_itself() -> None:
    one, two = (hand_audit(entry(value=value, pairs=[])) for value in (0.1, 0.2))
    said = (
        "the baseline has the same predictions of the same records: a model is never worse than itself, which shows nothing. "
        "See whether a file or column was given twice"
    )
    assert held_against_itself([one], [two]) is None
    assert held_against_itself([one], [one]) == said
    assert held_against_itself([two, one], [one]) == said
    assert held_against_itself([one], [two, one]) == said


def plain(checks: Any) -> list[tuple[str, str, str, int | None]]:
    return [(check.rule, check.outcome, check.reason, check.line) for check in checks]


UNDECIDED = "not enough evidence"


def test_what_the_baseline_was_made_with() -> None:
    now, old = (
        hand_audit(data={"train": True}),
        hand_audit(data={"missing": "drop", "missing_values": 1}, source="old.csv"),
    )
    assert plain(made_unlike(policy(), now, old)) == [
        (
            "the baseline",
            UNDECIDED,
            f"the baseline (old.csv) was made with {field} = {theirs}, and the audit with {mine}: audit both alike",
            5,
        )
        for field, mine, theirs in (("train", "True", "False"), ("missing", "'error'", "'drop'"))
    ]
    assert plain(made_unlike(policy(), now, now)) == []


@pytest.mark.parametrize(
    ("now", "before", "said"),
    [
        ("2024-03-02T00:00:00+00:00", "2024-03-01T00:00:00+00:00", False),
        ("2024-03-01T00:00:00+00:00", "2024-03-02T00:00:00+00:00", True),
        ("2024-03-01T00:00:00+00:00", "2024-03-01T00:00:00+00:00", False),
        ("2024-03-01T12:00:00+00:00", "2024-03-01T12:30:00+01:00", False),
        (None, "2024-03-01T00:00:00+00:00", False),
        ("2024-03-01T00:00:00+00:00", None, False),
    ],
)
def test_a_baseline_of_later(now: str | None, before: str | None, said: bool) -> None:
    one, two = (hand_audit(provenance={} if time is None else {"time": time}) for time in (now, before))
    words = f"The baseline was audited after what is judged ({before}, {now}): see that the two are not swapped."
    assert list(made_after(one, two)) == ([words] if said else [])
    assert list(made_after(hand_audit(), two)) == []


def lost(now: biasamp.Audit, old: biasamp.Audit, **more: Any) -> list[tuple[str, str, str, int | None]]:
    return plain(vanished(policy(**more), now, old))


def test_groups_that_are_gone() -> None:
    rows = [group("w"), group("m"), group("x", 1), group("y", 5), group("z", 0)]
    old = hand_audit(data={"groups": rows})
    now = hand_audit(data={"groups": [group("w"), group("m", 1), group("y", 0)]})
    reason = "the baseline has groups that are gone: g=x, g=y"
    assert lost(now, old) == [("groups of the baseline", UNDECIDED, reason, 5)]
    reason = "the baseline has groups that are gone: g=y"
    assert lost(now, old, ignore_groups=["x"]) == [("groups of the baseline", UNDECIDED, reason, 5)]
    assert lost(now, old, ignore_groups=["x", "g=y"]) == []
    assert lost(old, now) == []


def outcomes(*names: str, **more: Any) -> biasamp.Audit:
    return hand_audit(entry(pairs=[pair("g=w", name) for name in names], **more))


def test_outcomes_that_are_gone() -> None:
    old = outcomes("t=2", "t=1", "t=0")
    words = "the baseline has outcomes that are gone, so that values are over other pairs: "
    assert lost(outcomes("t=0"), old) == [("outcomes of the baseline", UNDECIDED, f"{words}t=1, t=2", 5)]
    assert lost(outcomes("t=0", "t=1", "t=2", "t=3"), old) == []
    assert lost(outcomes("t=0"), outcomes("t=1", direction="T->A")) == []
    assert lost(outcomes("t=0"), outcomes("t=1", metric="multi")) == []
    assert lost(outcomes("t=0"), outcomes("t=1", pairs_in_all=2)) == []  # not all are listed
    many = outcomes(*(f"t={k}" for k in range(11, 23)))
    ((_, _, reason, _),) = lost(outcomes("t=11"), many)
    assert reason == words + ", ".join(f"t={k}" for k in range(12, 22))


def test_what_can_be_compared() -> None:
    now, old = audited(columns(said=0.2), metrics=["directional"]), audited(columns(), metrics=["directional"])
    made = compared([now], [old])
    assert made is not None
    (row,) = made.document["differences"]
    assert row["models"] == ["baseline", "this model"]
    assert row["difference"] == pytest.approx(0.03)
    assert compared([now], [audited(columns(), metrics=["parity"])]) is None
    runs = compared([now, audited(columns(said=0.3), metrics=["directional"])], [old])
    assert runs is not None
    assert runs.document["differences"][0]["difference"] == pytest.approx(0.0375)
    at_level = compared([audited(columns(said=0.2), metrics=["directional"], confidence=0.8)], [
        audited(columns(), metrics=["directional"], confidence=0.8)
    ])  # fmt: skip
    assert at_level is not None
    narrow = at_level.document["differences"][0]
    assert row["high"] is not None
    assert narrow["high"] is not None
    assert narrow["high"] < row["high"]


# Differences.


def row(difference: float = 0.05, low: Any = 0.02, high: Any = 0.08, **more: Any) -> dict[str, Any]:
    about = {"metric": "directional", "attribute": "g", "direction": "A->T"}
    return {**about, "difference": difference, "low": low, "high": high, "paired": True, **more}


def figures(*rows: Any, limit: Any = None, now: Any = None, old: Any = None, noted: Any = (), **more: Any) -> Any:
    document = {"differences": list(rows), "noted": [{"kind": kind, "text": ""} for kind in noted]}
    comparison: Any = SimpleNamespace(document=document)
    audits = [hand_audit(entry()) if one is None else one for one in (now, old)]
    return differences(Limit(**(limit or AGAINST)), comparison, *audits, policy(**more))


def test_a_difference_with_its_interval() -> None:
    (made,) = figures(row())
    assert (made.attribute, made.direction, made.value, made.low, made.high) == ("g", "A->T", 0.05, 0.02, 0.08)
    assert (made.records, made.doubt, made.bounded) == (200, None, False)


@pytest.mark.parametrize(
    ("limit", "found"),
    [
        ({}, [("g", "A->T"), ("g", "T->A"), ("h", "A->T")]),
        ({"direction": "T->A"}, [("g", "T->A"), ("h", "T->A")]),
        ({"attribute": "h"}, [("h", "A->T")]),
        ({"attribute": "x"}, [("x", None)]),
        ({"attribute": "h", "direction": "T->A"}, [("h", "T->A")]),
    ],
)
def test_which_differences_a_limit_is_about(limit: Any, found: Any) -> None:
    """What cannot be compared is in doubt."""
    rows = [row(), row(direction="T->A"), row(attribute="h"), row(metric="multi")]
    sizes = [group("w"), group("m"), group("a", attribute="h")]
    now = hand_audit(*(entry(attribute=a, direction=d) for a in "gh" for d in ("A->T", "T->A")), data={
        "attributes": ["g", "h"], "groups": sizes
    })  # fmt: skip
    made = figures(*rows, limit={**AGAINST, **limit}, now=now, old=now)
    assert [(one.attribute, one.direction) for one in made] == found
    there = [(one["attribute"], one["direction"]) for one in rows[:3]]
    gone = "it cannot be compared: this audit or the baseline lacks it"
    assert [one.doubt for one in made] == [None if name in there else gone for name in found]


UNPAIRED = "the difference is not paired: audit both models on the same records with the same seed and save()"
NO_RESAMPLES = "directional has no resamples to pair; [baseline] paired = false accepts an unpaired interval"


@pytest.mark.parametrize(
    ("paired", "noted", "wanted", "doubt"),
    [
        (True, ("unpaired",), True, None),
        (False, ("unpaired",), True, UNPAIRED),
        (False, ("other", "unpaired"), True, UNPAIRED),
        (False, ("other",), True, NO_RESAMPLES),
        (False, (), True, NO_RESAMPLES),
        (False, (), False, None),
    ],
)
def test_differences_that_are_not_paired(paired: bool, noted: Any, wanted: bool, doubt: str | None) -> None:
    (made,) = figures(row(paired=paired), noted=noted, paired=wanted)
    assert made.doubt == doubt


def test_groups_that_the_policy_ignores_count_in_no_difference() -> None:
    now = hand_audit(entry(), entry("dpa"), entry("tpr_difference"))
    words = "the policy ignores g=m, and the audit does not: audit with ignore_groups"
    for metric, doubt in (("directional", words), ("tpr_difference", words), ("dpa", None)):
        limit = {"metric": metric, "max": 0.1, "against": "baseline"}
        (made,) = figures(row(metric=metric), limit=limit, now=now, ignore_groups=["m"])
        assert made.doubt == doubt
        assert figures(row(metric=metric), limit=limit, now=now)[0].doubt is None


@pytest.mark.parametrize("sizes", [(50, 80, 100), (50, 0, 90)])
def test_no_difference_seen_is_none_that_the_smallest_group_may_have(sizes: Any) -> None:
    """Fifty records miss a share of 1 - .025 ** (1 / 50) with a chance of 2.5%."""
    rows = [group(name, size) for name, size in zip("wmx", sizes, strict=True)] + [group("a", 7, attribute="h")]
    now = hand_audit(entry(), data={"groups": rows})
    missed = 1 - 0.025 ** (1 / 50)
    (made,) = figures(row(0.01, 0.01, 0.01), now=now)
    assert (made.value, made.low, made.high) == (0.01, pytest.approx(0.01 - missed), pytest.approx(0.01 + missed))
    assert made.doubt is None
    (made,) = figures(row(0.01, 0.02, 0.0), now=now)
    assert (made.low, made.high) == (pytest.approx(0.02 - missed), pytest.approx(missed))
    level = hand_audit(entry(), data={"groups": rows, "confidence": 0.9})
    assert figures(row(0.0, 0.0, 0.0), now=level)[0].high == pytest.approx(1 - 0.05 ** (1 / 50))
    for low, high in ((None, 0.01), (0.01, None)):
        (made,) = figures(row(0.01, low, high), now=now)
        assert (made.low, made.high, made.doubt) == (low, high, None)


def test_no_difference_and_no_group() -> None:
    for rows in ([], [group("w", 0)], [group("a", 7, attribute="h")]):
        now = hand_audit(entry(), data={"groups": rows})
        (made,) = figures(row(0.0, 0.0, 0.0), now=now)
        assert made.doubt == "the difference has no width, and no group has records"
    one = hand_audit(entry(), data={"groups": [group("w", 1)]})
    assert figures(row(0.0, 0.0, 0.0), now=one)[0].high == pytest.approx(0.975)


def unsure(deltas: Any, unknown: Any = 2, **more: Any) -> biasamp.Audit:
    """Four pairs, of which the two of u have no known direction."""
    rows = [
        pair("g=w", "v", delta=deltas[0]),
        pair("g=m", "v", delta=deltas[1]),
        pair("g=w", "u", delta=deltas[2], sign_p=0.3, known=False),
        pair("g=m", "u", sign=-1, delta=deltas[3], sign_p=0.4, known=False),
    ]
    return hand_audit(entry(pairs=rows, unknown=unknown, **more), entry("multi", unknown=...))


NOW, OLD = unsure((0.1, 0.1, 0.08, 0.04)), unsure((0.0, 0.0, 0.02, 0.06))


def test_unknown_directions_count_with_their_worse_sign() -> None:
    """Of four pairs u moves by 0.06 with its sign and by -0.02 against it: 0.02 in all with both signs, 0.08 at most."""
    (made,) = figures(row(), now=NOW, old=OLD)
    changes, sizes = (0.06 + 0.02) / 4, (0.06 + 0.02) / 4
    assert (made.low, made.high) == (pytest.approx(0.02 - sizes - changes), pytest.approx(0.08 + sizes - changes))
    assert made.bounded
    assert made.unknown is not None
    assert made.unknown.sizes.tolist() == pytest.approx([0.015, 0.005])
    other = unsure((0.0, 0.0, 0.02, -0.02))
    (made,) = figures(row(), now=NOW, old=other)
    # 0.06 with its sign, and 0.06 against it.
    assert (made.low, made.high) == (pytest.approx(0.02 - 0.03), pytest.approx(0.08 + 0.03))


@pytest.mark.parametrize(
    ("now", "old", "doubt"),
    [
        (unsure((0.1, 0.1, 0.1, 0.1), unknown=...), OLD, AUDIT_AGAIN),
        (unsure((0.1, 0.1, 0.1, 0.1), unknown=0), OLD, None),
        (
            NOW,
            hand_audit(entry(pairs=[])),
            "the directions of some pairs are unknown, and not all pairs of both audits are listed",
        ),
        (
            unsure((0.1, 0.1, 0.1, 0.1), pairs_in_all=9),
            OLD,
            "the directions of some pairs are unknown, and not all pairs of both audits are listed",
        ),
    ],
)
def test_unknown_directions_of_which_too_little_is_listed(now: Any, old: Any, doubt: str | None) -> None:
    (made,) = figures(row(), now=now, old=old)
    assert (made.low, made.high, made.bounded, made.doubt) == (0.02, 0.08, False, doubt)


def test_what_has_no_signs_or_has_them_from_elsewhere_stays() -> None:
    lent = biasamp.Audit({**NOW.document, "data": {**NOW.document["data"], "train": True}})
    (made,) = figures(row(), now=lent, old=OLD)
    assert (made.low, made.high, made.bounded) == (0.02, 0.08, False)
    (made,) = figures(row(metric="multi"), limit={**AGAINST, "metric": "multi"}, now=NOW, old=OLD)
    assert (made.low, made.high, made.bounded, made.doubt) == (0.02, 0.08, False, None)
    for low, high in ((None, 0.1), (0.1, None)):
        (made,) = figures(row(0.05, low, high), now=NOW, old=OLD)
        assert (made.low, made.high, made.bounded) == (low, high, False)


def test_a_check_of_a_difference_stands_at_its_limit() -> None:
    now, old = (audited(columns(said=said), metrics=["directional"]) for said in (0.2, 0.0))
    made = policy({**AGAINST, "max": 0.5}, min_group=0).check(now, old)
    (check,) = [check for check in made.checks if check.against]
    assert isinstance(check, Check)
    assert (check.line, check.outcome, check.rule) == (7, "pass", "directional against the baseline")
