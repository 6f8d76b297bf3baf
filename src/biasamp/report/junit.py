"""A verdict as JUnit XML, which CI systems read."""

from __future__ import annotations

import platform
from datetime import datetime
from xml.etree import ElementTree

from biasamp.data import printable
from biasamp.policy.verdict import FAIL, PASS, UNDECIDED, Check, Verdict

_LONG = 2000


def junit_xml(verdict: Verdict, timestamp: datetime | None = None) -> str:
    """One suite, one case a check.

    Attributes and order are those that the schemas of Ant and of Jenkins' xUnit reader both accept.
    """
    count = {kind: sum(check.outcome == kind for check in verdict.checks) for kind in (FAIL, UNDECIDED)}
    totals = {"tests": str(len(verdict.checks)), "failures": str(count[FAIL]), "errors": str(count[UNDECIDED])}
    root = ElementTree.Element("testsuites")
    when = (timestamp or datetime.now()).replace(microsecond=0, tzinfo=None)
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        {
            "id": "0",
            "package": "biasamp",
            "name": f"biasamp check of {_text(verdict.data, 200)}",
            "timestamp": when.isoformat(),
            "hostname": _text(platform.node() or "localhost", 200),
            **totals,
            "time": "0",
        },
    )
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in (("policy", verdict.policy), ("outcome", verdict.outcome)):
        ElementTree.SubElement(properties, "property", {"name": name, "value": _text(value, 200)})
    for place, check in enumerate(verdict.checks, start=1):
        _case(suite, check, place)
    lines = [*(f"caution: {line}" for line in verdict.caution_lines), *verdict.notes]
    ElementTree.SubElement(suite, "system-out").text = "\n".join(_text(line) for line in lines)
    ElementTree.SubElement(suite, "system-err")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _case(suite: ElementTree.Element, check: Check, place: int) -> None:
    # Readers tell cases apart by their names, and two rules may be about one figure.
    name = f"{place}. {_text(check.about, 400)}"
    limit = f" {check.limit}" if check.limit else ""
    case = ElementTree.SubElement(suite, "testcase", {"classname": "biasamp.policy", "name": name + limit, "time": "0"})
    if check.outcome == PASS:
        return
    tag = "failure" if check.outcome == FAIL else "error"
    found = ElementTree.SubElement(case, tag, {"message": _text(check.reason), "type": check.outcome})
    where = "" if check.line is None else f" (line {check.line})"
    lines = [f"rule: {check.rule}{where}", *(f"caution: {caution}" for caution in check.cautions)]
    found.text = "\n".join(_text(line) for line in lines)


def _text(text: str, limit: int = _LONG) -> str:
    """One harmless line; the two characters that XML cannot hold at all are named."""
    shown = printable(text, limit)
    return shown.replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")
