"""Measure how much a model amplifies the bias of its data."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# Threads of OpenBLAS, which numpy and scipy bring along, wait for work with a processor in hand, by default for some tenths of a
# second, and all they are given here are small products. Where nothing else is said they wait for 2**20 cycles.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")

# Names are imported when they are first used, so that ``import biasamp`` costs little more than numpy.
_PLACES = {
    "AssociationCounts": "counts.association_counts",
    "Audit": "auditing.audit_result",
    "AuditCounts": "counts.audit_counts",
    "Policy": "policy",
    "associate": "association.associate",
    "association_change": "association.change",
    "audit": "auditing",
    "balance": "amplification.balance",
    "binary": "data",
    "binned": "data",
    "calibrate": "amplification.calibrate",
    "categorical": "data",
    "choose_thresholds": "amplification.choose_thresholds",
    "classify_errors": "amplification.errors",
    "compare": "auditing",
    "continuous": "data",
    "count": "auditing",
    "counterfactual": "text.counterfactual",
    "decompose": "amplification.why",
    "directional": "amplification.directional",
    "dpa": "predictability.attack",
    "impact": "amplification.impact",
    "label_errors": "amplification.label_errors",
    "fill_blanks": "text.fill_blanks",
    "leakage": "predictability.attack",
    "mals": "amplification.mals",
    "mean_amplification": "amplification.means",
    "movement": "association.movement",
    "multi": "amplification.multi",
    "open_images_shape": "datasets.generated",
    "orientation": "association.gaps",
    "over_runs": "auditing.over_runs",
    "parity": "amplification.parity",
    "q_values": "resampling.significance",
    "read_eval_log": "text.eval_log",
    "read_open_images": "data.open_images",
    "read_text": "text.read_text",
    "sweep": "amplification.sweep",
    "text_leakage": "text.text_leakage",
    "trajectory": "auditing.trajectory",
    "verify": "auditing.verify",
}

__all__ = ["__version__", *_PLACES]

if TYPE_CHECKING:
    from .amplification.balance import balance as balance
    from .amplification.calibrate import calibrate as calibrate
    from .amplification.choose_thresholds import choose_thresholds as choose_thresholds
    from .amplification.directional import directional as directional
    from .amplification.errors import classify_errors as classify_errors
    from .amplification.impact import impact as impact
    from .amplification.label_errors import label_errors as label_errors
    from .amplification.mals import mals as mals
    from .amplification.means import mean_amplification as mean_amplification
    from .amplification.multi import multi as multi
    from .amplification.parity import parity as parity
    from .amplification.sweep import sweep as sweep
    from .amplification.why import decompose as decompose
    from .association.associate import associate as associate
    from .association.change import association_change as association_change
    from .association.gaps import orientation as orientation
    from .association.movement import movement as movement
    from .auditing import audit as audit
    from .auditing import compare as compare
    from .auditing import count as count
    from .auditing.audit_result import Audit as Audit
    from .auditing.over_runs import over_runs as over_runs
    from .auditing.trajectory import trajectory as trajectory
    from .auditing.verify import verify as verify
    from .counts.association_counts import AssociationCounts as AssociationCounts
    from .counts.audit_counts import AuditCounts as AuditCounts
    from .data import binary as binary
    from .data import binned as binned
    from .data import categorical as categorical
    from .data import continuous as continuous
    from .data.open_images import read_open_images as read_open_images
    from .datasets.generated import open_images_shape as open_images_shape
    from .policy import Policy as Policy
    from .predictability.attack import dpa as dpa
    from .predictability.attack import leakage as leakage
    from .resampling.significance import q_values as q_values
    from .text.counterfactual import counterfactual as counterfactual
    from .text.eval_log import read_eval_log as read_eval_log
    from .text.fill_blanks import fill_blanks as fill_blanks
    from .text.read_text import read_text as read_text
    from .text.text_leakage import text_leakage as text_leakage


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'biasamp' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"biasamp.{_PLACES[name]}"), name)
    globals()[name] = value
    return value


def load_renderers() -> None:
    """Load what shows results, which happens when the first of them is shown."""
    from .report import registered as registered


def __dir__() -> list[str]:
    return sorted(__all__)
