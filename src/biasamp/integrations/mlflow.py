"""Audits in MLflow: figures as metrics, tables and the report as artifacts."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from biasamp.auditing.audit_result import Audit

_REFUSED = re.compile(r"[^\w.\-]", re.ASCII)


def log_audit(
    audit: Audit, *, prefix: str = "bias", step: int | None = None, report: bool = True, run_id: str | None = None
) -> dict[str, float]:
    """Log an audit to an MLflow run.

    Parameters
    ----------
    audit : Audit
    prefix : str
        What names of metrics and the folder of artifacts start with; letters, digits, dots and dashes.
    step : int, optional
        The step of the metrics, such as the epoch.
    report : bool
        Whether to store the HTML report too.
    run_id : str, optional
        The run; by default the active one, or a new one.

    Returns
    -------
    dict
        The metrics that were logged: those of ``audit.to_dict(flat=True)`` under the prefix. The folder also holds
        ``audit.json.gz``, which :meth:`biasamp.Audit.load` reads, the tables of metrics and pairs, and the report.
    """
    import mlflow

    if not prefix.strip(".") or _REFUSED.search(prefix):
        raise ValueError(f"prefix is {prefix!r}; letters, digits, dots and dashes are needed")
    logged = {f"{prefix}/{name}": value for name, value in audit.to_dict(flat=True).items()}
    mlflow.log_metrics(logged, step=step, run_id=run_id)
    for name in ("metrics", "pairs"):
        rows = list(getattr(audit, name).rows())
        if rows:
            columns = {key: [_plain(row[key]) for row in rows] for key in rows[0]}
            mlflow.log_table(columns, artifact_file=f"{prefix}/{name}.json", run_id=run_id)
    with tempfile.TemporaryDirectory() as folder:
        audit.save(Path(folder) / "audit.json.gz")
        if report:
            audit.to_html(Path(folder) / "report.html")
        mlflow.log_artifacts(folder, artifact_path=prefix, run_id=run_id)
    return logged


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def evaluation_metric(attribute: str, *, positive: Any = None, name: str | None = None) -> Any:
    """Directional amplification as a metric of ``mlflow.models.evaluate``, in its ``extra_metrics``.

    Parameters
    ----------
    attribute : str
        The column of the evaluated data that holds the protected attribute.
    positive : optional
        The value of the target whose amplification is meant; by default the mean over all values, as :func:`biasamp.directional` has it.
    name : str, optional
        What the metric is called; by default ``bias_amplification_<attribute>``.

    Returns
    -------
    mlflow.models.EvaluationMetric
        Its aggregate results are the value, the limits of its 95% interval and the number of records.
    """
    import inspect

    from mlflow.metrics import MetricValue
    from mlflow.models import make_metric

    import biasamp

    def eval_fn(**given: Any) -> Any:
        groups, truth, said = (list(given[side]) for side in (attribute, "targets", "predictions"))
        if positive is not None:
            truth, said = ([int(value == positive) for value in side] for side in (truth, said))
        result = biasamp.directional(groups, truth, said)
        interval = result.quiet_interval()
        figures = {"value": result.value, "low": interval.low, "high": interval.high, "records": float(len(groups))}
        return MetricValue(aggregate_results={key: float(value) for key, value in figures.items()})

    # MLflow fills parameters by their names: those of its own and columns of the data.
    sides = [inspect.Parameter(side, inspect.Parameter.POSITIONAL_OR_KEYWORD) for side in ("predictions", "targets")]
    column = inspect.Parameter(attribute, inspect.Parameter.POSITIONAL_OR_KEYWORD)

    def called(*values: Any, **given: Any) -> Any:
        return eval_fn(**dict(zip(("predictions", "targets", attribute), values, strict=False)), **given)

    called.__signature__ = inspect.Signature([*sides, column])  # type: ignore[attr-defined]
    title = name or f"bias_amplification_{_REFUSED.sub('_', attribute)}"
    return make_metric(eval_fn=called, greater_is_better=False, name=title)
