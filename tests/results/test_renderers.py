"""Results find what shows them in a registry that is filled when the first of them is shown."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import biasamp
from biasamp.report import registered
from biasamp.results import renderers

SOURCE = Path(biasamp.__file__).parent
CALL = re.compile(r'render\("([^"]+)"')


def test_every_renderer_that_is_asked_for_is_registered_and_asked_for() -> None:
    asked = {name for path in SOURCE.rglob("*.py") for name in CALL.findall(path.read_text(encoding="utf-8"))}
    listed = set(re.findall(r'^        "([^"]+)": ', Path(registered.__file__).read_text(encoding="utf-8"), re.M))
    assert asked == listed


def test_an_unknown_renderer_is_named() -> None:
    with pytest.raises(KeyError, match=r"no renderer 'audit song'; there are .*audit page"):
        renderers.render("audit song")


def test_report_is_loaded_when_a_result_is_first_shown() -> None:
    code = """
import json, sys, biasamp
result = biasamp.directional([0, 1, 1], [0, 1, 0], [0, 1, 1])
before = "biasamp.report" in sys.modules
shown = result._repr_html_()
print(json.dumps([before, "biasamp.report" in sys.modules, "matplotlib" in sys.modules, "rich" in sys.modules, "<table>" in shown]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [False, True, False, False, True]


def test_nothing_is_imported_by_text() -> None:
    """Rooms below ``report`` name no module of it, apart from the package's own table of public names."""
    for room in ("results", "amplification", "association", "auditing", "policy"):
        for path in (SOURCE / room).rglob("*.py"):
            code = path.read_text(encoding="utf-8")
            assert not re.search(r"[\"'](?:biasamp\.)?report\.", code), path
