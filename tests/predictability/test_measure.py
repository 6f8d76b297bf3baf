"""A measurement from end to end: what is asked of the trials, and intervals by hand."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from biasamp.counts.contingency import ContingencyTable, count_by_bag
from biasamp.data import Evaluation, align, label_set, read_columns
from biasamp.data.keys import row_keys
from biasamp.predictability import AttackerError, attack, measure, problem_from_labels
from biasamp.predictability.lookup import LookupTables
from biasamp.predictability.measure import Measurement, _refuse_undefined, _seed_sequence
from biasamp.predictability.problem import read_problem
from biasamp.predictability.records import RecordTrials
from biasamp.predictability.scores import Scores
from biasamp.results.interval import CUT, NO_WIDTH

# The value below which a normal variable lies with a chance of 0.975, and of 0.95.
NORMAL, NORMAL_90 = 1.959963984540054, 1.6448536269514722


def scores(model, dataset, rule="accuracy", model_plain=0.0, dataset_plain=0.0):
    model, dataset = np.asarray(model, dtype=float), np.asarray(dataset, dtype=float)
    plain = [np.full(len(model), value) for value in (model_plain, dataset_plain)]
    return Scores(model, plain[0], {rule: dataset}, {rule: plain[1]})


class Engine:
    """Gives scores that are told, and keeps what it is asked."""

    def __init__(self, halves, perturbed=None, telling=None):
        self._halves, self._perturbed, self._telling = halves, perturbed, telling
        self.asked = []

    def _keep(self, what, count, seed, *options):
        self.asked.append((what, count, (seed.entropy, seed.spawn_key), *options))

    def halves(self, count, seed, rule, evaluation):
        self._keep("halves", count, seed, rule, evaluation)
        return self._halves

    def perturbed(self, count, seed, rule, evaluation):
        self._keep("perturbed", count, seed, rule, evaluation)
        return self._perturbed

    def trials(self, count, seed, rules, evaluation):
        self._keep("trials", count, seed, rules, evaluation)
        return self._telling


STILL = np.full(2, 0.5)


def made(engine, own, rule="accuracy", kind="leakage", quality="accuracy", n=100, never_wrong=False):
    seeds = tuple(np.random.SeedSequence(7).spawn(3))
    return Measurement(kind, n, own, rule, "held_out", quality, "lookup", "", engine, 40, seeds, never_wrong)


def moving(rule="accuracy", shift=0.0, plain=0.1):
    """Halves whose figures are -0.1, 0, 0.1 (a variance of 0.01), and gains the same; twelve trials that do not vary."""
    half = scores(np.array([0.5, 0.6, 0.7]) + shift, [0.6, 0.6, 0.6], rule, plain, plain)
    return Engine((half, half), (STILL, STILL)), scores(np.full(12, 0.75), np.full(12, 0.625), rule, 0.25, 0.5)


def test_figures_and_gains_are_of_mean_scores():
    own = Scores(
        np.array([0.5, 1.0]),
        np.array([0.25, 0.5]),
        {"accuracy": np.array([0.5, 0.5]), None: np.array([0.25, 0.25])},
        {"accuracy": np.array([0.125, 0.125]), None: np.array([0.0, 0.5])},
    )
    held = made(None, own)
    assert (held.figure("accuracy"), held.figure(None)) == (0.25, 0.5)
    assert held.gains == (0.375, 0.375)
    assert replace(held, kind="dpa").figure(None) == 0.5
    assert replace(held, rule=None).gains == (0.0, 0.375)
    assert not replace(held).never_wrong


@pytest.mark.parametrize(("level", "normal"), [(0.95, NORMAL), (0.9, NORMAL_90)])
def test_intervals_reach_as_far_as_a_normal_variable(level, normal):
    engine, own = moving()
    held = made(engine, own)
    found = held.interval(level, "value", None, None)
    assert found.standard_error == pytest.approx(0.1)
    assert tuple(found) == pytest.approx((0.125 - normal * 0.1, 0.125 + normal * 0.1))
    assert (found.level, found.method) == (level, "random halves of the records, normal")
    assert found.varies == "sampling of records, the model's errors, and trials"
    assert found.cautions == ()
    # Gains of 0.5 and 0.125.
    gains = held.interval(level, "gain_difference", None, None)
    assert tuple(gains) == pytest.approx((0.375 - normal * 0.1, 0.375 + normal * 0.1))
    assert gains.standard_error == pytest.approx(0.1)


def test_the_value_and_the_difference_of_gains_have_errors_of_their_own():
    half = replace(scores([0.5, 0.6, 0.7], [0.6, 0.6, 0.6]), model_plain=np.array([0.5, 0.4, 0.3]))
    held = made(Engine((half, half), (STILL, STILL)), moving()[1])
    assert held.interval(0.95, "value", None, None).standard_error == pytest.approx(0.1)
    assert held.interval(0.95, "gain_difference", None, None).standard_error == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("kind", "quality", "of", "bounded"),
    [
        ("leakage", "accuracy", "value", True),
        ("leakage", "f1", "gain_difference", True),
        ("dpa", "auc", "gain_difference", True),
        ("dpa", "balanced_accuracy", "value", True),
        ("dpa", "inverse_rmse", "value", True),
        ("dpa", "inverse_rmse", "gain_difference", False),
        ("leakage", "inverse_rmse", "value", False),
        ("leakage", "own", "gain_difference", False),
    ],
)
def test_intervals_are_cut_where_figures_have_bounds(kind, quality, of, bounded):
    """Differences of qualities of labels, and the quotient of any, lie within 1 of 0; what callables give may have no bound."""
    half = scores([0.1, 5.0, 9.0], [5.0, 5.0, 0.0])
    wide = made(Engine((half, half), (STILL, STILL)), moving()[1], kind=kind, quality=quality)
    found = wide.interval(0.9999, of, None, None)
    assert (found.low == -1.0, found.high == 1.0) == (bounded, bounded)
    assert [caution.kind for caution in found.cautions] == [CUT] * 2 * bounded
    assert (found.low < -1.0, found.high > 1.0) == (not bounded, not bounded)


@pytest.mark.parametrize("of", ["value", "gain_difference"])
def test_where_nothing_moves_there_is_no_interval(of):
    still = scores([0.6, 0.6], [0.5, 0.5])
    held = made(Engine((still, still), (STILL, STILL)), moving()[1])
    found = held.interval(0.95, of, None, None)
    assert np.isnan([*found]).all()
    assert (found.method, found.level) == ("undefined", 0.95)
    assert [caution.kind for caution in found.cautions] == [NO_WIDTH]
    # Rounding moves a figure by less than a millionth of a millionth; what is larger counts.
    for step, defined in ((5e-13, False), (5e-12, True)):
        half = scores([0.6 - step, 0.6 + step], [0.5, 0.5])
        found = made(Engine((half, half), (STILL, STILL)), moving()[1]).interval(0.95, of, None, None)
        assert np.isfinite(found.low) == defined


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize(("rule", "times"), [(None, 1), ("accuracy", 2)])
def test_errors_that_were_not_seen_widen_the_interval_of_a_model_that_is_never_wrong(rule, times, level):
    """With no error in n records at most 1 - (alpha / 2)^(1 / n) of all have one, by the bound of Clopper and Pearson."""
    still = scores([0.6, 0.6], [0.5, 0.5], rule)
    own = moving(rule)[1]
    share = 1 - ((1 - level) / 2) ** (1 / 40)
    held = made(Engine((still, still), (STILL, STILL)), own, rule, n=40, never_wrong=True)
    for of, middle, reach in (("value", 0.125, times * share), ("gain_difference", 0.375, 2 * times * share)):
        found = held.interval(level, of, None, None)
        assert tuple(found) == pytest.approx((middle - reach, min(1.0, middle + reach)))
        assert found.method == "random halves of the records, normal, and errors that were not seen"
    ratio = replace(held, kind="dpa")
    assert tuple(ratio.interval(level, "value", None, None)) == pytest.approx(
        [(0.75 - 0.625 + sign * times * share) / 1.375 for sign in (-1, 1)]
    )
    assert tuple(ratio.interval(level, "gain_difference", None, None)) == pytest.approx(
        (0.375 - 2 * times * share, min(1.0, 0.375 + 2 * times * share))
    )
    # Of other qualities nobody knows how far an error moves them.
    assert np.isnan(replace(held, quality="f1").interval(level, "value", None, None).low)
    assert np.isnan(replace(held, never_wrong=False).interval(level, "value", None, None).low)


def test_unseen_errors_come_on_top_of_what_halves_tell():
    engine, own = moving()
    share = 1 - 0.025 ** (1 / 1000)
    found = made(engine, own, n=1000, never_wrong=True).interval(0.95, "value", None, None)
    reach = NORMAL * 0.1 + 2 * share
    assert tuple(found) == pytest.approx((0.125 - reach, 0.125 + reach))


def seeds_of(parent):
    return [(child.entropy, child.spawn_key) for child in parent.spawn(3)]


def test_what_an_interval_asks_of_the_trials():
    engine, own = moving()
    held = made(engine, own)
    held.interval(0.95, "value", None, None)
    first, second, third = seeds_of(np.random.SeedSequence(7))
    assert engine.asked == [
        ("halves", 40, first, "accuracy", "held_out"),
        ("perturbed", 40, second, "accuracy", "held_out"),
    ]
    engine.asked.clear()
    # Asked twice, the same; with another number of halves and another seed these.
    held.interval(0.95, "gain_difference", 9, 3)
    first, second, third = seeds_of(np.random.SeedSequence(3))
    assert engine.asked == [
        ("halves", 9, first, "accuracy", "held_out"),
        ("perturbed", 9, second, "accuracy", "held_out"),
    ]
    # Without equalization nothing is perturbed; fewer than twelve trials do not tell their variance.
    half, few = moving(None)[0]._halves[0], scores(np.full(11, 0.75), np.full(11, 0.625), None)
    engine = Engine((half, half), None, scores([0.5, 0.7], [0.5, 0.5], None))
    found = made(engine, few, None).interval(0.95, "value", 9, 3)
    assert engine.asked == [("halves", 9, first, None, "held_out"), ("trials", 12, third, (None,), "held_out")]
    # Their variance of 0.02, of eleven trials.
    assert found.standard_error == pytest.approx(np.sqrt(0.01 + 0.02 / 11))


@pytest.mark.parametrize("which", ["first half", "second half", "telling"])
def test_an_undefined_score_in_a_resample_is_refused(which):
    good, bad = scores([0.6, 0.6], [0.5, 0.5]), scores([0.6, np.nan], [0.5, 0.5])
    halves = (bad if which == "first half" else good, bad if which == "second half" else good)
    engine = Engine(halves, (STILL, STILL), bad if which == "telling" else good)
    with pytest.raises(AttackerError, match="attacker lookup is nan in trial 1 on the model side"):
        made(engine, good).interval(0.95, "value", None, None)


@pytest.mark.parametrize(
    ("side", "word"),
    [
        ("model", "model"),
        ("model_plain", "model without input"),
        ("dataset", "dataset"),
        ("dataset_plain", "dataset without input"),
    ],
)
@pytest.mark.parametrize("value", [np.nan, np.inf, -0.5])
def test_undefined_scores_name_the_first_trial_and_how_many_there_are(side, word, value):
    values = np.array([0.0, value, 1.0, value, 3.0])
    held = scores(np.zeros(5), np.zeros(5))
    held = replace(held, **{side: values if side.startswith("model") else {None: np.zeros(5), "accuracy": values}})
    if side == "dataset":
        held = replace(held, dataset_plain={None: np.zeros(5), "accuracy": np.zeros(5)})
    elif side == "dataset_plain":
        held = replace(held, dataset={None: np.zeros(5), "accuracy": np.zeros(5)})
    with pytest.raises(
        AttackerError, match=rf"of attacker tree is {value} in trial 1 on the {word} side \(2 of 5 trials\)"
    ):
        _refuse_undefined(held, "tree")
    _refuse_undefined(scores(np.zeros(3), np.ones(3)), "tree")


def labels(*data):
    sides = [label_set(read_columns(x, "x"), "x") for x in data]
    return sides[0], *align(sides[1:], ["truth", "predicted"])


def planted(n=80, seed=0):
    rng = np.random.default_rng(seed)
    other = rng.integers(0, 2, n)
    truth = (rng.random(n) < 0.3 + 0.4 * other).astype(int)
    return other, truth, np.where(rng.random(n) < 0.2, 1 - truth, truth)


def test_how_a_measurement_is_made_by_the_attacker():
    other, truth, said = planted()
    problem = problem_from_labels(*labels(other, truth, said))
    found = measure(problem, "dpa", trials=3)
    assert isinstance(found.engine, LookupTables)
    assert (found.kind, found.n, found.rule, found.evaluation) == ("dpa", 80, "accuracy", "held_out")
    assert (found.quality, found.attacker, found.resamples, len(found.scores)) == ("accuracy", "lookup", 500, 3)
    assert set(found.scores.dataset) == {"accuracy", "confusion", None}
    assert len(found.seeds) == 3
    assert not found.never_wrong
    assert len(measure(problem, "dpa").scores) == 100
    sets = problem_from_labels(*labels(other, np.column_stack([truth, other]), np.column_stack([said, other])))
    assert measure(sets, "dpa", trials=2).resamples == 100
    # Of leakage sets of labels are looked up record by record.
    leak = measure(sets, "leakage", trials=2)
    assert isinstance(leak.engine, RecordTrials)
    assert (leak.attacker, leak.resamples) == ("lookup", 100)
    assert measure(problem, "dpa", attacker="naive_bayes", trials=2).resamples == 100
    trained = measure(problem, "dpa", attacker=DecisionTreeClassifier(), trials=2, workers=1)
    assert (trained.resamples, trained.attacker, trained.reason) == (
        30,
        "DecisionTreeClassifier",
        "the caller chose it",
    )
    perfect = problem_from_labels(*labels(other, truth, truth))
    assert measure(perfect, "dpa", trials=2).never_wrong


def test_what_is_said_of_numbers_and_probabilities():
    rng = np.random.default_rng(0)
    other, truth, _ = planted()
    names = ("given", "truth", "predicted")
    numbers = read_problem(other, truth + rng.random(80), truth + rng.random(80), names)
    found = measure(numbers, "dpa", attacker=DecisionTreeRegressor(), trials=2, workers=1)
    assert found.quality == "inverse_rmse"
    assert found.reason == "the caller chose it; quality is inverse_rmse, as what is predicted is continuous"
    found = measure(numbers, "dpa", attacker=DecisionTreeRegressor(), quality="inverse_rmse", trials=2, workers=1)
    assert found.reason == "the caller chose it"
    soft = read_problem(other, truth, rng.random(80), names)
    found = measure(soft, "dpa", attacker="naive_bayes", trials=2)
    assert found.reason == "the caller chose it; predicted probabilities are drawn as labels anew in every trial"


def test_a_callable_goes_by_its_name_or_by_that_of_its_class():
    class Share:
        def __call__(self, target, answer):
            return float((target == answer).mean())

    problem = problem_from_labels(*labels(*planted()))
    assert measure(problem, "dpa", quality=Share(), trials=2, workers=1).quality == "Share"
    assert measure(problem, "dpa", quality=lambda y, said: float((y == said).mean()), trials=2).quality == "<lambda>"


def test_as_many_records_as_are_too_many_are_drawn(monkeypatch):
    module = sys.modules["biasamp.predictability.measure"]  # the package gives its function that name
    monkeypatch.setattr(module, "_MOST_RECORDS", 79)
    problem = problem_from_labels(*labels(*planted()))
    found = measure(problem, "dpa", attacker="naive_bayes", trials=2)
    assert found.reason == "the caller chose it; measured on 79 of the 80 records, drawn at random"
    assert (found.n, found.engine.problem.n) == (80, 79)
    monkeypatch.setattr(module, "_MOST_RECORDS", 80)
    assert measure(problem, "dpa", attacker="naive_bayes", trials=2).reason == "the caller chose it"


@pytest.mark.parametrize("seed", [-1, True, False, 1.5, "0", None])
def test_seeds_that_are_none(seed):
    with pytest.raises(ValueError, match="a whole number of at least 0, or a numpy Generator"):
        measure(problem_from_labels(*labels(*planted())), "dpa", trials=2, seed=seed)


def test_seeds():
    assert [_seed_sequence(seed).entropy for seed in (0, 5, np.int64(5))] == [0, 5, 5]
    drawn = _seed_sequence(np.random.default_rng(1))
    assert len(drawn.entropy) == 4
    # All bits of four words of 32.
    words = np.array([_seed_sequence(np.random.default_rng(i)).entropy for i in range(40)])
    assert words.max() < 2**32
    assert set(np.bitwise_or.reduce(words, axis=0)) == {2**32 - 1}
    first = measure(problem_from_labels(*labels(*planted())), "dpa", trials=3)
    assert (
        first.scores.model.tolist()
        == measure(problem_from_labels(*labels(*planted())), "dpa", trials=3, seed=0).scores.model.tolist()
    )


@pytest.mark.parametrize(
    ("options", "word"), [({"evaluation": "in"}, "evaluation"), ({"trials": 0}, "trials"), ({"trials": 1.5}, "trials")]
)
def test_options_that_are_none(options, word):
    with pytest.raises((ValueError, TypeError), match=word):
        measure(problem_from_labels(*labels(*planted())), "dpa", **options)


@pytest.mark.parametrize("attacker", ["auto", "naive_bayes"])
def test_halves_of_bags_carry_the_noise_of_the_trials(attacker):
    """The variance of the figure by its trials, and of one trial none that is known."""
    given, truth, said = labels(*planted())
    sets = {"given": given, "truth": truth, "predicted": said}
    table, by_bag = ContingencyTable.from_labels(sets), count_by_bag(sets, row_keys(0, 80))
    for trials in (1, 2, 5):
        result = attack.from_table(table, "dpa", by_bag=by_bag, attacker=attacker, trials=trials)
        halves = result.paired_halves()
        noise = result.trials["value"].var(ddof=1) / trials if trials > 1 else 0.0
        assert halves.noise == pytest.approx([noise])
        assert halves.halves == (200 if attacker == "auto" else 30)
    other = attack.from_table(table, "dpa", by_bag=by_bag, attacker=attacker, trials=2, seed=1).paired_halves()
    assert not other.same(halves)


def test_records_of_an_evaluation_lie_in_bags_too():
    data = [label_set(read_columns(x, "x"), "x") for x in planted()]
    one, two = (
        attack.from_evaluation(Evaluation(*data), "dpa", trials=2, seed=seed).paired_halves() for seed in (0, 0)
    )
    assert one.same(two)
    assert one.halves == 200
