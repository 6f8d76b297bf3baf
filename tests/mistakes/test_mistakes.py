"""Everyday mistakes are refused with the column and the values, wherever they are made; none passes a gate."""

from __future__ import annotations

import sys
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import biasamp
import reference
from biasamp.cli import main
from biasamp.data.frames import arrow_table
from biasamp.data.label import canonical
from biasamp.policy.template import policy_text
from extras import needs
from mistakes.cases import CASES, RIGHT, ROLES, Mistake, N

ids = [case.name for case in CASES]


def expected(case: Mistake) -> float:
    """The value by the definition, record by record, of the labels that the truth has."""
    columns = {**case.columns, **(case.like or {})}
    sides = [[{canonical(value): Fraction(1)} for value in columns[name]] for name in ("gender", "hired", "said")]
    labels = [sorted({label for record in side for label in record}) for side in sides[:2]]
    answer = reference.directional(*sides, *labels)
    assert answer.value is not None
    return float(answer.value)


def arguments(case: Mistake, **more: Any) -> dict[str, Any]:
    held = {**ROLES, **case.roles, "metrics": "directional", "resamples": 50, **more}
    return {name: value for name, value in held.items() if value is not None}


def directional(case: Mistake, folder: Path) -> float:
    c, t = case.columns, case.train
    train = None if t is None else (t["gender"], t["hired"])
    return biasamp.directional(c["gender"], c["hired"], c["said"], train=train).value


def audited(case: Mistake, folder: Path, **more: Any) -> float:
    train = None if case.train is None else dict(case.train)
    audit = biasamp.audit(dict(case.columns), **arguments(case, train=train, **more))
    return audit.document["metrics"][0]["value"]  # type: ignore[return-value]


def streamed(case: Mistake, folder: Path) -> float:
    return audited(case, folder, engine="local", threads=1)


def scored(case: Mistake, folder: Path) -> float:
    from biasamp.integrations.sklearn import bias_amplification_score

    c, t = case.columns, case.train
    train = None if t is None else (t["gender"], t["hired"])
    return bias_amplification_score(c["hired"], c["said"], sensitive_features=c["gender"], train=train)


WAYS: dict[str, Any] = {"directional": directional, "audit": audited, "streamed": streamed, "sklearn": scored}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=ids)
def test_in_python(case: Mistake, way: str, tmp_path: Path) -> None:
    if not case.goes(way):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if not case.refused:
            assert WAYS[way](case, tmp_path) == pytest.approx(expected(case), abs=1e-12)
            return
        with pytest.raises((ValueError, TypeError)) as caught:
            WAYS[way](case, tmp_path)
    for word in case.words:
        assert word in str(caught.value)


POLICY = """
schema = 1
[data]
{data}
metrics = ["directional"]
resamples = 50
[[limit]]
metric = "directional"
max = 0.9
"""


def run(monkeypatch: pytest.MonkeyPatch, *given: object) -> int:
    monkeypatch.setattr(sys, "argv", ["biasamp", *map(str, given)])
    try:
        main()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


@pytest.mark.parametrize("command", ["audit", "check"])
@pytest.mark.parametrize("case", CASES, ids=ids)
def test_in_the_command_line(
    case: Mistake,
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if not case.goes("cli"):
        return
    file, train = tmp_path / "data.parquet", tmp_path / "train.parquet"
    pq.write_table(arrow_table(dict(case.columns), None, "data"), file)
    roles = {name: value for name, value in {**ROLES, **case.roles}.items() if value is not None}
    if case.train is not None:
        pq.write_table(arrow_table(dict(case.train), None, "train"), train)
        roles["train"] = str(train)
    if command == "audit":
        options = [part for name, value in roles.items() for part in (f"--{name.replace('_', '-')}", value)]
        code = run(monkeypatch, "audit", file, *options, "--metrics", "directional", "--resamples", 50, "--json", "-")
    else:
        policy = tmp_path / "policy.toml"
        policy.write_text(POLICY.format(data="\n".join(f'{name} = "{value}"' for name, value in roles.items())))
        code = run(monkeypatch, "check", file, "--policy", policy)
    said = capsys.readouterr()
    if case.refused:
        assert code == 2, said.out
        for word in case.words:
            assert word in said.err.replace("\\t", "\t")
    else:
        assert code in ((0,) if command == "audit" else (0, 3)), said.err


# Groups are numbers there, as many as were declared.
NUMBERS = [
    case
    for case in CASES
    if not case.roles
    and case.goes("torch")
    and (not case.refused or case.columns["gender"] is RIGHT["gender"])
    and all(np.asarray(case.columns[name]).dtype.kind in "biuf" for name in ("hired", "said"))
]


@pytest.mark.parametrize("case", NUMBERS, ids=[case.name for case in NUMBERS])
def test_in_torch(case: Mistake) -> None:
    torch = needs("torch")
    needs("torchmetrics")
    from biasamp.integrations.torch import BiasAmplification

    groups, codes = np.unique(np.asarray(case.columns["gender"]).astype(str), return_inverse=True)
    hired, said = (torch.as_tensor(np.asarray(case.columns[name])) for name in ("hired", "said"))
    train = None
    if case.train is not None:
        known = [
            int(np.flatnonzero(groups == str(value))[0]) if str(value) in groups else -1
            for value in case.train["gender"]
        ]
        train = torch.as_tensor(known), torch.as_tensor(np.asarray(case.train["hired"]))
    if case.refused:
        with pytest.raises((ValueError, TypeError)):
            BiasAmplification(task="binary", num_groups=2, train=train).update(said, hired, torch.as_tensor(codes))
        return
    metric = BiasAmplification(task="binary", num_groups=2, train=train)
    metric.update(said, hired, torch.as_tensor(codes))
    assert metric.compute().item() == pytest.approx(expected(case), abs=1e-12)


def test_there_are_many() -> None:
    assert sum(case.refused for case in CASES) >= 80
    assert len({case.name for case in CASES}) == len(CASES)


SHUFFLED = np.random.default_rng(3).permutation(N)


@pytest.mark.parametrize("side", ["gender", "hired", "said", "weights"])
@pytest.mark.parametrize("index", ["another order", "other labels"])
def test_series_that_are_aligned_differently(side: str, index: str) -> None:
    held = {name: pd.Series(RIGHT[name]) for name in ("gender", "hired", "said")}
    held["weights"] = pd.Series(np.ones(N))
    held[side] = held[side].iloc[SHUFFLED] if index == "another order" else held[side].set_axis(np.arange(N) + 1000)
    A, T, P, w = held.values()
    calls = [lambda: biasamp.directional(A, T, P, weights=w), lambda: biasamp.multi(A, T, P, weights=w)]
    calls += [lambda: biasamp.mals(A, T, A, P, weights=w), lambda: biasamp.parity(A, T, P, weights=w)]
    calls += [lambda: biasamp.audit(held, **ROLES, weights="weights")]
    if side != "weights":
        calls += [lambda: biasamp.dpa(A, T, P), lambda: biasamp.sweep(P, A, T)]
    for call in calls:
        with pytest.raises(ValueError, match="reset_index"):
            call()
    right = biasamp.directional(*(x.to_numpy() for x in (A, T, P)), weights=w.to_numpy()).value
    assert right == biasamp.directional(*(x.reset_index(drop=True) for x in (A, T, P))).value


def test_series_of_one_shuffled_index_are_read() -> None:
    frame = pd.DataFrame({name: RIGHT[name] for name in ("gender", "hired", "said")}).iloc[SHUFFLED]
    value = biasamp.directional(frame["gender"], frame["hired"], frame["said"].to_numpy()).value
    assert value == pytest.approx(biasamp.directional(RIGHT["gender"], RIGHT["hired"], RIGHT["said"]).value)


def test_weights_of_another_index_in_an_audit() -> None:
    frame = pd.DataFrame({name: RIGHT[name] for name in ("gender", "hired", "said")})
    with pytest.raises(ValueError, match="reset_index"):
        biasamp.audit(frame, **ROLES, weights=pd.Series(np.ones(N), index=SHUFFLED))


def test_scores_of_another_index() -> None:
    from biasamp.integrations.sklearn import bias_amplification_score

    with pytest.raises(ValueError, match=r"sensitive_features.*reset_index"):
        bias_amplification_score(
            RIGHT["hired"], pd.Series(RIGHT["said"]), sensitive_features=pd.Series(RIGHT["gender"], index=SHUFFLED)
        )


def test_ids_that_went_through_floats() -> None:
    ids = np.arange(N) * 2.0 + 2.0**53
    with pytest.raises(ValueError, match="neighbours"):
        biasamp.audit({**RIGHT, "id": ids}, **ROLES, record="id")
    with pytest.raises(ValueError, match="neighbours"):
        biasamp.directional(RIGHT["gender"], RIGHT["hired"], RIGHT["said"], cluster=ids // 4 * 4)
    whole = biasamp.audit({**RIGHT, "id": ids.astype(np.int64)}, **ROLES, record="id", metrics="directional")
    assert (
        whole.document["metrics"][0]["value"]
        == biasamp.directional(RIGHT["gender"], RIGHT["hired"], RIGHT["said"]).value
    )


def test_many_small_groups_and_rare_labels_are_read() -> None:
    """Twenty groups of two records each, and a label for every other record, are few, but no ids."""
    groups = [f"g{i % 20}" for i in range(40)]
    truth = [f"t{i // 2}" for i in range(40)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert biasamp.directional(groups, truth, truth.copy()).value == 0
        lists = [[f"rare {i}", "common"] for i in range(40)]
        assert biasamp.directional(groups, lists, lists.copy()).value == 0


def test_declared_values_are_taken_as_they_are() -> None:
    """Who names all values may have two that differ in case, one that says 'NA', and one for every record."""
    names = np.array(["Al", "al", "NA"])
    truth, said = names[RIGHT["place"]], names[RIGHT["guess"]]
    declared = biasamp.categorical(truth, categories=["Al", "al", "NA"])
    again = biasamp.categorical(said, categories=["Al", "al", "NA"])
    value = biasamp.directional(RIGHT["gender"], declared, again).value
    assert value == pytest.approx(biasamp.directional(RIGHT["gender"], RIGHT["place"], RIGHT["guess"]).value)
    data = {"gender": RIGHT["gender"], "hired": truth, "said": said}
    for engine in ("auto", "local"):
        roles = {name: biasamp.categorical(ROLES[name], categories=names) for name in ("tasks", "task_predictions")}
        audit = biasamp.audit(data, **{**ROLES, **roles}, metrics="directional", resamples=50, engine=engine)
        assert audit.document["metrics"][0]["value"] == pytest.approx(value)
    with pytest.raises(ValueError, match="missing value"):
        biasamp.directional(RIGHT["gender"], truth, said)


@pytest.mark.parametrize("given", [np.arange(N), [f"2024-03-{1 + i % 28:02d}" for i in range(N)]], ids=["id", "date"])
def test_ids_and_dates_are_no_groups_of_any_function(given: Any) -> None:
    T, P = RIGHT["hired"], RIGHT["said"]
    calls = [lambda: biasamp.mals(given, T, given, P), lambda: biasamp.dpa(given, T, P)]
    calls += [lambda: biasamp.leakage(given, T, P), lambda: biasamp.parity(given, T, P)]
    calls += [lambda: biasamp.sweep(P, given, T), lambda: biasamp.classify_errors(given, T, T_pred=P)]
    calls += [lambda: biasamp.decompose(given, T, P * 0.8), lambda: biasamp.multi(given, T, P)]
    for call in calls:
        with pytest.raises(ValueError, match=r"identifier|dates"):
            call()


def test_an_id_is_no_task_of_any_function() -> None:
    ids, A = np.arange(N), RIGHT["gender"]
    calls = [lambda: biasamp.mals(A, ids, A, ids.copy()), lambda: biasamp.dpa(A, ids, ids.copy())]
    calls += [lambda: biasamp.leakage(A, ids, ids.copy()), lambda: biasamp.parity(A, ids, ids.copy())]
    calls += [lambda: biasamp.multi(A, ids, ids.copy()), lambda: biasamp.classify_errors(A, ids, T_pred=ids.copy())]
    for call in calls:
        with pytest.raises(ValueError, match="identifier"):
            call()


def test_many_classes_are_no_ids() -> None:
    """A thousand classes in as many records leave some classes out and have others twice."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 1000, 1000)
    said = np.where(rng.random(1000) < 0.9, truth, truth[::-1])
    assert np.isfinite(biasamp.directional(np.where(rng.random(1000) < 0.5, "a", "b"), truth, said).value)


COIN = np.random.default_rng(9).integers(0, 2, N)
COPIES = {
    "the prediction as attribute": {"gender": RIGHT["said"]},
    "the attribute as prediction": {"gender": COIN, "said": COIN},
    "the truth as attribute": {"gender": RIGHT["hired"]},
    "the truth in words as attribute": {"gender": np.where(np.array(RIGHT["hired"]) == 1, "yes", "no")},
    "the truth turned round as attribute": {"gender": 1 - np.array(RIGHT["hired"])},
    "the prediction in words as attribute": {"gender": np.where(np.array(RIGHT["said"]) == 1, "w", "m")},
    "the attribute recoded as prediction": {"gender": np.where(COIN == 1, "w", "m"), "said": COIN},
}


OTHER_ROWS = {
    "sorted": lambda group, place: np.sort(group),
    "moved by a row": lambda group, place: np.roll(group, 1),
    "of another split": lambda group, place: np.random.default_rng(4).permutation(group),
    "in the order of another column": lambda group, place: group[np.argsort(place, kind="stable")],
}


@pytest.mark.parametrize("name", OTHER_ROWS)
def test_groups_of_other_rows_open_no_gate_of_a_policy_that_knows_them(name: str) -> None:
    """They go together with nothing: every figure is near 0. The written policy says that gender goes together with the task."""
    people = np.random.default_rng(6).integers(0, N, 2000)
    data = {key: RIGHT[key][people] for key in ("gender", "hired", "said")}
    right = biasamp.audit(data, **ROLES, metrics="directional", resamples=50)
    assert 'associated = ["gender"]' in policy_text(right, ROLES)
    limits = [{"metric": "directional", "max": 0.2}]
    policy = biasamp.Policy(limits=limits, associated=["gender"])
    assert policy.check(right).outcome == "pass"
    other = OTHER_ROWS[name](data["gender"], RIGHT["place"][people])
    moved = biasamp.audit({**data, "gender": other}, **ROLES, metrics="directional", resamples=50)
    assert "associated" not in policy_text(moved, ROLES)
    assert biasamp.Policy(limits=limits).check(moved).outcome == "pass"
    verdict = policy.check(moved)
    assert verdict.outcome == "not enough evidence"
    assert "gender goes together with no task beyond chance" in str(verdict)


def test_an_attribute_that_is_to_be_associated_is_measured() -> None:
    audit = biasamp.audit(RIGHT, **ROLES, metrics="parity", resamples=50)
    for names, words in ((["gender"], "was not measured"), (["race"], "no such attribute")):
        verdict = biasamp.Policy(limits=[{"metric": "tpr_difference", "max": 0.9}], associated=names).check(audit)
        assert verdict.outcome == "not enough evidence"
        assert words in str(verdict)


def test_every_row_joined_to_many_is_hardly_better_than_chance() -> None:
    """Thirty records share a key: one of thirty pairs is that of a record and its own prediction."""
    people = np.random.default_rng(2).integers(0, N, 960)
    rows, said = np.repeat(people, 30), people.reshape(-1, 30).repeat(30, axis=0).ravel()
    data = {"gender": RIGHT["gender"][rows], "hired": RIGHT["hired"][rows], "said": RIGHT["said"][said]}
    audit = biasamp.audit(data, **ROLES, metrics="directional", resamples=50)
    (text,) = (finding.text for finding in audit.findings if finding.code == "unrelated")
    assert "hardly better than chance" in text
    assert "joined by a key that many rows share" in text
    verdict = biasamp.Policy(limits=[{"metric": "directional", "max": 0.99}]).check(audit)
    assert verdict.outcome == "not enough evidence"


SWAPPED = [("income_model", "income"), ("forecast", "actual"), ("hypothesis", "reference"), ("system", "gold")]


@pytest.mark.parametrize(("said", "true"), SWAPPED)
def test_names_of_predictions_as_tasks_open_no_gate(said: str, true: str) -> None:
    data = {"gender": RIGHT["gender"], said: RIGHT["said"], true: RIGHT["hired"]}
    policy = biasamp.Policy(limits=[{"metric": "directional", "max": 0.9}])
    options = {"attributes": "gender", "metrics": "directional", "resamples": 50}
    turned = biasamp.audit(data, tasks=said, task_predictions=true, **options)
    assert policy.check(turned).outcome == "not enough evidence"
    assert "swapped" not in [f.code for f in biasamp.audit(data, tasks=true, task_predictions=said, **options).findings]


@pytest.mark.parametrize("engine", ["auto", "local"])
@pytest.mark.parametrize("name", COPIES)
def test_no_gate_passes_a_copy_of_a_column(name: str, engine: str) -> None:
    data = {key: np.array(value) for key, value in {**RIGHT, **COPIES[name]}.items()}
    audit = biasamp.audit(data, **ROLES, metrics="directional", resamples=100, engine=engine)
    assert "copied" in [finding.code for finding in audit.findings]
    verdict = biasamp.Policy(limits=[{"metric": "directional", "max": 0.99}]).check(audit)
    assert verdict.outcome == "not enough evidence"
    right = biasamp.audit({**RIGHT, "gender": COIN}, **ROLES, metrics="directional", resamples=100, engine=engine)
    assert "copied" not in [finding.code for finding in right.findings]


def test_a_recoded_copy_is_told_by_its_values() -> None:
    data = {"gender": np.where(COIN == 1, "w", "m"), "hired": COIN, "said": np.where(np.arange(N) % 9, COIN, 1 - COIN)}
    found = {f.code: f.text for f in biasamp.audit(data, **ROLES, metrics="directional", resamples=100).findings}
    assert found["copied"].startswith(
        "The attribute gender and the task hired go together in every record (m with 0, w with 1): is one column the other"
    )
    few = {name: values[:20] for name, values in data.items()}
    codes = [f.code for f in biasamp.audit(few, **ROLES, metrics="directional", resamples=100).findings]
    assert "copied" not in codes, "twenty records may go together by chance"


NO_CHANCES = {
    "percentages": lambda p: np.where(p, 81.5, 13.5),
    "logits": lambda p: np.where(p, 1.7, -2.3),
    "a chance just over 1": lambda p: np.where(np.arange(N) == 7, 1.0000001, np.where(p, 0.8, 0.1)),
}


@pytest.mark.parametrize("name", NO_CHANCES)
def test_what_is_no_probability_is_refused_by_every_function(name: str) -> None:
    A, T, P = RIGHT["gender"], RIGHT["hired"], NO_CHANCES[name](RIGHT["said"])
    calls = [lambda: biasamp.dpa(A, T, P), lambda: biasamp.leakage(A, T, P), lambda: biasamp.multi(A, T, P)]
    calls += [lambda: biasamp.parity(A, T, P), lambda: biasamp.mals(A, T, A, P)]
    calls += [lambda: biasamp.dpa(A, T.astype(bool), P), lambda: biasamp.leakage(A, T.astype(float), P)]
    for call in calls:
        with pytest.raises(ValueError, match=r"holds (1.0000001|81.5|13.5|1.7|-2.3)"):
            call()


def test_truth_and_chances_swapped_in_every_function() -> None:
    A, T, P = RIGHT["gender"], RIGHT["hired"], np.where(RIGHT["said"], 0.8, 0.1)
    for call in (biasamp.dpa, biasamp.leakage, biasamp.multi, biasamp.parity):
        with pytest.raises(ValueError, match="fractions"):
            call(A, P, T)


def test_continuous_truth_is_read_by_dpa() -> None:
    """Years of age and their estimates are numbers, whole or not."""
    rng = np.random.default_rng(2)
    age = rng.integers(20, 70, N)
    assert np.isfinite(biasamp.dpa(RIGHT["gender"], age, age + rng.normal(0, 2, N), trials=2).value)


def calls_of(A: Any, T: Any, P: Any) -> list[Any]:
    from biasamp.integrations.sklearn import bias_amplification_score

    calls = [lambda: biasamp.directional(A, T, P), lambda: biasamp.multi(A, T, P), lambda: biasamp.parity(A, T, P)]
    calls += [lambda: biasamp.dpa(A, T, P), lambda: biasamp.leakage(A, T, P), lambda: biasamp.mals(A, T, A, P)]
    calls += [lambda: biasamp.classify_errors(A, T, T_pred=P), lambda: biasamp.sweep(P, A, T)]
    return [*calls, lambda: bias_amplification_score(T, P, sensitive_features=A)]


FORMS = {
    "array": lambda x: x,
    "view": lambda x: x,
    "list": lambda x: x.tolist(),
    "series": lambda x: pd.Series(x, name="said"),
}


@pytest.mark.parametrize("form", FORMS)
def test_one_column_in_two_roles_is_refused_by_every_function(form: str) -> None:
    said, hired = FORMS[form](RIGHT["said"]), FORMS[form](RIGHT["hired"])
    again = said[:] if form == "view" else said.copy() if form == "series" else said
    group = RIGHT["gender"]
    wrong = [
        *calls_of(said, hired, again),
        *calls_of(said, again, RIGHT["hired"].copy()),
        *calls_of(group, said, again),
    ]
    for call in wrong:
        with pytest.raises(ValueError, match="same column"):
            call()


def test_a_truth_as_its_own_prediction_names_both_and_the_way_out() -> None:
    from biasamp.integrations.sklearn import bias_amplification_score

    hired = RIGHT["hired"]
    words = "if the model really is perfect, a copy of truth$"
    with pytest.raises(ValueError, match=rf"^truth and predicted are the same column: the truth would.*{words}"):
        biasamp.directional(RIGHT["gender"], hired, hired)
    with pytest.raises(ValueError, match=r"^y_true and y_pred are the same column"):
        bias_amplification_score(hired, hired, sensitive_features=RIGHT["gender"])
    series = pd.Series(hired, name="hired")
    with pytest.raises(ValueError, match=r"^y_true and y_pred.*a copy of y_true, under another name"):
        bias_amplification_score(series, series.copy(), sensitive_features=RIGHT["gender"])
    frame = pd.DataFrame({"fork": hired, "knife": 1 - hired})
    with pytest.raises(ValueError, match="same column"):
        biasamp.directional(RIGHT["gender"], frame, frame.copy())
    assert biasamp.directional(RIGHT["gender"], series, series.rename("said")).value == 0.0


@pytest.mark.parametrize("role", [0, 1, 2])
def test_labels_as_clusters_are_refused(role: int) -> None:
    sides = [RIGHT["gender"], RIGHT["hired"], RIGHT["said"]]
    for call in (
        lambda: biasamp.directional(*sides, cluster=sides[role]),
        lambda: biasamp.multi(*sides, cluster=sides[role]),
        lambda: biasamp.mals(sides[0], sides[1], sides[0], sides[2], cluster=sides[role]),
        lambda: biasamp.decompose(sides[0], sides[1], sides[2] * 0.5, predicted=sides[2], cluster=sides[role]),
    ):
        with pytest.raises(ValueError, match=r"^cluster and .* are the same column: clusters are records"):
            call()


def test_perfect_predictions_in_a_column_of_their_own_are_read() -> None:
    for call in calls_of(RIGHT["gender"], RIGHT["hired"], RIGHT["hired"].copy())[:3]:
        call()


def test_one_tensor_in_two_roles() -> None:
    torch = needs("torch")
    needs("torchmetrics")
    from biasamp.integrations.torch import BiasAmplification

    said, hired = torch.as_tensor(RIGHT["said"]), torch.as_tensor(RIGHT["hired"])
    metric = BiasAmplification(task="binary", num_groups=2)
    with pytest.raises(ValueError, match="groups and preds are the same column"):
        metric.update(said, hired, said)
    with pytest.raises(ValueError, match=r"target and preds are the same column.*a copy of target"):
        metric.update(hired[:], hired, 1 - said)
    both = BiasAmplification(task="binary", num_groups=2, direction="T->A")
    with pytest.raises(ValueError, match="groups and group_preds are the same column"):
        both.update(None, hired, said, said)


def test_ids_as_groups_of_a_torch_metric() -> None:
    torch = needs("torch")
    needs("torchmetrics")
    from biasamp.integrations.torch import BiasAmplification

    said, hired = torch.as_tensor(RIGHT["said"]), torch.as_tensor(RIGHT["hired"])
    metric = BiasAmplification(task="binary", num_groups=N)
    ids = torch.arange(N)
    for part in ids.split(40):
        assert metric(said[part], hired[part], ids[part]).isfinite()  # a batch has few records of many groups
    with pytest.raises(
        ValueError, match="groups holds 240 different values in 240 records: it looks like an identifier"
    ):
        metric.compute()
    many = BiasAmplification(task="binary", num_groups=N)
    many.update(said, hired, ids % 60)
    assert many.compute().isfinite()
    with pytest.raises(ValueError, match="num_groups is 1"):
        BiasAmplification(task="binary", num_groups=1)


BASE = {"gender": ["man", "man", "woman", "woman"], "hired": [0, 1, 0, 1], "count": [40, 60, 65, 35]}


@pytest.mark.parametrize("engine", ["auto", "local"])
def test_a_base_of_counts_in_the_columns_of_the_audit(engine: str) -> None:
    options = {**ROLES, "metrics": "directional", "resamples": 50, "engine": engine}
    named = {"attribute": BASE["gender"], "task": BASE["hired"], "count": BASE["count"]}
    values = [
        biasamp.audit(RIGHT, **options, base=base).document["metrics"][0]["value"]
        for base in (pd.DataFrame(BASE), pd.DataFrame(named), {"man": {0: 40, 1: 60}, "woman": {0: 65, 1: 35}})
    ]
    assert values[0] == values[1] == values[2] != 0
    records = pd.DataFrame({"gender": RIGHT["gender"], "hired": RIGHT["hired"], "count": np.arange(N)})
    assert biasamp.audit(RIGHT, **options, base=records).document["metrics"][0]["value"] == pytest.approx(
        biasamp.directional(RIGHT["gender"], RIGHT["hired"], RIGHT["said"]).value
    )


WRONG_BASES = {
    "another spelling": {"gender": ["Man", "Man", "Woman", "Woman"]},
    "other groups": {"gender": ["a", "a", "b", "b"]},
    "other outcomes": {"hired": ["no", "yes", "no", "yes"]},
    "columns swapped": {"gender": [0, 1, 0, 1], "hired": ["man", "man", "woman", "woman"]},
    "a missing group": {"gender": ["man", "man"], "hired": [0, 1], "count": [40, 60]},
    "negative counts": {"count": [40, -60, 65, 35]},
    "counts of 0": {"count": [0, 0, 0, 0]},
}


@pytest.mark.parametrize("name", WRONG_BASES)
def test_a_wrong_base_is_refused_by_an_audit(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    base = {"attribute": BASE["gender"], "task": BASE["hired"], "count": BASE["count"]}
    wrong = {{"gender": "attribute", "hired": "task"}.get(key, key): value for key, value in WRONG_BASES[name].items()}
    for engine in ("auto", "local"):
        with pytest.raises(ValueError, match="base"):
            biasamp.audit(RIGHT, **ROLES, base=pd.DataFrame({**base, **wrong}), resamples=50, engine=engine)
    pd.DataFrame(RIGHT).to_csv(tmp_path / "data.csv", index=False)
    pd.DataFrame({**base, **wrong}).to_csv(tmp_path / "base.csv", index=False)
    options = [part for role, value in ROLES.items() for part in (f"--{role.replace('_', '-')}", value)]
    assert run(monkeypatch, "audit", tmp_path / "data.csv", *options, "--base", tmp_path / "base.csv") == 2
    assert "base" in capsys.readouterr().err


def test_weights_of_another_index_than_a_mapping_of_series() -> None:
    data = {name: pd.Series(RIGHT[name]) for name in ("gender", "hired", "said")}
    with pytest.raises(ValueError, match="reset_index"):
        biasamp.audit(data, **ROLES, weights=pd.Series(np.ones(N), index=SHUFFLED))


def test_transposed_arrays_are_refused() -> None:
    A, T, P = ((RIGHT[name] == RIGHT[name][0]).astype(int)[None, :] for name in ("gender", "hired", "said"))
    for call in (biasamp.directional, biasamp.multi, biasamp.parity, biasamp.dpa):
        with pytest.raises(ValueError, match=r"transposed|too few"):
            call(A, T, P)
    assert biasamp.directional(A.T, T.T, P.T).value is not None


LISTED = [["fork"] if i % 2 else ["fork", None] if i == 4 else ["knife"] for i in range(N)]
RIGHTLY = [["fork"] if i % 2 else ["knife"] for i in range(N)]


@pytest.mark.parametrize("side", ["hired", "said"])
def test_a_missing_label_in_a_list_is_refused(side: str) -> None:
    data = {"gender": RIGHT["gender"], "hired": RIGHTLY, "said": list(RIGHTLY), side: LISTED}
    calls = [lambda: biasamp.directional(*data.values()), lambda: biasamp.audit(data, **ROLES)]
    calls += [lambda: biasamp.audit(data, **ROLES, engine="local"), lambda: biasamp.audit(pd.DataFrame(data), **ROLES)]
    for call in calls:
        with pytest.raises(ValueError, match=r"missing one in it \(row 5,"):
            call()


@pytest.mark.parametrize("engine", ["auto", "local"])
def test_a_model_that_predicts_no_label_at_all_is_audited(engine: str) -> None:
    truth = [["fork"] if x else ["knife", "fork"] for x in RIGHT["hired"]]
    data = {"gender": RIGHT["gender"], "hired": truth, "said": [[] for _ in range(N)]}
    audit = biasamp.audit(data, **ROLES, metrics="directional", resamples=50, engine=engine)
    value = biasamp.directional(data["gender"], truth, data["said"]).value
    assert audit.document["metrics"][0]["value"] == pytest.approx(value)


def test_codes_with_leading_zeros_are_text_in_files(tmp_path: Path) -> None:
    codes = np.array(["01", "02", "11"])[np.arange(N) % 3]
    frame = pd.DataFrame({**RIGHT, "gender": codes, "id": [f"{i:04d}" for i in range(N)]})
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame.to_csv(tmp_path / "data.csv.gz", index=False)
    for data, engine in (
        (frame, "auto"),
        *((tmp_path / name, e) for name in ("data.csv", "data.csv.gz") for e in ("auto", "local")),
    ):
        audit = biasamp.audit(data, **ROLES, metrics="directional", resamples=50, engine=engine, record="id")
        assert [row["category"] for row in audit.document["data"]["groups"]] == ["01", "02", "11"]


@pytest.mark.parametrize("engine", ["auto", "local"])
def test_a_file_that_is_not_utf_8_is_refused(engine: str, tmp_path: Path) -> None:
    names = np.where(RIGHT["gender"] == "man", "él", "ella")
    frame = pd.DataFrame({**RIGHT, "gender": names, "note": "é"})
    frame.to_csv(tmp_path / "data.csv", index=False, encoding="latin-1")
    with pytest.raises(ValueError, match=r"data\.csv.*not UTF-8.*encoding"):
        biasamp.audit(tmp_path / "data.csv", **ROLES, engine=engine)
    frame.assign(gender=RIGHT["gender"]).to_csv(tmp_path / "note.csv", index=False, encoding="latin-1")
    assert biasamp.audit(tmp_path / "note.csv", **ROLES, metrics="directional", resamples=50, engine=engine).document


def test_clusters_are_no_labels() -> None:
    with pytest.raises(ValueError, match="cluster and attributes both name the column 'gender'"):
        biasamp.audit(RIGHT, **ROLES, cluster="gender")


def test_an_interval_of_multi_ends_at_1() -> None:
    """Two clusters say next to nothing: Student's interval of one degree of freedom is wider than any rate."""
    half = np.arange(N) % 2
    result = biasamp.multi(RIGHT["gender"], RIGHT["hired"], np.where(half, RIGHT["said"], 1), cluster=half)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        interval = result.confidence_interval()
    assert 0 <= interval.low <= result.value <= interval.high <= 1


def test_scores_warn_of_pairs_that_are_left_out() -> None:
    from biasamp.integrations.sklearn import bias_amplification_score

    weights = (RIGHT["gender"] == "man").astype(int)
    with pytest.warns(UserWarning, match="left out of the score"):
        bias_amplification_score(
            RIGHT["hired"], RIGHT["said"], sensitive_features=RIGHT["gender"], sample_weight=weights
        )


def test_the_command_line_advises_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [part for role, value in ROLES.items() for part in (f"--{role.replace('_', '-')}", value)]
    frame = pd.DataFrame(RIGHT).assign(gender=np.where(np.arange(N) % 3 == 0, "Man", RIGHT["gender"]))
    frame.to_csv(tmp_path / "data.csv", index=False)
    assert run(monkeypatch, "audit", tmp_path / "data.csv", *options) == 2
    said = capsys.readouterr().err
    assert "--categories" in said
    assert "biasamp.categorical" not in said
    with pytest.raises(ValueError, match=r"biasamp\.categorical"):
        biasamp.audit(frame, **ROLES)


MESSAGES = {
    "whole numbers for words": (
        lambda: biasamp.directional(RIGHT["gender"], TWO_WORDS, RIGHT["said"]),
        "two values",
        "probabilities",
    ),
    "probabilities in text with 0.000": (
        lambda: biasamp.directional(RIGHT["gender"], RIGHT["hired"], np.where(RIGHT["said"], "0.812", "0.000")),
        "convert the column to numbers",
        "another spelling",
    ),
    "weights in text": (
        lambda: biasamp.directional(RIGHT["gender"], RIGHT["hired"], RIGHT["said"], weights=np.full(N, "heavy")),
        "there is 'heavy' (row 1, ",
        "np.str_",
    ),
    "a base by pairs": (
        lambda: biasamp.directional(RIGHT["gender"], RIGHT["hired"], RIGHT["said"], base={("man", 1): 0.35}),
        "base has ('man', 1)",
        "label",
    ),
    "lists against values": (
        lambda: biasamp.directional(RIGHT["gender"], [["a"]] * N, RIGHT["said"]),
        "truth was read as multilabel",
        "''",
    ),
}
TWO_WORDS = np.array(["rejected", "hired"])[RIGHT["hired"]]


@pytest.mark.parametrize("name", MESSAGES)
def test_messages_say_what_is_wrong(name: str) -> None:
    call, there, absent = MESSAGES[name]
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    assert there in str(caught.value)
    assert absent not in str(caught.value)


def test_records_as_their_own_train_labels_are_refused(tmp_path: Any) -> None:
    gender, hired, said = (RIGHT[name] for name in ("gender", "hired", "said"))
    frame = pd.DataFrame({"gender": gender, "hired": hired, "said": said})
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    for call in (
        lambda: biasamp.directional(gender, hired, said, train=(gender, hired)),
        lambda: biasamp.audit(frame, train=frame, **ROLES),
        lambda: biasamp.audit(str(path), train=path, **ROLES),
        lambda: biasamp.count(path, train=str(path), **ROLES),
    ):
        with pytest.raises(ValueError, match="train is the data that are measured"):
            call()


def test_predictions_and_scores_swapped(tmp_path: Any) -> None:
    scores = np.where(RIGHT["said"] == 1, 0.75, 0.25)
    data = {**{name: RIGHT[name] for name in ("gender", "hired", "said")}, "chance": scores}
    swapped = {**ROLES, "task_predictions": "chance", "task_scores": "said"}
    for options in ({}, {"engine": "local"}):
        with pytest.raises(ValueError, match="task_predictions holds probabilities, and task_scores is given too"):
            biasamp.audit(data, **swapped, **options)


def test_ids_as_weights_are_refused() -> None:
    sides = [RIGHT[name] for name in ("gender", "hired", "said")]
    ids = np.random.default_rng(0).permutation(N)
    for weights in (ids, ids + 1000.0, pd.Series(ids)):
        with pytest.raises(ValueError, match=r"weights has the whole numbers from .* each once: it looks like ids"):
            biasamp.directional(*sides, weights=weights)
    assert np.isfinite(biasamp.directional(*sides, weights=ids * 2).value)
    frame = pd.DataFrame({**dict(zip(("gender", "hired", "said"), sides, strict=True)), "id": ids})
    with pytest.raises(ValueError, match="it looks like ids"):
        biasamp.audit(frame, weights="id", **ROLES)


def test_one_array_under_two_names_of_a_mapping() -> None:
    with pytest.raises(ValueError, match=r"data\['hired'\] and data\['said'\] are the same column"):
        biasamp.audit({"gender": RIGHT["gender"], "hired": RIGHT["hired"], "said": RIGHT["hired"]}, **ROLES)


def test_tables_for_columns_are_refused_by_every_engine() -> None:
    grid = np.column_stack([1 - RIGHT["hired"], RIGHT["hired"]])
    tables = (grid, grid.astype(str), pd.DataFrame(grid), grid.tolist())
    for name in ("gender", "hired", "said"):
        for table in tables:
            for engine in ("auto", "local"):
                with pytest.raises(ValueError, match=rf"data\['{name}'\] is a table, not one column"):
                    biasamp.audit({**RIGHT, name: table}, **ROLES, engine=engine)


@pytest.mark.parametrize("rows", [[[0, 1], [1, 0]], [[0.8, 0.2], [0.3, 0.7]]], ids=["one-hot", "probabilities"])
def test_rows_of_numbers_in_one_column_are_no_labels(
    rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As labels, every record would have all of them, and nothing would ever be amplified."""
    sides = {name: [rows[x] for x in RIGHT[name].tolist()] for name in ("hired", "said")}
    frame = pd.DataFrame({"gender": RIGHT["gender"], **sides})
    frame.to_parquet(tmp_path / "data.parquet")
    words = "zeros and ones for every record|fractions such as 0.[23]"
    for data in (frame, tmp_path / "data.parquet"):
        for engine in ("auto", "local"):
            with pytest.raises(ValueError, match=words):
                biasamp.audit(data, **ROLES, engine=engine)
    options = [part for role, value in ROLES.items() for part in (f"--{role.replace('_', '-')}", value)]
    assert run(monkeypatch, "audit", tmp_path / "data.parquet", *options) == 2
    with pytest.raises(ValueError, match=words):
        biasamp.directional(frame["gender"], frame["hired"], frame["said"])


@pytest.mark.parametrize("alone", [np.full(N, "woman"), np.zeros(N, dtype=int)], ids=["word", "number"])
def test_one_group_has_none_to_be_compared_with(alone: Any) -> None:
    hired, said = RIGHT["hired"], RIGHT["said"]
    for call in (
        lambda: biasamp.directional(alone, hired, said),
        lambda: biasamp.parity(alone, hired, said),
        lambda: biasamp.decompose(alone, hired, said * 0.8),
    ):
        with pytest.warns(UserWarning, match="one group only"):
            call()
    for attack in (biasamp.dpa, biasamp.leakage):
        with pytest.raises(ValueError, match="the same for all"):
            attack(alone, hired, said)
    # Train labels say how the others are; and one yes/no label is compared with everybody without it.
    groups = np.concatenate([alone, np.full(N, "man" if alone.dtype.kind == "U" else 1)])
    with pytest.warns(UserWarning, match="left out of the mean"):
        known = biasamp.directional(alone, hired, said, train=(groups, np.concatenate([hired, 1 - hired])))
    assert np.isfinite(known.value)
    yes_no = biasamp.binary((RIGHT["gender"] == "woman").astype(int))
    assert biasamp.directional(yes_no, hired, said).value != 0


def test_one_group_of_a_torch_metric_is_no_zero() -> None:
    torch = needs("torch")
    needs("torchmetrics")
    from biasamp.integrations.torch import BiasAmplification

    metric = BiasAmplification(task="binary", num_groups=2)
    metric.update(torch.as_tensor(RIGHT["said"]), torch.as_tensor(RIGHT["hired"]), torch.zeros(N, dtype=torch.int64))
    with pytest.warns(UserWarning, match="one value only"):
        assert metric.compute().isnan()


WRONG_WEIGHTS = {
    "text": np.full(N, "1.5"),
    "text among numbers": np.array([1.0, "2"] * (N // 2), dtype=object),
    "categories": pd.Categorical(np.full(N, "1")),
    "masked": np.ma.array(np.ones(N), mask=np.arange(N) < 3),
    "complex": np.ones(N, dtype=complex),
}


@pytest.mark.parametrize("name", WRONG_WEIGHTS)
def test_weights_that_are_no_numbers_are_refused(name: str) -> None:
    sides = [RIGHT[side] for side in ("gender", "hired", "said")]
    for call in (biasamp.directional, biasamp.multi, biasamp.parity):
        with pytest.raises((TypeError, ValueError), match=r"weights (must be numbers|are masked)"):
            call(*sides, weights=WRONG_WEIGHTS[name])


def test_labels_as_weights_are_refused() -> None:
    sides = [RIGHT[side] for side in ("gender", "hired", "said")]
    for weights in sides[1:]:
        for call in (
            lambda w=weights: biasamp.directional(*sides, weights=w),
            lambda w=weights: biasamp.mals(sides[0], sides[1], sides[0], sides[2], weights=w),
        ):
            with pytest.raises(ValueError, match=r"weights and .* are the same column"):
                call()
    numbered = {**RIGHT, "row": np.arange(N)[::-1]}
    with pytest.raises(ValueError, match="it looks like ids"):
        biasamp.audit(numbered, **ROLES, weights="row", engine="local")


@pytest.mark.parametrize("engine", ["auto", "local"])
def test_a_copy_of_the_records_or_of_their_predictions_as_train_labels(engine: str) -> None:
    gender, hired, said = (RIGHT[name].copy() for name in ("gender", "hired", "said"))
    for labels, words in ((hired, "train is the data that are measured"), (said, "train holds the predictions")):
        with pytest.raises(ValueError, match=words):
            biasamp.audit(RIGHT, **ROLES, train={"gender": gender, "hired": labels}, engine=engine)
    with pytest.raises(ValueError, match="train holds the predictions"):
        biasamp.directional(RIGHT["gender"], RIGHT["hired"], said, train=(gender, said))
    twice = {name: np.tile(RIGHT[name], 2) for name in ("gender", "hired")}
    assert biasamp.audit(RIGHT, **ROLES, train=twice, resamples=50, metrics="directional", engine=engine).document


@pytest.mark.parametrize("engine", ["auto", "local"])
def test_labels_of_lists_in_another_spelling(engine: str) -> None:
    """A label that is never predicted as it is spelled, but in another way, is no invention."""
    truth = [["fork", "cup"] if x else ["knife"] for x in RIGHT["hired"]]
    said = [["Fork", "cup"] if x else ["knife"] for x in RIGHT["said"]]
    data = {"gender": RIGHT["gender"], "hired": truth, "said": said}
    for call in (lambda: biasamp.directional(*data.values()), lambda: biasamp.audit(data, **ROLES, engine=engine)):
        with pytest.raises(ValueError, match="'Fork' looks like another spelling of 'fork'"):
            call()
    said[0] = ["fork"]  # and so where some records have it right
    with pytest.raises(ValueError, match="'Fork' looks like another spelling of 'fork'"):
        biasamp.directional(*data.values())


def test_no_gate_passes_a_truth_of_one_value() -> None:
    audit = biasamp.audit({**RIGHT, "hired": np.zeros(N, dtype=int)}, **ROLES, metrics="directional", resamples=100)
    verdict = biasamp.Policy(limits=[{"metric": "directional", "max": 0.99}]).check(audit)
    assert verdict.outcome == "not enough evidence"
    assert "one value only" in verdict.to_markdown()


def test_a_copy_of_the_truth_is_said_whatever_is_measured() -> None:
    audit = biasamp.audit({**RIGHT, "said": RIGHT["hired"].copy()}, **ROLES, metrics="directional", resamples=100)
    assert "perfect" in [finding.code for finding in audit.findings]
    verdict = biasamp.Policy(limits=[{"metric": "directional", "max": 0.99}]).check(audit)
    assert "Is the column of predictions a copy of the truth?" in verdict.to_markdown()


def test_a_mistyped_reference_is_guessed() -> None:
    for call in (
        lambda: biasamp.parity(RIGHT["gender"], RIGHT["hired"], RIGHT["said"], reference="Woman"),
        lambda: biasamp.audit(RIGHT, **ROLES, reference="Woman"),
        lambda: biasamp.audit(RIGHT, **ROLES, reference={"gender": "womann"}),
    ):
        with pytest.raises(ValueError, match=r"which is no group; did you mean 'woman'\?"):
            call()
    with pytest.raises(ValueError, match="the groups are 'man', 'woman'"):
        biasamp.audit(RIGHT, **ROLES, reference="child")
