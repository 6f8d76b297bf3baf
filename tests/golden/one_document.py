"""One audit by every way that records can come: does its document depend on the way?

``documents`` gives the JSON of the same audit by each way, ``python tests/golden/one_document.py`` prints which of them
differ and where. What is left out is what the source is called (it is not in the document) and what tells the
version. A folder is three files, and parts are three thirds; ids tell records apart, so that the order of rows and
files is the same everywhere and rows have the same keys.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import biasamp
from golden.comparing import LEFT_OUT

N = 6_000
ENGINES = ("memory", "local", "dask", "spark", "parts")
METRICS = ["directional", "multi", "mals", "parity"]
# What is audited: yes/no labels of several columns, and one variable of several values.
ROLES: dict[str, dict[str, Any]] = {
    "labels": {
        "attributes": "gender",
        "tasks": ["t0", "t1", "t2"],
        "attribute_predictions": "gender_said",
        "task_predictions": ["p0", "p1", "p2"],
        "record": "id",
    },
    "values": {
        "attributes": ["gender", "age"],
        "tasks": "job",
        "attribute_predictions": ["gender_said", "age_said"],
        "task_predictions": "job_said",
        "record": "id",
    },
}


def records(n: int = N, seed: int = 3) -> dict[str, Any]:
    """Hard labels; clusters of up to a dozen records, none of which is cut by a third of the rows."""
    rng = np.random.default_rng(seed)
    woman, age = rng.random(n) < 0.45, rng.integers(0, 3, n)
    third = np.arange(n) * 3 // n
    jobs, ages = np.array(["cook", "driver", "nurse"]), np.array(["middle", "old", "young"])
    job = np.minimum((rng.random(n) * 3 + 0.5 * woman).astype(int), 2)
    out: dict[str, Any] = {
        "id": np.arange(n) * 11 + 5,
        "person": third * n + rng.integers(0, n // 12, n),
        "gender": np.where(woman, "w", "m"),
        "gender_said": np.where(woman ^ (rng.random(n) < 0.1), "w", "m"),
        "age": ages[age],
        "age_said": ages[np.where(rng.random(n) < 0.2, (age + 1) % 3, age)],
        "job": jobs[job],
        "job_said": jobs[np.where(rng.random(n) < 0.1, np.where(woman, 2, 1), job)],
    }
    for k in range(3):
        truth = rng.random(n) < 0.2 + 0.1 * k + 0.15 * woman
        out[f"t{k}"] = truth.astype(np.int64)
        out[f"p{k}"] = np.where(rng.random(n) < 0.1, woman, truth).astype(np.int64)
    return out


def canonical(audit: Any) -> bytes:
    """The document as bytes, keys in order, without what may differ."""
    held = {key: value for key, value in audit.to_dict().items() if key not in LEFT_OUT}
    return json.dumps(held, sort_keys=True, allow_nan=False).encode()


def documents(
    tmp_path: Path,
    engines: Sequence[str] = ("memory", "local", "parts"),
    *,
    roles: str = "labels",
    cluster: bool = False,
    resamples: int = 200,
    dask_client: Any = None,
    spark: Any = None,
) -> dict[str, bytes]:
    """The canonical JSON of one audit by each way.

    Parameters
    ----------
    tmp_path : Path
        Where files are written.
    engines : sequence of {"memory", "local", "dask", "spark", "parts"}
        Which ways: records in memory and files that are small enough for it, files counted on threads, on a Dask and a
        Spark cluster, and sums of counts of three parts.
    roles : {"labels", "values"}
        Yes/no labels of several columns, or one variable of several values.
    cluster : bool
        Whether records come in clusters.
    resamples : int
    dask_client, spark : optional
        A running cluster's client and session; otherwise ``engine="dask"`` and ``engine="spark"`` start their own.
    """
    data = records()
    arguments = {**ROLES[roles], **({"cluster": "person"} if cluster else {})}
    settings = {"metrics": METRICS, "resamples": resamples}
    files = written(Path(tmp_path), data)
    out: dict[str, bytes] = {}

    def audit(name: str, held: Any, **more: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out[name] = canonical(biasamp.audit(held, **arguments, **settings, **more))

    if "memory" in engines:
        import pandas as pd
        import polars as pl

        audit("mapping", data)
        audit("pandas", pd.DataFrame(data))
        audit("polars", pl.DataFrame(data))
        for name, path in files.items():
            audit(name, path)
    if "local" in engines:
        for name, path in files.items():
            audit(f"{name}, 1 thread", path, engine="local", threads=1)
        audit("mapping, counted", data, engine="local", threads=1)
        audit("folder, 2 threads", files["folder"], engine="local", threads=2)
        audit("folder, little memory", files["folder"], engine="local", threads=2, memory="300MB")
        for most in (997, 4096):
            with batches(most):
                audit(f"folder, batches of {most}", files["folder"], engine="local", threads=2)
                audit(f"CSV file, batches of {most}", files["CSV file"], engine="local", threads=1)
    if "dask" in engines:
        audit("folder, Dask", files["folder"], engine=dask_client if dask_client is not None else "dask", threads=2)
    if "spark" in engines:
        audit("folder, Spark", files["folder"], engine=spark if spark is not None else "spark")
    if "parts" in engines:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            thirds = [{name: values[i * N // 3 : (i + 1) * N // 3] for name, values in data.items()} for i in range(3)]
            first = biasamp.count(thirds[0], **arguments)
            rest = [biasamp.count(third, **arguments, labels=first) for third in thirds[1:]]
            out["three parts"] = canonical(biasamp.audit(first + rest[0] + rest[1], **settings))
            out["three parts, last first"] = canonical(biasamp.audit(rest[1] + (rest[0] + first), **settings))
            saved = Path(tmp_path) / "counts.parquet"
            (first + rest[0] + rest[1]).save(saved)
            out["three parts, saved"] = canonical(biasamp.audit(saved, **settings))
    return out


@contextlib.contextmanager
def batches(most: int) -> Iterator[None]:
    """Batches of at most so many rows, as a small budget would make them; the place of the limit may move."""
    modules = [
        held for name, held in sys.modules.items() if name.startswith("biasamp.") and hasattr(held, "_MOST_ROWS")
    ]
    assert modules, "no module of the engines says how many rows a batch has: name its new place here"
    before = [module._MOST_ROWS for module in modules]
    for module in modules:
        module._MOST_ROWS = most
    try:
        yield
    finally:
        for module, value in zip(modules, before, strict=True):
            module._MOST_ROWS = value


def written(folder: Path, data: dict[str, Any]) -> dict[str, Path]:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import csv

    table = pa.table(data)
    out = {"Parquet file": folder / "all.parquet", "CSV file": folder / "all.csv", "folder": folder / "three"}
    pq.write_table(table, out["Parquet file"], row_group_size=1500)
    csv.write_csv(table, out["CSV file"])
    out["folder"].mkdir(exist_ok=True)
    for i in range(3):
        first = i * N // 3
        pq.write_table(table.slice(first, N // 3), out["folder"] / f"{i}.parquet", row_group_size=700)
    return out


def first_difference(one: Any, two: Any, path: str = "") -> str | None:
    """Where two documents first differ, and how; None where they do not."""
    if isinstance(one, dict) and isinstance(two, dict):
        for key in [*one, *(key for key in two if key not in one)]:
            if key not in one or key not in two:
                return f"{path}.{key}: only in {'the first' if key in one else 'the second'}"
            found = first_difference(one[key], two[key], f"{path}.{key}")
            if found:
                return found
        return None
    if isinstance(one, list) and isinstance(two, list):
        if len(one) != len(two):
            return f"{path}: {len(one)} items and {len(two)}"
        pairs = enumerate(zip(one, two, strict=True))
        return next((found for i, (a, b) in pairs if (found := first_difference(a, b, f"{path}[{i}]"))), None)
    return None if type(one) is type(two) and one == two else f"{path}: {one!r} and {two!r}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", default="memory,local,parts", help=f"comma separated, of {', '.join(ENGINES)}")
    given = parser.parse_args()
    differing = 0
    for roles in ROLES:
        for cluster in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                made = documents(Path(folder), given.engines.split(","), roles=roles, cluster=cluster)
            print(f"\n{roles}, {'in clusters' if cluster else 'without clusters'}:")
            (first, expected), *others = made.items()
            print(f"  {first}: {len(expected):,} bytes")
            kinds = {expected: first}
            for name, document in others:
                if document in kinds:
                    print(f"  {name}: as {kinds[document]}")
                    continue
                differing += 1
                print(f"  {name}: differs: {first_difference(json.loads(expected), json.loads(document))}")
                kinds[document] = name
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
