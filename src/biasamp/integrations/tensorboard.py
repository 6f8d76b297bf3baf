"""Associations as event files of TensorBoard's old nPMI plugin, which versions 2.4 to 2.12 can open.

The files are written without TensorFlow: framed records of a few protocol-buffer messages.
"""

from __future__ import annotations

import re
import struct
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data.saving import save_bytes

_METRICS = ("npmi_xy", "npmi_y")
_FLOAT, _STRING = 1, 7
_TENSOR_DATA = 2
# Castagnoli's polynomial, bits reversed, and the constant by which TensorFlow's record files mask a checksum.
_POLYNOMIAL, _MASK_DELTA = 0x82F63B78, 0xA282EAD8
_VARINT, _FIXED64, _BYTES = 0, 1, 2


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

    One row per label: ``nPMI@x`` and ``count@x`` for every identity, ``nPMI_diff@x-y`` for every pair of them. Labels
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
    tensors = {"annotations": annotations, "metrics": list(columns), "values": matrix.astype(np.float32)}
    when = time.time() if wall_time is None else wall_time
    target = Path(folder) / run
    target.mkdir(parents=True, exist_ok=True)
    path = target / f"events.out.tfevents.{int(when)}.biasamp"
    save_bytes(path, _event_file(tensors, step, when))
    return path


def _distinct(names: list[str], labels: Any) -> list[str]:
    """Names, with the label beside those that several labels share: the dashboard tells rows apart by them."""
    seen = Counter(names)
    return [f"{name} ({label})" if seen[name] > 1 else name for name, label in zip(names, labels, strict=True)]


def _event_file(tensors: Mapping[str, Any], step: int, wall_time: float) -> bytes:
    """The content of an event file with one event for each tensor: a matrix of numbers, or a list of texts."""
    when = _field(1, _FIXED64, struct.pack("<d", wall_time))
    metadata = _message(1, _text(1, "npmi")) + _number(4, _TENSOR_DATA)
    events = [when + _text(3, "brain.Event:2")]
    for tag, values in tensors.items():
        value = _text(1, f"_npmi_/{tag}") + _message(8, _tensor(values)) + _message(9, metadata)
        events.append(when + _number(2, step) + _message(5, _message(1, value)))
    return b"".join(_framed(event) for event in events)


def _tensor(values: NDArray[np.float32] | Sequence[str]) -> bytes:
    shape = _message(2, b"".join(_message(2, _number(1, size)) for size in np.shape(values)))
    if isinstance(values, np.ndarray):
        content = np.ascontiguousarray(values, dtype="<f4").tobytes()
        return _number(1, _FLOAT) + shape + _message(4, content)
    return _number(1, _STRING) + shape + b"".join(_text(8, text) for text in values)


def _field(number: int, kind: int, content: bytes) -> bytes:
    return _varint(number << 3 | kind) + content


def _number(number: int, value: int) -> bytes:
    return _field(number, _VARINT, _varint(value))


def _message(number: int, content: bytes) -> bytes:
    return _field(number, _BYTES, _varint(len(content)) + content)


def _text(number: int, text: str) -> bytes:
    return _message(number, text.encode("utf-8", "backslashreplace"))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _framed(record: bytes) -> bytes:
    length = struct.pack("<Q", len(record))
    return length + _masked(length) + record + _masked(record)


def _masked(data: bytes) -> bytes:
    checksum = crc32c(data)
    rotated = (checksum >> 15 | checksum << 17) & 0xFFFFFFFF
    return struct.pack("<I", (rotated + _MASK_DELTA) & 0xFFFFFFFF)


def crc32c(data: bytes) -> int:
    """Castagnoli's checksum.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    table, checksum = _table(), 0xFFFFFFFF
    for byte in data:
        checksum = table[(checksum ^ byte) & 0xFF] ^ checksum >> 8
    return checksum ^ 0xFFFFFFFF


@cache
def _table() -> tuple[int, ...]:
    out = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        out.append(value)
    return tuple(out)
