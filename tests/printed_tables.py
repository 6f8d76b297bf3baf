"""What somebody can compute of withheld counts from the tables that ``impact`` prints: nothing of its code is used."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog


def ranges_of_withheld(document: dict[str, Any]) -> list[tuple[str, str, float]]:
    """The range of every count that is not printed, over all tables of people that print the same.

    ``document`` is what ``to_dict`` gives. Printed rates and ratios are checked to follow from printed counts.
    """
    tables = {tuple(table["attribute"].split(" x ")): table for table in document["tables"]}
    single = {names[0]: [row["group"] for row in table["groups"]] for names, table in tables.items() if len(names) == 1}
    crossed = next((names for names in tables if len(names) > 1), None)
    cells = list(product(*([*groups, None] for groups in single.values())))
    if crossed is not None:
        there = {row["group"] for row in tables[crossed]["groups"]}
        cells = [cell for cell in cells if None in cell or " & ".join(cell) in there]
    names = list(single)
    rows: list[tuple[str, str, Any, Any, Any]] = [("", "all", lambda cell: True, document["n"], document["selected"])]
    for attributes, table in tables.items():
        places = [names.index(name) for name in attributes]
        check_figures(table["groups"])

        def unknown(cell: tuple[Any, ...], places: list[int] = places) -> bool:
            return any(cell[i] is None for i in places)

        rows.append(
            ("x".join(attributes), "unknown", unknown, table["unknown"]["applicants"], table["unknown"]["selected"])
        )
        for row in table["groups"]:
            group = row["group"].split(" & ")

            def holds(cell: tuple[Any, ...], places: list[int] = places, group: list[str] = group) -> bool:
                return [cell[i] for i in places] == group

            rows.append(("x".join(attributes), row["group"], holds, row["applicants"], row["selected"]))
    within = np.array([[bool(holds(cell)) for cell in cells] for _, _, holds, _, _ in rows], dtype=float)
    out = []
    for kind in ("selected", "rejected"):
        printed = [None if n is None else (k if kind == "selected" else n - k) for _, _, _, n, k in rows]
        shown = [i for i, count in enumerate(printed) if count is not None]
        for i, (attribute, group, *_) in enumerate(rows):
            if printed[i] is not None:
                continue
            ends = []
            for sign in (1.0, -1.0):
                found = linprog(
                    sign * within[i],
                    A_eq=within[shown] if shown else None,
                    b_eq=np.array([printed[j] for j in shown], dtype=float) if shown else None,
                )
                ends.append(np.inf if found.status == 3 else sign * found.fun)
            out.append((f"{attribute} {kind}", group, float(ends[1] - ends[0]) if np.isfinite(ends[1]) else np.inf))
    return out


def check_figures(rows: list[dict[str, Any]]) -> None:
    """Printed rates and ratios say no more than printed counts: they follow from them."""
    figures = ("applicants", "selected", "rate", "rate_low", "rate_high", "share", "ratio", "ratio_low", "ratio_high")
    for row in rows:
        if row["applicants"] is None:
            assert all(row[name] is None for name in figures)
        else:
            assert row["rate"] == row["selected"] / row["applicants"]
    compared = [row for row in rows if row["ratio"] is not None]
    highest = max((row["rate"] for row in compared), default=0.0)
    for row in compared:
        assert abs(row["ratio"] - row["rate"] / highest) < 1e-12
    if any(row["withheld"] for row in rows):
        assert all(row["share"] is None for row in rows)


def random_people(rng: np.random.Generator) -> tuple[Any, dict[str, list[Any]]]:
    """Decisions and groups of a random table: one to three attributes, rare groups, some of them not known."""
    people = int(rng.choice([60, 200, 800, 3000]))
    groups: dict[str, list[Any]] = {}
    for name in ("sex", "race", "age")[: int(rng.integers(1, 4))]:
        many = int(rng.integers(2, 4 if name != "race" else 6))
        chances = rng.dirichlet(np.full(many, 0.7))
        values: list[Any] = [f"{name}{i}" for i in range(many)]
        if rng.random() < 0.5:
            values, chances = [*values, None], np.r_[0.97 * chances, 0.03]
        groups[name] = [values[i] for i in rng.choice(len(values), people, p=chances)]
        if all(value is None for value in groups[name]):
            groups[name][0] = values[0]
    selected = (rng.random(people) < rng.choice([0.05, 0.3, 0.6, 0.95])).astype(int)
    return selected, groups
