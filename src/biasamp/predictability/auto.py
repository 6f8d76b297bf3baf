"""Which attacker to use when the caller leaves it open, and the words why."""

from __future__ import annotations

from typing import Any

import numpy as np

from .attackers import Attacker, Lookup, NaiveBayes, Trained
from .equalize import Rule, equalize_records
from .problem import Problem
from .sides import Labels, Numbers, Side

# A combination of labels is learnt well enough to be looked up when it occurs so many times,
_WELL_SEEN = 5
# and a lookup does when no more than this share of the records has a rarer one.
_RARE_SHARE = 0.05
# Of a larger table, so many records are perturbed and looked at.
_LOOK_AT = 200_000

NAMES = ("auto", "lookup", "naive_bayes", "logistic", "mlp")


def choose(attacker: Any, problem: Problem, kind: str, rule: Rule, rng: np.random.Generator) -> tuple[Attacker, str]:
    """The attacker, and why it is this one.

    Parameters
    ----------
    attacker : str or scikit-learn estimator
        ``"auto"``, ``"lookup"``, ``"naive_bayes"``, ``"logistic"``, ``"mlp"``, or an estimator.
    problem : Problem
        What is to be measured.
    kind : {"leakage", "dpa"}
        Which side is read and which predicted.
    rule : {"accuracy", "confusion", None}
        How the truth is equalized: perturbed labels occur in more combinations.
    rng : numpy.random.Generator
        Draws the perturbation that is looked at.
    """
    if isinstance(attacker, str):
        if attacker not in NAMES:
            raise ValueError(
                f"attacker {attacker!r} is not known; take one of {', '.join(NAMES)}, or a scikit-learn estimator"
            )
        if attacker == "auto":
            return _auto(problem, kind, rule, rng)
        return _named(attacker, problem, kind), "the caller chose it"
    name = type(attacker).__name__
    if isinstance(attacker, type):
        raise TypeError(f"attacker is the class {attacker.__name__}; give an instance, as {attacker.__name__}()")
    if not (hasattr(attacker, "fit") and hasattr(attacker, "predict") and hasattr(attacker, "get_params")):
        raise TypeError(f"attacker is a {name}; a name ({', '.join(NAMES)}) or a scikit-learn estimator is needed")
    _refuse_other_kind(attacker, name, problem.truth if kind == "dpa" else problem.other)
    return Trained(attacker, name), "the caller chose it"


def _refuse_other_kind(attacker: Any, name: str, target: Side) -> None:
    """A regressor's answers are no classes, and a classifier's no numbers; estimators that say neither may try."""
    from sklearn.base import is_classifier, is_regressor

    if isinstance(target, Labels) and is_regressor(attacker):
        raise TypeError(f"attacker {name} is a regressor, but what it is to predict are labels: give a classifier")
    if isinstance(target, Numbers) and is_classifier(attacker):
        raise TypeError(f"attacker {name} is a classifier, but what it is to predict is continuous: give a regressor")


def _named(name: str, problem: Problem, kind: str) -> Attacker:
    target = problem.truth if kind == "dpa" else problem.other
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
    if not problem.discrete:
        raise ValueError(f"attacker {name!r} needs labels, but the data are continuous; leave it to 'auto'")
    return Lookup() if name == "lookup" else NaiveBayes()


def _auto(problem: Problem, kind: str, rule: Rule, rng: np.random.Generator) -> tuple[Attacker, str]:
    if not problem.discrete:
        target = problem.truth if kind == "dpa" else problem.other
        return Trained(spline_attacker(continuous=isinstance(target, Numbers)), "spline"), (
            "the data are continuous: a smooth curve of each input, added up (splines), learns bent "
            "relations from few records; it does not see inputs act together"
        )
    hard = problem.hard(rng)
    assert isinstance(problem.truth, Labels)
    if kind == "dpa":
        read: list[Side] = [hard.other]
        one = problem.other.width == 1
    else:
        one = problem.truth.width == 1
        hard = hard.thinned(_LOOK_AT, rng)
        read = [hard.predicted, equalize_records(hard.truth, hard.predicted, rule, rng)]
    if one:
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


def spline_attacker(*, continuous: bool) -> Any:
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
