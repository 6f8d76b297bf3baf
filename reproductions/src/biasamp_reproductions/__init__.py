"""The papers' tables and figures, run again: one short file an experiment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from .experiment import Experiment, Progress, Setting, silent
from .outcome import Outcome
from .running import over_seeds

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


def run(
    name: str,
    *,
    seed: int = 0,
    data: str | Path | None = None,
    quick: bool = False,
    scale: Mapping[str, float] | None = None,
    seeds: int | None = None,
    keep: str | Path | None = None,
    model: str | None = None,
    progress: Progress = silent,
    **own: Any,
) -> Outcome:
    """Run one experiment, on the paper's data, on a stand-in or on files of one's own.

    Parameters
    ----------
    name : str
        One of :func:`experiments`.
    seed : int
    data : str or Path, optional
        The folder of real files; by default that which the variable ``BIASAMP_DATA`` names.
    quick : bool
        Small sizes: to see that it runs, not for figures.
    scale : mapping of str to int, optional
        Sizes by name, such as ``{"train": 500}``; :attr:`Experiment.sizes` has the names.
    seeds : int, optional
        How many runs with other seeds. Experiments that train networks have runs of their own; of the others figures are those of
        the first seed, and each that moves says how far.
    keep : str or Path, optional
        A folder for finished parts of long experiments: a run that was stopped goes on from there.
    model : str, optional
        For ``fill-in-the-blank``: a masked language model of the Hugging Face Hub, or a folder.
    progress : callable
        Told how much is done.
    **own
        Files of one's own; :attr:`Experiment.options` has the names that an experiment takes.

        - ``masking``: ``images`` (a folder), ``annotations`` (instances in COCO's format), ``caption_annotations`` or ``attribute`` (where
          the gender is from), ``network`` (a function of the number of outputs that gives a torch module, or ``"module:function"``),
          ``side``.
        - ``captions``: ``captions`` (CSV or Parquet), ``words`` (JSON with ``groups`` and ``objects``), ``models`` (columns of captions, with
          commas), ``group``, ``objects`` (columns of the truth).
        - ``compas-thresholds``: ``scores`` (CSV or Parquet), ``score``, ``group``, ``truth`` (columns).
        - ``aies-rankings``: ``labels`` (a table, or files of Open Images), ``identities`` (two, with a comma), ``record``, ``label`` (columns of
          a table).

    Returns
    -------
    Outcome
        Rows, totals by what they were measured on, charts, sentences; ``to_dict()`` is the JSON of the command.

    Examples
    --------
    >>> outcome = run("worked-examples")
    >>> outcome.totals
    {"The paper's own numbers": {'same digits': 8, 'holds': 14}}
    """
    known = experiments()
    if name not in known:
        raise ValueError(f"there is no experiment {name!r}; there are {', '.join(known)}")
    experiment = known[name]
    asked = [*own, *(["model"] if model is not None else [])]
    unknown = [option for option in asked if option not in experiment.options]
    if unknown:
        raise TypeError(
            f"{name} takes no {unknown[0]!r}; it takes {', '.join(experiment.options) or 'no files of your own'}"
        )
    setting = Setting(
        seed,
        data_folder() if data is None else Path(data),
        model,
        progress,
        quick,
        scale or {},
        seeds,
        None if keep is None else Path(keep),
        own,
    )
    blocked = experiment.blocked(setting)
    if blocked:
        raise ValueError(f"{name} cannot run here: it {blocked}")
    return over_seeds(experiment, setting)


__all__ = ["Experiment", "Outcome", "Setting", "data_folder", "experiments", "run"]
