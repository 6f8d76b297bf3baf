"""Doctests of modules that are about an optional package are collected only where it is installed.

With several processes (pytest-xdist) a file's tests go to any of them, but all tests of clusters go to one.
"""

from importlib.util import find_spec
from typing import Any

import pytest

_NEEDS = {
    "numba": ("counts/long_fast.py", "counts/kernels/bagged.py", "counts/kernels/draws.py", "counts/kernels/fast.py"),
    "torchmetrics": ("integrations/torch.py", "integrations/tensors.py"),
    "mlflow": ("integrations/mlflow.py",),
}
collect_ignore = [
    # Scripts that tests run as processes of their own.
    "tests/integrations/ddp_worker.py",
    "tests/integrations/npmi_reader.py",
    *(f"src/biasamp/{file}" for package, files in _NEEDS.items() if find_spec(package) is None for file in files),
]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out tests file by file, so that what a file sets up is set up once; files named ``*clusters.py`` together."""
    from xdist.scheduler import LoadScopeScheduling

    class ClustersTogether(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return "clusters" if file.endswith("clusters.py") else file

    return ClustersTogether(config, log)
