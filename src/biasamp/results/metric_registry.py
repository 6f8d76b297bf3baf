"""What each metric is: its question, range, sign, source, needs, limits and properties."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

from .interval import plain

WANG_2021 = "Wang & Russakovsky (2021), Directional Bias Amplification, ICML"
ZHAO_2017 = "Zhao et al. (2017), Men Also Like Shopping, EMNLP"
ZHAO_2023 = "Zhao, Andrews & Xiang (2023), Men Also Do Laundry, ICML"
WANG_2019 = "Wang et al. (2019), Balanced Datasets Are Not Enough, ICCV"
TOKAS = "Tokas, Nair & Kerner, Making Bias Amplification in Balanced Datasets Directional and Interpretable"
AKA_2021 = "Aka et al. (2021), Measuring Model Biases in the Absence of Ground Truth, AIES"


# The directions of amplification: what is given, and what is predicted from it.
DIRECTIONS = ("A->T", "T->A")
_ONE_PREDICTION = ("attribute", "task", "a prediction of the one that is not given")
# The figure of what attackers gain over guessing without input, what they reach on the data and on the model, and by how
# much either is above guessing.
_GAINS = ("gain", "dataset", "model", "dataset_gain", "model_gain")
_TASK_PREDICTED = ("attribute", "task", "task predictions")


@dataclass(frozen=True, kw_only=True)
class Metric:
    """All that is known of one metric: said here, and read from here by everything else.

    ``balanced``, ``directional`` and ``negative`` are the properties of Table 1 of the DPA paper: whether the
    metric sees amplification on balanced data, tells directions apart, and can be negative.

    An entry with a ``short`` name is a metric of an audit's document: the name in tables. It also has the words of
    a comparison: ``more`` and ``less`` complete "the other model ...". ``part_of`` names the entry under which it is
    asked for and described, where that is not its own; ``directions`` are those it is measured in, none where it has
    no direction; ``paired`` says that it has a value for each pair, ``by_outcome`` one for each outcome;
    ``figures`` are further figures that a policy can limit, ``beside`` the numbers that stand beside the value;
    ``higher_is_better`` says which way a limit goes; ``gap`` names what differs between groups; ``judged`` says that an
    audit tells in words which way it is decided, all such figures of the audit counted; ``pairs_of`` is what the figures
    of its pairs are, rates or means.
    """

    name: str
    title: str
    question: str
    formula: str
    low: float
    high: float
    sign: str
    paper: str
    needs: tuple[str, ...]
    limits: str
    family: str
    balanced: bool | None = None
    directional: bool | None = None
    negative: bool | None = None
    unbiased_when: str = ""
    short: str = ""
    more: str = ""
    less: str = ""
    part_of: str | None = None
    directions: tuple[str, ...] = ()
    paired: bool = False
    by_outcome: bool = False
    figures: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    higher_is_better: bool = False
    gap: str = ""
    judged: bool = False
    pairs_of: str = "rate"

    @property
    def audited(self) -> bool:
        """Whether it is a metric of an audit's document."""
        return bool(self.short)

    @property
    def signed(self) -> bool:
        """Whether its sign says something; other metrics are written without one."""
        return bool(self.negative)

    @property
    def described_by(self) -> str:
        """The name of the entry that it is asked for by, and described under."""
        return self.part_of or self.name

    @property
    def pairs_shown(self) -> bool:
        """Whether its pairs are worth a figure each: they have a sign, and are few."""
        return self.paired and self.signed

    @property
    def pairs_oriented(self) -> bool:
        """Whether each of its pairs has a direction, and is turned by the sign of its association."""
        return self.pairs_shown and bool(self.directions)

    def facts(self) -> dict[str, Any]:
        """What an audit's document says of it, in plain values."""
        return {
            "title": self.title,
            "short": self.short,
            "signed": self.signed,
            "directed": bool(self.directions),
            "paired": self.paired,
            "pairs_shown": self.pairs_shown,
            "range": [plain(self.low), plain(self.high)],
            "meaning": f"{self.question} {self.sign[:1].upper()}{self.sign[1:]}.",
            "paper": self.paper,
            "cautions": self.limits,
            "described_by": self.described_by,
        }


METRICS: dict[str, Metric] = {}


def register(metric: Metric) -> None:
    """Add a metric, which then shows up wherever metrics do."""
    missing = missing_facts(metric)
    if missing:
        raise ValueError(f"the entry of metric {metric.name!r} lacks {', '.join(missing)}")
    if metric.name in METRICS:
        raise ValueError(f"there is a metric {metric.name!r} already")
    METRICS[metric.name] = metric


def missing_facts(metric: Metric) -> list[str]:
    """Which facts an entry needs and does not have."""
    needed = ["name", "title", "question", "formula", "sign", "paper", "limits", "family", "unbiased_when"]
    needed += ["short", "more", "less"] if metric.audited or metric.more or metric.less or metric.part_of else []
    return [name for name in needed if not getattr(metric, name)]


def audited_metrics() -> list[Metric]:
    """The metrics of an audit's document."""
    return [metric for metric in METRICS.values() if metric.audited]


def audited_names() -> tuple[str, ...]:
    """Their names, as documents, policies and comparisons use them."""
    return tuple(metric.name for metric in audited_metrics())


def requestable_names() -> tuple[str, ...]:
    """The names that an audit is asked for metrics by: some stand for several."""
    return tuple(dict.fromkeys(metric.described_by for metric in audited_metrics()))


def direction_symbol(direction: str | None) -> str:
    """A direction as it is written for people; nothing where there is none."""
    return "" if direction is None else direction.replace("->", "→")


def is_signed(metric: str) -> bool:
    """Whether a metric's sign says something; no for a metric of another version."""
    return metric in METRICS and METRICS[metric].signed


def range_of(metric: str) -> tuple[float, float]:
    """The least and the largest value of a metric; without bounds for one of another version."""
    held = METRICS.get(metric)
    return (-math.inf, math.inf) if held is None else (held.low, held.high)


def pairs_oriented(metric: str) -> bool:
    """Whether a metric's pairs are listed in tables; see :attr:`Metric.pairs_oriented`."""
    return metric in METRICS and METRICS[metric].pairs_oriented


def short_name(metric: str) -> str:
    """A metric's name in tables."""
    return METRICS[metric].short or metric if metric in METRICS else metric


_signed = partial(Metric, low=-1.0, high=1.0, negative=True)
_parity = partial(
    Metric,
    low=0.0,
    high=1.0,
    paper=f"{WANG_2021}, Fig. 2",
    needs=_TASK_PREDICTED,
    limits="cannot tell amplification from its opposite",
    family="parity",
    unbiased_when="error rates are equal in all groups",
)
_companion = partial(_parity, sign="0 is equal", part_of="parity", directions=("A->T",), by_outcome=True)
# The rates that groups may differ in: name, short name, symbol, words of their gap, what differs, and what happens.
_RATES = (
    (
        "fpr",
        "FPR",
        "FPR",
        "false positive rates",
        "false positive rates",
        "the outcome is predicted for those without it",
    ),
    ("tpr", "TPR", "TPR", "true positive rates", "true positive rates", "the outcome is found in those who have it"),
    ("accuracy", "accuracy", "ACC", "accuracy", "accuracies", "the prediction is right"),
)

for _metric in (
    _signed(
        name="directional",
        title="Directional bias amplification (BiasAmp→)",
        question="Does the model strengthen the associations of its data, and in which direction?",
        formula="mean over pairs of sign(P(g,o) - P(g)P(o)) * (P(ô|g) - P(o|g))",
        sign="positive: associations get stronger; negative: weaker",
        paper=WANG_2021,
        needs=_ONE_PREDICTION,
        limits="blind where groups and outcomes are independent in the data; large opposite pairs may cancel",
        family="co-occurrence",
        balanced=False,
        directional=True,
        unbiased_when="each outcome is as frequent in every group",
        short="directional",
        more="amplifies more",
        less="amplifies less",
        directions=DIRECTIONS,
        paired=True,
        figures=("crossfit",),
        judged=True,
        beside=("crossfit", "clear_value"),
    ),
    Metric(
        name="mean_difference",
        title="Amplification of mean differences",
        question="Does the model widen the differences of a continuous outcome between groups?",
        formula="mean over groups of sign(mean(y|g) - mean(y)) * (mean(ŷ|g) - mean(y|g))",
        low=-math.inf,
        high=math.inf,
        negative=True,
        sign="positive: groups lie further apart in predictions than in truth; negative: closer",
        paper=WANG_2021,
        needs=_ONE_PREDICTION,
        limits="in units of the outcome; says nothing of how spread differs; means hide what happens at either end",
        family="co-occurrence",
        balanced=False,
        directional=True,
        unbiased_when="every group has the same mean outcome",
        short="mean difference",
        more="widens differences more",
        less="widens differences less",
        part_of="directional",
        directions=DIRECTIONS,
        paired=True,
        judged=True,
        pairs_of="mean",
        beside=("standardised",),
    ),
    Metric(
        name="multi",
        title="Multi-attribute bias amplification (Multi→)",
        question="How much does the model change rates, for sets of labels too, whatever the sign?",
        formula="mean over pairs of itemsets of |P(ô|g) - P(o|g)|",
        low=0.0,
        high=1.0,
        sign="never negative; compare it with its floor, the value expected without amplification",
        paper=ZHAO_2023,
        needs=_ONE_PREDICTION,
        limits="cannot tell amplification from reduction; above 0 by noise alone",
        family="co-occurrence",
        balanced=True,
        directional=True,
        negative=False,
        unbiased_when="the model leaves every rate as it was",
        short="multi",
        more="changes rates more",
        less="changes rates less",
        directions=DIRECTIONS,
        paired=True,
        figures=("over_floor",),
        judged=True,
        beside=("variance", "floor"),
    ),
    _signed(
        name="mals",
        # Groups that overlap count each by itself: |A| of them reach from -|A| to |A| - 1, exclusive ones within -1 and 1.
        low=float("-inf"),
        high=float("inf"),
        title="Bias amplification of Men Also Like Shopping (BiasAmp-MALS)",
        question="Do the model's own label pairs lean further to the leading group than the data's?",
        formula="sum over pairs of [P(a|t) > 1/|A|] * (P(â|t̂) - P(a|t)), divided by |T|",
        sign="positive: the leading group's share grows",
        paper=ZHAO_2017,
        needs=("attribute", "task", "predictions of both"),
        limits="mixes both directions, ignores negative correlation, may follow the larger group",
        family="co-occurrence",
        balanced=False,
        directional=False,
        unbiased_when="every group has an equal share of each task",
        short="MALS",
        more="amplifies more",
        less="amplifies less",
        paired=True,
    ),
    _parity(
        name="parity",
        title="Parity companions",
        question="Do error rates differ between groups?",
        formula="largest difference between groups in FPR, TPR and accuracy; mean per-class accuracy over groups",
        sign="differences: 0 is equal; accuracy: 1 is perfect",
    ),
    *(
        _companion(
            name=f"{name}_difference",
            title=f"Largest difference in {words}",
            question=f"How far apart are two groups in how often {event}?",
            formula=f"max over outcomes and pairs of groups of |{symbol}(g) - {symbol}(h)|",
            short=f"{short} difference",
            more=f"has a larger gap in {words}",
            less=f"has a smaller gap in {words}",
            gap=gap,
            judged=True,
        )
        for name, short, symbol, words, gap, event in _RATES
    ),
    _companion(
        name="mean_per_class_accuracy",
        title="Mean per-class accuracy",
        question="How often is the prediction right, with and without the outcome alike, on average over groups?",
        formula="min over outcomes of the mean over groups of (TPR + TNR) / 2",
        sign="1 is perfect",
        short="mean per-class accuracy",
        more="is more accurate",
        less="is less accurate",
        higher_is_better=True,
        unbiased_when="every prediction is right",
    ),
    _signed(
        name="leakage",
        title="Leakage amplification",
        question="Do the model's outputs give the attribute away more than true labels made as inaccurate as the model?",
        formula="quality of predicting A from T̂ - quality of predicting A from T, perturbed to the model's quality",
        sign="positive: the model's outputs leak more than such labels",
        paper=WANG_2019,
        needs=_TASK_PREDICTED,
        limits="has no direction; depends on the attacker and on the quality function",
        family="predictability",
        balanced=True,
        directional=False,
        unbiased_when="labels say no more of the attribute than guessing does",
        short="leakage",
        more="gives the attribute away more",
        less="gives the attribute away less",
        beside=_GAINS,
        judged=True,
    ),
    _signed(
        name="dpa",
        title="Directional predictability amplification (DPA)",
        question="Is the prediction easier to guess from what is given than the truth made as inaccurate as the model?",
        formula="(Ψ_M - Ψ_D) / (Ψ_M + Ψ_D), Ψ the quality of predicting outcome from given; Ψ_D of truth perturbed to the "
        "model's quality",
        sign="positive: the model's outcomes follow the given label more closely than such truth",
        paper=TOKAS,
        needs=_ONE_PREDICTION,
        limits="unequal class sizes alone make outcomes predictable: read how far both attackers are above no input",
        family="predictability",
        balanced=True,
        directional=True,
        unbiased_when="all combinations of group and outcome are equally frequent",
        short="DPA",
        more="follows what is given more closely",
        less="follows what is given less closely",
        directions=DIRECTIONS,
        beside=_GAINS,
        judged=True,
    ),
    Metric(
        name="association",
        title="Association without ground truth (nPMI and nine others)",
        question="Which labels does the model tie to which identity, from predictions alone?",
        formula="gap A(x1, y) - A(x2, y) of an association metric A",
        low=float("-inf"),
        high=float("inf"),
        sign="positive: skew to the first identity",
        paper=AKA_2021,
        needs=("predicted labels", "identity labels among them"),
        limits="says what goes together, not whether it should; rare labels rest on few records",
        family="association",
        unbiased_when="a label is as frequent with one identity as with the other",
    ),
):
    register(_metric)
