import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare, hypergeom, multivariate_hypergeom

from biasamp.predictability.equalize import (
    RULES,
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


def test_rules():
    assert [check_rule(rule) for rule in RULES] == ["accuracy", "confusion", None]
    for wrong in ("", "none", 3, ["accuracy"]):
        with pytest.raises(ValueError, match="take 'accuracy', 'confusion' or None"):
            check_rule(wrong)


@pytest.mark.parametrize("cells", [1, 2, 5])
@pytest.mark.parametrize("rows", [0, 1, 2, 5, 9])
def test_draws_of_everything_and_of_nothing(rows, cells):
    counts = np.random.default_rng(rows).integers(0, 7, (rows, cells))
    rng = np.random.default_rng(0)
    assert (draw(counts, 0, rng) == 0).all()
    whole = draw(counts, counts.sum(axis=1), rng)
    assert whole.shape == counts.shape
    assert (whole == counts).all()
    half = draw(counts, counts.sum(axis=1) // 2, rng)
    assert (half.sum(axis=1) == counts.sum(axis=1) // 2).all()
    assert ((half >= 0) & (half <= counts)).all()


@pytest.mark.parametrize("large", [[0], [1], [0, 1]])
def test_draws_from_rows_of_billions(large):
    """Beyond what numpy draws from, in any of the rows, with more cells than rows."""
    counts = np.tile(np.array([3, 0, 2, 5]), (2, 1))
    counts[large] *= 2_000_000_000
    sizes = counts.sum(axis=1) // 2
    drawn = draw(counts, sizes, np.random.default_rng(0))
    assert (drawn.sum(axis=1) == sizes).all()
    assert ((drawn >= 0) & (drawn <= counts)).all()
    spread = np.sqrt(2e10)
    for row in large:
        assert (np.abs(drawn[row] - counts[row] / 2) < 6 * spread).all()
        assert (drawn[row] != counts[row] / 2).any()


@pytest.mark.parametrize("singles", [1023, 1024, 1025])
def test_around_the_number_of_single_records_that_are_drawn_as_records(singles):
    counts = np.r_[7, np.ones(singles, dtype=np.int64), 0, 4]
    rng = np.random.default_rng(1)
    assert (draw(counts[None], counts.sum(), rng)[0] == counts).all()
    drawn = np.concatenate([draw(counts[None], 500, rng) for _ in range(300)])
    assert (drawn.sum(axis=1) == 500).all()
    assert (drawn <= counts).all()
    for place, good in ((0, 7), (-1, 4)):
        law = hypergeom(counts.sum(), good, 500)
        assert abs(drawn[:, place].mean() - law.mean()) < 5 * law.std() / np.sqrt(300)
    assert (drawn[:, -2] == 0).all()


def test_billions_keep_within_what_there_is():
    """A draw takes no more than is there and leaves no more; populations of none, one and two may stand in between."""
    billions = 3_000_000_000
    good = np.array([2, billions, 0, 1, 0, billions, 3])
    bad = np.array([billions, 2, 0, 0, 1, billions, billions])
    size = np.array([billions + 1, billions + 1, 0, 1, 1, 2 * billions, 1])
    rng = np.random.default_rng(0)
    for _ in range(300):
        drawn = hypergeometric(good, bad, size, rng)
        assert drawn[0] in (1, 2)
        assert drawn[1] in (billions - 1, billions)
        assert drawn[2:6].tolist() == [0, 1, 0, billions]
        assert drawn[6] in (0, 1)
    assert hypergeometric(*np.zeros((3, 0), dtype=np.int64), rng).tolist() == []


def test_a_few_of_billions_and_billions_less_a_few():
    few, billions, rng = np.full(4000, 900), np.full(4000, 4_000_000_000), np.random.default_rng(2)
    half = hypergeometric(few, billions, np.full(4000, 2_000_000_000), rng)
    for drawn in (half, 900 - half, hypergeometric(billions, few, np.full(4000, 2_000_000_000), rng) - 1_999_999_100):
        assert drawn.mean() == pytest.approx(450, abs=1.5)
        assert drawn.std() == pytest.approx(15, rel=0.06)


def test_scattered_records_go_to_all_classes_alike():
    spread = scatter(np.array([40_000, 0, 20_000]), 4, np.random.default_rng(0))
    assert spread.shape == (3, 4)
    assert spread.sum(axis=1).tolist() == [40_000, 0, 20_000]
    assert (np.abs(spread[0] - 10_000) < 500).all()
    assert (np.abs(spread[2] - 5_000) < 350).all()
    assert scatter(np.array([[3, 4]]), 1, np.random.default_rng(0)).tolist() == [[[3], [4]]]


def tables_of(truth, said, classes):
    """Counts (other, truth, predicted) of records of three others: as many of each truth as told, all with one answer."""
    out = np.zeros((len(truth), classes, classes), dtype=np.int64)
    for other, held in enumerate(truth):
        for true, many in enumerate(held):
            out[other, true, said[true]] = many
    return out


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_where_all_answers_are_certain_so_is_the_confusion(classes):
    """Each class has one answer, another one in each trial: the records take it, whatever part and other they are in."""
    rng = np.random.default_rng(classes)
    truth = rng.integers(0, 9, (2, 3, classes))
    answers = [list(range(classes)), [*range(1, classes), 0], [0] * classes]
    parts = np.array([[tables_of(part, said, classes) for part in truth] for said in answers])
    assert parts.shape == (3, 2, 3, classes, classes)
    moved = equalize_tables(parts, "confusion", rng)
    expected = np.zeros_like(moved)
    for trial, said in enumerate(answers):
        for true in range(classes):
            expected[trial, ..., said[true]] += truth[..., true]
    assert moved.tolist() == expected.tolist()
    assert equalize_tables(parts, None, rng).tolist() == np.broadcast_to(truth, moved.shape).tolist()


def test_a_model_that_is_never_or_always_right_leaves_the_accuracy_no_choice():
    truth = np.random.default_rng(0).integers(0, 9, (2, 3, 2))
    parts = np.array([[tables_of(part, said, 2) for part in truth] for said in ([0, 1], [1, 0])])
    moved = equalize_tables(parts, "accuracy", np.random.default_rng(0))
    assert moved[0].tolist() == truth.tolist()
    assert moved[1].tolist() == truth[..., ::-1].tolist()


@pytest.mark.parametrize("classes", [3, 4])
def test_tables_of_many_classes_move_as_many_records_as_are_wrong(classes):
    """All records of the second other are of one class, and all wrong: they come to lie in the other classes, all alike."""
    wrong = np.zeros((2, 2, 3, classes, classes), dtype=np.int64)
    wrong[0, :, 1, 1, 0] = [3000, 9000]
    wrong[1, :, 1, 2, 2] = [300, 900]
    moved = equalize_tables(wrong, "accuracy", np.random.default_rng(0))
    assert moved[1].tolist() == wrong[1].sum(axis=-1).tolist()
    assert (moved[0].sum(axis=-1) == wrong[0].sum(axis=(-1, -2))).all()
    for part, many in zip(moved[0], (3000, 9000), strict=True):
        assert (part[[0, 2]] == 0).all()
        assert part[1, 1] == 0
        rest = np.delete(part[1], 1)
        assert (np.abs(rest - many / (classes - 1)) < 5 * np.sqrt(many)).all()


def test_half_of_the_errors_go_to_either_part():
    """Errors that the model made in one part alone are dealt out to the records of both."""
    parts = np.zeros((400, 2, 1, 2, 2), dtype=np.int64)
    parts[:, 0, 0] = [[10, 20], [0, 10]]
    parts[:, 1, 0] = [[30, 0], [0, 10]]
    moved = equalize_tables(parts, "confusion", np.random.default_rng(0))
    assert (moved.sum(axis=(1, 2)) == [40, 40]).all()
    assert moved[:, :, 0, 1].mean(axis=0) == pytest.approx([10 + 10, 10 + 10], abs=0.8)
    moved = equalize_tables(parts, "accuracy", np.random.default_rng(0))
    # Twenty of eighty records change: 15 of 60 zeros and 5 of 20 ones.
    assert moved[:, :, 0, 1].mean(axis=0) == pytest.approx([10 + 7.5 - 2.5] * 2, abs=0.8)


def test_variables_of_any_number_of_classes_keep_their_own_confusion():
    rng = np.random.default_rng(3)
    sizes = (1, 2, 3, 2, 5)
    truth = np.column_stack([rng.integers(0, size, 300) for size in sizes]).astype(np.uint8)
    said = np.column_stack(
        [np.where(rng.random(300) < 0.3, rng.integers(0, k, 300), t) for k, t in zip(sizes, truth.T, strict=True)]
    )
    a, b = (Labels(x.astype(np.uint8), sizes, (False,) * 5) for x in (truth, said))
    for rule in ("accuracy", "confusion"):
        moved = equalize_records(a, b, rule, rng).codes
        assert (a.codes == truth).all()
        for v, size in enumerate(sizes):
            own, model = (np.bincount(truth[:, v] * size + x[:, v], minlength=size**2) for x in (moved, said))
            if rule == "confusion":
                assert own.tolist() == model.tolist()
            assert (moved[:, v] != truth[:, v]).sum() == (said[:, v] != truth[:, v]).sum()
    assert equalize_records(a, b, None, rng) is a


@pytest.mark.parametrize(("missed", "added"), [(0, 30), (20, 0), (20, 30), (0, 0)])
def test_records_without_a_label_are_found_among_those_with_it(missed, added):
    """All of a kind move, or none: no draw decides."""
    truth = (np.arange(50) % 5 < 2).astype(np.uint8)
    said = truth.copy()
    if missed:
        said[truth == 1] = 0
    if added:
        said[truth == 0] = 1
    a, b = (Labels(x[:, None], (2,), (True,)) for x in (truth, said))
    moved = equalize_records(a, b, "confusion", np.random.default_rng(0)).codes
    assert moved[:, 0].tolist() == said.tolist()
    both = equalize_records(a, b, "accuracy", np.random.default_rng(0)).codes
    assert (both[:, 0] != truth).sum() == missed + added


def test_every_record_of_a_kind_is_moved_alike():
    """Ten of the thirty records without the label get it, and five of the twenty with it lose it, each as often as any other."""
    truth = (np.arange(50) % 5 < 2).astype(np.uint8)
    said = truth.copy()
    said[np.flatnonzero(truth == 0)[:10]] = 1
    said[np.flatnonzero(truth == 1)[:5]] = 0
    a, b = (Labels(x[:, None], (2,), (True,)) for x in (truth, said))
    times, rng = 2000, np.random.default_rng(0)
    moved = sum((equalize_records(a, b, "confusion", rng).codes[:, 0] != truth).astype(int) for _ in range(times))
    for kind, chance in ((0, 1 / 3), (1, 1 / 4)):
        assert (np.abs(moved[truth == kind] - times * chance) < 4.5 * np.sqrt(times * chance * (1 - chance))).all()


@pytest.mark.parametrize("rule", ["accuracy", "confusion"])
def test_numbers_without_errors_stay_and_errors_stay_in_their_column(rule):
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(30, 3))
    errors = rng.normal(size=(30, 3)) * [0.0, 1.0, 50.0] + [0.0, 2.0, 0.0]
    moved = equalize_records(Numbers(truth), Numbers(truth + errors), rule, rng).values - truth
    assert (moved[:, 0] == 0).all()
    assert moved.std(axis=0) == pytest.approx(errors.std(axis=0))
    if rule == "confusion":
        assert np.sort(moved, axis=0) == pytest.approx(np.sort(errors, axis=0))
        # Each column in an order of its own.
        assert (np.argsort(moved[:, 1]) != np.argsort(moved[:, 2])).any()
    else:
        assert moved.mean(axis=0) == pytest.approx([0, 0, 0], abs=1e-12)
    one = equalize_records(Numbers(truth[:1]), Numbers(truth[:1] + 1), rule, rng).values
    assert one == pytest.approx(truth[:1] + (rule == "confusion"))


def test_a_billion_records_are_more_than_numpy_draws_from():
    """One less it draws itself; on both sides of that a draw is right."""
    rng = np.random.default_rng(0)
    for total in (10**9 - 1, 10**9, 10**9 + 1):
        counts = np.array([[total - 3, 1, 2]])
        drawn = draw(counts, 1000, rng)
        assert drawn.sum() == 1000
        assert (drawn <= counts).all()
        few = np.array([0, 2, 5])
        for good, bad in ((np.full(3, total), few), (few, np.full(3, total))):
            taken = hypergeometric(good, bad, np.full(3, 40), rng)
            assert ((taken >= 40 - bad) & (taken <= good)).all()
