"""Attackers that learn from some records and are scored on others, and which to use when the caller leaves it open.

Every trial makes its own attacker: scikit-learn estimators are cloned, so that nothing learnt in one trial is
carried into the next, and get a seed of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .equalize import Rule, equalize_records
from .lookup import answers, best_score
from .naive_bayes import NaiveBayes
from .problem import Problem
from .quality import Quality, label_score, number_score
from .sides import Index, Labels, Numbers, Side, Values

# A combination of labels is learnt well enough to be looked up when it occurs so many times,
_WELL_SEEN = 5
# and a lookup does when no more than this share of the records has a rarer one.
_RARE_SHARE = 0.05
# Of a larger table, so many records are perturbed and looked at.
_LOOK_AT = 200_000

NAMES = ("auto", "lookup", "naive_bayes", "logistic", "mlp")


class AttackerError(RuntimeError):
    """An attacker failed, or its score is not a number; the message says in which trial and why."""


@dataclass(frozen=True)
class Lookup:
    """For each combination of input labels the answer that is best on the records learnt from."""

    name: str = "lookup"

    def score(self, read: Side, target: Side, learn: Index, test: Index, quality: Quality, seed: int) -> float:
        """Learn on some records, and return the mean quality over the target's variables on others."""
        if not (isinstance(read, Labels) and isinstance(target, Labels)):
            raise ValueError("the lookup attacker needs labels on both sides; continuous data needs a trained one")
        inputs, size = read.combinations()
        return _by_tables(inputs, size, target, learn, test, quality)


@dataclass(frozen=True)
class Trained:
    """Any scikit-learn estimator: a classifier of labels, a regressor of continuous columns."""

    estimator: Any
    name: str

    def score(self, read: Side, target: Side, learn: Index, test: Index, quality: Quality, seed: int) -> float:
        """See :meth:`Lookup.score`."""
        features = read.indicators()
        seeds = np.random.SeedSequence(seed).generate_state(target.width)
        score = self._number if isinstance(target, Numbers) else self._label
        each = [score(features, target, v, learn, test, quality, int(own)) for v, own in enumerate(seeds)]
        return float(np.mean(each))

    def _number(
        self, features: Values, target: Any, v: int, learn: Index, test: Index, quality: Quality, seed: int
    ) -> float:
        column = target.values[:, v]
        fitted = self._fresh(seed).fit(features[learn], column[learn])
        return number_score(quality, column[test], _finite(_one_each(fitted.predict(features[test]), len(test))))

    def _label(
        self, features: Values, target: Any, v: int, learn: Index, test: Index, quality: Quality, seed: int
    ) -> float:
        codes = target.codes[:, v].astype(np.int64)
        known = np.unique(codes[learn])
        if len(known) > 1:
            fitted = self._fresh(seed).fit(features[learn], codes[learn])
            said = _one_each(fitted.predict(features[test]), len(test))
            if not np.isin(said, known).all():
                raise ValueError("its predictions are not among the classes it learnt")
            chances = _chances(fitted, features[test], known, target.sizes[v]) if quality == "auc" else None
        elif target.width > 1:  # a rare label of many: its absence is all there is to learn
            said, chances = np.full(len(test), known[0]), np.zeros((len(test), target.sizes[v]))
        else:
            raise ValueError(
                f"the {len(learn):,} records learnt from are all of one class; attacker='lookup' can do with that"
            )
        return label_score(quality, codes[test], said, chances, label=target.yes_no[v])

    def _fresh(self, seed: int) -> Any:
        from sklearn.base import clone

        fresh = clone(self.estimator)
        seeded = [name for name in fresh.get_params(deep=True) if name.split("__")[-1] == "random_state"]
        return fresh.set_params(**dict.fromkeys(seeded, seed % (2**31))) if seeded else fresh


Attacker = Lookup | NaiveBayes | Trained


def plain_score(target: Side, learn: Index, test: Index, quality: Quality) -> float:
    """Score of the best attacker without input: one answer for all."""
    if isinstance(target, Numbers):
        each = [
            number_score(quality, column[test], np.full(len(test), column[learn].mean())) for column in target.values.T
        ]
        return float(np.mean(each))
    return _by_tables(np.zeros(len(target), dtype=np.int64), 1, target, learn, test, quality)


def _by_tables(inputs: Index, size: int, target: Labels, learn: Index, test: Index, quality: Quality) -> float:
    scores = []
    for v, classes in enumerate(target.sizes):
        codes = target.codes[:, v]
        place = inputs * classes + codes
        known, asked = (np.bincount(place[w], minlength=size * classes).reshape(size, classes) for w in (learn, test))
        if callable(quality):
            said = answers(known, "accuracy")[inputs[test]]
            scores.append(label_score(quality, codes[test], said, None, label=target.yes_no[v]))
        else:
            scores.append(float(best_score(known, asked, quality, label=target.yes_no[v])))
    return float(np.mean(scores))


def _one_each(values: Any, records: int) -> NDArray[Any]:
    """One prediction per record; estimators that give a column, or too few, would be compared crosswise."""
    said = np.asarray(values)
    if said.shape == (records, 1):
        return said[:, 0]
    if said.shape != (records,):
        raise ValueError(f"its predictions have the shape {said.shape}; one for each of {records:,} records is needed")
    return said


def _chances(fitted: Any, features: Values, known: Index, classes: int) -> Values:
    """What ranks the records for each class: probabilities, else the decision function of two classes."""
    out = np.zeros((len(features), classes))
    if hasattr(fitted, "predict_proba"):
        out[:, known] = _finite(fitted.predict_proba(features))
    elif hasattr(fitted, "decision_function") and len(known) == 2:
        out[:, known[1]] = _finite(fitted.decision_function(features))
        out[:, known[0]] = -out[:, known[1]]
    else:
        raise ValueError("quality 'auc' needs predict_proba, or decision_function of two classes")
    return out


def _finite(values: Any) -> NDArray[np.float64]:
    out = np.asarray(values, dtype=np.float64)
    if not np.isfinite(out).all():
        raise ValueError("its predictions are not finite")
    return out


def choose(attacker: Any, problem: Problem, kind: str, rule: Rule, rng: np.random.Generator) -> tuple[Attacker, str]:
    """The attacker of ``measure``, and why it is this one; ``rng`` draws the perturbation that is looked at."""
    target = problem.target(kind)
    if isinstance(attacker, str):
        if attacker not in NAMES:
            raise ValueError(
                f"attacker {attacker!r} is not known; take one of {', '.join(NAMES)}, or a scikit-learn estimator"
            )
        if attacker == "auto":
            return _auto(problem, kind, rule, rng)
        return _named(attacker, problem, kind, target), "the caller chose it"
    name = type(attacker).__name__
    if isinstance(attacker, type):
        raise TypeError(f"attacker is the class {attacker.__name__}; give an instance, as {attacker.__name__}()")
    if not (hasattr(attacker, "fit") and hasattr(attacker, "predict") and hasattr(attacker, "get_params")):
        raise TypeError(f"attacker is a {name}; a name ({', '.join(NAMES)}) or a scikit-learn estimator is needed")
    # A regressor's answers are no classes, and a classifier's no numbers; estimators that say neither may try.
    from sklearn.base import is_classifier, is_regressor

    if isinstance(target, Labels) and is_regressor(attacker):
        raise TypeError(f"attacker {name} is a regressor, but what it is to predict are labels: give a classifier")
    if isinstance(target, Numbers) and is_classifier(attacker):
        raise TypeError(f"attacker {name} is a classifier, but what it is to predict is continuous: give a regressor")
    return Trained(attacker, name), "the caller chose it"


def _named(name: str, problem: Problem, kind: str, target: Side) -> Attacker:
    if name == "mlp":
        from .mlp import paper_mlp

        return Trained(paper_mlp(kind, continuous=isinstance(target, Numbers)), "mlp")
    if name == "logistic":
        if isinstance(target, Numbers):
            raise ValueError(
                "attacker 'logistic' predicts labels, but what it is to predict is continuous; leave it to "
                "'auto', or give a regressor"
            )
        from sklearn.linear_model import LogisticRegression

        return Trained(LogisticRegression(max_iter=1000), "logistic")
    if problem.labels is None:
        raise ValueError(f"attacker {name!r} needs labels, but the data are continuous; leave it to 'auto'")
    return Lookup() if name == "lookup" else NaiveBayes()


def _auto(problem: Problem, kind: str, rule: Rule, rng: np.random.Generator) -> tuple[Attacker, str]:
    if problem.labels is None:
        return Trained(_spline(continuous=isinstance(problem.target(kind), Numbers)), "spline"), (
            "the data are continuous: a smooth curve of each input, added up (splines), learns bent "
            "relations from few records; it does not see inputs act together"
        )
    hard = problem.hard(rng)
    read: list[Side] = [hard.other]
    if kind == "leakage":
        hard = hard.thinned(_LOOK_AT, rng)
        read = [hard.predicted, equalize_records(hard.truth, hard.predicted, rule, rng)]
    if read[0].width == 1:
        return Lookup(), "the attackers read one variable: no function of it does better than a lookup"
    shares, combinations = zip(*(_rare(side, hard) for side in read), strict=True)
    width = read[0].width
    if max(shares) <= _RARE_SHARE:
        return Lookup(), (
            f"the {width} labels that are read occur in {max(combinations):,} combinations, and at most "
            f"{max(shares):.1%} of the records have one seen fewer than {_WELL_SEEN} times: no function of "
            "them does better than a lookup"
        )
    return NaiveBayes(), (
        f"the {width} labels that are read occur in {max(combinations):,} combinations, and "
        f"{max(shares):.1%} of the {problem.n:,} records have one seen fewer than {_WELL_SEEN} times: a "
        "lookup would meet combinations it never learnt (or, in sample, learn each by heart), so labels are "
        "weighed one by one"
    )


def _rare(side: Side, problem: Problem) -> tuple[float, int]:
    """Share of the records whose combination is rare, and how many combinations there are."""
    assert isinstance(side, Labels)
    place, size = side.combinations()
    held = np.zeros(size, dtype=np.int64)
    np.add.at(held, place, problem.counts)
    return float(held[held < _WELL_SEEN].sum() / held.sum()), size


def _spline(*, continuous: bool) -> Any:
    """An additive spline model: of numbers by ridge, of classes by logistic regression."""
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import SplineTransformer, StandardScaler

    curves = make_pipeline(StandardScaler(), SplineTransformer(n_knots=8, knots="uniform", extrapolation="linear"))
    split = ColumnTransformer([("curves", curves, _bends)], remainder="passthrough")
    last = Ridge(alpha=1e-3) if continuous else LogisticRegression(max_iter=1000)
    return make_pipeline(split, last)


def _bends(features: Any) -> list[int]:
    """Columns with enough distinct values for a curve; the others (yes/no columns) stay as they are."""
    few = 10
    return [v for v in range(features.shape[1]) if len(np.unique(features[:, v])) > few]
