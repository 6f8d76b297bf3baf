"""The recipe "add an engine" of docs/architecture.md: an engine that counts one part after another gives the same audit."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import biasamp
from biasamp.engines.engine import Engine


def travelled(item: Any) -> Any:
    """What a part or a kernel is after it went to another process."""
    return pickle.loads(pickle.dumps(item))


class OneByOne(Engine):
    """Counts part after part, each as another process would get it; rows of one key come together in memory."""

    name = "one by one"
    batch_rows = 1000
    memory = 1 << 30

    def map(self, kernel: Callable[[Any], Any], parts: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        return ((number, travelled(kernel)(travelled(part))) for number, part in enumerate(parts))

    def reduce(self, kernel: Callable[[Any], Any], parts: Sequence[Any], merge: Callable[[Any, Any], Any]) -> Any:
        return reduce(merge, (result for _, result in self.map(kernel, parts)))

    def regroup(
        self,
        spread: Callable[[Any], Iterator[Any]],
        parts: Sequence[Any],
        kernel: Callable[[Iterable[Any]], Any],
        merge: Callable[[Any, Any], Any],
    ) -> Any:
        rows = pa.Table.from_batches([batch for part in parts for batch in spread(part)]).sort_by("key")
        return kernel(rows.to_batches())


def test_an_engine_of_ones_own_gives_the_same_results(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n = 5000
    truth = rng.integers(0, 2, n)
    records = {
        "id": np.arange(n),
        "gender": rng.choice(["man", "woman"], n).tolist(),
        "hired": truth,
        "predicted": np.where(rng.random(n) < 0.2, 1 - truth, truth),
    }
    pq.write_table(pa.table(records), tmp_path / "people.parquet", row_group_size=700)
    roles = {"attributes": "gender", "tasks": "hired", "task_predictions": "predicted", "record": "id"}
    mine = biasamp.audit(tmp_path / "people.parquet", **roles, engine=OneByOne(), resamples=100)
    theirs = biasamp.audit(records, **roles, resamples=100)
    assert mine.document["provenance"]["engine"] == "OneByOne"
    assert {**mine.document, "provenance": None} == {**theirs.document, "provenance": None}
    held = [(image, str(label)) for image in range(800) for label in rng.choice(9, 3, replace=False)]
    order = rng.permutation(len(held))
    rows = pa.table({"image": [held[i][0] for i in order], "label": [held[i][1] for i in order]})
    pq.write_table(rows, tmp_path / "labels.parquet", row_group_size=500)
    options = {"identities": ["0", "1"], "label": "label", "record": "image"}
    shuffled = biasamp.associate(tmp_path / "labels.parquet", **options, engine=OneByOne())
    expected = biasamp.associate(tmp_path / "labels.parquet", **options, engine="local")
    assert shuffled.to_dict()["labels"] == expected.to_dict()["labels"]
