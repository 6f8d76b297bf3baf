"""Audits in Weights & Biases: figures as metrics, tables, and the audit as an artifact."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from biasamp.auditing.audit_result import Audit

_REFUSED = re.compile(r"[^\w.\-]", re.ASCII)


def log_audit(
    audit: Audit, *, run: Any = None, prefix: str = "bias", step: int | None = None, report: bool = True
) -> dict[str, float]:
    """Log an audit to a run of Weights & Biases; offline runs are synced later as ever.

    Parameters
    ----------
    audit : Audit
    run : wandb run, optional
        The run; by default the active one.
    prefix : str
        What names of metrics, tables and the artifact start with; letters, digits, dots and dashes.
    step : int, optional
        The step of the metrics, such as the epoch.
    report : bool
        Whether to store the HTML report in the artifact too.

    Returns
    -------
    dict
        The metrics that were logged: those of ``audit.to_dict(flat=True)`` under the prefix.
    """
    import wandb

    if not prefix.strip(".") or _REFUSED.search(prefix):
        raise ValueError(f"prefix is {prefix!r}; letters, digits, dots and dashes are needed")
    run = run or wandb.run
    if run is None:
        raise ValueError("there is no active run: start one with wandb.init(), or give run=")
    logged = {f"{prefix}/{name}": value for name, value in audit.to_dict(flat=True).items()}
    tables = {}
    for name in ("metrics", "pairs"):
        rows = list(getattr(audit, name).rows())
        if rows:
            data = [[row[key] for key in rows[0]] for row in rows]
            tables[f"{prefix}/{name}"] = wandb.Table(columns=list(rows[0]), data=data)
    run.log({**logged, **tables}, step=step)
    artifact = wandb.Artifact(
        f"{prefix}-audit", type="bias-audit", metadata={"fingerprint": audit.document["data"]["fingerprint"]}
    )
    with tempfile.TemporaryDirectory() as folder:
        audit.save(Path(folder) / "audit.json.gz")
        if report:
            audit.to_html(Path(folder) / "report.html")
        artifact.add_dir(folder)
        run.log_artifact(artifact)
    return logged
