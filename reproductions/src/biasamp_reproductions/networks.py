"""Small networks for images: three architectures, training, scores, and where in an image a score comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Images = NDArray[Any]

PLAIN, RESIDUAL, WIDE_KERNELS = "plain", "residual", "wide kernels"
ARCHITECTURES = (PLAIN, RESIDUAL, WIDE_KERNELS)


@dataclass(frozen=True)
class Training:
    """How a network is trained: Adam with a rate that falls to 0, binary cross entropy over all outputs.

    ``make`` is what makes a network of one's own, given the number of its outputs, in place of the architecture.
    """

    epochs: int = 6
    batch: int = 100
    rate: float = 4e-3
    architecture: str = PLAIN
    make: Callable[[int], Any] | None = None


@contextmanager
def repeatable(seed: int) -> Iterator[None]:
    """The same draws in torch and numpy every time, on one thread; the caller's state is put back."""
    import torch

    state, threads = np.random.get_state(), torch.get_num_threads()  # noqa: NPY002
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            # Captum draws from numpy's global stream.
            np.random.seed(seed % 2**32)  # noqa: NPY002
            yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
        torch.set_num_threads(threads)


def network(architecture: str, outputs: int) -> Any:
    """An untrained network; images may be of any size from 16 pixels."""
    from torch import nn

    def block(wide_in: int, wide_out: int, kernel: int = 3) -> list[Any]:
        convolution = nn.Conv2d(wide_in, wide_out, kernel, padding=kernel // 2, bias=False)
        return [convolution, nn.MaxPool2d(2), nn.BatchNorm2d(wide_out), nn.ReLU()]

    class Residual(nn.Module):  # type: ignore[misc]
        def __init__(self, width: int) -> None:
            super().__init__()
            self.inner = nn.Sequential(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))
            self.out = nn.ReLU()

        def forward(self, x: Any) -> Any:
            return self.out(x + self.inner(x))

    head: list[Any] = [nn.AdaptiveMaxPool2d(3), nn.Flatten()]
    if architecture == PLAIN:
        body = [*block(3, 16), *block(16, 32), *block(32, 48)]
        return nn.Sequential(*body, *head, nn.Linear(48 * 9, outputs))
    if architecture == RESIDUAL:
        body = [*block(3, 16), *block(16, 32), Residual(32), nn.MaxPool2d(2), Residual(32)]
        return nn.Sequential(*body, *head, nn.Linear(32 * 9, outputs))
    if architecture == WIDE_KERNELS:
        body = [*block(3, 16, 5), *block(16, 32, 5)]
        return nn.Sequential(*body, *head, nn.Linear(32 * 9, 64), nn.ReLU(), nn.Linear(64, outputs))
    raise ValueError(f"architecture must be one of {', '.join(ARCHITECTURES)}, found {architecture!r}")


def trained(images: Images, targets: NDArray[Any], seed: int, training: Training) -> Any:
    """A network that predicts every column of 0/1 ``targets`` from images of shape (images, 3, height, width)."""
    import torch
    from torch import nn

    with repeatable(seed):
        model = _made(training, targets.shape[1], images[:2]).to(memory_format=torch.channels_last)
        wanted = torch.from_numpy(np.asarray(targets, dtype=np.float32))
        optimizer = torch.optim.Adam(model.parameters(), lr=training.rate)
        steps = training.epochs * -(-len(images) // training.batch)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, training.rate, total_steps=max(steps, 2))
        loss = nn.BCEWithLogitsLoss()
        model.train()
        for _ in range(training.epochs):
            for rows in torch.randperm(len(images)).split(training.batch):
                optimizer.zero_grad(set_to_none=True)
                loss(model(_inputs(images[rows.numpy()])), wanted[rows]).backward()
                optimizer.step()
                schedule.step()
        model.eval()
    return model


def _made(training: Training, outputs: int, images: Images) -> Any:
    """An untrained network; one of one's own is tried on two images first."""
    import torch

    if training.make is None:
        return network(training.architecture, outputs)
    model = training.make(outputs)
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"the network must be a torch.nn.Module, found {type(model).__name__}")
    model.eval()
    with torch.no_grad():
        shape = tuple(model(_inputs(images)).shape)
    if shape != (len(images), outputs):
        raise ValueError(
            f"the network gives outputs of shape {shape} for {len(images)} images; ({len(images)}, {outputs}) is needed"
        )
    return model


def _inputs(images: Images) -> Any:
    """Images as torch takes them: floats from 0 to 1; whole numbers are read as 0 to 255."""
    import torch

    part = torch.from_numpy(np.ascontiguousarray(images)).contiguous(memory_format=torch.channels_last)
    return part if part.is_floating_point() else part.float() / 255


def scores(model: Any, images: Images, batch: int = 500) -> NDArray[np.float64]:
    """The outputs before the logistic function, which ranks them alike, of shape (images, outputs)."""
    import torch

    with repeatable(0), torch.no_grad():
        parts = [model(_inputs(images[at : at + batch])).double().numpy() for at in range(0, len(images), batch)]
    return np.concatenate(parts)


def attribution_outside(
    model: Any, output: int, images: Images, person: NDArray[np.bool_], baselines: Images, seed: int
) -> float:
    """The share of a score's attribution that lies outside the person: the mean over images.

    Gradient SHAP against other images; the absolute attributions of an image sum to 1. NaN where no image has any.
    """
    from captum.attr import GradientShap

    with repeatable(seed):
        found = GradientShap(model).attribute(
            _inputs(images), baselines=_inputs(baselines), n_samples=8, stdevs=0.0, target=output
        )
    size = np.abs(found.detach().numpy().astype(np.float64)).sum(axis=1)
    total = size.sum(axis=(1, 2))
    shown = total > 0
    if not shown.any():
        return float("nan")
    return float(np.mean((size * ~person).sum(axis=(1, 2))[shown] / total[shown]))
