"""``biasamp verify``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


def records(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, n)
    return pd.DataFrame(
        {"g": rng.choice(["w", "m"], n), "t": truth, "p": np.where(rng.random(n) < 0.2, 1 - truth, truth)}
    )


def test_the_command(run: Any, tmp_path: Path) -> None:
    path, saved = tmp_path / "a.csv", tmp_path / "a.json"
    frame = records()
    frame.to_csv(path, index=False)
    words = [
        "--attributes",
        "g",
        "--tasks",
        "t",
        "--task-predictions",
        "p",
        "--metrics",
        "directional",
        "--resamples",
        "50",
    ]
    assert run("audit", path, *words, "--json", saved).code == 0
    ran = run("verify", saved, path)
    assert ran.code == 0
    assert "The figures are those of these data" in ran.out
    frame.loc[5, "t"] = 1 - frame.loc[5, "t"]
    frame.to_csv(path, index=False)
    ran = run("verify", saved, path, "--json", "-")
    assert ran.code == 1
    assert json.loads(ran.out)["same_data"] is False
