"""The papers' tables and figures, run again: one short file an experiment."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

from .experiment import Experiment, Setting

_MODULES = (
    "worked_examples",
    "mals_correction",
    "masking",
    "captions",
    "seed_variance",
    "fill_in_the_blank",
    "compas_thresholds",
    "dpa_properties",
    "dpa_compas",
    "dpa_robustness",
    "imsitu_leakage",
    "aies_rankings",
    "aies_small_spaces",
    "aies_orientations",
    "llm_generations",
)


def experiments() -> dict[str, Experiment]:
    """All experiments by name, in the order of the papers."""
    found = (import_module(f"biasamp_reproductions.{module}").EXPERIMENT for module in _MODULES)
    return {experiment.name: experiment for experiment in found}


def data_folder() -> Path | None:
    """The folder of real files that BIASAMP_DATA names, if it names one."""
    named = os.environ.get("BIASAMP_DATA")
    if not named:
        return None
    folder = Path(named)
    if not folder.is_dir():
        raise ValueError(f"BIASAMP_DATA names {named!r}, which is not a folder")
    return folder


__all__ = ["Experiment", "Setting", "data_folder", "experiments"]
