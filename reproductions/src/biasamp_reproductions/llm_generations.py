"""A language model trained on its own output: does it drift to the right, and do mitigations stop that? From released scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import biasamp

from .chart import Chart
from .experiment import Experiment, Setting
from .outcome import REAL, Outcome
from .papers import LLM
from .rows import Row, claimed, measured

FILE = "llm_generations_leaning.parquet"
# Trained on its own output alone; and with some of the first articles kept, or all generations together.
SYNTHETIC, MITIGATIONS = "synthetic", ("preservation", "accumulation")
CONDITIONS = (SYNTHETIC, *MITIGATIONS)
LEANING = "right"
# The abstract changed between versions: arXiv 2410.15234, version 1, then 2 and 3.
FIRST = "preservation and accumulation mitigate bias amplification (abstract, version 1)"
LATER = "it persists even when model collapse is mitigated (abstract, versions 2 and 3)"
NOT_HERE = "of three mitigations the file has two; overfitting is not in it, and which of them is meant is not told: no verdict"


def counted(columns: dict[str, Any]) -> dict[str, Any]:
    """Counts of leanings by condition, a step for each generation, paired by article."""
    steps = {}
    for generation in sorted(set(columns["generation"])):
        rows = [i for i, value in enumerate(columns["generation"]) if value == generation]
        rows.sort(key=lambda i: (columns["condition"][i], columns["article"][i]))
        said = {
            "id": [f"{columns['condition'][i]} {columns['article'][i]}" for i in rows],
            "says": [[columns["condition"][i], columns["leaning"][i]] for i in rows],
        }
        steps[str(generation)] = biasamp.count(
            said, identities=list(CONDITIONS), label="says", record="id", pairable=True
        )
    return steps


def _rows(found: Any) -> Iterator[Row]:
    trends = {row["attribute"]: row for row in found.trends.rows()}
    for condition in CONDITIONS:
        trend = trends[condition]
        interval = (float(trend["low"]), float(trend["high"]))
        what = f"{condition}: slope of the share of {LEANING}-leaning articles a generation"
        if condition == SYNTHETIC:
            yield measured(what, float(trend["slope"]), interval=interval, note="paired by article")
            continue
        yield measured(
            what, float(trend["slope"]), published=LATER, interval=interval, note=f"paired by article; {NOT_HERE}"
        )
        yield claimed(
            f"{condition}: its slope less that of {SYNTHETIC}",
            FIRST,
            float(trend["slope"]) - float(trends[SYNTHETIC]["slope"]),
            interval[1] < float(trends[SYNTHETIC]["low"]),
            test=f"the interval of its slope lies below that of {SYNTHETIC}",
            claim=FIRST,
        )
    for row in found.table.rows():
        what = f"{row['attribute']}, generation {row['step']}: share of {LEANING}-leaning articles"
        yield measured(what, float(row["value"]), interval=(float(row["low"]), float(row["high"])))


def run(setting: Setting) -> Outcome:
    """Run it."""
    columns = setting.columns(FILE, ("condition", "article", "generation", "leaning"))
    found = biasamp.trajectory(counted(columns), labels=LEANING)
    rows = tuple(_rows(found))
    held = {row.what: row for row in rows}
    slopes = {
        name: held[f"{name}: slope of the share of {LEANING}-leaning articles a generation"] for name in CONDITIONS
    }
    fall = [name for name in MITIGATIONS if (slopes[name].interval or (0.0, 0.0))[1] < 0]
    lines: dict[str, list[tuple[float, float]]] = {name: [] for name in CONDITIONS}
    bounds: dict[str, list[tuple[float, float]]] = {name: [] for name in CONDITIONS}
    for row in found.table.rows():
        lines[row["attribute"]].append((float(row["step"]), float(row["value"])))
        bounds[row["attribute"]].append((float(row["low"]), float(row["high"])))
    chart = Chart(f"Share of {LEANING}-leaning articles by generation", "generation", "share", lines, bounds)
    low, high = slopes[SYNTHETIC].interval or (0.0, 0.0)
    says = (
        f"Trained on its own output alone, the model's share of {LEANING}-leaning articles moves by {float(slopes[SYNTHETIC].ours):+.4f} a "
        f"generation (95% {low:+.4f} to {high:+.4f}).",
        f"With {' and with '.join(MITIGATIONS)} it moves by "
        f"{' and '.join(f'{float(slopes[name].ours):+.4f}' for name in MITIGATIONS)}: in the released scores {len(fall)} of "
        f"{len(MITIGATIONS)} reverse the drift.",
        "The abstract's first version says that both mitigate the amplification, which holds; later versions say that it persists even when model "
        "collapse is mitigated, which these scores do not show for either; a third mitigation, overfitting, is not in the file.",
    )
    choices = (
        "An article's leaning is the highest of three released scores; how sure the scorer was is not in the file.",
        "Trends are straight lines through the generations, whose articles are the same.",
    )
    articles = len(set(columns["article"]))
    generations = len(set(columns["generation"]))
    source = f"{FILE}, {articles:,} articles, {generations} generations, {len(CONDITIONS)} ways of training"
    return Outcome(REAL, source, rows, (chart,), says=says, choices=choices)


EXPERIMENT = Experiment(
    "llm-generations",
    "Generations of a language model trained on its own output: drift, and what mitigations do to it",
    "Bias Amplification: Large Language Models as Increasingly Biased Media, released scores",
    run,
    files=(FILE,),
    paper=LLM,
)
