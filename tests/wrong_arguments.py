"""Every public function with right arguments, and values that are wrong for most of them."""

from __future__ import annotations

import datetime
import inspect
import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse

import biasamp

G = ["w", "m"] * 20
T = [1, 0, 0, 1] * 10
P = [1, 0, 1, 1] * 10
S = [0.1, 0.7, 0.4, 0.9] * 10
RECORDS = {"g": G, "h": ["m", "w", "w", "m"] * 10, "t": T, "p": P, "s": S, "w": [1, 2] * 20, "id": list(range(40))}
ROLES = {"attributes": "g", "tasks": "t", "task_predictions": "p"}
TEXTS = ["a woman with a cup", "a man with a bat"] * 20
LABELS = [["man", "car"], ["woman", "bike", "car"], ["man"], ["woman"]] * 20


# Methods of results, by the call that gives one and with arguments that they take.
METHODS: dict[str, dict[str, Any]] = {
    "Policy.check.to_html": {"path": "v.html"},
    "Policy.check.to_json": {"path": "v.json"},
    "Policy.check.to_junit": {"path": "v.xml"},
    "Policy.check.to_markdown": {"path": "v.md"},
    "Policy.check.to_sarif": {"path": "v.sarif", "policy_path": "policy.toml"},
    "association.agreement": {"k": 3},
    "association.plot": {"kind": "counts", "metrics": ["dp", "pmi"], "k": 3},
    "association.rank_changes": {"metric_a": "dp", "metric_b": "pmi"},
    "association.ranks": {"metric": "dp", "contrast": (0, 1), "include_identities": True},
    "association.save": {"path": "s.parquet"},
    "association.to_html": {"path": "s.html"},
    "association.to_json": {"path": "s.json"},
    "association.top": {"metric": "dp", "k": 3},
    "association.top_counts": {"k": 3},
    "audit.save": {"path": "u.json"},
    "audit.to_ai_act": {"path": "u.md", "level": 2},
    "audit.to_croissant": {"path": "u.json", "name": "x", "metadata": {"license": "MIT"}},
    "audit.to_dict": {"flat": True},
    "audit.to_frame": {"which": "metrics", "backend": "pandas"},
    "audit.to_html": {"path": "u.html"},
    "audit.to_json": {"path": "u.json"},
    "audit.to_markdown": {"level": 2, "pairs": 3},
    "audit.to_model_card": {"path": "u.md", "name": "x", "dataset": "y"},
    "calibrate.apply": {"scores": S},
    "choose_thresholds.apply": {"scores": S, "given": G},
    "choose_thresholds.to_dict": {"points": 5},
    "compare.to_dict": {"flat": True},
    "compare.to_frame": {"which": "table", "backend": "polars"},
    "compare.to_html": {"path": "c.html"},
    "compare.to_json": {"path": "c.json"},
    "compare.to_markdown": {"level": 2, "pairs": 3},
    "counterfactual.to_json": {"path": "f.json"},
    "counts.save": {"path": "n.parquet"},
    "decompose.confidence_interval": {"resamples": 10, "of": "value"},
    "decompose.bounds": {"level": 0.9},
    "decompose.to_dict": {"resamples": 10, "pairs": False},
    "directional.bounds": {"level": 0.9},
    "directional.confidence_interval": {"level": 0.9, "resamples": 10, "seed": 1},
    "directional.plot": {"kind": "bars"},
    "directional.to_dict": {"resamples": 10, "most_pairs": 1, "flat": False},
    "dpa.confidence_interval": {"resamples": 10, "seed": 1},
    "dpa.to_dict": {"resamples": 10, "flat": True},
    "impact.published": {"limit": 2},
    "impact.to_csv": {"path": "i.csv"},
    "impact.to_frame": {"backend": "pyarrow"},
    "impact.to_html": {"path": "i.html"},
    "impact.to_markdown": {"path": "i.md", "level": 2},
    "labels.save": {"path": "l.parquet", "about": {"x": 1}},
    "mean_amplification.confidence_interval": {"resamples": 10, "of": "standardised"},
    "over_runs.confidence_interval": {"method": "normal"},
    "parity.to_dict": {"flat": True},
    "sweep.at": {"threshold": 0.5},
    "sweep.at_rate": {"rate": 0.5},
    "sweep.band": {"thresholds": [0.5], "level": 0.9},
    "sweep.confidence_interval": {"resamples": 10},
    "sweep.rates": {"thresholds": [0.5], "level": 0.9},
    "sweep.steps": {"points": 5, "most_groups": 3},
    "sweep.to_dict": {"points": 5, "groups": True},
    "sweep.to_html": {"path": "w.html", "source": "x"},
    "text_leakage.to_json": {"path": "t.json"},
    "texts.write": {"path": "x.parquet"},
    "trajectory.to_frame": {"backend": "pandas"},
    "trajectory.to_html": {"path": "y.html"},
    "trajectory.to_json": {"path": "y.json"},
}
RESULTS = {name.rpartition(".")[0] for name in METHODS}
# What the package's own modules ask results for.
INNER = {
    *("both", "checked", "compared", "from_document", "from_rows", "gap_toward", "heading", "interval_maker", "joined"),
    *(
        "label_rows",
        "line",
        "named",
        "of_source",
        "quiet_interval",
        "ranked",
        "reading",
        "resampled",
        "rows",
        "table_blocks",
    ),
    *("take", "why_not", "within"),
}


class Blanks:
    """A language model for which all words are alike."""

    name = "blanks"

    def scores(self, blanks: Any, words: Any) -> Any:
        return np.zeros((len(blanks), len(words))), np.ones((len(blanks), len(words)), dtype=np.int64)


def _audit(p: list[int] = P, **more: Any) -> Any:
    return biasamp.audit({**RECORDS, "p": p}, **ROLES, metrics=["directional"], resamples=10, **more)


def _association(labels: Any = LABELS) -> Any:
    return biasamp.associate(labels, ["man", "woman"])


def calls(folder: Path) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Each public function, with arguments that it takes; classes by what makes one of them."""
    audit, association = _audit(), _association()
    runs = [audit, _audit([1, 0, 0, 1] * 9 + [1, 1, 1, 0]), _audit([1, 1, 0, 1] * 10)]
    counts, labels = biasamp.count(RECORDS, **ROLES), biasamp.count(LABELS, identities=["man", "woman"])
    audit.save(folder / "audit.json")
    counts.save(folder / "counts.parquet")
    labels.save(folder / "labels.parquet")
    (folder / "policy.toml").write_text('[[limit]]\nmetric = "directional"\nmax = 0.1\n')
    (folder / "images.csv").write_text("ImageID,Source,LabelName,Confidence\n1,human,/m/1,1\n2,human,/m/2,1\n")
    sample = {"id": 1, "target": "yes", "scores": {"match": {"value": "C"}}}
    (folder / "log.json").write_text(json.dumps({"version": 2, "eval": {}, "samples": [sample]}))
    three = {"given": G, "truth": T, "predicted": P}
    four = {"A": G, "T": T, "A_pred": RECORDS["h"], "T_pred": P}
    attacks = {"trials": 3, "seed": 0}
    limit = {"metric": "directional", "max": 0.1}
    functions = {
        "AssociationCounts": (biasamp.AssociationCounts.load, {"path": folder / "labels.parquet"}),
        "Audit": (biasamp.Audit.load, {"path": folder / "audit.json"}),
        "AuditCounts": (biasamp.AuditCounts.load, {"path": folder / "counts.parquet"}),
        "Policy": (biasamp.Policy, {"limits": [limit], "companions": {"tpr_difference": 0.1}}),
        "Policy.load": (biasamp.Policy.load, {"path": folder / "policy.toml"}),
        "Policy.check": (biasamp.Policy(limits=[limit]).check, {"audit": audit}),
        "associate": (biasamp.associate, {"data": LABELS, "identities": ["man", "woman"]}),
        "associate a file": (biasamp.associate, {"data": RECORDS, "identities": ["w", "m"], "label": "g", "record": "id"}),
        "association_change": (biasamp.association_change, {"old": association, "new": _association(LABELS[:40])}),
        "audit": (biasamp.audit, {"data": RECORDS, **ROLES, "metrics": ["directional", "parity"], "resamples": 10}),
        "balance": (biasamp.balance, {"tasks": T, "attribute": G, "ratio": 2.0}),
        "binary": (lambda data: biasamp.directional(G, biasamp.binary(data), biasamp.binary(P)), {"data": T}),
        "binned": (
            lambda data, edges=None: biasamp.directional(biasamp.binned(data, edges=edges), T, P).value,
            {"data": S, "edges": [0.5]},
        ),
        "calibrate": (biasamp.calibrate, {"scores": S, "rate": 0.5}),
        "categorical": (
            lambda data, categories=None: biasamp.directional(G, biasamp.categorical(data, categories), P).value,
            {"data": T, "categories": [0, 1]},
        ),
        "choose_thresholds": (
            biasamp.choose_thresholds,
            {"scores": S, "given": G, "truth": T, "limit": 0.5, "held_out": (S, G, T)},
        ),
        "classify_errors": (biasamp.classify_errors, four),
        "compare": (biasamp.compare, {"audits": {"one": audit, "two": audit}}),
        "continuous": (
            lambda data: biasamp.audit(RECORDS, attributes="g", tasks=biasamp.continuous(data), task_predictions="p", resamples=10),
            {"data": "s"},
        ),
        "count": (biasamp.count, {"data": RECORDS, **ROLES}),
        "count labels": (biasamp.count, {"data": LABELS, "identities": ["man", "woman"]}),
        "counterfactual": (biasamp.counterfactual, {"answers": S, "group": G, "item": [i // 2 for i in range(40)]}),
        "decompose": (biasamp.decompose, {"given": G, "truth": T, "scores": S}),
        "directional": (biasamp.directional, three),
        "dpa": (biasamp.dpa, {**three, **attacks}),
        "impact": (biasamp.impact, {"decisions": T, "groups": {"g": G}, "counts": [2, 1] * 20}),
        "label_errors": (biasamp.label_errors, {**three, "error": 0.01, "resamples": 20}),
        "fill_blanks": (biasamp.fill_blanks, {"model": Blanks(), "women": {"nurse": 0.9, "driver": 0.1}}),
        "leakage": (biasamp.leakage, {"A": G, "T": T, "T_pred": P, **attacks}),
        "mals": (biasamp.mals, four),
        "mean_amplification": (biasamp.mean_amplification, {"groups": G, "outcome": S, "predicted": [0.2, 0.6, 0.5, 0.8] * 10}),
        "movement": (biasamp.movement, {"result": association}),
        "multi": (biasamp.multi, three),
        "open_images_shape": (biasamp.open_images_shape, {"records": 300, "labels": 50}),
        "orientation": (biasamp.orientation, {"metric": "dp", "n": 100, "p_x1": 0.2, "p_x2": 0.3, "p_y": 0.1, "p_x1y": 0.02, "p_x2y": 0.01}),
        "over_runs": (biasamp.over_runs, {"results": runs, "metric": "directional", "direction": "A->T"}),
        "parity": (biasamp.parity, three),
        "q_values": (biasamp.q_values, {"p_values": [0.1, 0.2]}),
        "read_eval_log": (biasamp.read_eval_log, {"path": folder / "log.json"}),
        "read_open_images": (
            lambda **given: biasamp.associate(biasamp.read_open_images(**given), ["/m/1", "/m/2"]),
            {"path": folder / "images.csv"},
        ),
        "read_text": (lambda **given: biasamp.read_text(**given).table, {"texts": TEXTS, "identities": "lic", "labels": ["cup"]}),
        "sweep": (biasamp.sweep, {"scores": S, "given": G, "truth": T}),
        "text_leakage": (biasamp.text_leakage, {"texts": TEXTS, "attribute": ["woman", "man"] * 20, "seeds": 1, "test_share": 0.2}),
        "trajectory": (biasamp.trajectory, {"steps": {"1": audit, "2": audit}}),
        "verify": (biasamp.verify, {"audit": audit, "data": RECORDS}),
    }  # fmt: skip
    results = {name: functions[name][0](**functions[name][1]) for name in sorted(RESULTS & {*functions})}
    results |= {"audit": audit, "association": association, "counts": counts, "labels": labels}
    results["texts"] = biasamp.read_text(**functions["read_text"][1])
    methods = {}
    for name, given in METHODS.items():
        owner, _, method = name.rpartition(".")
        paths = {"path": folder / given["path"]} if "path" in given else {}
        methods[name] = getattr(results[owner], method), {**given, **paths}
    return {**functions, **methods}


# What each function is called in the signature, where it is wrapped above.
SIGNED = {"read_open_images": biasamp.read_open_images, "read_text": biasamp.read_text}
# What an argument is called where it is used, as the message says it.
ALSO_CALLED = {
    ("balance", "tasks"): "tasks?",
    ("binary", "data"): "truth",
    ("binned", "data"): "given",
    ("categorical", "data"): "truth",
    ("continuous", "data"): "tasks",
    ("Policy", "limits"): "limits?",
    ("Policy", "companions"): "companions?",
    ("Policy", "data"): "unknown key|data",  # an entry of it is named
    ("Policy.check", "audit"): "audit|no file",
}
_IN_ITSELF: list[Any] = []
_IN_ITSELF.append(_IN_ITSELF)
# What is compared, copied or spelled out level by level comes to Python's limit long before.
_DEEP_LIST: Any = [1]
_DEEP_MAPPING: Any = {"a": 1}
for _ in range(100_000):
    _DEEP_LIST, _DEEP_MAPPING = [_DEEP_LIST], {"a": _DEEP_MAPPING}
WRONG: dict[str, Any] = {
    "None": None,
    "zero": 0,
    "minus one": -1,
    "a fraction": 3.5,
    "NaN": float("nan"),
    "infinity": float("inf"),
    "a huge integer": 10**30,
    "more than a float": 10**400,
    "more than floats": [10**400] * 40,
    "text": "nothing of the kind",
    "empty text": "",
    "bytes": b"bytes",
    "true": True,
    "an empty list": [],
    "an empty mapping": {},
    "a mapping": {"x": 1},
    "None in a list": [None],
    "numbers": [1, 2, 3],
    "ragged": [[1, [2]], 3],
    "an object": object(),
    "a function": len,
    "a type": dict,
    "a cube": np.zeros((2, 2, 2)),
    "complex": 1j,
    "a date": datetime.date(2020, 1, 1),
    "a fraction of integers": Fraction(1, 3),
    "a set": {1, 2},
    "a NaN array": np.full(40, np.nan),
    "objects": np.array([object()] * 40, dtype=object),
    "an array of no dimension": np.array(1),
    "text of no dimension": np.array("a"),
    "a list in itself": _IN_ITSELF,
    "a list of 100,000 levels": _DEEP_LIST,
    "a mapping of 100,000 levels": _DEEP_MAPPING,
    "integers of 128 bits": pl.Series([2**100] * 40, dtype=pl.Int128),
    "lists with gaps": pl.Series([[1, None]] * 40),
    "a type that Arrow alone has": pa.UnionArray.from_sparse(pa.array([0] * 40, pa.int8()), [pa.array([1] * 40)]),
    "maps": pa.array([[("a", 1)]] * 40, pa.map_(pa.string(), pa.int64())),
    "NaN that may not be compared": [Decimal("sNaN")] * 40,
    "decimals": pl.Series([Decimal("1.5")] * 40),
    "a sparse matrix": scipy.sparse.csr_matrix(np.eye(40)),
    "a type of a library": pd.NA,
    "times": np.array(["NaT"] * 40, "M8[s]"),
}


class Wrong(NamedTuple):
    """One call with one wrong argument."""

    function: str
    argument: str
    value: str


def cases(made: dict[str, tuple[Callable[..., Any], dict[str, Any]]]) -> Iterator[Wrong]:
    """Every argument of every function with every wrong value."""
    for name, (function, _) in made.items():
        for argument in inspect.signature(SIGNED.get(name, function)).parameters:
            if argument in ("source", "lines", "arguments") and name.startswith("Policy"):
                continue  # where a policy was read
            for value in WRONG:
                yield Wrong(name, argument, value)


def complaint(made: Any, wrong: Wrong) -> str | None:
    """What is wrong with the answer to a wrong argument: None for a result, or an error that names the argument."""
    function, given = made[wrong.function]
    try:
        function(**{**given, wrong.argument: WRONG[wrong.value]})
    except (TypeError, ValueError, FileNotFoundError, IsADirectoryError, ImportError) as error:
        called = ALSO_CALLED.get((wrong.function, wrong.argument), wrong.argument)
        named = re.search(rf"(?<![A-Za-z])({called})(?![A-Za-z])", str(error))
        value = WRONG[wrong.value]
        short = isinstance(value, (str, float)) or (isinstance(value, int) and value < 10**100)
        quoted = short and (repr(value) in str(error) or f"{str(value)!r}" in str(error))
        return None if named or quoted else f"{type(error).__name__}: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None
