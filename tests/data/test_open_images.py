from __future__ import annotations

import gzip

import pyarrow as pa
import pytest

import biasamp
from biasamp.data.open_images import class_names, miap_presentation
from table_files import write

CLASSES = '/m/man,Man\n/m/woman,Woman\n/m/bike,"Bicycle, two-wheeled"\n/m/hat,Hat\n/m/hat2,Hat\n'
HEAD = "ImageID,Source,LabelName,Confidence\n"
HUMAN = HEAD + (
    "000a,verification,/m/man,1\n"
    "000a,verification,/m/woman,0\n"
    "000a,crowdsource-verification,/m/bike,1\n"
    "000b,verification,/m/woman,1\n"
    "000b,verification,/m/hat,0\n"
    "000c,verification,/m/hat,0\n"
)
MACHINE = HEAD + "000a,machine,/m/hat,0.9\n000b,machine,/m/hat2,0.4\n000d,machine,/m/man,0.7\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "human.csv").write_text(HUMAN)
    with gzip.open(tmp_path / "machine.csv.gz", "wt") as file:
        file.write(MACHINE)
    (tmp_path / "classes.csv").write_text(CLASSES)
    return tmp_path


def counts(result):
    return {
        label: (int(count), *map(int, joint))
        for label, count, joint in zip(result.labels, result.count, result.joint, strict=True)
    }


def test_people_say_no_and_the_image_still_counts(folder):
    source = biasamp.read_open_images(folder / "human.csv", classes=folder / "classes.csv")
    result = biasamp.associate(source, ["Man", "Woman"])
    assert result.n == 3, "an image with nothing but negatives is an image"
    assert counts(result) == {"/m/man": (1, 1, 0), "/m/woman": (1, 0, 1), "/m/bike": (1, 1, 0)}
    assert dict(zip(result.labels, result.names, strict=True))["/m/bike"] == "Bicycle, two-wheeled"
    assert any(note.startswith("3 rows left out: verified negatives") for note in result.notes)


def test_folders_sources_and_thresholds(folder):
    everything = biasamp.associate(biasamp.read_open_images(folder), {"man": "/m/man", "woman": "/m/woman"})
    assert everything.n == 4
    assert counts(everything)["/m/hat2"] == (1, 0, 1)
    sure = biasamp.read_open_images(folder, classes=folder / "classes.csv", threshold=0.5)
    result = biasamp.associate(sure, ["Man", "Woman"])
    assert "/m/hat2" not in result.labels
    assert counts(result)["/m/hat"] == (1, 1, 0)
    assert any("1 rows left out: machine labels of confidence below 0.5" in note for note in result.notes)
    machine = biasamp.associate(biasamp.read_open_images(folder, sources="machine"), ["/m/man"])
    assert (machine.n, set(machine.labels)) == (4, {"/m/hat", "/m/hat2", "/m/man"})
    human = biasamp.associate(biasamp.read_open_images(folder, sources="human"), ["/m/man"])
    assert set(human.labels) == {"/m/man", "/m/woman", "/m/bike"}


def test_names_that_two_classes_share_need_their_mid(folder):
    source = biasamp.read_open_images(folder, classes=folder / "classes.csv")
    with pytest.raises(ValueError, match=r"2 labels are named 'Hat'.*/m/hat, /m/hat2"):
        biasamp.associate(source, ["Hat", "Man"])
    with pytest.raises(ValueError, match=r"'Wman'.*did you mean 'Woman'"):
        biasamp.associate(source, ["Man", "Wman"])


def test_miap_boxes_become_labels_of_images(folder):
    (folder / "miap.csv").write_text(
        "ImageID,LabelName,GenderPresentation,AgePresentation\n"
        "000a,/m/01g317,Predominantly Masculine,Middle\n"
        "000a,/m/01g317,Predominantly Feminine,Young\n"
        "000a,/m/01g317,Predominantly Feminine,Middle\n"
        "000b,/m/01g317,Predominantly Feminine,Unknown\n"
        "000c,/m/01g317,Unknown,Unknown\n"
    )
    found = miap_presentation(folder / "miap.csv", "gender and age")
    assert set(found["000a"]) == {
        "gender: Predominantly Masculine",
        "gender: Predominantly Feminine",
        "age: Middle",
        "age: Young",
    }
    assert found["000c"] == ()
    source = biasamp.read_open_images(folder / "human.csv", miap=folder / "miap.csv")
    identities = {"feminine": "gender: Predominantly Feminine", "masculine": "gender: Predominantly Masculine"}
    result = biasamp.associate(source, identities)
    assert result.overlap.tolist() == [[2, 1], [1, 1]]
    assert counts(result)["/m/bike"] == (1, 1, 1)
    assert counts(result)["/m/woman"] == (1, 1, 0)


def test_class_files_with_headers_and_errors(tmp_path):
    (tmp_path / "v6.csv").write_text("LabelName,DisplayName\n/m/a,Ape\n")
    assert class_names(tmp_path / "v6.csv") == {"/m/a": "Ape"}
    (tmp_path / "bad.csv").write_text("/m/a,Ape,extra\n")
    with pytest.raises(ValueError, match=r"line 1 .* 3 fields"):
        class_names(tmp_path / "bad.csv")


def test_other_files_are_named(folder):
    with pytest.raises(ValueError, match="'ImageID'"):
        biasamp.read_open_images(folder / "classes.csv")
    with pytest.raises(ValueError, match="'robots'"):
        biasamp.read_open_images(folder, sources="robots")
    with pytest.raises(ValueError, match="0 to 1"):
        biasamp.read_open_images(folder, threshold=70)


@pytest.mark.parametrize(
    "kind", ["csv", "tsv", "parquet", "feather", "arrow", "jsonl", "csv.gz", "jsonl.gz", "parquet.gz"]
)
def test_labels_and_boxes_are_read_from_every_format(tmp_path, kind):
    """Image ids and labels are text, whatever they look like."""
    rows = [line.split(",") for line in (HUMAN + MACHINE.removeprefix(HEAD)).splitlines()]
    columns = {name: [row[i] for row in rows[1:]] for i, name in enumerate(rows[0])}
    columns["Confidence"] = [float(value) for value in columns["Confidence"]]
    labels = write(pa.table(columns), tmp_path / f"labels.{kind}")
    boxes = {"ImageID": ["000a", "000b"], "GenderPresentation": ["Predominantly Masculine", "Predominantly Feminine"]}
    miap = write(pa.table(boxes), tmp_path / f"miap.{kind}")
    source = biasamp.read_open_images(labels, threshold=0.5, miap=miap)
    result = biasamp.associate(source, {"man": "/m/man", "woman": "/m/woman"})
    assert result.n == 4
    assert counts(result) == {
        "/m/bike": (1, 1, 0),
        "/m/hat": (1, 1, 0),
        "/m/man": (2, 2, 0),
        "/m/woman": (1, 0, 1),
        "gender: Predominantly Feminine": (1, 0, 1),
        "gender: Predominantly Masculine": (1, 1, 0),
    }
