"""``import biasamp`` costs little more than numpy: everything heavy waits until it is used."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

HEAVY = (
    "scipy",
    "sklearn",
    "pyarrow",
    "narwhals",
    "pandas",
    "polars",
    "rich",
    "click",
    "numba",
    "torch",
    "joblib",
    "matplotlib",
    "openpyxl",
    "fairlearn",
    "dask",
    "distributed",
    "pyspark",
)


def modules_after(code: str) -> set[str]:
    """The top-level packages a fresh interpreter has imported after some code."""
    script = f"{code}\nimport sys, json\nprint(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_import_alone() -> None:
    assert not modules_after("import biasamp") & set(HEAVY)


@pytest.mark.parametrize(("had", "has"), [(None, "20"), ("4", "4"), ("", "")])
def test_how_long_threads_of_openblas_wait_is_the_callers_choice_first(had: str | None, has: str) -> None:
    name = "OPENBLAS_THREAD_TIMEOUT"
    environment = {key: value for key, value in os.environ.items() if key != name} | (
        {} if had is None else {name: had}
    )
    code = f"import os, biasamp\nprint(repr(os.environ[{name!r}]))"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == repr(has)


def test_naming_what_there_is_imports_nothing() -> None:
    assert not modules_after("import biasamp; dir(biasamp); biasamp.__version__; biasamp.binary([0, 1])") & set(HEAVY)


def test_counting_arrays_needs_numpy_alone() -> None:
    """The array core: labels, counts and formulas; scipy is for p-values, pyarrow and narwhals for frames."""
    code = """
import numpy as np
from biasamp.data import Evaluation, label_set, read_columns
from biasamp.counts.pair import PairCounts
from biasamp.amplification.directional import directional_pairs
from biasamp.amplification.signs import association_signs
read = lambda values: label_set(read_columns(values, "x"), "x")
counts = PairCounts.from_labels(Evaluation(read(np.array([0, 1, 1])), read(np.eye(3, 2)), read(np.eye(3, 2))))
directional_pairs(counts, association_signs(counts.truth_joint))
"""
    assert not modules_after(code) & set(HEAVY)


def test_a_metric_of_arrays_imports_no_frames_and_no_learning() -> None:
    loaded = modules_after("import biasamp; biasamp.directional([0, 1, 1], [0, 1, 0], [0, 1, 1]).value")
    assert not loaded & (set(HEAVY) - {"scipy"})


def test_importing_reads_one_module() -> None:
    """Names wait until they are used, so that an import costs what one small file costs, on any machine."""
    script = (
        "import sys, json, numpy; before = set(sys.modules); import biasamp; "
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert set(json.loads(done.stdout)) - {"__future__", "typing", "importlib"} == {"biasamp"}
