import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare, hypergeom, multivariate_hypergeom

from biasamp.predictability.equalize import (
    check_rule,
    draw,
    equalize_records,
    equalize_tables,
    hypergeometric,
    scatter,
)
from biasamp.predictability.sides import Labels, Numbers


def labels(*columns, sizes, yes_no=False):
    return Labels(np.column_stack(columns).astype(np.uint8), sizes, (yes_no,) * len(sizes))


def sample(n=120, classes=4, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, n)
    predicted = np.where(rng.random(n) < 0.3, rng.integers(0, classes, n), truth)
    return rng.integers(0, 2, n), truth, predicted


@pytest.mark.parametrize("seed", range(5))
def test_many_classes_stay_one_hot_and_hit_the_accuracy_exactly(seed):
    _, truth, predicted = sample(seed=seed)
    moved = equalize_records(
        labels(truth, sizes=(4,)), labels(predicted, sizes=(4,)), "accuracy", np.random.default_rng(seed)
    )
    assert (moved.codes[:, 0] == truth).mean() == (predicted == truth).mean()
    assert (moved.indicators().sum(axis=1) == 1).all()


def test_a_perturbed_record_gets_each_other_class_alike():
    truth = np.zeros(3000, dtype=int)
    predicted = np.r_[np.ones(2400, dtype=int), np.zeros(600, dtype=int)]
    moved = equalize_records(
        labels(truth, sizes=(4,)), labels(predicted, sizes=(4,)), "accuracy", np.random.default_rng(0)
    )
    seen = np.bincount(moved.codes[:, 0], minlength=4)
    assert seen[0] == 600
    assert (np.abs(seen[1:] - 800) < 5 * np.sqrt(800)).all()


def test_each_label_of_a_set_keeps_its_own_accuracy_and_confusion():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, (90, 7))
    predicted = np.where(rng.random((90, 7)) < [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 1.0], 1 - truth, truth)
    a, b = (Labels(x.astype(np.uint8), (2,) * 7, (True,) * 7) for x in (truth, predicted))
    moved = equalize_records(a, b, "accuracy", rng).codes
    assert ((moved != truth).sum(axis=0) == (predicted != truth).sum(axis=0)).all()
    moved = equalize_records(a, b, "confusion", rng).codes
    for true in (0, 1):
        wrong, model_wrong = ((x != truth) & (truth == true) for x in (moved, predicted))
        assert (wrong.sum(axis=0) == model_wrong.sum(axis=0)).all()
    assert (equalize_records(a, b, None, rng).codes == truth).all()


@pytest.mark.parametrize("classes", [2, 4])
def test_confusion_is_the_models_confusion_table(classes):
    _, truth, predicted = sample(classes=classes)
    moved = equalize_records(
        labels(truth, sizes=(classes,)),
        labels(predicted, sizes=(classes,)),
        "confusion",
        np.random.default_rng(0),
    ).codes[:, 0]
    own, model = (np.bincount(truth * classes + x, minlength=classes**2) for x in (moved, predicted))
    assert (own == model).all()
    assert (moved != predicted).any()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("rule", ["accuracy", "confusion"])
def test_counts_and_records_draw_from_one_distribution(rule, classes):
    """The joint distribution of a whole table, not of its mean: twelve records, six thousand perturbations."""
    other, truth = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1]), np.arange(12) % classes
    predicted = np.where(np.isin(np.arange(12), [0, 2, 5, 9]), (truth + 1) % classes, truth)
    table = np.zeros((2, classes, classes), dtype=np.int64)
    np.add.at(table, (other, truth, predicted), 1)
    times, rng = 6000, np.random.default_rng(5)
    stack = np.broadcast_to(table, (times, 1, 2, classes, classes))
    by_table = equalize_tables(stack, rule, rng)[:, 0].reshape(times, -1)
    a, b = labels(truth, sizes=(classes,)), labels(predicted, sizes=(classes,))
    by_record = np.zeros_like(by_table)
    for row in by_record:
        moved = equalize_records(a, b, rule, rng).codes[:, 0]
        np.add.at(row, other * classes + moved, 1)
    both = np.concatenate([by_table, by_record])
    outcomes, place = np.unique(both, axis=0, return_inverse=True)
    seen = np.stack([np.bincount(part, minlength=len(outcomes)) for part in np.split(place.ravel(), 2)])
    seen = seen[:, seen.sum(axis=0) >= 20]
    assert seen.shape[1] > 3
    assert chi2_contingency(seen).pvalue > 1e-4


def test_halves_share_one_perturbation():
    rng = np.random.default_rng(0)
    parts = rng.integers(0, 6, size=(50, 2, 3, 2, 2))
    moved = equalize_tables(parts, "accuracy", rng)
    assert (moved.sum(axis=-1) == parts.sum(axis=(-1, -2))).all()
    confused = equalize_tables(parts, "confusion", rng)
    assert (confused.sum(axis=(1, 2)) == parts.sum(axis=(1, 2, 3))).all()


def test_numbers_get_the_models_error_variance():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(400, 2))
    predicted = truth + rng.normal(size=(400, 2)) * [0.5, 2.0] + 7.0
    a, b = Numbers(truth), Numbers(predicted)
    for rule in ("accuracy", "confusion"):
        moved = equalize_records(a, b, rule, rng).values
        assert (moved - truth).var(axis=0) == pytest.approx((predicted - truth).var(axis=0))
        assert abs(np.corrcoef((moved - truth)[:, 0], (predicted - truth)[:, 0])[0, 1]) < 0.2


def test_unknown_rules_are_refused():
    with pytest.raises(ValueError, match="'confusion' or None"):
        check_rule("none")


@pytest.mark.parametrize("rows", [2, 40_000])
def test_draws_are_multivariate_hypergeometric(rows):
    counts, size = np.array([3, 1, 2]), 3
    rng = np.random.default_rng(0)
    drawn = np.concatenate([draw(np.tile(counts, (rows, 1)), size, rng) for _ in range(40_000 // rows)])
    outcomes, seen = np.unique(drawn, axis=0, return_counts=True)
    chance = multivariate_hypergeom(counts, size).pmf(outcomes)
    assert chance.sum() == pytest.approx(1)
    assert chisquare(seen, chance * len(drawn)).pvalue > 1e-4


def test_cells_of_one_record_are_drawn_as_records():
    """What a larger cell and a set of single records give is hypergeometric, and every single record is drawn alike."""
    counts = np.r_[np.ones(900, dtype=np.int64), 0, 30, np.ones(600, dtype=np.int64), 5]
    rng, times, size = np.random.default_rng(0), 4000, 500
    drawn = np.concatenate([draw(counts[None], size, rng) for _ in range(times)])
    assert (drawn.sum(axis=1) == size).all()
    assert (drawn <= counts).all()
    parts = {"cell": drawn[:, 901], "singles": drawn[:, :900].sum(axis=1), "last": drawn[:, -1]}
    for (name, seen), good in zip(parts.items(), (30, 900, 5), strict=True):
        law = hypergeom(counts.sum(), good, size)
        assert abs(seen.mean() - law.mean()) < 4 * law.std() / np.sqrt(times), name
        assert seen.std() == pytest.approx(law.std(), rel=0.06), name
    single = drawn[:, counts == 1].sum(axis=0)
    chance = size / counts.sum()
    assert (((single - times * chance) ** 2 / (times * chance * (1 - chance))).mean()) == pytest.approx(1, abs=0.15)


def test_rows_may_differ_in_counts_and_size():
    counts = np.array([[4, 0, 6], [1, 1, 1]])
    drawn = draw(counts, np.array([10, 2]), np.random.default_rng(0))
    assert drawn[0].tolist() == [4, 0, 6]
    assert drawn[1].sum() == 2


def test_populations_of_billions_have_the_right_mean_and_spread():
    good, bad, size = 3_000_000_000, 7_000_000_000, 5_000_000_000
    rng = np.random.default_rng(0)
    drawn = hypergeometric(np.full(20_000, good), np.full(20_000, bad), np.full(20_000, size), rng)
    share, total = good / (good + bad), good + bad
    spread = np.sqrt(size * share * (1 - share) * (total - size) / (total - 1))
    assert abs(drawn.mean() - size * share) < 5 * spread / np.sqrt(20_000)
    assert drawn.std() == pytest.approx(spread, rel=0.03)


def test_scattered_records_are_all_there():
    counts = np.array([[5, 0], [7, 2]])
    spread = scatter(counts, 3, np.random.default_rng(0))
    assert (spread.sum(axis=-1) == counts).all()
