"""What leakage and DPA hand back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from biasamp.data.plain_arguments import MOST_DRAWS, level_of, shown, whole_number, yes_or_no
from biasamp.results.flat import flat_entries
from biasamp.results.interval import Interval, plain
from biasamp.results.table import Table

from .paired_halves import PairedHalves

# What a document holds as it is, in this order.
_WRITTEN = (
    *("n", "dataset", "model", "gain", "dataset_gain", "model_gain"),
    *("unequalized", "accuracy_equalized", "confusion_equalized"),
    *("attacker", "reason", "quality", "equalize", "evaluation"),
)


@dataclass(frozen=True, eq=False)
class Predictability:
    """Leakage amplification or DPA, in one direction.

    Attributes
    ----------
    metric : str
        ``"leakage"`` or ``"dpa"``.
    value : float
        The amplification, of the mean scores over all trials.
    dataset, model : float
        The mean score of the attackers on the equalized truth (lambda_D, psi_D) and on the predictions
        (lambda_M, psi_M).
    gain : float
        The value made of ``dataset_gain`` and ``model_gain``: of leakage their difference, of DPA a quotient, in which a
        gain below 0 counts as 0 and which is undefined (NaN) where neither gains anything. With gains near 0 the quotient
        is mostly noise. Reports show the two gains, and the quotient where both are above 0.
    dataset_gain, model_gain : float
        By how much the scores are above those of the attacker without input.
    trials : Table
        One row per trial: dataset, model, value, dataset_gain, model_gain.
    unequalized, accuracy_equalized, confusion_equalized : float
        The value by each rule of equalization; ``value`` is one of them.
    n : int
        How many records.
    attacker, reason : str
        Which attacker was used, and why.
    quality, evaluation : str
        What was scored, and on which records.
    equalize : str or None
        The rule behind ``value``.
    direction : str or None
        ``"A->T"`` or ``"T->A"`` where the roles are known.
    cautions : tuple of str
        What to know before the value is quoted.

    Examples
    --------
    >>> import biasamp
    >>> group = ["woman", "man"] * 40
    >>> hired, model = [0, 1, 1, 1] * 20, [0, 1] * 40
    >>> result = biasamp.dpa(group, hired, model, equalize=None, evaluation="in_sample", attacker="lookup")
    >>> result.dataset, result.model, round(result.value, 3)
    (0.75, 1.0, 0.143)
    """

    metric: str
    value: float
    dataset: float
    model: float
    gain: float
    dataset_gain: float
    model_gain: float
    trials: Table
    unequalized: float
    accuracy_equalized: float
    confusion_equalized: float
    n: int
    attacker: str
    reason: str
    quality: str
    equalize: str | None
    evaluation: str
    direction: str | None = None
    cautions: tuple[str, ...] = ()
    _interval: Callable[[float, str, int | None, int | None], Interval] | None = field(default=None, repr=False)
    _on_bags: Callable[[], PairedHalves | None] | None = field(default=None, repr=False)

    def paired_halves(self) -> PairedHalves | None:
        """Figures on halves of bags of the records, which pair those of two models; None where bags are not known."""
        return None if self._on_bags is None else self._on_bags()

    @property
    def quotient(self) -> float | None:
        """DPA made of what both attackers have above no input, where both are above 0; None elsewhere."""
        return self.gain if self.metric == "dpa" and min(self.dataset_gain, self.model_gain) > 0 else None

    def confidence_interval(
        self, level: float = 0.95, of: str = "value", resamples: int | None = None, seed: int | None = None
    ) -> Interval:
        """An interval that covers the sampling of records, the model's errors and the trials.

        Where no resample moves the value there is none: its ends are NaN, and its cautions say so.

        Trials alone would say how well *these* records were measured, not how far other records would differ.

        Parameters
        ----------
        level : float
            The confidence level, strictly between 0 and 1.
        of : {"value", "gain_difference"}
            The value, or ``model_gain - dataset_gain``.
        resamples : int, optional
            How many random halves of the records to measure; by default 500 on small tables, and fewer for
            attackers that are trained.
        seed : int, optional
            Makes the halves reproducible; by default it follows from the measurement's own seed.
        """
        level_of(level, "level")
        if not isinstance(of, str) or of not in ("value", "gain_difference"):
            raise ValueError(f"of is {shown(of)}; take 'value' or 'gain_difference'")
        if resamples is not None:
            whole_number(resamples, "resamples", least=2, most=MOST_DRAWS)
        if seed is not None:
            whole_number(seed, "seed")
        if self._interval is None:
            raise ValueError("this result carries nothing to make an interval from")
        return self._interval(level, of, resamples, seed)

    def to_dict(self, level: float = 0.95, resamples: int | None = None, *, flat: bool = False) -> dict[str, Any]:
        """The result in plain Python values that JSON can hold, with the interval at ``level``.

        With ``flat`` figures by name instead, as trackers take them.
        """
        yes_or_no(flat, "flat")
        interval: list[Any] = [None, None]
        cautions = self.cautions
        if self._interval is not None:
            made = self.confidence_interval(level, resamples=resamples)
            interval, cautions = [plain(bound) for bound in made], (*cautions, *made.cautions)
        out = {
            "metric": self.metric,
            "direction": self.direction,
            "value": plain(self.value),
            "interval": interval,
            **{name: plain(getattr(self, name)) for name in _WRITTEN},
            "trials": len(self.trials),
            "cautions": list(cautions),
        }
        return flat_entries([out]) if flat else out

    def _repr_html_(self) -> str:
        from html import escape

        rows = {
            "dataset": self.dataset,
            "model": self.model,
            "dataset, above no input": self.dataset_gain,
            "model, above no input": self.model_gain,
            **({"quotient of the two": self.gain} if self.quotient is not None else {}),
            "value, not equalized": self.unequalized,
            "value, accuracy equalized": self.accuracy_equalized,
            "value, confusion equalized": self.confusion_equalized,
        }
        body = "".join(f"<tr><td>{name}</td><td>{number:.4f}</td></tr>" for name, number in rows.items())
        title = f"{escape(self.metric)} {escape(self.direction or '')}".strip()
        attacker = f"attacker {escape(self.attacker)}: {escape(self.reason)}"
        return f"<p><b>{title}</b> {self.value:+.4f}</p><table>{body}</table><p>{attacker}</p>"
