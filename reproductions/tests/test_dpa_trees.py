"""Trees on COMPAS, and what no rule on its features can do."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasamp_reproductions import Setting, dpa_trees
from biasamp_reproductions.compas_data import FILE
from biasamp_reproductions.compas_rules import Rules
from biasamp_reproductions.dpa_trees import COUNTS, DEFAULT, HALF, HELD_OUT, OWN, Choice, Runs, balanced, figures

records = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=25)


def every_rule(people: list[tuple[int, int, int]]) -> list[tuple[float, int, int]]:
    """Accuracy and zeros where given is 0 and 1 of every rule, one by one."""
    found = []
    for rule in product((0, 1), repeat=4):
        right = sum(rule[x] == y for x, _, y in people) / len(people)
        zeros = [sum(rule[x] == 0 and g == value for x, g, _ in people) for value in (0, 1)]
        found.append((right, *zeros))
    return found


class TestRules:
    @pytest.mark.slow
    @settings(max_examples=60, deadline=None)
    @given(records)
    def test_against_every_rule(self, people: list[tuple[int, int, int]]) -> None:
        x, g, y = (np.array(column) for column in zip(*people, strict=True))
        rules, every = Rules.of(x[:, None], g, y), every_rule(people)
        best = max(right for right, _, _ in every)
        assert rules.best == pytest.approx(best)
        ranges = rules.zeros_of_best()
        for value in (0, 1):
            zeros = [rule[1 + value] for rule in every if rule[0] == pytest.approx(best)]
            assert ranges[value] == (min(zeros), max(zeros))
        for right, *zeros in every:
            # Rules that may toss a coin can do better under the same counts, never worse.
            bound = rules.best_with((zeros[0], zeros[1]))
            assert right - 1e-9 <= bound <= best + 1e-9

    def test_counts_that_no_rule_has(self) -> None:
        rules = Rules.of(np.array([[1], [1]]), np.array([0, 1]), np.array([0, 1]))
        # Both have the same features: predicting 0 for one of them and 1 for the other is no rule.
        assert np.isnan(rules.best_with((1, 0)))

    def test_a_tree_without_limits_is_a_best_rule(self) -> None:
        rng = np.random.default_rng(1)
        x, g, y = rng.integers(0, 6, (400, 2)), rng.integers(0, 2, 400), rng.integers(0, 2, 400)
        rules = Rules.of(x, g, y)
        predicted = DEFAULT.predictions(x, y, 0)
        assert (predicted == y).mean() == pytest.approx(rules.best)
        for value, (low, high) in enumerate(rules.zeros_of_best()):
            assert low <= ((predicted == 0) & (g == value)).sum() <= high


class TestTrees:
    def test_the_three_ways_to_predict(self) -> None:
        rng = np.random.default_rng(0)
        # Features that say nothing, all distinct: right on one's own records, a coin on others.
        x, y = rng.random((600, 1)), rng.integers(0, 2, 600)
        right = {way: (Choice(way=way).predictions(x, y, 0) == y).mean() for way in (OWN, HELD_OUT, HALF)}
        assert right[OWN] == 1
        assert right[HELD_OUT] == pytest.approx(0.5, abs=0.08)
        assert right[HALF] == pytest.approx(0.75, abs=0.05)

    def test_figures_by_hand(self) -> None:
        # One feature tells T, not A: 30 of 40 of A=1 have T=1, 10 of 40 of A=0.
        a, t = np.repeat([1, 1, 0, 0], [30, 10, 10, 30]), np.repeat([1, 0, 1, 0], [30, 10, 10, 30])
        found = figures(DEFAULT, (t[:, None], a, t), 0)
        assert found["A->T"]["accuracy"] == 1
        assert [found["A->T"][name] for name in COUNTS] == [30, 10]
        # A is taken to be T: P(A=1 | T=1) goes from 3/4 to 1, and so do the other three of the four pairs.
        assert found["T->A"]["BA"] == pytest.approx(0.25)
        assert [found["T->A"][name] for name in COUNTS] == [40, 0]

    def test_a_balanced_draw(self) -> None:
        a, t = np.repeat([0, 0, 1, 1], [5, 3, 8, 9]), np.repeat([0, 1, 0, 1], [5, 3, 8, 9])
        rows = balanced(a, t, np.random.default_rng(0))
        assert np.bincount(2 * a[rows] + t[rows]).tolist() == [3, 3, 3, 3]

    def test_a_wide_search_is_held_to_both_counts(self) -> None:
        own = [dict(zip((*COUNTS, "BA"), values, strict=True)) for values in ((10.0, 20.0, 0.1), (12.0, 24.0, 0.2))]
        other = {
            Choice(depth=1): dict(zip((*COUNTS, "BA"), (50.0, 10.0, -0.5), strict=True)),
            Choice(depth=2): dict(zip((*COUNTS, "BA"), (44.0, 19.0, 0.9), strict=True)),
        }
        runs = Runs(own, other)
        # Default trees alone hold it.
        assert runs.tried("BA", "0.15", (11, 22), "seeds").runs == 2
        # Each count is in the range of all runs, but no run has both: the nearest has 44 and 19.
        far = runs.tried(COUNTS[0], "45", (45, 24), "seeds")
        assert (far.low, far.high, far.runs) == (10, 50, 4)
        assert far.together.startswith("the nearest has counts 44 and 19 for 45 and 24")
        assert not far.holds("45")
        # A run that has both reaches it.
        assert runs.tried(COUNTS[0], "44", (44, 19), "seeds").holds("44")


@pytest.mark.data
def test_on_the_real_file(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dpa_trees, "DRAWS", {"unbalanced": 2, "balanced": 60})
    monkeypatch.setattr(dpa_trees, "CHOICES", (Choice(depth=3), Choice(way=HELD_OUT)))
    assert (data / FILE).is_file()
    rows = {row.what: row for row in dpa_trees.tree_rows(Setting(folder=data))}
    counts = [row for what, row in rows.items() if what.startswith("trees, balanced") and "predicted 0" in what]
    assert len(counts) == 4
    # Table 2b: 1083, 896, 1145, 948, each within what draws of a balanced set give.
    assert all(row.left_open or row.agrees for row in counts)
    # Table 2a predicts 2171 white; 1,759 is the most of any tree without limits.
    for where, least, most in (("in all", 1433, 1759), ("where T=0", 911, 1068), ("where T=1", 522, 691)):
        ends = [
            rows[f"unbalanced: {word} Â=0 {where} that a tree without limits has on its own records"]
            for word in ("least", "most")
        ]
        assert [row.ours for row in ends] == [least, most]
