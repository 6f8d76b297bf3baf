"""The association metrics whose printed formula differs from the definition in its own words.

- nPMI divides by ``ln P`` instead of ``-ln P``: the sign is flipped.
- SDC lacks its factor 2; the ranks are the same.
- tau_b (equation 23) counts pairs of records that agree on both labels as concordant although they are
  tied, and is twice its own definition. It stays for comparison with the published tables.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from biasamp.amplification.exact import two_product

from .formulas import _VALUES, Array, Counts, _divide


def _flipped(name: str) -> Callable[[Counts], Array]:
    def value(c: Counts) -> Array:
        # Adding 0 turns -0.0 into 0.0.
        out: Array = 0.0 - _VALUES[name](c)
        return out

    return value


def _sdc(c: Counts) -> Array:
    return _divide(c.xy, c.x + c.y)


def _tau_b(c: Counts) -> Array:
    """Equation 23: ``2 (n_c - n_d) / sqrt(...)`` with ``n_c = C(a,2) + C(d,2)``, ``n_d = C(b,2) + C(c,2)``.

    With the cells a (both), b (x alone), c (y alone), d (neither), ``2 (n_c - n_d)`` is
    ``(a+b)(a-b) + (c+d)(d-c) - (a+d-b-c)``.
    """
    agree = c.n - 2.0 * c.x - 2.0 * c.y + 4.0 * c.xy
    first, first_rest = two_product(c.x, 2.0 * c.xy - c.x)
    second, second_rest = two_product(c.n - c.x, c.n - c.x - 2.0 * c.y + 2.0 * c.xy)
    # The sum of the two leading products with the error of its rounding (Knuth's two-sum).
    total = first + second
    back = total - first
    lost = (first - (total - back)) + (second - back)
    numerator = total + (lost + first_rest + second_rest - agree)
    spread = np.sqrt(c.x * (c.n - c.x)) * np.sqrt(c.y * (c.n - c.y))
    return np.where(spread > 0, _divide(numerator, spread), np.nan)


LITERAL: dict[str, Callable[[Counts], Array]] = {
    "npmi_y": _flipped("npmi_y"),
    "npmi_xy": _flipped("npmi_xy"),
    "sdc": _sdc,
    "tau_b": _tau_b,
}
