"""A page for every public name, from its docstring, in groups; a public name without a group stops the build."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import biasamp

GROUPS: dict[str, list[str]] = {
    "Measure": ["audit", "count", "directional", "mals", "multi", "parity", "classify_errors", "mean_amplification"],
    "Predictability": ["dpa", "leakage", "balance"],
    "Without ground truth": ["associate", "association_change", "orientation", "movement"],
    "Why, and at which threshold": ["decompose", "sweep", "calibrate", "choose_thresholds"],
    "Choose and follow": ["compare", "over_runs", "trajectory", "Policy"],
    "Texts": ["read_text", "text_leakage", "counterfactual", "read_eval_log", "fill_blanks"],
    "For auditors": ["impact", "verify", "label_errors"],
    "Input": ["binary", "categorical", "binned", "continuous", "balance", "read_open_images", "open_images_shape"],
    "Statistics": ["q_values"],
    "Results": [
        "Audit",
        "auditing.answer.Answer",
        "AuditCounts",
        "AssociationCounts",
        "amplification.result.Amplification",
        "amplification.parity.Parity",
        "amplification.means.MeanAmplification",
        "amplification.errors.ErrorClasses",
        "amplification.why_result.Decomposition",
        "amplification.calibrate.Sweep",
        "amplification.calibrate.Calibration",
        "amplification.threshold_choice.ThresholdChoice",
        "amplification.impact_result.Impact",
        "amplification.label_errors.LabelErrors",
        "association.association_result.Association",
        "association.change.AssociationChange",
        "association.gaps.Orientation",
        "auditing.comparison_result.Comparison",
        "auditing.over_runs.Runs",
        "auditing.trajectory.Trajectory",
        "auditing.verify.Verification",
        "predictability.attack_result.Predictability",
        "policy.verdict.Verdict",
        "text.read_text.TextLabels",
        "text.counterfactual.Counterfactual",
        "text.text_leakage_result.TextLeakage",
        "text.eval_log.EvalLog",
        "text.fill_blanks.FilledBlanks",
        "datasets.generated.GeneratedLabels",
        "results.table.Table",
        "results.interval.Interval",
    ],
}


def _found(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(import_module(f"biasamp.{module}") if module else biasamp, last)


def _page(name: str) -> str:
    shown = name.rpartition(".")[2]
    found = _found(name)
    place = f"{found.__module__}.{found.__qualname__}" if "." in name else f"biasamp.{name}"
    kind = "autoclass" if isinstance(found, type) else "autofunction"
    members = "   :members:\n" if isinstance(found, type) else ""
    title = f"biasamp.{name}" if "." not in name else shown
    return f"{title}\n{'=' * len(title)}\n\n.. {kind}:: {place}\n{members}"


def _first_line(name: str) -> str:
    words = (_found(name).__doc__ or "").strip().partition("\n\n")[0]
    return " ".join(words.split())


def _index() -> str:
    lines = ["Python", "======", "", "Every public name, with its formula, its arguments and an example that runs.", ""]
    for group, names in GROUPS.items():
        lines += [group, "-" * len(group), "", ".. list-table::", "   :widths: 30 70", ""]
        for name in names:
            lines += [f"   * - :doc:`{name.rpartition('.')[2]} <generated/{name}>`", f"     - {_first_line(name)}"]
        lines += ["", ".. toctree::", "   :hidden:", "", *(f"   generated/{name}" for name in names), ""]
    return "\n".join(lines)


def _write(app: Any) -> None:
    grouped = {name for names in GROUPS.values() for name in names}
    missing = set(biasamp.__all__) - grouped - {"__version__"}
    if missing:
        raise RuntimeError(f"public names without a page: {sorted(missing)}; add them to GROUPS of {__file__}")
    folder = Path(app.srcdir) / "reference" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.rst"):
        if old.stem not in grouped:
            old.unlink()
    for name in grouped:
        _replace(folder / f"{name}.rst", _page(name))
    _replace(folder.parent / "python.rst", _index())


def _replace(path: Path, text: str) -> None:
    """Write where something changed, so that a second build is quick."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before sources are looked for."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
