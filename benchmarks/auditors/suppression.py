"""Whether anybody can compute a withheld count from the tables that are printed: random tables, linear programming.

``python -m benchmarks.auditors.suppression 500`` makes so many tables.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import biasamp

LIMIT = 10


def main(arguments: list[str] | None = None) -> None:
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
    from printed_tables import random_people, ranges_of_withheld

    given = sys.argv[1:] if arguments is None else arguments
    tables = int(given[0]) if given and given[0].isdigit() else 50
    narrowest, withheld, rows, recovered = np.inf, 0, 0, 0
    for seed in range(tables):
        decisions, groups = random_people(np.random.default_rng(seed))
        document = biasamp.impact(decisions, groups, suppress=LIMIT).to_dict()
        ranges = [width for _, _, width in ranges_of_withheld(document)]
        narrowest = min([narrowest, *ranges])
        recovered += any(width < LIMIT - 1e-5 for width in ranges)
        held = [row["withheld"] for table in document["tables"] for row in table["groups"]]
        withheld, rows = withheld + sum(held), rows + len(held)
    print(
        f"{tables} tables, {rows:,} rows of groups, {withheld:,} withheld; narrowest range of a withheld count {narrowest:.3f}"
    )
    print(f"tables with a withheld count that is known to within less than {LIMIT}: {recovered}")


if __name__ == "__main__":
    main()
