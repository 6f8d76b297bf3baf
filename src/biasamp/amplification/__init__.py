"""Amplification: how much more a model follows an association than its data do."""
