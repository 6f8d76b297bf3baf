"""Data to try the tools on: embedded and generated."""
