"""What each metric is: its question, range, sign, source, needs, limits and properties."""

from __future__ import annotations

from dataclasses import dataclass

WANG_2021 = "Wang & Russakovsky (2021), Directional Bias Amplification, ICML"
ZHAO_2017 = "Zhao et al. (2017), Men Also Like Shopping, EMNLP"
ZHAO_2023 = "Zhao, Andrews & Xiang (2023), Men Also Do Laundry, ICML"
WANG_2019 = "Wang et al. (2019), Balanced Datasets Are Not Enough, ICCV"
TOKAS = "Tokas, Nair & Kerner, Making Bias Amplification in Balanced Datasets Directional and Interpretable"
AKA_2021 = "Aka et al. (2021), Measuring Model Biases in the Absence of Ground Truth, AIES"


@dataclass(frozen=True)
class Metric:
    """One metric, as ``biasamp metrics`` shows it.

    ``balanced``, ``directional`` and ``negative`` are the properties of Table 1 of the DPA paper: whether the
    metric sees amplification on balanced data, tells directions apart, and can be negative.
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


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            name="directional",
            title="Directional bias amplification (BiasAmp→)",
            question="Does the model strengthen the associations of its data, and in which direction?",
            formula="mean over pairs of sign(P(g,o) - P(g)P(o)) * (P(ô|g) - P(o|g))",
            low=-1.0,
            high=1.0,
            sign="positive: associations get stronger; negative: weaker",
            paper=WANG_2021,
            needs=("attribute", "task", "a prediction of the one that is not given"),
            limits="blind where groups and outcomes are independent in the data; large opposite pairs may cancel",
            family="co-occurrence",
            balanced=False,
            directional=True,
            negative=True,
            unbiased_when="each outcome is as frequent in every group",
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
            needs=("attribute", "task", "a prediction of the one that is not given"),
            limits="cannot tell amplification from reduction; above 0 by noise alone",
            family="co-occurrence",
            balanced=True,
            directional=True,
            negative=False,
            unbiased_when="the model leaves every rate as it was",
        ),
        Metric(
            name="mals",
            title="Bias amplification of Men Also Like Shopping (BiasAmp-MALS)",
            question="Do the model's own label pairs lean further to the leading group than the data's?",
            formula="sum over pairs of [P(a|t) > 1/|A|] * (P(â|t̂) - P(a|t)), divided by |T|",
            low=-1.0,
            high=1.0,
            sign="positive: the leading group's share grows",
            paper=ZHAO_2017,
            needs=("attribute", "task", "predictions of both"),
            limits="mixes both directions, ignores negative correlation, may follow the larger group",
            family="co-occurrence",
            balanced=False,
            directional=False,
            negative=True,
            unbiased_when="every group has an equal share of each task",
        ),
        Metric(
            name="parity",
            title="Parity companions",
            question="Do error rates differ between groups?",
            formula="largest difference between groups in FPR, TPR and accuracy; mean per-class accuracy over groups",
            low=0.0,
            high=1.0,
            sign="differences: 0 is equal; accuracy: 1 is perfect",
            paper=WANG_2021 + ", Fig. 2",
            needs=("attribute", "task", "task predictions"),
            limits="cannot tell amplification from its opposite",
            family="parity",
            unbiased_when="error rates are equal in all groups",
        ),
        Metric(
            name="leakage",
            title="Leakage amplification",
            question="Do the model's outputs give the attribute away more than the true labels do?",
            formula="quality of predicting A from T̂ - quality of predicting A from T",
            low=-1.0,
            high=1.0,
            sign="positive: the model's outputs leak more",
            paper=WANG_2019,
            needs=("attribute", "task", "task predictions"),
            limits="has no direction; depends on the attacker and on the quality function",
            family="predictability",
            balanced=True,
            directional=False,
            negative=True,
            unbiased_when="labels say no more of the attribute than guessing does",
        ),
        Metric(
            name="dpa",
            title="Directional predictability amplification (DPA)",
            question="Is the prediction easier to guess from the group than the truth is, also on balanced data?",
            formula="(Ψ_M - Ψ_D) / (Ψ_M + Ψ_D), Ψ the quality of predicting outcome from given",
            low=-1.0,
            high=1.0,
            sign="positive: the model's outcomes follow the given label more closely",
            paper=TOKAS,
            needs=("attribute", "task", "a prediction of the one that is not given"),
            limits="unequal class sizes alone make outcomes predictable: read the gain over no input beside it",
            family="predictability",
            balanced=True,
            directional=True,
            negative=True,
            unbiased_when="all combinations of group and outcome are equally frequent",
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
    )
}
