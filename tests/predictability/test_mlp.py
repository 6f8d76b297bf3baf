import sys

import numpy as np
import pytest

from extras import needs

torch = needs("torch")

from sklearn.base import clone  # noqa: E402

from biasamp.predictability.attack import dpa  # noqa: E402
from biasamp.predictability.mlp import MLPAttacker, paper_mlp  # noqa: E402


def planted(n=400):
    rng = np.random.default_rng(0)
    given = rng.integers(0, 2, n)
    truth = (rng.random(n) < np.where(given == 1, 0.8, 0.3)).astype(int)
    return given, truth, np.where(rng.random(n) < 0.1, 1 - truth, truth)


def test_architectures_of_the_papers():
    features, target = np.random.default_rng(0).random((40, 5)), np.arange(40) % 2
    small = paper_mlp("dpa").set_params(epochs=1).fit(features, target)
    assert [type(layer).__name__ for layer in small.network_] == ["Linear", "Sigmoid", "Linear"]
    assert small.network_[0].out_features == 4
    deep = paper_mlp("leakage").set_params(epochs=1).fit(features, target)
    kinds = [type(layer).__name__ for layer in deep.network_]
    assert kinds == ["BatchNorm1d"] + ["Linear", "BatchNorm1d", "LeakyReLU"] * 3 + ["Linear"]


def test_every_fit_starts_from_fresh_weights_and_the_seed_decides():
    given, truth, _ = planted()
    attacker = MLPAttacker(epochs=5, random_state=3)
    first = attacker.fit(given[:, None], truth).predict_proba(given[:, None])
    again = attacker.fit(given[:, None], truth).predict_proba(given[:, None])
    other = clone(attacker).set_params(random_state=4).fit(given[:, None], truth).predict_proba(given[:, None])
    assert (first == again).all()
    assert (first != other).any()


def test_the_callers_random_state_is_left_alone():
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    MLPAttacker(epochs=1).fit(np.arange(8.0)[:, None], np.arange(8) % 2)
    assert torch.rand(1) == expected


def test_it_finds_what_the_lookup_finds():
    given, truth, predicted = planted()
    by_table = dpa(given, truth, predicted, trials=200)
    by_mlp = dpa(given, truth, predicted, attacker=paper_mlp("dpa").set_params(epochs=60), trials=3)
    assert by_mlp.dataset == pytest.approx(by_table.dataset, abs=0.04)
    assert by_mlp.model == pytest.approx(by_table.model, abs=0.04)


def test_numbers():
    x = np.linspace(-1, 1, 200)[:, None]
    said = MLPAttacker((30,), "tanh", continuous=True, epochs=300, learning_rate=0.02).fit(x, x[:, 0] ** 2)
    assert np.abs(said.predict(x) - x[:, 0] ** 2).mean() < 0.05


def by_hand(network, loss, inputs, goal, rate, epochs, size):
    """Adam on batches in a new order for each epoch, or on all records in theirs."""
    steps = torch.optim.Adam(network.parameters(), lr=rate)
    batched = any(isinstance(layer, torch.nn.BatchNorm1d) for layer in network)
    for _ in range(epochs):
        order = list(range(len(inputs))) if size >= len(inputs) else torch.randperm(len(inputs)).tolist()
        while order:
            batch, order = order[:size], order[size:]
            if len(batch) == 1 and batched:
                continue
            steps.zero_grad()
            loss(network(inputs[batch]), goal[batch]).backward()
            steps.step()
    return network.eval()


def scaled(values):
    return torch.as_tensor((values - values.mean(axis=0)) / values.std(axis=0), dtype=torch.float32)


@pytest.mark.parametrize(("batch_size", "size"), [(None, 21), (21, 21), (50, 21), (20, 20), (6, 6), (1, 1)])
def test_training_is_that_of_torch(batch_size, size):
    features = np.random.default_rng(0).normal(3, 5, size=(21, 2))
    target = np.array([7, 3, 3] * 7)
    found = MLPAttacker((3,), "tanh", epochs=4, batch_size=batch_size, learning_rate=0.1, random_state=9).fit(
        features, target
    )
    torch.manual_seed(9)
    nn = torch.nn
    network = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2))
    codes = torch.as_tensor((target == 7).astype(int))
    by_hand(network, nn.CrossEntropyLoss(), scaled(features), codes, 0.1, 4, size)
    with torch.no_grad():
        expected = torch.softmax(network(scaled(features)).double(), dim=1).numpy()
    assert found.predict_proba(features) == pytest.approx(expected, abs=1e-6)
    assert found.classes_.tolist() == [3, 7]
    assert found.predict(features).tolist() == np.array([3, 7])[expected.argmax(axis=1)].tolist()
    assert found.predict_proba(features).sum(axis=1) == pytest.approx(np.ones(21))


@pytest.mark.parametrize("size", [4, 5])
def test_batches_of_one_record_are_left_out_where_batches_are_normalised(size):
    """Of nine records, the last of three batches, or none of two."""
    features = np.random.default_rng(1).normal(size=(9, 2))
    target = np.array([0, 1, 1] * 3)
    options = {"batch_norm": True, "epochs": 3, "batch_size": size, "learning_rate": 0.1, "random_state": 2}
    found = MLPAttacker((3, 2), ("relu", "leaky_relu"), **options).fit(features, target)
    torch.manual_seed(2)
    nn = torch.nn
    layers = [nn.BatchNorm1d(2), nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 2), nn.BatchNorm1d(2)]
    network = nn.Sequential(*layers, nn.LeakyReLU(), nn.Linear(2, 2))
    by_hand(network, nn.CrossEntropyLoss(), scaled(features), torch.as_tensor(target), 0.1, 3, size)
    with torch.no_grad():
        expected = torch.softmax(network(scaled(features)).double(), dim=1).numpy()
    assert found.predict_proba(features) == pytest.approx(expected, abs=1e-5)
    assert not found.network_.training
    # One record at a time is asked about, as it is alone.
    assert found.predict_proba(features[:1]) == pytest.approx(expected[:1], abs=1e-5)


def test_two_records_are_enough_to_normalise():
    features, target = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    before = MLPAttacker((2,), batch_norm=True, epochs=0, batch_size=2).fit(features, target).predict_proba(features)
    after = MLPAttacker((2,), batch_norm=True, epochs=3, batch_size=2).fit(features, target).predict_proba(features)
    assert (before != after).all()


def test_training_of_numbers_is_that_of_torch():
    features = np.random.default_rng(0).normal(3, 5, size=(15, 1))
    target = 100 + 20 * np.sin(features[:, 0])
    found = MLPAttacker((3,), ("relu",), continuous=True, epochs=5, learning_rate=0.1, random_state=1).fit(
        features, target
    )
    torch.manual_seed(1)
    nn = torch.nn
    network = nn.Sequential(nn.Linear(1, 3), nn.ReLU(), nn.Linear(3, 1))
    by_hand(network, nn.MSELoss(), scaled(features), scaled(target)[:, None], 0.1, 5, 15)
    with torch.no_grad():
        expected = network(scaled(features)).double().numpy()[:, 0] * target.std() + target.mean()
    assert found.predict(features) == pytest.approx(expected, abs=1e-4)
    assert (found.level_, found.spread_) == pytest.approx((target.mean(), target.std()))


def test_what_does_not_vary_is_not_divided_by_its_spread():
    features = np.column_stack([np.full(8, 4.0), np.arange(8.0)])
    found = MLPAttacker(epochs=1).fit(features, np.arange(8) % 2)
    assert found.scale_.tolist() == [1.0, np.arange(8.0).std()]
    assert found.center_.tolist() == [4.0, 3.5]
    # Another scale of what is read is another name for the same.
    other = MLPAttacker(epochs=1).fit(1000 * features + 5, np.arange(8) % 2)
    assert other.predict_proba(1000 * features + 5) == pytest.approx(found.predict_proba(features), abs=1e-5)
    flat = MLPAttacker(continuous=True, epochs=1).fit(features, np.full(8, 6.0))
    assert (flat.level_, flat.spread_) == (6.0, 1.0)
    assert np.abs(flat.predict(features) - 6.0).max() < 3


def test_chances_of_far_answers_are_finite():
    attacker = MLPAttacker(epochs=1).fit(np.arange(6.0)[:, None], np.arange(6) % 3)
    attacker._output = lambda X: np.array([[1000.0, 999.0, -1000.0], [-2000.0, -2000.0, -2000.0]])
    chances = attacker.predict_proba(None)
    assert chances[0] == pytest.approx([1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1)), 0.0])
    assert chances[1] == pytest.approx([1 / 3] * 3)
    assert attacker.predict(None).tolist() == [0, 0]


@pytest.mark.parametrize("wrong", ["softmax", ("tanh", "softmax"), ()])
def test_activations_that_are_none(wrong):
    with pytest.raises(ValueError, match="is not known; take sigmoid, relu, tanh, leaky_relu"):
        MLPAttacker((2, 2), wrong, epochs=1).fit(np.arange(4.0)[:, None], np.arange(4) % 2)


def test_activations_take_turns():
    def kinds(activation):
        fitted = MLPAttacker((5, 4, 3), activation, epochs=0).fit(np.arange(4.0)[:, None], np.arange(4) % 2)
        assert [(layer.in_features, layer.out_features) for layer in fitted.network_[::2]] == [
            (1, 5),
            (5, 4),
            (4, 3),
            (3, 2),
        ]
        return [type(layer).__name__ for layer in fitted.network_[1::2]]

    assert kinds("relu") == ["ReLU"] * 3
    assert kinds(("tanh", "relu")) == ["Tanh", "ReLU", "Tanh"]
    assert kinds(("sigmoid", "leaky_relu", "tanh")) == ["Sigmoid", "LeakyReLU", "Tanh"]


def test_parameters_are_those_of_the_documents():
    plain = {
        "hidden": (4,),
        "activation": "sigmoid",
        "batch_norm": False,
        "continuous": False,
        "epochs": 200,
        "batch_size": None,
        "learning_rate": 0.05,
        "random_state": 0,
    }
    assert MLPAttacker().get_params() == plain
    assert paper_mlp("dpa").get_params() == plain | {"epochs": 150}
    deep = {"hidden": (300,) * 3, "activation": "leaky_relu", "batch_norm": True, "batch_size": 128}
    assert paper_mlp("leakage").get_params() == plain | deep | {"epochs": 30, "learning_rate": 1e-3}
    turns = {"hidden": (100, 100), "activation": ("tanh", "relu"), "continuous": True, "learning_rate": 0.01}
    for kind in ("dpa", "leakage"):
        assert paper_mlp(kind, continuous=True).get_params() == plain | turns


def test_without_torch_what_to_install_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for made in (lambda: paper_mlp("dpa"), lambda: MLPAttacker().fit([[0.0], [1.0]], [0, 1])):
        with pytest.raises(ImportError, match="install biasamp with the extra 'torch'"):
            made()
