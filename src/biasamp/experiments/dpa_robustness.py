"""DPA paper, Fig. 3 and Table 5: does normalising make the figure less sensitive to the attacker?"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from .experiment import PRINTED, Chart, Experiment, Outcome, Row, Setting, claimed, measured

# Table 5 prints alpha_1 = 1 and alpha_2 = 2, but the text needs alpha_2 < alpha_1: T_hat is to tell more of A.
ALPHA_1, ALPHA_2, DEGREE = 2.0, 1.0, 2
# Table 5: widths 20 to 500 and depths 2 to 6; the widest and deepest are left out for time.
WIDTHS, DEPTHS, ACTIVATIONS = (20, 50, 120), (2, 3), ("tanh", "relu")
PEOPLE, DRAWS, STEPS = 400, 8, 60


def figures(attacker: Any, seed: int) -> tuple[float, float]:
    """The difference of qualities, plain and over their sum, for one draw of the data and one attacker."""
    import biasamp

    rng = np.random.default_rng([seed, 5])
    a = rng.normal(3.0, 2.0, PEOPLE)
    # poly(x, p): any polynomial of that degree; here x squared, scaled so that attackers of any width can learn.
    t, t_hat = ((a + alpha * rng.normal(size=PEOPLE)) ** DEGREE / 10.0 for alpha in (ALPHA_1, ALPHA_2))
    with warnings.catch_warnings():
        # Attackers are stopped early on purpose: how well they have learnt is what varies.
        warnings.simplefilter("ignore")
        found = biasamp.leakage(
            a,
            t,
            t_hat,
            attacker=attacker,
            quality="inverse_rmse",
            equalize=None,
            evaluation="in_sample",
            trials=1,
            seed=seed,
        )
    return found.value, (found.model - found.dataset) / (found.model + found.dataset)


def spreads(setting: Setting) -> tuple[list[tuple[float, float]], dict[int, tuple[float, float]]]:
    """Relative spread over attackers of both figures in every draw; and the mean figures by width in the first."""
    from sklearn.neural_network import MLPRegressor

    out = []
    by_width: dict[int, tuple[float, float]] = {}
    for draw in range(DRAWS):
        found = {
            (width, depth, activation): figures(
                MLPRegressor(hidden_layer_sizes=(width,) * depth, activation=activation, max_iter=STEPS),
                1000 * setting.seed + draw,
            )
            for width in WIDTHS
            for depth in DEPTHS
            for activation in ACTIVATIONS
        }
        values = np.array(list(found.values()))
        out.append(tuple((values.std(axis=0, ddof=1) / np.abs(values.mean(axis=0))).tolist()))
        if draw == 0:
            for width in WIDTHS:
                plain, over_sum = np.mean([pair for key, pair in found.items() if key[0] == width], axis=0)
                by_width[width] = (float(plain), float(over_sum))
        setting.progress(draw + 1, DRAWS)
    return out, by_width


def _rows(found: list[tuple[float, float]]) -> Iterator[Row]:
    import biasamp

    differences = [over_sum - plain for plain, over_sum in found]
    runs = {
        name: biasamp.over_runs(values)
        for name, values in (("plain", [pair[0] for pair in found]), ("normalised", [pair[1] for pair in found]))
    }
    attackers = len(WIDTHS) * len(DEPTHS) * len(ACTIVATIONS)
    for name, run_ in runs.items():
        yield measured(
            f"relative spread (sd over mean) of the {name} figure over {attackers} attackers",
            run_.value,
            interval=tuple(run_.confidence_interval()),
            note=f"mean over {DRAWS} draws of data and seeds",
        )
    change = biasamp.over_runs(differences)
    low, high = change.confidence_interval()
    yield claimed(
        "Fig. 3, normalising lowers the relative spread over attackers",
        "yes",
        change.value,
        high < 0,
        interval=(float(low), float(high)),
        note="paired over draws; sd over mean, since the plain difference has another scale",
    )


def run(setting: Setting) -> Outcome:
    """Run it."""
    found, by_width = spreads(setting)
    chart = Chart(
        "Fig. 3: figure by the attacker's width, first draw",
        "width",
        "mean over depths and activations",
        {
            "plain": [(float(width), pair[0]) for width, pair in by_width.items()],
            "normalised": [(float(width), pair[1]) for width, pair in by_width.items()],
        },
    )
    source = (
        f"data drawn as Appendix B defines them, {PEOPLE} people, alpha_1 = {ALPHA_1:g} and alpha_2 = {ALPHA_2:g} (Table 5 prints "
        "them the other way round, against the text); attackers of scikit-learn, widths "
        f"{', '.join(map(str, WIDTHS))} and depths {', '.join(map(str, DEPTHS))}"
    )
    left = ("attackers of width up to 500 and depth up to 6, which take far longer",)
    return Outcome(PRINTED, source, tuple(_rows(found)), (chart,), left)


EXPERIMENT = Experiment(
    "dpa-robustness",
    "Whether normalising makes DPA less sensitive to the attacker",
    "Tokas et al., Fig. 3, Table 5, Appendix B",
    run,
)
