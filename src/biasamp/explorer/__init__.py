"""Associations to look through: the explorer, as one file or served on this machine."""
