"""Which engine an ``engine=`` argument means."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from biasamp.data.label_source import LabelSource

from .engine import Engine, Progress
from .memory_budget import check_limits

_ACCEPTED = "'auto', 'local', 'dask', 'spark', a Dask Client, a SparkSession or an Engine"


def home_of(data: Any) -> str:
    """Where data lives: ``"dask"`` or ``"spark"`` for their dataframes, else ``"local"``.

    Nothing is imported: an object of a package that is not imported cannot exist.
    """
    module = type(data).__module__.split(".")
    if module[0] == "dask" and hasattr(data, "to_delayed") and hasattr(data, "npartitions"):
        return "dask"
    if module[:2] == ["pyspark", "sql"] and hasattr(data, "mapInArrow"):
        return "spark"
    return "local"


def engine_for(
    engine: Any,
    data: Any = None,
    *,
    threads: int | None = None,
    memory: int | str | None = None,
    progress: Progress | None = None,
) -> Engine:
    """The engine to count data with.

    Parameters
    ----------
    engine : {"auto", "local", "dask", "spark"}, distributed.Client, SparkSession or Engine
        ``"auto"`` counts Dask and Spark dataframes where they are and everything else on this machine.
    data
        What is to be counted.
    threads : int, optional
        Of the local engine, or worker processes of a Dask cluster that is started here.
    memory : int or str, optional
        Budget of one process.
    """
    check_limits(memory, threads)
    if isinstance(engine, Engine):
        return engine
    if isinstance(data, LabelSource):
        data = data.frame
    home = home_of(data)
    kind, given = _kind(engine)
    if kind == "auto":
        kind = home
    if home not in ("local", kind):
        raise ValueError(
            f"data is a {home.capitalize()} dataframe and stays on its cluster; engine is {_shown(engine)}, and "
            f"'auto' or {home!r} are accepted"
        )
    if kind == "local":
        from .local import LocalEngine

        return LocalEngine(threads=threads, memory=memory, progress=progress)
    package = {"dask": "distributed", "spark": "pyspark"}[kind]
    if given is None and find_spec(package) is None:
        raise ImportError(f'engine={kind!r} needs {package}, which is not installed: pip install "biasamp[{kind}]"')
    if kind == "dask":
        from .dask import DaskEngine

        return DaskEngine(given, workers=threads, memory=memory, progress=progress)
    from .spark import SparkEngine

    return SparkEngine(given, data, memory=memory)


def _kind(engine: Any) -> tuple[str, Any]:
    """The kind of an engine, and the client or session where one is given."""
    if isinstance(engine, str):
        if engine in ("auto", "local", "dask", "spark"):
            return engine, None
        raise ValueError(f"engine is {engine!r}; {_ACCEPTED} are accepted")
    module = type(engine).__module__.split(".")
    if module[0] == "distributed" and hasattr(engine, "submit"):
        return "dask", engine
    if module[:2] == ["pyspark", "sql"] and hasattr(engine, "createDataFrame"):
        return "spark", engine
    raise TypeError(f"engine is a {type(engine).__name__}; {_ACCEPTED} are accepted")


def _shown(engine: Any) -> str:
    return repr(engine) if isinstance(engine, str) else f"a {type(engine).__name__}"
