"""Which labels a model ties to which identity, where there is no ground truth."""
