"""One network trained on masked pictures, and every figure of it; many of them on all cores."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import biasamp

from .keeping import Kept
from .networks import Training, attribution_outside, scores, trained
from .pictures import Splits

# The figures of a run, in the order of the page; "" is no direction.
A_TO_T, T_TO_A = "A→T", "T→A"
MALS, LEAKAGE = "MALS", "leakage amplification"
MULTI, DPA, CONFUSION, GAIN = "Multi", "DPA", "DPA, equalized by confusion", "gain of the attacker, model less data,"
ATTRIBUTION, GENDER, PRECISION = "attribution outside the person", "gender accuracy", "objects' mean average precision"


@dataclass(frozen=True)
class Job:
    """A network to train.

    Attributes
    ----------
    key : tuple
        What the run is called.
    splits : callable
        Gives the pictures; called where the work is done.
    condition : str
    seed : int
    training : Training
    trials : int
        Of leakage and DPA; 0 to leave them out.
    attributed : int
        How many test images are attributed; 0 for none.
    """

    key: tuple[Any, ...]
    splits: Callable[[], Splits]
    condition: str
    seed: int
    training: Training = field(default_factory=Training)
    trials: int = 20
    attributed: int = 300


@dataclass(frozen=True)
class Run:
    """What one network gave: figures by name, and both directional metrics by object."""

    key: tuple[Any, ...]
    figures: dict[str, float]
    by_object: dict[str, dict[str, float]]


def run_job(job: Job) -> Run:
    """Mask, train, calibrate on validation, measure on test."""
    splits = job.splits()
    seen = covered(splits, job.condition, job.seed)
    targets = splits.train.targets
    model = trained(seen[0], targets, job.seed, job.training)
    with warnings.catch_warnings():
        # Ties and objects that are rare in a small set are the page's matter.
        warnings.simplefilter("ignore", UserWarning)
        calibration = biasamp.calibrate(scores(model, seen[1]), rate=targets.mean(axis=0))
        raw = scores(model, seen[2])
        predicted = calibration.apply(raw)
        figures, by_object = _measured(splits, predicted, job)
    gender = targets.shape[1] - 1
    figures[GENDER] = float(np.mean(predicted[:, gender] == splits.test.man))
    figures[PRECISION] = _precision(splits.test.objects, raw[:, :gender])
    if job.attributed:
        figures[ATTRIBUTION] = attribution_outside(
            model,
            gender,
            seen[2][: job.attributed],
            splits.test.person[: job.attributed],
            seen[1][:_BASELINES],
            job.seed,
        )
    return Run(job.key, figures, by_object)


def covered(splits: Splits, condition: str, seed: int) -> list[Any]:
    """The images of train, validation and test under a condition.

    numpy takes [5, 1] and [5, 1, 0] for one seed, so the masks' own number is the last: drawn from the stream of
    the scenes, the height of a partial mask would tell the gender.
    """
    parts = (splits.train, splits.validation, splits.test)
    return [part.seen(condition, [seed, place, _MASKS]) for place, part in enumerate(parts)]


_MASKS = 2021
# A worker may hold a gigabyte of images.
_MOST_WORKERS = 8
# Images that Gradient SHAP compares with.
_BASELINES = 50


def _measured(splits: Splits, predicted: Any, job: Job) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    def people(man: Any) -> Any:
        return np.where(man, "man", "woman")

    def things(objects: Any) -> dict[str, Any]:
        return {name: objects[:, i].astype(np.int64) for i, name in enumerate(splits.names)}

    a, t = people(splits.test.man), things(splits.test.objects)
    a_hat, t_hat = people(predicted[:, -1] == 1), things(predicted[:, :-1])
    train_a, train_t = people(splits.train.man), things(splits.train.objects)
    directional = {
        A_TO_T: biasamp.directional(a, t, t_hat, train=(train_a, train_t)),
        T_TO_A: biasamp.directional(t, a, a_hat, train=(train_t, train_a)),
    }
    out = {name: result.value for name, result in directional.items()}
    out[MALS] = biasamp.mals(a, t, a_hat, t_hat, train=(train_a, train_t)).value
    roles = {T_TO_A: ((t, a, a_hat), (train_t, train_a)), A_TO_T: ((a, t, t_hat), (train_a, train_t))}
    for name, (labels, train) in roles.items():
        # Eq. 19 of the DPA paper: the mean size over single labels.
        sizes = biasamp.multi(*labels, train=train, itemsets="subsets", max_size=1)
        out[f"{MULTI} {name}"] = sizes.value
        out[f"{MULTI} {name} that no amplification would give"] = np.nan if sizes.floor is None else sizes.floor
        if job.trials:
            found = biasamp.dpa(*labels, trials=job.trials, seed=job.seed)
            out[f"{DPA} {name}"] = found.value
            out[f"{CONFUSION} {name}"] = found.confusion_equalized
            out[f"{GAIN} {name}"] = found.model_gain - found.dataset_gain
    if job.trials:
        out[LEAKAGE] = biasamp.leakage(a, t, t_hat, trials=job.trials, seed=job.seed).value
    by_object = {name: _by_object(result.pairs, name == A_TO_T) for name, result in directional.items()}
    return {name: float(value) for name, value in out.items()}, by_object


def _by_object(pairs: Any, object_is_outcome: bool) -> dict[str, float]:
    """The mean over both genders of each object's amplification."""
    names = pairs["outcome" if object_is_outcome else "given"]
    values = pairs["amplification"]
    return {str(name): float(np.mean(values[names == name])) for name in dict.fromkeys(names.tolist())}


def _precision(truth: Any, raw: Any) -> float:
    """The mean over objects that somebody has of the average precision."""
    from sklearn.metrics import average_precision_score

    held = np.flatnonzero(truth.any(axis=0))
    return float(np.mean([average_precision_score(truth[:, k], raw[:, k]) for k in held]))


def run_jobs(
    jobs: Sequence[Any],
    progress: Callable[[int, int], None],
    *,
    workers: int | None = None,
    work: Callable[[Any], Any] = run_job,
    kept: Kept | None = None,
) -> list[Any]:
    """Do all jobs, one a core, and tell how many are done; what comes back is in the order of the jobs.

    One network of this size gains nothing from several threads, so cores share jobs. Jobs that ``kept`` has are not done again.
    """
    done: list[Any] = [None if kept is None else kept.load(job) for job in jobs]
    todo = [place for place, result in enumerate(done) if result is None]
    progress(len(jobs) - len(todo), len(jobs))
    left = [jobs[place] for place in todo]
    for count, (at, result) in enumerate(_results(left, workers, work) if left else (), start=1):
        done[todo[at]] = result
        if kept is not None:
            kept.save(left[at], result)
        progress(len(jobs) - len(todo) + count, len(jobs))
    return done


def kept_runs(folder: Path | None, what: str) -> Kept | None:
    """Where networks of a setting, which ``what`` tells, are kept."""
    if folder is None:
        return None

    def named(job: Job) -> str:
        return f"{what} {job.key} {job.condition} {job.seed} {job.training} {job.trials} {job.attributed}"

    def pack(run: Run) -> Any:
        return {"key": list(run.key), "figures": run.figures, "by_object": run.by_object}

    def unpack(part: Any) -> Run:
        return Run(tuple(part["key"]), dict(part["figures"]), dict(part["by_object"]))

    return Kept(folder, named, pack, unpack)


def _results(jobs: Sequence[Any], workers: int | None, work: Callable[[Any], Any]) -> Iterator[tuple[int, Any]]:
    from joblib import Parallel, cpu_count, delayed

    workers = workers or min(cpu_count(), _MOST_WORKERS)
    if workers == 1 or len(jobs) == 1:
        yield from ((place, work(job)) for place, job in enumerate(jobs))
        return
    parallel = Parallel(n_jobs=workers, return_as="generator_unordered")
    yield from parallel(delayed(_placed)(place, job, work) for place, job in enumerate(jobs))


def _placed(place: int, job: Any, work: Callable[[Any], Any]) -> tuple[int, Any]:
    return place, work(job)
