"""Measure how much a model amplifies the bias of its data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Names are imported when they are first used, so that ``import biasamp`` costs little more than numpy.
_PLACES = {
    "AssociationCounts": "counts.association",
    "Audit": "results.audit",
    "AuditCounts": "counts.audit_counts",
    "Policy": "policy",
    "associate": "measures.associate",
    "association_change": "measures.association_change",
    "audit": "auditing",
    "binary": "labels",
    "calibrate": "measures.calibrate",
    "categorical": "labels",
    "classify_errors": "measures.errors",
    "compare": "auditing",
    "count": "auditing",
    "directional": "measures.directional",
    "dpa": "measures.dpa",
    "leakage": "measures.leakage",
    "mals": "measures.mals",
    "movement": "measures.movement",
    "multi": "measures.multi",
    "open_images_shape": "generate",
    "orientation": "metrics.orientation",
    "over_runs": "measures.over_runs",
    "parity": "measures.parity",
    "q_values": "uncertainty.multiplicity",
    "read_open_images": "readers.open_images",
    "sweep": "measures.sweep",
}

__all__ = ["__version__", *_PLACES]

if TYPE_CHECKING:
    from .auditing import audit as audit
    from .auditing import compare as compare
    from .auditing import count as count
    from .counts.association import AssociationCounts as AssociationCounts
    from .counts.audit_counts import AuditCounts as AuditCounts
    from .generate import open_images_shape as open_images_shape
    from .labels import binary as binary
    from .labels import categorical as categorical
    from .measures.associate import associate as associate
    from .measures.association_change import association_change as association_change
    from .measures.calibrate import calibrate as calibrate
    from .measures.directional import directional as directional
    from .measures.dpa import dpa as dpa
    from .measures.errors import classify_errors as classify_errors
    from .measures.leakage import leakage as leakage
    from .measures.mals import mals as mals
    from .measures.movement import movement as movement
    from .measures.multi import multi as multi
    from .measures.over_runs import over_runs as over_runs
    from .measures.parity import parity as parity
    from .measures.sweep import sweep as sweep
    from .metrics.orientation import orientation as orientation
    from .policy import Policy as Policy
    from .readers.open_images import read_open_images as read_open_images
    from .results.audit import Audit as Audit
    from .uncertainty.multiplicity import q_values as q_values


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'biasamp' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"biasamp.{_PLACES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
