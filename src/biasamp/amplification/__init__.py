"""Bias amplification by co-occurrence: a file for each metric, with its formula, public function and result."""
