"""What version 0.1 gave is what this version gives, but for the rulings that ``RULINGS.md`` lists: values, counts, schema, saved files,
options and exit codes.
"""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from golden.cases import CASES, SAVED, Case
from golden.comparing import COUNTED, EVERYTHING, GAPS, NOTHING, RECORDS, Moves, differences, shortened

EXPECTED = Path(__file__).parent / "expected"


def _parameters() -> list[Any]:
    return [
        pytest.param(case, id=name, marks=[pytest.mark.data] if case.needs_data else []) for name, case in CASES.items()
    ]


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("case", _parameters())
def test_as_in_version_0_1(case: Case) -> None:
    expected = json.loads(gzip.decompress((EXPECTED / f"{case.name}.json.gz").read_bytes()))
    found = list(differences(expected, case.document(), case.moves))
    assert not found, f"{len(found)} differences:\n" + "\n".join(found[:30])


def test_every_golden_has_its_case() -> None:
    assert {path.name.removesuffix(".json.gz") for path in EXPECTED.iterdir()} == set(CASES)


def test_files_are_small() -> None:
    assert all(path.stat().st_size < 60_000 for path in SAVED.iterdir())
    assert sum(path.stat().st_size for path in EXPECTED.iterdir()) < 1_500_000


# --- the comparison itself -------------------------------------------------------------------------------------------

ENTRY: dict[str, Any] = {
    "version": "0.1.0",
    "metrics": [
        {
            "metric": "directional",
            "value": 0.25,
            "interval": [0.1, 0.4],
            "n": 100,
            "pairs": [{"given": "m", "clear": True, "low": 0.1, "high": 0.2, "p": 0.01, "q": None, "support": 50.0}],
            "cautions": ["few records"],
        },
        {"metric": "mals", "value": 0.1, "interval": [0.0, 0.2], "pairs": [{"low": 0.0, "high": 0.2, "p": 0.04}]},
        {"metric": "fpr_difference", "value": 0.1, "interval": [0.0, 0.2]},
        {"metric": "dpa", "value": 0.1, "interval": [0.0, 0.2]},
    ],
    "findings": [{"kind": "finding", "code": "amplification", "text": "It amplifies.", "weight": 110.2}],
}


def _changed(*place: Any, to: Any) -> Any:
    """The entry with something else in one place; a key that is not there is added."""
    out = copy.deepcopy(ENTRY)
    held = out
    for step in place[:-1]:
        held = held[step]
    held[place[-1]] = to
    return out


@pytest.mark.parametrize(
    ("place", "to"),
    [
        (("metrics", 0, "value"), 0.25 + 1e-9),
        (("metrics", 0, "value"), None),
        (("metrics", 0, "value"), "0.25"),
        (("metrics", 0, "n"), 101),
        (("metrics", 0, "n"), 100.0),
        (("metrics", 0, "pairs", 0, "clear"), 1),
        (("metrics", 0, "pairs", 0, "clear"), False),
        (("metrics", 0, "pairs", 0, "given"), "w"),
        (("metrics", 0, "pairs", 0, "q"), 0.5),
        (("metrics", 0, "pairs"), []),
        (("metrics", 0, "pairs"), {}),
        (("metrics", 0), None),
        (("metrics", 0, "interval"), [0.1, 0.4, 0.5]),
        (("metrics", 0, "interval"), [None, None]),
        (("metrics", 0, "interval", 0), 0.1 + 0.16 * 0.3),
        (("metrics", 0, "interval", 1), 0.4 - 0.16 * 0.3),
        (("metrics", 1, "pairs", 0, "high"), 0.24),
        (("metrics", 0, "cautions"), []),
        (("findings", 0, "code"), "another"),
        (("findings", 0, "text"), ""),
        (("findings",), []),
    ],
)
@pytest.mark.parametrize("moves", [NOTHING, RECORDS, GAPS, EVERYTHING])
def test_a_change_is_a_difference(place: Any, to: Any, moves: Moves) -> None:
    assert list(differences(ENTRY, _changed(*place, to=to), moves))


def test_a_key_that_is_gone_is_a_difference() -> None:
    for place in (("metrics",), ("metrics", 0, "n"), ("metrics", 0, "interval"), ("metrics", 0, "pairs", 0, "p")):
        out = copy.deepcopy(ENTRY)
        held = out
        for step in place[:-1]:
            held = held[step]
        del held[place[-1]]
        found = list(differences(ENTRY, out, EVERYTHING))
        assert len(found) == 1
        assert found[0].endswith("gone")


@pytest.mark.parametrize("moves", [NOTHING, RECORDS, GAPS, EVERYTHING])
@pytest.mark.parametrize(
    ("place", "to"),
    [
        (("version",), "9.9"),
        (("provenance",), {"new": True}),
        (("metrics", 0, "new"), 1),
        (("metrics", 0, "value"), 0.25 * (1 + 1e-14)),
        (("metrics", 0, "cautions"), ["in other words"]),
        (("findings", 0, "text"), "In other words."),
        (("findings", 0, "weight"), 109.0),
    ],
)
def test_what_may_always_change(place: Any, to: Any, moves: Moves) -> None:
    assert not list(differences(ENTRY, _changed(*place, to=to), moves))


@pytest.mark.parametrize(
    ("place", "to", "allowed"),
    [
        (("metrics", 0, "interval", 0), 0.14, (RECORDS, COUNTED, GAPS, EVERYTHING)),
        (("metrics", 0, "pairs", 0, "low"), 0.11, (EVERYTHING,)),
        (("metrics", 0, "pairs", 0, "p"), 0.012, (EVERYTHING,)),
        (("metrics", 0, "pairs", 0, "p"), 0.1, ()),
        (("metrics", 1, "pairs", 0, "low"), 0.02, (COUNTED, EVERYTHING)),
        (("metrics", 1, "pairs", 0, "p"), 0.05, (COUNTED, EVERYTHING)),
        (("metrics", 2, "interval", 1), 0.21, (GAPS, EVERYTHING)),
        (("metrics", 3, "interval", 1), 0.21, ()),
    ],
)
def test_what_may_move_where(place: Any, to: Any, allowed: tuple[Moves, ...]) -> None:
    for moves in (NOTHING, RECORDS, COUNTED, GAPS, EVERYTHING):
        assert bool(list(differences(ENTRY, _changed(*place, to=to), moves))) != (moves in allowed), moves


def test_a_narrow_interval_may_move_a_little() -> None:
    old = {"metric": "directional", "interval": [0.01, 0.011], "standard_error": 0.1}
    assert not list(differences(old, {**old, "interval": [0.0118, 0.0125], "standard_error": 0.11}, RECORDS))
    assert list(differences(old, {**old, "interval": [0.0121, 0.0125]}, RECORDS))
    assert list(differences(old, {**old, "standard_error": 0.12}, RECORDS))


def test_long_lists_are_cut_and_still_tell_of_a_change() -> None:
    rows = [{"label": f"{i}", "value": i / 7, "p": 1 / (i + 1), "deep": [{"x": i}]} for i in range(100)]
    whole = shortened({"metric": "directional", "rows": rows})
    assert len(json.dumps(whole)) < len(json.dumps(rows)) / 2
    almost = copy.deepcopy(rows)
    almost[50]["value"] *= 1 + 1e-15
    assert not list(differences(whole, shortened({"metric": "directional", "rows": almost})))
    changes: list[tuple[str, Any]] = [("label", "fifty"), ("value", 7.1), ("value", None), ("deep", [{"x": 1}])]
    for key, value in changes:
        other = copy.deepcopy(rows)
        other[50][key] = value
        assert list(differences(whole, shortened({"metric": "directional", "rows": other}))), key
    swapped = [*rows[:50], rows[51], rows[50], *rows[52:]]
    assert list(differences(whole, shortened({"metric": "directional", "rows": swapped})))
    moved = copy.deepcopy(rows)
    moved[50]["p"] = 0.021
    old, new = (shortened({"metric": "directional", "rows": held}, EVERYTHING) for held in (rows, moved))
    assert not list(differences(old, new, EVERYTHING))
    assert list(differences(whole, shortened({"metric": "directional", "rows": moved})))
