"""Strata one by one: their rows are what their records alone give, and their intervals what each record moves."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.amplification.base_error import BaseError
from biasamp.amplification.bounds import CLEAR_OF_ALL, ERRORS_MORE
from biasamp.amplification.why_result import Decomposition
from biasamp.resampling.significance import q_values

N = 400


def records(seed: int = 3, n: int = N) -> dict[str, Any]:
    """Three groups, two tasks and three strata; in the last the bias is turned round."""
    rng = np.random.default_rng(seed)
    group, stratum = (
        rng.choice(["a", "b", "c"], n, p=[0.4, 0.35, 0.25]),
        rng.choice(["p", "q", "r"], n, p=[0.5, 0.3, 0.2]),
    )
    lean = np.where(group == "a", 0.35, 0.0) * np.where(stratum == "r", -1, 1)
    truth = (rng.random((n, 2)) < 0.45 + lean[:, None]).astype(int)
    scores = np.clip(0.25 + 0.4 * truth + 0.4 * lean[:, None] + 0.2 * rng.normal(size=(n, 2)), 0, 1)
    return {"given": group, "truth": truth, "scores": np.round(scores, 2), "strata": stratum}


def decomposed(data: dict[str, Any], **more: Any) -> Decomposition:
    return biasamp.decompose(data["given"], data["truth"], data["scores"], strata=data["strata"], **more)


def said(data: dict[str, Any]) -> Any:
    return (data["scores"] >= 0.5).astype(int)


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return records()


@pytest.fixture(scope="module")
def made(data: dict[str, Any]) -> Decomposition:
    return decomposed(data)


@pytest.mark.parametrize("train", [False, True])
def test_rows_are_those_of_the_records_alone(data: dict[str, Any], train: bool) -> None:
    """Value, parts and interval of each stratum as if the others were not there, and its p-value where its bounds touch 0."""
    options: dict[str, Any] = {}
    if train:
        other = records(9)
        options = {"train": (other["given"], other["truth"], other["strata"])}
    found = decomposed(data, **options)
    assert found.strata is not None
    whole = biasamp.directional(data["given"], data["truth"], said(data))
    sign = {(row["given"], row["outcome"]): row["sign"] for row in whole.pairs.rows()}
    if train:
        lent = biasamp.directional(data["given"], data["truth"], said(data), train=options["train"][:2])
        sign = {(row["given"], row["outcome"]): row["sign"] for row in lent.pairs.rows()}
    rows = list(found.strata.rows())
    assert [row["stratum"] for row in rows] == ["p", "q", "r"]
    assert [row["q"] for row in rows] == pytest.approx(q_values(np.array([row["p"] for row in rows])).tolist())
    for row in rows:
        mine = data["strata"] == row["stratum"]
        few = {name: part[mine] for name, part in data.items()}
        own = {}
        if train:
            theirs = options["train"][2] == row["stratum"]
            own = {"train": tuple(part[theirs] for part in options["train"][:2])}
        alone = biasamp.directional(few["given"], few["truth"], said(few), **own)
        parts = biasamp.decompose(few["given"], few["truth"], few["scores"], **own)
        sizes = [int((few["given"] == g).sum()) for g in "abc"]
        assert (row["n"], row["share"], row["smallest_group"]) == (mine.sum(), mine.sum() / N, min(sizes))
        assert (row["value"], row["score"], row["threshold"]) == pytest.approx(
            (alone.value, parts.score, parts.threshold)
        )
        assert row["pairs"] == 6
        assert row["unclear"] == alone.unknown
        turned = [
            sign[g, str(k)] * (said(few) - few["truth"])[few["given"] == g, k].mean() for g in "abc" for k in range(2)
        ]
        assert row["by_sign_of_whole"] == pytest.approx(np.mean(turned))
        interval = alone.quiet_interval(method="closed_form")
        assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high), abs=0.004)
        level = 1.0 - row["p"] / 2.0
        if 0.5 < level < 1.0:
            bounds = alone.bounds(level)
            assert bounds is not None
            assert min(abs(bounds.low), abs(bounds.high)) == pytest.approx(0.0, abs=0.004)


def test_levels_of_rows(made: Decomposition) -> None:
    strata = made._strata
    assert strata is not None
    usual, wide = strata.table(), strata.table(0.99)
    assert usual["low"].tolist() == strata.table(0.95)["low"].tolist()
    assert (wide["low"] < usual["low"]).all()
    assert usual["p"].tolist() == wide["p"].tolist()


def test_pairs_of_strata(data: dict[str, Any], made: Decomposition) -> None:
    """Each pair as in its stratum alone, with the share of the group that is there and the sign of all records."""
    assert made.strata_pairs is not None
    sign = {(row["given"], row["outcome"]): row["sign"] for row in made.pairs.rows()}
    rows = list(made.strata_pairs.rows())
    assert len(rows) == 18
    for name in ("q", "score_q", "threshold_q"):
        p = np.array([row[name[:-1] + "p"] for row in rows], dtype=float)
        assert [row[name] for row in rows] == pytest.approx(q_values(p).tolist())
    place = 0
    for stratum in "pqr":
        mine = data["strata"] == stratum
        alone = biasamp.decompose(*(data[name][mine] for name in ("given", "truth", "scores")))
        for own in alone.pairs.rows():
            row = rows[place]
            place += 1
            assert row["stratum"] == stratum
            for name in ("given", "outcome", "sign"):
                assert row[name] == own[name]
            for name in ("delta", "score_delta", "threshold_delta", "sign_p", "truth_rate"):
                assert row[name] == pytest.approx(own[name])
            share = (mine & (data["given"] == row["given"])).sum() / (data["given"] == row["given"]).sum()
            assert row["share"] == pytest.approx(share)
            assert row["sign_of_whole"] == sign[row["given"], row["outcome"]]


def test_signs_that_are_turned_round() -> None:
    """Beyond chance over all pairs of strata, and only where the whole has a sign that is known."""
    data = records(4, 1500)
    made = decomposed(data)
    assert made.strata is not None
    assert made.strata_pairs is not None
    whole = biasamp.directional(data["given"], data["truth"], said(data))
    known = {(row["given"], row["outcome"]): row["known"] for row in whole.pairs.rows()}
    expected = []
    for row in made.strata_pairs.rows():
        sure = row["sign_p"] < CLEAR_OF_ALL / 18
        turned = row["sign"] * row["sign_of_whole"] < 0
        expected.append(bool(sure and turned and known[row["given"], row["outcome"]]))
    assert [bool(row["reversed"]) for row in made.strata_pairs.rows()] == expected
    assert any(expected)
    counts = [sum(expected[6 * s : 6 * s + 6]) for s in range(3)]
    assert made.strata["reversed"].tolist() == counts
    strata = made._strata
    assert strata is not None
    assert strata.defined == 18
    assert strata.unknown == sum(row["unclear"] for row in made.strata.rows())


def moved_by_records(data: dict[str, Any], signs: np.ndarray) -> tuple[float, float]:
    """The mean over pairs of ``sum_s P(s | g) sign change``, and the sum of squares of what each record moves."""
    total, influence = 0.0, np.zeros(len(data["given"]))
    change = said(data) - data["truth"]
    for g, name in enumerate("abc"):
        mine = data["given"] == name
        for k in range(2):
            held = np.array([signs["pqr".index(s), g, k] for s in data["strata"]]) * change[:, k]
            mean = held[mine].mean()
            total += mean / 6
            influence[mine] += (held[mine] - mean) / mine.sum() / 6
    return total, float((influence**2).sum())


def test_the_value_inside_and_its_error(data: dict[str, Any], made: Decomposition) -> None:
    """Signs held fixed: what every record moves, and one error more of either kind in each pair."""
    strata = made._strata
    assert strata is not None
    signs = strata.inside.values.sign.astype(float)
    value, square = moved_by_records(data, signs)
    assert made.inside == pytest.approx(value)
    unseen = strata.whole.unseen_variance(strata.whole.factor)
    maker = strata.inside_interval()
    assert maker is not None
    assert maker.value == pytest.approx(value)
    assert maker.standard_error() == pytest.approx(sqrt(square + unseen), rel=0.03)
    worse = strata.inside_worse()
    assert worse is not None
    for held, lot in zip(worse, (strata.inside.worse_in_sum.up, strata.inside.worse_in_sum.down), strict=True):
        value, square = moved_by_records(data, lot.astype(float))
        assert held.value == pytest.approx(value)
        assert held.standard_error() == pytest.approx(sqrt(square + ERRORS_MORE * unseen), rel=0.03)
    assert worse[0].value > made.inside > worse[1].value or strata.unknown == 0
    assert any("inside strata" in words for words in maker.cautions) == (strata.unknown > 0)
    assert f"inside strata of {strata.unknown:,} of 18 pairs" in " ".join(maker.cautions)
    low, high = made.quiet_interval(of="inside", method="closed_form")
    assert low < made.inside < high


def test_against_a_base(data: dict[str, Any]) -> None:
    """The error of the base is added: of its rates at the evaluated mix, and of rates and mix where rates change first."""
    base = records(11, 300)
    found = decomposed(data, base=(base["given"], base["truth"], base["strata"]))
    strata = found._strata
    assert strata is not None
    assert strata.base is not None
    whole = strata.whole
    size = np.array([[((base["strata"] == s) & (base["given"] == g)).sum() for g in "abc"] for s in "pqr"], dtype=float)
    rates = np.array(
        [[base["truth"][(base["strata"] == s) & (base["given"] == g)].mean(axis=0) for g in "abc"] for s in "pqr"]
    )
    np.testing.assert_allclose(strata.base.size, size)
    np.testing.assert_allclose(strata.base.rates, rates)
    here = np.array([[((data["strata"] == s) & (data["given"] == g)).sum() for g in "abc"] for s in "pqr"], dtype=float)
    held = np.array(
        [[said(data)[(data["strata"] == s) & (data["given"] == g)].mean(axis=0) for g in "abc"] for s in "pqr"]
    )
    error = BaseError(whole.sample.counts, size, rates, strata.base.labels)
    shares, factor = here / here.sum(axis=0), whole.factor.astype(float)
    signs = strata.inside.factor
    assert strata._base_error(signs) == pytest.approx(error.variance(shares, signs.astype(float)) / 36)
    before = size / size.sum(axis=0)
    of_rates = (factor * (held - rates)).sum(axis=-1)
    within = error.variance(before, factor, of_rates) / 36
    assert strata._error_against_base("within") == pytest.approx(within)
    mix = error.variance(np.zeros((3, 3)), factor, (factor * held).sum(axis=-1)) / 36
    assert strata._error_against_base("mix") == pytest.approx(mix)
    # The parts: at the mix of the base, and what is left; or rates at the mix of these records.
    part = {
        "rates first": (factor * (before[..., None] * (held - rates)).sum(axis=0)).sum() / 6,
        "mix first": (factor * (shares[..., None] * (held - rates)).sum(axis=0)).sum() / 6,
    }
    assert found.orders is not None
    for row in found.orders.rows():
        assert row["within"] == pytest.approx(part[row["order"]])
        assert row["mix"] == pytest.approx(found.value - part[row["order"]])
        assert row["value"] == found.value
    assert (found.within, found.mix) == pytest.approx((part["rates first"], found.value - part["rates first"]))
    for of, added in (("within", within + strata._unseen()), ("mix", mix)):
        maker = strata.against_base_interval(of)
        assert maker is not None
        assert maker.unseen == pytest.approx(added)
        assert maker.value == pytest.approx(getattr(found, of))
    inside = strata.inside_interval()
    assert inside is not None
    assert inside.unseen == pytest.approx(strata._unseen() + strata._base_error(signs))
    worse = strata.inside_worse()
    assert worse is not None
    up = strata.inside.worse_in_sum.up
    assert worse[0].unseen == pytest.approx(ERRORS_MORE * strata._unseen() + strata._base_error(up))


def test_a_stratum_that_one_side_lacks(data: dict[str, Any]) -> None:
    """It is all mix: at the rates of the side that has it."""
    base = records(12, 300)
    keep = base["strata"] != "r"
    found = decomposed(data, base=tuple(base[name][keep] for name in ("given", "truth", "strata")))
    strata = found._strata
    assert strata is not None
    assert strata.base is not None
    assert strata.base.size[2].tolist() == [0.0, 0.0, 0.0]
    assert np.isnan(strata.base.rates[2]).all()
    assert found.orders is not None
    for row in found.orders.rows():
        assert row["within"] + row["mix"] == pytest.approx(found.value)
    assert strata._error_against_base("within") > 0


def test_few_records_have_no_test(data: dict[str, Any]) -> None:
    """A stratum of one record has no interval and no p-value; a value of 0 pairs has none either."""
    one = {name: part.copy() for name, part in data.items()}
    one["strata"] = np.where(np.arange(N) == 5, "z", one["strata"])
    found = decomposed(one)
    assert found.strata is not None
    row = list(found.strata.rows())[3]
    assert (row["stratum"], row["n"], row["smallest_group"]) == ("z", 1, 0)
    assert (row["low"], row["high"], row["p"]) == (None, None, None)
    assert row["pairs"] == 2
    two = {**one, "strata": np.where(np.isin(np.arange(N), (5, 6)), "z", one["strata"])}
    held = decomposed(two)
    assert held.strata is not None
    assert list(held.strata.rows())[3]["low"] is not None


def test_clusters_are_kept_together(data: dict[str, Any]) -> None:
    four = {name: np.repeat(part, 4, axis=0) for name, part in data.items()}
    clustered = decomposed(four, cluster=np.repeat(np.arange(N), 4))
    alone = decomposed(data)
    assert clustered.strata is not None
    assert alone.strata is not None
    assert clustered.strata["value"].tolist() == pytest.approx(alone.strata["value"].tolist())
    for one, other in zip(clustered.strata.rows(), alone.strata.rows(), strict=True):
        assert one["high"] - one["low"] == pytest.approx(other["high"] - other["low"], rel=0.2)
    assert clustered._strata is not None
    assert alone._strata is not None
    assert type(clustered._strata.inside) is not type(alone._strata.inside)


def test_a_stratum_of_one_pair_and_one_of_none(data: dict[str, Any]) -> None:
    """One group and one yes/no task make a pair, with an interval; declared strata that nobody is in have none."""
    one = {**data, "truth": biasamp.binary(data["truth"][:, 0]), "scores": data["scores"][:, 0]}
    stratum = np.where((data["given"] == "a") & (data["strata"] == "p"), "only", "rest")
    found = biasamp.decompose(one["given"], one["truth"], one["scores"], strata=stratum)
    assert found.strata is not None
    only, rest = found.strata.rows()
    assert (only["pairs"], only["unclear"], rest["pairs"]) == (1, 1, 3)
    assert only["low"] <= only["value"] <= only["high"]
    assert None not in (only["p"], only["by_sign_of_whole"], only["score"], only["threshold"])
    change = ((one["scores"] >= 0.5) - data["truth"][:, 0])[stratum == "only"].mean()
    sign = next(row["sign"] for row in found.pairs.rows() if row["given"] == "a")
    assert only["by_sign_of_whole"] == pytest.approx(sign * change)
