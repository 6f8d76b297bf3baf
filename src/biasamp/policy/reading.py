"""How a policy's data are read: its plain values as arguments of an audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from biasamp.data import Declared, binary, categorical
from biasamp.data.binning import cut_columns

ROLES = ("attributes", "tasks")
# The arguments of ``audit`` that a policy may hold, so that a check needs nothing but the data.
DATA_KEYS = (
    *("attributes", "tasks", "attribute_predictions", "task_predictions", "attribute_scores", "task_scores", "strata"),
    *("train", "base", "weights", "record", "cluster", "missing", "intersections", "metrics", "confidence"),
    *("resamples", "seed", "binary", "categorical", "positive", "reference", "unseen", "categories", "bins"),
)
# Of these, what counts do not say by themselves.
OF_COUNTS = (
    *("base", "metrics", "confidence", "resamples", "seed", "positive", "reference"),
    *("ignore_groups", "min_group"),
)


def audit_arguments(held: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of :func:`biasamp.audit`: roles that ``binary``, ``categorical`` and ``categories`` name are declared so.

    Columns that ``bins`` names are cut.
    """
    out = dict(held)
    bins = out.pop("bins", {})
    out |= {role: cut_columns(out[role], bins) for role in ROLES if role in out}
    values: Mapping[str, Any] = out.pop("categories", {})
    declared = {"binary": out.pop("binary", ()), "categorical": (*out.pop("categorical", ()), *values)}
    for role in ROLES:
        known: Callable[[Any], Any] = partial(categorical, categories=values.get(role))
        for kind, declare in (("binary", binary), ("categorical", known)):
            if role in declared[kind] and role in out:
                names = out[role]
                # Attributes are measured one by one, tasks together.
                each = role == "attributes" and isinstance(names, list)
                if not isinstance(names, Declared):
                    out[role] = (
                        [one if isinstance(one, Declared) else declare(one) for one in names]
                        if each
                        else declare(names)
                    )
    return out
