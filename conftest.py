"""Doctests of modules that are about an optional package are collected only where it is installed."""

from importlib.util import find_spec

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
