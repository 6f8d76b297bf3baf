"""The audit's document: its types are its schema, and kinds are fields, whatever labels and columns are called."""

from __future__ import annotations

import gzip
import io
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from rich.console import Console

import biasamp
from audit_schema import SCHEMA_FILE, audit_schema, schema_text
from biasamp.auditing.audit_result import Audit
from biasamp.policy import Policy
from biasamp.report.terminal import show_audit
from biasamp.results.interval import UNCLEAR_SIGNS

SAVED = sorted((Path(__file__).parent / "saved").glob("*-0.1.json.gz"))
SOURCE = Path(biasamp.__file__).parent
ODD = ["age>=30", "a x b", "a=b", "x -> y", "a/b", "age"]
N = 400
rng = np.random.default_rng(5)
HAS = rng.random(N) < 0.4
TRUE = (rng.random(N) < np.where(HAS, 0.7, 0.3)).astype(int)
PREDICTED = np.where(rng.random(N) < 0.1, HAS.astype(int), TRUE)


def yes_no(name: str, **options: Any) -> Audit:
    """An audit of one yes/no attribute under a name."""
    data = {name: HAS.astype(int), "t": TRUE, "p": PREDICTED}
    roles = {"attributes": biasamp.binary(name), "tasks": "t", "task_predictions": "p"}
    return biasamp.audit(data, **{**roles, "metrics": ["directional", "parity"], "resamples": 50, **options})


def closed(schema: Any) -> Any:
    """The schema with every object closed: a field without a type is refused."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: closed(part) for key, part in schema.items()}
    return {**out, "additionalProperties": False} if "properties" in out and out.get("type") == "object" else out


def test_the_committed_schema_is_that_of_the_types() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(), "run make schema"
    assert files("biasamp.report").joinpath("audit.schema.json").read_text(encoding="utf-8") == schema_text()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"metrics": "auto"},
        {"task_predictions": "score", "metrics": "auto"},
        {"task_scores": "score", "strata": "place"},
    ],
)
def test_every_field_has_a_type(options: dict[str, Any]) -> None:
    data = {"g": np.where(HAS, "w", "m"), "t": TRUE, "p": PREDICTED, "score": np.round(0.2 + 0.5 * PREDICTED, 3)}
    data["place"] = np.arange(len(TRUE)) % 3
    roles = {"attributes": "g", "tasks": "t", "task_predictions": "p"}
    audit = biasamp.audit(data, **{**roles, "resamples": 20, **options})
    compared = audit.compared(biasamp.compare({"one": audit, "other": audit}))
    jsonschema.validate(json.loads(compared.to_json()), closed(audit_schema()))


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.name)
def test_audits_saved_by_version_0_1(path: Path, tmp_path: Path) -> None:
    """They load, follow the schema, and are shown, judged and compared; their fields stay as they are."""
    audit = Audit.load(path)
    document = json.loads(audit.to_json())
    jsonschema.validate(document, audit_schema())
    old = json.loads(gzip.decompress(path.read_bytes()))
    jsonschema.validate(old, audit_schema())
    (caution,) = [row for row in document["findings"] if row["code"] == "unchecked"]
    assert path.name in caution["text"]
    document["findings"].remove(caution)
    assert {name: document[name] for name in old if name not in ("source", "resamples", "data")} == {
        name: value for name, value in old.items() if name not in ("source", "resamples", "data")
    }
    assert {name: value for name, value in document["data"].items() if name in old["data"] and name != "groups"} == {
        name: value for name, value in old["data"].items() if name != "groups"
    }
    assert (audit.source, audit.resamples) == (path.name, old["resamples"])
    audit.save(tmp_path / "again.json.gz")
    assert Audit.load(tmp_path / "again.json.gz").to_json() == audit.to_json()
    out = io.StringIO()
    show_audit(audit, Console(file=out, width=140))
    assert "FPR difference" in out.getvalue()
    assert audit.to_markdown()
    audit.to_html(tmp_path / "report.html")
    assert biasamp.compare({"old": audit, "new": audit}).document["differences"]
    assert set(audit.document["registry"]) >= {entry["metric"] for entry in audit.document["metrics"]}


def test_kinds_of_version_0_1() -> None:
    crossed, one = (
        Audit.load(next(path for path in SAVED if path.name.startswith(name))) for name in ("crossed", "yes")
    )
    assert crossed.document["data"]["kinds"] == {
        "gender": "attribute",
        "race": "attribute",
        "gender x race": "crossing",
    }
    assert one.document["data"]["groups"][0]["category"] is None
    verdict = Policy(limits=[{"metric": "directional", "max": 0.9}]).check(one)
    assert [check.outcome for check in verdict.checks if check.rule == "min_group"] == ["pass"]


@pytest.mark.parametrize("name", ODD)
def test_a_yes_no_attribute_is_judged_alike_under_every_name(name: str) -> None:
    policy = Policy(limits=[{"metric": "directional", "max": 0.5}])
    verdict, plain = policy.check(yes_no(name)), policy.check(yes_no("zz"))
    assert verdict.outcome == plain.outcome == "pass"
    assert [check.outcome for check in verdict.checks] == [check.outcome for check in plain.checks]
    (group,) = yes_no(name).document["data"]["groups"]
    assert (group["kind"], group["variable"], group["category"]) == ("attribute", name, None)


@pytest.mark.parametrize("name", ODD)
def test_an_attribute_has_the_same_cautions_under_every_name(name: str) -> None:
    data = {name: np.where(HAS, "w", "m"), "t": TRUE, "p": PREDICTED, "guess": np.where(rng.random(N) < 0.2, "w", "m")}
    roles: dict[str, Any] = {"tasks": "t", "task_predictions": "p", "attribute_predictions": "guess", "resamples": 50}
    plain = biasamp.audit({**data, "zz": data[name]}, attributes="zz", metrics=["directional", "multi"], **roles)
    audit = biasamp.audit(data, attributes=name, metrics=["directional", "multi"], **roles)
    assert [finding.code for finding in audit.findings if finding.code != "perceived"] == [
        finding.code for finding in plain.findings if finding.code != "perceived"
    ]
    assert "sensitive-prediction" in [finding.code for finding in audit.findings]
    assert audit.document["data"]["kinds"] == {name: "attribute"}
    assert [pair["given"] for pair in audit.document["metrics"][0]["pairs"]][:1] == [f"{name}=m"]


def test_a_crossing_is_one_by_its_kind() -> None:
    data = {"a x b": np.where(HAS, "w", "m"), "c": rng.choice(["x", "y"], N), "t": TRUE, "p": PREDICTED}
    audit = biasamp.audit(
        data,
        attributes=["a x b", "c"],
        tasks="t",
        task_predictions="p",
        intersections=True,
        metrics=["directional"],
        resamples=20,
    )
    assert audit.document["data"]["kinds"] == {"a x b": "attribute", "c": "attribute", "a x b x c": "crossing"}
    kinds = {(row["attribute"], row["kind"]) for row in audit.document["data"]["groups"]}
    assert kinds == {("a x b", "attribute"), ("c", "attribute"), ("a x b x c", "crossing")}


@pytest.mark.parametrize("task", ["a=b", "x -> y", "t"])
def test_the_terminal_takes_a_variable_off_its_own_labels_only(task: str) -> None:
    """Yes/no tasks called ``a`` and ``a=b`` are two variables; the categories of one variable are shown alone."""
    data = {"g": np.where(HAS, "w", "m"), task: TRUE, f"{task}=1": PREDICTED, "p": PREDICTED, "q": TRUE}
    one = biasamp.audit(data, attributes="g", tasks=task, task_predictions="p", metrics=["directional"], resamples=20)
    two = biasamp.audit(
        data,
        attributes="g",
        tasks=[task, f"{task}=1"],
        task_predictions=["p", "q"],
        metrics=["directional"],
        resamples=20,
    )
    shown = []
    for audit in (one, two):
        out = io.StringIO()
        show_audit(audit, Console(file=out, width=160))
        shown.append(out.getvalue())
    assert f"outcome: {task}" in shown[0]
    assert f"outcome: {task}" not in shown[1]
    assert f"{task}=1" in shown[1].split("Pairs, g A→T")[1]
    assert [(row["variable"], row["category"]) for row in one.document["data"]["task_labels"]] == [
        (task, "0"),
        (task, "1"),
    ]
    assert [row["category"] for row in two.document["data"]["task_labels"]] == [None, None]


def test_findings_say_what_they_are_about() -> None:
    audit = yes_no("age>=30", metrics="auto")
    for finding in audit.document["findings"]:
        if "metric" in finding["figure"]:
            assert [finding[name] for name in ("metric", "attribute", "direction")] == [
                finding["figure"][name] for name in ("metric", "attribute", "direction")
            ]
    first = audit.findings[0]
    assert (first.metric, first.attribute, first.direction) == ("directional", "age>=30", "A->T")


def test_doubtful_signs_are_a_kind() -> None:
    """What the records cannot tell is said in words, and decided by the kind of the words."""
    few = 40
    audit = biasamp.audit(
        {"g": ["w", "m"] * few, "t": [0, 1, 1, 0] * (few // 2), "p": rng.integers(0, 2, 2 * few)},
        attributes="g",
        tasks="t",
        task_predictions="p",
        metrics=["directional"],
        resamples=50,
    )
    (entry,) = audit.document["metrics"]
    assert len(entry["cautions"]) == len(entry["caution_kinds"])
    assert UNCLEAR_SIGNS in entry["caution_kinds"]


def test_only_provenance_depends_on_the_call() -> None:
    audit = yes_no("age")
    other = yes_no("age").named("elsewhere.csv")
    assert other.document["provenance"]["source"] == "elsewhere.csv"
    assert {**other.document, "provenance": None} == {**audit.document, "provenance": None}


def test_no_branch_depends_on_words() -> None:
    """No code looks for text inside a message, nor for the marks that join names for display."""
    inside = re.compile(r'"[^"\n]+" (?:not )?in (?:\w+\.)*(?:note|caution|reason|text|words|message|attribute|group)\b')
    joined = re.compile(r"""["'](?: x |=)["'] (?:not )?in |(?:partition|split)\(["'](?: x |\] )["']""")
    for room in ("auditing", "policy", "report", "results"):
        for path in (SOURCE / room).rglob("*.py"):
            code = path.read_text(encoding="utf-8")
            assert not inside.search(code), path.name
            assert not joined.search(code), path.name
