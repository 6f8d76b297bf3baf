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
