"""Clusters that several files of tests share."""

from __future__ import annotations

from clusters import dask_client, spark

__all__ = ["dask_client", "spark"]
