"""Which value of an outcome is the positive one: the one that is 1, true or yes, or that the caller names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Variable, printable
from biasamp.data.label import canonical
from biasamp.data.spelling import respelled

# Two values of which one is plainly the positive one, the last.
_EVIDENT = (("0", "1"), ("-1", "1"), ("false", "true"), ("no", "yes"), ("n", "y"))
_YES = {"1", "true", "yes"}
_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The outcome labels that rates are given for.

    Attributes
    ----------
    columns : ndarray of int
        The numbers of these labels among all.
    positive : dict
        The positive value of each variable where it is known.
    unknown : tuple of str
        Two-valued variables whose positive value nobody named: both of their values have rates.
    """

    columns: NDArray[np.int64]
    positive: Mapping[str, str]
    unknown: tuple[str, ...]


def choose_outcomes(variables: Sequence[Variable], positive: Any = None, invented: Collection[str] = ()) -> Outcomes:
    """Of every two-valued variable the positive value; of all others every label, unless one is named.

    A variable of ``invented`` is predicted to have further values: its two true ones are not each other's opposite.

    Examples
    --------
    >>> task = Variable("hired", "categorical", ("no", "yes"))
    >>> choose_outcomes([task]).columns.tolist(), choose_outcomes([task], "no").columns.tolist()
    ([1], [0])
    >>> choose_outcomes([Variable("ruling", "categorical", ("denied", "granted"))]).unknown
    ('ruling',)
    """
    named = _named(variables, positive)
    columns: list[int] = []
    known: dict[str, str] = {}
    unknown = []
    start = 0
    for variable in variables:
        mine = list(range(start, start + variable.width))
        start += variable.width
        two = variable.kind == "categorical" and variable.width == 2 and variable.name not in invented
        value = named.get(variable.name, _evident(variable) if two else None)
        if value is not None and variable.kind != "binary":
            known[variable.name] = value
            mine = [mine[variable.categories.index(value)]]
        elif two:
            unknown.append(variable.name)
        columns += mine
    return Outcomes(np.array(columns, dtype=np.int64), known, tuple(unknown))


def _evident(variable: Variable) -> str | None:
    """The positive value of two, where it is plain."""
    spelled = {category.strip().casefold(): category for category in variable.categories}
    return next((spelled[yes] for no, yes in _EVIDENT if set(spelled) == {no, yes}), None)


def _named(variables: Sequence[Variable], positive: Any) -> dict[str, str]:
    """The value of each variable that the caller names: one for all, one each by position, by name, or as labels."""
    if positive is None:
        return {}
    if isinstance(positive, Mapping):
        known = {variable.name: variable for variable in variables}
        strange = [str(name) for name in positive if str(name) not in known]
        if strange:
            raise ValueError(
                f"positive names {_quoted(strange[:1])}, which is no task; the tasks are {_quoted(list(known))}"
            )
        return {str(name): _value(known[str(name)], value) for name, value in positive.items()}
    if (
        isinstance(positive, str)
        or not isinstance(positive, (Sequence, np.ndarray))
        or not getattr(positive, "ndim", 1)
    ):
        positive = [positive]
    labels = {str(label): label for variable in variables for label in variable.labels if label.category is not None}
    if all(isinstance(value, str) and value in labels for value in positive):
        return {labels[value].variable: labels[value].category or "" for value in positive}
    if len(positive) == len(variables):
        return {variable.name: _value(variable, value) for variable, value in zip(variables, positive, strict=True)}
    if len(positive) == 1:
        found = {v.name: spelled for v in variables if (spelled := _spelled(v, positive[0])) is not None}
        if found:
            return found
        _value(variables[0], positive[0])
    raise ValueError(
        f"positive has {len(positive)} values for {len(variables)} tasks: give one for all, one each in their order, or a "
        "mapping from task to value"
    )


def _spelled(variable: Variable, value: Any) -> str | None:
    """A value as the variable spells it; None where it does not have it."""
    if variable.kind == "binary":
        return "1" if str(value).casefold() in _YES else None
    try:
        wanted = (canonical(value), str(value))
    except TypeError as error:
        raise TypeError(f"positive: {error}; the value of a task is needed") from None
    exact = next((spelling for spelling in wanted if spelling in variable.categories), None)
    if exact is not None:
        return exact
    # A value that is declared may differ from another in its spelling alone: then it must be named as it is.
    alike = {twice[1] for one in wanted for value in variable.categories if (twice := respelled([one], [value]))}
    return alike.pop() if len(alike) == 1 else None


def _value(variable: Variable, value: Any) -> str:
    found = _spelled(variable, value)
    if found is not None:
        return found
    name = printable(variable.name, 40)
    if variable.kind == "binary":
        raise ValueError(
            f"positive is {value!r:.60} for {name!r}, a yes/no column: value 1 is what counts. Turn the column and its "
            "predictions round to measure the other value"
        )
    raise ValueError(
        f"positive is {value!r:.60}, which the task {name!r} does not have: it has {_quoted(variable.categories)}"
    )


def _quoted(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(repr(printable(name, 40)) for name in names[:_SHOWN]) + more
