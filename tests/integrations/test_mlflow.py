"""MLflow with its sqlite store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import biasamp
from amplified import audited, columns

mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed: pip install 'biasamp[track]'")
from biasamp.integrations.mlflow import log_audit  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    mlflow.create_experiment("test", artifact_location=f"file://{tmp_path}/artifacts")
    yield mlflow.MlflowClient()
    mlflow.set_tracking_uri("")


def experiment() -> str:
    """Named in each run: an experiment that is set would stay set for other tests."""
    return str(mlflow.get_experiment_by_name("test").experiment_id)


def test_figures_tables_and_report(store: Any) -> None:
    audit = audited(columns(said=0.5))
    with mlflow.start_run(experiment_id=experiment()) as run:
        log_audit(audit, step=3)
    kept = store.get_run(run.info.run_id).data.metrics
    assert kept == {f"bias/{name}": value for name, value in audit.to_dict(flat=True).items()}
    assert store.get_metric_history(run.info.run_id, "bias/g/directional_A-to-T")[0].step == 3
    folder = Path(mlflow.artifacts.download_artifacts(run_id=run.info.run_id, artifact_path="bias"))
    assert {path.name for path in folder.iterdir()} == {"audit.json.gz", "report.html", "metrics.json", "pairs.json"}
    assert biasamp.Audit.load(folder / "audit.json.gz").document == audit.document
    pairs = json.loads((folder / "pairs.json").read_text())
    assert len(pairs["data"]) == len(audit.pairs)
    assert "<html" in (folder / "report.html").read_text()[:200]


def test_a_run_that_is_not_active_and_hostile_names(store: Any) -> None:
    data = columns()
    run = store.create_run(experiment())
    names = {"../<g>": data["g"], "t": data["t"], "p": data["p"]}
    logged = log_audit(audited(names, attributes="../<g>"), run_id=run.info.run_id, report=False, prefix="a.b")
    assert store.get_run(run.info.run_id).data.metrics == logged
    for prefix in ("../x", "..", ""):
        with pytest.raises(ValueError, match="prefix is "):
            log_audit(audited(data), prefix=prefix)


def test_a_metric_of_evaluate(store: Any) -> None:
    import pandas as pd

    from biasamp.integrations.mlflow import evaluation_metric

    data = columns(said=0.3)
    frame = pd.DataFrame({"g": data["g"], "t": data["t"], "p": data["p"]})
    expected = biasamp.directional(data["g"], data["t"], data["p"])
    with mlflow.start_run(experiment_id=experiment()):
        made = mlflow.models.evaluate(
            data=frame, targets="t", predictions="p", extra_metrics=[evaluation_metric("g")], evaluators="default"
        )
    assert made.metrics["bias_amplification_g/value"] == expected.value
    assert made.metrics["bias_amplification_g/low"] == expected.quiet_interval().low
