"""Where counting runs: on the threads of this machine, on a Dask cluster or on a Spark cluster.

An engine takes a *kernel*, a picklable function from a part of the data to something that adds up, and the parts.
What a part is, is the kernel's affair; the engine only looks at its ``name`` and ``rows``.
"""

from .choose import engine_for, home_of
from .engine import Engine, counted
from .memory_budget import parse_memory

__all__ = ["Engine", "counted", "engine_for", "home_of", "parse_memory"]
