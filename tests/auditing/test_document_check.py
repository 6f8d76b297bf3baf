"""Saved audits that were changed are refused and the field is named; the types are checked as the JSON schema checks them."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import biasamp
from audit_schema import audit_schema
from biasamp.auditing.document_check import first_problem
from biasamp.results.checksums import checksums

rng = np.random.default_rng(1)
N = 200
DATA = {"g": rng.choice(["w", "m"], N), "t": rng.integers(0, 2, N), "p": rng.random(N).round(2)}


@pytest.fixture(scope="module")
def saved() -> dict[str, Any]:
    audit = biasamp.audit(DATA, attributes="g", tasks="t", task_predictions="p", resamples=20)
    compared = audit.compared(biasamp.compare({"one": audit, "two": audit}))
    document: dict[str, Any] = json.loads(compared.to_json())
    return document


def spots(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value of a document."""
    if path:
        yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from spots(value[key], (*path, key))


def put(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    out = copy.deepcopy(document)
    spot = out
    for key in path[:-1]:
        spot = spot[key]
    spot[path[-1]] = value
    return out


OTHERS: list[Any] = [None, -1, 0.5, 3, "text", [], {}, True, ["x"], [[1]]]


@pytest.mark.slow
def test_the_checks_are_those_of_the_json_schema(saved: dict[str, Any]) -> None:
    """Whatever jsonschema refuses is refused, and named by the same field."""
    validator = jsonschema.Draft202012Validator(audit_schema())
    chance = random.Random(4)
    places = list(spots({name: held for name, held in saved.items() if name != "checksum"}))
    refused = 0
    for _ in range(500):
        path = chance.choice(places)
        changed = put(saved, path, chance.choice(OTHERS))
        errors = [list(error.absolute_path) for error in validator.iter_errors(changed)]
        found = first_problem(changed, closed=False)
        if errors and not any(path[-1] == "metric" for path in errors if path):
            refused += 1
            assert found is not None, path
            named = found[0].replace("]", "").replace("[", ".").split(".")
            assert any([str(key) for key in error] == named[: len(error)] for error in errors), (errors, found)
    assert refused > 200


@pytest.mark.slow
def test_every_change_is_noticed_and_named(saved: dict[str, Any], tmp_path: Path) -> None:
    chance = random.Random(5)
    places = list(spots({name: held for name, held in saved.items() if name != "checksum"}))
    for _ in range(300):
        path = chance.choice(places)
        old = saved
        for key in path:
            old = old[key]
        value = chance.choice([other for other in OTHERS if json.dumps(other) != json.dumps(old)])
        (tmp_path / "x.json").write_text(json.dumps(put(saved, path, value)), encoding="utf-8")
        with pytest.raises(ValueError, match=r"x\.json (is|was|has) ") as error:
            biasamp.Audit.load(tmp_path / "x.json")
        assert str(path[0]) in str(error.value)


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (("metrics", 0, "value"), 0.0, "was changed since it was saved: the checksum of metrics[0] does not agree"),
        (("metrics", 0, "value"), "0", "metrics[0].value must be a number or null, and is text (0)"),
        (("metrics", 0, "value"), 3.5, "metrics[0].value is 3.5, and directional lies between -1 and 1"),
        (("metrics", 0, "n"), True, "metrics[0].n must be a number, and is true or false"),
        (("metrics", 0, "interval"), [0.5, 0.1], "metrics[0].interval ends at 0.1, below where it begins, 0.5"),
        (("metrics", 0, "interval"), [0.5], "metrics[0].interval has 1 items, and 2 or more are needed"),
        (("metrics", 0, "attribute"), "x", "metrics[0].attribute is 'x', which is no attribute of the audit"),
        (("data", "records"), 0, "data.records is 0, which is beyond 1"),
        (("data", "records"), 1.5, "data.records must be a whole number, and is a number that is no whole one (1.5)"),
        (("data", "groups", 0, "records"), 201, "data.groups[0].records is 201, more than all 200 records"),
        (("data", "missing"), "perhaps", "data.missing must be 'error' or 'drop' or 'negative', and is text (perhaps)"),
        (("rates", 0, "accuracy", "value"), 1.5, "rates[0].accuracy.value is 1.5, and a share lies between 0 and 1"),
        (("findings", 0, "text"), "Nothing to see.", "the checksum of findings does not agree"),
        (("provenance", "source"), "other.csv", "the checksum of provenance does not agree"),
        (("checksum", "data"), "0" * 32, "the checksum of data does not agree"),
        (("added",), 1, "the checksum of added does not agree"),
    ],
)  # fmt: skip
def test_fields_are_named(
    saved: dict[str, Any], path: tuple[Any, ...], value: Any, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "x.json").write_text(json.dumps(put(saved, path, value)), encoding="utf-8")
    with pytest.raises(ValueError, match=r"x\.json ") as error:
        biasamp.Audit.load(tmp_path / "x.json")
    assert problem in str(error.value)


def test_without_checksum_there_is_a_caution_that_stays(saved: dict[str, Any], tmp_path: Path) -> None:
    bare = {name: held for name, held in saved.items() if name != "checksum"} | {"version": "0.1.0"}
    (tmp_path / "x.json").write_text(json.dumps(bare), encoding="utf-8")
    audit = biasamp.Audit.load(tmp_path / "x.json")
    (caution,) = [finding for finding in audit.findings if finding.code == "unchecked"]
    assert "x.json, which has no checksum" in caution.text
    assert "no checksum" in audit.to_markdown()
    audit.save(tmp_path / "again.json")
    again = biasamp.Audit.load(tmp_path / "again.json")
    assert [finding.code for finding in again.findings].count("unchecked") == 1
    (tmp_path / "x.json").write_text(json.dumps({**bare, "chfcksum": {}}), encoding="utf-8")
    with pytest.raises(ValueError, match="chfcksum is no field of an audit"):
        biasamp.Audit.load(tmp_path / "x.json")


@pytest.mark.parametrize("version", ["0.2.0", "1.0", "0.10.0", "0.11", ""])
def test_a_checksum_that_was_taken_out_is_missed(saved: dict[str, Any], version: str, tmp_path: Path) -> None:
    bare = {name: held for name, held in saved.items() if name != "checksum"} | {"version": version}
    (tmp_path / "x.json").write_text(json.dumps(bare), encoding="utf-8")
    with pytest.raises(
        ValueError, match=rf"x\.json has no checksum, and files of version {version} have one: .* or audit"
    ):
        biasamp.Audit.load(tmp_path / "x.json")
    # A checksum of another form is none either.
    for odd in ({}, {"version": "x"}):
        (tmp_path / "x.json").write_text(json.dumps({**bare, "checksum": odd}), encoding="utf-8")
        with pytest.raises(ValueError, match="was changed since it was saved"):
            biasamp.Audit.load(tmp_path / "x.json")


def test_a_later_version_may_add_fields(saved: dict[str, Any], tmp_path: Path) -> None:
    later = {**saved, "added": [1, 2]}
    later["checksum"] = checksums(later, "metrics")
    (tmp_path / "x.json").write_text(json.dumps(later), encoding="utf-8")
    assert biasamp.Audit.load(tmp_path / "x.json").document["added"] == [1, 2]  # type: ignore[typeddict-item]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "9" * 5000])
def test_numbers_that_json_does_not_have(saved: dict[str, Any], number: str, tmp_path: Path) -> None:
    text = json.dumps(put(saved, ("metrics", 0, "value"), "HERE")).replace('"HERE"', number)
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"x\.json is (no saved audit|a saved audit with a field)"):
        biasamp.Audit.load(tmp_path / "x.json")


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (("rates", 0, "group"), "g=x", "rates[0].group is 'g=x', which is no group of the attribute"),
        (("rates", 0, "attribute"), "h", "which is no group of the attribute"),
        (
            ("findings", 0, "figure"),
            {"verdict": 1, "attribute": "g", "metric": "x"},
            "findings[0].figure.direction is missing",
        ),
        (
            ("findings", 0, "figure"),
            {"verdict": [1]},
            "findings[0].figure.verdict must be -1, 0, 1 or null, and is a list",
        ),
        (("resamples", "seed"), None, "resamples.seed is missing"),
        (("resamples", "records"), None, "resamples.records is missing"),
        (("metrics", 0, "value"), 10**400, "metrics[0].value must be a number or null"),
        (("data", "groups", 0, "records"), 2**70, "data.groups[0].records is a whole number beyond 64 bits"),
    ],
)
def test_forged_fields_with_right_checksums_are_named(
    tmp_path: Path, path: tuple[Any, ...], value: Any, problem: str
) -> None:
    """None: the field is taken out."""
    biasamp.audit(DATA, attributes="g", tasks="t", task_predictions="p", resamples=20).save(tmp_path / "x.json")
    document = json.loads((tmp_path / "x.json").read_text())
    document = put(document, path, value)
    if value is None:
        del document[path[0]][path[1]]
    del document["checksum"]
    (tmp_path / "x.json").write_text(json.dumps({**document, "checksum": checksums(document, "metrics")}))
    with pytest.raises(ValueError, match=r"x\.json ") as error:
        biasamp.Audit.load(tmp_path / "x.json")
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("part", "field"), [("pairs", "moved"), ("pairs", "sign"), ("halves", "figures"), ("halves", "noise")]
)
def test_lists_of_another_length_are_named(tmp_path: Path, part: str, field: str) -> None:
    roles = {"attributes": "g", "tasks": "t", "task_predictions": "said"}
    hard = {**DATA, "said": (DATA["p"] > 0.5).astype(int)}
    biasamp.audit(hard, **roles, metrics=["directional", "dpa"], resamples=20).save(tmp_path / "audit.json")
    document = json.loads((tmp_path / "audit.json").read_text())
    held = next(iter(document["resamples"][part].values()))
    held[field] = held[field][:-1]
    document["checksum"] = checksums({name: value for name, value in document.items() if name != "checksum"}, "metrics")
    (tmp_path / "audit.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match=rf"resamples\.{part}\..*\.{field} has [\d,]+ numbers"):
        biasamp.Audit.load(tmp_path / "audit.json")
