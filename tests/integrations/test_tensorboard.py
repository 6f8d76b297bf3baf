"""Event files of the nPMI dashboard, read by TensorBoard itself."""

from __future__ import annotations

import json
import math
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.integrations.tensorboard import write_npmi_events

LABELS = [["woman", "kitchen", "cup"], ["woman", "cup"], ["man", "car"], ["man", "kitchen"], ["küche", "man"]] * 20


@pytest.fixture(scope="module")
def association() -> Any:
    return biasamp.associate(LABELS, ["woman", "man"])


def by_hand(label: str, identity: str) -> float | None:
    """Counts in plain Python, then the formula."""
    n = len(LABELS)
    x, y = sum(identity in record for record in LABELS), sum(label in record for record in LABELS)
    both = sum(identity in record and label in record for record in LABELS)
    if not both:
        return -1.0
    return math.log(both / n / (x / n * y / n)) / -math.log(both / n)


def hold(served: dict[str, Any]) -> None:
    """What was served is what the counts give."""
    (annotations,), (metrics,), (values,) = (served[name].values() for name in ("annotations", "metrics", "values"))
    assert set(annotations) == {"kitchen", "cup", "car", "küche"}
    assert set(metrics) == {"nPMI@woman", "nPMI@man", "count@woman", "count@man", "nPMI_diff@woman-man"}
    for label, row in zip(annotations, values, strict=True):
        found = dict(zip(metrics, row, strict=True))
        for identity in ("woman", "man"):
            assert found[f"nPMI@{identity}"] == pytest.approx(by_hand(label, identity), abs=1e-6)
            assert found[f"count@{identity}"] == sum(identity in r and label in r for r in LABELS)
        assert found["nPMI_diff@woman-man"] == pytest.approx(found["nPMI@woman"] - found["nPMI@man"], abs=1e-6)


def test_the_plugin_of_tensorboard_2_12(association: Any, tmp_path: Path) -> None:
    python = os.environ.get("BIASAMP_TENSORBOARD")
    if not python:
        pytest.skip("BIASAMP_TENSORBOARD does not name the Python of an environment with tensorboard 2.12")
    write_npmi_events(association, tmp_path, run="model a")
    reader = Path(__file__).with_name("npmi_reader.py")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run([python, reader, tmp_path], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    served = json.loads(done.stdout)
    assert served["tags"] == {"model a": ["_npmi_/annotations", "_npmi_/metrics", "_npmi_/values"]}
    hold(served)


@pytest.mark.filterwarnings("ignore")
def test_any_tensorboard_reads_the_file(association: Any, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    from tensorboard.util import tensor_util

    path = write_npmi_events(association, tmp_path, step=7, wall_time=5.0)
    events = list(EventFileLoader(str(path)).Load())
    assert [event.wall_time for event in events] == [5.0] * 4
    served = {}
    for event in events[1:]:
        (value,) = event.summary.value
        assert (event.step, value.metadata.plugin_data.plugin_name) == (7, "npmi")
        array = tensor_util.make_ndarray(value.tensor)
        plain = [item.decode() for item in array] if array.dtype.kind in "OS" else array.tolist()
        served[value.tag.removeprefix("_npmi_/")] = {"run": plain}
    hold(served)


def test_what_has_no_number_is_missing(tmp_path: Path) -> None:
    """nPMI_y of a label that never occurs with an identity is a limit, which JSON could not hold."""
    result = biasamp.associate(LABELS, ["woman", "man"])
    raw = write_npmi_events(result, tmp_path, metric="npmi_y").read_bytes()
    assert np.float32(-np.inf).tobytes() not in raw
    assert np.float32(np.nan).tobytes() in raw


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"run": "../x"}, "run is"),
        ({"run": ".."}, "run is"),
        ({"metric": "pmi"}, "metric is"),
        ({"step": -1}, "step is"),
    ],
)
def test_messages(association: Any, tmp_path: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        write_npmi_events(association, tmp_path, **options)
    assert list(tmp_path.iterdir()) == []
