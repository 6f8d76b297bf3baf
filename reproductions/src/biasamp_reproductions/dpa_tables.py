"""Tables 2 and 3 of the DPA paper as printed, and what its text says of them."""

from __future__ import annotations

# Table 2: counts of truth by what is given, then of predictions by what is given; a row for given 0 and one for 1.
TABLE_2 = {
    "unbalanced": {
        "A->T": ([[1229, 874], [1402, 1773]], [[1165, 938], [1546, 1629]]),
        "T->A": ([[1229, 1402], [874, 1773]], [[1056, 1575], [1115, 1532]]),
    },
    "balanced": {
        "A->T": ([[874, 874], [874, 874]], [[1145, 603], [948, 800]]),
        "T->A": ([[874, 874], [874, 874]], [[1083, 665], [896, 852]]),
    },
}
METRICS = ("BA", "Multi", "DPA")
# Table 3: BA, Multi and DPA with their ±.
TABLE_3 = {
    ("unbalanced", "T->A"): (("-0.078", "0.031"), ("0.078", "0.026"), ("0.063", "0.005")),
    ("unbalanced", "A->T"): (("-0.038", "0.001"), ("0.038", "0.001"), ("-0.004", "0.002")),
    ("balanced", "T->A"): (("0.000", "0.000"), ("0.066", "0.007"), ("0.061", "0.008")),
    ("balanced", "A->T"): (("0.000", "0.000"), ("0.099", "0.006"), ("0.100", "0.004")),
}
# Sec. 6.1.1: race is predicted with an accuracy of about 69%.
STATED = {("unbalanced", "T->A"): 0.69}
# Sec. 6.1: how far apart the two counts are where given is 0 and where it is 1: of the truth, then of predictions.
DIFFERENCES = {
    ("unbalanced", "T->A"): ((173, 899), (519, 417)),
    ("unbalanced", "A->T"): ((355, 371), (227, 83)),
    ("balanced", "T->A"): ((0, 0), (418, 44)),
    ("balanced", "A->T"): ((0, 0), (542, 148)),
}
# Sec. 6.1.1, A->T: what the count of the majority class of A=1, T=1, is said to have fallen to.
MAJORITY_TEXT = 1546


def named(metric: str, version: str, direction: str) -> str:
    """A figure of Table 3 by name, for all rows that measure it.

    >>> named("BA", "balanced", "A->T"), named("DPA", "balanced", "A->T")
    ('BA, balanced, A→T, 0 for any model', 'DPA, balanced, A→T')
    """
    certain = ", 0 for any model" if (metric, version) == ("BA", "balanced") else ""
    return f"{metric}, {version}, {arrow(direction)}{certain}"


def arrow(direction: str) -> str:
    """A direction as the papers write it.

    >>> arrow("A->T")
    'A→T'
    """
    return direction.replace("->", "→")
