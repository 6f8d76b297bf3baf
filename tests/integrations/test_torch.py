"""The torchmetrics metric against the library, over batches, processes and Lightning-like use."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biasamp
from extras import needs

torch = needs("torch")
torchmetrics = needs("torchmetrics")
from biasamp.integrations.torch import BiasAmplification  # noqa: E402


def value_of(given_: Any, truth: Any, predicted: Any, **options: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = truth if hasattr(truth, "categories") else np.asarray(truth)
        return biasamp.directional(np.asarray(given_), known, np.asarray(predicted), **options).value


def streamed(metric: Any, columns: tuple[Any, ...], cuts: list[int]) -> Any:
    places = [0, *sorted(cut % (len(columns[1]) + 1) for cut in cuts), len(columns[1])]
    for start, stop in itertools.pairwise(places):
        metric.update(*(None if column is None else column[start:stop] for column in columns))
    return metric.compute()


cases = {"seed": st.integers(0, 2**32 - 1), "cuts": st.lists(st.integers(0, 10**6), max_size=6)}


@given(**cases, soft=st.booleans(), overlapping=st.booleans())
@settings(max_examples=40)
def test_multilabel_over_any_batches(seed: int, cuts: list[int], soft: bool, overlapping: bool) -> None:
    """Batches may be empty, or lack a group: the value is that of all records at once, to the bit."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(5, 60))
    groups = draw.integers(0, 2, (n, 3)) if overlapping else draw.integers(0, 3, n)
    target, preds = draw.integers(0, 2, (n, 4)), draw.random((n, 4))
    if overlapping and not groups.any():
        groups[0, 0] = 1
    metric = BiasAmplification(
        task="multilabel", num_groups=3, num_labels=4, threshold=None if soft else 0.5, overlapping_groups=overlapping
    )
    found = streamed(metric, tuple(map(torch.tensor, (preds, target, groups))), cuts)
    expected = value_of(groups, target, preds if soft else (preds >= 0.5).astype(int))
    assert found.item() == expected


@given(**cases, form=st.sampled_from(["codes", "scores", "fractions"]))
@settings(max_examples=40)
def test_multiclass_and_unseen_classes(seed: int, cuts: list[int], form: str) -> None:
    draw = np.random.default_rng(seed)
    n = int(draw.integers(3, 40))
    groups, target = draw.integers(0, 5, n), draw.integers(0, 3, n)
    probabilities = draw.dirichlet(np.ones(6), n)
    codes = probabilities.argmax(1)
    threshold = None if form == "fractions" else 0.5
    metric = BiasAmplification(task="multiclass", num_groups=5, num_classes=6, threshold=threshold)
    preds = codes if form == "codes" else probabilities
    found = streamed(metric, tuple(map(torch.tensor, (preds, target, groups))), cuts).item()
    known = biasamp.categorical(target, categories=list(range(6)))
    if form == "fractions":
        classes = biasamp.categorical(probabilities, categories=list(range(6)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = biasamp.directional(groups, known, classes).value
        assert found == pytest.approx(expected, abs=1e-12)
    else:
        assert found == value_of(groups, known, codes)


@given(**cases, soft=st.booleans())
@settings(max_examples=30)
def test_both_directions(seed: int, cuts: list[int], soft: bool) -> None:
    draw = np.random.default_rng(seed)
    groups, target = draw.integers(0, 2, 50), draw.integers(0, 2, 50)
    groups[:2], target[:2] = [0, 1], [0, 1]
    preds, said = draw.random(50), draw.random(50)
    metric = BiasAmplification(task="binary", num_groups=2, direction="both", threshold=None if soft else 0.5)
    found = streamed(metric, tuple(map(torch.tensor, (preds, target, groups, said))), cuts)
    if not soft:
        preds, said = (preds >= 0.5).astype(int), (said >= 0.5).astype(int)
    assert found["A->T"].item() == pytest.approx(value_of(groups, target, preds), abs=1e-15)
    assert found["T->A"].item() == pytest.approx(value_of(target, groups, said), abs=1e-15)


def test_the_paper_s_example_and_its_pairs() -> None:
    metric = BiasAmplification(task="binary", num_groups=2)
    columns = ([0] * 90 + [1] * 30, [0] * 60 + [1] * 30 + [0] * 10 + [1] * 20, [0] * 90 + [1] * 30)
    metric.update(*map(torch.tensor, columns))
    assert metric.compute().item() == pytest.approx(1 / 3, abs=1e-12)
    rates = {(p["given"], p["outcome"]): (p["truth_rate"], p["predicted_rate"]) for p in metric.pairs()}
    assert rates["groups=1", "tasks=1"] == pytest.approx((2 / 3, 1.0))


def test_train_labels_decide_the_signs() -> None:
    draw = np.random.default_rng(0)
    groups, target, preds = (draw.integers(0, 2, 60) for _ in range(3))
    train = draw.integers(0, 2, 80), draw.integers(0, 2, 80)
    metric = BiasAmplification(task="binary", num_groups=2, train=tuple(map(torch.tensor, train)))
    metric.update(*map(torch.tensor, (preds, target, groups)))
    assert metric.compute().item() == value_of(groups, target, preds, train=train)


def test_logits_are_said_and_not_guessed() -> None:
    logits = torch.tensor([-3.0, 0.2, 0.9, 2.0])
    target, groups = torch.tensor([0, 1, 0, 1]), torch.tensor([0, 0, 1, 1])
    said = BiasAmplification(task="binary", num_groups=2, threshold=None, logits=True)
    said.update(logits, target, groups)
    assert said.compute().item() == value_of(groups, target, logits.double().sigmoid())
    with pytest.raises(ValueError, match="logits=True"):
        BiasAmplification(task="binary", num_groups=2).update(logits, target, groups)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_half_precision_predictions(dtype: Any) -> None:
    """70,000 records, whose count half precision could not hold."""
    preds = torch.full((70_000,), 0.25, dtype=dtype)
    target, groups = torch.arange(70_000) % 2, (torch.arange(70_000) // 2) % 2
    metric = BiasAmplification(task="binary", num_groups=2, threshold=None).set_dtype(torch.float16)
    metric.update(preds, target, groups)
    # Exactly balanced labels: every pair is a tie, and the value 0; the rates are what must hold.
    assert metric.compute().item() == 0.0
    assert {p["predicted_rate"] for p in metric.pairs()} == {0.25, 0.75}


def test_torchmetrics_own_machinery() -> None:
    draw = np.random.default_rng(4)
    columns = [torch.tensor(draw.integers(0, 2, 40)) for _ in range(3)]
    metric = BiasAmplification(task="binary", num_groups=2)
    parts = [metric(*(column[i : i + 10] for column in columns)) for i in range(0, 40, 10)]
    for i, part in enumerate(parts):
        preds, target, groups = (column[10 * i : 10 * i + 10] for column in columns)
        assert part.item() == value_of(groups, target, preds)
    whole = value_of(columns[2], columns[1], columns[0])
    assert metric.compute().item() == whole
    assert pickle.loads(pickle.dumps(metric)).compute().item() == whole
    assert metric.clone().compute().item() == whole
    saved = BiasAmplification(task="binary", num_groups=2)
    metric.persistent(True)
    saved.persistent(True)
    saved.load_state_dict(metric.state_dict())
    saved._update_count = 1
    assert saved.compute().item() == whole
    other = BiasAmplification(task="binary", num_groups=2)
    other.update(*columns)
    collection = torchmetrics.MetricCollection({"amplification": BiasAmplification(task="binary", num_groups=2)})
    collection.update(*columns)
    assert collection.compute()["amplification"].item() == whole
    metric.reset()
    assert int(metric.n) == 0


def test_a_refused_batch_changes_nothing() -> None:
    metric = BiasAmplification(task="binary", num_groups=2, direction="both")
    ok = torch.tensor([0, 1])
    metric.update(ok.clone(), ok, ok.clone(), ok.clone())
    with pytest.raises(ValueError, match="group_preds holds 5"):
        metric.update(ok.clone(), ok, ok.clone(), torch.tensor([0, 5]))
    assert (int(metric.n), int(metric.a_given.sum())) == (2, 2)


ONE = torch.tensor([0, 1])


@pytest.mark.parametrize(
    ("options", "batch", "words"),
    [
        ({"num_grups": 2}, None, "num_grups"),
        ({"task": "x"}, None, "task is 'x'"),
        ({"num_groups": 0}, None, "num_groups is 0"),
        ({"direction": "up"}, None, "direction is 'up'"),
        ({"threshold": 2.0}, None, "threshold is 2.0"),
        ({"num_labels": 3}, None, "num_labels is for multilabel"),
        ({"task": "multilabel"}, None, "num_labels is None"),
        ({"train": ONE}, None, "train must be a pair"),
        ({}, (ONE, ONE, torch.tensor([0, 2])), "groups holds 2"),
        ({}, (ONE, ONE, torch.tensor([0, 1, 1])), "groups has 3 records"),
        ({}, (torch.tensor([0]), ONE, ONE), "preds has 1 records"),
        ({}, (None, ONE, ONE), "preds is None"),
        ({}, (ONE, torch.tensor([0.5, 1.0]), ONE), "target holds fractions"),
        ({}, (torch.tensor([float("nan"), 0.5]), ONE, ONE), "preds holds nan"),
        ({}, (ONE[:, None], ONE, ONE), "preds has shape"),
        ({}, ([0, 1], ONE, ONE), "preds is a list"),
        ({"direction": "T->A"}, (ONE, ONE, ONE.clone()), "group_preds is None"),
    ],
)
def test_messages(options: dict[str, Any], batch: Any, words: str) -> None:
    settings_ = {"task": "binary", "num_groups": 2, **options}
    with pytest.raises((ValueError, TypeError), match=words):
        BiasAmplification(**settings_).update(*(batch or (ONE, ONE, ONE)))


def test_unknown_arguments_of_update_are_errors() -> None:
    with pytest.raises(TypeError, match="weights"):
        BiasAmplification(task="binary", num_groups=2).update(ONE, ONE, ONE, weights=ONE)


def test_nothing_counted_is_nan() -> None:
    metric = BiasAmplification(task="binary", num_groups=2)
    metric.update(*(torch.zeros(0, dtype=torch.int64) for _ in range(3)))
    assert np.isnan(metric.compute().item())


def test_plot() -> None:
    matplotlib = needs("matplotlib")
    matplotlib.use("Agg")
    metric = BiasAmplification(task="binary", num_groups=2, direction="both")
    values = [metric(*(ONE.clone() for _ in range(4))) for _ in range(2)]
    figure, axis = metric.plot(values)
    assert len(axis.get_lines()) >= 2
    matplotlib.pyplot.close(figure)


def test_two_processes_with_uneven_shards(tmp_path: Path) -> None:
    """90 records and 31, the second without any record of group 2: the value of one process, to the bit."""
    draw = torch.Generator().manual_seed(3)
    groups = torch.randint(0, 3, (121,), generator=draw)
    shard = (torch.arange(121) >= 90).long()
    groups[(shard == 1) & (groups == 2)] = 0
    data = {
        "groups": groups,
        "shard": shard,
        "target": torch.randint(0, 2, (121, 4), generator=draw),
        "preds": torch.rand(121, 4, generator=draw),
        "group_preds": torch.randint(0, 3, (121,), generator=draw),
    }
    assert not ((groups == 2) & (shard == 1)).any()
    assert ((groups == 2) & (shard == 0)).any()
    torch.save(data, tmp_path / "data.pt")
    worker = Path(__file__).with_name("ddp_worker.py")
    places = [tmp_path / "meet", tmp_path / "data.pt", tmp_path / "out.json"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    started = [
        subprocess.Popen([sys.executable, worker, str(rank), "2", *map(str, places)], env=environment)
        for rank in range(2)
    ]
    try:
        assert [process.wait(timeout=300) for process in started] == [0, 0]
    finally:  # one that is left running would fail another test
        for process in started:
            process.kill()
            process.wait()
    found = json.loads((tmp_path / "out.json").read_text())
    for name, predicted in (("hard", (data["preds"] >= 0.5).long()), ("soft", data["preds"])):
        assert float.fromhex(found[name]["A->T"]) == value_of(groups, data["target"], predicted)
        assert float.fromhex(found[name]["T->A"]) == value_of(data["target"], groups, data["group_preds"])


@pytest.mark.filterwarnings("ignore")
def test_lightning_logs_the_value_of_the_epoch(tmp_path: Path) -> None:
    lightning = pytest.importorskip("lightning", reason="lightning is not installed")
    draw = torch.Generator().manual_seed(0)
    groups, target = torch.randint(0, 2, (50,), generator=draw), torch.randint(0, 2, (50,), generator=draw)
    features = torch.rand(50, 1, generator=draw)

    class Model(lightning.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)
            self.amplification = BiasAmplification(task="binary", num_groups=2, threshold=None)

        def validation_step(self, batch: Any, index: int) -> None:
            x, y, group = batch
            self.amplification(self.layer(x).sigmoid().ravel(), y, group)
            self.log("amplification", self.amplification, on_epoch=True)

    model = Model()
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(features, target, groups), batch_size=8)
    trainer = lightning.Trainer(
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        accelerator="cpu",
        default_root_dir=tmp_path,
    )
    (found,) = trainer.validate(model, loader, verbose=False)
    expected = value_of(groups, target, model.layer(features).sigmoid().ravel().detach().double())
    assert found["amplification"] == pytest.approx(expected, abs=1e-6)
