"""Associations as event files of TensorBoard's old nPMI plugin, which versions 2.4 to 2.12 can open."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import numpy as np

from .event_file import Tensor, event_file

_METRICS = ("npmi_xy", "npmi_y")


def write_npmi_events(
    association: Any,
    folder: str | Path,
    *,
    run: str = "biasamp",
    metric: str = "npmi_xy",
    step: int = 0,
    wall_time: float | None = None,
) -> Path:
    """Write associations for TensorBoard's nPMI dashboard; TensorFlow is not needed.

    One row a label: ``nPMI@x`` and ``count@x`` for every identity, ``nPMI_diff@x-y`` for every pair of them. Labels
    that are part of an identity are left out. What is undefined, or a limit without a number, is shown as missing.

    Parameters
    ----------
    association : Association
        As :func:`biasamp.associate` returns it, with the metric among its metrics.
    folder : str or Path
        The log folder that TensorBoard is started on.
    run : str
        The run's name: a folder in it.
    metric : {"npmi_xy", "npmi_y"}
        Which normalization is shown as nPMI.
    step : int
    wall_time : float, optional
        Seconds since 1970; by default now.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import biasamp, tempfile
    >>> from biasamp.integrations.tensorboard import write_npmi_events
    >>> labels = [["woman", "kitchen"], ["man", "car"], ["man", "kitchen"]] * 20
    >>> result = biasamp.associate(labels, ["woman", "man"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_npmi_events(result, folder, wall_time=0.0).name
    'events.out.tfevents.0.biasamp'
    """
    if metric not in _METRICS or metric not in association.metrics:
        raise ValueError(f"metric is {metric!r}; take one of {', '.join(_METRICS)} that the result holds")
    if not re.fullmatch(r"[\w.\- ]+", run) or not run.strip(". "):
        raise ValueError(f"run is {run!r}; the name of one folder is needed: letters, digits, dots and dashes")
    if isinstance(step, bool) or step < 0:
        raise ValueError(f"step is {step}; it must be 0 or more")
    kept = ~np.asarray(association.is_identity)
    columns: dict[str, Any] = {}
    values = association.values.values(metric)
    for k, name in enumerate(association.identities):
        columns[f"nPMI@{name}"] = values[:, k]
        columns[f"count@{name}"] = association.joint[:, k]
    for first, second in association.contrasts:
        if second is not None:
            name = f"{association.identities[first]}-{association.identities[second]}"
            columns[f"nPMI_diff@{name}"] = association.values.gaps(metric, (first, second))
    matrix = np.column_stack([np.asarray(column, dtype=np.float64)[kept] for column in columns.values()])
    matrix[~np.isfinite(matrix)] = np.nan
    annotations = _distinct([association.names[i] for i in np.flatnonzero(kept)], np.array(association.labels)[kept])
    tensors = [
        Tensor("_npmi_/annotations", annotations),
        Tensor("_npmi_/metrics", list(columns)),
        Tensor("_npmi_/values", matrix.astype(np.float32)),
    ]
    when = time.time() if wall_time is None else wall_time
    target = Path(folder) / run
    target.mkdir(parents=True, exist_ok=True)
    path = target / f"events.out.tfevents.{int(when)}.biasamp"
    path.write_bytes(event_file(tensors, "npmi", step, when))
    return path


def _distinct(names: list[str], labels: Any) -> list[str]:
    """Names, with the label beside those that several labels share: the dashboard tells rows apart by them."""
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
    return [f"{name} ({label})" if seen[name] > 1 else name for name, label in zip(names, labels, strict=True)]
