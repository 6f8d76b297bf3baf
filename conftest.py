"""What both suites share, that of the package and that of the reproductions.

What is left out is said, randomness is fixed, real data are optional. Doctests of modules that are about an optional
package are collected only where it is installed. With several processes (pytest-xdist) a file's tests go to any of
them, but all tests of clusters go to one.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from extras import absent, all_wanted, data_folder, quick_wanted

# Audits keep the time at which they were made: in tests it stands still, so that their files can be compared.
os.environ.setdefault("SOURCE_DATE_EPOCH", "1790000000")

# How wide tables are must not depend on the terminal that tests are started from.
os.environ.pop("COLUMNS", None)
# Files of tests that use clusters of processes, of which there is one of each kind.
CLUSTERS = "clusters.py"
_SOURCE = Path(__file__).parent / "src" / "biasamp"
_ABSENT = [package for package in ("numba", "torchmetrics", "mlflow") if find_spec(package) is None]


def _with_absent_imports() -> set[Path]:
    """The modules that import, at their top, an optional package that is not installed, or a neighbour that does."""
    found: set[Path] = set()
    users: dict[Path, set[Path]] = defaultdict(set)
    for file in _SOURCE.rglob("*.py"):
        for line in file.read_text(encoding="utf-8").splitlines():
            if any(line.startswith((f"import {package}", f"from {package}")) for package in _ABSENT):
                found.add(file)
            near = re.match(r"from \. import (\w+)|from \.(\w+) import", line)
            if near:
                users[file.parent / f"{near[1] or near[2]}.py"].add(file)
    waiting = list(found)
    while waiting:
        new = users[waiting.pop()] - found
        found |= new
        waiting += new
    return found


collect_ignore = [
    # Scripts that tests run as processes of their own.
    "tests/integrations/ddp_worker.py",
    "tests/integrations/npmi_reader.py",
    *map(str, sorted(_with_absent_imports())),
]

# The same examples on every run: a failure that comes and goes helps nobody. A search for new ones is a
# matter of HYPOTHESIS_PROFILE=search.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data sets; tests that use it carry ``@pytest.mark.data``."""
    folder = data_folder()
    if folder is None:
        pytest.skip("BIASAMP_DATA is not set")
    assert folder.is_dir(), f"BIASAMP_DATA names {folder}, which is not a folder"
    return folder


def _slow(items: list[Any]) -> set[Any]:
    """The tests marked slow, but for the first cases of those that say how many are to be kept."""
    slow, kept = set(), Counter[str]()
    for item in items:
        marks = list(item.iter_markers("slow"))
        name = item.nodeid.partition("[")[0]
        if marks and kept[name] < min(mark.kwargs.get("keep", 0) for mark in marks):
            kept[name] += 1
        elif marks:
            slow.add(item)
    return slow


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leave out tests on real data where there are none, and slow ones in a newcomer's run."""
    for item in items:
        if item.path.name.endswith(CLUSTERS):
            # Workers are processes of other makers: a test that waited for one in vain is tried once more, and that is said.
            item.add_marker(pytest.mark.timeout(240))
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=["Timeout"]))
    if quick_wanted():
        slow = _slow(items)
        items[:] = [item for item in items if item not in slow]
        config.hook.pytest_deselected(items=list(slow))
    if data_folder() is None:
        for item in items:
            if item.get_closest_marker("data") is not None:
                item.add_marker(pytest.mark.skip(reason="BIASAMP_DATA is not set"))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say plainly what was left out and how to run it."""
    lines = []
    if not all_wanted() and absent():
        lines.append(f"tests that need {', '.join(absent())}: run `make test EXTRAS=all`")
    if quick_wanted():
        lines.append("tests marked slow, such as simulations of coverage: run `make test EXTRAS=all`")
    if data_folder() is None:
        lines.append("tests on real data: set BIASAMP_DATA to the folder of data sets")
    if lines:
        terminalreporter.section("left out of this run")
        for line in lines:
            terminalreporter.line(f"- {line}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out tests file by file, so that what a file sets up is set up once; files named ``*clusters.py`` together."""
    from xdist.scheduler import LoadScopeScheduling

    class ClustersTogether(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return "clusters" if file.endswith(CLUSTERS) else file

    return ClustersTogether(config, log)
