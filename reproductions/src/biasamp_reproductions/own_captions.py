"""The captions experiment on one's own table: any caption columns, word lists and synonyms."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import biasamp

from .chart import Chart
from .experiment import Setting, columns_of
from .internals import plural
from .outcome import OWN, Outcome
from .rows import Row, interval_of, measured


@dataclass(frozen=True)
class Words:
    """Words that captions are read by.

    Attributes
    ----------
    groups : mapping of str to list of str
        The words of each group, such as ``{"woman": ["woman", "girl"], "man": ["man", "boy"]}``.
    objects : mapping of str to list of str
        Other words for each object; its own name counts, and so do plurals.
    """

    groups: Mapping[str, Sequence[str]]
    objects: Mapping[str, Sequence[str]]

    @classmethod
    def read(cls, path: Path) -> Words:
        """From a JSON file with ``groups`` and ``objects``."""
        document = json.loads(path.read_text(encoding="utf-8"))
        for part in ("groups", "objects"):
            held = document.get(part) if isinstance(document, dict) else None
            if not isinstance(held, dict) or not held or not all(isinstance(v, list) for v in held.values()):
                raise ValueError(f"{path.name} needs {part!r}: a name with a list of words for each")
        if len(document["groups"]) < 2:
            raise ValueError(f"{path.name}: two groups or more are needed, found {len(document['groups'])}")
        return cls(document["groups"], document["objects"])

    def group(self, caption: str) -> str | None:
        """The group that a caption names alone.

        >>> Words({"woman": ["woman"], "man": ["man"]}, {}).group("a man with a dog")
        'man'
        """
        text = caption.lower()
        found = [name for name, words in self.groups.items() if _pattern(words).search(text)]
        return found[0] if len(found) == 1 else None

    def named(self, caption: str) -> list[str]:
        """The objects that a caption names, the longest words first.

        >>> Words({}, {"hot dog": [], "dog": ["puppy"]}).named("two puppies near a hot dog")
        ['dog', 'hot dog']
        """
        owner = self._owners
        words = sorted(owner, key=len, reverse=True)
        found = re.findall(rf"\b(?:{'|'.join(map(re.escape, words))})\b", caption.lower()) if words else []
        return sorted({owner[word] for word in found})

    @property
    def _owners(self) -> dict[str, str]:
        out = {}
        for name, others in self.objects.items():
            for word in (name.replace("_", " "), *others):
                out[word.lower()] = out[plural(word.lower())] = name
        return out


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(re.escape(word.lower()) for word in words)})\b")


def _labels(value: Any) -> list[str]:
    """Objects of a record: a list, or words with bars between them."""
    if value is None:
        return []
    return [
        str(part).strip() for part in (value if isinstance(value, list) else str(value).split("|")) if str(part).strip()
    ]


def run_own(setting: Setting) -> Outcome:
    """A→T, T→A and MALS of every caption column, and differences from the first, on rows where all captions name one group."""
    path, words = Path(setting.own["captions"]), Words.read(Path(setting.own["words"]))
    models = [name.strip() for name in str(setting.own["models"]).split(",") if name.strip()]
    truth_column, objects_column = setting.own["group"], setting.own["objects"]
    columns = columns_of(path, (truth_column, objects_column, *models))
    said = {model: [words.group(str(text or "")) for text in columns[model]] for model in models}
    rows = [i for i in range(len(columns[truth_column])) if all(said[model][i] is not None for model in models)]
    if not rows:
        raise ValueError(f"in no row of {path.name} do all captions name one group of {', '.join(words.groups)} alone")
    truth = np.array([str(columns[truth_column][i]) for i in rows])
    unknown = sorted(set(truth) - set(words.groups))
    if unknown:
        raise ValueError(
            f"column {truth_column!r} has {unknown[0]!r}, which is no group of the word lists: {', '.join(words.groups)}"
        )
    known = set(words.objects)
    objects = [[name for name in _labels(columns[objects_column][i]) if name in known] for i in rows]
    dropped = sorted({name for i in rows for name in _labels(columns[objects_column][i])} - known)
    found = list(_measured(models, said, columns, rows, truth, objects, words))
    source = f"{path.name}, {len(rows):,} of {len(columns[truth_column]):,} rows, those in which all captions name one group alone"
    choices = (
        "Words of groups: " + "; ".join(f"{name}: {', '.join(held)}" for name, held in words.groups.items()),
        "Other words for objects: "
        + "; ".join(f"{name}: {', '.join(held)}" for name, held in words.objects.items() if held),
        f"Labels of {objects_column} that the word lists lack were left out: {', '.join(dropped) or 'none'}",
    )
    values = {row.what: row for row in found}
    charts = tuple(
        Chart(
            f"{name} by caption column, with 95% intervals",
            "captions",
            name,
            {name: [(float(i), float(values[f"{model}: {name}"].ours)) for i, model in enumerate(models)]},
            {name: [values[f"{model}: {name}"].interval or (np.nan, np.nan) for model in models]},
            models,
            joined=False,
        )
        for name in ("A→T", "T→A")
    )
    says = tuple(
        f"{name} is " + ", ".join(f"{float(values[model + ': ' + name].ours):+.4f} ({model})" for model in models) + "."
        for name in ("A→T", "T→A")
    )
    says = (*says, "The paper says nothing of these captions: no figure of its own is held against them.")
    return Outcome(OWN, source, tuple(found), charts, says=says, choices=choices)


def _measured(
    models: Sequence[str],
    said: Mapping[str, list[str | None]],
    columns: Mapping[str, Any],
    rows: Sequence[int],
    truth: Any,
    objects: list[list[str]],
    words: Words,
) -> Iterator[Row]:
    for model in models:
        group = np.array([said[model][i] for i in rows])
        named = [words.named(str(columns[model][i])) for i in rows]
        with warnings.catch_warnings():
            # Objects that captions alone name are told of by their count below.
            warnings.simplefilter("ignore", UserWarning)
            results = {
                "A→T": biasamp.directional(truth, objects, named),
                "T→A": biasamp.directional(objects, truth, group),
                "MALS": biasamp.mals(truth, objects, group, named),
            }
            for name, result in results.items():
                yield measured(f"{model}: {name}", result.value, interval=interval_of(result, resamples=200, seed=0))
        yield measured(f"{model}: share of rows with the right group", float((group == truth).mean()))
