"""AIES paper, Tables 2 and 4: partial derivatives of the gaps, the printed forms against ours and finite differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log, sqrt

import biasamp

from .chart import Chart
from .experiment import Experiment, Setting
from .internals import association_gap
from .outcome import DEFINED, Outcome
from .papers import AIES
from .rows import Reason, Row, claimed, placed

# Where the derivatives are taken: n, p(x1), p(x2), p(y), p(x1,y), p(x2,y). Any point that is no special case will do.
POINT = (100_000.0, 0.4, 0.25, 0.1, 0.05, 0.012)
STEP = 1e-6
CLOSE = 1e-5
BY = ("p(y)", "p(x1,y)", "p(x2,y)")
Form = Callable[[float, float, float, float, float, float], float]


def _npmi_y_mended(n: float, a: float, b: float, y: float, ay: float, by: float) -> float:
    return log((by / b) / (ay / a)) / (log(y) ** 2 * y)


def _t_test_mended(n: float, a: float, b: float, y: float, ay: float, by: float) -> float:
    return (sqrt(b) - sqrt(a)) / (2 * sqrt(y)) - (ay / sqrt(a) - by / sqrt(b)) / (2 * y**1.5)


# As printed (a, b for x1, x2; ay, by for the joint probabilities): by p(y), by p(x1,y), by p(x2,y).
PRINTED_FORMS: dict[str, tuple[Form | None, Form, Form]] = {
    "dp": (lambda n, a, b, y, ay, by: 0.0, lambda n, a, b, y, ay, by: 1 / a, lambda n, a, b, y, ay, by: -1 / b),
    "pmi": (lambda n, a, b, y, ay, by: 0.0, lambda n, a, b, y, ay, by: 1 / ay, lambda n, a, b, y, ay, by: -1 / by),
    "npmi_y": (
        lambda n, a, b, y, ay, by: log((by / y) / (ay / y)) / (log(y) ** 2 * y),
        lambda n, a, b, y, ay, by: 1 / (log(y) * ay),
        lambda n, a, b, y, ay, by: -1 / (log(y) * by),
    ),
    "npmi_xy": (
        lambda n, a, b, y, ay, by: 1 / (log(ay) * y) - 1 / (log(by) * y),
        lambda n, a, b, y, ay, by: (log(y) - log(a)) / (log(ay) ** 2 * ay),
        lambda n, a, b, y, ay, by: (log(b) - log(y)) / (log(by) ** 2 * by),
    ),
    "pmi2": (lambda n, a, b, y, ay, by: 0.0, lambda n, a, b, y, ay, by: 2 / ay, lambda n, a, b, y, ay, by: -2 / by),
    "sdc": (
        lambda n, a, b, y, ay, by: by / (b + y) ** 2 - ay / (a + y) ** 2,
        lambda n, a, b, y, ay, by: 1 / (a + y),
        lambda n, a, b, y, ay, by: -1 / (b + y),
    ),
    "ji": (
        lambda n, a, b, y, ay, by: ay / (a + y - ay) - by / (b + y - by),
        lambda n, a, b, y, ay, by: (a + y) / (a + y - ay) ** 2,
        lambda n, a, b, y, ay, by: (b + y) / (b + y - by) ** 2,
    ),
    "llr": (lambda n, a, b, y, ay, by: 0.0, lambda n, a, b, y, ay, by: 1 / ay, lambda n, a, b, y, ay, by: -1 / by),
    # By p(y) the table gives no formula for tau_b.
    "tau_b": (
        None,
        lambda n, a, b, y, ay, by: (2 - 4 / n) / sqrt((a - a * a) * (y - y * y)),
        lambda n, a, b, y, ay, by: (4 / n - 2) / sqrt((b - b * b) * (y - y * y)),
    ),
    "t_test": (
        lambda n, a, b, y, ay, by: (sqrt(b) - sqrt(a)) / (2 * sqrt(y)),
        lambda n, a, b, y, ay, by: 1 / sqrt(a * y),
        lambda n, a, b, y, ay, by: -1 / sqrt(b * y),
    ),
}
ERRATA: dict[tuple[str, str], tuple[str, Form]] = {
    ("npmi_y", "p(y)"): ("p(y|x) in place of p(x|y)", _npmi_y_mended),
    ("npmi_xy", "p(y)"): (
        "the sign turned",
        lambda n, a, b, y, ay, by: 1 / (log(by) * y) - 1 / (log(ay) * y),
    ),
    ("npmi_xy", "p(x1,y)"): (
        "numerator ln p(y) + ln p(x1)",
        lambda n, a, b, y, ay, by: (log(y) + log(a)) / (log(ay) ** 2 * ay),
    ),
    ("npmi_xy", "p(x2,y)"): (
        "numerator -(ln p(y) + ln p(x2))",
        lambda n, a, b, y, ay, by: -(log(y) + log(b)) / (log(by) ** 2 * by),
    ),
    ("ji", "p(y)"): (
        "denominators squared, x2 first, as eq. 35 has it",
        lambda n, a, b, y, ay, by: by / (b + y - by) ** 2 - ay / (a + y - ay) ** 2,
    ),
    ("ji", "p(x2,y)"): ("a minus before it", lambda n, a, b, y, ay, by: -(b + y) / (b + y - by) ** 2),
    ("t_test", "p(y)"): ("with the term by p(y) of the joint probabilities", _t_test_mended),
}


def finite_difference(metric: str, by: int) -> float:
    """The derivative of the gap as the paper defines it, by a small step either way."""
    n, a, b, *rest = POINT
    ends = []
    for sign in (1, -1):
        moved = list(rest)
        moved[by] += sign * STEP * rest[by]
        y, ay, by_ = moved
        gap = association_gap(metric, n, n * a, n * b, n * y, n * ay, n * by_, paper_literal=True)
        ends.append(float(gap))
    return (ends[0] - ends[1]) / (2 * STEP * rest[by])


def _rows() -> Iterator[Row]:
    n, a, b, y, ay, by_ = POINT
    for metric, forms in PRINTED_FORMS.items():
        ours = biasamp.orientation(metric, n, a, b, y, ay, by_, paper_literal=True)
        for place, (by, form) in enumerate(zip(BY, forms, strict=True)):
            value, checked = float(ours[place]), finite_difference(metric, place)
            note = f"finite differences: {checked:.6g}"
            if form is None:
                yield Row(f"Table 4, {metric} by {by}", "no formula", value, None, note=note)
                continue
            as_printed = form(*POINT)
            agrees = abs(as_printed - value) <= CLOSE * max(abs(value), 1.0)
            reason = None
            if not agrees and (metric, by) in ERRATA:
                words, mended = ERRATA[metric, by]
                right = mended(*POINT)
                if abs(right - value) <= CLOSE * max(abs(value), 1.0):
                    reason = Reason(f"the printed formula mended: {words}", right, "equals ours")
            told = f"its formula gives {as_printed:.6g}"
            test = "the printed formula and the derivative are one number here"
            yield claimed(f"Table 4, {metric} by {by}", told, value, agrees, test=test, reason=reason, note=note)


def run(setting: Setting) -> Outcome:
    """Run it."""
    where = ", ".join(f"{value:g}" for value in POINT)
    source = f"the paper's printed formulas at one point that we chose, n, p(x1), p(x2), p(y), p(x1,y), p(x2,y) = {where}; no data are needed"
    rows = tuple(placed(_rows(), "Tables 2 and 4"))
    held = sum(row.agrees is True for row in rows)
    wrong = sum(row.agrees is False for row in rows)
    says = (
        f"{held} of {held + wrong} printed derivatives of the association metrics are those of the metrics.",
        f"{wrong} are not; of {sum(row.reason is not None for row in rows)} of these a mended formula, which the row shows, gives ours.",
        "Formulas were held against formulas and finite differences; no data are involved.",
    )
    return Outcome(DEFINED, source, rows, (_chart(),), says=says)


def _chart() -> Chart:
    """The printed formulas over the derivatives: 1 where they are the same, -1 where a sign is turned."""
    n, *rest = POINT
    lines: dict[str, list[tuple[float, float]]] = {by: [] for by in BY}
    for x, (metric, forms) in enumerate(PRINTED_FORMS.items()):
        ours = biasamp.orientation(metric, n, *rest, paper_literal=True)
        for by, form, value in zip(BY, forms, map(float, ours), strict=True):
            if form is not None:
                lines[by].append((float(x), form(*POINT) / value if value else 1.0 + form(*POINT)))
    title = "Printed formulas over the derivatives of the metrics: 1 is the same"
    return Chart(title, "metric", "printed over ours", lines, ticks=list(PRINTED_FORMS), joined=False)


EXPERIMENT = Experiment(
    "aies-orientations",
    "Orientations of the association metrics, and the errata of their table",
    "Aka et al. (2021), Tables 2 and 4, Appendix C",
    run,
    paper=AIES,
)
