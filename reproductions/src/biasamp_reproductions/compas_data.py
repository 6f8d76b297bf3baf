"""COMPAS as both papers use it: two races, ProPublica's filter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .experiment import Setting

FILE = "compas_two_years.csv"
FEATURES = ("age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count")
_RACES = {"Caucasian": 0, "African-American": 1}
# ProPublica's filter: a charge within 30 days of the screening, a known outcome, no ordinary traffic offence.
_MOST_DAYS = 30


def read_compas(setting: Setting) -> dict[str, NDArray[Any]]:
    """The 5,278 people: ``race`` (1 for African-American), both outcomes, the decile score, whether the charge is a felony, the features."""
    wanted = (
        "race",
        "days_b_screening_arrest",
        "is_recid",
        "two_year_recid",
        "c_charge_degree",
        "score_text",
        "decile_score",
        *FEATURES,
    )
    columns = setting.columns(FILE, wanted)
    keep = [
        race in _RACES
        and days is not None
        and abs(days) <= _MOST_DAYS
        and recid != -1
        and charge != "O"
        and score not in (None, "N/A")
        for race, days, recid, charge, score in zip(
            columns["race"],
            columns["days_b_screening_arrest"],
            columns["is_recid"],
            columns["c_charge_degree"],
            columns["score_text"],
            strict=True,
        )
    ]
    rows = np.flatnonzero(keep)
    out = {"race": np.array([_RACES[columns["race"][i]] for i in rows])}
    for name in ("is_recid", "two_year_recid", "decile_score", *FEATURES):
        out[name] = np.array([columns[name][i] for i in rows])
    out["felony"] = np.array([int(columns["c_charge_degree"][i] == "F") for i in rows])
    return out
