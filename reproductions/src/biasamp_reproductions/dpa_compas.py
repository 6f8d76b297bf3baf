"""DPA paper, Tables 2 and 3: COMPAS, from the printed counts and with decision trees on the real file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import biasamp

from .basis import SAME
from .chart import Chart
from .compas_data import FILE
from .counted import with_margins
from .dpa_tables import DIFFERENCES, MAJORITY_TEXT, METRICS, STATED, TABLE_2, TABLE_3, arrow, named
from .exact_dpa import dpa_from_counts
from .experiment import Experiment, Setting
from .networks import repeatable
from .outcome import ARITHMETIC, PRINTED, REAL, Outcome
from .papers import DPA
from .rows import Reason, Row, Tried, measured, placed, printed

# How far beside each other points of one column are drawn, which would cover each other.
APART = 0.12
# From hardly better than a coin to no equalization.
_ACCURACIES = [round(0.5 + 0.01 * step, 2) for step in range(1, 51)]


def _accuracy_for(truth: Any, predicted: Any, wanted: float) -> float | None:
    """The equalized accuracy at which DPA of the printed counts is the wanted one, if there is any."""
    from scipy.optimize import brentq

    def off(accuracy: float) -> float:
        return dpa_from_counts(truth, predicted, accuracy=accuracy) - wanted

    # From 1/2, a coin, to 1, no equalization; DPA falls as the data keep more of their bias.
    return float(brentq(off, 0.5, 1.0)) if off(0.5) * off(1.0) < 0 else None


def _from_counts() -> Iterator[Row]:
    for (version, direction), ((ba, ba_spread), (multi, multi_spread), (dpa, dpa_spread)) in TABLE_3.items():
        truth, predicted = TABLE_2[version][direction]
        records = with_margins(truth, predicted)
        where = f"{version}, {arrow(direction)}, from the counts of Table 2"
        amplified, size = biasamp.directional(*records), biasamp.multi(*records)
        ba_name, multi_name, dpa_name = (named(metric, version, direction) for metric in METRICS)
        yield printed(f"Table 3, BA, {where}", ba, amplified.value, spread=ba_spread, name=ba_name)
        yield printed(f"Table 3, Multi, {where}", multi, size.value, spread=multi_spread, name=multi_name)
        plain = biasamp.dpa(*records, equalize=None, evaluation="in_sample", trials=1)
        found = _accuracy_for(truth, predicted, float(dpa))
        reason, tried = None, None
        if found is None:
            reason = _evaluated_otherwise(records, float(dpa), plain.value)
        else:
            # An accuracy that is solved for shows what it would take; it settles nothing.
            tried = Tried.of(
                [dpa_from_counts(truth, predicted, accuracy=accuracy) for accuracy in _ACCURACIES],
                f"accuracies from {_ACCURACIES[0]} to {_ACCURACIES[-1]} that the truth is equalized to, which Table 2 does "
                f"not tell; the printed figure takes {found:.3f}",
            )
        yield printed(
            f"Table 3, DPA, {where}",
            dpa,
            plain.value,
            spread=dpa_spread,
            reason=reason,
            tried=tried,
            name=dpa_name,
            note="exact attacker, in sample, not equalized",
        )
        if (version, direction) in STATED:
            accuracy = STATED[version, direction]
            yield measured(
                f"the same, equalized to the stated accuracy of {accuracy}",
                dpa_from_counts(truth, predicted, accuracy=accuracy),
            )
        for side, gain in (("data", plain.dataset_gain), ("model", plain.model_gain)):
            yield measured(
                f"the same, gain over no input of the {side}, {version} {arrow(direction)}",
                gain,
                note="0: all that the attacker scores is the size of the larger class",
            )
        if find_spec("torch") is not None:
            yield _by_network(records, plain.value, f"{version}, {arrow(direction)}")


def _by_network(records: Any, exact: float, where: str) -> Row:
    """DPA by the paper's kind of attacker, a network with hidden layers trained for long enough, beside the exact one."""
    # A network of four units gains nothing from several threads, which wait for each other on a busy machine.
    with repeatable(0):
        found = biasamp.dpa(*records, attacker="mlp", equalize=None, evaluation="in_sample", trials=1)
    return measured(
        f"Table 3, DPA, {where}, from the counts of Table 2, by a trained network as in the paper",
        found.value,
        note=f"the exact attacker gives {exact:.4f}: on one yes/no column a trained network learns the same table",
    )


def _evaluated_otherwise(records: Any, wanted: float, ours: float) -> Reason:
    """The ways to score attackers on the same counts: the one that comes nearest, which may be ours."""
    rules = {None: "not equalized", "accuracy": "equalized to the accuracy that the counts allow"}
    tried = {
        f"{words}, attackers scored {place}": biasamp.dpa(
            *records, equalize=rule, evaluation=evaluation, trials=200
        ).value
        for rule, words in rules.items()
        for evaluation, place in (("in_sample", "in sample"), ("held_out", "on records that they have not seen"))
        if (rule, evaluation) != (None, "in_sample")
    }
    nearest = min(tried, key=lambda name: abs(tried[name] - wanted))
    if abs(tried[nearest] - wanted) >= abs(ours - wanted):
        return Reason(f"none: ours is nearer than {len(tried)} other ways to score attackers", ours)
    return Reason(f"{nearest} (the nearest of {len(tried)} other ways)", tried[nearest])


def _text() -> Iterator[Row]:
    """What Sec. 6.1 says of Table 2's counts."""
    for (version, direction), said in DIFFERENCES.items():
        for of, pair, table in zip(("data", "predictions"), said, TABLE_2[version][direction], strict=True):
            for value, (figure, (zeros, ones)) in enumerate(zip(pair, table, strict=True)):
                where = f"{version}, {arrow(direction)}, {of}"
                what = f"Sec. 6.1, {where}: difference of the two counts where {direction[0]}={value}"
                yield printed(what, str(figure), float(abs(zeros - ones)))
    zeros, ones = TABLE_2["unbalanced"]["A->T"][1][1]
    yield printed(
        "Sec. 6.1.1: T̂=1 where A=1, in Table 2a",
        str(MAJORITY_TEXT),
        ones,
        reason=Reason("the count above it in the table, of T̂=0", zeros),
    )


def run(setting: Setting) -> Outcome:
    """Run it."""
    rows = (
        *placed(_from_counts(), "Table 3", basis=PRINTED),
        *placed(_text(), "Sec. 6.1", basis=ARITHMETIC),
    )
    says: tuple[str, ...] = (
        "From the printed counts BA and Multi of Table 3 follow in all four columns; DPA does in none of them.",
        *_by_network_says(rows),
    )
    choices: tuple[str, ...] = (
        "The attacker: exact (a lookup in the table of counts) in the rows with a verdict; the paper's is a network, whose rows "
        "stand beside. Scored in sample and not equalized, since Table 2 does not tell the accuracy that the truth was equalized to.",
    )
    if not setting.has([FILE]):
        left = (f"decision trees on COMPAS, which need {FILE} in the folder that BIASAMP_DATA names",)
        source = "the counts of Table 2; no data are needed for them"
        says = (*says, "Decision trees on the real file were not run here: it is not in the folder of real files.")
        return Outcome(PRINTED, source, rows, _charts(rows), left, says, choices)
    from .dpa_trees import CHOICES, OVER, tree_rows

    trees = tuple(placed(tree_rows(setting), "Table 3"))
    judged = [row for row in trees if row.agrees is not None and row.basis in ("", REAL)]
    same = sum(row.verdict == SAME for row in judged)
    says = (
        *says,
        f"On the real file {same} of {len(judged)} printed figures come out digit for digit: {'; '.join(row.name for row in judged if row.agrees)}.",
    )
    choices = (*choices, f"The trees: the paper tells no setting. {len(CHOICES)} choices were tried: {OVER}.")
    source = f"{FILE}; and the paper's own counts of Table 2"
    return Outcome(REAL, source, (*rows, *trees), _charts((*rows, *trees)), says=says, choices=choices)


def _charts(rows: Sequence[Row]) -> tuple[Chart, ...]:
    """Table 3, a chart for each metric: as printed with its ±, from the printed counts, and by trees on the real file."""
    columns = [f"{version}, {arrow(direction)}" for version, direction in TABLE_3]
    out = []
    for place, metric in enumerate(METRICS):
        printed_figures = [tuple(map(float, figures[place])) for figures in TABLE_3.values()]
        lines = {"printed": [(x - APART, figure) for x, (figure, _) in enumerate(printed_figures)]}
        intervals = {"printed": [(figure - spread, figure + spread) for figure, spread in printed_figures]}
        for words, start, aside in (
            ("from the printed counts", f"Table 3, {metric}, ", 0.0),
            ("trees on the real file", "trees, ", APART),
        ):
            mine = {row.name: row for row in rows if row.what.startswith(start) and row.agrees is not None}
            found = [mine[name] for key in TABLE_3 if (name := named(metric, *key)) in mine]
            if found:
                lines[words] = [(x + aside, float(row.ours)) for x, row in enumerate(found)]
        out.append(Chart(f"Table 3: {metric}", "column of Table 3", metric, lines, intervals, columns, joined=False))
    return tuple(out)


def _by_network_says(rows: Sequence[Row]) -> Iterator[str]:
    """How far the attacker of the paper is from the exact one, where it was trained."""
    exact = {row.what: row for row in rows}
    apart = [
        abs(float(row.ours) - float(exact[_exact_name(row.what)].ours))
        for row in rows
        if row.what != _exact_name(row.what)
    ]
    if not apart:
        yield "The paper's attacker, a trained network, was not run here: it needs torch."
    else:
        yield (
            f"A trained network as attacker gives the exact attacker's DPA to {max(apart):.4f}, so the attacker is not why DPA differs."
        )


def _exact_name(what: str) -> str:
    """The row of the exact attacker that belongs to a network's."""
    return what.removesuffix(", by a trained network as in the paper")


EXPERIMENT = Experiment(
    "dpa-compas",
    "COMPAS: directional, Multi and DPA from printed counts and with decision trees",
    "Tokas et al., Tables 2 and 3, Sec. 6.1",
    run,
    files=(FILE,),
    without="runs from the printed counts alone",
    paper=DPA,
)
