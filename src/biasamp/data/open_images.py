"""Open Images: image-level labels, class descriptions and the MIAP person boxes."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from .arrow_numbers import arrow_of, null_mask, numpy_of
from .columns import check_columns
from .files import file_schema, list_files
from .label_source import Batch, LabelSource
from .parts import split
from .plain_arguments import listed, number, one_of, path_of, text_or_none

# An image called 007 is not image 7.
_LABEL_COLUMNS = {"ImageID": pa.string(), "Source": pa.string(), "LabelName": pa.string(), "Confidence": pa.float64()}
_MACHINE = "machine"
# People say yes or no; whatever stands between (crowd-sourced votes in early releases) is not a yes.
_VERIFIED = 1.0
_MIAP_IMAGE = "ImageID"
_MIAP_PRESENTATION = {"gender": "GenderPresentation", "age": "AgePresentation"}
_MIAP_UNSAID = ("Unknown", "", None)


def read_open_images(
    path: Any,
    *,
    classes: str | Path | None = None,
    sources: str = "all",
    threshold: float | None = None,
    miap: str | Path | None = None,
    presentation: str = "gender",
) -> LabelSource:
    """Open Images label files as label sets, one per image.

    Parameters
    ----------
    path : path, folder or list of paths
        Files of any format with the columns ImageID, Source, LabelName and Confidence, gzipped or not. A folder is
        searched for such files; others in it are left alone.
    classes : path, optional
        The class-description file (``/m/0dzct,Human face``), with or without a header. Labels are distinguished by
        their MID and shown by their name; two MIDs may share a name.
    sources : {"all", "machine", "human"}
        Whose labels to read. Source ``machine`` is the classifier, every other source are people.
    threshold : float, optional
        Least confidence of machine labels. Labels from people are kept when verified as present (Confidence
        1), and dropped as negatives otherwise.
    miap : path, optional
        A file of MIAP person boxes; the presentation of the people in each image is added to its labels as
        ``gender: Predominantly Feminine`` and so on. Images that MIAP does not cover gain no such label, so
        read them together only where MIAP covers the images.
    presentation : {"gender", "age", "gender and age"}
        What to take from MIAP: gender presentation, age presentation, or both.

    Returns
    -------
    LabelSource
        For :func:`biasamp.associate`. Its notes say how many verified negatives, and how many labels below the
        threshold, were left out.

    References
    ----------
    A. Kuznetsova et al., "The Open Images Dataset V4", IJCV 2020.
    C. Schumann et al., "A Step Toward More Inclusive People Annotations for Fairness", AIES 2021.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import biasamp
    >>> labels = Path(tempfile.mkdtemp(), "labels.csv")
    >>> rows = ["ImageID,Source,LabelName,Confidence", "1,human,Man,1", "1,human,Car,1", "2,human,Woman,1", "2,human,Car,0"]
    >>> _ = labels.write_text("\\n".join(rows))
    >>> result = biasamp.associate(biasamp.read_open_images(labels), ["Man", "Woman"])
    >>> result.n, result.labels
    (2, ('Car', 'Man', 'Woman'))
    """
    one_of(sources, "sources", ("all", "machine", "human"))
    if threshold is not None:
        number(threshold, "threshold", least=0.0, most=1.0)
    text_or_none(presentation, "presentation")
    files = _label_files(path)
    names = {} if classes is None else class_names(classes)
    people = {} if miap is None else miap_presentation(miap, presentation)
    left_out: Counter[str] = Counter()

    def batches() -> Iterator[Batch]:
        left_out.clear()
        for file in files:
            for batch in _file_batches(file, _LABEL_COLUMNS, ("LabelName", "Source")):
                yield _kept(batch, sources, threshold, left_out)
        if people:
            rows = [(image, label) for image, labels in people.items() for label in labels or (None,)]
            record, label = (pa.array(column, pa.string()) for column in zip(*rows, strict=True))
            yield Batch(record, label, None)

    def notes() -> tuple[str, ...]:
        reasons = {
            "negative": "verified negatives (Confidence below 1 from people)",
            "machine": "machine labels, which sources='human' leaves out",
            "human": "labels from people, which sources='machine' leaves out",
            "below": f"machine labels of confidence below {threshold}",
        }
        return tuple(f"{count} rows left out: {reasons[why]}" for why, count in sorted(left_out.items()) if count)

    shown = {**names, **{label: label for labels in people.values() for label in labels}}
    return LabelSource("long", batches, names=shown, origin=f"Open Images, {len(files)} files", notes=notes)


def _label_files(path: Any) -> list[Path]:
    if not isinstance(path, (str, Path)):
        items = listed(path, "path", "paths")
        if not items:
            raise ValueError("path is an empty list of files")
        return [file for item in items for file in _label_files(item if isinstance(item, Path) else path_of(item))]
    files = list_files(path)
    if not Path(path).is_dir():
        check_columns(list(_LABEL_COLUMNS), file_schema(files[0]).names, files[0].name)
        return files
    found = [file for file in files if set(_LABEL_COLUMNS) <= set(file_schema(file).names)]
    if not found:
        raise ValueError(f"path: the folder {str(path)!r} holds no file with the columns {', '.join(_LABEL_COLUMNS)}")
    return found


def _kept(batch: Any, sources: str, threshold: float | None, left_out: Counter[str]) -> Batch:
    """The labels of a batch that count; a row left out still says that its image exists."""
    record, source, label, confidence = batch.columns
    # Not every format gives codes.
    source, label = (c if pa.types.is_dictionary(c.type) else c.dictionary_encode() for c in (source, label))
    is_machine = np.array([word == _MACHINE for word in source.dictionary.to_pylist()] + [False])
    machine = is_machine[numpy_of(source.indices.cast("int64"), -1)]
    try:
        score = numpy_of(confidence.cast(pa.float64()), np.nan)
    except pa.ArrowInvalid:
        raise ValueError("the column Confidence holds text that is no number") from None
    reasons = {"human": ~machine} if sources == "machine" else {"negative": ~machine & ~(score >= _VERIFIED)}
    if sources == "human":
        reasons["machine"] = machine
    elif threshold is not None:
        reasons["below"] = machine & ~(score >= threshold)
    left_out.update({why: int(rows.sum()) for why, rows in reasons.items()})
    drop = np.logical_or.reduce(list(reasons.values()))
    if drop.any():
        codes = numpy_of(label.indices, 0)
        gone = drop | null_mask(label)
        label = pa.DictionaryArray.from_arrays(arrow_of(codes, gone), label.dictionary)
    return Batch(record, label, None)


def _file_batches(path: Path, columns: Mapping[str, Any], categories: Sequence[str] = ()) -> Iterator[Any]:
    """Batches of the columns in their order; text stays text, whatever it looks like."""
    for part in split([path], list(columns), types=columns, blank=False, counted=False):
        yield from part.batches(categories=categories)


def class_names(path: str | Path) -> dict[str, str]:
    """The names of the classes by MID, from a class-description file.

    Names may hold quoted commas, and two MIDs may share a name.
    """
    path_of(path, "classes")
    names: dict[str, str] = {}
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
        for number, row in enumerate(csv.reader(file), start=1):
            if len(row) not in (0, 2):
                raise ValueError(
                    f"classes: line {number} of {str(path)!r} has {len(row)} fields; a MID and a name are needed"
                )
            if row and (number > 1 or row[0] != "LabelName"):
                names[row[0]] = row[1]
    if not names:
        raise ValueError(f"classes: the file {str(path)!r} names no class")
    return names


def miap_presentation(path: str | Path, presentation: str = "gender") -> dict[str, tuple[str, ...]]:
    """Which presentations the people of each image have, from MIAP boxes.

    Every image of the file is there, also those whose boxes say only ``Unknown``, which give no label.
    """
    path_of(path, "miap")
    wanted = [part.strip() for part in str(text_or_none(presentation, "presentation")).split("and")]
    if not wanted or any(part not in _MIAP_PRESENTATION for part in wanted):
        raise ValueError(f"presentation is {presentation!r}; 'gender', 'age' or 'gender and age' are accepted")
    columns = [_MIAP_IMAGE, *(_MIAP_PRESENTATION[part] for part in wanted)]
    images: dict[str, dict[str, None]] = {}
    for batch in _file_batches(Path(path), dict.fromkeys(columns, pa.string())):
        for image, *values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            labels = images.setdefault(image, {})
            said = [(part, value) for part, value in zip(wanted, values, strict=True) if value not in _MIAP_UNSAID]
            labels.update({f"{part}: {value}": None for part, value in said})
    return {image: tuple(labels) for image, labels in images.items()}
