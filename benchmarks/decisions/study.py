"""One pass over the cases: every interval and every sentence of the same audits."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np

from . import sentences
from .audited import Audited
from .cells import Coverage
from .intervals import checked
from .population import Case, leakage_of


@dataclass
class Study:
    """What the audits of one case gave."""

    case: Case
    coverage: dict[str, Coverage] = field(default_factory=lambda: defaultdict(Coverage))
    said: sentences.Tally = field(default_factory=sentences.Tally)


def study(case: Case, samples: int, seed: int | None = None) -> Study:
    """Audit samples of a case; hold its intervals and sentences against the population."""
    out, leaks = Study(case), leakage_of(case)
    learned: dict[str, list[tuple[float, float, float, bool]]] = defaultdict(list)
    # Every case has samples of its own.
    seed = crc32(case.name.encode()) if seed is None else seed
    for stream in np.random.SeedSequence(seed).spawn(samples):
        audited = Audited.of(case, np.random.default_rng(stream), leaks)
        sentences.add(out.said, audited)
        found: dict[tuple[str, bool], list[bool]] = defaultdict(list)
        for one in checked(audited):
            found[one.figure, one.cautioned].append(one.held)
        for (figure, cautioned), held in found.items():
            out.coverage[figure].add(held, cautioned)
        for entry in audited.document["metrics"]:
            if entry["metric"] in ("dpa", "leakage") and entry["interval"][0] is not None:
                name = f"{entry['metric']} {entry['direction'] or ''}".strip()
                learned[name].append((entry["value"], *entry["interval"], audited.warned(entry)))
    # What attackers learn from so few records is no figure of the population: its mean over samples is the truth.
    for name, rows in learned.items():
        mean = float(np.mean([value for value, *_ in rows]))
        for _, low, high, cautioned in rows:
            out.coverage[f"{name}, about its mean"].add([low <= mean <= high], cautioned)
    return out
