"""What any rule on COMPAS's five features can do, a decision tree among them: bounds that need no training.

A rule gives everybody with the same features the same prediction, so it is one choice for each combination of
features that occurs. The counts and the accuracy of a rule are sums over combinations, and the best rule under given
counts is a linear programme.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Rules:
    """Rules that predict ``truth`` from the features; predictions are counted where ``given`` is 0 and 1.

    Attributes
    ----------
    people : array
        ``(combinations, 2, 2)``: people by combination of features, given and truth.
    """

    people: NDArray[np.int64]

    @classmethod
    def of(cls, features: NDArray[Any], given: NDArray[Any], truth: NDArray[Any]) -> Rules:
        """From records; given and truth are 0 or 1.

        >>> features = np.array([[1], [1], [1], [2]])
        >>> Rules.of(features, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])).people.shape
        (2, 2, 2)
        """
        combinations, place = np.unique(features, axis=0, return_inverse=True)
        people = np.zeros((len(combinations), 2, 2), dtype=np.int64)
        np.add.at(people, (place.ravel(), given, truth), 1)
        return cls(people)

    @property
    def best(self) -> float:
        """The highest accuracy of any rule; a tree without limits has it on its own training records."""
        return float(self.people.sum(axis=1).max(axis=1).sum() / self.people.sum())

    def zeros_of_best(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Least and most predictions of 0 where given is 0, and where it is 1, among rules with the highest accuracy.

        They differ only in combinations with as many people of either truth.
        """
        zero, one = self.people.sum(axis=1).T
        by_given = self.people.sum(axis=2)
        least, most = by_given[zero > one].sum(axis=0), by_given[zero >= one].sum(axis=0)
        return (int(least[0]), int(most[0])), (int(least[1]), int(most[1]))

    def best_with(self, zeros: tuple[int, int]) -> float:
        """The highest accuracy of a rule with so many predictions of 0 where given is 0 and 1; NaN where none has.

        Rules may split a combination by a coin, which trees cannot: for trees the bound is not too low.
        """
        from scipy.optimize import linprog

        zero, one = self.people.sum(axis=1).T
        by_given = self.people.sum(axis=2)
        found = linprog(-(zero - one), A_eq=by_given.T, b_eq=zeros, bounds=(0, 1))
        return float((one.sum() - found.fun) / self.people.sum()) if found.status == 0 else float("nan")
