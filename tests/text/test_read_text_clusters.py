"""Texts on clusters: the labels of files and of dataframes that are there already, counted as in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from extras import needs

WHO = {"woman": ["woman", "lady"], "man": ["man"]}
WHAT = ["dog", "hot dog", "surfboard"]
CAPTIONS = [
    "A woman walks two dogs.",
    "A man on a surfboard",
    "A lady eats a hot dog, a man's dog watches",
    "People at the beach",
    "the man-made lake",
    "Two women, one surfboard",
]
RECORDS = 4000


@pytest.fixture(scope="module")
def texts() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    held = [CAPTIONS[i] for i in rng.choice(6, RECORDS, p=[0.3, 0.25, 0.15, 0.1, 0.1, 0.1])]
    return {"id": np.arange(RECORDS), "caption": held}


@pytest.fixture(scope="module")
def folder(texts: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    pa, pq = needs("pyarrow"), needs("pyarrow.parquet")
    out = tmp_path_factory.mktemp("captions")
    whole = pa.table(texts)
    for number in range(3):
        pq.write_table(whole.slice(number * 1500, 1500), out / f"{number}.parquet", row_group_size=400)
    return out


def joint(found: Any) -> dict[Any, Any]:
    return dict(zip(found.labels, found.joint.tolist(), strict=True))


def by_hand(texts: dict[str, Any], word: str, *names: str) -> int:
    """Captions that have the word and one of the names, by their numbers above."""
    there = {"dogs": {0, 2}, "hot dog": {2}, "surfboard": {1, 5}, "woman": {0, 2, 5}, "man": {1, 2}}
    wanted = there[word] & set().union(*(there[name] for name in names))
    return sum(CAPTIONS.index(text) in wanted for text in texts["caption"])


@pytest.mark.parametrize("engine", ["dask", "spark"])
def test_files_are_counted_on_the_cluster_as_in_memory(
    engine: str, folder: Path, texts: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    running = request.getfixturevalue("dask_client" if engine == "dask" else "spark")
    read = biasamp.read_text(folder, WHO, WHAT, text="caption", record="id")
    whole = biasamp.associate(biasamp.read_text(texts["caption"], WHO, WHAT))
    found = biasamp.associate(read, engine=running)
    assert joint(found) == joint(whole)
    assert joint(found)["surfboard"][0] == by_hand(texts, "surfboard", "woman")
    assert joint(found)["dog"][1] == by_hand(texts, "dogs", "man")
    tally = read.counted(engine=running)
    assert tally == read.counted(threads=1)


@pytest.mark.parametrize("engine", ["dask", "spark"])
def test_dataframes_stay_on_their_cluster(engine: str, texts: dict[str, Any], request: pytest.FixtureRequest) -> None:
    if engine == "dask":
        request.getfixturevalue("dask_client")
        there: Any = needs("dask.dataframe").from_pandas(needs("pandas").DataFrame(texts), npartitions=3)
    else:
        rows = list(zip(texts["id"].tolist(), texts["caption"], strict=True))
        there = request.getfixturevalue("spark").createDataFrame(rows, "id long, caption string")
    read = biasamp.read_text(there, WHO, WHAT, text="caption", record="id")
    found = biasamp.associate(read)
    assert joint(found) == joint(biasamp.associate(biasamp.read_text(texts["caption"], WHO, WHAT)))
    with pytest.raises(ValueError, match="on a cluster"):
        _ = read.table
