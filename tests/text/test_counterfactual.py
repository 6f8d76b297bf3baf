"""Counterfactual prompts: against scipy and statsmodels, and how often intervals cover."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import biasamp

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import statsmodels.formula.api as smf


def asked(
    rng: np.random.Generator, items: int, groups: int, repeats: int, kind: str, holes: float = 0.0
) -> pd.DataFrame:
    """Answers to items, each asked of each group some times; an item has a level of its own."""
    level = rng.normal(size=items)
    rows = []
    for i in range(items):
        for g in range(groups):
            for _ in range(repeats):
                raw = level[i] + 0.3 * g + rng.normal()
                said: Any = raw if kind == "score" else float(raw > 0)
                rows.append((f"item {i}", f"group {g}", np.nan if rng.random() < holes else said))
    return pd.DataFrame(rows, columns=["item", "group", "answer"]).sample(
        frac=1, random_state=int(rng.integers(1 << 30))
    )


class TestAgainstOthers:
    @pytest.mark.parametrize("seed", range(100))
    def test_one_yes_or_no_is_mcnemar(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        data = asked(rng, int(rng.integers(2, 60)), int(rng.integers(2, 4)), 1, "binary")
        result = biasamp.counterfactual("answer", "group", "item", data=data)
        wide = data.pivot_table(index="item", columns="group", values="answer")
        for row in result.table.rows():
            one, other = wide[row["group"]], wide[row["reference"]]
            alone, missed = int(((one == 1) & (other == 0)).sum()), int(((one == 0) & (other == 1)).sum())
            expected = stats.binomtest(alone, alone + missed, 0.5).pvalue if alone + missed else 1.0
            assert row["p"] == pytest.approx(expected, abs=1e-12)
            assert (row["group_only"], row["reference_only"]) == (alone, missed)
            assert row["difference"] == pytest.approx((alone - missed) / len(wide))

    @pytest.mark.parametrize("seed", range(100))
    def test_repeats_are_clustered_as_in_statsmodels(self, seed: int) -> None:
        rng = np.random.default_rng(1000 + seed)
        kind = ("score", "binary")[seed % 2]
        data = asked(rng, int(rng.integers(3, 40)), 2, int(rng.integers(2, 6)), kind, holes=0.1 * (seed % 3))
        result = biasamp.counterfactual(data["answer"], data["group"], data["item"])
        row = next(row for row in result.table.rows() if row["outcome"] == "score")
        means = data.dropna().groupby(["item", "group"])["answer"].mean().reset_index()
        means = means[means.groupby("item")["group"].transform("count") == 2]
        codes = means["item"].astype("category").cat.codes
        fit = smf.ols("answer ~ group", means).fit(cov_type="cluster", cov_kwds={"groups": codes}, use_t=True)
        assert row["difference"] == pytest.approx(fit.params.iloc[1], abs=1e-10)
        assert row["error"] == pytest.approx(fit.bse.iloc[1], rel=1e-8)
        assert row["p"] == pytest.approx(fit.pvalues.iloc[1], rel=1e-6)
        low, high = fit.conf_int().iloc[1]
        cut = (-1.0, 1.0) if kind == "binary" else (-np.inf, np.inf)
        assert (row["low"], row["high"]) == pytest.approx((max(low, cut[0]), min(high, cut[1])), rel=1e-6)
        assert row["items"] == codes.nunique()


@pytest.mark.slow
class TestCoverage:
    @pytest.mark.parametrize("kind", ["score", "binary"])
    def test_thirty_items_five_repeats(self, kind: str) -> None:
        rng = np.random.default_rng(7)
        runs, covered = 1000, 0
        # The effect differs from item to item around its mean; chances of yes/no from a beta distribution.
        for _ in range(runs):
            level, effect = rng.normal(size=30), 0.4 + 0.5 * rng.normal(size=30)
            if kind == "score":
                first = level[:, None] + rng.normal(size=(30, 5))
                second = (level + effect)[:, None] + rng.normal(size=(30, 5))
                truth = 0.4
            else:
                chance = rng.beta(2, 2, 30)
                first = (rng.random((30, 5)) < chance[:, None]).astype(float)
                second = (rng.random((30, 5)) < (0.2 + 0.7 * chance)[:, None]).astype(float)
                truth = 0.2 + 0.7 * 0.5 - 0.5
            item = np.tile(np.repeat(np.arange(30), 5), 2)
            group = np.repeat(["a", "b"], 150)
            row = next(
                biasamp.counterfactual(np.concatenate([first.ravel(), second.ravel()]), group, item).table.rows()
            )
            covered += row["low"] <= truth <= row["high"]
        assert 0.92 <= covered / runs <= 0.97


class TestOutcomes:
    def test_refusals_and_failures_are_outcomes_of_their_own(self) -> None:
        said = ["yes", "no", "yes", "I cannot answer that.", "I'm sorry, but no", None, "yes", ""]
        result = biasamp.counterfactual(said, ["a", "b"] * 4, [1, 1, 2, 2, 3, 3, 4, 4])
        rows = {row["outcome"]: row for row in result.table.rows()}
        assert set(rows) == {"yes", "(refused)", "(no answer)"}
        assert rows["yes"]["items"] == 1
        assert (rows["(refused)"]["group_only"], rows["(refused)"]["reference_only"]) == (1, 1)
        assert rows["(no answer)"]["difference"] == 0.5
        assert (result.refused, result.unanswered) == (2, 2)
        assert any("declined" in line for line in result.findings)

    def test_marked_refusals(self) -> None:
        result = biasamp.counterfactual(
            [1.0, 2, 3, 4], ["a", "b"] * 2, [1, 1, 2, 2], refusals=[False, True, False, False]
        )
        assert result.refused == 1

    def test_categories_and_q_values_over_topics(self) -> None:
        rng = np.random.default_rng(0)
        n = 40
        data = {
            "said": rng.choice(["hire", "reject", "wait"], 4 * n),
            "who": ["x", "y"] * (2 * n),
            "item": np.repeat(np.arange(2 * n), 2),
            "about": np.repeat(["jobs", "loans"], 2 * n),
        }
        table = biasamp.counterfactual("said", "who", "item", topic="about", data=data).table
        assert len(table) == 6
        assert table["q"] == pytest.approx(biasamp.q_values(table["p"]))

    def test_free_text_by_labels(self) -> None:
        texts = ["She is a kind nurse"] * 10 + ["He is a doctor"] * 10
        result = biasamp.counterfactual(
            texts, ["woman"] * 10 + ["man"] * 10, list(range(10)) * 2, labels=["nurse", "doctor"]
        )
        rows = {row["outcome"]: row for row in result.table.rows()}
        assert rows["nurse"]["difference"] == 1.0
        assert rows["nurse"]["p"] == pytest.approx(2 / 2**10)
        read = biasamp.read_text(texts, labels=["nurse", "doctor"])
        again = biasamp.counterfactual(read, ["woman"] * 10 + ["man"] * 10, list(range(10)) * 2)
        assert list(again.table["difference"]) == list(result.table["difference"])

    def test_order_and_names_change_nothing(self) -> None:
        rng = np.random.default_rng(3)
        data = asked(rng, 12, 3, 2, "score")
        one = biasamp.counterfactual("answer", "group", "item", data=data).table
        two = biasamp.counterfactual("answer", "group", "item", data=data.iloc[::-1].reset_index(drop=True)).table
        assert one["difference"] == pytest.approx(two["difference"])
        swapped = biasamp.counterfactual("answer", "group", "item", data=data, reference="group 2").table
        assert swapped["difference"][0] == pytest.approx(-one["difference"][1])

    def test_unpaired_items_are_counted(self) -> None:
        result = biasamp.counterfactual([1.0, 2.0, 3.0, 5.0, 9.0], list("ababa"), [1, 1, 2, 2, 3])
        row = next(result.table.rows())
        assert (row["items"], row["unpaired"], row["difference"]) == (2, 1, 1.5)

    def test_json(self) -> None:
        text = biasamp.counterfactual([1, 0], ["a", "b"], [1, 1]).to_json()
        assert '"counterfactual"' in text
        assert "NaN" not in text


class TestRefusedArguments:
    @pytest.mark.parametrize(
        "arguments, message",
        [
            (([1, 0], ["a", "a"], [1, 1]), "two groups or more"),
            (([1, 0], ["a", "b"], [1, 2]), "no item was answered for two groups"),
            (([1, 0], ["a", "b"], [1]), "different lengths"),
            (([1, 0], ["a", None], [1, 1]), "group has 1 missing"),
            (("x", "y", "z"), "data="),
            (([], [], []), "empty"),
            (([f"text {i}" for i in range(60)], ["a", "b"] * 30, np.repeat(range(30), 2)), "labels="),
        ],
    )
    def test_arguments(self, arguments: Any, message: str) -> None:
        with pytest.raises((ValueError, TypeError), match=message):
            biasamp.counterfactual(*arguments)

    def test_options(self) -> None:
        with pytest.raises(ValueError, match="reference is 'c'"):
            biasamp.counterfactual([1, 0], ["a", "b"], [1, 1], reference="c")
        with pytest.raises(ValueError, match="refusals is"):
            biasamp.counterfactual([1, 0], ["a", "b"], [1, 1], refusals="never")
