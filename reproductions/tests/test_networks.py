"""Small networks: they learn, repeat themselves, leave others' randomness alone, and attribute where the cause is."""

from __future__ import annotations

import numpy as np
import pytest

from extras import needs

torch = needs("torch")

from biasamp_reproductions.networks import (  # noqa: E402
    ARCHITECTURES,
    Training,
    attribution_outside,
    network,
    scores,
    trained,
)


def bright_side(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise in which the left half, the right half, both or neither is bright; which is to be learnt."""
    rng = np.random.default_rng(seed)
    wanted = rng.random((count, 2)) < 0.5
    images = rng.normal(0.3, 0.1, (count, 3, 16, 16)).astype(np.float32)
    images[:, :, :, :8] += 0.3 * wanted[:, 0, None, None, None]
    images[:, :, :, 8:] += 0.3 * wanted[:, 1, None, None, None]
    return np.clip(images, 0, 1), wanted


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_each_architecture_learns(architecture: str) -> None:
    images, wanted = bright_side(300, 0)
    test, truth = bright_side(100, 1)
    model = trained(images, wanted, 0, Training(epochs=4, batch=30, architecture=architecture))
    assert ((scores(model, test) > 0) == truth).mean() > 0.95


def test_a_seed_repeats_and_nobody_elses_draws_change() -> None:
    images, wanted = bright_side(60, 0)
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002
    expected = (torch.rand(1).item(), np.random.rand())  # noqa: NPY002
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002
    threads = torch.get_num_threads()
    one, again, other = (scores(trained(images, wanted, seed, Training(epochs=1)), images) for seed in (1, 1, 2))
    assert (torch.rand(1).item(), np.random.rand()) == expected  # noqa: NPY002
    assert torch.get_num_threads() == threads
    assert (one == again).all()
    assert (one != other).any()


def test_bytes_are_read_as_shares_of_255() -> None:
    images = np.random.default_rng(0).integers(0, 256, (4, 3, 16, 16)).astype(np.uint8)
    model = network("plain", 1).eval()
    assert scores(model, images) == pytest.approx(scores(model, (images / 255).astype(np.float32)), abs=1e-5)


def test_unknown_architecture() -> None:
    with pytest.raises(ValueError, match="transformer"):
        network("transformer", 1)


class TestAttribution:
    """A linear score has its attributions in closed form: weight times difference to the baseline."""

    @pytest.fixture
    def linear(self) -> object:
        needs("captum")
        model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 4 * 4, 1))
        with torch.no_grad():
            model[1].weight.zero_()
            # One pixel's red counts 3, another's -1.
            model[1].weight[0, 0] = 3.0
            model[1].weight[0, 5] = -1.0
        return model

    @pytest.mark.parametrize("inside, share", [([0, 5], 0.0), ([0], 0.25), ([5], 0.75), ([], 1.0)])
    def test_share_outside(self, linear: object, inside: list[int], share: float) -> None:
        person = np.zeros((2, 16), dtype=bool)
        person[:, inside] = True
        images = np.ones((2, 3, 4, 4), dtype=np.float32)
        dark = np.zeros((1, 3, 4, 4), dtype=np.float32)
        found = attribution_outside(linear, 0, images, person.reshape(2, 4, 4), dark, 0)
        assert found == pytest.approx(share)
