"""Tensors of labels and predictions, checked and laid out with one column a label."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from biasamp.data import Label

# An addend is a multiple of 2**-52 in two limbs of 26 bits, as in the counts of the library: sums of whole numbers
# are exact, so that neither batching nor the order of processes changes a bit of them.
LIMBS = 2
_LIMB = float(1 << 26)
# Class probabilities that a model rounds to half precision add up to 1 to about this.
_SUM_TOLERANCE = 1e-2


@dataclass(frozen=True)
class Side:
    """What one side of the metric is: classes of which a record has one, or yes/no labels."""

    name: str
    width: int
    exclusive: bool

    @property
    def labels(self) -> tuple[Label, ...]:
        """Its labels."""
        return tuple(Label(self.name, str(i)) for i in range(self.width))

    @property
    def shape(self) -> str:
        """The shape its labels come in, in words."""
        return "(records,)" if self.exclusive else f"(records, {self.width})"


def one_hot(values: Tensor, side: Side, name: str) -> Tensor:
    """True labels as a 0/1 matrix of whole numbers."""
    _tensor(values, name)
    if values.is_floating_point():
        if not bool((values == values.round()).all()):
            raise ValueError(f"{name} holds fractions; true labels are whole numbers")
    elif values.is_complex():
        raise TypeError(f"{name} is a tensor of {values.dtype}; labels are numbers or bool")
    if values.ndim != (1 if side.exclusive else 2) or (not side.exclusive and values.shape[1] != side.width):
        raise ValueError(f"{name} has shape {tuple(values.shape)}; {side.shape} is needed")
    values = values.to(torch.int64)
    highest = side.width - 1 if side.exclusive else 1
    wrong = values[(values < 0) | (values > highest)]
    if len(wrong):
        raise ValueError(f"{name} holds {int(wrong[0])}; labels lie between 0 and {highest}")
    if not side.exclusive:
        return values
    return (values[:, None] == torch.arange(side.width, device=values.device)).to(torch.int64)


def decisions(values: Tensor, side: Side, name: str, threshold: float | None, logits: bool) -> Tensor:
    """Predictions as a matrix: whole numbers, or fractions in float64 where there is no threshold."""
    _tensor(values, name)
    if not values.is_floating_point():
        return one_hot(values, side, name)
    values = values.detach().to(torch.float64)
    one_column = side.exclusive and values.ndim == 1
    if one_column and side.width != 2:
        raise ValueError(
            f"{name} has shape {tuple(values.shape)}; of {side.width} classes (records, {side.width}) is needed"
        )
    if not one_column and (values.ndim != 2 or values.shape[1] != side.width):
        raise ValueError(f"{name} has shape {tuple(values.shape)}; (records, {side.width}) is needed")
    several = side.exclusive and not one_column
    if logits:
        if bool(values.isnan().any()):
            raise ValueError(f"{name} holds NaN")
        values = values.softmax(-1) if several else values.sigmoid()
    wrong = values[~((values >= 0) & (values <= 1))]
    if len(wrong):
        raise ValueError(
            f"{name} holds {wrong[0].item():g}; probabilities lie between 0 and 1. Logits need logits=True"
        )
    if several:
        sums = values.sum(-1)
        if threshold is not None:
            return one_hot(values.argmax(-1), side, name)
        if bool(((sums - 1).abs() > _SUM_TOLERANCE).any()):
            raise ValueError(
                f"{name} holds class probabilities that add up to {sums[(sums - 1).abs().argmax()].item():g}"
            )
        return values
    if threshold is not None:
        positive = (values >= threshold).to(torch.int64)
        return one_hot(positive, side, name) if one_column else positive
    return torch.stack([1 - values, values], -1) if one_column else values


def limbs(values: Tensor) -> list[Tensor]:
    """The limbs of fractions between 0 and 1, as floats that hold whole numbers."""
    rest = values * _LIMB
    high = rest.floor()
    return [high, ((rest - high) * _LIMB).round()]


def _tensor(values: object, name: str) -> None:
    if not isinstance(values, Tensor):
        raise TypeError(f"{name} is a {type(values).__name__}; a tensor is needed")
