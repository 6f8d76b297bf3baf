"""Small neural attackers with the papers' architectures, as scikit-learn estimators (extra ``torch``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

_ACTIVATIONS = {"sigmoid": "Sigmoid", "relu": "ReLU", "tanh": "Tanh", "leaky_relu": "LeakyReLU"}


class MLPAttacker(BaseEstimator):  # type: ignore[misc]
    """A fully connected network, trained by Adam on the whole batch or on minibatches.

    Parameters
    ----------
    hidden : tuple of int
        The width of each hidden layer.
    activation : str or tuple of str
        ``"sigmoid"``, ``"relu"``, ``"tanh"`` or ``"leaky_relu"``; a tuple is gone through layer by layer,
        again and again.
    batch_norm : bool
        Whether to normalise batches before every layer.
    continuous : bool
        Whether what is predicted are numbers (squared error) rather than classes (cross entropy).
    epochs, batch_size, learning_rate : int, int or None, float
        How it is trained; ``batch_size`` None takes all records at once.
    random_state : int
        Seeds the weights and the batches. Every fit starts from fresh weights.

    Examples
    --------
    >>> MLPAttacker(hidden=(4,)).get_params()["activation"]
    'sigmoid'
    """

    def __init__(
        self,
        hidden: tuple[int, ...] = (4,),
        activation: str | tuple[str, ...] = "sigmoid",
        *,
        batch_norm: bool = False,
        continuous: bool = False,
        epochs: int = 200,
        batch_size: int | None = None,
        learning_rate: float = 0.05,
        random_state: int = 0,
    ) -> None:
        self.hidden = hidden
        self.activation = activation
        self.batch_norm = batch_norm
        self.continuous = continuous
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> MLPAttacker:
        """Train fresh weights."""
        torch = _torch()
        features = np.asarray(X, dtype=np.float64)
        self.center_, self.scale_ = features.mean(axis=0), features.std(axis=0)
        self.scale_ = np.where(self.scale_ > 0, self.scale_, 1.0)
        inputs = torch.as_tensor((features - self.center_) / self.scale_, dtype=torch.float32)
        if self.continuous:
            target = np.asarray(y, dtype=np.float64)
            self.level_, self.spread_ = float(target.mean()), float(target.std()) or 1.0
            goal = torch.as_tensor((target - self.level_) / self.spread_, dtype=torch.float32)[:, None]
            loss_of, width = torch.nn.MSELoss(), 1
        else:
            self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
            goal = torch.as_tensor(codes, dtype=torch.long)
            loss_of, width = torch.nn.CrossEntropyLoss(), len(self.classes_)
        # The seed is this attacker's own: the caller's random state stays as it was.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(self.random_state))
            self.network_ = self._network(torch.nn, inputs.shape[1], width)
            self._train(torch, inputs, goal, loss_of)
        return self

    def _network(self, nn: Any, inputs: int, outputs: int) -> Any:
        names = (self.activation,) if isinstance(self.activation, str) else tuple(self.activation)
        unknown = [name for name in names if name not in _ACTIVATIONS]
        if unknown or not names:
            raise ValueError(f"activation {unknown or names!r} is not known; take {', '.join(_ACTIVATIONS)}")
        layers: list[Any] = [nn.BatchNorm1d(inputs)] if self.batch_norm else []
        width = inputs
        for place, size in enumerate(self.hidden):
            layers.append(nn.Linear(width, size))
            if self.batch_norm:
                layers.append(nn.BatchNorm1d(size))
            layers.append(getattr(nn, _ACTIVATIONS[names[place % len(names)]])())
            width = size
        layers.append(nn.Linear(width, outputs))
        return nn.Sequential(*layers)

    def _train(self, torch: Any, inputs: Any, goal: Any, loss_of: Any) -> None:
        optimizer = torch.optim.Adam(self.network_.parameters(), lr=self.learning_rate)
        size = len(inputs) if self.batch_size is None else min(self.batch_size, len(inputs))
        self.network_.train()
        for _ in range(self.epochs):
            order = torch.randperm(len(inputs)) if size < len(inputs) else torch.arange(len(inputs))
            for start in range(0, len(inputs), size):
                batch = order[start : start + size]
                if self.batch_norm and len(batch) < 2:
                    continue  # one record has no variance to normalise by
                optimizer.zero_grad()
                loss_of(self.network_(inputs[batch]), goal[batch]).backward()
                optimizer.step()
        self.network_.eval()

    def _output(self, X: Any) -> NDArray[np.float64]:
        torch = _torch()
        scaled = (np.asarray(X, dtype=np.float64) - self.center_) / self.scale_
        with torch.no_grad():
            out: NDArray[np.float64] = self.network_(torch.as_tensor(scaled, dtype=torch.float32)).double().numpy()
        return out

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class, or the number expected."""
        out = self._output(X)
        if self.continuous:
            return np.asarray(out[:, 0] * self.spread_ + self.level_)
        return np.asarray(self.classes_[out.argmax(axis=1)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The chance of each class, in the order of ``classes_``."""
        out = self._output(X)
        chance = np.exp(out - out.max(axis=1, keepdims=True))
        return np.asarray(chance / chance.sum(axis=1, keepdims=True))


def paper_mlp(kind: str, *, continuous: bool = False) -> MLPAttacker:
    """The attacker of the paper that defined the metric.

    DPA on COMPAS (Tokas et al., Sec. 5.1) has a hidden layer of four sigmoid units. Leakage (Wang et al.,
    2019) has three hidden layers of leaky rectifiers with batch normalisation, 300 wide. On continuous data
    (Tokas et al., App. B) layers of tanh and of rectifiers take turns.
    """
    _torch()
    if continuous:
        return MLPAttacker((100, 100), ("tanh", "relu"), continuous=True, epochs=200, learning_rate=0.01)
    if kind == "dpa":
        return MLPAttacker((4,), "sigmoid", epochs=150, learning_rate=0.05)
    return MLPAttacker((300, 300, 300), "leaky_relu", batch_norm=True, epochs=30, batch_size=128, learning_rate=1e-3)


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError("attacker 'mlp' needs torch: install biasamp with the extra 'torch'") from error
    return torch
