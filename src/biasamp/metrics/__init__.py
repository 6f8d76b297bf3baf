"""The formulas on counts, one small file a family, and the registry that names each metric."""
