"""Benchmarks: each prints ratios against a named rival or limit, measured in the same run."""
