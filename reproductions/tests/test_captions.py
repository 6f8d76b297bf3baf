"""The experiment on captions of which everything is known."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from biasamp_reproductions import Setting, experiments
from biasamp_reproductions.captions import CAPTIONS, FILES, LABELS, MODELS, OBJECTS, read

NAMES = ["person", "cat", "dog", "hot_dog", "couch", "knife", "umbrella", "tie", "bench", "dining_table"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """120 images: dogs with men, cats with women. Equalizer names a gender half as often, and each image's animal."""
    images = range(120)
    man = [i % 2 == 0 for i in images]
    dog = [m if i % 3 else not m for i, m in zip(images, man, strict=True)]
    csv.write_csv(pa.table({"object": NAMES}), tmp_path / OBJECTS)
    for file, kept in zip(LABELS, (range(60), range(60, 120)), strict=True):
        table = {
            "image_id": list(kept),
            "gender": ["man" if man[i] else "woman" for i in kept],
            "objects": [["dog" if dog[i] else "cat"] for i in kept],
        }
        parquet.write_table(pa.table(table), tmp_path / file)
    right = [f"a {'man' if man[i] else 'woman'} and a {'dog' if dog[i] else 'cat'}" for i in images]
    # Everybody with a dog is seen as a man: T→A amplification, and no error in the objects.
    biased = [f"a {'man' if dog[i] else 'woman'} and a {'dog' if dog[i] else 'cat'}" for i in images]
    vague = [right[i] if i % 4 < 2 else right[i].replace("woman", "person").replace("man", "person") for i in images]
    table = {"image_id": list(images), **dict.fromkeys(MODELS, right)}
    parquet.write_table(pa.table({**table, "baseline_ft": biased, "equalizer": vague}), tmp_path / CAPTIONS)
    return tmp_path


def test_common_images_are_those_all_models_give_a_gender_for(folder: Path) -> None:
    data = read(Setting(folder=folder))
    assert data.common.tolist() == [i % 4 < 2 for i in range(120)]


@pytest.mark.slow
def test_known_captions(folder: Path) -> None:
    outcome = experiments()["captions"].run(Setting(folder=folder))
    assert outcome.first_line.startswith("Real files")
    assert "60 images" in outcome.source
    found = {row.what: row for row in outcome.rows}
    # 60 common images of which 40 go with the animal of their gender: T→A moves each rate from 2/3 to 1.
    assert found["baseline_ft: T→A"].ours == pytest.approx(1 / 3)
    assert found["equalizer: T→A"].ours == 0
    # Equalizer makes no error here, so errors drawn at its rates make none either.
    assert next(row.ours for what, row in found.items() if what.startswith("equalizer: T→A of errors")) == 0
    # A third of each gender is wrong; without regard to objects that moves each rate from 2/3 to 5/9 on average.
    drawn = next(row for what, row in found.items() if what.startswith("baseline_ft: T→A of errors"))
    assert drawn.ours == pytest.approx(5 / 9 - 2 / 3, abs=0.06)
    assert found["baseline_ft: share of men among common images, by the captions"].ours == 0.5
    assert found["equalizer less baseline_ft: T→A"].ours == pytest.approx(-1 / 3)
    assert found["equalizer less baseline_ft: A→T"].ours == 0
    # Two models with the same captions leak the same.
    assert found["upweight less baseline_ft: leakage amplification"].ours == 0
    assert found["upweight less baseline_ft: leakage amplification"].interval == (0, 0)
    charts = {chart.y: chart for chart in outcome.charts}
    assert [y for _, y in charts["T→A"].lines["T→A"]] == [found[f"{model}: T→A"].ours for model in MODELS]
    neutral_gap = found["equalizer less baseline_ft, gendered words replaced by 'person': A→T"]
    assert neutral_gap.ours == 0
    low, high = neutral_gap.interval
    # No caption was seen to differ, which is no certainty that none does.
    assert -0.1 < low < 0 < high < 0.1
    (replaced,) = (row for row in outcome.rows if row.what.startswith("equalizer, gendered words"))
    assert (replaced.ours, replaced.note) == (0, "0 captions still name a gender, so there is no T→A")


def test_it_lacks_its_files_and_runs_without() -> None:
    experiment = experiments()["captions"]
    assert experiment.lacking(Setting()) == list(FILES)
    assert experiment.blocked(Setting()) == ""


@pytest.mark.slow
def test_a_folder_without_one_of_the_files_is_no_real_data(folder: Path) -> None:
    (folder / OBJECTS).unlink()
    outcome = experiments()["captions"].run(Setting(folder=folder))
    assert outcome.first_line.startswith("Stand-in")
