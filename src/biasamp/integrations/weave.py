"""Directional amplification as a scorer of W&B Weave.

Weave has no mode without a network: this module is tested against a local stand-in with the two names it uses, not against Weave itself.
"""

from __future__ import annotations

from typing import Any

import biasamp


def bias_scorer(attribute: str, truth: str, *, output: str | None = None) -> Any:
    """A scorer for ``weave.Evaluation(scorers=[...])`` whose summary is the directional value over all rows.

    Parameters
    ----------
    attribute, truth : str
        The columns of the dataset with the protected attribute and the true label.
    output : str, optional
        The key of the model's output that holds the prediction, where it is a mapping.

    Returns
    -------
    weave.Scorer
        Each row's score says whether the prediction is right; the summary has value, limits of the 95% interval and rows.
    """
    import weave

    class BiasAmplification(weave.Scorer):  # type: ignore[misc]
        """Keeps what each row says, and measures all of them at the end."""

        @weave.op  # type: ignore[untyped-decorator]
        def score(self, *, output: Any, **row: Any) -> dict[str, Any]:
            said = output if key is None else output[key]
            return {
                "given": str(row[attribute]),
                "truth": str(row[truth]),
                "predicted": str(said),
                "right": str(said) == str(row[truth]),
            }

        @weave.op  # type: ignore[untyped-decorator]
        def summarize(self, score_rows: list[Any]) -> dict[str, float]:
            rows = [row for row in score_rows if row]
            result = biasamp.directional(*([row[side] for row in rows] for side in ("given", "truth", "predicted")))
            interval = result.quiet_interval()
            return {
                "value": float(result.value),
                "low": float(interval.low),
                "high": float(interval.high),
                "rows": float(len(rows)),
            }

    key = output
    return BiasAmplification()
