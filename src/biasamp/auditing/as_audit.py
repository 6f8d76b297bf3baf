"""An audit, in whichever form somebody holds it: the one door of ``compare``, ``over_runs`` and ``check``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from biasamp.counts.audit_counts import AuditCounts
from biasamp.counts.storage import is_counts

from .audit_result import Audit
from .run import audit

FORMS = "an audit, the path of a saved one, counts, or the path of saved counts"


def is_audit(value: Any) -> bool:
    """Whether something is one of the forms of an audit; a path is, whatever its file holds."""
    return isinstance(value, (Audit, AuditCounts, str, os.PathLike)) or _is_document(value)


def _is_document(value: Any) -> bool:
    """Whether something is the document of an audit, as :meth:`~biasamp.Audit.to_json` writes it."""
    return isinstance(value, Mapping) and {"schema", "data", "metrics", "findings"} <= {*value}


def are_counts(value: Any) -> bool:
    """Whether something is what :func:`biasamp.count` gave, or the path of a file of it."""
    return isinstance(value, AuditCounts) or (isinstance(value, (str, os.PathLike)) and is_counts(value))


def as_audit(value: Any, name: str = "audit") -> Audit:
    """The audit that something holds.

    Parameters
    ----------
    value : Audit, mapping, AuditCounts, str or path
        An audit as it is, or its document; the file that :meth:`~biasamp.Audit.save` or :meth:`~biasamp.Audit.to_json` wrote; or what
        :func:`biasamp.count` gave, or the file it was saved to, which is measured with the defaults of
        :func:`biasamp.audit`.
    name : str
        What a message calls it.

    Examples
    --------
    >>> import biasamp
    >>> data = {"id": range(100), "g": ["w", "m"] * 50, "t": [1, 0] * 50, "p": [1, 0] * 40 + [0, 1] * 10}
    >>> roles = dict(attributes="g", tasks="t", task_predictions="p", record="id")
    >>> counted = as_audit(biasamp.count(data, **roles))
    >>> counted.document["metrics"] == biasamp.audit(data, **roles).document["metrics"]
    True
    """
    if isinstance(value, Audit):
        return value
    if are_counts(value):
        return audit(value)
    if isinstance(value, (str, os.PathLike)):
        return Audit.load(os.fspath(value))
    if _is_document(value):
        return Audit.from_document(dict(value))
    raise TypeError(f"{name} is a {type(value).__name__}; {FORMS} is needed")
