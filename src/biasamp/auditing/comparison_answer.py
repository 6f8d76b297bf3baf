"""What a comparison says in a few sentences, the same wherever it is shown, and the order in which its rows are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from biasamp.data import printable
from biasamp.resampling.runs_and_records import MOST_TIMES
from biasamp.results.interval import WITH_CHANCE, figure_with_interval
from biasamp.results.metric_registry import METRICS, direction_symbol, short_name

from .answer import Answer
from .comparison_cautions import OWN_CAUTIONS
from .comparison_types import ComparisonDocument, ModelDifference, PairDifference
from .evidence import FALSE_DISCOVERIES, holm
from .findings import side_of_zero
from .label_names import short_names

# How many differences the answer names.
_NAMED = 3
# More runs than these are not asked for.
_MANY_RUNS = 100
# Figures that differ by less differ by rounding.
_ROUNDING = 1e-12
# Characters of a caution, and of a model's name.
_CAUTION, _MODEL = 600, 30


def decided(row: ModelDifference, level: float) -> int:
    """+1 or -1 where the second model's figure is larger or smaller, with all models counted; 0 where that is not known."""
    adjusted = row.get("adjusted_p")
    if isinstance(adjusted, float) and adjusted > 1.0 - level:
        return 0
    return side_of_zero(row["low"], row["high"]) or 0


def verdicts_first(document: ComparisonDocument) -> list[ModelDifference]:
    """The differences: those that are decided first, amplification before other figures, else in their order."""
    level, order = document["level"], list(METRICS)

    def place(row: ModelDifference) -> tuple[bool, int]:
        return not decided(row, level), order.index(row["metric"]) if row["metric"] in order else len(order)

    return sorted(document["differences"], key=place)


def pairs_once(document: ComparisonDocument) -> list[PairDifference]:
    """The pairs that are compared, each fact once."""
    return [row for row in document.get("pairs", ()) if not row.get("mirror")]


def changed_pairs(document: ComparisonDocument) -> list[PairDifference]:
    """The pairs that changed, each fact once."""
    return [row for row in pairs_once(document) if row["q"] is not None and row["q"] < FALSE_DISCOVERIES]


def changed_by_evidence(document: ComparisonDocument) -> list[PairDifference]:
    """The pairs that changed, the best founded first: a large change of a few records does not lead the list."""
    # Chances beyond the least number are equal; the larger change then comes first.
    largest = sorted(changed_pairs(document), key=lambda row: -abs(cast("float", row["difference"])))
    return sorted(largest, key=lambda row: row["p"] if isinstance(row["p"], float) else 1.0)


def pair_names(document: ComparisonDocument) -> dict[str, str]:
    """What the labels of pairs are called: cut where they are long, and never until two coincide."""
    rows = document.get("pairs", ())
    return short_names(dict.fromkeys(label for row in rows for label in (row["given"], row["outcome"])))


def figure_name(row: ModelDifference) -> str:
    """Which figure a difference is of."""
    return " ".join(
        filter(None, (printable(row["attribute"], 60), short_name(row["metric"]), direction_symbol(row["direction"])))
    )


def answer_of_comparison(document: ComparisonDocument) -> Answer:
    """What was found, how sure that is, and what to do next.

    Verdicts of rows are each by itself; what is found counts all rows (Holm), so that of models which do not differ something is said to in at most 5%.
    """
    made = _Answering(document)
    return Answer(made.found(), made.sure(), made.next())


class _Answering:
    def __init__(self, document: ComparisonDocument) -> None:
        self.document, self.level = document, document["level"]
        self.rows = verdicts_first(document)
        self.alone = [row for row in self.rows if decided(row, self.level)]
        p = {place: row["p"] for place, row in enumerate(self.rows) if isinstance(row.get("p"), float)}
        beyond = holm(cast("dict[int, float]", p), self.level)
        self.judged = len(p)
        self.counted = [
            row
            for place, row in enumerate(self.rows)
            if decided(row, self.level) and (place in beyond or place not in p)
        ]
        self.runs = document.get("runs", dict.fromkeys(document["models"], 1))
        self.several = max(self.runs.values()) > 1

    def _named(self, rows: list[ModelDifference]) -> str:
        said = [
            f"{figure_name(row)}: {printable(row['verdict'], 200)}, by "
            f"{figure_with_interval(row['difference'], row['low'], row['high'])}"
            for row in rows[:_NAMED]
        ]
        more = f"; and {len(rows) - _NAMED} more below" if len(rows) > _NAMED else ""
        return "; ".join(said) + more

    # --- found ------------------------------------------------------------------------------------------------------

    def found(self) -> str:
        explains = "seeds and records explain" if self.several else "the sampling of records explains"
        equal = sum(not _differs(row) and row["difference"] is not None for row in self.rows)
        if self.counted:
            said = f"{self._named(self.counted)}."
        elif self.alone:
            said = (
                f"No figure differs beyond chance with all {self.judged} counted; by itself, {self._named(self.alone)}."
            )
        elif equal == len(self.rows):
            said = f"{'The figure is' if equal == 1 else f'All {equal} figures are'} equal on these records."
        else:
            also = f"; {equal} of {len(self.rows)} are equal" if equal else ""
            said = f"No figure differs beyond what {explains}{also}."
        pairs, changed = len(pairs_once(self.document)), len(changed_pairs(self.document))
        if changed:
            but = "" if self.counted else "But "
            said += f" {but}{changed:,} of {pairs:,} pairs changed."
        return said

    # --- how sure ---------------------------------------------------------------------------------------------------

    def sure(self) -> str:
        return " ".join([self._decided(), self._paired(), self._of_runs(), *self._unknown()])

    def _decided(self) -> str:
        many, level = len(self.rows), f"{self.level * 100:g}%"
        if many == 1:
            return f"The difference is {'' if self.alone else 'not '}decided at {level}."
        counted = f"{len(self.counted)} of {many} differences are decided at {level} with all of them counted (Holm)"
        models = ", all models counted" if len(self.document["models"]) > 2 else ""
        alone = len(self.alone)
        return f"{counted}{f', {alone} each by itself{models}' if alone > len(self.counted) else ''}."

    def _paired(self) -> str:
        paired, many = sum(row["paired"] for row in self.rows), len(self.rows)
        if paired == many:
            return "All are paired on the same records." if many > 1 else "It is paired on the same records."
        if not paired:
            return f"{'None' if many > 1 else 'It'} is {'' if many > 1 else 'not '}paired on the same records."
        return f"{paired} are paired on the same records, {many - paired} are not."

    def _of_runs(self) -> str:
        if not self.several:
            return "Each model has one run: what other seeds would give is not known."
        counts = set(self.runs.values())
        each = ", ".join(f"{printable(name, _MODEL)} {runs}" for name, runs in self.runs.items())
        said = f"Figures are means over {counts.pop()} runs of each" if len(counts) == 1 else f"Runs: {each}"
        borrowed = min(self.runs.values()) == 1
        return f"{said}; intervals count how seeds vary{', a single run as the runs that it is held against' if borrowed else ''}."

    def _unknown(self) -> Iterator[str]:
        pairs = [row for row in pairs_once(self.document) if row["metric"] == "directional"]
        unknown = sum(row["sign"] == 0 for row in pairs)
        if unknown:
            yield (
                f"Which way the bias goes is not known for {unknown:,} of {len(pairs):,} pairs: they are called neither more nor less amplified."
            )

    # --- next -------------------------------------------------------------------------------------------------------

    def next(self) -> str:
        steps = [*self._beware(), *self._look(), *self._settle(), *self._train()][:_NAMED]
        return " ".join(steps) or "Nothing is left to measure here: choose by the figures that matter for the purpose."

    def _beware(self) -> Iterator[str]:
        """How audits differ in more than their models, which comes before all else."""
        for row in self.document.get("cautions", ()):
            if row["code"] in OWN_CAUTIONS:
                first = row["text"].split(". ")[0].rstrip(".")
                yield f"Mend this first: {printable(first, _CAUTION)}."
                return

    def _look(self) -> Iterator[str]:
        changed, names = changed_by_evidence(self.document), pair_names(self.document)
        for row in changed[:1]:
            what = "" if row["metric"] == "directional" else f"{short_name(row['metric'])} of "
            whose = f" in {printable(row['models'][1], _MODEL)}" if len(self.document["models"]) > 2 else ""
            yield (
                f"Look at {what}{names[row['outcome']]} given {names[row['given']]}{whose}, the change with the best evidence "
                f"({figure_with_interval(row['difference'], row['low'], row['high'])})."
            )

    def _settle(self) -> Iterator[str]:
        """What would decide the first figure that is not decided, if anything would."""
        left = [row for row in self.rows if side_of_zero(row["low"], row["high"]) == 0 and _differs(row)]
        for row in left[:1]:
            behind = row.get("runs")
            low, high = (None, None) if behind is None else behind.get("more_seeds", (None, None))
            records = row.get("more_records") if behind is None else behind.get("more_records")
            ways = [f"{_range(low, high)} more runs of each"] if low is not None else []
            ways += [f"about {records:,} records in all"] if records else []
            where = figure_name(row)
            if len(self.document["models"]) > 2:
                where += f" of {printable(row['models'][1], _MODEL)}"
            size = figure_with_interval(row["difference"], None, None)
            if self._undirected(row):
                yield (
                    f"Give the training labels for {where}: no direction is known, and without one its difference of {size} is neither more nor "
                    "less amplification."
                )
            elif low is not None and low > _MANY_RUNS and not records:
                yield f"Leave {where} undecided: a difference of {size} would take {ways[0]}."
            elif ways:
                yield f"To decide {where} {WITH_CHANCE}, a difference of {size} takes {' or '.join(ways)}."
            elif behind is not None:
                yield f"To decide {where}, a difference of {size} takes more runs and more records at once."
            else:
                yield f"Leave {where} undecided: a difference of {size} would take over {MOST_TIMES:,.0f} times the records."

    def _undirected(self, row: ModelDifference) -> bool:
        """Whether no pair of a difference has a known direction."""
        place = (row["attribute"], row["metric"], row["direction"], row["models"])
        signs = [
            pair["sign"]
            for pair in self.document.get("pairs", ())
            if (pair["attribute"], pair["metric"], pair["direction"], pair["models"]) == place
        ]
        return bool(signs) and not any(signs)

    def _train(self) -> Iterator[str]:
        if not self.several and self.alone:
            yield "To choose between ways of training, and not between these very models, train each several times."
        elif not self.alone and not changed_pairs(self.document):
            yield "These figures do not choose between the models; other grounds may."


def _differs(row: ModelDifference) -> bool:
    return row["difference"] is not None and abs(row["difference"]) > _ROUNDING


def _range(low: int, high: int | None) -> str:
    if high is None:
        return f"at least {low:,}"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
