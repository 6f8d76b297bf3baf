"""JUnit XML that the readers of CI systems accept."""

from __future__ import annotations

import re
from datetime import datetime
from xml.etree import ElementTree

import pytest

from amplified import audited, columns
from biasamp.policy import Check, Policy, Verdict
from biasamp.report.junit import junit_xml

# What Ant's schema demands: element -> required attributes, and its children in their order.
REQUIRED = {
    "testsuites": (set(), ["testsuite"]),
    "testsuite": (
        {"id", "package", "name", "timestamp", "hostname", "tests", "failures", "errors", "time"},
        ["properties", "testcase", "system-out", "system-err"],
    ),
    "properties": (set(), ["property"]),
    "property": ({"name", "value"}, []),
    "testcase": ({"name", "classname", "time"}, ["error", "failure"]),
    "failure": ({"type", "message"}, []),
    "error": ({"type", "message"}, []),
    "system-out": (set(), []),
    "system-err": (set(), []),
}
OPTIONAL: dict[str, set[str]] = {}
# Ant's schema takes a local time without a zone, and Jenkins' a time of digits.
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


def validate(text: str) -> ElementTree.Element:
    root = ElementTree.fromstring(text.encode())
    assert root.tag == "testsuites"
    for element in root.iter():
        required, order = REQUIRED[element.tag]
        assert set(element.attrib) == required | (set(element.attrib) & OPTIONAL.get(element.tag, set()))
        places = [order.index(child.tag) for child in element]
        assert places == sorted(places)
    for suite in root:
        assert TIMESTAMP.fullmatch(suite.attrib["timestamp"])
        cases = suite.findall("testcase")
        assert int(suite.attrib["tests"]) == len(cases)
        assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
        assert int(suite.attrib["errors"]) == len(suite.findall("testcase/error"))
        names = [case.attrib["name"] for case in cases]
        assert len(set(names)) == len(names)
        assert all(len(case) <= 1 for case in cases)
        assert [child.tag for child in suite][-2:] == ["system-out", "system-err"]
    return root


def test_a_failure_and_lacking_evidence_are_neither_green() -> None:
    amplifying = audited(columns(said=0.5))
    limits = [{"metric": "directional", "max": 0.001}, {"metric": "dpa", "max": 0.1}, {"metric": "multi", "max": 0.9}]
    root = validate(Policy(limits=limits).check(amplifying).to_junit())
    assert [len(root.findall(f".//{tag}")) for tag in ("failure", "error")] == [1, 1]
    assert root.find(".//error").attrib["type"] == "not enough evidence"  # type: ignore[union-attr]


@pytest.mark.parametrize("label", ["<b>&\"'", "a\x00b\x1b[31m\n", "\ud800", "\ufffe\uffff", "]]>", "ü" * 5000])
def test_labels_of_strangers(label: str) -> None:
    checks = tuple(
        Check(rule=label, outcome=outcome, reason=label, metric="multi", attribute=label)
        for outcome in ("pass", "fail", "not enough evidence")
    )
    text = junit_xml(Verdict(checks, label, label, (label,)), datetime(2024, 5, 6, 7, 8, 9))
    assert validate(text)[0].attrib["timestamp"] == "2024-05-06T07:08:09"


def test_no_checks_are_no_pass() -> None:
    assert Verdict(()).outcome == "not enough evidence"
