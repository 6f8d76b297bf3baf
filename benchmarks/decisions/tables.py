"""The tables of the suite, as they are printed."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from . import compared, gates, invented, sentences
from .cases import CASES
from .cells import MOST_MISSED, Coverage
from .study import Study, study

MARK = "**beyond its limit**"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _table(heads: Sequence[str], rows: Iterator[Sequence[str]]) -> int:
    """Print rows as they come; how many of them are marked."""
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
    marked = 0
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)
        marked += row[-1] == MARK
    return marked


def coverage_rows(studies: Sequence[Study]) -> Iterator[Sequence[str]]:
    """Of every figure, the cell that holds the truth least often among those without a caution; then the broken cells."""
    cells: dict[str, list[tuple[str, Coverage]]] = defaultdict(list)
    for made in studies:
        for figure, cell in made.coverage.items():
            cells[figure].append((made.case.name, cell))
    for figure, held in cells.items():
        silent = [(name, cell) for name, cell in held if len(cell.silent) >= 0.2 * len(cell.shares)]
        mean = _percent(float(np.mean([cell.share for _, cell in held])))
        if silent:
            name, worst = min(silent, key=lambda one: float(np.mean(one[1].silent)))
            lowest = _percent(float(np.mean(worst.silent)))
        else:
            name, lowest = "cautioned in all", ""
        cautioned = np.mean([1 - len(cell.silent) / len(cell.shares) for _, cell in held])
        mark = MARK if any(cell.broken for _, cell in held) else ""
        yield figure, str(len(held)), mean, lowest, name, f"{100 * cautioned:.0f}%", mark
    for figure, held in cells.items():
        for name, cell in held:
            if cell.broken:
                yield figure, "1", _percent(cell.share), _percent(float(np.mean(cell.silent))), name, "", MARK


def sentence_row(made: Study) -> Sequence[str]:
    said = made.said
    shown = ", ".join(f"{code} {_percent(many / said.audits)}" for code, many in said.false.most_common())
    return made.case.name, _percent(said.verdicts / said.audits), shown or "none", MARK if said.above() else ""


def audits(samples: int, only: str) -> int:
    """Intervals and sentences of the same audits."""
    chosen = [case for case in CASES if only in case.name or only in "intervals sentences"]
    if not chosen:
        return 0
    studies: list[Study] = []

    def rows() -> Iterator[Sequence[str]]:
        for case in chosen:
            studies.append(study(case, samples))
            yield sentence_row(studies[-1])

    print("\n### Sentences: audits with a false one\n")
    marked = _table(("case", "any verdict", "by kind", "note"), rows())
    print("\n### Intervals of an audit's document: how often they hold the truth\n")
    heads = ("figure", "cases", "mean", "least, where not cautioned", "case", "cautioned", "note")
    return marked + _table(heads, coverage_rows(studies))


def comparisons(samples: int, only: str) -> int:
    """Differences of two models."""
    chosen = [two for two in compared.cases() if only in two.name or only in "comparisons"]
    if not chosen:
        return 0

    def rows() -> Iterator[Sequence[str]]:
        for two in chosen:
            found = compared.study(two, samples)
            for metric, cell in found.coverage.items():
                false = found.false[metric]
                broken = cell.broken or sentences.beyond(false, found.samples, sentences.MOST_FALSE)
                share = _percent(false / found.samples)
                yield two.name, metric, _percent(cell.share), share, MARK if broken else ""

    print("\n### Differences of two models\n")
    return _table(("models", "metric", "covers", "false verdicts", "note"), rows())


def inventions(samples: int, only: str) -> int:
    """Labels that only the model has."""
    chosen = [case for case in invented.cases() if only in case.name]

    def rows() -> Iterator[Sequence[str]]:
        for case in chosen:
            cell, false = invented.study(case, samples)
            broken = cell.broken or sentences.beyond(false, samples, sentences.MOST_FALSE)
            yield case.name, _percent(cell.share), _percent(false / samples), MARK if broken else ""

    if not chosen:
        return 0
    print("\n### Invented labels\n")
    return _table(("case", "covers", "false sentences", "note"), rows())


def gate_tables(samples: int, only: str) -> int:
    """What ``check`` says."""
    marked = 0
    for make in gates.STUDIES:
        chosen = [gate for gate in make() if only in gate.name or only in f"gates {make.__name__}"]
        if not chosen:
            continue
        print(f"\n### Gates: {make.__doc__}\n")

        def rows(chosen: list[gates.Gate] = chosen) -> Iterator[Sequence[str]]:
            for gate in chosen:
                found = gates.study(gate, samples)
                kinds = ("pass", "fail", "not enough evidence")
                shares = [_percent(found.found[kind] / found.samples) for kind in kinds]
                yield gate.name, *shares, MARK if found.broken else ""

        marked += _table(("model", "pass", "fail", "cannot tell", "note"), rows())
    return marked


def bound_table(samples: int, only: str) -> int:
    """The bounds that gates go by."""
    chosen = [case for case in gates.bounded() if only in f"bounds {case.name}"]
    if not chosen:
        return 0

    def rows() -> Iterator[Sequence[str]]:
        for case in chosen:
            _, under, over = gates.bound_shares(case, 0.0, samples)
            kind = "variable" if case.variable else "label" if case.tasks == 1 else "tasks"
            words = f"{case.tasks} {kind}, n={case.n}, lean {case.lean:g}, errors {case.errors:g}, {case.name}"
            broken = any(sentences.beyond(round(share * samples), samples, MOST_MISSED) for share in (under, over))
            yield words.removesuffix(", "), _percent(under), _percent(over), MARK if broken else ""

    print("\n### Bounds of directional amplification, one-sided at 95%\n")
    return _table(("model", "upper below the truth", "lower above it", "note"), rows())


PARTS: tuple[Callable[[int, str], int], ...] = (audits, inventions, comparisons, bound_table, gate_tables)


def main(options: Sequence[str] = ()) -> Any:
    """Print all tables, or those of a word."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks decisions")
    parser.add_argument("--samples", type=int, default=100, help="samples of each case (default: 100)")
    parser.add_argument("--only", default="", help="parts and cases with this word in their name")
    asked = parser.parse_args(list(options))
    marked = sum(part(asked.samples, asked.only) for part in PARTS)
    print(f"\n{marked} cells beyond their limit, {asked.samples} samples each")
