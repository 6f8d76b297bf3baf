"""Small tables with the document that Python makes of them: what the audit in the browser is held against.

``python tests/try_vectors.py FOLDER`` writes some hundred cases; ``--sample`` writes the few that are committed for ``npm test`` alone.
Each case has the labels as the page's reader hands them over, what was chosen, and the page of the report without its records.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

import biasamp
from biasamp.amplification.signs import compare_products
from biasamp.data.label import canonical, category_order
from biasamp.report.audit_page import report_document
from biasamp.resampling.significance import fair_coins_p, fisher_exact

SAMPLE = Path(__file__).parents[1] / "web" / "tests" / "try_vectors.json"
SEED = 20261118
# What stands in the document of Python and not in the browser's.
NOT_COMPARED = ("fingerprint", "provenance")
_NAMES = ("a", "b", "c", "d", "e", "f")

Rng = np.random.Generator
Values = Sequence[Any]
Columns = dict[str, Values]


def _labels(variable: str, kind: str, categories: Sequence[str], values: Values) -> dict[str, Any]:
    spelled = [canonical(value) for value in values]
    place = {category: i for i, category in enumerate(categories)}
    codes = [int(value == "1") for value in spelled] if kind == "binary" else [place[value] for value in spelled]
    return {"variable": variable, "kind": kind, "categories": list(categories), "codes": codes}


def _space(*columns: Values) -> list[str]:
    """The categories of columns together; a 0/1 variable has both."""
    found = {canonical(value) for column in columns for value in column}
    return sorted(found | {"0", "1"} if found <= {"0", "1"} else found, key=category_order)


def _roles(columns: Columns, attributes: Sequence[str], tasks: Sequence[str], said: Sequence[str]) -> dict[str, Any]:
    """The labels as the page's reader gives them."""
    several = len(tasks) > 1
    truths, predictions, invented = [], [], []
    for task, prediction in zip(tasks, said, strict=True):
        kind = "binary" if several and not isinstance(columns[task][0], str) else "categorical"
        space = ["1"] if kind == "binary" else _space(columns[task], columns[prediction])
        truths.append(_labels(task, kind, space, columns[task]))
        predictions.append(_labels(prediction, kind, space, columns[prediction]))
        held = {canonical(value) for value in columns[task]}
        never = [i for i, category in enumerate(space) if category not in held]
        invented.append([] if kind == "binary" or set(space) <= {"0", "1"} else never)
    return {
        "records": len(columns[tasks[0]]),
        "attributes": [
            _labels(
                name, "categorical", sorted({canonical(v) for v in columns[name]}, key=category_order), columns[name]
            )
            for name in attributes
        ],
        "tasks": truths,
        "predictions": predictions,
        "invented": invented,
    }


def case(
    name: str, columns: Columns, attributes: Sequence[str], tasks: Sequence[str], said: Sequence[str], **more: Any
) -> dict[str, Any]:
    """One case: labels, choice, and what Python makes of them."""
    chosen = {"positive": None, "confidence": 0.95, "min_group": 30, **more}
    arguments = {key: value for key, value in chosen.items() if value is not None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = biasamp.audit(
            {key: list(values) for key, values in columns.items()},
            attributes=list(attributes),
            tasks=tasks[0] if len(tasks) == 1 else list(tasks),
            task_predictions=said[0] if len(said) == 1 else list(said),
            metrics=["directional", "parity"],
            intervals="closed_form",
            **arguments,
        ).named("vector.csv")
    page = json.loads(json.dumps(report_document(made)))
    for field in NOT_COMPARED:
        page["audit"].pop(field, None)
        page["audit"]["data"].pop(field, None)
    return {
        "name": name,
        "roles": _roles(columns, attributes, tasks, said),
        "choice": {"attributes": list(attributes), "tasks": list(tasks), "task_predictions": list(said), **chosen},
        "page": page,
    }


def _plain(values: NDArray[Any]) -> list[Any]:
    return values.tolist()


def _binary(rng: Rng, records: int, groups: int, wrong: float, lean: float) -> Columns:
    """A yes/no task of some groups; predictions err, and lean with the group by ``lean``."""
    group = rng.integers(0, groups, records)
    truth = (rng.random(records) < np.linspace(0.5 - lean, 0.5 + lean, groups)[group]).astype(int)
    said = np.where(rng.random(records) < wrong, 1 - truth, truth)
    moved = rng.random(records) < lean * wrong
    said = np.where(moved, (group > groups / 2).astype(int), said)
    return {"g": [_NAMES[i] for i in group], "t": _plain(truth), "p": _plain(said)}


def _classes(rng: Rng, records: int, groups: int, classes: int, wrong: float, invent: float = 0.0) -> Columns:
    group = rng.integers(0, groups, records)
    chance = rng.dirichlet(np.ones(classes) * 2, groups)
    truth = np.array([rng.choice(classes, p=chance[g]) for g in group])
    said = np.where(rng.random(records) < wrong, rng.integers(0, classes, records), truth)
    names = np.array(["north", "east", "south", "west", "up", "down"][:classes], dtype=object)
    words = names[said]
    if invent:
        gone = rng.random(records) < invent * (1 + group)
        words = np.where(gone, np.where(rng.random(records) < 0.5, "nowhere", "beyond"), words)
    return {"g": [_NAMES[i] for i in group], "t": names[truth].tolist(), "p": words.tolist()}


def _several(rng: Rng, records: int, groups: int, tasks: int, wrong: float) -> tuple[Columns, list[str], list[str]]:
    group = rng.integers(0, groups, records)
    out: Columns = {"g": [_NAMES[i] for i in group]}
    for number in range(tasks):
        base = rng.uniform(0.05, 0.6, groups)
        truth = (rng.random(records) < base[group]).astype(int)
        said = np.where(rng.random(records) < wrong * rng.uniform(0.2, 1.5), 1 - truth, truth)
        out[f"task {number}"], out[f"said {number}"] = _plain(truth), _plain(said)
    return out, [f"task {n}" for n in range(tasks)], [f"said {n}" for n in range(tasks)]


def _cells(*cells: tuple[str, Any, Any, int]) -> Columns:
    """Records of groups, truths and predictions, so many of each."""
    rows = [(g, t, p) for g, t, p, many in cells for _ in range(many)]
    return {name: [row[i] for row in rows] for i, name in enumerate(("g", "t", "p"))}


def _by_hand() -> Iterator[tuple[str, Columns, dict[str, Any]]]:
    """Tables in which something is exact, empty, tiny or one-sided."""
    independent = (("a", 1, 1, 1), ("a", 0, 0, 4), ("b", 1, 1, 4), ("b", 0, 0, 16))
    yield "exactly independent", _cells(*independent), {}
    yield (
        "exactly independent, with errors",
        _cells(*independent, ("a", 0, 1, 4), ("a", 1, 0, 1), ("b", 1, 0, 4), ("b", 0, 1, 16)),
        {},
    )
    yield "no errors", _cells(("a", 1, 1, 40), ("a", 0, 0, 60), ("b", 1, 1, 70), ("b", 0, 0, 30)), {}
    yield (
        "rare errors one way",
        _cells(("a", 1, 1, 400), ("a", 0, 0, 600), ("b", 1, 1, 700), ("b", 0, 0, 300), ("b", 0, 1, 3)),
        {},
    )
    yield (
        "as good as 0",
        _cells(
            ("a", 1, 1, 1200), ("a", 0, 0, 2800), ("b", 1, 1, 2800), ("b", 0, 0, 1198), ("b", 0, 1, 1), ("a", 1, 0, 1)
        ),
        {},
    )
    yield (
        "a tiny group",
        _cells(
            ("a", 1, 1, 40),
            ("a", 0, 0, 60),
            ("a", 0, 1, 9),
            ("b", 1, 1, 30),
            ("b", 0, 0, 70),
            ("c", 1, 0, 2),
            ("c", 0, 0, 1),
        ),
        {},
    )
    yield "an empty cell", _cells(("a", 1, 1, 40), ("a", 1, 0, 6), ("b", 0, 0, 70), ("b", 0, 1, 5), ("b", 1, 1, 3)), {}
    yield (
        "one class only in a group",
        _cells(("a", "x", "x", 30), ("b", "y", "y", 20), ("b", "x", "y", 4), ("b", "z", "z", 9), ("a", "x", "y", 3)),
        {},
    )
    yield "turned round", _cells(("a", 1, 0, 80), ("a", 0, 1, 60), ("b", 1, 0, 20), ("b", 0, 1, 90), ("b", 1, 1, 3)), {}
    yield "the truth as group, recoded", _cells(("m", 0, 0, 40), ("m", 0, 1, 6), ("w", 1, 1, 70), ("w", 1, 0, 5)), {}
    yield (
        "the group as prediction, recoded",
        _cells(("m", 0, 0, 40), ("m", 1, 0, 6), ("w", 1, 1, 70), ("w", 0, 1, 5)),
        {},
    )
    yield "few records that go together", _cells(("m", 0, 0, 10), ("w", 1, 1, 9)), {}
    yield "one prediction", _cells(("a", 1, 0, 80), ("a", 0, 0, 60), ("b", 1, 0, 20), ("b", 0, 0, 90)), {}
    yield (
        "positive unknown",
        _cells(
            ("man", "granted", "granted", 50),
            ("man", "denied", "granted", 20),
            ("man", "denied", "denied", 40),
            ("woman", "granted", "denied", 25),
            ("woman", "denied", "denied", 66),
            ("woman", "granted", "granted", 12),
        ),
        {},
    )
    yield (
        "positive named",
        _cells(
            ("man", "granted", "granted", 50),
            ("man", "denied", "granted", 20),
            ("man", "denied", "denied", 40),
            ("woman", "granted", "denied", 25),
            ("woman", "denied", "denied", 66),
            ("woman", "granted", "granted", 12),
        ),
        {"positive": "Granted"},
    )
    yield (
        "sixteenths",
        _cells(("a", 1, 1, 1), ("a", 0, 0, 15), ("b", 1, 1, 3), ("b", 0, 0, 12), ("b", 0, 1, 1)),
        {"min_group": 0},
    )
    undecided = (("a", 1, 1, 28), ("a", 0, 0, 31), ("b", 1, 1, 45), ("b", 0, 0, 57), ("a", 0, 1, 1), ("a", 1, 0, 1))
    yield "a level of one half", _cells(*undecided, ("b", 0, 1, 4), ("b", 1, 0, 4)), {"confidence": 0.5}
    yield "a level below one half", _cells(*undecided, ("b", 0, 1, 4), ("b", 1, 0, 4)), {"confidence": 0.3}
    yield "two records", _cells(("a", 1, 1, 1), ("b", 0, 0, 1)), {}
    yield (
        "large",
        _cells(
            ("a", 1, 1, 21000),
            ("a", 0, 0, 29000),
            ("b", 1, 1, 30500),
            ("b", 0, 0, 19000),
            ("a", 1, 0, 900),
            ("b", 0, 1, 1100),
            ("c", 0, 1, 700),
            ("c", 1, 1, 90),
        ),
        {},
    )
    yield (
        "long names",
        {
            key: [
                value if key != "g" else f"the department that stands at the end of the long corridor number {value}"
                for value in values
            ]
            for key, values in _cells(
                ("1", 1, 1, 40), ("1", 0, 1, 20), ("2", 1, 1, 30), ("2", 0, 0, 50), ("2", 1, 0, 20)
            ).items()
        },
        {},
    )
    yield (
        "marks",
        {
            key: [value if key != "g" else f"{value}\n\u202e\ue000é" for value in values]
            for key, values in _cells(
                ("1", 1, 1, 40), ("1", 0, 1, 20), ("2", 1, 1, 30), ("2", 0, 0, 50), ("2", 1, 0, 20)
            ).items()
        },
        {},
    )


def _simpson(rng: Rng) -> Columns:
    out = _cells(("a", 1, 1, 60), ("a", 0, 0, 20), ("b", 1, 1, 18), ("b", 0, 0, 70), ("a", 0, 1, 9), ("b", 1, 0, 6))
    out["h"] = [("x" if t else "y") if rng.random() < 0.6 else "z" for t in out["t"]]
    return out


def _drawn(number: int) -> Iterator[Callable[[], dict[str, Any]]]:
    """Cases that are drawn at random, a few of each kind in turn."""
    one = (["g"], ["t"], ["p"])
    for i in range(number):
        rng = np.random.default_rng([SEED, i])
        records = int(np.exp(rng.uniform(np.log(8), np.log(5000))))
        groups, wrong = int(rng.integers(2, 6)), float(rng.choice([0.0, 0.002, 0.02, 0.1, 0.3, 0.5]))
        level = float(rng.choice([0.95, 0.95, 0.9, 0.99]))
        least = int(rng.choice([30, 30, 10, 0]))
        more = {"confidence": level, "min_group": least}
        kind = i % 5
        if kind in (0, 1):
            columns = _binary(rng, records, groups, wrong, float(rng.choice([0.0, 0.05, 0.2, 0.45])))
            yield lambda c=columns, m=more, i=i: case(f"binary {i}", c, *one, **m)
        elif kind == 2:
            columns = _classes(
                rng, records, groups, int(rng.integers(3, 7)), wrong, float(rng.choice([0.0, 0.0, 0.01, 0.05]))
            )
            yield lambda c=columns, m=more, i=i: case(f"classes {i}", c, *one, **m)
        elif kind == 3:
            columns, tasks, said = _several(rng, records, groups, int(rng.integers(2, 21)), wrong)
            yield lambda c=columns, t=tasks, s=said, m=more, i=i: case(f"several {i}", c, ["g"], t, s, **m)
        else:
            columns = _binary(rng, records, groups, wrong, 0.2)
            columns["race"] = [["Other", "White", "Asian"][k] for k in rng.integers(0, 3, records)]
            columns["hired"] = columns.pop("t")
            yield lambda c=columns, m=more, i=i: case(f"two attributes {i}", c, ["g", "race"], ["hired"], ["p"], **m)


def cases(number: int) -> Iterator[dict[str, Any]]:
    """The cases that Python does not refuse."""
    for name, columns, more in _by_hand():
        yield case(name, columns, ["g"], ["t"], ["p"], **more)
    rng = np.random.default_rng(SEED)
    mixed, tasks, said = _several(rng, 300, 3, 2, 0.1)
    mixed["colour"] = [("red", "blue", "green")[k] for k in rng.integers(0, 3, 300)]
    mixed["said colour"] = [c if rng.random() < 0.8 else "red" for c in mixed["colour"]]
    yield case("yes/no tasks and classes", mixed, ["g"], [*tasks, "colour"], [*said, "said colour"])
    names = np.random.default_rng([SEED, 7])
    plain, tasks, said = _several(names, 300, 3, 2, 0.1)
    # Names that every object of JavaScript has.
    spoken = dict(
        zip([*tasks, *said, "g"], ("__proto__", "constructor", "toString", "valueOf", "hasOwnProperty"), strict=True)
    )
    groups = dict(zip(_NAMES, ("__proto__", "constructor", "isPrototypeOf"), strict=False))
    odd = {spoken[name]: [groups[v] for v in values] if name == "g" else values for name, values in plain.items()}
    yield case("names of objects", odd, ["hasOwnProperty"], ["__proto__", "constructor"], ["toString", "valueOf"])
    coded = _classes(rng, 200, 2, 3, 0.2)
    coded = {
        name: [("10", "9", "2.5", "x")[sorted(set(values)).index(v) % 4] for v in values]
        for name, values in coded.items()
    }
    yield case("numbers as text", coded, ["g"], ["t"], ["p"])
    yes_no = _binary(rng, 150, 2, 0.2, 0.2)
    yes_no["g"] = [int(g == "a") for g in yes_no["g"]]
    yield case("a yes/no attribute", yes_no, ["g"], ["t"], ["p"])
    yield case("paradox", _simpson(np.random.default_rng(SEED)), ["g", "h"], ["t"], ["p"])
    for make in _drawn(number):
        try:
            yield make()
        except ValueError:  # refused: the reader's part
            continue


def numbers() -> dict[str, Any]:
    """Values of single functions: signs of products beyond 2**53, tests and quantiles."""
    rng = np.random.default_rng(SEED)
    whole = rng.integers(1, 1 << 40, (60, 4)).tolist()
    whole += [[a, b, b, a] for a, b in rng.integers(1 << 30, 1 << 50, (20, 2)).tolist()]
    whole += [[a, b, a + 1, b - 1] for a, b in ((10**15, 10**15 + 1), (3 * 10**9, 3 * 10**9), (94906267, 94906265))]
    signs = [int(compare_products(*(np.array([x], dtype=object) for x in row))[0]) for row in whole]
    tables = [
        [3, 4, 1, 4],
        [0, 10, 5, 7],
        [40, 900, 3, 80000],
        [12, 15, 700, 600000],
        [2000, 5000, 1700, 5100],
        [1, 2, 1, 2],
    ]
    coins = [[0, 0], [1, 3], [400, 300], [20000, 19000], [17, 0], [5, 5], [900000, 899000]]
    ends = [
        [1, 40, 0.025],
        [4, 37, 0.0001],
        [2000, 1900, 0.001],
        [0.5, 3.2, 0.05],
        [1e5, 9e5, 1e-5],
        [38, 3, 0.01],
        [999, 1, 0.025],
    ]
    student = [
        [1.0, 0.975],
        [1.5, 0.95],
        [3.2, 0.995],
        [11.3, 0.975],
        [400.5, 0.975],
        [4095.0, 0.9],
        [4373834.6, 0.975],
        [46827895.9, 0.975],
    ]
    chances = [1e-300, 1e-20, 1e-9, 0.001, 0.025, 0.3, 0.5, 0.7, 0.975, 0.9999]
    return {
        "products": [[str(x) for x in row] for row in whole],
        "signs": signs,
        "fisher": [[*row, float(fisher_exact(*row))] for row in tables],
        "coins": [[*row, float(fair_coins_p(np.array(float(row[0])), np.array(float(row[1]))))] for row in coins],
        "beta": [[*row, float(special.betaincinv(*row))] for row in ends],
        "student": [[*row, float(special.stdtrit(*row))] for row in student],
        "normal": [
            [p, float(special.ndtri(p)), float(special.ndtr(-3.0 * p)), float(special.erfc(10.0 * p))] for p in chances
        ],
    }


def write(folder: Path, number: int) -> int:
    """Write the cases as files of twenty-five each; returns how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    held = list(cases(number))
    for start in range(0, len(held), 25):
        part = {"numbers": numbers() if start == 0 else None, "cases": held[start : start + 25]}
        (folder / f"vectors_{start:04d}.json").write_text(json.dumps(part, separators=(",", ":")), encoding="utf-8")
    return len(held)


def sample() -> str:
    """The text of the committed sample: those by hand, and a few that are drawn."""
    kept = [made for made in cases(9) if made["roles"]["records"] <= 1000]
    small = [made for made in kept if len(made["page"]["audit"]["metrics"][0]["pairs"]) <= 12]
    return json.dumps({"numbers": numbers(), "cases": small}, separators=(",", ":"), ensure_ascii=True) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--cases", type=int, default=340)
    parser.add_argument("--sample", action="store_true")
    given = parser.parse_args()
    if given.sample:
        SAMPLE.write_text(sample(), encoding="utf-8")
    if given.folder is not None:
        print(f"{write(given.folder, given.cases)} cases")
