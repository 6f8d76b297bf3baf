"""AIES paper, Sec. 6, its open questions: association in small label spaces, and beside metrics that need the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import captions
from .chart import Chart
from .compas_data import FEATURES, read_compas
from .compas_data import FILE as COMPAS
from .experiment import Experiment, Setting
from .label_agreement import (
    HALVINGS,
    METRICS,
    RESAMPLES,
    SIZED,
    SKEW,
    Agreement,
    Drawn,
    Figures,
    Labelled,
    association_figures,
    draw,
)
from .outcome import REAL, STAND_IN, Outcome, Trial
from .papers import AIES
from .rows import Row, measured, placed

Array = NDArray[np.float64]
IMSITU = ("mals_imsitu_gender_ratio_dev_res.csv", "imsitu_gender_verbs_val.parquet")
FILES = (COMPAS, *IMSITU, *captions.FILES)
# The paper's choice, and the two it takes to stand for the others.
SHOWN = ("npmi_xy", "dp", "pmi")
# Below this many labels a rank correlation says next to nothing.
FEW = 12
FOLDS = 5
# A rank correlation from which two rankings are called alike in the sweep of made-up labels.
ALIKE = 0.5
YOUNG, OLD, MANY_PRIORS, HIGH_SCORE = 25, 45, 5, 5


def two_groups(first: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Two groups that everybody is in one of."""
    return np.column_stack([first, ~first])


def compas_deciles(people: Mapping[str, NDArray[np.int64]]) -> Labelled:
    """Nine labels: the score lies above 1, ..., 9. The truth of each is a new offence within two years."""
    group = two_groups(people["race"] == 1)
    above = np.arange(1, 10)
    predicted = people["decile_score"][:, None] > above
    truth = np.repeat((people["two_year_recid"] == 1)[:, None], len(above), axis=1)
    return Labelled(tuple(f"score above {threshold}" for threshold in above), group, group, truth, predicted)


def compas_labels(people: Mapping[str, NDArray[np.int64]], seed: int) -> Labelled:
    """Eight yes/no labels of a person, each predicted by a logistic regression on the others' columns.

    The predictions are of folds that the regression has not seen, and as many are positive as truly are.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import KFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    age, priors = people["age"], people["priors_count"]
    juvenile = sum(people[name] for name in FEATURES if name.startswith("juv"))
    labels = {
        "new offence in two years": (people["two_year_recid"] == 1, ("two_year_recid",)),
        "under 25": (age < YOUNG, ("age",)),
        "over 45": (age > OLD, ("age",)),
        "juvenile record": (juvenile > 0, tuple(name for name in FEATURES if name.startswith("juv"))),
        "prior offences": (priors > 0, ("priors_count",)),
        "more than five priors": (priors > MANY_PRIORS, ("priors_count",)),
        "felony charge": (people["felony"] == 1, ("felony",)),
        "high score": (people["decile_score"] > HIGH_SCORE, ("decile_score",)),
    }
    columns = ("two_year_recid", "decile_score", "felony", *FEATURES)
    folds = KFold(FOLDS, shuffle=True, random_state=seed)
    predicted = []
    for truth, own in labels.values():
        inputs = np.column_stack([people[name] for name in columns if name not in own]).astype(np.float64)
        model = make_pipeline(StandardScaler(), LogisticRegression())
        score = cross_val_predict(model, inputs, truth, cv=folds, method="decision_function")
        predicted.append(score >= np.sort(score)[-int(truth.sum())])
    group = two_groups(people["race"] == 1)
    truths = np.column_stack([truth for truth, _ in labels.values()])
    return Labelled(tuple(labels), group, group, truths, np.column_stack(predicted))


def caption_objects(setting: Setting) -> Labelled:
    """The objects that the baseline's captions name, and the gender that they name, beside those of the image."""
    data = captions.read(setting)
    named = data.named(captions.BASELINE)
    names = sorted({name for held in data.objects for name in held})
    place = {name: i for i, name in enumerate(names)}

    def flags(lists: list[list[str]]) -> NDArray[np.bool_]:
        out = np.zeros((len(lists), len(names)), dtype=bool)
        for row, held in enumerate(lists):
            out[row, [place[name] for name in held if name in place]] = True
        return out

    told = np.array([word or "" for word in data.said[captions.BASELINE]])
    said = np.column_stack([told == "man", told == "woman"])
    return Labelled(tuple(names), two_groups(data.gender == "man"), said, flags(data.objects), flags(named))


def imsitu_verbs(setting: Setting) -> Drawn:
    """Verbs of the 2017 paper's model: the released share of men it predicts with each, and the true one.

    Which images it gave a verb to is not released: each verb is taken to be predicted as often as it is true, and
    predicted genders are redrawn apart from true ones.
    """
    released = setting.columns(IMSITU[0], ("verb", "gender_ratio_before_RBA"))
    images = setting.columns(IMSITU[1], ("gender", "verb"))
    share = dict(zip(released["verb"], released["gender_ratio_before_RBA"], strict=True))
    verbs = sorted(set(share) & set(images["verb"]))
    place = {verb: i for i, verb in enumerate(verbs)}
    table = np.zeros((len(verbs), 2))
    for verb, gender in zip(images["verb"], images["gender"], strict=True):
        if verb in place:
            table[place[verb], 0 if gender == "man" else 1] += 1
    ratio = np.array([float(share[verb]) for verb in verbs])
    kept = (table >= 1).all(axis=1)
    table, ratio = table[kept], ratio[kept]
    total = table.sum(axis=1)

    rng = np.random.default_rng([setting.seed, 11])

    def drawn(rate: Array, many: int) -> Figures:
        count = np.maximum(rng.poisson(total, (many, len(total))), 1)
        return verb_figures(rng.poisson(table, (many, *table.shape)), count, rng.binomial(count, rate))

    whole = verb_figures(table[None], total[None], np.rint(ratio * total)[None])
    # The true rate of a verb is known from its images alone, and never 0 or 1.
    rate = (table[:, 0] + 0.5) / (total + 1)
    return Drawn(whole, drawn(ratio, RESAMPLES), fair=drawn(rate, HALVINGS))


def verb_figures(true: NDArray[Any], count: NDArray[Any], men: NDArray[Any]) -> Figures:
    """Figures from the true (men, women) of each verb, how often it is predicted, and with how many men."""
    count, men = count.astype(np.float64), men.astype(np.float64)
    sizes = [part.sum(axis=1, keepdims=True) for part in (men, count - men)]
    out = association_figures(count.sum(axis=1, keepdims=True), sizes, count, [men, count - men])
    with np.errstate(divide="ignore", invalid="ignore"):
        truly = true[..., 0] / true.sum(axis=2)
    out["MALS change"] = men / count - truly
    out[f"MALS{SIZED}"] = np.sign(truly - 0.5) * out["MALS change"]
    out[SKEW] = truly - 0.5
    return out


def made_up(seed: int, records: int = 4000, labels: int = 60, *, tied: float = 0.0) -> Labelled:
    """Labels whose skew is planted, and models' errors whose lean to a group is planted apart from it, or tied to it from -1 to 1."""
    rng = np.random.default_rng([seed, 12])
    first = rng.random(records) < 0.5
    lean, apart = rng.normal(0.0, 0.4, labels), rng.normal(0.0, 0.1, labels)
    amplified = tied * lean / 4 + np.sqrt(1 - tied**2) * apart
    side = np.where(first, 1.0, -1.0)[:, None]
    base = rng.uniform(-2.0, 0.0, labels)
    truth = rng.random((records, labels)) < 1 / (1 + np.exp(-(base + 0.5 * lean * side)))
    miss = np.clip(0.25 - 0.5 * amplified * side, 0.02, 0.5)
    wrong = np.clip(0.1 + 0.25 * amplified * side, 0.005, 0.5)
    drawn = rng.random((records, labels))
    predicted = np.where(truth, drawn >= miss, drawn < wrong)
    group = two_groups(first)
    return Labelled(tuple(f"label {i}" for i in range(labels)), group, group, truth, predicted)


@dataclass(frozen=True, eq=False)
class Compared:
    """One data set: its figures, how far they rank labels alike, and what to know of single figures."""

    name: str
    drawn: Drawn
    labels: int
    known: Mapping[str, str]
    agreements: Mapping[tuple[str, str], Agreement]

    @property
    def truths(self) -> list[str]:
        """The figures that need the truth, without those that are the same for all labels."""
        return list(dict.fromkeys(truth for _, truth in self.agreements))


def compared(name: str, drawn: Drawn, known: Mapping[str, str]) -> Compared:
    """Hold the metrics to be shown against every figure that needs the truth."""
    truths = [truth for truth in drawn.whole if truth not in METRICS and np.ptp(drawn.whole[truth]) > 0]
    found = {(metric, truth): drawn.agreement(metric, truth) for truth in truths for metric in SHOWN}
    return Compared(name, drawn, drawn.whole["dp"].shape[1], known, found)


def _rows(data: Compared) -> Iterator[Row]:
    for (metric, truth), found in data.agreements.items():
        notes = [f"{data.labels} labels are too few to rank by"] if data.labels < FEW else []
        if not np.isnan(found.apart):
            alike = "" if np.isnan(found.ceiling) else f", {found.ceiling:.2f} if they ranked alike but for noise"
            notes.append(f"across halves {found.apart:+.2f}{alike}")
        if not np.isnan(found.chance):
            notes.append(f"a model that draws genders at the true rates gives {found.chance:+.2f}")
        if metric == SHOWN[0]:
            others = [data.drawn.value(other, truth) for other in METRICS if other not in SHOWN]
            notes.append(f"the seven metrics not shown: {min(others):+.2f} to {max(others):+.2f}")
        if truth in data.known:
            notes.append(data.known[truth])
        size = "size of the " if truth.endswith(SIZED) else ""
        yield measured(
            f"{data.name}: rank correlation of the {size}{metric} gap with {truth}",
            found.value,
            interval=(found.low, found.high),
            note="; ".join(notes),
        )
    by_association = data.drawn.flagged("dp")
    for truth in data.truths:
        if not truth.endswith(SIZED):
            by_truth = data.drawn.flagged(truth)
            yield measured(
                f"{data.name}: labels off 0 (q at most .05) both by association and by {truth}",
                float((by_association & by_truth).sum()),
                note=f"{by_association.sum()} by association, {by_truth.sum()} by {truth}, of {data.labels}",
            )


def _found(data: Compared) -> str:
    """How far the paper's metric ranks the labels of one set as the truth's metrics do, in a sentence."""
    metric = SHOWN[0]
    told = [f"{found.value:+.2f} with {truth}" for (mine, truth), found in data.agreements.items() if mine == metric]
    return f"On {data.name} the rank correlation of {metric} gaps is {', '.join(told)}."


def _chart(sets: Sequence[Compared]) -> Chart:
    metric, kinds = SHOWN[0], (SKEW, "change", "amplification", "TPR difference", "FPR difference")
    lines: dict[str, list[tuple[float, float]]] = {}
    intervals: dict[str, list[tuple[float, float]]] = {}
    for data in sets:
        for place, kind in enumerate(kinds):
            # A→T, or MALS where there is no other.
            truth = next((name for name in data.truths if name.endswith(kind) and not name.startswith("T→A")), None)
            if truth is not None:
                found = data.agreements[metric, truth]
                lines.setdefault(data.name, []).append((float(place), found.value))
                intervals.setdefault(data.name, []).append((found.low, found.high))
    return Chart(
        f"Rank correlation of {metric} gaps with metrics that need the truth",
        "metric with ground truth",
        "rank correlation",
        lines,
        intervals,
        kinds,
        joined=False,
    )


def _data_sets(setting: Setting) -> Iterator[Compared]:
    if setting.has([COMPAS]):
        people = read_compas(setting)
        deciles = compas_deciles(people).common()
        same = {"A→T change": "every label has the same truth here, so that this and DP rank alike by definition"}
        yield compared(f"COMPAS, {len(deciles.names)} thresholds", draw(deciles, setting.seed), same)
        labels = compas_labels(people, setting.seed).common()
        yield compared(f"COMPAS, {len(labels.names)} labels", draw(labels, setting.seed), {})
    if setting.has(IMSITU):
        verbs = imsitu_verbs(setting)
        yield compared(f"imSitu, {verbs.whole['dp'].shape[1]} verbs", verbs, {})
    if setting.has(captions.FILES):
        objects = caption_objects(setting).common()
        rare = {"A→T change": "captions leave out most objects, so that rates fall most where they are highest"}
        yield compared(f"COCO captions, {len(objects.names)} objects", draw(objects, setting.seed), rare)


# How far the lean of errors follows the skew of the truth, from against it to with it.
TIED = (-0.9, -0.5, 0.0, 0.5, 0.9)


def _trial(seed: int) -> Trial:
    """Whether association ranks labels as amplification does is planted: it must follow what is planted."""
    found = {}
    for tied in TIED:
        labels = made_up(seed, tied=tied).common()
        whole = Drawn(labels.figures(np.ones((1, len(labels)))), {})
        found[tied] = whole.value(SHOWN[0], f"A→T{SIZED}")
    against = [f"{value:+.2f} at {tied:+g}" for tied, value in found.items()]
    alike = [tied for tied, value in found.items() if value > ALIKE]
    ends = (
        "ranks labels as amplification does (above"
        if alike
        else "was found in no setting to rank labels as amplification does (above"
    )
    return Trial(
        "Whether association ranks labels as amplification does depends on whether the errors lean the way the truth is skewed, which is "
        "planted here: apart on the page, tied in the sweep.",
        f"With the lean of errors tied to the skew by {', '.join(f'{tied:+g}' for tied in TIED)} the rank correlation of the size of the "
        f"{SHOWN[0]} gap with A→T amplification is {', '.join(against)}: association {ends} {ALIKE:g})"
        + (f" at {', '.join(f'{tied:+g}' for tied in alike)} and not at the others." if alike else "."),
    )


def run(setting: Setting) -> Outcome:
    """Run it."""
    sets = []
    for data in _data_sets(setting):
        sets.append(data)
        setting.progress(len(sets), 4, data.name)
    absent = [file for file in FILES if setting.file(file) is None]
    left = (f"what needs {', '.join(absent)}",) if absent else ()
    kind, source = REAL, f"{'; '.join(data.name for data in sets)}; intervals resample records"
    if not sets:
        labels = made_up(setting.seed).common()
        sets.append(compared(f"{len(labels.names)} made-up labels", draw(labels, setting.seed), {}))
        kind = STAND_IN
        source = (
            f"{sets[0].name} of {len(labels):,} records, their skew planted apart from the lean of the model's errors"
        )
    rows = tuple(placed((row for data in sets for row in _rows(data)), "Sec. 6"))
    says = (
        f"Association and metrics with ground truth rank the labels of {len(sets)} set{'s' if len(sets) > 1 else ''} of data side by side: {source.partition(';')[0]}.",
        _found(sets[-1]),
        "The paper asks these questions and prints no figure for them, so no row has a verdict.",
    )
    trial = None
    if kind == STAND_IN:
        trial = _trial(setting.seed)
    return Outcome(kind, source, rows, (_chart(sets),), left, says, trial=trial)


EXPERIMENT = Experiment(
    "aies-small-spaces",
    "Whether association ranks labels as metrics with ground truth do, also in small label spaces",
    "Aka et al. (2021), Sec. 6, two of its open questions",
    run,
    files=FILES,
    without="runs on those that are there, else on made-up labels",
    paper=AIES,
)
